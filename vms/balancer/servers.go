package balancer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"bootlab/labs"
	"bootlab/vms"
)

// Server is a machine behind one port of the load balancer.
type Server struct {
	Backend  string `json:"backend"`
	Machine  string `json:"machine"`
	State    string `json:"state"` // HAProxy's word: UP, DOWN, MAINT, no check
	Check    string `json:"check"` // what the last check found, as L4CON
	Sessions string `json:"sessions"`
}

// Servers asks the load balancer for all it sends to.
func (p *Process) Servers() ([]Server, error) {
	answer, err := p.ask("show stat")
	if err != nil {
		return nil, err
	}
	return parseServers(answer)
}

// parseServers reads HAProxy's table, whose first line names the columns.
// Source: HAProxy management guide, 9.1 "CSV format".
func parseServers(table string) ([]Server, error) {
	lines := bufio.NewScanner(strings.NewReader(table))
	lines.Buffer(nil, 1<<20)
	column := map[string]int{}
	var out []Server
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ",")
		if head, ok := strings.CutPrefix(lines.Text(), "# "); ok {
			for i, name := range strings.Split(head, ",") {
				column[name] = i
			}
			continue
		}
		at := func(name string) string {
			if i, known := column[name]; known && i < len(fields) {
				return fields[i]
			}
			return ""
		}
		if name := at("svname"); name != "" && name != "FRONTEND" && name != "BACKEND" {
			out = append(out, Server{at("pxname"), name, at("status"), strings.TrimPrefix(at("check_status"), "* "), at("scur")})
		}
	}
	if len(column) == 0 {
		return nil, fmt.Errorf("HAProxy gave no table: %.100s", table)
	}
	return out, lines.Err()
}

// ServeBootstrap puts the bootstrap into the load balancer or takes it out, as
// remove-bootstrap.sh does: open connections may end by themselves. HAProxy
// forgets it when it is restarted.
func (p *Process) ServeBootstrap(serve bool) error {
	state := "maint"
	if serve {
		state = "ready"
	}
	for _, service := range labs.BootstrapServices() {
		order := fmt.Sprintf("set server %s/%s state %s", service.Name, p.Lab.Machines.Bootstrap.Name, state)
		answer, err := p.ask(order)
		if err != nil {
			return err
		}
		if answer = strings.TrimSpace(answer); answer != "" { // it says nothing when it obeys
			return &vms.Problem{Message: "HAProxy refuses: " + answer, Hint: "it was told: " + order}
		}
	}
	return nil
}

// Runs says whether it is there. It is a process of the host, so nothing starts
// it again when the host has booted.
func (p *Process) Runs() bool { return p.pid() != 0 }

func (p *Process) ask(order string) (string, error) {
	if !p.Runs() {
		return "", &vms.Problem{Message: "the load balancer does not run", Hint: "start it, and what else is missing: bootlab vms up " + p.Directory}
	}
	conn, err := net.DialTimeout("unix", p.Socket(), 2*time.Second)
	if err != nil {
		return "", &vms.Problem{Message: "the load balancer does not answer", Err: err, Hint: "its socket is for whoever ran up: be that user"}
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, order+"\n"); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return string(answer), nil
}
