package scripts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/labs/sample"
	"bootlab/test/podman"
)

const chain = "render-all.sh"

// ids are the names of stages.
func ids(stages []*labs.Stage) []string {
	var names []string
	for _, s := range stages {
		names = append(names, s.ID)
	}
	return names
}

// listed is a line of render-all.sh --list.
var listed = regexp.MustCompile(`^([a-z-]+) +([0-9]+) s  ([a-z-]+\.sh)( .*)?$`)

// list runs render-all.sh --list and gives the stages and their seconds.
func (l *Lab) list(t *testing.T, args ...string) (names []string, seconds map[string]int) {
	t.Helper()
	r := l.Must(t, chain, append([]string{"--list"}, args...)...)
	seconds = map[string]int{}
	for _, line := range strings.Split(strings.TrimSuffix(r.Out, "\n"), "\n") {
		m := listed.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("%q is no stage of the list", line)
		}
		names = append(names, m[1])
		seconds[m[1]], _ = strconv.Atoi(m[2])
	}
	return names, seconds
}

// freshLab has generated files and nothing else, and borrows a podman.
func freshLab(t *testing.T, id string) *Lab {
	t.Helper()
	return NewLab(t, Good(t, podman.Ordinary(t), labs.Local).Env, Options{Release: SharedRelease(t, id)})
}

func goodClone(t *testing.T) *Lab {
	t.Helper()
	return Good(t, podman.Ordinary(t), labs.Local).Clone(t)
}

func TestTheListIsTheChainInItsOrder(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"4.14", "4.16", release} {
		l := freshLab(t, id)
		want := chainStages(t, id, labs.Local)
		names, seconds := l.list(t)
		if !slices.Equal(names, ids(want)) {
			t.Errorf("%s: %v, not %v", id, names, ids(want))
		}
		for _, s := range want {
			if s.Seconds == 0 || seconds[s.ID] != s.Seconds {
				t.Errorf("%s: %s takes %d s, not %d", id, s.ID, seconds[s.ID], s.Seconds)
			}
		}
	}
}

func TestTheListTellsHowLongThisHostTook(t *testing.T) {
	t.Parallel()
	l := freshLab(t, release)
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(seconds int) string { return start.Add(time.Duration(seconds) * time.Second).Format(time.RFC3339) }
	records := []Record{
		{Timestamp: at(0), Phase: "service start"},
		{Timestamp: at(0), Phase: "stage start", Stage: "etcd-bootstrap"},
		{Timestamp: at(100), Phase: "stage end", Stage: "etcd-bootstrap", Result: "success"},
		// The last time counts, and one that was killed or failed does not.
		{Timestamp: at(200), Phase: "stage start", Stage: "etcd-bootstrap"},
		{Timestamp: at(300), Phase: "stage start", Stage: "etcd-bootstrap"},
		{Timestamp: at(337), Phase: "stage end", Stage: "etcd-bootstrap", Result: "success"},
		{Timestamp: at(400), Phase: "stage start", Stage: "cco-bootstrap"},
		{Timestamp: at(499), Phase: "stage end", Stage: "cco-bootstrap", Result: "failure", ErrorMessage: "x"},
	}
	data, err := json.Marshal(records)
	if err != nil {
		t.Fatal(err)
	}
	file := l.Asset("/var/log/openshift/bootkube.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	l.Env.Own(t, l.Dir)
	_, seconds := l.list(t)
	if seconds["render-etcd"] != 37 {
		t.Errorf("etcd is said to take %d s", seconds["render-etcd"])
	}
	if want := stage(t, "render-cco").Seconds; seconds["render-cco"] != want {
		t.Errorf("cco is said to take %d s, not the usual %d", seconds["render-cco"], want)
	}
	// A record that is no JSON is no reason not to tell the usual time.
	if err := os.WriteFile(file, data[:len(data)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, seconds := l.list(t); seconds["render-etcd"] != stage(t, "render-etcd").Seconds {
		t.Errorf("with half a record etcd is said to take %d s", seconds["render-etcd"])
	}
}

func TestAPartOfTheChainIsChosenByName(t *testing.T) {
	t.Parallel()
	l := freshLab(t, release)
	all := ids(chainStages(t, release, labs.Local))
	at := func(id string) int { return slices.Index(all, id) }
	for name, c := range map[string]struct {
		args        []string
		first, last string
	}{
		"from":           {[]string{"--from", "render-etcd"}, "render-etcd", all[len(all)-1]},
		"from a script":  {[]string{"--from", "render-etcd.sh"}, "render-etcd", all[len(all)-1]},
		"until":          {[]string{"--until", "release-info"}, all[0], "release-info"},
		"until a script": {[]string{"--until=release-info.sh"}, all[0], "release-info"},
		"both":           {[]string{"--until=render-kcm", "--from=render-etcd"}, "render-etcd", "render-kcm"},
		"one":            {[]string{"--from=render-kcm", "--until=render-kcm"}, "render-kcm", "render-kcm"},
		"all":            {[]string{"--from", all[0], "--until", all[len(all)-1]}, all[0], all[len(all)-1]},
	} {
		if names, _ := l.list(t, c.args...); !slices.Equal(names, all[at(c.first):at(c.last)+1]) {
			t.Errorf("%s: %v", name, names)
		}
	}
}

func TestAWrongChoiceIsWrongUsage(t *testing.T) {
	t.Parallel()
	l := freshLab(t, release)
	order := strings.Join(ids(chainStages(t, release, labs.Local)), " ")
	before := l.Snapshot(t)
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"an unknown first stage":      {[]string{"--from", "render-nothing"}, []string{"'render-nothing'", order}},
		"an unknown last stage":       {[]string{"--until", "render-nothing.sh"}, []string{"'render-nothing'", order}},
		"a stage that is not in it":   {[]string{"--until", "get-tools"}, []string{"'get-tools'", order}},
		"the wrong way round":         {[]string{"--from", "render-kcm", "--until", "render-etcd"}, []string{"render-etcd comes before render-kcm", order}},
		"no name":                     {[]string{"--from"}, []string{"--from", "--list"}},
		"an unknown option":           {[]string{"--frobnicate"}, []string{"'--frobnicate'", "--help"}},
		"a name that is two":          {[]string{"--from", "render-etcd render-kcm"}, []string{"render-etcd render-kcm", order}},
		"an empty name":               {[]string{"--from", ""}, []string{"--from", "--list"}},
		"a stage without its option":  {[]string{"render-etcd"}, []string{"'render-etcd'", "--help"}},
		"a pattern instead of a name": {[]string{"--until", "*"}, []string{"'*'", order}},
	} {
		t.Run(name, func(t *testing.T) { l.Run(t, chain, c.args...).Want(t, 2, c.says...) })
	}
	before.Same(t, l.Snapshot(t))
}

func TestHelpOfTheChainNamesItsOptions(t *testing.T) {
	t.Parallel()
	l := freshLab(t, release)
	l.Must(t, chain, "--help").Says(t, append([]string{"Usage: render-all.sh", "--from STAGE", "--until STAGE", "--list"}, modes...)...)
}

func TestTheChainExplainsEveryStage(t *testing.T) {
	t.Parallel()
	l := freshLab(t, release)
	said := words(l.Must(t, chain, "--explain").Out)
	for _, s := range chainStages(t, release, labs.Local) {
		if !strings.Contains(said, words(s.Why)) {
			t.Errorf("nothing explains %s", s.ID)
		}
	}
}

var podmanRuns = regexp.MustCompile(`(?m)^ +podman run `)

func TestADryRunOfTheChainChangesNothing(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]*Lab{"fresh": freshLab(t, release), "finished": goodClone(t)} {
		before := l.Snapshot(t)
		r := l.Must(t, chain, "--dry-run", "--force")
		before.Same(t, l.Snapshot(t))
		if n := len(podmanRuns.FindAllString(r.Out, -1)); n < len(factsOf(t, release)) {
			t.Errorf("%s: %d podman runs are shown", name, n)
		}
		if strings.Contains(r.All, "/:/assets") {
			t.Errorf("%s: it would mount the root directory:\n%s", name, r.All)
		}
	}
}

func TestAStepByStepChainWaitsForEnter(t *testing.T) {
	t.Parallel()
	l := goodClone(t)
	for _, id := range []string{"render-api", "copy-manifests"} {
		l.Undo(t, stage(t, id))
	}
	s := l.Start(t, chain, "--step", "--from=copy-manifests", "--until=render-api")
	var steps []string
	for {
		title, more := s.Step(t)
		if !more {
			break
		}
		steps = append(steps, title)
		s.Enter()
	}
	r := s.Wait(t)
	r.Want(t, 0)
	const copying = "Copy the results to where they are read"
	want := []string{
		"Make the directories that bootkube.sh makes first", copying,
		"Pull the image", "Render into an empty api-bootstrap/", copying,
	}
	if !slices.Equal(steps, want) || strings.Count(r.All, "[Enter] run it") != len(want) {
		t.Errorf("the steps were\n%s", strings.Join(steps, "\n"))
	}
	for _, id := range []string{"copy-manifests", "render-api"} {
		allGood(t, l, stage(t, id))
	}
}

// subtests runs render-all.sh --verify and reads what it says.
func (l *Lab) subtests(t *testing.T, status int, args ...string) []Subtest {
	t.Helper()
	r := l.Run(t, chain, append([]string{"--verify"}, args...)...)
	r.Want(t, status)
	all, err := ParseSubtests(r.Out)
	if err != nil {
		t.Fatalf("%v in\n%s%s", err, r.Out, r.Err)
	}
	return all
}

// wholeChainGood is one --verify of the chain where nothing fails.
func wholeChainGood(t *testing.T, l *Lab) {
	t.Helper()
	var names []string
	for _, s := range l.subtests(t, 0) {
		names = append(names, s.ID)
		for _, p := range s.Points {
			if !p.OK {
				t.Errorf("%s %s: found %s, expected %s", s.ID, p.ID, p.Found, p.Expected)
			}
		}
	}
	if want := ids(chainStages(t, l.Release.ID, l.Place)); !slices.Equal(names, want) {
		t.Errorf("verified are %v, not %v", names, want)
	}
}

func TestVerifyOfTheChainIsTAPWithSubtests(t *testing.T) {
	t.Parallel()
	l := goodClone(t)
	before := l.Snapshot(t)
	wholeChainGood(t, l)
	before.Same(t, l.Snapshot(t))
	if err := os.Remove(l.Asset("kube-scheduler-bootstrap/config")); err != nil {
		t.Fatal(err)
	}
	for _, s := range l.subtests(t, 3) {
		if s.OK != (s.ID != "render-scheduler") {
			t.Errorf("%s: %v fail", s.ID, Failed(s.Points))
		}
	}
	if part := l.subtests(t, 0, "--from=render-ingress"); len(part) != 4 || part[0].ID != "render-ingress" {
		t.Errorf("a part of it is %+v", part)
	}
}

func TestVerifyOfAChainThatNeverRanSaysSo(t *testing.T) {
	t.Parallel()
	l := freshLab(t, release)
	r := l.Run(t, chain, "--verify")
	r.Want(t, 4)
	if want := "TAP version 14\nnot ok 1 - done: not run yet; run render-all.sh first\n1..1\n"; r.Out != want {
		t.Errorf("it says %q, not %q", r.Out, want)
	}
}

var progress = regexp.MustCompile(`(?m)^==> ([0-9]+)/([0-9]+) ([a-z-]+): ([0-9]+) s elapsed, usually ([0-9]+) s, about ([0-9]+) s to go$`)

func TestASecondRunOfTheChainOnlyChecks(t *testing.T) {
	t.Parallel()
	l := goodClone(t)
	before := l.Snapshot(t)
	r := l.Must(t, chain)
	before.Same(t, l.Snapshot(t))
	stages := chainStages(t, release, labs.Local)
	if n := strings.Count(r.All, "is done already"); n != len(stages) {
		t.Errorf("%d of %d stages were done already:\n%s", n, len(stages), r.All)
	}
	_, seconds := l.list(t)
	tellsProgress(t, r, stages, seconds, map[string]int{}) // what is done takes no time
}

// tellsProgress: a line a stage, whose numbers add up.
func tellsProgress(t *testing.T, r Result, stages []*labs.Stage, seconds, counted map[string]int) {
	t.Helper()
	left := 0
	for _, n := range counted {
		left += n
	}
	said := progress.FindAllStringSubmatch(r.All, -1)
	if len(said) != len(stages) {
		t.Fatalf("%d lines of progress for %d stages:\n%s", len(said), len(stages), r.All)
	}
	elapsed := 0
	for i, s := range stages {
		want := []string{strconv.Itoa(i + 1), strconv.Itoa(len(stages)), s.ID, said[i][4], strconv.Itoa(seconds[s.ID]), strconv.Itoa(left)}
		if !slices.Equal(said[i][1:], want) {
			t.Errorf("progress is %v, not %v", said[i][1:], want)
		}
		now, _ := strconv.Atoi(said[i][4])
		if now < elapsed {
			t.Errorf("the clock goes back in %q", said[i][0])
		}
		elapsed = now
		left -= counted[s.ID]
	}
}

func TestForceRepeatsTheWholeChain(t *testing.T) {
	sample.OnlyInAll(t, "TestForceDoesAgainWhatDryRunShows repeats single stages, and TestAfterAForcedRepetitionTheChainFixesTheRest runs the chain behind one")
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Apart(t)
	began := map[string]time.Time{}
	for _, s := range chainStages(t, release, labs.Local) {
		info, err := os.Stat(l.markers(s)[0])
		if err != nil {
			t.Fatal(err)
		}
		began[s.ID] = info.ModTime()
	}
	_, seconds := l.list(t)
	r := l.Must(t, chain, "--force")
	tellsProgress(t, r, chainStages(t, release, labs.Local), seconds, seconds)
	for _, s := range chainStages(t, release, labs.Local) {
		info, err := os.Stat(l.markers(s)[0])
		if err != nil || !info.ModTime().After(began[s.ID]) {
			t.Errorf("%s was not repeated: %v", s.ID, err)
		}
	}
	wholeChainGood(t, l)
	if left := l.Env.Containers(t); len(left) > 0 {
		t.Errorf("containers are left: %v", left)
	}
}

func TestAStageThatFailsStopsTheChainAndTheSameCallGoesOn(t *testing.T) {
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Apart(t)
	for _, id := range []string{"render-api", "render-scheduler", "render-ingress"} {
		l.Undo(t, stage(t, id))
	}
	l.Wrap(t, "podman", `case "$*" in *kube-scheduler-render*) exit 125;; *) exec "$REAL" "$@";; esac`)
	r := l.Run(t, chain)
	r.Want(t, 1, "render-scheduler.sh ended with status 1, ", "it goes on with: render-all.sh --from render-scheduler")
	if strings.Contains(r.All, "render-ingress") {
		t.Errorf("it went on:\n%s", r.All)
	}
	allGood(t, l, stage(t, "render-api"))
	if _, err := os.Stat(l.markers(stage(t, "render-ingress"))[0]); err == nil {
		t.Error("the stage behind it is marked as done")
	}
	if err := os.Remove(filepath.Join(l.Env.Bin, "podman")); err != nil {
		t.Fatal(err)
	}
	l.Must(t, chain)
	wholeChainGood(t, l)
}

func TestTheStatusOfTheChainIsThatOfItsStage(t *testing.T) {
	t.Parallel()
	l := goodClone(t)
	if err := os.RemoveAll(l.Asset("auth/kubeconfig-loopback")); err != nil {
		t.Fatal(err)
	}
	l.Undo(t, stage(t, "render-cvo"))
	l.Run(t, chain, "--from=render-cvo").Want(t, 4, "auth/kubeconfig-loopback", "render-cvo.sh ended with status 4, 1 of ")
	r := l.RunWith(t, []string{l.PathWithout(t, "flock")}, chain, "--from=render-kcm")
	r.Want(t, 4, "flock is missing", "render-kcm.sh ended with status 4")
}

func TestCtrlCEndsTheChain(t *testing.T) {
	eachAccount(t, func(t *testing.T, account podman.Account) {
		l := Good(t, account, labs.Local).Apart(t)
		l.Undo(t, stage(t, "render-scheduler"))
		letGo := l.hold(t, "middle")
		s := l.Start(t, chain, "--from=render-kcm")
		l.held(t, "middle")
		s.Interrupt()
		r := s.Wait(t)
		r.Want(t, 1, "interrupted", "render-scheduler.sh ended with status 1")
		letGo()
		// podman removes the container after its program has ended.
		until(t, "no container is left", func() bool { return len(l.Env.Containers(t)) == 0 })
		if strings.Contains(r.All, "render-ingress") {
			t.Errorf("it went on:\n%s", r.All)
		}
		l.Must(t, chain, "--from=render-kcm")
		wholeChainGood(t, l)
	})
}

func TestTheChainRunsFromAnywhereAndThroughALink(t *testing.T) {
	t.Parallel()
	l := goodClone(t)
	before := l.Snapshot(t)
	last := []string{"--from=render-ingress", "--until=render-node-tuning"}
	link := filepath.Join(podman.TempDir(t, l.Env.Account), "go")
	if err := os.Symlink(filepath.Join(l.Scripts(), chain), link); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ dir, path string }{
		"from the root directory": {"/", filepath.Join(l.Scripts(), chain)},
		"from its own directory":  {l.Scripts(), "./" + chain},
		"through a link":          {"/", link},
		"through a relative link": {filepath.Dir(link), "./go"},
	} {
		cmd := l.command(chain, last...)
		cmd.Dir, cmd.Path, cmd.Args[0] = c.dir, c.path, c.path
		r := finish(t, cmd)
		r.Want(t, 0, "2 stages in ")
		if n := strings.Count(r.All, "is done already"); n != 2 {
			t.Errorf("%s: %s", name, r.All)
		}
	}
	before.Same(t, l.Snapshot(t))
}

// TestWhatTookThePlaceOfAStageLeavesItOut: assets out of a bootstrap.ign are
// not made by hand.
func TestWhatTookThePlaceOfAStageLeavesItOut(t *testing.T) {
	t.Parallel()
	l := Unpacked(t).Clone(t)
	var want []string
	for _, s := range chainStages(t, release, labs.Local) {
		if s.SkipIf == "" {
			want = append(want, s.ID)
		}
	}
	if names, _ := l.list(t); !slices.Equal(names, want) || slices.Contains(names, "make-pki") {
		t.Errorf("the chain is %v, not %v", names, want)
	}
	l.Run(t, chain, "--list", "--from", "make-pki").Want(t, 2, "'make-pki'")
}
