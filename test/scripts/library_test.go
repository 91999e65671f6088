package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/labs"
)

// observation is a call of a function that checks are made of, in a directory
// of its own.
type observation struct {
	prepare string // shell
	call    string
	found   string // what it must say; empty: it must be true
}

const (
	release123 = `mkdir release-info; echo quay.io/a/release@sha256:1 > release-info/digest
printf 'etcd quay.io/a/etcd@sha256:2\npod quay.io/a/pod@sha256:3\n' > release-info/images
`
	key1 = "openssl genpkey -algorithm ed25519 -out a.key; openssl req -x509 -new -key a.key -subj /CN=a -out a.crt 2> /dev/null\n"
)

var observations = map[string]observation{
	"an image of the release":            {release123 + "echo 'image: quay.io/a/etcd@sha256:2' > pod", "payload release-info/images pod", ""},
	"the release image":                  {release123 + "echo '- image: \"quay.io/a/release@sha256:1\"' > pod", "payload release-info/images pod", ""},
	"an image of elsewhere":              {release123 + "echo 'image: quay.io/b/etcd@sha256:2' > pod", "payload release-info/images pod", "quay.io/b/etcd@sha256:2 is not in the release"},
	"a part of an image's name":          {release123 + "echo 'image: quay.io/a/etcd' > pod", "payload release-info/images pod", "is not in the release"},
	"the name of an image in the list":   {release123 + "echo 'image: etcd' > pod", "payload release-info/images pod", "etcd is not in the release"},
	"the first of two images on a line":  {release123 + `echo '{"a":[{"image":"quay.io/b/x"},{"image":"quay.io/a/pod@sha256:3"}]}' > pod`, "payload release-info/images pod", "quay.io/b/x is not in the release"},
	"a list of another form":             {release123 + `echo '{"spec":{"tags":[{"from":{"name":"quay.io/c/mco"}}]}}' > list; echo 'image: quay.io/c/mco' > pod`, "payload list pod", ""},
	"a certificate and its key":          {key1, "key_pair a.crt", ""},
	"a certificate and another key":      {key1 + "openssl genpkey -algorithm ed25519 -out a.key", "key_pair a.crt", "a.crt does not belong to a.key"},
	"neither certificate nor key":        {"echo x > a.crt; echo x > a.key", "key_pair a.crt", "a.crt cannot be read"},
	"a certificate and no key":           {key1 + "echo x > a.key", "key_pair a.crt", "a.key cannot be read"},
	"a bundle of its certificates":       {key1 + "cp a.crt b.crt", "bundle b.crt a.crt", ""},
	"a bundle without certificates":      {"echo x > b.crt; echo y > a.crt", "bundle b.crt a.crt", "b.crt holds no certificate"},
	"one object in two files":            {twoDNS("  ", "b"), "agree *.yaml", "a.yaml and b.yaml both set DNS.config.openshift.io//cluster"},
	"the same indented by four":          {twoDNS("    ", "b"), "agree *.yaml", "both set DNS.config.openshift.io//cluster"},
	"the same object in two files":       {twoDNS("  ", "a"), "agree *.yaml", ""},
	"two objects of one name":            {twoDNS("  ", "b") + "sed -i 's/^kind: .*/kind: Proxy/' b.yaml", "agree *.yaml", ""},
	"a label called name":                {twoDNS("  ", "b") + "sed -i 's/^  name: .*/  labels:\\n    name: cluster\\n  name: other/' b.yaml", "agree *.yaml", ""},
	"one object in JSON and in JSON":     {`echo '{"kind":"A","apiVersion":"v1","metadata":{"name":"x"},"a":1}' > a; echo '{"kind":"A","apiVersion":"v1","metadata":{"name":"x"},"a":2}' > b`, "agree a b", "a and b both set A.//x"},
	"a copy":                             {"mkdir from to; echo 1 > from/a; cp from/a to", "same from/a to/", ""},
	"a copy that was changed":            {"mkdir from to; echo 1 > from/a; echo 2 > to/a", "same from/a to/", "to/a is not from/a"},
	"a copy that is missing":             {"mkdir from to; echo 1 > from/a", "same from/a to/", "to/a is not from/a"},
	"a pattern without a match":          {"mkdir to", "same from/* to/", "from/* is missing"},
	"a copy below a directory":           {"mkdir --parents from/x/y to/x/y; echo 1 | tee from/x/y/a > to/x/y/a", "same from/x to/", ""},
	"a changed copy below a directory":   {"mkdir --parents from/x/y to/x/y; echo 1 > from/x/y/a; echo 2 > to/x/y/a", "same from/x to/", "to/x/y/a is not from/x/y/a"},
	"a directory of copies that is gone": {"mkdir --parents from/x to; echo 1 > from/x/a", "same from/x to/", "to/x/ is missing"},
}

// twoDNS writes an object twice.
func twoDNS(indent, second string) string {
	text := ""
	for file, domain := range map[string]string{"a": "a", "b": second} {
		text += "cat > " + file + ".yaml << 'END'\nkind: DNS\napiVersion: config.openshift.io/v1\nmetadata:\n" +
			indent + "name: cluster\nspec:\n" + indent + "baseDomain: " + domain + "\nEND\n"
	}
	return text
}

func TestWhatChecksAreMadeOf(t *testing.T) {
	t.Parallel()
	lab := filepath.Join(t.TempDir(), "mylab")
	for _, args := range [][]string{{"init", lab}, {"generate", lab}} {
		if _, err := Bootlab(args...); err != nil {
			t.Fatal(err)
		}
	}
	libraries := filepath.Join(lab, "out", "scripts")
	for name, o := range observations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := "set -Eeuo pipefail\nsource " + libraries + "/check-lib.sh\nsource " + libraries + "/certificate-lib.sh\n" + o.prepare + "\n" + o.call
			cmd := exec.Command("bash", "-c", script)
			cmd.Dir = t.TempDir()
			out, err := cmd.CombinedOutput()
			if (err == nil) != (o.found == "") || !strings.Contains(string(out), o.found) {
				t.Errorf("%v, said %q, not %q", err, out, o.found)
			}
		})
	}
}

// TestALeftOverOfAKilledCopyIsSweptAway: what a killed run had begun to copy comes
// to manifests/ as little as to the kubelet.
func TestALeftOverOfAKilledCopyIsSweptAway(t *testing.T) {
	t.Parallel()
	l := goodClone(t)
	left := []string{".new/half.yaml", "/etc/kubernetes/manifests/.etcd-member-pod.yaml"}
	for _, name := range left {
		if err := os.MkdirAll(filepath.Dir(l.Asset(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(l.Asset(name), []byte("kind: Po"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l.Env.Own(t, l.Dir)
	l.Must(t, "render-etcd.sh", "--force")
	for _, name := range append(left, ".new", "manifests/half.yaml") {
		if _, err := os.Stat(l.Asset(name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	allGood(t, l, stage(t, "render-etcd"))
}

// TestOtherAnswersOfTheReleaseUnmarkWhatWasMadeWithThem: an image that lab.yaml
// puts in the place of the release's must not be taken for done.
func TestOtherAnswersOfTheReleaseUnmarkWhatWasMadeWithThem(t *testing.T) {
	t.Parallel()
	l := goodClone(t)
	fixture{Break: `edit '1s/$/x/' release-info/images
sha256sum release-info/{digest,version,kubernetes-version,images} > release-info/sums`}.apply(t, l)
	l.Must(t, "release-info.sh", "--force").Says(t, "run render-etcd.sh again", "run render-cco.sh again")
	for _, s := range Stages(t, release, labs.Local) {
		if rendersMarked(s, l) {
			t.Errorf("%s is still marked as done", s.ID)
		}
	}
}

// TestTheSameAnswersUnmarkNothing: nor do the first ones, behind stages that
// bootkube.sh itself has done.
func TestTheSameAnswersUnmarkNothing(t *testing.T) {
	t.Parallel()
	l := goodClone(t)
	for _, first := range []bool{false, true} {
		if first {
			if err := os.RemoveAll(l.Asset("release-info")); err != nil {
				t.Fatal(err)
			}
		}
		l.Must(t, "release-info.sh", "--force")
		for _, s := range Stages(t, release, labs.Local) {
			if s.Kind == "render" && !rendersMarked(s, l) {
				t.Errorf("first answers %v: %s is no longer marked as done", first, s.ID)
			}
		}
	}
}

func rendersMarked(s *labs.Stage, l *Lab) bool {
	_, err := os.Stat(l.markers(s)[0])
	return s.Kind == "render" && err == nil
}

// TestADryRunWinsOverAStep: what is only to be shown is never done.
func TestADryRunWinsOverAStep(t *testing.T) {
	t.Parallel()
	l := goodClone(t)
	before := l.Snapshot(t)
	for _, args := range [][]string{{"--dry-run", "--step", "--force"}, {"--step", "--dry-run", "--force"}, {"--dry-run", "--verify"}} {
		l.Must(t, "render-cco.sh", args...)
	}
	before.Same(t, l.Snapshot(t))
}
