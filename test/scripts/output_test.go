package scripts

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/test/checkout"
	"bootlab/test/podman"
)

var update = flag.Bool("update", false, "record again what the guide shows of scripts")

// outputs holds what the guide shows of the scripts, a file for each stage.
const outputs = "labs/data/guide/output"

// The guide shows what a script prints on its first run, cut short. Numbers aside
// it is what the script prints now.
func TestTheGuideShowsWhatScriptsPrint(t *testing.T) {
	l := Good(t, podman.Accounts(t)[0], labs.Local)
	for _, s := range Stages(t, release, labs.Local) {
		sameAsShown(t, s.ID, shortened(l.Printed[s.ID], l.Dir))
	}
}

// shown compares what a script of the node or of the workstation prints in the
// test of its stage with what the guide shows of it. That test records it with
// -update.
func (l *Lab) shown(t *testing.T, stage string, r Result) {
	t.Helper()
	sameAsShown(t, stage, moment.ReplaceAllString(shortened(r.All, l.Dir), "2026-01-02T03:04:05Z"))
}

func sameAsShown(t *testing.T, stage, printed string) {
	t.Helper()
	file := filepath.Join(checkout.Root(), outputs, stage+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(printed), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	shown, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
		return
	}
	if withoutNumbers(string(shown)) != withoutNumbers(printed) {
		t.Errorf("%s prints\n%s\nand the guide shows\n%s\ngo -C test test -tags=libvirt_dlopen ./scripts -run '^%s$' -update records it again", stage, printed, shown, strings.ReplaceAll(t.Name(), "/", "$/^"))
	}
}

var (
	number      = regexp.MustCompile(` *[0-9]+`) // a column of numbers is as wide as the largest
	moment      = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z`)
	standInSpec = regexp.MustCompile(`127\.0\.0\.1:[0-9]+/(stand-in/[a-z]+)@sha256:[0-9a-f.]+`)
	klogHead    = regexp.MustCompile(`(?m)^[IWE][0-9]{4} [0-9:.]+ +[0-9]+ [a-z-]+\.go:[0-9]+\] `)
	pullLine    = regexp.MustCompile(`(?m)^(Trying to pull|Getting image|Copying (blob|config)|Writing manifest|Storing signatures|[0-9a-f]{64}$).*\n`)
)

// waitLine is what a wait prints each time it looks: how often, and in which states, is
// a matter of speed.
var waitLine = regexp.MustCompile(`(?m)^ {5,}.*\n(\.\.\. [0-9]+ more\n)?`)

// withoutNumbers is what is the same at each run.
func withoutNumbers(text string) string {
	return number.ReplaceAllString(waitLine.ReplaceAllString(text, ""), "N")
}

// shortened is what a script printed without the progress of pulls, with the names
// of this machine replaced, and with one line for many that begin alike.
func shortened(printed, dir string) string {
	text := strings.TrimSpace(printed) + "\n"
	text = strings.ReplaceAll(text, dir, "mylab")
	if host, err := os.Hostname(); err == nil {
		text = strings.ReplaceAll(text, "-"+host+".", "-workstation.")
	}
	text = pullLine.ReplaceAllString(text, "")
	text = standInSpec.ReplaceAllString(text, "$1")
	text = klogHead.ReplaceAllString(text, "")
	var out []string
	var alike []string
	flush := func() {
		if len(alike) > 4 {
			alike = []string{alike[0], fmt.Sprintf("... %d more", len(alike)-2), alike[len(alike)-1]}
		}
		out, alike = append(out, alike...), nil
	}
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if len(alike) > 0 && beginning(alike[0]) != beginning(line) {
			flush()
		}
		alike = append(alike, line)
	}
	flush()
	return strings.Join(out, "\n") + "\n"
}

// beginning is what lines of a list have in common; the line itself where it is
// part of none.
func beginning(line string) string {
	word, _, found := strings.Cut(line, " ")
	if !found || word == "==>" {
		return line
	}
	return word
}

func TestOutputIsShortened(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	got := shortened("==> 1. Pull\nTrying to pull x...\nCopying blob sha256:ab\n"+strings.Repeat("0f", 32)+"\n==> 2. Render\n"+
		"I1122 18:54:37.262808       1 stand-in.go:1] bootstrapping etcd\nok 1 - a\nok 2 - b\nok 3 - c\nok 4 - d\nok 5 - etcd-peer-"+host+".crt\n/dir/out\n", "/dir")
	want := "==> 1. Pull\n==> 2. Render\nbootstrapping etcd\nok 1 - a\n... 3 more\nok 5 - etcd-peer-workstation.crt\nmylab/out\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
