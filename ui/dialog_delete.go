package ui

import (
	"context"
	"fmt"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// newDeleteDialog asks whether to delete a bucket's state.
func newDeleteDialog(_ *app, b watch.Bucket) dialog {
	d := &confirmDialog{changing: changing{b: b, twice: true}, title: "DELETE STATE", does: "delete", what: "deletion of " + b.Key}
	d.tell = func(a *app) confirmation { return a.tellDelete(d.b.State, d.live(a), a.serverNow()) }
	d.do = func(ctx context.Context, admin Admin, rev bucketctl.Rev) (bucketctl.Change, error) {
		return admin.Delete(ctx, b.Key, rev, "")
	}
	return d
}

// tellDelete tells what is deleted, and what stays.
func (st *styles) tellDelete(frozen bucketctl.State, live watch.Bucket, now time.Time) confirmation {
	s := stateAt(frozen, now)
	said := confirmation{rev: s.Rev}
	switch {
	case frozen.At.IsZero():
		said.lines = []labelled{{" ", unreadText(frozen)}}
		return said
	case s.Kind == bucketctl.KindNone:
		said.lines = []labelled{
			{" Goes  ", "its place in the list alone: there is no state, it was never taken from, or it expired"},
			{" Stays ", "the override and the hold, where there are any"},
			{" Then  ", "a worker that still has it lists it again"},
		}
		said.warnings = []string{st.movedOn(frozen, live.State)}
		said.question = "y forgets the bucket"
		return said
	}
	said.lines = []labelled{
		{" Goes  ", "the state alone: " + stateParts(s, live, now)},
		{" Stays ", "the override and the hold, where there are any; what the workers declare"},
		{" Then  ", deleteThen(s, live, now)},
	}
	said.warnings = []string{lostCooldown(s, now), wrongTypeLoss(s), st.movedOn(frozen, live.State)}
	said.question = "y deletes the state"
	return said
}

func stateParts(s bucketctl.State, live watch.Bucket, now time.Time) string {
	if s.Kind == bucketctl.KindWrongType {
		return "the " + nameOr(s.Type, "value") + " in the key"
	}
	return "the level (" + levelText(live, now) + "), the turns of those who wait, the count of grants"
}

// deleteThen tells how a bucket begins anew.
func deleteThen(s bucketctl.State, live watch.Bucket, now time.Time) string {
	if isForeign(live) {
		return "its own program begins a new one with its next call"
	}
	text := "workers that still take from it begin a new one, full"
	if full := s.Effective.Capacity; full != 0 && !s.Hold.Active {
		s.Cooldown = bucketctl.Cooldown{}
		live.State = s
		text += fmt.Sprintf(" (%s tokens): %s", exactTokens(full), startsText(live, full, now))
	}
	return text + "; without such workers it leaves the list"
}

func lostCooldown(s bucketctl.State, now time.Time) string {
	if !s.Cooldown.Until.After(now) {
		return ""
	}
	return "the COOLDOWN until " + clockTime(s.Cooldown.Until, now) + " goes with it, which the provider asked for"
}

func wrongTypeLoss(s bucketctl.State) string {
	if s.Kind != bucketctl.KindWrongType {
		return ""
	}
	return "what is in the key is lost, for whatever program wrote it"
}
