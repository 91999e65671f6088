package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/cmd/bootlab/cli"
)

func TestWatchRefusesWhatItCannotDo(t *testing.T) {
	if _, stderr, status := bootlab("watch", newLab(t), "--interval", "1ms"); status != exitUsage || !strings.Contains(stderr, "too short") {
		t.Errorf("status %d: %s", status, stderr)
	}
	if _, stderr, status := bootlab("watch", filepath.Join(t.TempDir(), "none")); status != exitFailed || !strings.Contains(stderr, "none") {
		t.Errorf("status %d: %s", status, stderr)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	defer full.Close()
	var errs bytes.Buffer
	if status := run(context.Background(), []string{"watch", newLab(t)}, cli.Streams{In: strings.NewReader(""), Out: full, Err: &errs}); status != exitFailed {
		t.Errorf("status %d: %s", status, errs.String())
	}
}
