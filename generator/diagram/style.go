package diagram

import (
	"fmt"
	"strings"
)

// The kinds of boxes and panels. A kind is told by colour only where words tell
// it too.
const (
	plain     = ""
	bootstrap = "bootstrap" // on the bootstrap node, temporary
	master    = "master"    // on masters and workers, to stay
	cluster   = "cluster"   // in the cluster, by operators
	person    = "person"    // the workstation and who sits there
	lab       = "lab"       // the host of the lab: DNS and load balancer
	trouble   = "trouble"   // what to look at when it fails
	faint     = "faint"     // not there yet, or not any more
	lane      = "lane"      // a panel that holds a lane
	dashed    = "dashed"    // an arrow for something that is not a request
)

// A colour has a value for a light and for a dark page.
type colour struct{ name, light, dark string }

// colours are the CSS variables. The three of text have at least 4.5:1 against
// every fill on which text stands (WCAG 2.1, 1.4.3).
var colours = []colour{
	{"fg", "#1b2027", "#e8edf2"},
	{"muted", "#4a535d", "#b3bdc8"},
	{"bg", "#ffffff", "#0f141a"},
	{"line", "#57616c", "#97a3b0"},
	{"panel", "#f5f7f9", "#171d25"},
	{"panel-line", "#b9c2cb", "#3a4551"},
	{"box", "#ffffff", "#222a34"},
	{"box-line", "#7b8692", "#77828e"},
	{"bootstrap", "#fff1cf", "#3d3110"},
	{"bootstrap-line", "#a36f00", "#d6a93a"},
	{"master", "#ddf4e4", "#15392a"},
	{"master-line", "#1c7c45", "#55bd83"},
	{"cluster", "#dfeeff", "#16334f"},
	{"cluster-line", "#1f6fbf", "#6bb1f2"},
	{"person", "#f1e7fd", "#33254d"},
	{"person-line", "#7d4cc2", "#b794f0"},
	{"lab", "#e3f3f5", "#12383d"},
	{"lab-line", "#157782", "#55bcc8"},
	{"trouble", "#ffe8e4", "#4a211f"},
	{"trouble-line", "#c23b2e", "#f08a7f"},
}

// style is the style sheet of a picture. The rules weigh nothing (:where), so
// that a page's own style sheet changes what it wants, wherever it stands.
func style() string {
	var b strings.Builder
	variables := func(value func(colour) string) string {
		var all []string
		for _, c := range colours {
			all = append(all, "--pic-"+c.name+":"+value(c))
		}
		return ":where(.pic){" + strings.Join(all, ";") + "}\n"
	}
	b.WriteString(variables(func(c colour) string { return c.light }))
	b.WriteString("@media (prefers-color-scheme:dark){" + strings.TrimSpace(variables(func(c colour) string { return c.dark })) + "}\n")
	b.WriteString(`:where(.pic){font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
:where(.pic-ground){fill:var(--pic-bg)}
:where(.pic-panel){fill:var(--pic-panel);stroke:var(--pic-panel-line)}
:where(.pic-box){fill:var(--pic-box);stroke:var(--pic-box-line);stroke-width:1.3}
:where(.pic-chip){fill:var(--pic-bg);stroke:var(--pic-panel-line);stroke-width:.8}
:where(.pic-line){fill:none;stroke:var(--pic-line);stroke-width:1.5;stroke-linejoin:round}
:where(.pic-head){fill:var(--pic-line)}
:where(.pic-rule){fill:none;stroke:var(--pic-panel-line)}
:where(.pic-box.pic-lane){fill:var(--pic-panel);stroke:var(--pic-panel-line)}
:where(.pic-chip.pic-under){fill:var(--pic-panel);stroke:none}
:where(.pic-chip.pic-clock){fill:var(--pic-bootstrap);stroke:var(--pic-bootstrap-line)}
:where(.pic-line.pic-clock){stroke:var(--pic-bootstrap-line);stroke-width:3}
:where(.pic-dashed){stroke-dasharray:5 4}
`)
	for _, kind := range []string{bootstrap, master, cluster, person, lab, trouble} {
		fmt.Fprintf(&b, ":where(.pic-box.pic-%s){fill:var(--pic-%s);stroke:var(--pic-%s-line)}\n", kind, kind, kind)
	}
	b.WriteString(`:where(.pic-box.pic-faint){fill:var(--pic-panel);stroke-dasharray:4 4}
:where(.pic text){fill:var(--pic-fg)}
:where(.pic .pic-label){fill:var(--pic-muted)}
`)
	for _, f := range []face{titleFace, bodyFace, codeFace, panelFace, labelFace} {
		fmt.Fprintf(&b, ":where(.%s){font-size:%dpx", f.name, f.size)
		if f.bold {
			b.WriteString(";font-weight:600")
		}
		if f.mono {
			b.WriteString(";font-family:ui-monospace,Menlo,Consolas,monospace")
		}
		b.WriteString("}\n")
	}
	b.WriteString(":where(.pic-middle){text-anchor:middle}\n")
	return b.String()
}
