package host

import "os/exec"

// endWhole: a browser runs no commands.
func endWhole(*exec.Cmd) {}
