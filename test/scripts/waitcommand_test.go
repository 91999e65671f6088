package scripts

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/test/facts"
	"bootlab/test/podman"
	"bootlab/test/standin"
)

// TestEveryReleasesWaitsAreBootkubes does for the waits what
// TestEveryReleasesCommandsAreBootkubes does for the renders.
func TestEveryReleasesWaitsAreBootkubes(t *testing.T) {
	t.Parallel()
	account := podman.Accounts(t)[0]
	if !account.Root() {
		t.Skip("on the bootstrap node scripts run as root; only root can make a mount namespace")
	}
	env := podman.New(t, account)
	// Never called, but a script asks whether it is there.
	if err := os.WriteFile(filepath.Join(env.Bin, "oc"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	list, err := facts.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range labs.Builtin().ReleaseIDs() {
		t.Run(id, func(t *testing.T) {
			l := NewLab(t, env, Options{Place: labs.OnNode, Release: &standin.Release{
				ID: id, Image: "quay.io/example/release@sha256:" + strings.Repeat("0", 64),
			}})
			if err := os.MkdirAll(l.Assets(), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"wait-for-etcd", "wait-for-ceo"} {
				s := list.StageOf(id, name)
				if s.Name == "" {
					t.Fatalf("bootkube.sh has no stage %s", name)
				}
				got := shownRuns(l.Must(t, name+".sh", "--dry-run").Out)
				if want := []string{bootkubesWait(s)}; !slices.Equal(got, want) {
					t.Errorf("%s would run\n%s\nnot\n%s", name, strings.Join(got, "\n"), want[0])
				}
			}
		})
	}
}

// shownRun is a podman run in a dry run, with all its continued lines.
var shownRun = regexp.MustCompile(`(?m)^ *(podman run (?:.*\\\n)*.*)$`)

// shownRuns are the podman runs of a dry run as they are typed.
func shownRuns(text string) (runs []string) {
	for _, m := range shownRun.FindAllStringSubmatch(text, -1) {
		run, _, _ := strings.Cut(m[1], " |")
		runs = append(runs, strings.Join(strings.Fields(strings.ReplaceAll(run, "\\\n", " ")), " "))
	}
	return runs
}

// bootkubesWait is the podman run of a wait, with the words in it that a dry run
// has before release-info.sh. Where etcdctl is the program, its flags come first.
func bootkubesWait(s facts.Stage) string {
	volume := s.Volume
	if volume == "" {
		volume = "/opt/openshift:/assets:z"
	}
	words := append(append([]string{"podman run"}, s.Podman...), "--volume "+volume, "IMAGE-FOR:"+s.Image)
	var flags []string
	for _, f := range s.Call.Flags {
		between := "="
		if f.Separate {
			between = " "
		}
		flags = append(flags, "--"+f.Name+between+strings.ReplaceAll(f.Value, "$ETCD_ENDPOINTS", "https://localhost:2379"))
	}
	if s.Image == "etcd" {
		words = append(append(words, flags...), s.Call.Command)
	} else {
		words = append(append(words, s.Call.Command), flags...)
	}
	return strings.Join(words, " ")
}
