package ui

type workersScreen struct{ cursor string }

func newWorkersScreen() *workersScreen { return &workersScreen{} }

func (w *workersScreen) place() place                            { return onWorkers }
func (w *workersScreen) take(*app)                               {}
func (w *workersScreen) move(*app, int)                          {}
func (w *workersScreen) page(*app, int)                          {}
func (w *workersScreen) selected(*app) (string, bool)            { return "", false }
func (w *workersScreen) view(a *app, width, height int) []string { return nil }
