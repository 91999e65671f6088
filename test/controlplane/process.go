package controlplane

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// process is a running program in a network, what it says going to a file.
type process struct {
	name  string
	log   string
	cmd   *exec.Cmd
	ended chan struct{}
}

// uncollected lets programs that live for seconds collect no garbage before they
// hold this much: a starting API server saves a sixth of its processor time.
var uncollected = []string{"GOGC=off", "GOMEMLIMIT=512MiB"}

// start starts a program, with no more of the environment than it is given.
func (c *ControlPlane) start(name string, environment []string, words ...string) (*process, error) {
	p := &process{name: name, log: filepath.Join(c.Dir, "logs", name+".log"), ended: make(chan struct{})}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.cmd = exec.Command(words[0], words[1:]...)
	p.cmd.Env = slices.Concat([]string{"PATH=" + c.programs + ":/usr/bin:/bin", "HOME=" + c.Dir}, uncollected, environment)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = c.Dir, log, log
	if err := c.Network.Start(p.cmd); err != nil {
		return nil, err
	}
	go func() {
		p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// kill ends the process as kill -9 does.
func (p *process) kill() {
	if p != nil {
		p.cmd.Process.Signal(syscall.SIGKILL)
		<-p.ended
	}
}

// atWork is false once the process has ended.
func (p *process) atWork() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// patience is how long anything here may take on a busy machine.
const patience = 2 * time.Minute

// until waits for something that the process must bring about.
func (p *process) until(what string, reached func() error) error {
	err := eventually(what, func() error {
		err := reached()
		if err != nil && !p.atWork() {
			err = fmt.Errorf("%w (%w)", errEnded, err)
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("%s: %w; it said\n%s", p.name, err, p.tail())
	}
	return err
}

// errEnded is a process that is no more, which need not be waited for.
var errEnded = errors.New("the process has ended")

// eventually waits for something to succeed.
func eventually(what string, reached func() error) error {
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = reached(); err == nil {
			return nil
		}
		if errors.Is(err, errEnded) {
			break
		}
	}
	return fmt.Errorf("not %s: %w", what, err)
}

// tail is the end of what the process said.
func (p *process) tail() string {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "\n")
}

// words runs a program of the control plane's to its end inside the network, and
// gives what it wrote; an error holds what it complained of.
func (c *ControlPlane) words(stdin string, environment []string, words ...string) (string, error) {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append([]string{"PATH=" + c.Bin + ":" + c.programs + ":/usr/bin:/bin", "HOME=" + c.Dir}, environment...)
	cmd.Dir = c.Dir
	var out, complaint strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &complaint
	if err := c.Network.Start(cmd); err != nil {
		return "", err
	}
	timer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Wait(); err != nil {
		return out.String(), fmt.Errorf("%s: %w: %s", filepath.Base(words[0])+" "+strings.Join(words[1:], " "), err, strings.TrimSpace(complaint.String()+out.String()))
	}
	return out.String(), nil
}

// joined is errors.Join for functions that a list calls one after the other and
// that must all have their turn.
func joined(all ...func() error) error {
	var errs []error
	for _, f := range all {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}
