package diagram

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"bootlab/labs"
)

// plan is the plan of a shipped lab in a release.
func plan(t testing.TB, example, release string, change func(*labs.Lab)) *labs.Plan {
	t.Helper()
	catalog := labs.Builtin()
	text, err := fs.ReadFile(labs.Examples, example+"/lab.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{
		"lab/lab.yaml": {Data: text},
		// One of the examples wants a pull secret, which its owner adds.
		"lab/pull-secret.json": {Data: []byte(`{"auths":{"registry.example":{"auth":"dXNlcjpwYXNz"}}}`), Mode: 0o600},
	}
	lab, problems := labs.LoadLabFS(files, "lab", catalog)
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	lab.Release.Version = release
	if change != nil {
		change(lab)
	}
	p, err := catalog.Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A planned is a plan under the name of what it is, with its pictures.
type planned struct {
	name  string
	plan  *labs.Plan
	drawn []drawn
}

// A drawn is a picture with what it was drawn from.
type drawn struct {
	drawing drawing
	scene   *scene
	picture Picture
}

var (
	plansOnce sync.Once
	allPlans  []planned
)

// plans are every shipped lab in every release, and labs at the limits of what
// lab.yaml takes and beyond. They are drawn once, for all tests.
func plans(t testing.TB) []planned {
	t.Helper()
	plansOnce.Do(func() {
		for _, p := range undrawn(t) {
			v := newView(p.plan)
			for _, describe := range drawings {
				d := describe(v)
				picture, scene, err := draw(d)
				if err != nil {
					t.Errorf("%s: %v", p.name, err)
					continue
				}
				p.drawn = append(p.drawn, drawn{d, scene, picture})
			}
			allPlans = append(allPlans, p)
		}
	})
	return allPlans
}

func undrawn(t testing.TB) []planned {
	var all []planned
	for _, example := range labs.ExampleList() {
		for _, release := range labs.Builtin().ReleaseIDs() {
			all = append(all, planned{name: example.Name + " " + release, plan: plan(t, example.Name, release, nil)})
		}
	}
	for _, release := range []string{"4.14", "4.17", "main"} {
		all = append(all,
			planned{name: "one master " + release, plan: plan(t, "compact", release, func(l *labs.Lab) { masters(l, 1) })},
			planned{name: "five masters " + release, plan: plan(t, "ha", release, func(l *labs.Lab) { masters(l, 5) })},
			planned{name: "thirty workers " + release, plan: plan(t, "ha", release, func(l *labs.Lab) { l.Machines.Workers = many("worker", 30) })},
			planned{name: "proxy and mirrors " + release, plan: plan(t, "compact", release, func(l *labs.Lab) {
				l.Proxy.HTTPProxy = "http://proxy.test:3128"
				l.ImageDigestSources = []labs.ImageSource{{Source: "quay.io/okd", Mirrors: []string{"mirror.test:5000/okd"}}}
				l.Release.Image = "mirror.test:5000/okd/scos-release:4.21"
			})})
	}
	for _, text := range hostile {
		for _, example := range []string{"bootstrap-only", "ha"} {
			all = append(all, planned{name: fmt.Sprintf("%.20q in %s", text, example), plan: plan(t, example, "4.21", func(l *labs.Lab) { damage(l, text) })})
		}
	}
	return all
}

func masters(l *labs.Lab, n int) {
	l.ControlPlane.Replicas = &n
	l.Machines.Masters = many("master", n)
}

func many(name string, n int) []labs.Machine {
	var all []labs.Machine
	for i := range n {
		all = append(all, labs.Machine{Name: fmt.Sprintf("%s-%d", name, i), Address: fmt.Sprintf("192.168.126.%d", 100+i)})
	}
	return all
}

// hostile are values that loading would refuse. A picture must hold all the
// same, whatever a later rule lets through.
var hostile = []string{
	`</text></svg><script>alert(1)</script>`,
	`"]; click a "javascript:alert(1)"; b["`,
	"line\nbreak\r\n  end\n  subgraph x",
	"```\n# out of the fence\n```",
	`%%{init: {"theme": "base"}}%%`,
	"`**markdown**`", "#quot;#35;", "; Note over a: b", "a --> b|\"c\"|",
	"&lt;&amp;]]><!--", "\x00\x1b[31m\xff\u202eright to left\u2028", "{{.Lab}} ${HOME} $(id)",
	strings.Repeat("w", 63), strings.Repeat("long-label.", 23), strings.Repeat("漢", 40), "",
}

// damage puts a text wherever a lab has words of its own.
func damage(l *labs.Lab, text string) {
	l.Metadata.Name, l.BaseDomain = text, text
	l.Machines.Gateway, l.Release.Image, l.Networking.NetworkType = text, text, text
	l.Networking.MachineNetwork = []labs.MachineNetwork{{CIDR: text}}
	l.Release.Distribution = text
	l.Machines.Bootstrap.Name, l.Machines.Bootstrap.Address = text, text
	for _, all := range [][]labs.Machine{l.Machines.Masters, l.Machines.Workers} {
		for i := range all {
			all[i].Name, all[i].Address = text, text
		}
	}
}
