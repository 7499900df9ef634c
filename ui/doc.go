// Package ui is the console: one bubbletea model, on a terminal, over the
// snapshots of package watch.
//
// The model is app. Screens (screen_*) are parts of it without a loop of their
// own: the list, one bucket, the workers, the events, the help. Dialogs
// (dialog_*, with their forms in form_*) stand on top of a screen and are asked
// first for every key; whatever changes anything in Redis begins in one. One
// table (keymap) says which key does what where; the handling of keys, the
// footer, the help and the README's table come from it. Widgets (widget_*) draw
// numbers and texts into a given width and know nothing else.
//
// Three rules hold everywhere. Update does no I/O: what takes time is a Cmd with
// a timeout, and its reply carries the id of the request. No text from Redis is
// drawn before styles.esc made it harmless. And keys that arrive in one piece, as
// a paste does, change nothing.
package ui
