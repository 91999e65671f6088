package provision

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"bootlab/vms"
	"bootlab/vms/serial"
)

// Status is how a machine stands, as seen from the host.
type Status struct {
	Name    string   `json:"name"`
	Role    vms.Role `json:"role"`
	Address string   `json:"address"`
	State   string   `json:"state"` // libvirt's word, or "not made"
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
	machines := vms.Machines(p.Lab)
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
	if s.Role == vms.Worker {
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

// ignitionState reads it from the machine's serial log.
func (p *Provisioner) ignitionState(m vms.Machine) (state, why string) {
	log, err := p.ReadLog(m, serial.Kept)
	switch {
	case errors.Is(err, os.ErrPermission):
		return "the log is root's", ""
	case err != nil:
		return "-", ""
	}
	return serial.Ignition(log)
}

// WriteLog writes what the machine's serial port printed, without what would
// steer a terminal. With follow it goes on until ctx ends.
func (p *Provisioner) WriteLog(ctx context.Context, m vms.Machine, w io.Writer, follow bool) error {
	if _, err := p.mine(m); err != nil {
		return err
	}
	return serial.Write(ctx, vms.SerialLog(p.Lab, m.Name), w, follow)
}

// ReadLog gives the end of what the machine's serial port printed, at most limit
// bytes, also from the pieces that were put away.
func (p *Provisioner) ReadLog(m vms.Machine, limit int64) ([]byte, error) {
	return serial.End(vms.SerialLog(p.Lab, m.Name), limit)
}
