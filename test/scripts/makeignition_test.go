package scripts

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"bootlab/labs"
	"bootlab/standin/role"
	"bootlab/test/ignition"
	"bootlab/test/podman"
	"bootlab/test/standin"
)

// someRelease is a release image that is never asked for.
const someRelease = "quay.io/example/release@sha256:0000000000000000000000000000000000000000000000000000000000000000"

// ignitionLab gives a workstation with what release-info.sh and get-tools.sh
// leave there.
func ignitionLab(t *testing.T, id string, options Options) *Lab {
	t.Helper()
	options.Place, options.Release = labs.Workstation, &standin.Release{ID: id, Image: someRelease}
	l := NewLab(t, podman.New(t, podman.Accounts(t)[0]), options)
	l.put(t, "release-info/digest", someRelease+"\n")
	l.installer(t, "")
	return l
}

// installer puts the stand-in for openshift-install in place, with a fault.
func (l *Lab) installer(t *testing.T, fault string) {
	t.Helper()
	program, err := standin.Installer(role.Installer{Release: l.Release.ID, Version: "4.99.0", Image: "registry.example.test/built-in:1", Fault: fault})
	if err != nil {
		t.Fatal(err)
	}
	l.put(t, "tools/openshift-install", string(program))
	if err := os.Chmod(l.Asset("tools/openshift-install"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := l.Env.OwnTree(l.Dir); err != nil {
		t.Fatal(err)
	}
}

func ignitionStage(t *testing.T) *labs.Stage {
	t.Helper()
	return planOf(t, release, usualLab).Stage("make-ignition")
}

// content reads an asset.
func (l *Lab) content(t *testing.T, asset string) string {
	t.Helper()
	data, err := os.ReadFile(l.Asset(asset))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// withinADay: a fast machine looks within the first second of the day.
var withinADay = regexp.MustCompile(`\.crt ends first, in 2[34] hours`)

func TestIgnitionConfigsAreMadeAndMerged(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"4.14", release, "main"} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			l := ignitionLab(t, id, Options{})
			r := l.Must(t, "make-ignition.sh")
			r.Says(t, "make-ignition is done", "Consuming Install Config")
			if !withinADay.MatchString(r.All) {
				t.Errorf("it does not say how long the certificates live:\n%s", r.All)
			}
			allGood(t, l, ignitionStage(t))
			c, err := ignition.Read([]byte(l.content(t, "ignition/bootstrap.ign")))
			if err != nil {
				t.Fatal(err)
			}
			units := 0
			for _, u := range c.Systemd.Units {
				if u.Contents == nil || len(u.Dropins) != 1 {
					t.Errorf("%s: %d drop-ins", u.Name, len(u.Dropins))
				}
				units++
			}
			if units != 3 {
				t.Errorf("%d units", units)
			}
			for _, role := range []string{"master", "worker"} {
				if l.content(t, "ignition/"+role+".ign") != l.content(t, "install/"+role+".ign") {
					t.Errorf("%s.ign was changed", role)
				}
			}
			if left, _ := filepath.Glob(l.Asset("ignition/*")); len(left) != 4 {
				t.Errorf("ignition/ holds %v", left)
			}
			if strings.Contains(r.All, "BEGIN") || strings.Contains(r.All, "auths") {
				t.Errorf("a secret is shown:\n%s", r.All)
			}
			l.noGroupCanRead(t, "install", "ignition")
		})
	}
}

// noGroupCanRead: only the owner can read anything below.
func (l *Lab) noGroupCanRead(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		err := filepath.Walk(l.Asset(dir), func(path string, info os.FileInfo, err error) error {
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %o", path, info.Mode().Perm())
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestInstallConfigIsTheOneOfMakeManifests(t *testing.T) {
	t.Parallel()
	for _, kind := range kindNames() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := ignitionLab(t, release, Options{From: kind, Edit: withPullSecret})
			l.Must(t, "make-ignition.sh")
			text := l.content(t, "install/install-config.kept.yaml")
			var config map[string]any
			if err := yaml.Unmarshal([]byte(text), &config); err != nil {
				t.Fatal(err)
			}
			var secret map[string]any
			if err := json.Unmarshal([]byte(config["pullSecret"].(string)), &secret); err != nil || secret["auths"] == nil {
				t.Errorf("pull secret %v: %v", config["pullSecret"], err)
			}
			if kind != usualLab {
				return
			}
			l.Must(t, "make-pki.sh")
			l.Must(t, "make-kubeconfigs.sh")
			l.Must(t, "make-manifests.sh")
			if l.content(t, "install-config.yaml") != text {
				t.Error("make-manifests.sh writes another one")
			}
		})
	}
}

func TestMakingIgnitionTwiceKeepsTheKeys(t *testing.T) {
	t.Parallel()
	l := ignitionLab(t, release, Options{})
	l.Must(t, "make-ignition.sh")
	before := l.Snapshot(t)
	l.Must(t, "make-ignition.sh").Says(t, "make-ignition is done already")
	before.Same(t, l.Snapshot(t))

	// Other scripts: a new overlay, the same keys.
	keys, was := l.content(t, "install/bootstrap.ign"), l.content(t, "ignition/bootstrap.ign")
	file := filepath.Join(l.Dir, "out", "ignition", "overlay.ign")
	overlay, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(overlay, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	l.Run(t, "make-ignition.sh", "--verify").Want(t, 3, "not ok 3 - overlay")
	l.Must(t, "make-ignition.sh").Says(t, "only ignition/ is made again")
	allGood(t, l, ignitionStage(t))
	if l.content(t, "install/bootstrap.ign") != keys || l.content(t, "ignition/bootstrap.ign") == was {
		t.Error("the keys are others, or the overlay is the old one")
	}
}

func TestForceMakesNewKeysAndKeepsTheOld(t *testing.T) {
	t.Parallel()
	l := ignitionLab(t, release, Options{})
	l.Must(t, "make-ignition.sh")
	first := l.content(t, "install/bootstrap.ign")
	l.Must(t, "make-ignition.sh", "--force").Says(t, "install.old-1/auth/kubeconfig")
	second := l.content(t, "install/bootstrap.ign")
	if first == second || l.content(t, "install.old-1/bootstrap.ign") != first {
		t.Error("the old keys are not kept beside new ones")
	}
	l.Must(t, "make-ignition.sh", "--force").Says(t, "install.old-2/auth/kubeconfig")
	if l.content(t, "install.old-1/bootstrap.ign") != first || l.content(t, "install.old-2/bootstrap.ign") != second {
		t.Error("keys are lost")
	}
	allGood(t, l, ignitionStage(t))
}

func TestAnotherLabIsRefusedAndTheKeysStay(t *testing.T) {
	t.Parallel()
	l := ignitionLab(t, release, Options{})
	l.Must(t, "make-ignition.sh")
	keys := l.content(t, "install/bootstrap.ign")
	file := filepath.Join(l.Dir, "lab.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Replace(text, []byte("bootlab.test"), []byte("other.test"), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Bootlab("generate", l.Dir); err != nil {
		t.Fatal(err)
	}
	l.Run(t, "make-ignition.sh").Want(t, 1, "was made from another install-config.yaml", "--force", "cause:")
	l.Run(t, "make-ignition.sh", "--verify").Want(t, 3, "not ok 6 - api-name")
	if l.content(t, "install/bootstrap.ign") != keys {
		t.Error("the keys are others")
	}
	l.Must(t, "make-ignition.sh", "--force")
	allGood(t, l, ignitionStage(t))
}

func TestARunThatWasKilledIsBegunAgain(t *testing.T) {
	t.Parallel()
	l := ignitionLab(t, release, Options{})
	l.installer(t, "killed")
	l.Run(t, "make-ignition.sh").Want(t, 1, "openshift-install made no configs")
	if _, err := os.Stat(l.Asset("install")); err == nil {
		t.Error("half a directory has the name of a whole one")
	}
	l.installer(t, "")
	l.Must(t, "make-ignition.sh")
	allGood(t, l, ignitionStage(t))
	if _, err := os.Stat(l.Asset("install.making")); err == nil {
		t.Error("what was half made is left")
	}

	// Killed before each step: the keys stay.
	keys := l.content(t, "install/bootstrap.ign")
	for at := range 3 {
		if err := os.Remove(l.Asset("make-ignition.done")); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(l.Asset("ignition")); err != nil {
			t.Fatal(err)
		}
		session := l.Start(t, "make-ignition.sh", "--step")
		for i := range at + 1 {
			if _, more := session.Step(t); !more {
				t.Fatalf("it has %d steps", i)
			}
			if i < at {
				session.Enter()
			}
		}
		session.Kill(t)
		l.unlocked(t)
		l.Must(t, "make-ignition.sh")
		allGood(t, l, ignitionStage(t))
	}
	if l.content(t, "install/bootstrap.ign") != keys {
		t.Error("the keys are others")
	}
}

func TestWhatTheInstallerDoesWronglyIsSeen(t *testing.T) {
	t.Parallel()
	for fault, failing := range map[string][]string{
		"other-ca": {"root-ca"}, "newer-spec": {"version"}, "ignore-image": {"release"}, "large": {"size"},
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			l := ignitionLab(t, release, Options{})
			l.installer(t, fault)
			l.Run(t, "make-ignition.sh").Want(t, 3, "a check failed")
			points, _ := verified(t, l, ignitionStage(t))
			if got := Failed(points); !slices.Equal(got, failing) {
				t.Errorf("failed are %v", got)
			}
		})
	}
	t.Run("expired", func(t *testing.T) {
		t.Parallel()
		l := ignitionLab(t, release, Options{})
		l.installer(t, "expired")
		l.Run(t, "make-ignition.sh").Want(t, 3, "ends first, in")
		l.installer(t, "")
		// The keys may be those of a running cluster: nothing goes without a word.
		l.Run(t, "make-ignition.sh").Want(t, 1, "the certificates of install/ have expired", "If a cluster runs with them, this is fine")
		l.Must(t, "make-ignition.sh", "--force")
		allGood(t, l, ignitionStage(t))
	})
}

func TestTheInstallersRefusalIsTold(t *testing.T) {
	t.Parallel()
	l := ignitionLab(t, release, Options{})
	// The generated script itself is changed: no lab.yaml passes that would do.
	file := filepath.Join(l.Scripts(), "make-ignition.sh")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(text), "SERVICE_NETWORK='172.30.0.0/16'", "SERVICE_NETWORK='172.30.0.1/16'", 1)
	if edited == string(text) {
		t.Fatal("nothing to edit")
	}
	if err := os.WriteFile(file, []byte(edited), 0o755); err != nil {
		t.Fatal(err)
	}
	l.Run(t, "make-ignition.sh").Want(t, 1, "invalid network address", "cause: openshift-install rejects a value in install-config.yaml.")
	edited = strings.Replace(string(text), "publish: External", "publish: External\npublisch: External", 1)
	if err := os.WriteFile(file, []byte(edited), 0o755); err != nil {
		t.Fatal(err)
	}
	l.Run(t, "make-ignition.sh").Want(t, 3, "unknown field", "a check failed")
}

func TestMakingIgnitionNeedsItsInputs(t *testing.T) {
	t.Parallel()
	for input, says := range map[string]string{
		"tools/openshift-install": "run get-tools.sh first", "release-info/digest": "run release-info.sh first",
		"../../ignition/overlay.ign": "bootlab generate",
	} {
		t.Run(filepath.Base(input), func(t *testing.T) {
			t.Parallel()
			l := ignitionLab(t, release, Options{})
			if err := os.Remove(filepath.Join(l.Assets(), input)); err != nil {
				t.Fatal(err)
			}
			l.Run(t, "make-ignition.sh").Want(t, 4, says)
		})
	}
	l := ignitionLab(t, release, Options{})
	before := l.Snapshot(t)
	l.Run(t, "make-ignition.sh", "--help").Want(t, 0, append(modes, "Usage: make-ignition.sh [OPTION]")...)
	if said := words(l.Run(t, "make-ignition.sh", "--explain").Out); !strings.Contains(said, words(ignitionStage(t).Why)) {
		t.Errorf("--explain says %s", said)
	}
	if shown := l.Run(t, "make-ignition.sh", "--dry-run").Out; strings.Count(shown, "\n{ # ") != 3 || !strings.Contains(shown, "create ignition-configs") {
		t.Errorf("--dry-run shows\n%s", shown)
	}
	before.Same(t, l.Snapshot(t))
}

func TestEveryCheckOfIgnitionFailsOnItsFixture(t *testing.T) {
	t.Parallel()
	good := ignitionLab(t, release, Options{})
	good.Must(t, "make-ignition.sh")
	s := ignitionStage(t)
	all := fixtures(t, s.ID)
	for _, c := range s.Checks {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			breaks(t, good.Clone(t), s, c.ID, all[c.ID])
		})
	}
}

// TestForceThatFailsLeavesTheOldKeysInPlace: they may be those of a cluster at
// work, and without them the next run would make another's.
func TestForceThatFailsLeavesTheOldKeysInPlace(t *testing.T) {
	t.Parallel()
	l := ignitionLab(t, release, Options{})
	l.Must(t, "make-ignition.sh")
	keys := l.content(t, "install/bootstrap.ign")
	l.installer(t, "killed")
	l.Run(t, "make-ignition.sh", "--force").Want(t, 1, "openshift-install made no configs")
	if !l.has("install/bootstrap.ign") || l.content(t, "install/bootstrap.ign") != keys || l.has("install.old-1") {
		t.Fatal("the old keys are not where they were")
	}
	l.installer(t, "")
	l.Must(t, "make-ignition.sh").Says(t, "install/ is there, and so are its keys")

	// Killed between the two renames: the new keys are whole, and go on.
	once := filepath.Join(l.Env.Dir, "killed")
	l.Wrap(t, "mv", `if [ "$*" = "install.whole install" ] && [ ! -e `+once+` ]; then touch `+once+`; kill -9 $PPID; exit 1; fi
exec "$REAL" "$@"`)
	if r := l.Run(t, "make-ignition.sh", "--force"); r.Status == 0 {
		t.Fatalf("it was not killed:\n%s", r.All)
	}
	l.unlocked(t)
	if l.has("install") || l.content(t, "install.old-1/bootstrap.ign") != keys {
		t.Fatal("this is not between the two renames")
	}
	made := l.content(t, "install.whole/bootstrap.ign")
	l.Must(t, "make-ignition.sh")
	if l.content(t, "install/bootstrap.ign") != made || made == keys || l.has("install.whole") || l.has("install.old-2") {
		t.Error("a third cluster's keys are made")
	}
	allGood(t, l, ignitionStage(t))
}
