package audit

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"

	"bootlab/labs"
)

// DraftFile is a file of stage data that was made from a script.
type DraftFile struct {
	Name string // as labs/data/stages/ID.yaml
	Text []byte
}

// The parts of a draft, with the keys of stage data and nothing that is empty.
type draftStage struct {
	ID          string          `yaml:"id"`
	Bootkube    string          `yaml:"bootkube"`
	Kind        string          `yaml:"kind"`
	When        map[string]any  `yaml:"when,omitempty,flow"`
	Log         string          `yaml:"log,omitempty"`
	RemoveFirst string          `yaml:"removeFirst,omitempty"`
	Run         *draftContainer `yaml:"run,omitempty"`
	Retry       string          `yaml:"retry,omitempty"`
	OnFailure   string          `yaml:"onFailure,omitempty"`
	Mkdir       []string        `yaml:"mkdir,omitempty"`
	Copies      []draftCopy     `yaml:"copies,omitempty"`
	Markers     []draftMarker   `yaml:"markers,omitempty"`
	SkipIf      string          `yaml:"skipIf,omitempty"`
}

type draftContainer struct {
	Image   string        `yaml:"image"`
	Name    string        `yaml:"name"`
	Volume  string        `yaml:"volume,omitempty"`
	Options []draftOption `yaml:"options,omitempty"`
	Command string        `yaml:"command"`
	Flags   []draftFlag   `yaml:"flags,omitempty"`
}

type draftOption struct {
	Option string         `yaml:"option"`
	When   map[string]any `yaml:"when,omitempty,flow"`
	Why    string         `yaml:"why"`
}

type draftFlag struct {
	Flag  string         `yaml:"flag"`
	Value string         `yaml:"value,omitempty"`
	When  map[string]any `yaml:"when,omitempty,flow"`
	Why   string         `yaml:"why"`
}

type draftCopy struct {
	From      string         `yaml:"from"`
	To        string         `yaml:"to"`
	Recursive bool           `yaml:"recursive,omitempty"`
	When      map[string]any `yaml:"when,omitempty,flow"`
	Why       string         `yaml:"why"`
}

type draftMarker struct {
	File string `yaml:"file"`
}

// Draft writes what a script does as stage data, a file a stage, with the
// reasons of the nearest release where it knows the same flag or copy. What
// stage data has no key for follows as a comment, for the person who reviews
// it.
func Draft(s *Script, c *labs.Catalog, nearest string) ([]DraftFile, error) {
	e := expect(c, nearest)
	var out []DraftFile
	for _, st := range s.stagesOf(e.names) {
		if st.Name == around {
			continue
		}
		var old *labs.Stage
		for _, known := range c.Stages {
			if known.Bootkube == st.Name {
				old = known
			}
		}
		d := &drafting{e: e, old: old, podman: c.Bootkube.Podman}
		text, err := d.file(st)
		if err != nil {
			return nil, err
		}
		out = append(out, DraftFile{Name: fileName(d.stage.ID) + ".yaml", Text: text})
	}
	return out, nil
}

// fileName keeps a stage's name from being anything but a name: it comes from a
// script.
func fileName(id string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, id)
	return firstOf(strings.Trim(name[:min(len(name), 64)], "-"), "stage")
}

type drafting struct {
	e      *expectation
	old    *labs.Stage
	podman []labs.Option
	stage  draftStage
	review []string
}

func (d *drafting) file(st *Stage) ([]byte, error) {
	d.stage = draftStage{ID: st.Name, Bootkube: st.Name, Kind: "render"}
	if d.old != nil {
		d.stage.ID, d.stage.Kind = d.old.ID, d.old.Kind
	}
	for _, f := range st.Facts {
		f.Key, f.Value, f.When = d.e.shown(f.Key), d.e.shown(f.Value), d.e.shown(f.When)
		d.fact(f)
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(d.stage); err != nil {
		return nil, err
	}
	for _, line := range d.review {
		b.WriteString("# review: " + strings.ReplaceAll(line, "\n", " ") + "\n")
	}
	return b.Bytes(), nil
}

func (d *drafting) fact(f Fact) {
	if f.Of != "" || f.Kind == factContainer && f.Key != "" {
		d.ofContainer(f)
		return
	}
	switch f.Kind {
	case factCondition:
		d.stage.When = d.when(f, f.Value)
	case factSkip:
		d.stage.SkipIf = f.Key
	case factRemove:
		if d.stage.RemoveFirst != "" || f.When != "" {
			d.review = append(d.review, f.String())
			return
		}
		d.stage.RemoveFirst = f.Key
	case factMkdir:
		d.stage.Mkdir = append(d.stage.Mkdir, f.Key)
	case factCopy:
		to, recursive := strings.CutSuffix(f.Value, " recursively")
		d.stage.Copies = append(d.stage.Copies, draftCopy{f.Key, to, recursive, d.when(f, f.When), d.whyCopy(f.Key)})
	case factMarker:
		d.stage.Markers = append(d.stage.Markers, draftMarker{f.Key})
	case factRetry:
		d.stage.Retry = f.Value
	case factFailure:
		d.stage.OnFailure = f.Value
	case factLog:
		if d.stage.Log == "" {
			d.stage.Log = f.Key
		}
	default:
		d.review = append(d.review, f.String())
	}
}

func (d *drafting) ofContainer(f Fact) {
	if d.stage.Run == nil {
		d.stage.Run = &draftContainer{Name: firstOf(f.Of, f.Key)}
	}
	run := d.stage.Run
	if f.Of != "" && f.Of != run.Name || f.Kind == factContainer && f.Key != run.Name {
		d.review = append(d.review, "a second container, "+firstOf(f.Of, f.Key)+": "+f.String())
		return
	}
	switch f.Kind {
	case factImage:
		run.Image = payloadName(f.Value, d.e)
	case factCommand:
		run.Command = f.Value
	case factFlag:
		run.Flags = append(run.Flags, draftFlag{f.Key, f.Value, d.when(f, f.When), d.whyFlag(f.Key)})
	case factOption:
		d.option(run, f)
	}
}

func payloadName(image string, e *expectation) string {
	name, _ := strings.CutPrefix(e.resolved(image), "image(")
	if image == "$RELEASE_IMAGE_DIGEST" {
		return "release"
	}
	return strings.TrimSuffix(name, ")")
}

func (d *drafting) option(run *draftContainer, f Fact) {
	text := f.Key
	if f.Value != "" {
		text += "=" + f.Value
	}
	for _, o := range d.podman {
		name, value, _ := strings.Cut(o.Option, "=")
		if firstOf(longForm[name], name) == f.Key && value == f.Value && f.When == "" {
			return
		}
	}
	switch {
	case f.Key == "--volume" && strings.HasSuffix(f.Value, ":/assets:z"):
	case f.Key == "overlay":
		run.Options = append(run.Options, draftOption{Option: "overlay (:O) volume per existing directory of: " + f.Value})
	default:
		run.Options = append(run.Options, draftOption{Option: text, When: d.when(f, f.When)})
	}
}

// when turns a condition back into the keys of stage data. One that it has no
// key for is left to the reviewer.
func (d *drafting) when(f Fact, text string) map[string]any {
	if text == "" {
		return nil
	}
	out := map[string]any{}
	for _, part := range strings.Split(text, " and ") {
		kind, file, _ := strings.Cut(part, " ")
		switch {
		case part == inPlace:
			out["inPlace"] = true
		case part == "not "+inPlace:
			out["inPlace"] = false
		case part == profile:
			out["clusterProfile"] = true
		case kind == isFile:
			out["file"] = file
		case kind == isDir:
			out["dir"] = file
		case strings.HasPrefix(part, notEmpty+" "):
			out["notEmpty"] = strings.TrimPrefix(part, notEmpty+" ")
		default:
			d.review = append(d.review, "a condition without a key: "+f.String())
		}
	}
	return out
}

func (d *drafting) whyFlag(name string) string {
	if d.old != nil && d.old.Run != nil {
		for _, f := range d.old.Run.Flags {
			if f.Flag == name {
				return f.Why
			}
		}
	}
	return ""
}

func (d *drafting) whyCopy(from string) string {
	if d.old != nil {
		for _, c := range d.old.Copies {
			if c.From == from {
				return c.Why
			}
		}
	}
	return ""
}
