package diagnose

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/labs/inspect/diagnose"
	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/watch"
	"bootlab/test/podman"
	"bootlab/test/registry"
	"bootlab/test/scripts"
	"bootlab/test/standin"
)

// here is this machine with the podman of a test.
type here struct {
	host.Local
	env *podman.Env
}

func (h here) Run(ctx context.Context, line string, limit int) (host.Result, error) {
	exports := ""
	for _, variable := range h.env.Environ() {
		exports += "export '" + strings.ReplaceAll(variable, "'", `'\''`) + "'\n"
	}
	return h.Local.Run(ctx, exports+line, limit)
}

// me is the account that the tests run as.
func me(t *testing.T) podman.Account {
	t.Helper()
	return podman.Accounts(t)[0]
}

// judged collects the evidence of a local run, as bootlab diagnose does.
func judged(t *testing.T, l *scripts.Lab) *diagnose.Report {
	t.Helper()
	return judgedAs(t, l, planOf(t, l))
}

func planOf(t *testing.T, l *scripts.Lab) *labs.Plan {
	t.Helper()
	lab, problems := labs.LoadLab(l.Dir, labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	plan, err := labs.Builtin().Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func judgedAs(t *testing.T, l *scripts.Lab, plan *labs.Plan) *diagnose.Report {
	t.Helper()
	lab := plan.Lab
	hosts := watch.Local(lab)
	hosts.Here = here{env: l.Env}
	d := labs.BuiltinDiagnosis().For(plan)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	report, err := diagnose.Walk(d, lab, true, hosts.Collect(ctx, lab, d.Evidence, nil))
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// wantCause wants one cause, by its id, and that it shows something.
func wantCause(t *testing.T, r *diagnose.Report, id string) {
	t.Helper()
	if r.Verdict != diagnose.Proven || r.Cause.ID != id {
		t.Fatalf("%s at %q: cause %+v, evidence %+v", r.Verdict, r.Layer, r.Cause, r.Evidence)
	}
	if len(r.Cause.Shown) == 0 || len(r.Cause.Shown[0].Lines) == 0 {
		t.Error("it shows nothing")
	}
}

// wantVerdict wants an end of the walk without a cause.
func wantVerdict(t *testing.T, r *diagnose.Report, verdict diagnose.Verdict, layer string) {
	t.Helper()
	if r.Verdict != verdict || r.Layer != layer {
		t.Fatalf("%s at %q: cause %+v, evidence %+v", r.Verdict, r.Layer, r.Cause, r.Evidence)
	}
}

// fresh is a lab that has pulled nothing, from a registry of its own.
func fresh(t *testing.T, edit func(dir, text string) (string, error)) (*scripts.Lab, *registry.Registry) {
	t.Helper()
	reg := registry.Start(t)
	r, err := standin.Push(reg, "4.21", standin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return scripts.NewLab(t, podman.New(t, me(t), reg), scripts.Options{Release: r, Edit: edit}), reg
}

// TestWhyTheReleaseImageDoesNotCome: podman really pulls, and the registry really
// refuses.
func TestWhyTheReleaseImageDoesNotCome(t *testing.T) {
	t.Parallel()
	l, reg := fresh(t, nil)
	wantVerdict(t, judged(t, l), diagnose.NotReached, "image")
	pull := func(want string) {
		t.Helper()
		if r := l.Run(t, "release-info.sh"); r.Status == 0 {
			t.Fatalf("it was pulled:\n%s", r.All)
		}
		wantCause(t, judged(t, l), want)
	}
	for _, c := range []struct {
		fault registry.Fault
		cause string
	}{
		{registry.Fault{Status: 401}, "pull-denied"},
		{registry.Fault{Status: 404}, "no-such-image"},
	} {
		reg.Break(l.Release.ReleaseRepository, c.fault)
		pull(c.cause)
	}
	reg.Fix()
	l.Must(t, "release-info.sh")
	wantVerdict(t, judged(t, l), diagnose.NotReached, "render")
	// What was pulled is not asked for again, so of a registry that is gone only
	// a lab learns that has nothing yet.
	if _, err := l.Env.Podman("rmi", "--all", "--force"); err != nil {
		t.Fatal(err)
	}
	reg.Close()
	if r := l.Run(t, "release-info.sh", "--force"); r.Status == 0 {
		t.Fatal("it was pulled")
	}
	wantCause(t, judged(t, l), "registry-unreachable")
}

func TestAPullSecretThatIsNotOneIsNamed(t *testing.T) {
	t.Parallel()
	l, _ := fresh(t, func(dir, text string) (string, error) {
		return text + "\npullSecret: pull-secret.json\n", os.WriteFile(filepath.Join(dir, "pull-secret.json"), []byte(`{"auths": {"127.0.0.1": {"auth": "eDp5"}}}`), 0o600)
	})
	// bootlab refuses a lab with such a file before it looks any further; the
	// script meets what happens to the file later.
	plan := planOf(t, l)
	file := filepath.Join(l.Dir, "pull-secret.json")
	if err := os.WriteFile(file, []byte(`{"auths": {`), 0o600); err != nil {
		t.Fatal(err)
	}
	l.Run(t, "release-info.sh")
	wantCause(t, judgedAs(t, l, plan), "pull-secret-broken")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	l.Run(t, "release-info.sh")
	wantCause(t, judgedAs(t, l, plan), "pull-secret-missing")
}

func TestARegistryWithACertificateOfItsOwnIsNamed(t *testing.T) {
	t.Parallel()
	reg := registry.StartTLS(t, "")
	r, err := standin.Push(reg, "4.21", standin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := scripts.NewLab(t, podman.New(t, me(t)), scripts.Options{Release: r})
	l.Run(t, "release-info.sh")
	wantCause(t, judged(t, l), "registry-untrusted")
}

// TestWhyTheStagesDoNotRender breaks a local run that has run to its end.
func TestWhyTheStagesDoNotRender(t *testing.T) {
	t.Parallel()
	good := scripts.Good(t, me(t), labs.Local)
	r := judged(t, good)
	wantVerdict(t, r, diagnose.Healthy, "")
	for _, c := range []struct {
		cause string
		fault func(t *testing.T, l *scripts.Lab)
	}{
		{"render-etcd/no-machine-network", func(t *testing.T, l *scripts.Lab) {
			l.Exec(t, "sed", "-i", "/machineNetwork:/,/cidr:/d", l.Asset("manifests/cluster-config.yaml"))
			l.Run(t, "render-etcd.sh", "--force")
		}},
		{"out-of-order", func(t *testing.T, l *scripts.Lab) { remove(t, l.Asset("api-bootstrap.done")) }},
		{"input-gone", func(t *testing.T, l *scripts.Lab) {
			remove(t, l.Asset("mco-bootstrap.done"))
			remove(t, l.Asset("tls/root-ca.crt"))
		}},
		{"name-taken", func(t *testing.T, l *scripts.Lab) {
			if _, err := l.Env.Podman("create", "--name", "etcd-render", l.Release.Image); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Env.Podman("rm", "--force", "etcd-render") })
			l.Run(t, "render-etcd.sh", "--force")
		}},
		{"killed", func(t *testing.T, l *scripts.Lab) {
			s := l.Start(t, "render-ingress.sh", "--force", "--step")
			s.Step(t)
			if r := judged(t, l); len(r.Warnings) != 1 || r.Warnings[0].ID != "running" {
				t.Errorf("while it is running: %s, warnings %+v", r.Verdict, r.Warnings)
			}
			s.KillGroup()
		}},
		{"disk-full", func(t *testing.T, l *scripts.Lab) { smallDisk(t, l.Assets()) }},
	} {
		t.Run(strings.ReplaceAll(c.cause, "/", " "), func(t *testing.T) {
			l := good.Clone(t)
			c.fault(t, l)
			wantCause(t, judged(t, l), c.cause)
		})
	}
}

func remove(t *testing.T, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

// smallDisk lays a file system of 4 MiB over a directory.
func smallDisk(t *testing.T, dir string) {
	t.Helper()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", dir).CombinedOutput(); err != nil {
		podman.Unavailable(t, "no small file system can be made: "+string(out))
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("%s: %s", dir, out)
		}
	})
}
