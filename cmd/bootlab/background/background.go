// Package background tells lipgloss what the terminal's background is, so that
// it does not ask.
//
// bubbletea asks, in its own init, whoever's terminal the program was started
// from: with every command, also those that draw nothing, and takes what is
// typed meanwhile for the answer. lipgloss asks no more once it was told. Go
// initialises packages in the order of their import paths as far as what they
// import allows (Go specification, Package initialization), so this one comes
// before github.com/charmbracelet/bubbletea.
package background

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) }
