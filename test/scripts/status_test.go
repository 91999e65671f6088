package scripts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/test/podman"
)

func TestAnUnknownOptionIsWrongUsage(t *testing.T) {
	unchanged(t, func(t *testing.T, l *Lab, s *labs.Stage) {
		for _, option := range []string{"--frobnicate", "-x", "word", ""} {
			l.Run(t, s.ScriptName(), option).Want(t, 2, "--help")
		}
	})
}

func TestAMissingCommandIsNamedWithItsPackage(t *testing.T) {
	unchanged(t, func(t *testing.T, l *Lab, s *labs.Stage) {
		for _, need := range append(s.Needs, "flock") {
			if need == "crictl" {
				continue // pods run on the node only
			}
			r := l.RunWith(t, []string{l.PathWithout(t, need)}, s.ScriptName(), "--force")
			r.Want(t, 4, need+" is missing", "install the package")
		}
	})
}

func TestAMissingInputIsNamedWithTheScriptThatMakesIt(t *testing.T) {
	eachScript(t, func(t *testing.T, good *Lab, s *labs.Stage) {
		l := good.Clone(t)
		for _, in := range s.Reads {
			if in.Optional || strings.ContainsAny(in.Path, "*$") {
				continue
			}
			file, away := l.Asset(strings.TrimSuffix(in.Path, "/")), filepath.Join(l.Dir, "away")
			if err := os.Rename(file, away); err != nil {
				t.Fatal(err)
			}
			r := l.Run(t, s.ScriptName())
			if err := os.Rename(away, file); err != nil {
				t.Fatal(err)
			}
			r.Want(t, 4, in.Path)
			if in.From == "" && !strings.Contains(r.All, ".sh") {
				t.Errorf("no script is named for %s:\n%s", in.Path, r.All)
			}
		}
	})
}

func TestADirectoryThatCannotBeWrittenIsOneClearError(t *testing.T) {
	unchanged(t, func(t *testing.T, l *Lab, s *labs.Stage) {
		if err := os.Chmod(l.Assets(), 0o555); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(l.Assets(), 0o700)
		r := l.Run(t, s.ScriptName(), "--force")
		r.Want(t, 4, "cannot write to")
		if n := strings.Count(r.All, "error:"); n != 1 {
			t.Errorf("%d errors:\n%s", n, r.All)
		}
	})
}

func TestAReadOnlyMountIsOneClearErrorForRoot(t *testing.T) {
	t.Parallel()
	account := podman.Accounts(t)[0]
	if !account.Root() {
		t.Skip("only root can mount")
	}
	l := Good(t, account, labs.Local).Clone(t)
	for _, s := range Stages(t, release, labs.Local) {
		cmd := l.Env.Command("unshare", "--mount", "bash", "-c",
			`mount --make-rprivate / && mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec "$2" --force`,
			"bash", l.Assets(), filepath.Join(l.Scripts(), s.ScriptName()))
		finish(t, cmd).Want(t, 4, "cannot write to")
	}
}

func TestALabBelowAColonIsRefusedBeforePodmanMisreadsIt(t *testing.T) {
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Clone(t)
	renamed := filepath.Join(filepath.Dir(l.Dir), "my:lab")
	if err := os.Rename(l.Dir, renamed); err != nil {
		t.Fatal(err)
	}
	l.Dir = renamed
	l.Run(t, "render-etcd.sh", "--force").Want(t, 4, "colon")
}

func TestALabBelowSpacesAndQuotesWorks(t *testing.T) {
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Apart(t)
	renamed := filepath.Join(filepath.Dir(l.Dir), `my lab's "$(touch x)" ünïcode`)
	if err := os.Rename(l.Dir, renamed); err != nil {
		t.Fatal(err)
	}
	l.Dir = renamed
	for _, id := range []string{"make-manifests", "render-etcd"} {
		l.Must(t, id+".sh", "--force")
		allGood(t, l, stage(t, id))
	}
	if _, err := os.Stat(l.Asset("x")); err == nil {
		t.Error("the path was run")
	}
}

func TestScriptsRunFromAnywhereAndThroughALink(t *testing.T) {
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Clone(t)
	cmd := l.command("render-etcd.sh", "--verify")
	cmd.Dir = "/"
	finish(t, cmd).Want(t, 0)
	cmd = l.command("render-etcd.sh", "--verify")
	cmd.Dir = l.Scripts()
	cmd.Path, cmd.Args[0] = "./render-etcd.sh", "./render-etcd.sh"
	finish(t, cmd).Want(t, 0)
}
