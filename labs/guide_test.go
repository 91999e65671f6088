package labs

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestGuideLoadsAndHoldsTogether(t *testing.T) {
	g := BuiltinGuide()
	if err := g.validate(Builtin()); err != nil {
		t.Error(err)
	}
	if len(g.Groups) == 0 || len(g.Misconceptions) == 0 || len(g.Ports) == 0 {
		t.Errorf("%d groups, %d misconceptions, %d ports", len(g.Groups), len(g.Misconceptions), len(g.Ports))
	}
	for _, id := range []string{"start", "concepts", "stages", "control-plane", "after", "reference"} {
		found := false
		for _, group := range g.Groups {
			found = found || group.ID == id
		}
		if !found {
			t.Errorf("there is no group %s", id)
		}
	}
}

// Each mistake in otherwise good data is found, and by its own message.
func TestGuideValidationFindsEachMistake(t *testing.T) {
	for name, mistake := range map[string]struct {
		make func(*Guide)
		want string
	}{
		"a chapter twice":                {func(g *Guide) { g.Groups[0].Chapters[1].ID = g.Groups[0].Chapters[0].ID }, `chapter "why-bootstrap" has no id, or one that is taken`},
		"a chapter named as a stage":     {func(g *Guide) { g.Groups[0].Chapters[0].ID = "render-etcd" }, "chapter render-etcd has the name of a stage"},
		"a chapter without source":       {func(g *Guide) { g.Groups[0].Chapters[0].Source = " " }, "chapter why-bootstrap has an empty text"},
		"a group without title":          {func(g *Guide) { g.Groups[0].Title = "" }, "group start has an empty text"},
		"a group twice":                  {func(g *Guide) { g.Groups[1].ID = g.Groups[0].ID }, `group "start" has no id, or one that is taken`},
		"a misconception twice":          {func(g *Guide) { g.Misconceptions[1].ID = g.Misconceptions[0].ID }, `misconception "same-in-every-release" has no id, or one that is taken`},
		"a misconception without answer": {func(g *Guide) { g.Misconceptions[0].Fact = "\n" }, "misconception same-in-every-release has an empty text"},
		"a misconception on no page":     {func(g *Guide) { g.Misconceptions[0].Pages = nil }, "misconception same-in-every-release stands on no page"},
		"a misconception on a lost page": {func(g *Guide) { g.Misconceptions[0].Pages = []string{"nowhere"} }, `stands on "nowhere", which is no page`},
		"a misconception of no release":  {func(g *Guide) { g.Misconceptions[0].Since = "3.11" }, `misconception same-in-every-release: release "3.11" is not known`},
		"a port without number":          {func(g *Guide) { g.Ports[0].Number = "" }, `port "" needs a number, and a machine in on`},
		"a port nowhere":                 {func(g *Guide) { g.Ports[0].On = nil }, `port "6443" needs a number, and a machine in on`},
		"a port on a lost machine":       {func(g *Guide) { g.Ports[0].On = []string{"toaster"} }, `port 6443 is open on "toaster", which is none of bootstrap, master, worker`},
		"a port without reason":          {func(g *Guide) { g.Ports[0].Why = "" }, "port 6443 has an empty text"},
		"a port reached elsewhere":       {func(g *Guide) { g.Ports[0].Reached["worker"] = Reach{"always", []string{"master"}} }, `port 6443 is reached on "worker", where it is not open`},
		"a port with no sign":            {func(g *Guide) { g.Ports[0].Reached["master"] = Reach{"sometimes", []string{"master"}} }, `port 6443 on master is open while "sometimes", which is no sign`},
		"a port that nothing reaches":    {func(g *Guide) { g.Ports[0].Reached["master"] = Reach{"always", nil} }, "port 6443 on master is reached by nothing"},
		"a port reached by a toaster":    {func(g *Guide) { g.Ports[0].Reached["master"] = Reach{"always", []string{"toaster"}} }, `port 6443 is reached by "toaster", which is no machine`},
		"a port of no release":           {func(g *Guide) { g.Ports[0].Until = "5" }, `port 6443: release "5" is not known`},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := LoadGuide(dataFiles(t))
			if err != nil {
				t.Fatal(err)
			}
			mistake.make(g)
			if err := g.validate(Builtin()); err == nil || !strings.Contains(err.Error(), mistake.want) {
				t.Errorf("%v, want %s", err, mistake.want)
			}
		})
	}
}

func TestGuideIsReadStrictly(t *testing.T) {
	for _, name := range []string{"chapters", "misconceptions", "ports"} {
		files := dataFiles(t)
		files["guide/"+name+".yaml"] = &fstest.MapFile{Data: []byte("- id: one\n  colour: red\n")}
		if _, err := LoadGuide(files); err == nil || !strings.Contains(err.Error(), "guide/"+name+".yaml") || !strings.Contains(err.Error(), "colour") {
			t.Errorf("%s.yaml: %v", name, err)
		}
	}
}

func TestMisconceptionsAndPortsFollowTheRelease(t *testing.T) {
	g := BuiltinGuide()
	for release, want := range map[string]string{"4.17": "two-nodes-before", "4.18": "two-nodes"} {
		found := ""
		for _, b := range g.MisconceptionsOf("completion", resolved(t, release)) {
			if strings.HasPrefix(b.ID, "two-nodes") {
				found += b.ID
			}
		}
		if found != want {
			t.Errorf("%s: %q, want %q", release, found, want)
		}
	}
	for release, want := range map[string]bool{"4.21": false, "main": true} {
		found := false
		for _, p := range g.PortsOf("bootstrap", resolved(t, release)) {
			found = found || p.Number == "2381"
		}
		if found != want {
			t.Errorf("%s: port 2381 %v, want %v", release, found, want)
		}
	}
}
