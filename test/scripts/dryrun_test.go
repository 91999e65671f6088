package scripts

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/labs/sample"
	"bootlab/test/podman"
)

// makingFiles are the stages of a local run whose scripts leave nothing but files.
func makingFiles(t *testing.T) []*labs.Stage {
	t.Helper()
	var out []*labs.Stage
	for _, s := range Stages(t, release, labs.Local) {
		if s.Kind != "release" {
			out = append(out, s)
		}
	}
	if len(out) < 13 {
		t.Fatalf("only %v", ids(out))
	}
	return out
}

// TestWhatIsShownIsWhatRuns: the dry run, its cd pointed at a copy of the
// inputs, leaves the same paths, modes and bytes as the script, but for keys,
// certificates, ids and hashes.
func TestWhatIsShownIsWhatRuns(t *testing.T) {
	t.Parallel()
	good := Good(t, podman.Ordinary(t), labs.Local)
	for _, s := range sample.Of(t, 5, makingFiles(t)) {
		t.Run(s.ID, func(t *testing.T) {
			t.Parallel()
			l := good.Apart(t)
			l.unmade(t, s)
			shown := l.Clone(t)
			text := l.Must(t, s.ScriptName(), "--dry-run").Out
			rest, ok := strings.CutPrefix(text, "set -Eeuo pipefail\ncd -- "+l.Assets()+"\n")
			if !ok {
				t.Fatalf("the dry run does not begin with set and cd:\n%s", text)
			}
			l.Must(t, s.ScriptName())
			cmd := shown.Env.Command("bash", "-c", "set -Eeuo pipefail\n"+rest)
			cmd.Dir = shown.Assets()
			finish(t, cmd).Want(t, 0)
			l.Kinds(t).Same(t, shown.Kinds(t))
			// The script's checks pass on what the dry run made.
			for _, marker := range shown.markers(s) {
				if err := os.WriteFile(marker, nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			allGood(t, shown, s)
		})
	}
}

// canaries are what a secret of the lab holds, as it is and in base64.
func canaries(l *Lab, t *testing.T) []string {
	t.Helper()
	out := []string{"canary-of-the-pull-secret", "canary-of-the-proxy", base64.StdEncoding.EncodeToString([]byte("me:canary-of-the-pull-secret"))}
	keys, err := filepath.Glob(l.Asset("tls/*.key"))
	if err != nil || len(keys) < 10 {
		t.Fatalf("%d keys: %v", len(keys), err)
	}
	for _, file := range keys {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.Split(string(data), "\n")[1])
	}
	return out
}

// TestNoModeShowsASecret: neither the dry run nor a step that is shown holds the
// value of a secret, and neither does the log.
func TestNoModeShowsASecret(t *testing.T) {
	t.Parallel()
	good := Good(t, podman.Ordinary(t), labs.Local)
	l := NewLab(t, good.Env, Options{Edit: func(dir, text string) (string, error) {
		secret := `{"auths":{"quay.io":{"auth":"` + base64.StdEncoding.EncodeToString([]byte("me:canary-of-the-pull-secret")) + `"}}}`
		text += "pullSecret: pull-secret.json\nproxy: {httpProxy: \"http://me:canary-of-the-proxy@127.0.0.1:1\"}\n"
		text = strings.Replace(text, "\nproxy:\n", "\n", 1)
		return strings.Replace(text, "\npullSecret: \"\"\n", "\n", 1), os.WriteFile(filepath.Join(dir, "pull-secret.json"), []byte(secret), 0o600)
	}})
	if out, err := exec.Command("cp", "--archive", filepath.Join(good.Dir, "out", "work"), filepath.Join(l.Dir, "out")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	secrets := canaries(l, t)
	for _, s := range makingFiles(t) {
		said := l.Must(t, s.ScriptName(), "--dry-run").All + l.Must(t, s.ScriptName(), "--explain").All
		session := l.command(s.ScriptName(), "--force", "--step")
		session.Stdin = strings.NewReader(strings.Repeat("c\ns\n", 12))
		r := finish(t, session)
		r.Want(t, 1, "skipped: 1")
		log, err := os.ReadFile(l.Asset("/var/log/openshift/bootlab/" + s.ID + ".log"))
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range secrets {
			if strings.Contains(said+r.All+string(log), secret) {
				t.Errorf("%s shows %s", s.ID, secret)
			}
		}
		for _, marker := range l.markers(s) {
			if _, err := os.Stat(marker); err == nil {
				t.Errorf("%s was skipped, and is marked as done", s.ID)
			}
		}
	}
}

// TestTheEnvironmentChangesNothing: variables and closed descriptors of whoever
// calls a script neither break it nor print what it does.
func TestTheEnvironmentChangesNothing(t *testing.T) {
	t.Parallel()
	good := Good(t, podman.Ordinary(t), labs.Local).Clone(t)
	if err := os.WriteFile(good.Asset("openshift/.hidden.yaml"), []byte("kind: Hidden\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	good.Env.Own(t, good.Dir)
	good.Must(t, "copy-manifests.sh", "--force")
	want := good.Kinds(t)
	for name, shell := range map[string]string{
		"xtrace exported":    `export SHELLOPTS; set -x; exec "$0" --force 2>&1`,
		"noglob exported":    `export SHELLOPTS; set -f; exec "$0" --force`,
		"noclobber exported": `export SHELLOPTS; set -C; exec "$0" --force`,
		"options of shopt":   `export BASHOPTS; shopt -s nullglob failglob dotglob nocaseglob; exec "$0" --force`,
		"bash -x":            `exec bash -x "$0" --force`,
		"CDPATH":             `CDPATH=/tmp exec "$0" --force`,
		"closed stdin":       `exec "$0" --force <&-`,
		"closed stdout":      `exec "$0" --force >&-`,
		"closed stderr":      `exec "$0" --force 2>&-`,
		"all closed":         `exec "$0" --force <&- >&- 2>&-`,
		"a full stdout":      `exec "$0" --force > /dev/full`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := good.Clone(t)
			r := finish(t, l.Env.Command("bash", "-c", shell, filepath.Join(l.Scripts(), "copy-manifests.sh")))
			r.Want(t, 0)
			for _, word := range []string{"Bad file descriptor", "+ cp openshift", "+ [[ "} {
				if strings.Contains(r.All, word) {
					t.Errorf("it says %q:\n%s", word, r.All)
				}
			}
			allGood(t, l, stage(t, "copy-manifests"))
			want.Same(t, l.Kinds(t))
		})
	}
}

func TestNoVariableOpensTheLock(t *testing.T) {
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Clone(t)
	held := l.Env.Command("flock", l.Asset(lockName), "sleep", "600")
	if err := held.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { held.Process.Kill(); held.Wait() })
	until(t, "the lock", func() bool {
		return exec.Command("flock", "--nonblock", l.Asset(lockName), "true").Run() != nil
	})
	l.RunWith(t, []string{"BESIDE=1", "PARALLEL=yes"}, "copy-manifests.sh", "--force").Want(t, 1, "another stage script is running")
}

func TestAWorkDirectoryThatIsALinkIsRefused(t *testing.T) {
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Clone(t)
	work, elsewhere := filepath.Join(l.Dir, "out", "work"), filepath.Join(l.Dir, "elsewhere")
	if err := os.Rename(work, elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(elsewhere, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, work); err != nil {
		t.Fatal(err)
	}
	l.Run(t, "copy-manifests.sh", "--force").Want(t, 4, "is a symbolic link")
	if info, err := os.Stat(elsewhere); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v: a foreign directory was changed", info.Mode(), err)
	}
}

// TestAFullDiskIsNotTheFaultOfAnOwner: root runs a stage on a file system that is
// full.
func TestAFullDiskIsNotTheFaultOfAnOwner(t *testing.T) {
	t.Parallel()
	account := podman.Accounts(t)[0]
	if !account.Root() {
		t.Skip("only root can mount")
	}
	l := Good(t, account, labs.Local).Clone(t)
	r := finish(t, l.Env.Command("unshare", "--mount", "bash", "-c", `
		mount --make-rprivate / && cp --archive "$1" "$1.copy" && mount -t tmpfs -o size=8m tmpfs "$1" &&
		cp --archive "$1.copy/." "$1" && { cat /dev/zero > "$1/fill" 2> /dev/null || true; } && exec "$2" --force`,
		"bash", filepath.Join(l.Dir, "out", "work"), filepath.Join(l.Scripts(), "copy-manifests.sh")))
	if r.Status != 1 && r.Status != 4 || !strings.Contains(r.All, "space") {
		t.Errorf("status %d:\n%s", r.Status, r.All)
	}
}

// TestAForcedRenderOfMCOCopiesWhatTheFirstCopied: bootkube.sh copies manifests/
// before it adds the objects of this stage and of render-cco.
func TestAForcedRenderOfMCOCopiesWhatTheFirstCopied(t *testing.T) {
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Apart(t)
	names := func() string {
		entries, err := os.ReadDir(l.Asset("/etc/mcc/bootstrap"))
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, e := range entries {
			out = append(out, e.Name())
		}
		return strings.Join(out, "\n")
	}
	first := names()
	l.Must(t, "render-mco.sh", "--force")
	if again := names(); again != first {
		t.Errorf("first\n%s\nthen\n%s", first, again)
	}
}
