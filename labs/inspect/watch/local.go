package watch

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"bootlab/labs"
	"bootlab/labs/inspect/record"
)

// lookAtLocalRun reads what the scripts leave on this workstation: records,
// markers, locks and logs.
func (w *Watch) lookAtLocalRun(ctx context.Context) *Sight {
	p := w.hosts
	services, err := record.Collect(ctx, p.Here, p.Root)
	if err != nil && !errors.Is(err, record.ErrNone) {
		return &Sight{Problem: why(err)}
	}
	seen := &progress{services: services, usual: w.usual,
		marked: func(marker string) bool {
			_, err := os.Stat(filepath.Join(p.AssetDir, marker))
			return err == nil
		},
		running: func(service string) bool { return Locked(filepath.Join(p.AssetDir, lockOf(service))) },
	}
	s := &Sight{Stages: seen.stages(w.plan, labs.Local)}
	if current := (&Status{Stages: s.Stages}).current(); current != nil {
		s.Log = w.logLine(current.Name)
	}
	return s
}

// lockOf is the lock of the scripts whose record that is: one for all, but of
// its own for what runs beside another.
func lockOf(service string) string {
	if service == bootkube {
		return ".bootlab.lock"
	}
	return ".bootlab." + service + ".lock"
}

// logEnd is how much of a log is read for its last line, in bytes.
const logEnd = 4 << 10

// logLine is the last line of a stage's log that says something.
func (w *Watch) logLine(stage string) LogLine {
	file := filepath.Join(w.hosts.Root, record.Dir, "bootlab", filepath.Base(stage)+".log")
	text, err := w.hosts.Here.ReadFile(context.Background(), file, logEnd)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return LogLine{Stage: stage, Line: why(err)}
		}
		return LogLine{}
	}
	return LogLine{Stage: stage, Line: Clean(lastLine(string(bytes.ToValidUTF8(text, []byte("\uFFFD")))))}
}

// lastLine is the last line that is not empty. A program that writes over its
// own line has said what stands there last.
func lastLine(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	text = text[strings.LastIndexByte(text, '\n')+1:]
	return text[strings.LastIndexByte(text, '\r')+1:]
}
