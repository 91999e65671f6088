package vms

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Status is how a machine stands, as seen from the host.
type Status struct {
	Name    string `json:"name"`
	Role    Role   `json:"role"`
	Address string `json:"address"`
	State   string `json:"state"` // libvirt's word, or "not made"
	// Ignition: done, failed, under way, or why that cannot be seen.
	Ignition string `json:"ignition"`
	SSH      string `json:"ssh"` // open, closed
	API      string `json:"api"` // the answer of /readyz on 6443
	MCS      string `json:"mcs"` // the answer of /healthz on 22623
	// Why is what the machine itself says of Ignition, where that is not done.
	Why string `json:"why,omitempty"`
}

// probeTime is how long one look over the network may take.
const probeTime = 2 * time.Second

// Status looks at every machine at once.
func (p *Provisioner) Status(ctx context.Context) ([]Status, error) {
	machines := Machines(p.Lab)
	out := make([]Status, len(machines))
	var wait sync.WaitGroup
	for i, m := range machines {
		state, there, err := p.Host.Domain(p.Lab.DomainName(m.Name))
		if err != nil {
			return nil, err
		}
		out[i] = Status{Name: m.Name, Role: m.Role, Address: m.Address, State: "not made", Ignition: "-", SSH: "-", API: "-", MCS: "-"}
		if !there {
			continue
		}
		if _, err := p.ours("domain", p.Lab.DomainName(m.Name), state.XML); err != nil {
			out[i].State = "another lab's"
			continue
		}
		out[i].State = state.State
		out[i].Ignition, out[i].Why = p.ignitionState(m)
		if !state.Active {
			continue
		}
		wait.Add(1)
		go func() {
			defer wait.Done()
			out[i].look(ctx)
		}()
	}
	wait.Wait()
	return out, nil
}

// look asks the machine itself.
func (s *Status) look(ctx context.Context) {
	s.SSH = "closed"
	d := net.Dialer{Timeout: probeTime}
	if c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(s.Address, "22")); err == nil {
		c.Close()
		s.SSH = "open"
	}
	if s.Role == Worker {
		return
	}
	s.API = answer(ctx, "https://"+net.JoinHostPort(s.Address, "6443")+"/readyz")
	s.MCS = answer(ctx, "https://"+net.JoinHostPort(s.Address, "22623")+"/healthz")
}

// answer is the status of a GET, or silence. Who answers is not looked at: that
// is for verify-api.sh.
func answer(ctx context.Context, url string) string {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "-"
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return "no answer"
	}
	response.Body.Close()
	return strconv.Itoa(response.StatusCode)
}

// What Ignition and the system print on the console of a first boot. Every stage
// of Ignition ends with "Ignition finished successfully", so only the last one
// says that all is done.
// Source: coreos/ignition v2.24.0 internal/main.go, internal/exec/engine.go;
// openshift-docs, "Ignition: ran on" on the console of an RHCOS machine;
// coreos/fedora-coreos-config 35coreos-emergency-shell; dracut's and systemd's
// emergency shells.
var (
	firstBoot      = []byte("ignition.firstboot") // on the kernel's command line
	ignitionDone   = [][]byte{[]byte("files passed"), []byte("Ignition: ran on")}
	ignitionFailed = [][]byte{[]byte("Ignition failed"), []byte("Ignition has failed"), []byte("Entering emergency mode"), []byte("You are in emergency mode")}
)

// ignitionState reads it from the machine's serial log.
func (p *Provisioner) ignitionState(m Machine) (state, why string) {
	log, err := p.ReadLog(m, logTail)
	switch {
	case errors.Is(err, os.ErrPermission):
		return "the log is root's", ""
	case err != nil:
		return "-", ""
	}
	return readIgnition(log)
}

// readIgnition says of a serial log how Ignition stands, and why.
func readIgnition(log []byte) (state, why string) {
	// The log outlives the machine: another one of that name may have written
	// before.
	if at := lastOf(log, firstBoot); at > 0 {
		log = log[at:]
	}
	failed, done := lastOf(log, ignitionFailed...), lastOf(log, ignitionDone...)
	if lines := WhyIgnitionFailed(log); len(lines) > 0 {
		why = lines[len(lines)-1]
	}
	switch {
	case done >= 0 && failed > done:
		return "done", "the system is in emergency mode"
	case done >= 0:
		return "done", ""
	case failed >= 0:
		return "failed", why
	case bytes.Contains(log, []byte("gnition")):
		return "under way", why
	}
	return "-", ""
}

// lastOf is where the last of these texts begins; -1 if there is none.
func lastOf(log []byte, texts ...[]byte) int {
	at := -1
	for _, text := range texts {
		at = max(at, bytes.LastIndex(log, text))
	}
	return at
}

// needsNetwork is no failure: Ignition tries without network first.
const needsNetwork = "resource requires networking"

// WhyIgnitionFailed are the lines of a serial log that say it, newest last.
func WhyIgnitionFailed(log []byte) []string {
	var out []string
	for _, line := range strings.Split(string(log), "\n") {
		line = strings.TrimSpace(PlainText(line))
		if strings.Contains(line, needsNetwork) {
			continue
		}
		if strings.Contains(line, "CRITICAL") || strings.Contains(line, "failed to fetch") || strings.Contains(line, "ignition[") && strings.Contains(line, "rror") {
			out = append(out, line)
		}
	}
	if len(out) > 10 {
		out = out[len(out)-10:]
	}
	return out
}

// printable drops what would steer a terminal.
func printable(r rune) rune {
	if r == '\t' || r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f) {
		return r
	}
	return -1
}
