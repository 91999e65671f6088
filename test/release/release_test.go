// Package release builds a release and installs it into an empty tree.
package release

import (
	"debug/elf"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"bootlab/labs/sample"
	"bootlab/test/checkout"
)

const version = "0.1.2-test.1"

// build runs make release for this machine's architecture.
func build(t *testing.T, environment ...string) (dist string) {
	t.Helper()
	dist = filepath.Join(t.TempDir(), "dist")
	cmd := exec.Command(filepath.Join(checkout.Root(), ".ci", "release"))
	cmd.Env = append(os.Environ(), append(environment, "VERSION=v"+version, "DIST="+dist, "ARCHITECTURES="+runtime.GOARCH)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dist
}

// What a release holds without packages, which takes seconds where Go's build cache
// is warm.
func TestTheProgramsOfAReleaseRunAndAreStaticOrNot(t *testing.T) {
	dist := build(t, "FORMATS=")
	for name, static := range map[string]bool{"bootlab": true, "bootlab-libvirt": false} {
		file := filepath.Join(dist, name+"-"+version+"-linux-"+runtime.GOARCH)
		program, err := elf.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		libraries, err := program.ImportedLibraries()
		if program.Close(); err != nil || (len(libraries) == 0) != static {
			t.Errorf("%s needs %v, %v", name, libraries, err)
		}
		var said struct {
			Version string
			Libvirt bool
		}
		out, err := exec.Command(file, "version", "--output", "json").Output()
		if json.Unmarshal(out, &said); err != nil || said.Version != version || said.Libvirt == static {
			t.Errorf("%s: %v, %s", name, err, out)
		}
	}
	page, err := os.ReadFile(filepath.Join(dist, "bootlab-diagnose-"+version+".html"))
	if err != nil || !strings.Contains(string(page), "Made by bootlab "+version+".") || len(page) < 1<<20 {
		t.Errorf("the page for browsers has %d bytes, %v", len(page), err)
	}
	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = dist
	if out, err := check.CombinedOutput(); err != nil || strings.Count(string(out), ": OK\n") != 3 {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestAReleaseWantsASemanticVersion(t *testing.T) {
	cmd := exec.Command(filepath.Join(checkout.Root(), ".ci", "release"))
	cmd.Env = append(os.Environ(), "VERSION=1.2", "DIST="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "1.2 is no semantic version") || cmd.ProcessState.ExitCode() != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}

// The package is installed by dpkg into a tree in which there is nothing else, and
// the program runs there: it needs no library, no shell and no other file.
func TestThePackageInstallsAndRunsInAnEmptyTree(t *testing.T) {
	sample.OnlyInAll(t, "TestTheProgramsOfAReleaseRunAndAreStaticOrNot runs what the packages hold; nfpm takes some seconds and a module proxy")
	dist := build(t)
	if packages, _ := filepath.Glob(filepath.Join(dist, "*.rpm")); len(packages) != 2 {
		t.Errorf("the packages for rpm are %v", packages)
	}
	found, _ := filepath.Glob(filepath.Join(dist, "bootlab_*.deb"))
	if len(found) != 1 {
		t.Fatal(found)
	}
	tree := t.TempDir()
	for _, dir := range []string{"var/lib/dpkg/updates", "var/lib/dpkg/info", "var/lib/dpkg/triggers", "tmp"} {
		if err := os.MkdirAll(filepath.Join(tree, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(tree, "var/lib/dpkg/status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	// dpkg asks for programs in PATH; only recommended packages are missing.
	dpkg := exec.Command("dpkg", "--root="+tree, "--force-not-root", "--force-script-chrootless", "--log=/dev/null", "--install", found[0])
	dpkg.Env = append(os.Environ(), "PATH=/usr/local/sbin:/usr/sbin:/sbin:"+os.Getenv("PATH"))
	if out, err := dpkg.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, file := range []string{"usr/share/man/man1/bootlab.1.gz", "usr/share/man/man1/bootlab-vms-up.1.gz", "usr/share/bash-completion/completions/bootlab",
		"usr/share/zsh/vendor-completions/_bootlab", "usr/share/fish/vendor_completions.d/bootlab.fish", "usr/share/doc/bootlab/copyright"} {
		if info, err := os.Stat(filepath.Join(tree, file)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
	inside := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("unshare", append([]string{"--map-root-user", "--root=" + tree, "--wd=/tmp", "/usr/bin/bootlab"}, args...)...).CombinedOutput()
		if err != nil {
			t.Errorf("bootlab %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if said := inside("--version"); !strings.HasPrefix(said, "bootlab "+version) {
		t.Error(said)
	}
	inside("init", "mylab")
	if said := inside("generate", "mylab"); !strings.Contains(said, " 0 unchanged") {
		t.Error(said)
	}
	inside("site", "build", "mylab")
}
