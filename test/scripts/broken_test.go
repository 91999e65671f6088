package scripts

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"bootlab/labs"
	"bootlab/labs/sample"
	"bootlab/test/controlplane"
	"bootlab/test/podman"
)

// fixture breaks what a check looks at. The shell text runs in the asset
// directory, behind testdata/broken/lib.sh; HOST_ROOT leads to the host's files,
// SCRIPTS to the scripts, and CLUSTER to the files that say what the cluster
// answers (see Cluster). In a control plane CLUSTER is its directory, oc is at
// hand, and ETCDCTL is the real etcdctl.
type fixture struct {
	Break string `yaml:"break"`
	// Also are other checks that the same damage must break.
	Also []string `yaml:"also"`
	// Input: what is damaged is read by the stage, which cannot fix it.
	Input bool `yaml:"input"`
}

// fixtures reads those of a stage, by the id of the check.
func fixtures(t *testing.T, id string) map[string]fixture {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "broken", id+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	all := map[string]fixture{}
	if err := decoder.Decode(&all); err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	return all
}

// TestEveryCheckHasAFixture: a check that nothing breaks is no check.
func TestEveryCheckHasAFixture(t *testing.T) {
	t.Parallel()
	for _, s := range labs.Builtin().Stages {
		if !HasTemplate(s) {
			continue
		}
		t.Run(s.ID, func(t *testing.T) {
			all := fixtures(t, s.ID)
			if len(s.Checks) == 0 {
				t.Error("the stage has no check")
			}
			for _, c := range s.Checks {
				if strings.TrimSpace(all[c.ID].Break) == "" {
					t.Errorf("check %s has no fixture", c.ID)
				}
				delete(all, c.ID)
			}
			for id := range all {
				t.Errorf("fixture %s is for no check", id)
			}
		})
	}
}

// TestEveryCheckFailsOnItsFixture applies every fixture to a copy of a good
// lab: exactly the check, and what the fixture names beside it, must fail.
func TestEveryCheckFailsOnItsFixture(t *testing.T) {
	eachScript(t, func(t *testing.T, good *Lab, s *labs.Stage) {
		all := fixtures(t, s.ID)
		for _, c := range sample.Of(t, 2, s.Checks) {
			t.Run(c.ID, func(t *testing.T) {
				t.Parallel()
				breaks(t, good.Clone(t), s, c.ID, all[c.ID])
			})
		}
	})
}

// TestChecksOfOtherLabsFailOnTheirFixture does the same for checks that the
// usual lab has not: those of other releases, distributions, topologies or keys.
func TestChecksOfOtherLabsFailOnTheirFixture(t *testing.T) {
	t.Parallel()
	ids := labs.Builtin().ReleaseIDs()
	slices.Reverse(ids)
	type other struct{ id, from, stage string }
	checks := map[other][]string{}
	for _, s := range labs.Builtin().Stages {
		if !HasTemplate(s) || !s.In(labs.Local) || needsIgnition(s) {
			continue
		}
		for _, c := range s.Checks {
			if _, _, there := withCheck(t, []string{release}, []string{usualLab}, s.ID, c.ID); there {
				continue
			}
			id, from, there := withCheck(t, ids, kindNames(), s.ID, c.ID)
			if !there {
				t.Errorf("no lab of any release has check %s of %s", c.ID, s.ID)
			}
			lab := other{id, from, s.ID}
			checks[lab] = append(checks[lab], c.ID)
		}
	}
	for lab, of := range checks {
		t.Run(lab.stage+" "+lab.id+" "+lab.from, func(t *testing.T) {
			t.Parallel()
			l := upTo(t, lab.id, lab.from, lab.stage)
			for _, check := range of {
				t.Run(check, func(t *testing.T) {
					breaks(t, l.Clone(t), labs.Builtin().Stage(lab.stage), check, fixtures(t, lab.stage)[check])
				})
			}
		})
	}
}

// withCheck finds a release and a kind of lab whose stage has the check.
func withCheck(t *testing.T, ids, examples []string, stage, check string) (id, from string, there bool) {
	t.Helper()
	for _, id := range ids {
		for _, from := range examples {
			for _, s := range stagesOf(t, id, from, labs.Local) {
				if s.ID == stage && slices.ContainsFunc(s.Checks, func(c labs.Check) bool { return c.ID == check }) {
					return id, from, true
				}
			}
		}
	}
	return "", "", false
}

// upTo gives a lab of another kind on which the scripts have run up to a stage.
func upTo(t *testing.T, id, from, last string) *Lab {
	t.Helper()
	account := podman.Ordinary(t)
	l := NewLab(t, podman.New(t, account, Registry(t)), Options{Release: SharedRelease(t, id), From: from, Edit: withPullSecret})
	if err := l.takeAssets(Good(t, account, labs.Local), "tls"); err != nil { // the same names, so the same certificates
		t.Fatal(err)
	}
	for _, s := range stagesOf(t, id, from, labs.Local) {
		l.Must(t, s.ScriptName())
		if s.ID == last {
			break
		}
	}
	return l
}

// apply does the damage.
func (f fixture) apply(t *testing.T, l *Lab) {
	t.Helper()
	lib, err := os.ReadFile(filepath.Join("testdata", "broken", "lib.sh"))
	if err != nil {
		t.Fatal(err)
	}
	shell := []string{"bash", "-euo", "pipefail", "-c", string(lib) + f.Break}
	cmd := l.Env.Command(shell[0], shell[1:]...)
	if l.ControlPlane != nil {
		cmd = l.inside(shell)
	}
	cmd.Dir = l.Assets()
	cmd.Env = append(cmd.Env, "HOST_ROOT="+l.Host(), "SCRIPTS="+l.Scripts())
	if l.Cluster != nil {
		cmd.Env = append(cmd.Env, "CLUSTER="+l.Cluster.Dir)
	}
	if l.ControlPlane != nil {
		etcdctl, err := controlplane.Program("etcdctl")
		if err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(cmd.Env, "CLUSTER="+l.ControlPlane.Dir, "ETCDCTL="+etcdctl)
	}
	if r := finish(t, cmd); r.Status != 0 {
		t.Fatalf("the fixture itself fails: %s", r.All)
	}
}

func breaks(t *testing.T, l *Lab, s *labs.Stage, id string, f fixture) {
	t.Helper()
	f.apply(t, l)
	points, status := verified(t, l, s)
	if status != 3 {
		t.Errorf("status %d", status)
	}
	failed := Failed(points)
	for _, want := range append([]string{id}, f.Also...) {
		if !slices.Contains(failed, want) {
			t.Errorf("%s did not fail", want)
		}
	}
	for _, got := range failed {
		if got != id && !slices.Contains(f.Also, got) {
			t.Errorf("%s failed too", got)
		}
	}
	if t.Failed() {
		for _, p := range points {
			if !p.OK {
				t.Logf("%s: expected %s, found %.200s", p.ID, p.Expected, p.Found)
			}
		}
	}
}

// TestOneBrokenCertificateAccusesNoOther: who reads what was found looks for the
// file that it names.
func TestOneBrokenCertificateAccusesNoOther(t *testing.T) {
	t.Parallel()
	for _, broken := range []string{"tls/root-ca.crt", "tls/kube-apiserver-lb-signer.key"} {
		l := Good(t, podman.Ordinary(t), labs.Local).Clone(t)
		l.put(t, broken, "nonsense\n")
		l.Env.Own(t, l.Dir)
		points, _ := verified(t, l, stage(t, "make-pki"))
		at := slices.IndexFunc(points, func(p Point) bool { return p.ID == "key-pairs" })
		name := strings.TrimSuffix(filepath.Base(broken), filepath.Ext(broken))
		if at < 0 || points[at].OK || !strings.Contains(points[at].Found, name) || strings.Count(points[at].Found, "does not belong") > 1 {
			t.Errorf("%s: %+v", broken, points[max(at, 0)])
		}
	}
}

// TestAMarkerIsNotTrusted: what --verify finds, the next run puts right,
// although the stage is marked as done.
func TestAMarkerIsNotTrusted(t *testing.T) {
	someScripts(t, 4, func(t *testing.T, good *Lab, s *labs.Stage) {
		l := good.Apart(t)
		l.unmark(t, s)
		all := fixtures(t, s.ID)
		own := slices.IndexFunc(s.Checks, func(c labs.Check) bool { return !all[c.ID].Input })
		all[s.Checks[own].ID].apply(t, l)
		l.Must(t, s.ScriptName()).Says(t, "is marked as done, but")
		allGood(t, l, s)
	})
}

func TestDamageToEtcdsRenderIsFixed(t *testing.T) {
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Apart(t)
	s := stage(t, "render-etcd")
	all := fixtures(t, s.ID)
	for _, id := range []string{"pod-image", "client-key", "peer-chain", "api-manifests"} {
		all[id].apply(t, l)
		if r := l.Run(t, s.ScriptName(), "--force"); r.Status != 0 { // the API server's render is invalidated
			t.Errorf("%s: status %d:\n%s", id, r.Status, r.All)
		}
		allGood(t, l, s)
	}
}
