//go:build cgo && libvirt_dlopen

package vms

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"bootlab/labs/sample"
)

// journalLines is how many lines the lab's journal has.
func journalLines(dir string) int {
	text, err := os.ReadFile(filepath.Join(dir, "out", "work", "vms", "journal.jsonl"))
	if err != nil {
		return 0
	}
	return bytes.Count(text, []byte("\n"))
}

// killedAfter runs a command and kills it as soon as it has written so many lines
// into the journal; it says whether it came in time.
func killedAfter(t *testing.T, lines int, dir string, args ...string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	before := journalLines(dir)
	cmd := command(t, ctx, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cmd.Wait()
	}()
	for {
		select {
		case <-ended:
			return cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled()
		case <-time.After(time.Millisecond):
		}
		if journalLines(dir)-before >= lines {
			cmd.Process.Kill()
		}
	}
}

// Killed at any point, up and down come to the right end when they are run again.
func TestKilledUpAndDownGoOn(t *testing.T) {
	available(t)
	dir := newLab(t, shape{name: "killed", cidr: "192.168.152.0/24"})
	up := []string{"vms", "up", dir, "--emulate", "--image", haltingDisk(t)}
	killed := map[string]int{}
	points := sample.Of(t, 4, []int{1, 4, 7, 10, 13, 16, 19, 22, 25, 28})
	for _, lines := range points {
		if killedAfter(t, lines, dir, up...) {
			killed["up"]++
		}
		works(t, up...)
		if out := works(t, "vms", "status", dir).out; strings.Count(out, "shut off") != 3 || strings.Count(out, "running  ") != 1 || !strings.Contains(out, "network active, load balancer running") {
			t.Errorf("after up was killed at line %d of the journal:\n%s", lines, out)
		}
		if serverStates(t, dir)["api/bootstrap"] == "" {
			t.Errorf("after up was killed at line %d of the journal there is no load balancer", lines)
		}
		// Each of them once more, and nothing is done twice.
		if again := works(t, up...).out; strings.Contains(again, "make ") {
			t.Errorf("a second up made something:\n%s", again)
		}
		if killedAfter(t, lines*2/3, dir, "vms", "down", dir) {
			killed["down"]++
		}
		if out := works(t, "vms", "down", dir).out; !strings.Contains(out, "nothing of the lab is left") {
			t.Errorf("after down was killed:\n%s", out)
		}
		if left := made(t); strings.Contains(left, "bootlab-killed") {
			t.Errorf("after down was killed at line %d of the journal there is still\n%s", lines*2/3, left)
		}
	}
	if most := len(points) * 8 / 10; killed["up"] < most || killed["down"] < most {
		t.Errorf("too few were killed before they had ended: %v of %d", killed, len(points))
	}
}
