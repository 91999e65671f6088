package watch

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"bootlab/labs/inspect/host"
)

// sharedConfig lets all that is asked of a machine go through one connection,
// which is given up soon when the machine hangs, and ends by itself a minute
// after its last use.
const sharedConfig = `Host *
  ControlMaster auto
  ControlPath "%s/%%C"
  ControlPersist 60
  ServerAliveInterval 5
  ServerAliveCountMax 2
  Include "%s"
`

// longestSocketDir is how long the path of a directory for ssh's sockets may be:
// a name in it has up to 58 characters, and the path of a socket up to 107.
const longestSocketDir = 48

// Share makes all that is asked of the lab's machines go over one connection to
// each. Its sockets stand in a private directory, which end removes. Where that
// cannot be, each question has a connection of its own, as before.
func Share(p *host.Hosts) (end func()) {
	none := func() {}
	bootstrap, ok := p.Bootstrap.(host.Node)
	if !ok {
		return none
	}
	config, err := filepath.Abs(bootstrap.Config)
	// ssh takes a path behind Include for a pattern.
	if err != nil || strings.ContainsAny(config, "*?[]\\\"%$\n") {
		return none
	}
	dir, err := os.MkdirTemp("", "bootlab-ssh-")
	if err != nil {
		return none
	}
	shared := filepath.Join(dir, "config")
	if len(dir) > longestSocketDir || os.WriteFile(shared, fmt.Appendf(nil, sharedConfig, dir, config), 0o600) != nil {
		os.RemoveAll(dir)
		return none
	}
	names := []string{bootstrap.Machine}
	p.Bootstrap = host.Node{Machine: bootstrap.Machine, Config: shared}
	for name, m := range p.Masters {
		if _, ok := m.(host.Node); ok {
			p.Masters[name] = host.Node{Machine: name, Config: shared}
			names = append(names, name)
		}
	}
	return func() {
		defer os.RemoveAll(dir)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		for _, name := range names {
			// Whose connection is gone already has nothing to end.
			_ = exec.CommandContext(ctx, "ssh", "-F", shared, "-O", "exit", "--", name).Run()
		}
	}
}
