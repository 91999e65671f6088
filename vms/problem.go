package vms

import (
	"fmt"
	"strings"
)

// Problem is an error with what to do about it.
type Problem struct {
	Message string
	Hint    string
	Err     error
}

// Error is the message, and what libvirt or the system said.
func (p *Problem) Error() string {
	if p.Err == nil {
		return p.Message
	}
	return p.Message + ": " + p.Err.Error()
}

// Unwrap is what libvirt or the system said.
func (p *Problem) Unwrap() error { return p.Err }

// UnknownMachine is the error about a word that means no machine of a lab.
type UnknownMachine struct {
	Word  string
	Known []string
}

// Error names the word.
func (u *UnknownMachine) Error() string { return fmt.Sprintf("the lab has no machine %q", u.Word) }

// Hint names the machines that there are.
func (u *UnknownMachine) Hint() string {
	return "it has " + strings.Join(u.Known, ", ") + "; masters, workers and all are words for several"
}
