package ui

import (
	"context"
	"fmt"
	"strings"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// newResumeDialog asks whether to take a hold away.
func newResumeDialog(_ *app, b watch.Bucket) dialog {
	d := &confirmDialog{changing: changing{b: b}, title: "RESUME", does: "resume", what: "resumption of " + b.Key}
	d.tell = func(a *app) confirmation { return a.tellResume(d.b.State, d.live(a), a.serverNow()) }
	d.do = func(ctx context.Context, admin Admin, rev bucketctl.Rev) (bucketctl.Change, error) {
		return admin.Resume(ctx, b.Key, rev, "")
	}
	return d
}

// tellResume tells whose hold it is and what its end lets loose.
func (st *styles) tellResume(frozen bucketctl.State, live watch.Bucket, now time.Time) confirmation {
	s := stateAt(frozen, now)
	said := confirmation{rev: s.Rev}
	if !s.Hold.Active {
		said.lines = []labelled{{" ", "It is not held any more: nothing to resume."}}
		return said
	}
	said.lines = []labelled{
		{" HELD  ", strings.TrimSpace(holdText(s.Hold, now))},
		{" Now   ", levelText(live, now) + ", " + waitersText(live.Waiting)},
		{" Then  ", resumeThen(s, live, now)},
	}
	said.warnings = []string{reachWarning("the end of the hold", live, now), stillCooling(live.State, now), st.movedOn(frozen, live.State)}
	said.question = "y resumes it"
	return said
}

// resumeThen tells who starts when the hold is gone.
func resumeThen(s bucketctl.State, live watch.Bucket, now time.Time) string {
	live.State.Hold = bucketctl.Hold{}
	live.HeadWait = 0 // it told of the hold
	if !live.State.Known() {
		return "the level is not known, so how many start at once is not either"
	}
	text := startsText(live, levelNow(live, now), now)
	if s.Effective.Rate == 0 {
		return text
	}
	text += "; after that " + exactRate(s.Effective.Rate, s.Effective.Per) + " at most"
	if wait, known := lastWait(live, s.Effective); known && live.Waiting > 0 {
		text += fmt.Sprintf(", the last of those who wait starts after %s", wait)
	}
	return text
}

// stillCooling warns that a bucket stays stopped without its hold.
func stillCooling(s bucketctl.State, now time.Time) string {
	if !s.Cooldown.Until.After(now) {
		return ""
	}
	return "it is in COOLDOWN too, until " + clockTime(s.Cooldown.Until, now) + ": nobody starts before that"
}

func waitersText(n int) string {
	switch {
	case n < 0:
		return "how many wait is not known"
	case n == 0:
		return "nobody waits"
	}
	return waitingText(n)
}
