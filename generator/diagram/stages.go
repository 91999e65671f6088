package diagram

import (
	"fmt"
	"strings"

	"bootlab/labs"
)

// stages is the map of bootkube.sh: its stages in the order of this release,
// and what begins or ends with them.
func stages(v *view) drawing {
	all := v.bootkubeStages()
	g := &grid{widths: []int{556, 300}, gaps: []int{60}, rowGap: 16}
	g.name, g.title = "stages", fmt.Sprintf("The %d stages of bootkube.sh in release %s", len(all), v.Version())
	parts := []*part{
		{id: "render", title: "Render: files, and what starts from them on the way"},
		{id: "run", title: "Run: the temporary control plane, and the hand-over"},
	}
	var last *box
	var ids, effects []string
	for i, s := range all {
		p := parts[0]
		if s.Phase != labs.PhaseRender || len(parts[1].boxes) > 0 {
			p = parts[1]
		}
		b := g.box(stageID(s.ID), kindOf(s), i, 0, fmt.Sprintf("%d. %s", i+1, s.ID)).say(s.Title, "bootkube.sh: "+s.Bootkube+", "+markers(s))
		p.boxes = append(p.boxes, b)
		if last != nil {
			g.arrow(last, b, "")
		}
		last = b
		if effect := v.effect(g, s, i); effect != nil {
			p.boxes = append(p.boxes, effect)
			g.arrow(b, effect, "")
			effects = append(effects, effect.title+" with "+s.ID)
		}
		ids = append(ids, s.ID)
	}
	for _, p := range parts {
		if len(p.boxes) > 0 {
			g.panel(p.id, p.title, 0, p.boxes...)
		}
	}
	g.description = "In order: " + strings.Join(ids, ", ") + ". Besides files: " + strings.Join(effects, ", ") + "."
	return g
}

// A part of the map is a run of stages.
type part struct {
	id, title string
	boxes     []*box
}

// stageID is a stage's id as mermaid takes it.
func stageID(id string) string { return "s_" + strings.ReplaceAll(id, "-", "_") }

// kindOf tells what is only written from what runs.
func kindOf(s *labs.Stage) string {
	switch s.Kind {
	case "render", "copy":
		return plain
	case "check":
		return faint
	}
	return bootstrap
}

func markers(s *labs.Stage) string {
	var files []string
	for _, m := range s.Markers {
		files = append(files, m.File)
	}
	switch len(files) {
	case 0:
		return "no marker"
	case 1:
		return "marker " + files[0]
	}
	return "markers " + strings.Join(files, " and ")
}

// sides are the kinds of boxes by where something happens.
var sides = map[string]string{labs.SideNode: bootstrap, labs.SideMasters: master, labs.SideCluster: cluster}

// effect is what begins or ends outside of files with a stage, if anything.
func (v *view) effect(g *grid, s *labs.Stage, row int) *box {
	if len(s.Effect) == 0 {
		return nil
	}
	e := s.Effect[0]
	return g.box(stageID(s.ID)+"_effect", sides[e.On], row, 1, v.Fill(e.Title)).say(v.Fill(e.Text))
}
