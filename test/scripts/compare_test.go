package scripts

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"text/template"

	"bootlab/labs"
	"bootlab/test/podman"
)

var (
	realTemplate = flag.String("template", "", "directory with the installer's bootkube.sh.template and the files that it sources")
	realRelease  = flag.String("release", "main", "release of that template")
)

// TestScriptsLeaveWhatTheRealBootkubeLeaves runs a real bootkube.sh beside the
// scripts, up to its wait for etcd, and compares what both leave on a node: names,
// modes and bytes, keys and certificates by their kind. It is called by hand, with
// the installer's files. In CI bootkube.sh is made from stage data:
// TestHandAndBootkubeTakeTurns.
func TestScriptsLeaveWhatTheRealBootkubeLeaves(t *testing.T) {
	if *realTemplate == "" {
		t.Skip("make compare TEMPLATE=DIR names the installer's files")
	}
	account := podman.Accounts(t)[0]
	if !account.Root() {
		t.Fatal("only root can make a mount namespace")
	}
	assets := chainLab(t, account, *realRelease, labs.Local)
	for _, s := range Stages(t, *realRelease, labs.Local) {
		if s.Kind == "prepare" {
			assets.Must(t, s.ScriptName())
		}
	}
	hand := chainLab(t, account, *realRelease, labs.OnNode)
	if err := hand.takeAssets(assets, bootstrapAssets...); err != nil {
		t.Fatal(err)
	}
	hand.withoutNames(t)
	hand.Must(t, "release-info.sh")
	beside := hand.Clone(t)
	hand.Must(t, chain)

	beside.install(t, *realTemplate, "bootkube.sh", map[string]bool{})
	beside.answerAsOC(t)
	cmd := beside.inside([]string{"bash", "-c", "cd /opt/openshift && SERVICE_NAME=bootkube exec bash " + realPrograms + "bootkube.sh"})
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("bootkube.sh: %v\n%s", err, out)
	}
	want := beside.results(t)
	sameResults(t, "the scripts, beside bootkube.sh", hand.results(t), want)
	t.Logf("%d files compared", len(want))
}

// realPrograms is where the files of the installer are, in place of /usr/local/bin.
const realPrograms = "/opt/stand-in/bin/"

var (
	sources     = regexp.MustCompile(`(?m)^\s*(?:\.|source) /usr/local/bin/(\S+)`)
	waitForEtcd = regexp.MustCompile(`(?m)^\s*wait_for_etcd_cluster$`)
)

// install fills in a file of the installer, and those that it sources, and puts
// them on the node.
func (l *Lab) install(t *testing.T, dir, name string, done map[string]bool) {
	t.Helper()
	if done[name] {
		return
	}
	done[name] = true
	text, err := os.ReadFile(filepath.Join(dir, name+".template"))
	if os.IsNotExist(err) {
		text, err = os.ReadFile(filepath.Join(dir, name))
	} else if err == nil {
		text, err = l.fillIn(name, text)
	}
	if os.IsNotExist(err) && name != "bootkube.sh" {
		t.Logf("%s is not there: it must be one that this lab does not source", name)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if name == "bootkube.sh" {
		if n := len(waitForEtcd.FindAll(text, -1)); n != 1 {
			t.Fatalf("bootkube.sh waits for etcd in %d lines", n)
		}
		text = waitForEtcd.ReplaceAll(text, []byte("exit 0"))
	}
	for _, m := range sources.FindAllSubmatch(text, -1) {
		l.install(t, dir, string(m[1]), done)
	}
	file := l.Asset(realPrograms + name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte("/usr/local/bin/"), []byte(realPrograms))
	if err := os.WriteFile(file, text, 0o755); err != nil {
		t.Fatal(err)
	}
}

// fillIn gives a template the values of the usual lab: no key of it asks for more.
func (l *Lab) fillIn(name string, text []byte) ([]byte, error) {
	parsed, err := template.New(name).Parse(string(text))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = parsed.Execute(&out, map[string]any{
		"ReleaseImage": l.Release.Image, "BootstrapInPlace": false, "ClusterProfile": "",
		"APIServerURL": "https://api.mylab.bootlab.test:6443", "APIIntServerURL": "https://api-int.mylab.bootlab.test:6443",
	})
	return out.Bytes(), err
}

// answerAsOC puts a stand-in of oc before others, which knows what bootkube.sh asks
// of the release.
func (l *Lab) answerAsOC(t *testing.T) {
	t.Helper()
	text := fmt.Sprintf(`#!/bin/bash
# stand-in for oc
case "$*" in
  *'{.metadata.version}'*) echo -n '%s' ;;
  *'{.displayVersions.kubernetes.Version}'*) echo -n '%s' ;;
  *) echo "no answer to oc $*" >&2 && exit 1 ;;
esac
`, l.Release.Version, l.Release.Kubernetes)
	if err := os.WriteFile(filepath.Join(l.Env.Bin, "oc"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
