//go:build !js

package host

import (
	"os/exec"
	"syscall"
)

// endWhole makes the end of a command that of everything it started.
func endWhole(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
