// Package ptytest runs programs on terminals of their own, for tests: it types,
// waits for what they write, and looks whether they leave the terminal as it was.
// There are none on Windows.
package ptytest
