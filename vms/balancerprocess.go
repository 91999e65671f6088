package vms

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
)

const (
	balancerConfig = "haproxy.cfg"
	balancerPID    = "haproxy.pid"
	balancerSocket = "haproxy.sock"
	balancerLog    = "haproxy.log"
)

// balancer is the lab's HAProxy, a process of whoever runs bootlab. It listens on
// the gateway, so the network comes first.
func (p *Provisioner) balancer() Thing {
	return Thing{Kind: "load balancer", Name: "haproxy",
		look: func() (condition, error) {
			config, err := os.ReadFile(p.State.Path(balancerConfig))
			if errors.Is(err, os.ErrNotExist) {
				return missing, nil
			}
			if err != nil {
				return "", err
			}
			running := p.balancerPID() != 0
			switch {
			case !bytes.Equal(config, []byte(p.balancerConfig())):
				return halfMade, nil
			case !running:
				return inactive, nil
			}
			return ready, nil
		},
		make:   func() error { return p.State.write(balancerConfig, []byte(p.balancerConfig())) },
		start:  p.startBalancer,
		remove: p.removeBalancer,
	}
}

func (p *Provisioner) balancerConfig() string {
	return Balancer(p.Lab, p.State.Path(balancerSocket))
}

// balancerPID is the process of the lab's balancer; 0 if it does not run. Another
// process may have got its number since.
func (p *Provisioner) balancerPID() int {
	text, err := os.ReadFile(p.State.Path(balancerPID))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		return 0
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || !bytes.Contains(line, []byte(p.State.Path(balancerConfig))) {
		return 0
	}
	return pid
}

func (p *Provisioner) startBalancer() error {
	program, err := findHAProxy()
	if err != nil {
		return err
	}
	// What it says goes to a file: the process in the background keeps its output
	// open, and whoever reads from a pipe would wait for its end.
	said, err := os.Create(p.State.Path(balancerLog))
	if err != nil {
		return err
	}
	defer said.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	// It checks the file, binds every port, and only then goes to the background:
	// what is wrong is known by the time this returns.
	cmd := exec.CommandContext(ctx, program, "-D", "-f", p.State.Path(balancerConfig), "-p", p.State.Path(balancerPID))
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Run(); err != nil {
		out, _ := os.ReadFile(said.Name())
		return balancerProblem(string(out), err)
	}
	return nil
}

// findHAProxy looks beside PATH too: an ordinary user has no sbin there.
func findHAProxy() (string, error) {
	for _, name := range []string{"haproxy", "/usr/sbin/haproxy", "/usr/local/sbin/haproxy"} {
		if program, err := exec.LookPath(name); err == nil {
			return filepath.Abs(program)
		}
	}
	return "", &Problem{Message: "haproxy is not installed", Hint: "apt-get install haproxy, or dnf install haproxy"}
}

func balancerProblem(out string, err error) error {
	p := &Problem{Message: "haproxy does not start", Err: errors.New(strings.TrimSpace(out)), Hint: "the file is " + balancerConfig + " in the lab's work/vms"}
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

// removeBalancer stops it; connections that are open end.
func (p *Provisioner) removeBalancer() error {
	if pid := p.balancerPID(); pid != 0 {
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
		for range 100 {
			if p.balancerPID() == 0 {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if pid := p.balancerPID(); pid != 0 {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	var errs []error
	for _, name := range []string{balancerConfig, balancerPID, balancerSocket, balancerLog} {
		if err := os.Remove(p.State.Path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
