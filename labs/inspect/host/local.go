package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"time"
)

// Local is this machine, as the user who asks.
type Local struct{}

// Name says that it is this one.
func (Local) Name() string { return "this machine" }

// Run runs bash here, without the user's own settings.
func (Local) Run(ctx context.Context, line string, limit int) (Result, error) {
	return runLine(ctx, exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-s"), line, limit)
}

// ReadFile reads the end of a file.
func (Local) ReadFile(_ context.Context, file string, limit int) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: file, Err: errors.New("it is no file")}
	}
	if over := info.Size() - int64(limit); over > 0 {
		if _, err := f.Seek(over, io.SeekStart); err != nil {
			return nil, err
		}
	}
	return io.ReadAll(io.LimitReader(f, int64(limit)))
}

// List lists a directory.
func (Local) List(_ context.Context, dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// runLine gives a program a line of bash to read, so that neither quoting nor a
// list of processes gets in the way.
func runLine(ctx context.Context, cmd *exec.Cmd, line string, limit int) (Result, error) {
	out, complaint := &tail{limit: limit}, &tail{limit: 64 << 10}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader([]byte(line+"\n")), out, complaint
	// What it started, and left running, ends with it.
	endWhole(cmd)
	cmd.WaitDelay = 2 * time.Second
	err := cmd.Run()
	result := Result{Out: out.bytes(), Err: complaint.bytes(), Status: cmd.ProcessState.ExitCode(), Cut: out.cut}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return result, fmt.Errorf("no answer in time: %w", ctx.Err())
	case errors.As(err, &exit) && exit.Exited():
		return result, nil
	}
	return result, err
}

// tail keeps the last bytes that are written to it.
type tail struct {
	limit int
	kept  []byte
	cut   bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	// Cutting at twice the limit moves each byte once.
	if len(t.kept) > 2*t.limit {
		t.kept, t.cut = append(t.kept[:0], t.kept[len(t.kept)-t.limit:]...), true
	}
	return len(p), nil
}

func (t *tail) bytes() []byte {
	if len(t.kept) > t.limit {
		t.cut = true
		return t.kept[len(t.kept)-t.limit:]
	}
	return t.kept
}
