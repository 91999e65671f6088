package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Node is a machine of a lab, reached by the system's ssh.
type Node struct {
	Machine string // its name, which is a Host of Config
	Config  string // an ssh_config that names key and known hosts
}

// Name is the machine's.
func (n Node) Name() string { return n.Machine }

// unreached is the status by which ssh says that it did not get there.
const unreached = 255

// Run runs bash as root there. With BatchMode no password is asked for.
func (n Node) Run(ctx context.Context, line string, limit int) (Result, error) {
	cmd := exec.CommandContext(ctx, "ssh", "-F", n.Config, "-o", "BatchMode=yes", "--", n.Machine, "sudo "+patience(ctx)+"bash --noprofile --norc -s")
	r, err := runLine(ctx, cmd, line, limit)
	if err == nil && r.Status == unreached {
		return r, fmt.Errorf("%w: %s", ErrUnreachable, lastLine(r.Err))
	}
	return r, err
}

// patience ends what goes on there when nothing waits for it any more: the end of
// ssh does not. It comes a little later than the end of ctx, so that the
// end of ctx is what is reported. Empty where ctx has no end.
func patience(ctx context.Context) string {
	end, ends := ctx.Deadline()
	if !ends {
		return ""
	}
	seconds := int(max(time.Until(end), 0)/time.Second) + 2
	return fmt.Sprintf("timeout --kill-after=2 %d ", seconds)
}

// ReadFile reads the end of a file there, as root.
func (n Node) ReadFile(ctx context.Context, file string, limit int) ([]byte, error) {
	const absent = 3
	line := fmt.Sprintf("[[ -f %[1]s ]] || exit %[2]d; tail --bytes=%[3]s -- %[1]s", quote(file), absent, strconv.Itoa(limit))
	r, err := n.Run(ctx, line, limit)
	switch {
	case err != nil:
		return nil, err
	case r.Status == absent:
		return nil, &fs.PathError{Op: "read", Path: file, Err: fs.ErrNotExist}
	case r.Status != 0:
		return nil, &fs.PathError{Op: "read", Path: file, Err: errors.New(lastLine(r.Err))}
	}
	return r.Out, nil
}

// List lists a directory there, as root.
func (n Node) List(ctx context.Context, dir string) ([]string, error) {
	const absent = 3
	r, err := n.Run(ctx, fmt.Sprintf("[[ -d %[1]s ]] || exit %[2]d; cd -- %[1]s && find . -mindepth 1 -maxdepth 1 -printf '%%f\\0' | LC_ALL=C sort --zero-terminated", quote(dir), absent), 1<<20)
	switch {
	case err != nil:
		return nil, err
	case r.Status == absent:
		return nil, &fs.PathError{Op: "list", Path: dir, Err: fs.ErrNotExist}
	case r.Status != 0:
		return nil, &fs.PathError{Op: "list", Path: dir, Err: errors.New(lastLine(r.Err))}
	}
	var names []string
	for _, name := range bytes.Split(r.Out, []byte{0}) {
		if len(name) > 0 {
			names = append(names, string(name))
		}
	}
	return names, nil
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}
