package scripts

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/labs/sample"
	"bootlab/test/podman"
)

// invalidated are the stages of a finished chain that a repetition of this one
// invalidates, and what those were used for in turn.
func invalidated(t *testing.T, l *Lab, s *labs.Stage) []*labs.Stage {
	t.Helper()
	names := map[string]bool{}
	var follow func(*labs.Stage)
	follow = func(s *labs.Stage) {
		for _, inv := range s.Invalidates {
			other := labs.Builtin().Stage(inv.Stage)
			if !inv.Never && !names[inv.Stage] && !other.Optional {
				names[inv.Stage] = true
				follow(other)
			}
		}
	}
	follow(s)
	var out []*labs.Stage
	for _, other := range chainStages(t, l.Release.ID, l.Place) {
		if names[other.ID] && other.ID != s.ID {
			out = append(out, other)
		}
	}
	return out
}

// invalidating and harmless are the stages of the chain that invalidate others when they
// are repeated, and those that do not.
func invalidating(t *testing.T) (invalidating, harmless []*labs.Stage) {
	t.Helper()
	l := Good(t, podman.Ordinary(t), labs.Local)
	for _, s := range chainStages(t, release, labs.Local) {
		if len(invalidated(t, l, s)) > 0 {
			invalidating = append(invalidating, s)
		} else {
			harmless = append(harmless, s)
		}
	}
	if len(invalidating) < 4 || len(harmless) < 4 {
		t.Fatalf("invalidating are %v, harmless %v", ids(invalidating), ids(harmless))
	}
	return invalidating, harmless
}

var invalidatedLine = regexp.MustCompile(`(?m)^==> running \S+ again invalidates (\S+)\.sh: .+`)

// saidInvalidated are the stages that a script says it invalidates.
func saidInvalidated(r Result) map[string]bool {
	names := map[string]bool{}
	for _, m := range invalidatedLine.FindAllStringSubmatch(r.All, -1) {
		names[m[1]] = true
	}
	return names
}

func TestRepeatingAStageThatInvalidatesOthersIsRefused(t *testing.T) {
	t.Parallel()
	stages, _ := invalidating(t)
	for _, s := range stages {
		if s.ID == "make-pki" {
			continue // it fixes without a repetition, see below
		}
		t.Run(s.ID, func(t *testing.T) {
			t.Parallel()
			l := goodClone(t)
			for _, marker := range l.markers(s) {
				if err := os.Remove(marker); err != nil {
					t.Fatal(err)
				}
			}
			before := l.Snapshot(t).Without("/var/log/")
			r := l.Run(t, s.ScriptName())
			r.Want(t, 1, s.ID+" would invalidate", s.ScriptName()+" --force")
			before.Same(t, l.Snapshot(t).Without("/var/log/"))
			if got, want := lines(saidInvalidated(r)), lines(setOf(ids(invalidated(t, l, s)))); got != want {
				t.Errorf("said to be invalidated are\n%s\nnot\n%s", got, want)
			}
			// So the chain stops there, and says what to do.
			l.Run(t, chain, "--from="+s.ID).Want(t, 1, s.ScriptName()+" ended with status 1", "--force")
		})
	}
}

func setOf(names []string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

// TestARegeneratedKeyUnmarksWhatWasMadeOfIt: make-pki.sh keeps what is there, so
// without --force it makes what is missing, and the chain goes on from there.
func TestARegeneratedKeyUnmarksWhatWasMadeOfIt(t *testing.T) {
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Apart(t)
	if err := os.Remove(l.Asset("tls/kubelet-signer.key")); err != nil {
		t.Fatal(err)
	}
	r := l.Must(t, "make-pki.sh")
	for _, id := range []string{"render-kube-apiserver", "render-kcm", "render-mco"} {
		r.Says(t, "run "+id+".sh again")
		if _, err := os.Stat(l.markers(stage(t, id))[0]); err == nil {
			t.Errorf("%s is still marked as done", id)
		}
	}
	l.Must(t, chain)
}

// TestAfterAForcedRepetitionTheChainFixesTheRest repeats the stages from the
// last to the first, so that each has a whole chain to invalidate.
func TestAfterAForcedRepetitionTheChainFixesTheRest(t *testing.T) {
	t.Parallel()
	stages, _ := invalidating(t)
	slices.Reverse(stages)
	l := Good(t, podman.Ordinary(t), labs.Local).Apart(t)
	kinds := l.Kinds(t)
	for _, s := range sample.Of(t, 1, stages) {
		l.Must(t, s.ScriptName(), "--force")
		for _, other := range invalidated(t, l, s) {
			for _, marker := range l.markers(other) {
				if _, err := os.Stat(marker); err == nil {
					t.Errorf("%s leaves %s marked as done", s.ID, other.ID)
				}
			}
		}
		l.Must(t, chain, "--from="+s.ID)
		kinds.Same(t, l.Kinds(t))
		if t.Failed() {
			t.Fatalf("after repeating %s", s.ID)
		}
	}
	wholeChainGood(t, l)
}

func TestAHarmlessStageCanBeRepeatedAtAnyTime(t *testing.T) {
	t.Parallel()
	_, stages := invalidating(t)
	slices.Reverse(stages)
	l := Good(t, podman.Ordinary(t), labs.Local).Apart(t)
	bytes := func() Tree { return l.Snapshot(t).withoutTimes().Without(append(aboutOthers, "/var/log/")...) }
	before, kinds := bytes(), l.Kinds(t)
	for _, s := range sample.Of(t, 4, stages) {
		if r := l.Must(t, s.ScriptName(), "--force"); len(saidInvalidated(r)) > 0 {
			t.Errorf("%s says that it invalidates something:\n%s", s.ID, r.All)
		}
		if s.ID == "render-etcd" { // makes new keys each time, of which later stages read none
			kinds.Same(t, l.Kinds(t))
			before = bytes()
		}
		before.Same(t, bytes())
		if t.Failed() {
			t.Fatalf("after repeating %s", s.ID)
		}
	}
	wholeChainGood(t, l)
}

// contradict adds a manifest that sets the DNS object otherwise than the first.
func (l *Lab) contradict(t *testing.T) {
	t.Helper()
	data, err := os.ReadFile(l.Asset("manifests/cluster-dns-02-config.yml"))
	if err != nil {
		t.Fatal(err)
	}
	changed := regexp.MustCompile(`(?m)^  baseDomain: .*$`).ReplaceAll(data, []byte("  baseDomain: elsewhere.test"))
	if string(changed) == string(data) {
		t.Fatalf("no baseDomain in\n%s", data)
	}
	if err := os.WriteFile(l.Asset("manifests/zz-dns.yml"), changed, 0o644); err != nil {
		t.Fatal(err)
	}
	l.Env.Own(t, l.Dir)
}

func TestTwoManifestsThatContradictEachOtherStopTheRenders(t *testing.T) {
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Apart(t)
	l.contradict(t)
	for _, id := range []string{"render-config", "render-kube-apiserver", "render-kcm"} {
		s := stage(t, id)
		at := slices.IndexFunc(s.Failures, func(f labs.Failure) bool { return f.ID == "contradiction" })
		if at < 0 {
			t.Fatalf("%s does not know the failure", id)
		}
		r := l.Run(t, s.ScriptName(), "--force")
		r.Want(t, 1, "manifests/zz-dns.yml", "cause: "+s.Failures[at].Cause, "hint: "+s.Failures[at].Fix)
		r.Says(t, strings.Split(s.Failures[at].Message, "…")...)
	}
}

// expiring issues a certificate of tls/ again, to end in ten minutes.
func (l *Lab) expiring(t *testing.T, name, signer string) {
	t.Helper()
	l.reissued(t, name, signer, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(10 * time.Minute) })
}

// reissued issues a certificate of tls/ again, changed.
func (l *Lab) reissued(t *testing.T, name, signer string, change func(*x509.Certificate)) {
	t.Helper()
	template, authority := l.certificate(t, name), l.certificate(t, signer)
	text, err := os.ReadFile(l.Asset("tls/" + signer + ".key"))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	change(template)
	der, err := x509.CreateCertificate(rand.Reader, template, authority, template.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if name != signer {
		bundle = append(bundle, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Raw})...)
	}
	if err := os.WriteFile(l.Asset("tls/"+name+".crt"), bundle, 0o644); err != nil {
		t.Fatal(err)
	}
}

func (l *Lab) certificate(t *testing.T, name string) *x509.Certificate {
	t.Helper()
	text, err := os.ReadFile(l.Asset("tls/" + name + ".crt"))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		t.Fatalf("%s is no PEM", name)
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCertificatesThatEndTooSoonAreSeen: those of the first day are made once,
// and a learner takes the lab up again the day after.
func TestCertificatesThatEndTooSoonAreSeen(t *testing.T) {
	for id, c := range map[string]struct{ check, name, signer string }{
		"render-kube-apiserver": {"serving-fresh", "kube-apiserver-service-network-server", "kube-apiserver-service-network-signer"},
		"render-kcm":            {"signer-fresh", "kubelet-signer", "kubelet-signer"},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			l := Good(t, podman.Ordinary(t), labs.Local).Apart(t)
			s := stage(t, id)
			l.expiring(t, c.name, c.signer)
			l.Env.Own(t, l.Dir)
			points, _ := verified(t, l, s)
			at := slices.IndexFunc(points, func(p Point) bool { return p.ID == c.check })
			if p := points[at]; p.OK || !strings.Contains(p.Found, "tls/"+c.name+".crt") || !strings.Contains(p.Hint, "make-pki.sh --force") {
				t.Errorf("%+v", p)
			}
			// Rendering again is no way out.
			l.Run(t, s.ScriptName()).Want(t, 3, "not ok", c.check, "make-pki.sh --force")
		})
	}
}

// TestAWorkDirectoryOfSomebodyElseIsRefused: the keys below it would be open to
// whoever may look into it.
func TestAWorkDirectoryOfSomebodyElseIsRefused(t *testing.T) {
	t.Parallel()
	if !podman.Accounts(t)[0].Root() {
		t.Skip("only root can give a directory to somebody else")
	}
	l := goodClone(t)
	work := filepath.Dir(l.Assets())
	for path, owner := range map[string]int{work: 0, l.Assets(): l.Env.Account.UID} {
		if err := os.Chown(path, owner, l.Env.Account.GID); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(work, 0o775); err != nil {
		t.Fatal(err)
	}
	before := l.Snapshot(t)
	for _, s := range chainStages(t, release, labs.Local) {
		l.Run(t, s.ScriptName(), "--force").Want(t, 4, "cannot make "+work+" private")
	}
	before.Same(t, l.Snapshot(t))
}
