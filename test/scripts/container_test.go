package scripts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/test/podman"
)

// hold makes the render of a lab wait at a point until it is let go.
func (l *Lab) hold(t *testing.T, point string) (letGo func()) {
	t.Helper()
	file := l.Asset(".stand-in-hold-" + point)
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
	}
}

func (l *Lab) held(t *testing.T, point string) {
	t.Helper()
	until(t, "the hold of the render", func() bool {
		_, err := os.Stat(l.Asset(".stand-in-hold-" + point + ".reached"))
		return err == nil
	})
}

// rendering gives a lab of its own whose render-etcd.sh is held in its container.
func rendering(t *testing.T, account podman.Account, point string) (l *Lab, s *Session, letGo func()) {
	t.Helper()
	l = Good(t, account, labs.Local).Apart(t)
	letGo = l.hold(t, point)
	s = l.Start(t, "render-etcd.sh", "--force")
	l.held(t, point)
	return l, s, letGo
}

// complete: the etcd stage is done, and nothing of its container is left.
func complete(t *testing.T, l *Lab) {
	t.Helper()
	allGood(t, l, stage(t, "render-etcd"))
	if _, err := os.Stat(l.Asset("etcd-bootstrap.done")); err != nil {
		t.Error(err)
	}
	if left := l.Env.Containers(t); len(left) > 0 {
		t.Errorf("containers are left: %v", left)
	}
	if Last(l.Records(t), "etcd-bootstrap") != "success" {
		t.Error("no success is recorded")
	}
}

func TestAContainerWhosePodmanClientWasKilledIsWaitedForAndRenderedAgain(t *testing.T) {
	for _, point := range []string{"start", "middle", "end"} {
		t.Run(point, func(t *testing.T) {
			eachAccount(t, func(t *testing.T, account podman.Account) {
				l, s, letGo := rendering(t, account, point)
				if s.KillPodman(t) == 0 {
					t.Fatal("no podman client was running")
				}
				s.Wait(t).Want(t, 1)
				if Last(l.Records(t), "etcd-bootstrap") != "failure" {
					t.Error("no failure is recorded")
				}
				again := l.Start(t, "render-etcd.sh")
				until(t, "the wait", func() bool {
					return strings.Contains(again.said.String(), "waiting up to 600 s for container etcd-render")
				})
				letGo()
				again.Wait(t).Want(t, 0, "etcd-render")
				complete(t, l)
			})
		})
	}
}

func TestAContainerThatOutlivesItsKilledScriptIsWaitedFor(t *testing.T) {
	eachAccount(t, func(t *testing.T, account podman.Account) {
		l, s, letGo := rendering(t, account, "middle")
		s.Kill(t)
		again := l.Start(t, "render-etcd.sh")
		until(t, "the wait", func() bool {
			return strings.Contains(again.said.String(), "waiting up to 600 s for container etcd-render")
		})
		letGo()
		again.Wait(t).Want(t, 0)
		complete(t, l)
	})
}

func TestAContainerThatDiedMeanwhileIsReplaced(t *testing.T) {
	eachAccount(t, func(t *testing.T, account podman.Account) {
		l, s, letGo := rendering(t, account, "middle")
		s.KillPodman(t)
		s.Wait(t).Want(t, 1)
		if _, err := l.Env.Podman("kill", "etcd-render"); err != nil {
			t.Fatal(err)
		}
		letGo()
		l.Must(t, "render-etcd.sh")
		complete(t, l)
	})
}

func TestAContainerThatFailsWhileItIsWaitedForIsRunAgain(t *testing.T) {
	eachAccount(t, func(t *testing.T, account podman.Account) {
		l, s, letGo := rendering(t, account, "middle")
		s.Kill(t)
		again := l.Start(t, "render-etcd.sh")
		until(t, "the wait", func() bool {
			return strings.Contains(again.said.String(), "waiting up to 600 s for container etcd-render")
		})
		if _, err := l.Env.Podman("kill", "etcd-render"); err != nil {
			t.Fatal(err)
		}
		letGo()
		again.Wait(t).Want(t, 0)
		complete(t, l)
	})
}

func TestADeadContainerOfTheNameIsRemoved(t *testing.T) {
	eachAccount(t, func(t *testing.T, account podman.Account) {
		l := Good(t, account, labs.Local).Apart(t)
		_, err := l.Env.Podman("create", "--name", "etcd-render", "--volume", l.Assets()+":/assets:z",
			l.Release.Images["cluster-etcd-operator"], "/usr/bin/cluster-etcd-operator")
		if err != nil {
			t.Fatal(err)
		}
		l.Must(t, "render-etcd.sh", "--force")
		complete(t, l)
	})
}

func TestAContainerOfAnotherLabIsLeftAlone(t *testing.T) {
	eachAccount(t, func(t *testing.T, account podman.Account) {
		l, s, letGo := rendering(t, account, "middle")
		other := l.Clone(t)
		os.Remove(other.Asset(".stand-in-hold-middle"))
		other.Run(t, "render-etcd.sh", "--force").Want(t, 1, "etcd-render", l.Assets(), "another program's container")
		letGo()
		s.Wait(t).Want(t, 0)
		complete(t, l)
		other.Must(t, "render-etcd.sh")
		complete(t, other)
	})
}

func TestCtrlCInARenderLeavesNothingBehind(t *testing.T) {
	eachAccount(t, func(t *testing.T, account podman.Account) {
		l, s, letGo := rendering(t, account, "middle")
		s.Interrupt()
		s.Wait(t).Want(t, 1)
		letGo()
		if left := l.Env.Containers(t); len(left) > 0 {
			t.Errorf("containers are left: %v", left)
		}
		records := l.Records(t)
		if last := records[len(records)-1]; last.Result != "failure" || !strings.Contains(last.ErrorMessage, "interrupted") {
			t.Errorf("recorded %+v", last)
		}
		l.Must(t, "render-etcd.sh")
		complete(t, l)
	})
}

func TestAHalfRenderIsNotTakenForAWholeOne(t *testing.T) {
	eachAccount(t, func(t *testing.T, account podman.Account) {
		l, s, letGo := rendering(t, account, "middle")
		if _, err := l.Env.Podman("kill", "etcd-render"); err != nil {
			t.Fatal(err)
		}
		s.Wait(t).Want(t, 1)
		letGo()
		if _, err := os.Stat(l.Asset("etcd-bootstrap.done")); err == nil {
			t.Error("it is marked as done")
		}
		l.Must(t, "render-etcd.sh")
		complete(t, l)
	})
}

func TestTheContainerRunsAsBootkubeRunsIt(t *testing.T) {
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Apart(t)
	file := filepath.Join(l.Env.Dir, "tmp", "calls")
	l.Wrap(t, "podman", `{ printf ' %q' "$@"; echo; } >> `+file+`; exec "$REAL" "$@"`)
	l.Must(t, "render-etcd.sh", "--force")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var run string
	for _, line := range strings.Split(string(data), "\n") {
		if strings.HasPrefix(line, " run ") {
			run += line + "\n"
		}
	}
	if strings.Count(run, "\n") != 1 {
		t.Fatalf("podman run was called otherwise than once:\n%s", data)
	}
	for _, option := range []string{" --quiet ", " --net=host ", " --rm ", " --log-driver=k8s-file ", " --name etcd-render ", l.Assets() + ":/assets:z "} {
		if !strings.Contains(run, option) {
			t.Errorf("no %s in %s", option, run)
		}
	}
}
