package scripts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/labs/sample"
	"bootlab/test/podman"
)

// killAt kills a script and all that it started before its step number k, from
// 0, and gives the step that it announced; false when it ends before.
func killAt(t *testing.T, l *Lab, k int, script string, args ...string) (command string, killed bool) {
	t.Helper()
	s := l.Start(t, script, append([]string{"--step"}, args...)...)
	for i := 0; ; i++ {
		command, more := s.Step(t)
		if !more {
			s.Wait(t).Want(t, 0)
			return "", false
		}
		if i == k {
			s.KillGroup()
			l.unlocked(t)
			return command, true
		}
		s.Enter()
	}
}

// alone is how the chain is asked for one stage. Stages that are not in it are
// done by their scripts.
func alone(t *testing.T, s *labs.Stage) (script string, args []string) {
	t.Helper()
	if slices.Contains(ids(chainStages(t, release, labs.Local)), s.ID) {
		return chain, []string{"--from=" + s.ID, "--until=" + s.ID}
	}
	return s.ScriptName(), nil
}

// unlocked: the lock is free a moment after a script was killed, when what it
// had started besides (a pipe that feeds a command) has ended too.
func (l *Lab) unlocked(t *testing.T) {
	t.Helper()
	for range 40 {
		if l.Env.Command("flock", "--nonblock", l.Asset(lockName), "true").Run() == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("the lock is still held")
}

// notDone: a killed stage is not taken for a finished one.
func notDone(t *testing.T, l *Lab, s *labs.Stage, command string) {
	t.Helper()
	for _, marker := range l.markers(s) {
		if _, err := os.Stat(marker); err == nil {
			t.Errorf("killed before %q it is marked as done", command)
		}
	}
}

// finishes: the next run completes the stage, and leaves nothing of the last.
func finishes(t *testing.T, l *Lab, s *labs.Stage, command string) {
	t.Helper()
	script, args := alone(t, s)
	l.Must(t, script, args...).Says(t, s.ID+" is done")
	if left := l.Env.Containers(t); len(left) > 0 {
		t.Errorf("containers are left: %v", left)
	}
	noHalfFiles(t, l)
	if t.Failed() {
		t.Fatalf("killed before %s", command)
	}
}

// keepsWhatIsThere: a stage of the lab's own goes on where it was, and makes
// dozens of files; bootkube's stages start over.
func keepsWhatIsThere(s *labs.Stage) bool { return s.Kind == "prepare" && len(s.Outputs) > 20 }

// TestAScriptKilledBeforeOneOfItsStepsCompletesLater is for scripts that
// start over: they are killed before each of their steps, and in the end
// everything is as an undisturbed run left it.
func TestAScriptKilledBeforeOneOfItsStepsCompletesLater(t *testing.T) {
	someScripts(t, 4, func(t *testing.T, good *Lab, s *labs.Stage) {
		l := good.Apart(t)
		if keepsWhatIsThere(s) {
			t.Skip("it is killed again and again on one way")
		}
		l.Undo(t, s)
		script, args := alone(t, s)
		l.Must(t, script, args...) // images are here from now on
		undisturbed := l.Kinds(t)
		var steps []int
		for range strings.Count(string(mustRead(t, filepath.Join(l.Scripts(), s.ScriptName()))), "\nif step ") {
			steps = append(steps, len(steps))
		}
		for _, k := range sample.Of(t, 2, steps) {
			l.Undo(t, s)
			command, killed := killAt(t, l, k, script, args...)
			if !killed {
				t.Fatalf("it has no step %d", k+1)
			}
			notDone(t, l, s, command)
			finishes(t, l, s, command)
			undisturbed.Same(t, l.Kinds(t))
			allGood(t, l, s)
			if t.Failed() {
				t.Fatalf("killed before %s", command)
			}
		}
	})
}

// changing are the programs that a stage changes files with.
var changing = []string{"cp", "mkdir", "mv", "rm", "rmdir", "touch"}

// killAtCall kills a script and all that it started before its call number k of
// the programs that change files, from 1; 0 kills nothing. It gives the calls.
func killAtCall(t *testing.T, l *Lab, k int, script string, args ...string) (calls []string) {
	t.Helper()
	file := filepath.Join(l.Env.Dir, "tmp", "changes")
	for _, program := range changing {
		l.Wrap(t, program, fmt.Sprintf(`echo "%[1]s $*" >> %[2]s
[ "$(wc -l < %[2]s)" != %[3]d ] || kill -KILL 0
exec "$REAL" "$@"`, program, file, k))
	}
	status := l.Start(t, script, args...).Wait(t).Status
	var errs []error
	for _, program := range changing {
		errs = append(errs, os.Remove(filepath.Join(l.Env.Bin, program)))
	}
	data, err := os.ReadFile(file)
	if err := errors.Join(append(errs, err, os.Remove(file))...); err != nil {
		t.Fatal(err)
	}
	if (status == 0) != (k == 0) {
		t.Fatalf("status %d at call %d", status, k)
	}
	l.unlocked(t)
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// TestAScriptKilledInOneOfItsStepsCompletesLater kills at the copies, renames and
// records of a script.
func TestAScriptKilledInOneOfItsStepsCompletesLater(t *testing.T) {
	someScripts(t, 4, func(t *testing.T, good *Lab, s *labs.Stage) {
		l := good.Apart(t)
		l.Undo(t, s)
		script, args := alone(t, s)
		all := killAtCall(t, l, 0, script, args...)
		undisturbed := l.Kinds(t)
		var moments []int
		for k := range all {
			moments = append(moments, k+1)
		}
		for _, k := range sample.Of(t, 2, moments) {
			l.Undo(t, s)
			calls := killAtCall(t, l, k, script, args...)
			finishes(t, l, s, calls[len(calls)-1])
			undisturbed.Same(t, l.Kinds(t))
			allGood(t, l, s)
			if t.Failed() {
				t.Fatalf("killed before %s", calls[len(calls)-1])
			}
		}
	})
}

// TestAScriptKilledAgainAndAgainCompletesInTheEnd is for scripts that keep what
// is there: every run gets a step further.
func TestAScriptKilledAgainAndAgainCompletesInTheEnd(t *testing.T) {
	eachScript(t, func(t *testing.T, good *Lab, s *labs.Stage) {
		if !keepsWhatIsThere(s) {
			t.Skip("it is killed before each of its steps")
		}
		l := good.Apart(t)
		l.Undo(t, s)
		script, args := alone(t, s)
		l.Must(t, script, args...)
		undisturbed := l.Kinds(t)
		l.Undo(t, s)
		for k := 1; k < 400; k++ {
			command, killed := killAt(t, l, k, script, args...)
			if !killed {
				break
			}
			notDone(t, l, s, command)
		}
		finishes(t, l, s, "some of its steps")
		undisturbed.Same(t, l.Kinds(t))
	})
}

// TestTheChainKilledAgainAndAgainCompletesInTheEnd: every run gets a few
// steps further, through all renders.
func TestTheChainKilledAgainAndAgainCompletesInTheEnd(t *testing.T) {
	sample.OnlyInAll(t, "TestTheChainKilledWithAContainerAtWorkCompletesLater and the two tests before it kill stages of the chain")
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Apart(t)
	undisturbed := l.Kinds(t)
	stages := chainStages(t, release, labs.Local)
	first := slices.IndexFunc(stages, func(s *labs.Stage) bool { return s.Bootkube != "" })
	for i := len(stages) - 1; i >= first; i-- {
		l.unmade(t, stages[i])
	}
	l.Env.Own(t, l.Dir)
	from := "--from=" + stages[first].ID
	for k := 4; k < 400; k += 1 + k/4 {
		if _, killed := killAt(t, l, k, chain, from); !killed {
			break
		}
	}
	l.Must(t, chain, from)
	undisturbed.Same(t, l.Kinds(t))
	noHalfFiles(t, l)
	wholeChainGood(t, l)
}

// TestTheChainKilledWithAContainerAtWorkCompletesLater takes a stage of each
// kind: one whose container writes beside its output, one whose directories only
// its user can open, one that fails where its directory is, and others.
func TestTheChainKilledWithAContainerAtWorkCompletesLater(t *testing.T) {
	t.Parallel()
	for id, point := range map[string]string{
		"render-api": "end", "render-cvo": "middle", "render-kube-apiserver": "start", "render-mco": "middle", "render-cco": "end",
	} {
		t.Run(id+" at the "+point, func(t *testing.T) {
			t.Parallel()
			l := Good(t, podman.Ordinary(t), labs.Local).Apart(t)
			s := stage(t, id)
			l.Must(t, s.ScriptName(), "--force")
			undisturbed := l.Kinds(t)
			l.Undo(t, s)
			letGo := l.hold(t, point)
			script, args := alone(t, s)
			session := l.Start(t, script, args...)
			l.held(t, point)
			session.KillGroup()
			letGo()
			notDone(t, l, s, "the end of its container")
			finishes(t, l, s, "the end of its container")
			undisturbed.Same(t, l.Kinds(t))
			allGood(t, l, s)
		})
	}
}

// noHalfFiles: no temporary name is left.
func noHalfFiles(t *testing.T, l *Lab) {
	t.Helper()
	for path := range l.Snapshot(t) {
		if strings.HasSuffix(path, ".tmp") || strings.HasSuffix(path, ".bootlab") || strings.HasSuffix(path, ".torn") ||
			filepath.Base(filepath.Dir(path)) == ".new" || strings.HasPrefix(filepath.Base(path), ".") && strings.HasSuffix(path, "-pod.yaml") {
			t.Errorf("left behind: %s", path)
		}
	}
}

func TestCtrlCBetweenStepsIsRecordedAndFixed(t *testing.T) {
	someScripts(t, 4, func(t *testing.T, good *Lab, s *labs.Stage) {
		l := good.Apart(t)
		session := l.Start(t, s.ScriptName(), "--force", "--step")
		if _, more := session.Step(t); !more {
			t.Fatal("it shows no step")
		}
		session.Interrupt()
		session.Wait(t).Want(t, 1)
		if Last(l.Records(t), s.RecordName()) != "failure" {
			t.Error("no failure is recorded")
		}
		l.Must(t, s.ScriptName())
		allGood(t, l, s)
	})
}

func TestASecondScriptIsExcludedWhileOneIsAtWork(t *testing.T) {
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Apart(t)
	first := l.Start(t, "render-etcd.sh", "--force", "--step")
	if _, more := first.Step(t); !more {
		t.Fatal("it shows no step")
	}
	for _, s := range Stages(t, release, labs.Local) {
		l.Run(t, s.ScriptName(), "--force").Want(t, 1, "another stage script is running")
	}
	first.Kill(t)
	l.Must(t, "render-etcd.sh")
	complete(t, l)
}

func TestTheLockIsFreeAfterAContainerOutlivedItsScript(t *testing.T) {
	t.Parallel()
	l, s, letGo := rendering(t, podman.Ordinary(t), "middle")
	s.KillPodman(t)
	s.Wait(t).Want(t, 1)
	l.Must(t, "copy-manifests.sh", "--force")
	letGo()
	l.Must(t, "render-etcd.sh")
	complete(t, l)
}

// TestARecordThatCannotBeWrittenIsNamed: a full disk is said to be one.
func TestARecordThatCannotBeWrittenIsNamed(t *testing.T) {
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Clone(t)
	file := l.Asset("/var/log/openshift/bootkube.json")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", file); err != nil {
		t.Fatal(err)
	}
	l.Run(t, "copy-manifests.sh", "--force").Want(t, 1, "cannot write "+file, "hint: check the space on its disk", "  log: ")
}

func TestATornRecordIsSetAside(t *testing.T) {
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Clone(t)
	file := l.Asset("/var/log/openshift/bootkube.json")
	if err := os.WriteFile(file, []byte(`[{"timestamp":"2026`), 0o644); err != nil {
		t.Fatal(err)
	}
	l.Env.Own(t, l.Dir)
	l.Must(t, "copy-manifests.sh", "--force")
	l.Records(t)
}
