package scripts

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"bootlab/labs"
	"bootlab/labs/sample"
	"bootlab/test/podman"
	"bootlab/test/standin"
)

// certificates is a lab in which make-pki.sh ran and nothing else; nodes take
// their keys from there.
var certificates struct {
	sync.Once
	lab *Lab
}

// apiNode gives a bootstrap node of a release that has the keys of its cluster,
// inside that cluster.
func apiNode(t *testing.T, id string) *Lab {
	t.Helper()
	account := podman.Accounts(t)[0]
	if !account.Root() {
		t.Skip("on the bootstrap node scripts run as root; only root can make a network")
	}
	for _, program := range []string{"curl", "dig"} {
		if _, err := exec.LookPath(program); err != nil {
			podman.Unavailable(t, "no "+program+" on this machine")
		}
	}
	image := "quay.io/example/release@sha256:" + strings.Repeat("0", 64) // never asked for
	env := podman.New(t, account)
	certificates.Do(func() {
		l := &Lab{Dir: filepath.Join(podman.SharedDir(t, account), "mylab"), Env: podman.Shared(t, account), Release: &standin.Release{ID: release, Image: image}, Place: labs.Local}
		if err := l.generate(Options{}); err != nil {
			t.Fatal(err)
		}
		l.Must(t, "make-pki.sh")
		certificates.lab = l
	})
	if certificates.lab == nil {
		t.Fatal("make-pki.sh failed in another test")
	}
	l := NewLab(t, env, Options{Place: labs.OnNode, Release: &standin.Release{ID: id, Image: image}})
	if err := l.takeAssets(certificates.lab, "tls"); err != nil {
		t.Fatal(err)
	}
	l.Wrap(t, "systemctl", "echo inactive")
	l.put(t, "manifests/cluster-dns-02-config.yml", "spec:\n  baseDomain: mylab.bootlab.test\n")
	return l.InCluster(t)
}

// apiStages are the two that ask for the API, with what they record of a name.
var apiStages = map[string]struct{ api, apiInt string }{
	"resolve-api": {"resolve-api-url", "resolve-api-int-url"},
	"verify-api":  {"check-api-url", "check-api-int-url"},
}

// eachAPIStage runs a test for both stages, on a node of its own.
func eachAPIStage(t *testing.T, test func(*testing.T, *Lab, *labs.Stage)) {
	t.Parallel()
	for id := range apiStages {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			test(t, apiNode(t, release), clusterStage(t, release, id))
		})
	}
}

// marked says which of the stage's markers are there.
func (l *Lab) marked(s *labs.Stage) []bool {
	var out []bool
	for _, marker := range l.markers(s) {
		_, err := os.Stat(marker)
		out = append(out, err == nil)
	}
	return out
}

func TestNamesThatResolveAndAnswerAreMarkedAndRecorded(t *testing.T) {
	eachAPIStage(t, func(t *testing.T, l *Lab, s *labs.Stage) {
		r := l.RunStage(t, s)
		r.Want(t, 0, s.ID+" is done", s.Log, strings.Replace(s.Log, "API URL", "API-Int URL", 1))
		l.shown(t, s.ID, r)
		allGood(t, l, s)
		if !slices.Equal(l.marked(s), []bool{true, true}) {
			t.Errorf("markers %v", l.marked(s))
		}
		records := l.Records(t)
		for _, name := range []string{apiStages[s.ID].api, apiStages[s.ID].apiInt} {
			if Last(records, name) != "success" {
				t.Errorf("%s is not recorded in %+v", name, records)
			}
		}
		before := l.Snapshot(t)
		l.RunStage(t, s).Want(t, 0, "done already")
		l.RunStage(t, s, "--verify").Want(t, 0)
		before.Same(t, l.Snapshot(t))
		l.RunStage(t, s, "--force").Want(t, 0, s.ID+" is done")
		if again := l.Records(t); len(again) != len(records)+4 {
			t.Errorf("--force recorded %+v", again[len(records):])
		}
	})
}

// badAnswers are ways in which one name goes wrong while the other is well: what
// is set in the cluster, and what the script says of it.
var badAnswers = map[string]struct {
	stage, file, word string
	says              []string
}{
	"api has no address":            {"resolve-api", "names/api", "", []string{"nothing", "Unable to resolve API_URL api."}},
	"api-int has no address":        {"resolve-api", "names/api-int", "", []string{"nothing", "Unable to resolve API_INT_URL api-int."}},
	"the name server is silent":     {"resolve-api", "names/api-int", "silence", []string{"timed out", "Unable to resolve API_INT_URL"}},
	"the name server sends garbage": {"resolve-api", "names/api", "garbage", []string{"bad packet", "Unable to resolve API_URL"}},
	"a name without address":        {"verify-api", "names/api-int", "", []string{"Could not resolve host", "Unable to reach API_INT_URL's https endpoint at https://api-int."}},
	"nothing listens":               {"verify-api", "names/api", "127.0.0.9", []string{"Couldn't connect", "Unable to reach API_URL's https endpoint at https://api."}},
	"the API server refuses":        {"verify-api", "answers/api", "403", []string{"error: 403", "Unable to reach API_URL"}},
	"the API server is not ready":   {"verify-api", "answers/api-int", "500", []string{"error: 500", "Unable to reach API_INT_URL"}},
	"the API server is silent":      {"verify-api", "answers/api", "silence", []string{"timed out", "Unable to reach API_URL"}},
	"the API server moved":          {"verify-api", "answers/api", "302", []string{"302", "Unable to reach API_URL"}},
	"a stranger has the address":    {"verify-api", "tls/api-int", "machine-config-server", []string{"certificate", "Unable to reach API_INT_URL"}},
	"the certificate is api-int's":  {"verify-api", "tls/api", "kube-apiserver-internal-lb-server", []string{"certificate", "Unable to reach API_URL"}},
}

// damage sets what the case says; restore is for afterwards.
func (c *Cluster) damage(t *testing.T, l *Lab, file, word string) (restore func()) {
	t.Helper()
	if dir, name := filepath.Split(file); dir == "tls/" {
		show := func(keys string) {
			for _, ext := range []string{".crt", ".key"} {
				c.Show(t, name, ext, l.Asset("tls/"+keys+ext))
			}
		}
		show(word)
		return func() { show(serving[name]) }
	}
	before := c.word(file)
	if word == "" {
		if err := os.Remove(filepath.Join(c.Dir, file)); err != nil {
			t.Fatal(err)
		}
	} else {
		c.Set(t, file, word)
	}
	return func() { c.Set(t, file, before) }
}

func TestABadAnswerIsToldAndRecordedAndStopsNothing(t *testing.T) {
	t.Parallel()
	for _, name := range sample.Of(t, 6, slices.Sorted(maps.Keys(badAnswers))) {
		bad := badAnswers[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, s := apiNode(t, release), clusterStage(t, release, bad.stage)
			id := filepath.Base(bad.file)
			at := slices.IndexFunc(s.Checks, func(c labs.Check) bool { return c.ID == id })
			failing, other := apiStages[s.ID].api, apiStages[s.ID].apiInt
			if id == "api-int" {
				failing, other = other, failing
			}
			restore := l.Cluster.damage(t, l, bad.file, bad.word)

			l.RunStage(t, s).Want(t, 0, append(bad.says, "cause: "+s.Failures[at].Cause, "hint: "+s.Failures[at].Fix, "1 failed, which is recorded and stops nothing")...)
			if got := l.marked(s); got[at] || !got[1-at] {
				t.Errorf("markers %v", got)
			}
			records := l.Records(t)
			if Last(records, failing) != "failure" || Last(records, other) != "success" {
				t.Errorf("recorded %+v", records)
			}
			if said := messageOf(records, failing); !strings.HasPrefix(said, s.Failures[at].Message+" ") {
				t.Errorf("recorded %q", said)
			}
			points, status := verified(t, l, s)
			if failed := Failed(points); status != 3 || !slices.Equal(failed, []string{id}) {
				t.Errorf("--verify: status %d, failed are %v", status, failed)
			}

			restore()
			r := l.RunStage(t, s)
			r.Want(t, 0, s.ID+" is done", s.Checks[1-at].ID+" was asked before")
			if n := strings.Count(r.All, s.Log[:len("Check if API")]); n != 1 {
				t.Errorf("%d names were asked again, not the bad one alone:\n%s", n, r.All)
			}
			if Last(l.Records(t), failing) != "success" || !slices.Equal(l.marked(s), []bool{true, true}) {
				t.Errorf("not put right: markers %v, records %+v", l.marked(s), l.Records(t))
			}
		})
	}
}

// messageOf is the error message that was last recorded for a stage.
func messageOf(records []Record, stage string) string {
	message := ""
	for _, r := range records {
		if r.Stage == stage && r.ErrorMessage != "" {
			message = r.ErrorMessage
		}
	}
	return message
}

func TestANodeWithoutNameServerGoesOn(t *testing.T) {
	eachAPIStage(t, func(t *testing.T, l *Lab, s *labs.Stage) {
		if err := os.WriteFile(l.Asset("/etc/resolv.conf"), []byte("nameserver 127.0.0.9\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		l.RunStage(t, s).Want(t, 0, "2 failed, which is recorded and stops nothing")
		if got := l.marked(s); got[0] || got[1] {
			t.Errorf("markers %v", got)
		}
		l.RunStage(t, s, "--verify").Want(t, 3)
	})
}

func TestAMarkedNameThatNoLongerAnswersLosesItsMarker(t *testing.T) {
	eachAPIStage(t, func(t *testing.T, l *Lab, s *labs.Stage) {
		l.RunStage(t, s).Want(t, 0, s.ID+" is done")
		l.Cluster.damage(t, l, "names/api-int", "")
		l.RunStage(t, s).Want(t, 0, "is marked as done, but a check fails", "api was asked before", "1 failed, which is recorded")
		if got := l.marked(s); !got[0] || got[1] {
			t.Errorf("markers %v", got)
		}
	})
}

// TestEachReleaseAsksAsItsBootkubeDoes: an API server answers a stranger's GET of
// /version and /readyz, and refuses a HEAD.
func TestEachReleaseAsksAsItsBootkubeDoes(t *testing.T) {
	t.Parallel()
	ids := labs.Builtin().ReleaseIDs()
	if !sample.All() { // one of each way to ask, and the newest
		ids = []string{"4.14", "4.16", "4.17", ids[len(ids)-1]}
	}
	for _, id := range ids {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			request, markers := "GET /readyz", true
			switch id {
			case "4.14", "4.15":
				request, markers = "HEAD /version", false
			case "4.16":
				request = "GET /version"
			}
			l := apiNode(t, id)
			resolve, verify := clusterStage(t, id, "resolve-api"), clusterStage(t, id, "verify-api")
			oneLine := []string{"Check if API and API-Int URLs are resolvable during bootstrap"}
			if markers {
				oneLine = []string{"Check if API URL is resolvable during bootstrap", "Check if API-Int URL is resolvable during bootstrap"}
			}
			l.RunStage(t, resolve).Want(t, 0, append(oneLine, "resolve-api is done; next: render-cco.sh")...)
			r := l.RunStage(t, verify)
			method, path, _ := strings.Cut(request, " ")
			if want := []string{method + " api " + path, method + " api-int " + path}; !slices.Equal(l.Cluster.Requests(), want) {
				t.Errorf("requests %q, not %q", l.Cluster.Requests(), want)
			}
			if method == "HEAD" {
				r.Want(t, 0, "error: 403", "2 failed, which is recorded")
			} else {
				r.Want(t, 0, "verify-api is done")
			}
			found, err := filepath.Glob(l.Asset("*.done"))
			if err != nil || len(found) != map[bool]int{true: 4}[markers] {
				t.Errorf("markers %v, %v", found, err)
			}
			again := strings.Count(l.RunStage(t, resolve).All, "Check if API")
			if want := map[bool]int{true: 0, false: 2}[markers]; again != want {
				t.Errorf("%d names were asked again, not %d", again, want)
			}
		})
	}
}

func TestAskingForTheAPINeedsItsPrograms(t *testing.T) {
	t.Parallel()
	l := apiNode(t, release)
	before := l.Snapshot(t)
	without := func(program string) []string { return []string{l.PathWithout(t, program)} }
	l.RunWith(t, without("dig"), "resolve-api.sh").Want(t, 4, "dig is missing", "it comes with the node's image")
	l.RunWith(t, without("curl"), "verify-api.sh").Want(t, 4, "curl is missing")
	l.RunWith(t, without("curl"), "resolve-api.sh", "--verify").Want(t, 0)
	l.RunWith(t, without("dig"), "verify-api.sh", "--verify").Want(t, 0)
	before.Same(t, l.Snapshot(t))
	if err := os.Remove(l.Asset("tls/kube-apiserver-complete-server-ca-bundle.crt")); err != nil {
		t.Fatal(err)
	}
	l.Run(t, "verify-api.sh").Want(t, 4, "kube-apiserver-complete-server-ca-bundle.crt is missing")
	if _, err := os.Stat(l.Asset("/var/log/openshift/bootkube.json")); err == nil {
		t.Error("a stage that did not begin is recorded")
	}
}

func TestAskingForTheAPIHasEveryMode(t *testing.T) {
	eachAPIStage(t, func(t *testing.T, l *Lab, s *labs.Stage) {
		before := l.Snapshot(t)
		l.RunStage(t, s, "--help").Want(t, 0, append(modes, "Usage: "+s.Call()+" [OPTION]")...)
		if said := words(l.RunStage(t, s, "--explain").Out); !strings.Contains(said, s.Title) || !strings.Contains(said, words(s.Why)) {
			t.Errorf("--explain says %s", said)
		}
		if shown := l.RunStage(t, s, "--dry-run").Out; strings.Count(shown, `answer="$(ask `) != 2 {
			t.Errorf("--dry-run shows %q", shown)
		}
		l.RunStage(t, s, "--frobnicate").Want(t, 2, s.Call()+" --help")
		before.Same(t, l.Snapshot(t))
		l.RunStage(t, s, "--step").Want(t, 1, "stopped before step 1", s.Call()+" runs the whole stage again")
		if Last(l.Records(t), apiStages[s.ID].api) != "failure" {
			t.Errorf("recorded %+v", l.Records(t))
		}
		l.RunStage(t, s).Want(t, 0, s.ID+" is done")
	})
}

func TestAskingForTheAPIGoesOnWhereItWasKilled(t *testing.T) {
	eachAPIStage(t, func(t *testing.T, l *Lab, s *labs.Stage) {
		for at := range 2 {
			session := l.Start(t, s.ScriptName(), append(strings.Fields(s.Arguments), "--step", "--force")...)
			for i := range at + 1 {
				if _, more := session.Step(t); !more {
					t.Fatalf("it showed %d commands", i)
				}
				if i < at {
					session.Enter()
				}
			}
			session.Kill(t)
			l.unlocked(t)
			if l.marked(s)[at] {
				t.Error("the name is marked before it was asked")
			}
			l.RunStage(t, s).Want(t, 0, s.ID+" is done")
			allGood(t, l, s)
			noHalfFiles(t, l)
		}
	})
}

func TestEveryCheckOfTheAPIFailsOnItsFixture(t *testing.T) {
	t.Parallel()
	for id := range apiStages {
		s, all := clusterStage(t, release, id), fixtures(t, id)
		for _, c := range s.Checks {
			t.Run(id+" "+c.ID, func(t *testing.T) {
				t.Parallel()
				breaks(t, apiNode(t, release), s, c.ID, all[c.ID])
			})
		}
	}
}
