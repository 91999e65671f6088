package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs/sample"
)

// forkScript is a bootkube.sh with a few stages: what a fork or a release that
// is not known might have.
const forkScript = `#!/usr/bin/env bash
set -euoE pipefail
bootkube_podman_run() { podman run --quiet --net=host --rm --log-driver=k8s-file "$@"; }
CLUSTER_ETCD_OPERATOR_IMAGE=$(image_for cluster-etcd-operator)
NEW_THING=$(image_for new-thing)
if [ ! -f openshift-manifests.done ]; then
  record_service_stage_start "openshift-manifests"
  echo "Moving OpenShift manifests in with the rest of them"
  cp openshift/* manifests/
  touch openshift-manifests.done
fi
if [ ! -f etcd-bootstrap.done ]; then
  record_service_stage_start "etcd-bootstrap"
  rm -rf etcd-bootstrap
  bootkube_podman_run --name etcd-render --volume "$PWD:/assets:z" "$CLUSTER_ETCD_OPERATOR_IMAGE" \
    /usr/bin/cluster-etcd-operator render --asset-output-dir=/assets/etcd-bootstrap --new-image="$NEW_THING" --evil="$(reboot)"
  cp --recursive etcd-bootstrap/etc-kubernetes/* /etc/kubernetes/
  touch etcd-bootstrap.done
fi
if [ ! -f shiny-bootstrap.done ]; then
  record_service_stage_start "shiny-bootstrap"
  cp shiny/* manifests/
  touch shiny-bootstrap.done
fi
`

// labOf makes a lab of a release that need not be known.
func labOf(t *testing.T, version string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mylab")
	text := fmt.Sprintf("metadata:\n  name: mylab\nbaseDomain: example.test\nrelease:\n  version: %q\n  image: quay.io/okd/scos-release:x\n", version)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "lab.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// tree reads all files below a directory.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		out[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestALabOfAnUnknownReleaseIsMadeFromAnAuditedScript(t *testing.T) {
	lab, file := labOf(t, "4.22"), scriptFile(t, forkScript)
	if _, stderr, status := bootlab("generate", lab); status != exitFailed || !strings.Contains(stderr, "the nearest is 4.21") || !strings.Contains(stderr, "--from-audit") {
		t.Errorf("status %d: %s", status, stderr)
	}
	out, stderr, status := bootlab("generate", lab, "--from-audit", file)
	for _, want := range []string{"made from bootkube.sh (sha256 ", "stage data of 4.21", "differences applied", "not applied: shiny-bootstrap, line 21: stage", "--evil"} {
		if status != exitDone || !strings.Contains(out, want) {
			t.Errorf("status %d, no %q in:\n%s%s", status, want, out, stderr)
		}
	}
	files := tree(t, filepath.Join(lab, "out"))
	marked := 0
	for name, text := range files {
		if ext := filepath.Ext(name); ext != ".sh" && ext != ".md" {
			continue
		}
		marked++
		flat := strings.Join(strings.Fields(strings.NewReplacer("#", " ", ">", " ", "`", "").Replace(text)), " ")
		for _, want := range []string{"Made from an audited script, ", "reviewed stage data of 4.22: bootkube.sh", "stage data of 4.21", " applied, ", " not applied", "sha256 "} {
			if !strings.Contains(flat, want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
		if strings.Contains(text, filepath.Dir(file)) {
			t.Errorf("%s holds the path of the script", name)
		}
	}
	if marked < 60 {
		t.Errorf("%d scripts and pages", marked)
	}
	etcd := files["scripts/render-etcd.sh"]
	for _, want := range []string{`--new-image="${NEW_THING_IMAGE}"`, `NEW_THING_IMAGE="$(image new-thing)"`, "stage data knows no reason for it", "flag --evil:", "for lab mylab, okd 4.22"} {
		if !strings.Contains(etcd, want) {
			t.Errorf("render-etcd.sh does not have %s", want)
		}
	}
	for _, gone := range []string{"reboot", "--etcd-image="} {
		if strings.Contains(uncommented(etcd), gone) {
			t.Errorf("render-etcd.sh has %s", gone)
		}
	}
	if all := files["scripts/render-all.sh"]; !strings.Contains(all, "# - shiny-bootstrap, line 21: stage") || strings.Contains(all, "render-kcm.sh") {
		t.Error("render-all.sh does not go by the stages of the script")
	}
	if page := files["guide/audited-script.md"]; !strings.Contains(page, "| `shiny-bootstrap` | 21 |") || !strings.Contains(page, "[render-etcd](render-etcd.md)") {
		t.Errorf("the page about the audit is\n%s", page)
	}
	if checks := files["scripts/checks/release-info.sh"]; !strings.Contains(checks, "new-thing") || !strings.Contains(checks, "RELEASE='4.22'") {
		t.Error("the checks of release-info do not ask for the new image, or for another release")
	}
}

// uncommented are the lines of a script that are no comments.
func uncommented(script string) string {
	var out []string
	for _, line := range strings.Split(script, "\n") {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

func TestTheSameAuditedScriptGivesTheSameBytes(t *testing.T) {
	lab := labOf(t, "4.22")
	for _, want := range []string{" 0 unchanged", " 0 files written"} {
		// Another directory and another copy of the file.
		if out, stderr, status := bootlab("generate", lab, "--from-audit", scriptFile(t, forkScript)); status != exitDone || !strings.Contains(out, want) {
			t.Errorf("status %d, no %q in:\n%s%s", status, want, out, stderr)
		}
	}
}

// The generated tree must be as good as any other: scripts that shell and
// shellcheck take, and a guide whose links lead somewhere.
func TestWhatIsMadeFromAnAuditedScriptIsWhole(t *testing.T) {
	lab := labOf(t, "5.0")
	if _, stderr, status := bootlab("generate", lab, "--from-audit", scriptFile(t, forkScript)); status != exitDone {
		t.Fatal(stderr)
	}
	if _, stderr, status := bootlab("site", "build", lab); status != exitDone {
		t.Error(stderr)
	}
	for name, text := range tree(t, filepath.Join(lab, "out", "site")) {
		if filepath.Ext(name) == ".html" && name != "404.html" && !strings.Contains(text, "made from bootkube.sh, not reviewed") {
			t.Errorf("%s does not say what it was made from", name)
		}
	}
	scripts, err := filepath.Glob(filepath.Join(lab, "out", "*", "*.sh"))
	if err != nil || len(scripts) < 20 {
		t.Fatal(scripts, err)
	}
	for _, script := range scripts {
		if out, err := exec.Command("bash", "-n", script).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", script, err, out)
		}
	}
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("shellcheck is not installed")
	}
	// Libraries and the node's scripts are held to it elsewhere, and differ in
	// their mark alone. Sources are named from where the scripts are.
	dir := filepath.Join(lab, "out", "scripts")
	words := []string{"--external-sources"}
	var names []string
	for _, script := range scripts {
		if filepath.Dir(script) == dir {
			names = append(names, filepath.Base(script))
		}
	}
	words = append(words, sample.Of(t, 5, names)...)
	cmd := exec.Command("shellcheck", words...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("shellcheck: %v\n%s", err, out)
	}
}

func TestAKnownReleaseMayBeMadeFromAForksScript(t *testing.T) {
	lab := labOf(t, "4.20")
	out, stderr, status := bootlab("generate", lab, "--from-audit", scriptFile(t, forkScript))
	if status != exitDone || !strings.Contains(out, "stage data of 4.20: ") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
	if text := tree(t, lab)["out/scripts/render-etcd.sh"]; !strings.Contains(text, "NOT from reviewed stage data of 4.20") {
		t.Error("no mark")
	}
	if out, stderr, status := bootlab("generate", lab, "--from-audit", scriptFile(t, forkScript), "--release", "4.18"); status != exitDone || !strings.Contains(out, "stage data of 4.18: ") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
	// Without the file the marks are gone again.
	if _, stderr, status := bootlab("generate", lab); status != exitDone || stderr != "" {
		t.Errorf("status %d: %s", status, stderr)
	}
	for name, text := range tree(t, filepath.Join(lab, "out")) {
		if strings.Contains(text, "audited script") {
			t.Errorf("%s still has the mark", name)
		}
	}
}

func TestABootstrapIgnitionIsReadToo(t *testing.T) {
	encode := base64.StdEncoding.EncodeToString
	plain := fmt.Sprintf(`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/usr/local/bin/bootkube.sh","contents":{"source":"data:;base64,%s"}}]}}`, encode([]byte(forkScript)))
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write([]byte(plain))
	z.Close()
	template := "{{if .Never}}\necho never\n{{end}}\n" + forkScript
	for name, text := range map[string]string{"bootstrap.ign": plain, "zipped": zipped.String(), "bootkube.sh.template": template} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, stderr, status := bootlab("check", labOf(t, "4.22"), "--from-audit", file); status != exitDone || !strings.Contains(out, "is right: okd 4.22, ") || !strings.Contains(out, "made from "+name+" ") || !strings.Contains(out, "not applied: shiny-bootstrap") {
			t.Errorf("%s: status %d: %s%s", name, status, out, stderr)
		}
	}
}

func TestExplainAndAuditTakeAnUnknownReleaseToo(t *testing.T) {
	lab, file := labOf(t, "4.22"), scriptFile(t, forkScript)
	for _, args := range [][]string{{"--lab", lab, "--from-audit", file}, {"--from-audit=" + file, "--release", "4.21"}} {
		out, stderr, status := bootlab(append([]string{"explain", "--new-image"}, args...)...)
		if status != exitDone || !strings.Contains(out, "render-etcd: --new-image=$NEW_THING_IMAGE") || !strings.Contains(out, "Not reviewed: made from bootkube.sh") {
			t.Errorf("%v: status %d: %s%s", args, status, out, stderr)
		}
	}
	if out, stderr, status := bootlab("audit", lab, file); status != exitFound || !strings.Contains(out, "compared with 4.21") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
}

func TestFromAuditRefusesWhatItCannotUse(t *testing.T) {
	lab, file := labOf(t, "4.22"), scriptFile(t, forkScript)
	for name, c := range map[string]struct {
		args   []string
		status int
		want   string
	}{
		"no file":          {[]string{lab, "--from-audit", "/nonexistent"}, exitFailed, "no such file"},
		"a directory":      {[]string{lab, "--from-audit", lab}, exitFailed, "is no regular file"},
		"a device":         {[]string{lab, "--from-audit", "/dev/zero"}, exitFailed, "is no regular file"},
		"no stages":        {[]string{lab, "--from-audit", scriptFile(t, "echo hello\n")}, exitFailed, "has none of the stages of bootkube.sh of 4.21"},
		"no shell":         {[]string{lab, "--from-audit", scriptFile(t, "if then\n")}, exitFailed, "is no bash"},
		"a NUL byte":       {[]string{lab, "--from-audit", scriptFile(t, forkScript+"\x00")}, exitFailed, "holds bytes that are no text"},
		"no ignition":      {[]string{lab, "--from-audit", scriptFile(t, "{}")}, exitFailed, "holds no /usr/local/bin/bootkube.sh"},
		"no such release":  {[]string{lab, "--from-audit", file, "--release", "3.11"}, exitUsage, "known are 4.14"},
		"only a release":   {[]string{lab, "--release", "4.20"}, exitUsage, "--release without --from-audit"},
		"a patch release":  {[]string{labOf(t, "4.22.1"), "--from-audit", file}, exitFailed, "another minor release as MAJOR.MINOR"},
		"a hostile number": {[]string{labOf(t, "4.22$(reboot)"), "--from-audit", file}, exitFailed, "has no stage data"},
	} {
		_, stderr, status := bootlab(append([]string{"generate"}, c.args...)...)
		if status != c.status || !strings.Contains(stderr, c.want) || !strings.Contains(stderr, "hint:") && !strings.Contains(stderr, "allowed:") && name != "no file" {
			t.Errorf("%s: status %d: %s", name, status, stderr)
		}
	}
}

// The name of the file stands in every script and page.
func TestTheNameOfTheFileIsPlain(t *testing.T) {
	name := "a b`$(reboot)`'\"|<x>\n#shellcheck disable=all.sh"
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(strings.Replace(forkScript, "$(reboot)", "", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	lab := labOf(t, "4.22")
	if _, stderr, status := bootlab("generate", lab, "--from-audit", file); status != exitDone {
		t.Fatal(stderr)
	}
	for path, text := range tree(t, filepath.Join(lab, "out")) {
		if strings.Contains(text, "reboot)") || strings.Contains(text, "#shellcheck") {
			t.Errorf("%s holds the name as it is", path)
		}
	}
}

func TestAnOptionOfEveryStageIsOneFinding(t *testing.T) {
	text := strings.ReplaceAll(forkScript, " --log-driver=k8s-file", "") + `if [ ! -f kube-apiserver-bootstrap.done ]; then
  record_service_stage_start "kube-apiserver-bootstrap"
  bootkube_podman_run --name kube-apiserver-render "$X" render
  touch kube-apiserver-bootstrap.done
fi
`
	out, stderr, status := bootlab("audit", scriptFile(t, text), "--release", "4.21")
	if status != exitFound || strings.Count(out, "--log-driver") != 2 || !strings.Contains(out, "unknown: every stage with a container, line") ||
		!strings.Contains(out, "stages: etcd-bootstrap, kube-apiserver-bootstrap\n") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
}

func TestOneDifferenceIsToldInTheSingular(t *testing.T) {
	for n, want := range map[int]string{0: "0 differences", 1: "1 difference", 2: "2 differences"} {
		if got := cli.Counted(n, "difference"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
