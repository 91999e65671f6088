package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/labs"
)

// toldHost is a host that answers as a test says, and counts the lines.
type toldHost struct {
	name  string
	lines []string
	run   func(ctx context.Context, line string) (Result, error)
}

func (h *toldHost) Name() string { return h.name }

func (h *toldHost) Run(ctx context.Context, line string, _ int) (Result, error) {
	h.lines = append(h.lines, line)
	return h.run(ctx, line)
}

func (h *toldHost) ReadFile(context.Context, string, int) ([]byte, error) { return nil, fs.ErrNotExist }
func (h *toldHost) List(context.Context, string) ([]string, error)        { return nil, fs.ErrNotExist }

func hangs(ctx context.Context, _ string) (Result, error) {
	<-ctx.Done()
	return Result{}, fmt.Errorf("no answer in time: %w", ctx.Err())
}

func says(text string) func(context.Context, string) (Result, error) {
	return func(context.Context, string) (Result, error) { return Result{Out: []byte(text)}, nil }
}

func pieces(on string, ids ...string) []*labs.Evidence {
	var all []*labs.Evidence
	for _, id := range ids {
		all = append(all, &labs.Evidence{ID: id, On: on, Run: "echo " + id, Limit: 1, Seconds: 1})
	}
	return all
}

// Two questions without an answer are enough: the next ones would cost their time
// as well, and a hanging node would hold up all of it.
func TestAMachineThatHangsIsGivenUp(t *testing.T) {
	h := &toldHost{name: "bootstrap", run: hangs}
	p := &Hosts{Bootstrap: h}
	found := p.Collect(context.Background(), &labs.Lab{}, pieces(labs.OnBootstrap, "a", "b", "c", "d"), nil)
	if len(h.lines) != 2 || len(found) != 4 {
		t.Fatalf("it was asked %d times, and %d things were found", len(h.lines), len(found))
	}
	for _, f := range found {
		if f.Had || !strings.Contains(f.Problem, "no answer in time") {
			t.Errorf("%s: had %v, %q", f.Evidence.ID, f.Had, f.Problem)
		}
	}
}

// One slow thing between others is only that.
func TestOneSlowLineIsNotAHangingMachine(t *testing.T) {
	h := &toldHost{name: "bootstrap"}
	h.run = func(ctx context.Context, line string) (Result, error) {
		if strings.HasSuffix(line, "echo b") || strings.HasSuffix(line, "echo d") {
			return hangs(ctx, line)
		}
		return Result{Out: []byte("fine")}, nil
	}
	found := (&Hosts{Bootstrap: h}).Collect(context.Background(), &labs.Lab{}, pieces(labs.OnBootstrap, "a", "b", "c", "d", "e"), nil)
	had := ""
	for _, f := range found {
		if f.Had {
			had += f.Evidence.ID
		}
	}
	if had != "ace" {
		t.Errorf("had %q, want a, c and e", had)
	}
}

func TestAMachineThatCannotBeReachedIsAskedOnce(t *testing.T) {
	h := &toldHost{name: "master-0", run: func(context.Context, string) (Result, error) {
		return Result{}, fmt.Errorf("%w: no route to host", ErrUnreachable)
	}}
	well := &toldHost{name: "master-1", run: says("fine")}
	p := &Hosts{Masters: map[string]Host{"master-0": h, "master-1": well}}
	found := p.Collect(context.Background(), &labs.Lab{}, pieces(labs.OnMasters, "a", "b"), nil)
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprintf("%s %s %v", f.Evidence.ID, f.Node, f.Had))
	}
	if want := "a master-0 false, a master-1 true, b master-0 false, b master-1 true"; strings.Join(got, ", ") != want || len(h.lines) != 1 {
		t.Errorf("asked %d times: %v, want %s", len(h.lines), got, want)
	}
}

// The API is asked on the bootstrap node as long as there is one, then from here.
func TestTheClusterIsAskedWhereItCanBe(t *testing.T) {
	gone := func(context.Context, string) (Result, error) { return Result{}, ErrUnreachable }
	for _, c := range []struct {
		name      string
		bootstrap func(context.Context, string) (Result, error)
		config    string
		want      string
	}{
		{"on the node", says("node"), "/lab/kubeconfig", "node"},
		{"from here", gone, "/lab/kubeconfig", "here"},
		{"nowhere", gone, "", ""},
	} {
		here := &toldHost{name: "this machine", run: says("here")}
		p := &Hosts{Here: here, Bootstrap: &toldHost{name: "bootstrap", run: c.bootstrap}, Kubeconfig: c.config, OC: "/lab/it's/oc"}
		found := p.Collect(context.Background(), &labs.Lab{}, pieces(labs.OnCluster, "nodes"), nil)
		if len(found) != 1 || string(found[0].Text) != c.want || found[0].Had != (c.want != "") {
			t.Errorf("%s: %+v", c.name, found)
		}
		if c.want == "here" && !strings.Contains(here.lines[0], `'/lab/it'\''s/oc' --kubeconfig='/lab/kubeconfig'`) {
			t.Errorf("%s: oc is not quoted in\n%s", c.name, here.lines[0])
		}
	}
}

// Whatever stands in lab.yaml or in a path, to the shell it is a word.
func TestSettingsAreQuoted(t *testing.T) {
	dir := t.TempDir()
	hostile := "$(touch " + dir + "/made)`touch " + dir + "/made`';touch " + dir + "/made;'\n"
	lab := &labs.Lab{BaseDomain: hostile}
	lab.Metadata.Name, lab.Machines.Gateway = hostile, hostile
	p := &Hosts{Here: Local{}, Local: true, AssetDir: hostile, Root: hostile}
	r, err := Local{}.Run(context.Background(), p.Preamble(lab)+`printf %s "${ASSET_DIR}" "${GATEWAY}"`, 1<<16)
	if err != nil || string(r.Out) != hostile+hostile || len(r.Err) > 0 {
		t.Errorf("%v: %q, %q", err, r.Out, r.Err)
	}
	if _, err := os.Stat(filepath.Join(dir, "made")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a value was run")
	}
}

func TestOnlyTheEndIsKept(t *testing.T) {
	r, err := Local{}.Run(context.Background(), "seq 100000; exit 7", 12)
	if err != nil || string(r.Out) != "99999\n100000\n"[1:] || !r.Cut || r.Status != 7 {
		t.Errorf("%v: %q, cut %v, status %d", err, r.Out, r.Cut, r.Status)
	}
	file := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(file, []byte("first\nlast\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := (Local{}).ReadFile(context.Background(), file, 5); err != nil || string(text) != "last\n" {
		t.Errorf("%v: %q", err, text)
	}
	if _, err := (Local{}).ReadFile(context.Background(), "/dev/zero", 5); err == nil {
		t.Error("a device was read")
	}
}
