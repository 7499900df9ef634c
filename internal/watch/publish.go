package watch

import "time"

// dueExtra reports whether this refresh also reads what is out of sight, whatever
// else is asked for in between.
func (w *Watcher) dueExtra(now time.Time) bool {
	const slack = 50 * time.Millisecond // timers are late, and the pause is cut short by as much
	if !w.extraAt.IsZero() && now.Sub(w.extraAt) < extraEvery(w.config.Refresh)-slack {
		return false
	}
	w.extraAt = now
	return true
}

// publish makes the outcome of a refresh the newest snapshot. After a failure
// that is the data of before under a lost link.
func (w *Watcher) publish(r *round, err error) {
	local := w.ended
	if err != nil {
		w.link = w.link.lost(err, local)
		w.extraAt = time.Time{}
		old := *w.snapshot.Load()
		old.Link = w.link
		w.store(&old)
		return
	}
	w.link = w.link.live(r.rtt, local)
	now := w.model.clock.now(local)
	w.model.weigh(now)
	w.model.trim(now)
	w.model.forgive(now)
	s := w.model.build(now)
	s.Taken, s.Link, s.Match = local, w.link, w.config.Match
	s.Cost = w.meter.cost(local, local.Sub(r.start), w.model.patience())
	w.store(s)
}

func (w *Watcher) store(s *Snapshot) {
	w.snapshot.Store(s)
	notify(w.updates)
}
