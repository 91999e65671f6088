package diagram

import (
	"fmt"
	"slices"
	"strings"

	"bootlab/labs"
)

// A place is a directory that more than one stage uses.
type place struct{ id, prefix, head string }

// places are in the order of the columns; of two that fit the longer counts.
var places = []place{
	{"p_info", "release-info/", "release-info/"},
	{"p_auth", "auth/", "auth/"},
	{"p_tls", "tls/", "tls/"},
	{"p_openshift", "openshift/", "openshift/"},
	{"p_manifests", "manifests/", "manifests/"},
	{"p_pods", "bootstrap-manifests/", "bootstrap- manifests/"},
	{"p_kubelet", "/etc/kubernetes/manifests/", "/etc/ kubernetes/ manifests/"},
	{"p_etc", "/etc/", "others in /etc/"},
}

// placeOf is the column of a path; -1 for a stage's own directory.
func placeOf(path string) int {
	best := -1
	for i, p := range places {
		if strings.HasPrefix(path, p.prefix) && (best < 0 || len(p.prefix) > len(places[best].prefix)) {
			best = i
		}
	}
	return best
}

// A use is what a stage does with a place. May: it writes only when there is
// something to write.
type use struct{ reads, writes, may bool }

func (u use) words() string {
	words := "writes"
	if u.may {
		words = "may write"
	}
	switch {
	case u.reads && u.writes:
		return "reads, " + words
	case u.reads:
		return "reads"
	}
	return words
}

// uses are what a stage does with each place, by what it says of inputs,
// outputs and copies.
func uses(s *labs.Stage) map[int]use {
	all := map[int]use{}
	for _, r := range s.Reads {
		all[placeOf(r.Path)] = use{reads: true}
	}
	for _, c := range s.Copies {
		if at := placeOf(c.From); at >= 0 {
			all[at] = use{reads: true}
		}
	}
	write := func(path string, may bool) {
		at := placeOf(path)
		u := all[at]
		all[at] = use{reads: u.reads, writes: true, may: may && (u.may || !u.writes)}
	}
	for _, o := range s.Outputs {
		write(o.Path, false)
	}
	for _, c := range s.Copies {
		for _, path := range arrivals(s, c) {
			write(path, c.When.File != "" || c.When.Dir != "" || c.When.NotEmpty != "")
		}
	}
	delete(all, -1)
	return all
}

// arrivals are the paths at which a copy puts the stage's outputs, or the one
// that it names.
func arrivals(s *labs.Stage, c labs.Copy) []string {
	var out []string
	if dir, all := strings.CutSuffix(c.From, "*"); all {
		for _, o := range s.Outputs {
			if rest, below := strings.CutPrefix(o.Path, dir); below && rest != "" {
				out = append(out, c.To+rest)
			}
		}
	}
	if len(out) == 0 {
		out = append(out, c.To)
	}
	return out
}

// sources are the earlier stages that made the files which a stage reads by
// name. Of whole directories the columns tell it, and release-info/ is read by
// all.
func (v *view) sources(s *labs.Stage) []string {
	var out []string
	for _, r := range s.Reads {
		if strings.HasSuffix(r.Path, "/") || placeOf(r.Path) == 0 {
			continue
		}
		if from := v.source(r, s); from != "" && !slices.Contains(out, from) {
			out = append(out, from)
		}
	}
	return out
}

// source is the last stage before another that made a file, where the data do
// not name it themselves.
func (v *view) source(file labs.File, reader *labs.Stage) string {
	if v.Stage(file.From) != nil {
		return file.From
	}
	last := ""
	if w := v.Writer(file.Path, reader); w != nil {
		last = w.ID
	}
	for _, s := range v.Stages {
		if s == reader {
			break
		}
		if slices.ContainsFunc(s.Copies, func(c labs.Copy) bool { return c.Arrives(file.Path) }) && (last == "" || v.later(s.ID, last)) {
			if slices.ContainsFunc(s.Copies, func(c labs.Copy) bool { return slices.Contains(arrivals(s, c), file.Path) }) {
				last = s.ID
			}
		}
	}
	return last
}

// later says whether a stage comes behind another.
func (v *view) later(id, other string) bool {
	at := func(id string) int { return slices.IndexFunc(v.Stages, func(s *labs.Stage) bool { return s.ID == id }) }
	return at(id) > at(other)
}

// A matrix is drawn as a table and written as a graph.
type matrix struct {
	*grid
	flow *grid
}

func (m *matrix) mermaid() string { return m.flow.mermaid() }

// files is which stage reads and writes what, from the plan alone.
func files(v *view) drawing {
	m := &matrix{grid: &grid{widths: []int{208}, rowGap: 9, ruled: true}, flow: &grid{across: true}}
	m.name, m.title = "files", "Which stage reads and writes what, release "+v.Version()
	m.box("corner", plain, 0, 0, "Stage").say("after “from”: who made the files that it reads by name")
	var columns []*box
	for i, p := range places {
		m.widths, m.gaps = append(m.widths, 84), append(m.gaps, 6)
		m.box(p.id, lane, 0, i+1, "").say(p.head).middle().tight = true
		columns = append(columns, m.flow.box(p.id, lane, i, 1, p.prefix))
	}
	hubs := map[int][]string{}
	for row, s := range v.Stages {
		b := m.box(stageID(s.ID), kindOfFiles(s), row+1, 0, s.ID)
		if where := whereOnly(s); where != "" {
			b.say(where)
		}
		if from := v.sources(s); len(from) > 0 {
			b.say("from " + strings.Join(from, ", "))
		}
		node := m.flow.box(b.id, b.kind, row, 0, s.ID)
		all := uses(s)
		for i := range places {
			u, used := all[i]
			if !used {
				continue
			}
			m.box(fmt.Sprintf("%s_%s", b.id, places[i].id), kindOfUse(u), row+1, i+1, "").say(u.words()).middle().tight = true
			m.flow.use(node, columns[i], u)
			if u.writes {
				hubs[i] = append(hubs[i], s.ID)
			}
		}
	}
	m.description = "A table with a row for each stage and a column for each directory. "
	for i, p := range places {
		if len(hubs[i]) > 0 {
			m.description += fmt.Sprintf("Into %s write %s. ", p.prefix, strings.Join(hubs[i], ", "))
		}
	}
	m.description += "What stands in manifests/ and bootstrap-manifests/ at the end is what start-bootstrap reads."
	m.flow.caption = m.caption
	return m
}

// use draws what a stage does with a place as an arrow.
func (g *grid) use(stage, at *box, u use) {
	if u.writes {
		g.arrow(stage, at, use{writes: true, may: u.may}.words())
	}
	if u.reads {
		g.arrow(at, stage, "reads").dashed = true
	}
}

func kindOfUse(u use) string {
	switch {
	case u.reads && u.writes:
		return lab
	case u.writes:
		return bootstrap
	}
	return cluster
}

func kindOfFiles(s *labs.Stage) string {
	if s.Kind == "prepare" {
		return person
	}
	return plain
}

// whereOnly says where a stage's script makes sense, if not everywhere.
func whereOnly(s *labs.Stage) string {
	switch {
	case !s.In(labs.OnNode):
		return "local run only"
	case s.In(labs.OnNode) && !s.In(labs.Local):
		return "on the node only"
	}
	return ""
}
