package main

import (
	"strings"
	"testing"
)

func TestAnOldNameIsUnknownAndTheNewOneIsSuggested(t *testing.T) {
	lab := sharedLab(t)
	for _, c := range []struct {
		line, says string
		status     int
	}{
		{"diagnose LAB --rehearsal", "unknown flag --rehearsal; did you mean --local?", exitUsage},
		{"verify LAB --rehearsal", "unknown flag --rehearsal; did you mean --local?", exitUsage},
		{"timeline LAB --rehearsal", "unknown flag --rehearsal; did you mean --local?", exitUsage},
		{"timeline LAB --beside BUNDLE", "unknown flag --beside; did you mean --with?", exitUsage},
		{"timeline LAB --beside=BUNDLE", "unknown flag --beside; did you mean --with?", exitUsage},
		{"diagnose LAB --beside BUNDLE", "unknown flag --beside", exitUsage}, // it never had it
		{"audit LAB --json", "unknown flag --json; did you mean --output json?", exitUsage},
		{"diff 4.20 4.21 --format json", "unknown flag --format; did you mean --output?", exitUsage},
		{"mask BUNDLE --format json", "unknown flag --format; did you mean --output?", exitUsage},
		{"generate LAB --output /srv/mylab", "--to says where it is written", exitUsage},
		{"generate LAB -o /srv/mylab", "--to says where it is written", exitUsage},
		{"gather LAB --output /tmp/x.tar.gz", "--to says where it is written", exitUsage},
		{"site build LAB --output /srv/www", "--to says where it is written", exitUsage},
		{"explain release-brake", "did you mean release-hold?", exitUsage},
		{"explain release-brake.sh", "did you mean release-hold.sh?", exitUsage},
		{"explain brake", "did you mean hold?", exitUsage},
		{"verify LAB release-brake", "did you mean release-hold?", exitUsage},
	} {
		_, stderr, status := bootlab(strings.Fields(strings.ReplaceAll(c.line, "LAB", lab))...)
		if status != c.status || !strings.Contains(stderr, c.says) {
			t.Errorf("%s: status %d, want %d, and %q in\n%s", c.line, status, c.status, c.says, stderr)
		}
	}

	for old, name := range map[string]string{"--rehearsal": "--local", "--beside": "--with"} {
		if strings.Contains(help(t, "timeline"), old) || !strings.Contains(help(t, "timeline"), name) {
			t.Errorf("timeline --help names %s, or not %s", old, name)
		}
	}
	for old, name := range map[string]string{"release-brake": "release-hold", "brake": "hold"} {
		if _, stderr, status := bootlab("explain", name); status != exitDone {
			t.Errorf("what is suggested for %s is unknown too: %s", old, stderr)
		}
	}
}

func help(t *testing.T, command string) string {
	t.Helper()
	out, stderr, status := bootlab(command, "--help")
	if status != exitDone {
		t.Fatal(stderr)
	}
	return out
}
