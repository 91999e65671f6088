package labs

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

// Guide is what the guide holds beside the pages of stages: its groups with
// their chapters, the misconceptions that it puts right, and the ports that chapters
// list.
type Guide struct {
	Groups         []Group
	Misconceptions []Misconception
	Ports          []Port
	// Outputs is what the scripts of stages printed, as [Guide.Output] tells it.
	Outputs map[string]string
}

// Group is a part of the guide. The groups "stages", "releases" and "reference"
// hold the pages of stages, of releases and of libraries too.
type Group struct {
	ID       string    `yaml:"id"`
	Title    string    `yaml:"title"`
	Chapters []Chapter `yaml:"chapters"`
}

// Chapter is a page of prose; its text is the template of the same name.
type Chapter struct {
	ID      string `yaml:"id"`
	Title   string `yaml:"title"`
	Summary string `yaml:"summary"` // one sentence
	// Source says where the facts of the chapter were read.
	Source string `yaml:"source"`
	// Tour: the chapter is on the way through the guide that takes half an hour.
	Tour bool `yaml:"tour"`
	// Able is what a reader can do afterwards, each after "you can".
	Able []string `yaml:"able"`
	// Needs are pages to read first, by their ids, and other things in words.
	Needs []string `yaml:"needs"`
	Links []Link   `yaml:"links"`
}

// Output is what the script of a stage printed when a test ran it with stand-ins
// for the operators; empty where none was recorded.
func (g *Guide) Output(stage string) string { return g.Outputs[stage] }

// Misconception is something that is often said of the bootstrap and is wrong.
type Misconception struct {
	ID    string `yaml:"id"`
	Claim string `yaml:"claim"` // what is often said, and is wrong
	Fact  string `yaml:"fact"`
	Span  `yaml:",inline"`
	When  Condition `yaml:"when"`
	// Pages are the chapters and stages on which it is put right.
	Pages  []string `yaml:"pages"`
	Source string   `yaml:"source"`
}

// Port is where something listens during a bootstrap or in the cluster after it.
type Port struct {
	Number    string `yaml:"number"`
	Component string `yaml:"component"`
	// On are the kinds of machines it listens on, of PortMachines.
	On   []string `yaml:"on"`
	Why  string   `yaml:"why"`
	From string   `yaml:"from"` // who connects
	// Balanced: clients come by way of the load balancer.
	Balanced bool `yaml:"balanced"`
	// Reached says for each kind of machine of On who has to get there, and as
	// long as what. What no check is told of here is not looked at.
	Reached map[string]Reach `yaml:"reached"`
	Span    `yaml:",inline"`
	When    Condition `yaml:"when"`
	Source  string    `yaml:"source"`
}

// Reach is who has to reach a port.
type Reach struct {
	// While is the sign on the machine that the port is to be open: "pod FILE" of
	// a static pod, "unit UNIT" of systemd, "container NAME" of CRI-O, or "always".
	While string `yaml:"while"`
	// By are kinds of machines: of PortMachines, the workstation (where the load
	// balancer runs), or itself.
	By []string `yaml:"by"`
}

// Askers are who may have to reach a port, beside PortMachines.
const (
	AskerWorkstation = "workstation"
	AskerItself      = "itself"
)

// PortMachines are the kinds of machines that a port may be open on.
var PortMachines = []string{string(bootstrapRole), string(masterRole), string(workerRole)}

// BuiltinGuide reads the guide's data that bootlab carries, once in a process.
// It panics if that data is malformed, which the package's tests rule out.
var BuiltinGuide = sync.OnceValue(guideSource.mustLoad)

// LoadGuide reads the guide's data from a file tree, strictly; all problems are
// reported together, as [Problems].
func LoadGuide(fsys fs.FS) (*Guide, error) {
	g := &Guide{}
	problems := readYAML(fsys, "guide/chapters.yaml", &g.Groups)
	problems = append(problems, readYAML(fsys, "guide/misconceptions.yaml", &g.Misconceptions)...)
	problems = append(problems, readYAML(fsys, "guide/ports.yaml", &g.Ports)...)
	if len(problems) > 0 {
		return nil, problems
	}
	var err error
	g.Outputs, err = readOutputs(fsys)
	return g, err
}

// readOutputs reads what scripts printed, a file for each stage.
func readOutputs(fsys fs.FS) (map[string]string, error) {
	names, err := fs.Glob(fsys, "guide/output/*.txt")
	out := map[string]string{}
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		out[strings.TrimSuffix(path.Base(name), ".txt")] = string(text)
	}
	return out, err
}

// Chapter returns the chapter of that id; nil if there is none.
func (g *Guide) Chapter(id string) *Chapter {
	for i := range g.Groups {
		for j := range g.Groups[i].Chapters {
			if c := &g.Groups[i].Chapters[j]; c.ID == id {
				return c
			}
		}
	}
	return nil
}

// MisconceptionsOf are the misconceptions that a page puts right in a lab and its release.
func (g *Guide) MisconceptionsOf(page string, p *Plan) []Misconception {
	var out []Misconception
	for _, b := range g.Misconceptions {
		if !b.Holds(p.Release.ID) || !b.When.possible(p.Lab) {
			continue
		}
		for _, at := range b.Pages {
			if at == page {
				out = append(out, b)
			}
		}
	}
	return out
}

// PortsOf are the ports of a release that are open on a kind of machine.
func (g *Guide) PortsOf(machine string, p *Plan) []Port {
	var out []Port
	for _, port := range g.Ports {
		if port.Holds(p.Release.ID) && port.When.possible(p.Lab) && slices.Contains(port.On, machine) {
			out = append(out, port)
		}
	}
	return out
}
