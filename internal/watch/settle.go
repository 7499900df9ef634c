package watch

import "time"

// calm is how long a bucket must have been better before its row says so. A
// worse state shows at once.
const calm = 5 * time.Second

// settled is the state that a bucket's row shows, and since when it deserves a
// better one.
type settled struct {
	shown    Status
	known    bool      // shown is set
	betterAt time.Time // zero: it is as bad as shown, or worse
}

// settle returns the verdict to show, and whether it is the present one: while a
// better state has to prove itself the old words stay. prompt is set after an
// operator's own change, which shows at once.
func (s *settled) settle(v verdict, now time.Time, prompt bool) (verdict, bool) {
	if s.known && v.code > s.shown.Code && !prompt {
		if s.betterAt.IsZero() || s.betterAt.After(now) { // the clock may have gone back
			s.betterAt = now
		}
		if now.Sub(s.betterAt) < calm {
			return verdict{s.shown.Code, s.shown.Since}, false
		}
	}
	s.betterAt = time.Time{}
	if v.since.IsZero() {
		v.since = s.begun(v.code, now)
	}
	return v, true
}

// begun is when a state began that does not tell itself: it was seen to begin,
// unless it was there when the bucket was first looked at.
func (s *settled) begun(code Code, now time.Time) time.Time {
	before := s.known && s.shown.Code != Unread
	switch {
	case before && s.shown.Code == code:
		return s.shown.Since
	case code == Idle || code == Unread: // nobody sees when nothing begins
		return time.Time{}
	case !before && code != Stuck: // how long somebody is stuck matters even as a lower bound
		return time.Time{}
	}
	return now
}

// ended reports whether what the row shows was to end at a stated time and has:
// a hold or an override. Nothing has to prove itself then.
func ended(shown Code, f *facts) bool {
	switch shown {
	case Held:
		return f.read && !f.held()
	case Overridden:
		return f.read && !f.overridden()
	default:
		return false
	}
}
