package host

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/labs"
)

// thing is a piece of evidence that a local run has.
func thing(id, line string) *labs.Evidence {
	return &labs.Evidence{ID: id, On: labs.OnBootstrap, Form: labs.TextForm, Run: line, Local: line, Limit: 4, Seconds: 20}
}

// glanceHere looks at this machine.
func glanceHere(t *testing.T, evidence ...*labs.Evidence) []Found {
	t.Helper()
	p := &Hosts{Here: Local{}, Local: true, AssetDir: "/asset's dir", Root: "/root dir"}
	found, err := p.Glance(context.Background(), &labs.Lab{}, "", evidence)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAGlanceTellsOutputStatusAndComplaintOfEach(t *testing.T) {
	found := glanceHere(t,
		thing("settings", `printf '%s|%s' "${ASSET_DIR}" "${HOST_ROOT}"`),
		thing("fails", `echo half; echo 'it is broken' >&2; exit 7`),
		thing("empty", `true`),
		thing("quotes", `echo 'a "b" $c'; echo "==> x"`),
		thing("bytes", `printf 'a\0b\377'`),
		thing("last", `head --bytes=10000 /dev/zero | tr '\0' x; echo end`))
	want := []struct {
		text, complaint string
		status          int
	}{
		{"/asset's dir|/root dir", "", 0}, {"half\n", "it is broken", 7}, {"", "", 0}, {"a \"b\" $c\n==> x\n", "", 0}, {"a\x00b\xff", "", 0},
		{strings.Repeat("x", 4092) + "end\n", "", 0},
	}
	for i, w := range want {
		f := found[i]
		if !f.Had || string(f.Text) != w.text || f.Complaint != w.complaint || f.Status != w.status {
			t.Errorf("%s: had %v %q, complaint %q, status %d; want %+v", f.Evidence.ID, f.Had, f.Text, f.Complaint, f.Status, w)
		}
	}
	if found[0].Cut || !found[5].Cut {
		t.Error("only the last one is cut")
	}
}

func TestInAGlanceOneThingThatHangsHoldsUpNoOther(t *testing.T) {
	// What hangs would make a file at its end, and the last one looks for it.
	file := filepath.Join(t.TempDir(), "ended")
	hangs := thing("hangs", "echo begun; sleep 60; : > "+file)
	hangs.Seconds = 1
	found := glanceHere(t, thing("first", "sleep 0.7; echo 1"), hangs, thing("last", "sleep 0.7; test -e "+file+" || echo 3"))
	if _, err := os.Stat(file); err == nil {
		t.Error("what hangs was waited for")
	}
	if !found[0].Had || !found[2].Had || string(found[2].Text) != "3\n" {
		t.Errorf("%+v", found)
	}
	if found[1].Had || found[1].Problem != "no answer in time" {
		t.Errorf("%+v", found[1])
	}
}

func TestAGlanceAtNothingSaysWhy(t *testing.T) {
	p := &Hosts{Here: Local{}}
	cluster := &labs.Evidence{ID: "nodes", On: labs.OnCluster, Run: "oc get nodes", Limit: 4, Seconds: 1}
	if _, err := p.Glance(context.Background(), &labs.Lab{}, "", []*labs.Evidence{cluster}); err == nil || !strings.Contains(err.Error(), "no way to the cluster") {
		t.Error(err)
	}
	if _, err := exec.LookPath("ssh"); err != nil {
		t.Skip("there is no ssh here")
	}
	config := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(config, []byte("Host nowhere\n  HostName 127.0.0.1\n  Port 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	gone := &Hosts{Here: Local{}, Bootstrap: Node{Machine: "nowhere", Config: config}}
	if _, err := gone.Glance(context.Background(), &labs.Lab{}, "", []*labs.Evidence{thing("x", "true")}); !errors.Is(err, ErrUnreachable) {
		t.Error(err)
	}
}

// answers is a machine that says one thing, whatever it is asked.
type answers string

func (answers) Name() string { return "it" }
func (a answers) Run(context.Context, string, int) (Result, error) {
	return Result{Out: []byte(a)}, nil
}
func (answers) ReadFile(context.Context, string, int) ([]byte, error) { return nil, ErrRunsNothing }
func (answers) List(context.Context, string) ([]string, error)        { return nil, ErrRunsNothing }

func TestATornAnswerToAGlanceIsNotTakenForOne(t *testing.T) {
	for text, whole := range map[string]bool{"": false, "YQ== 0 \n": true, "YQ== 0 \nYQ== 0 \n": false, "YQ== x \n": true, "!! 0 \n": true, "YQ==\n": true} {
		p := &Hosts{Here: answers(text), Local: true}
		found, err := p.Glance(context.Background(), &labs.Lab{}, "", []*labs.Evidence{thing("x", "true")})
		switch {
		case text == "":
			if err != nil || found[0].Had {
				t.Errorf("%q: %v %v", text, found, err)
			}
		case (err == nil) != whole:
			t.Errorf("%q: %v", text, err)
		case err == nil && found[0].Had != (text == "YQ== 0 \n"):
			t.Errorf("%q: %+v", text, found[0])
		}
	}
}
