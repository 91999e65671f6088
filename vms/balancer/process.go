// Package balancer runs a lab's HAProxy on this host and asks it how its servers
// stand. Its configuration is [vms.Balancer].
package balancer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"bootlab/labs"
	"bootlab/vms"
	"bootlab/vms/state"
)

const (
	configFile = "haproxy.cfg"
	pidFile    = "haproxy.pid"
	socketFile = "haproxy.sock"
	logFile    = "haproxy.log"
)

// Process is the HAProxy of a lab, a process of whoever runs bootlab. It listens
// on the gateway, so the network comes first.
type Process struct {
	Lab   *labs.Lab
	State *state.Dir
	// Directory is that of lab.yaml, for hints.
	Directory string
}

// Made says whether its configuration is written, and whether that is the one
// that the lab wants now.
func (p *Process) Made() (there, current bool, err error) {
	config, err := os.ReadFile(p.State.Path(configFile))
	if errors.Is(err, os.ErrNotExist) {
		return false, false, nil
	}
	return err == nil, bytes.Equal(config, []byte(p.config())), err
}

// Make writes its configuration.
func (p *Process) Make() error { return p.State.Write(configFile, []byte(p.config())) }

func (p *Process) config() string { return vms.Balancer(p.Lab, p.Socket()) }

// Socket is where it takes orders.
func (p *Process) Socket() string { return p.State.Path(socketFile) }

// pid is 0 if it does not run. Another process may have got its number since.
func (p *Process) pid() int {
	text, err := os.ReadFile(p.State.Path(pidFile))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		return 0
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || !bytes.Contains(line, []byte(p.State.Path(configFile))) {
		return 0
	}
	return pid
}

// Start runs it; what is wrong with its configuration or its ports is the error.
func (p *Process) Start() error {
	program, err := Program()
	if err != nil {
		return err
	}
	// What it says goes to a file: the process in the background keeps its output
	// open, and whoever reads from a pipe would wait for its end.
	said, err := os.Create(p.State.Path(logFile))
	if err != nil {
		return err
	}
	defer said.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	// It checks the file, binds every port, and only then goes to the background:
	// what is wrong is known by the time this returns.
	cmd := exec.CommandContext(ctx, program, "-D", "-f", p.State.Path(configFile), "-p", p.State.Path(pidFile))
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Run(); err != nil {
		out, _ := os.ReadFile(said.Name())
		return problem(string(out), err)
	}
	return nil
}

// Program finds haproxy. It looks beside PATH too: an ordinary user has no sbin there.
func Program() (string, error) {
	for _, name := range []string{"haproxy", "/usr/sbin/haproxy", "/usr/local/sbin/haproxy"} {
		if program, err := exec.LookPath(name); err == nil {
			return filepath.Abs(program)
		}
	}
	return "", &vms.Problem{Message: "haproxy is not installed", Hint: "apt-get install haproxy, or dnf install haproxy"}
}

func problem(out string, err error) error {
	p := &vms.Problem{Message: "haproxy does not start", Err: errors.New(strings.TrimSpace(out)), Hint: "the file is " + configFile + " in the lab's work/vms"}
	switch {
	case strings.Contains(out, "Permission denied"):
		p.Hint = "ports 80 and 443 are for root, or for everybody from a lower bound on: sudo sysctl net.ipv4.ip_unprivileged_port_start=80"
	case strings.Contains(out, "Address already in use"):
		p.Hint = "somebody listens on one of 6443, 22623, 80 and 443 of all addresses: sudo ss -ltnp"
	case strings.Contains(out, "Cannot assign requested address"):
		p.Hint = "the lab's network is not up on this host: virsh net-list"
	case out == "":
		p.Err = err
	}
	return p
}

// Remove stops it; connections that are open end.
func (p *Process) Remove() error {
	if pid := p.pid(); pid != 0 {
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
		for range 100 {
			if p.pid() == 0 {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if pid := p.pid(); pid != 0 {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	var errs []error
	for _, name := range []string{configFile, pidFile, socketFile, logFile} {
		if err := os.Remove(p.State.Path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
