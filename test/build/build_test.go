package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// probe is the smallest program of this module.
var probe = Program{Module: "test", Package: "bootlab/test/vms/nodeserver"}

func TestAProgramIsBuiltOnce(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	first, err := probe.File()
	if err != nil {
		t.Fatal(err)
	}
	made, err := os.Stat(first)
	if err != nil {
		t.Fatal(err)
	}
	// A second build would fail: there is no go in the PATH.
	t.Setenv("PATH", t.TempDir())
	second, err := probe.File()
	if err != nil || second != first {
		t.Errorf("%s, then %s: %v", first, second, err)
	}
	placed := filepath.Join(t.TempDir(), "program")
	if got, err := probe.Place(placed); err != nil || got != placed {
		t.Errorf("%s: %v", got, err)
	}
	if info, err := os.Stat(placed); err != nil || info.Size() != made.Size() || info.Mode()&0o111 == 0 {
		t.Errorf("%v, %v", info, err)
	}
	tagged := probe
	tagged.Tags = "other"
	if file, err := tagged.File(); err == nil || file == first {
		t.Errorf("another tag gives %s: %v", file, err)
	}
}

func TestAProgramThatDoesNotBuildIsNotKept(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	for range 2 {
		_, err := Program{Module: "test", Package: "bootlab/test/none"}.File()
		if err == nil || !strings.Contains(err.Error(), "bootlab/test/none") {
			t.Errorf("%v", err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "*", "*")); len(left) > 0 {
		t.Errorf("kept are %v", left)
	}
}

func TestUnusedProgramsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-2 * kept)
	for name, at := range map[string]time.Time{"old": old, "new": time.Now()} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := removeUnused(dir, time.Now().Add(-kept)); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "new" {
		t.Errorf("left are %v, %v", left, err)
	}
}

// The hash counts names and contents of all files but those that no program has.
func TestTheHashOfATree(t *testing.T) {
	root := t.TempDir()
	seen := map[string]string{}
	for _, step := range []struct {
		name, text string
		counts     bool
	}{
		{"a.go", "one", true}, {"a.go", "two", true}, {"b.txt", "two", true}, {"deep/c.tmpl", "", true},
		{"a_test.go", "x", false}, {"testdata/golden", "x", false}, {".git/HEAD", "x", false}, {"bin/bootlab", "x", false},
	} {
		file := filepath.Join(root, step.name)
		before, err := tree(root)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(step.text), 0o600); err != nil {
			t.Fatal(err)
		}
		after, err := tree(root)
		if err != nil {
			t.Fatal(err)
		}
		if changed := string(after) != string(before); changed != step.counts {
			t.Errorf("%s: the hash changed: %v", step.name, changed)
		}
		if was, twice := seen[string(after)]; twice && step.counts {
			t.Errorf("%s gives the hash of %s", step.name, was)
		}
		seen[string(after)] = step.name
	}
}

// Of a pinned program go.mod and go.sum count, of others the whole checkout.
func TestTheKeyOfAPinnedProgram(t *testing.T) {
	p := Program{Module: "test/controlplane/programs", Package: "k8s.io/kubernetes/cmd/kubectl", Pinned: true}
	a, err := p.key()
	if err != nil {
		t.Fatal(err)
	}
	p.Pinned = false
	if b, err := p.key(); err != nil || a == b {
		t.Errorf("%s and %s: %v", a, b, err)
	}
}
