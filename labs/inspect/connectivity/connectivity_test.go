package connectivity

import (
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
)

// told is a machine that says what a test wants: signs, and for every port the
// same state.
type told struct {
	signs, state string
	err          error
}

func (told) Name() string { return "told" }

func (h told) Run(_ context.Context, line string, _ int) (host.Result, error) {
	if h.err != nil {
		return host.Result{}, h.err
	}
	_, list, asked := strings.Cut(line, "done <<'END'\n")
	if !asked {
		return host.Result{Out: []byte(h.signs + "always\n")}, nil
	}
	var out strings.Builder
	for one := range strings.Lines(strings.TrimSuffix(list, probeTail)) {
		out.WriteString(strings.Fields(one)[0] + " " + h.state + "\n")
	}
	return host.Result{Out: []byte("garbage\n99999 open\n" + out.String())}, nil
}

func (told) ReadFile(context.Context, string, int) ([]byte, error) { return nil, fs.ErrNotExist }
func (told) List(context.Context, string) ([]string, error)        { return nil, fs.ErrNotExist }

func plan(t *testing.T) *labs.Plan {
	t.Helper()
	lab, problems := labs.LoadLabFS(labs.Examples, "compact", labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	p, err := labs.Builtin().Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// places are machines of which only the bootstrap node and one master answer.
func hosts(p *labs.Plan, bootstrap, master told) *host.Hosts {
	m := p.Lab.Machines
	return &host.Hosts{Here: told{state: "refused"}, Bootstrap: bootstrap, Masters: map[string]host.Host{
		m.Masters[0].Name: master, m.Masters[1].Name: told{err: host.ErrUnreachable}, m.Masters[2].Name: told{err: errors.New("no answer in time")},
	}}
}

func TestWhatRunsOnAMachineSaysWhatHasToBeOpen(t *testing.T) {
	p := plan(t)
	for _, c := range []struct {
		name, bootstrap, master string
		broken                  []string // from, to and port
	}{
		{name: "nothing runs"},
		{name: "etcd on the bootstrap node", bootstrap: "pod etcd-member-pod.yaml\n", broken: []string{"bootstrap bootstrap 2379", "bootstrap bootstrap 9978", "master-0 bootstrap 2379", "master-0 bootstrap 2380"}},
		{name: "the same when it is done", bootstrap: "pod etcd-member-pod.yaml\ndone\n"},
		{name: "the API on a master", master: "pod kube-apiserver-pod.yaml\n",
			broken: []string{"bootstrap load balancer 6443", "bootstrap master-0 6443", "master-0 load balancer 6443", "master-0 master-0 6080", "workstation load balancer 6443", "workstation master-0 6443"}},
		{name: "configurations on the bootstrap node", bootstrap: "container machine-config-server\n",
			broken: []string{"bootstrap bootstrap 22623", "bootstrap bootstrap 22624", "bootstrap load balancer 22623", "master-0 load balancer 22623", "workstation bootstrap 22623", "workstation load balancer 22623"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Ask(context.Background(), p, hosts(p, told{signs: c.bootstrap, state: "refused"}, told{signs: c.master, state: "refused"}), "")
			got := map[string]bool{}
			for _, b := range r.Broken() {
				if b.Port != "22" { // SSH is refused in all of them
					got[b.From+" "+b.To+" "+b.Port] = true
				}
			}
			for _, want := range c.broken {
				if !got[want] {
					t.Errorf("%s is not broken", want)
				}
				delete(got, want)
			}
			for rest := range got {
				t.Errorf("%s is broken", rest)
			}
			if len(r.Unreached) != 2 {
				t.Errorf("not reached: %v", r.Unreached)
			}
		})
	}
}

func TestOneMachineAloneIsAsked(t *testing.T) {
	p := plan(t)
	r := Ask(context.Background(), p, hosts(p, told{state: "open"}, told{state: "open"}), "master-0")
	if len(r.Paths) == 0 {
		t.Fatal("nothing was asked")
	}
	for _, path := range r.Paths {
		if path.From != "master-0" || path.State != Open {
			t.Errorf("%+v", *path)
		}
	}
}

// What an unknown master asks is not known, and nothing is broken by that.
func TestAMachineThatCannotBeAskedBreaksNothing(t *testing.T) {
	p := plan(t)
	r := Ask(context.Background(), p, hosts(p, told{signs: "pod etcd-member-pod.yaml\n", state: "open"}, told{err: host.ErrUnreachable}), "")
	for _, path := range r.Paths {
		if strings.HasPrefix(path.From, "master") && (path.State != NotAsked || path.Broken()) {
			t.Errorf("%+v", *path)
		}
	}
}

func TestTheLinesAreCleanShell(t *testing.T) {
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip(err)
	}
	settings := (&host.Hosts{}).Preamble(plan(t).Lab)
	for name, line := range map[string]string{"look": lookLine, "probe": probeHead + "0 localhost 1 yes\n" + probeTail} {
		cmd := exec.Command(shellcheck, "--shell=bash", "--exclude=SC2034", "-")
		cmd.Stdin = strings.NewReader(settings + line)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
