// Package serial reads what the serial port of a machine printed, as libvirt's log
// daemon keeps it, and says how far Ignition came.
package serial

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"bootlab/vms"
)

// logBackups is how many older pieces of a log libvirt's log daemon keeps, as
// FILE.0, FILE.1 and so on, the newest first.
// Source: libvirt src/logging/virtlogd.conf, max_backups, and
// src/util/virrotatingfile.c.
const logBackups = 3

// Kept is how much of a serial log is read to judge it, in bytes: all that is
// kept, as a piece is put away at 2 MiB.
// Source: libvirt src/logging/virtlogd.conf, max_size.
const Kept = (logBackups + 1) * 2 << 20

// logPoll is how often a log that is followed is looked at.
const logPoll = 300 * time.Millisecond

// Write writes a machine's log, without what would steer a terminal. With follow
// it goes on until ctx ends.
func Write(ctx context.Context, current string, w io.Writer, follow bool) error {
	for i := logBackups - 1; i >= 0; i-- {
		if err := writeOld(w, fmt.Sprintf("%s.%d", current, i)); err != nil {
			return err
		}
	}
	file, err := openLog(current)
	if err != nil {
		return err
	}
	f := &follower{name: current, file: file, reader: bufio.NewReader(file)}
	defer func() { f.file.Close() }()
	for {
		err := f.copy(w, follow)
		if err != nil || !follow {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(logPoll):
		}
		if err := f.again(); err != nil {
			return err
		}
	}
}

// End gives the end of a log, at most limit bytes, also from the pieces that were
// put away. It begins with the newest piece: the log may be put away meanwhile, and
// then something is read twice, but nothing is left out.
func End(name string, limit int64) ([]byte, error) {
	all, err := endOfFile(name, limit)
	for i := 0; i < logBackups && err == nil && int64(len(all)) < limit; i++ {
		var older []byte
		older, err = endOfFile(fmt.Sprintf("%s.%d", name, i), limit-int64(len(all)))
		if errors.Is(err, os.ErrNotExist) {
			return all, nil
		}
		all = append(older, all...)
	}
	return all, err
}

func endOfFile(name string, limit int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if over := info.Size() - limit; over > 0 {
		if _, err := file.Seek(over, io.SeekStart); err != nil {
			return nil, err
		}
	}
	return io.ReadAll(io.LimitReader(file, limit))
}

func openLog(name string) (*os.File, error) {
	file, err := os.Open(name)
	switch {
	case errors.Is(err, os.ErrPermission):
		return nil, &vms.Problem{Message: "the log is for root alone", Err: err, Hint: "read it with: sudo less -R " + name}
	case errors.Is(err, os.ErrNotExist):
		return nil, &vms.Problem{Message: "there is no log: the machine was not started yet", Err: err, Hint: "bootlab vms start starts it"}
	}
	return file, err
}

func writeOld(w io.Writer, name string) error {
	file, err := openLog(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	return (&follower{reader: bufio.NewReader(file)}).copy(w, false)
}

// follower reads a log by lines, and goes over to the next file when this one is
// put away.
type follower struct {
	name   string
	file   *os.File
	reader *bufio.Reader
	begun  string // a line whose end is not written yet
}

// copy writes the lines that are there; the last one without its end only when
// nothing waits for it.
func (f *follower) copy(w io.Writer, wait bool) error {
	for {
		line, err := f.reader.ReadString('\n')
		f.begun += line
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if f.begun != "" && (err == nil || !wait) {
			if _, err := io.WriteString(w, vms.PlainText(f.begun)); err != nil {
				return err
			}
			f.begun = ""
		}
		if err != nil {
			return nil
		}
	}
}

// again goes on with a new file if the name has one.
func (f *follower) again() error {
	now, err := os.Stat(f.name)
	if errors.Is(err, os.ErrNotExist) {
		return nil // between putting away and making
	}
	if err != nil {
		return err
	}
	if old, err := f.file.Stat(); err != nil || os.SameFile(old, now) {
		return err
	}
	file, err := openLog(f.name)
	if err != nil {
		return err
	}
	f.file.Close()
	f.file = file
	f.reader.Reset(file)
	return nil
}
