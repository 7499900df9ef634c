package bucketctl

import "time"

// EventKind says what happened.
type EventKind string

// Event kinds. The first seven are operators' changes, the others are what
// workers tell.
const (
	EventLimit    EventKind = "limit"    // an override was set or changed
	EventUnset    EventKind = "unset"    // an override was taken away
	EventHold     EventKind = "hold"     // a hold was set or changed
	EventResume   EventKind = "resume"   // a hold was taken away
	EventUndo     EventKind = "undo"     // the newest limit or hold change was changed back
	EventReset    EventKind = "reset"    // the level was set
	EventDelete   EventKind = "delete"   // the state was deleted
	EventFallback EventKind = "fallback" // a worker went on without Redis
	EventShared   EventKind = "shared"   // a worker is back on the shared bucket
	EventCooldown EventKind = "cooldown" // a worker stopped everybody for a while
	EventMended   EventKind = "mended"   // a take found values that can't be and started again from empty
)

// Event is a change worth keeping.
type Event struct {
	ID     string    // of the stream entry
	At     time.Time // server time
	Kind   EventKind
	Key    string // the bucket; empty for a whole worker
	By     string // operator ("anna@ops1") or worker ("geo-7/4211")
	Reason string
	Rev    Rev // revision after the change; 0 where the record did not change

	Before, After Record // for changes of limit and hold

	Detail map[string]string // what else belongs to the kind, as text for people
}

// Record is the part of an operators' record that a change can alter and an
// undo can bring back.
type Record struct {
	Override Override
	Hold     Hold
}

// EventQuery selects events. The zero query is all that is kept.
type EventQuery struct {
	Since time.Time // server time; zero: from the oldest kept
	After string    // only events after this ID
	Key   string    // only events of this bucket; empty: all
	Max   int       // at most so many, the newest; 0: 10,000
}
