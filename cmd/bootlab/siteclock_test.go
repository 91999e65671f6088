package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bootlab/cmd/bootlab/guide"
)

func TestTheSiteTellsTheWorstOfTheClock(t *testing.T) {
	lab := t.TempDir()
	look := func() string {
		return guide.Clock(filepath.Join(lab, "out"))()
	}
	expect := func(want string) {
		t.Helper()
		if got := look(); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%q, want %q", got, want)
		}
	}
	expect("")
	putCertificates(t, lab, "assets/tls/day.crt", 20*time.Hour)
	expect("Certificates: next to end day.crt, at ")
	putCertificates(t, lab, "assets/tls/soon.crt", 2*time.Hour)
	if got := look(); !strings.HasSuffix(got, " UTC (ends within 4 hours).") || !strings.Contains(got, "soon.crt") {
		t.Error(got)
	}
	putCertificates(t, lab, "assets/tls/tomorrow.crt", 30*time.Hour)
	expect("Certificates: tomorrow.crt cannot be used yet")
	putCertificates(t, lab, "assets/tls/over.crt", -time.Minute)
	expect("Certificates: over.crt ended at ")
}
