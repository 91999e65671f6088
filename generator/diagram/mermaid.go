package diagram

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// mermaidText makes a text that mermaid takes as it is: what could end a label,
// begin a comment, a directive, markup or a fence becomes an entity of
// mermaid's own, which begins with a number sign. So does what would make a
// list of a text that begins with it, as "1." and "-"; some versions of mermaid
// show an error in its place.
func mermaidText(text string) string {
	var b strings.Builder
	start := true
	for _, r := range text {
		switch {
		case unicode.IsDigit(r):
			b.WriteRune(r)
			continue
		case unicode.IsLetter(r), strings.ContainsRune(" ,:/()?!='", r), !start && strings.ContainsRune(".-", r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
		start = false
	}
	return b.String()
}

// mermaidPlain is for titles and descriptions, in which mermaid knows no
// entities: everything that is not an ordinary letter or mark is left out.
func mermaidPlain(text string) string {
	return clean(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" .,:/()-_?!+='*", r) {
			return r
		}
		return ' '
	}, text))
}

// mermaidHead begins a diagram of a kind.
func (c *caption) mermaidHead(kind string) string {
	return fmt.Sprintf("%s\n  accTitle: %s\n  accDescr: %s\n", kind, mermaidPlain(c.title), mermaidPlain(c.description))
}

// mermaid is the grid as a flowchart.
func (g *grid) mermaid() string {
	var b strings.Builder
	kind := "flowchart TB"
	if g.across {
		kind = "flowchart LR"
	}
	b.WriteString(g.mermaidHead(kind))
	in := map[*box]bool{}
	top := slices.Clone(g.panels)
	slices.SortStableFunc(top, func(a, b *panel) int { return b.level - a.level })
	drawn := map[*panel]bool{}
	for _, p := range top {
		g.mermaidPanel(&b, p, "  ", in, drawn)
	}
	for _, n := range g.boxes {
		if !in[n] {
			b.WriteString("  " + n.mermaid() + "\n")
		}
	}
	for _, a := range g.arrows {
		fmt.Fprintf(&b, "  %s %s %s\n", a.from.id, a.mermaid(), a.to.id)
	}
	return b.String()
}

// mermaidPanel writes a panel with those inside it and the boxes left.
func (g *grid) mermaidPanel(b *strings.Builder, p *panel, indent string, in map[*box]bool, drawn map[*panel]bool) {
	if drawn[p] {
		return
	}
	drawn[p] = true
	fmt.Fprintf(b, "%ssubgraph %s[\"%s\"]\n", indent, p.id, mermaidText(p.title))
	for _, inner := range g.panels {
		if inner.inside(p) {
			g.mermaidPanel(b, inner, indent+"  ", in, drawn)
		}
	}
	for _, n := range p.boxes {
		if !in[n] {
			in[n] = true
			b.WriteString(indent + "  " + n.mermaid() + "\n")
		}
	}
	b.WriteString(indent + "end\n")
}

// words are the title and the paragraphs of a box, for mermaid.
func (b *box) words() string {
	var words []string
	if b.title != "" {
		words = append(words, mermaidText(b.title))
	}
	for _, l := range b.lines {
		words = append(words, mermaidText(l.words))
	}
	return strings.Join(words, "<br/>")
}

func (b *box) mermaid() string { return fmt.Sprintf("%s[\"%s\"]", b.id, b.words()) }

func (a *arrow) mermaid() string {
	link := "-->"
	switch {
	case a.both && a.dashed:
		link = "<-.->"
	case a.both:
		link = "<-->"
	case a.dashed:
		link = "-.->"
	}
	if a.label != "" {
		link += fmt.Sprintf("|\"%s\"|", mermaidText(a.label))
	}
	return link
}

// mermaid is the picture of time as a sequence diagram.
func (l *lanes) mermaid() string {
	var b strings.Builder
	b.WriteString(l.mermaidHead("sequenceDiagram"))
	for _, h := range l.heads {
		words := append([]string{h.title}, h.lines...)
		for i := range words {
			words[i] = mermaidText(words[i])
		}
		fmt.Fprintf(&b, "  participant %s as %s\n", h.id, strings.Join(words, "<br/>"))
	}
	first, last := l.heads[0].id, l.heads[len(l.heads)-1].id
	for _, p := range l.phases {
		fmt.Fprintf(&b, "  Note over %s,%s: %s\n", first, last, mermaidText(p.title))
		for _, m := range p.rows {
			l.mermaidMoment(&b, m)
		}
	}
	return b.String()
}

func (l *lanes) mermaidMoment(b *strings.Builder, m *moment) {
	if c := m.message; c != nil {
		link := "->>"
		if c.dashed {
			link = "-->>"
		}
		fmt.Fprintf(b, "  %s%s%s: %s\n", l.heads[c.from].id, link, l.heads[c.to].id, mermaidText(c.words))
	}
	for _, e := range m.boxes {
		over := l.heads[e.first].id
		if e.last != e.first {
			over += "," + l.heads[e.last].id
		}
		fmt.Fprintf(b, "  Note over %s: %s\n", over, e.words())
	}
	for _, c := range m.starts {
		fmt.Fprintf(b, "  Note left of %s: %s starts: %s\n", l.heads[0].id, c.letter, mermaidText(c.words))
	}
	for _, c := range m.ends {
		fmt.Fprintf(b, "  Note left of %s: %s ends\n", l.heads[0].id, c.letter)
	}
}
