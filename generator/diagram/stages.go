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
	var ids []string
	for i, s := range all {
		p := parts[0]
		if s.ID == "wait-for-etcd" || len(parts[1].boxes) > 0 {
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
		}
		ids = append(ids, s.ID)
	}
	for _, p := range parts {
		if len(p.boxes) > 0 {
			g.panel(p.id, p.title, 0, p.boxes...)
		}
	}
	g.description = "In order: " + strings.Join(ids, ", ") + ". With render-etcd the kubelet starts etcd, with render-mco the Machine Config Server, with start-bootstrap the temporary control plane, which goes again in the same stage. restore-cvo-overrides ends the Machine Config Server of the node. The last stage is followed by the end of bootkube.service."
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

// effect is what begins or ends outside of files with a stage, if anything.
func (v *view) effect(g *grid, s *labs.Stage, row int) *box {
	members, boot, goes := fmt.Sprintf("with %d healthy members", v.membersToLeave()), "port 22623; masters may boot", "and goes again when masters run theirs"
	if v.alone() {
		members, boot, goes = "not in this topology: it takes masters", "port 22623; in this topology nothing asks it", "and goes again after 20 minutes, for want of masters; no stage below is reached"
	}
	for _, e := range []struct{ stage, kind, title, say string }{
		{"render-etcd", bootstrap, "etcd starts", "one member, on this node"},
		{"render-mco", bootstrap, "The Machine Config Server starts", boot},
		{"start-bootstrap", bootstrap, "The temporary control plane starts", goes},
		{"restore-cvo-overrides", master, "The Machine Config Server ends here", "that of the masters serves on"},
		{"wait-for-ceo", master, "EtcdRunningInCluster is True", members},
		{"verify-api", cluster, "bootkube.service is complete", "progress.service reports; then the etcd operator removes the bootstrap member"},
	} {
		if e.stage == s.ID {
			return g.box(stageID(s.ID)+"_effect", e.kind, row, 1, e.title).say(e.say)
		}
	}
	return nil
}
