package ui

import tea "github.com/charmbracelet/bubbletea"

func (a *app) openDetail() tea.Cmd  { return nil }
func (a *app) openHelp() tea.Cmd    { return nil }
func (a *app) openWorkers() tea.Cmd { return nil }
func (a *app) openEvents() tea.Cmd  { return nil }
