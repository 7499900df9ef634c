package ui

// notice is the one line that stays until the next key: what became of a
// change, or why a key did nothing.
type notice struct {
	text string
	bad  bool
	done *changeDone // a change that is written: the line counts who has seen it
}

// say shows text until the next key. It must be escaped already.
func (a *app) say(text string) { a.notice = &notice{text: text} }

// complain is say for what went wrong.
func (a *app) complain(text string) { a.notice = &notice{text: text, bad: true} }
