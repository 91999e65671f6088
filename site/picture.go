package site

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// picture is an SVG of the guide that was read and written again, so that
// nothing is in it but what is allowed.
type picture struct {
	name  string
	title string
	style string // of its <style>, for the style sheet of all pictures
	nodes []svgNode
}

// svgNode is a tag or a text of a picture.
type svgNode struct {
	name  string // empty for a text
	text  string
	attrs []svgAttr
	end   bool
	style bool // the text is a style sheet
}

type svgAttr struct{ name, value string }

func setOf(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// What a picture may hold. Nothing here runs, loads or leads anywhere.
var (
	svgElements = setOf(`svg g title desc defs style marker symbol use clipPath path rect circle ellipse line
		polyline polygon text tspan linearGradient stop`)
	svgAttributes = setOf(`id class role viewBox preserveAspectRatio width height x y x1 y1 x2 y2 cx cy r rx ry dx dy d
		points transform fill fill-opacity fill-rule stroke stroke-width stroke-dasharray stroke-linecap stroke-linejoin
		stroke-opacity opacity text-anchor dominant-baseline font-size font-weight font-style font-family textLength
		lengthAdjust marker-start marker-mid marker-end markerWidth markerHeight markerUnits refX refY orient
		clip-path clipPathUnits offset stop-color gradientUnits lang focusable href
		aria-label aria-labelledby aria-describedby aria-hidden`)
	// A reference leads to a part of the same picture.
	svgReference = regexp.MustCompile(`^#[A-Za-z][\w.-]*$`)
	svgURL       = regexp.MustCompile(`^url\(#[A-Za-z][\w.-]*\)$`)
	svgID        = regexp.MustCompile(`^[A-Za-z][\w.-]*$`)
	// A style sheet that could load something, or hide that it does.
	unsafeStyle = regexp.MustCompile(`(?i)url\(|@import|@font-face|image\(|image-set\(|expression\(|[\\<]|behaviou?r\s*:`)
)

const svgSpace = "http://www.w3.org/2000/svg"

// readPicture refuses a picture with anything in it that is not on the lists.
func readPicture(data []byte) (*picture, error) {
	p := &picture{}
	d := xml.NewDecoder(bytes.NewReader(data))
	var open []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("no well-formed XML: %w", err)
		}
		if err := p.add(token, &open); err != nil {
			return nil, err
		}
	}
	if len(p.nodes) == 0 || p.nodes[0].name != "svg" {
		return nil, fmt.Errorf("expected <svg> as its first element")
	}
	return p, p.checkReferences()
}

func (p *picture) add(token xml.Token, open *[]string) error {
	switch t := token.(type) {
	case xml.StartElement:
		n, err := svgElement(t)
		if err != nil {
			return err
		}
		if len(*open) == 0 && len(p.nodes) > 0 {
			return fmt.Errorf("expected one <svg>, found <%s> behind it", n.name)
		}
		p.nodes = append(p.nodes, n)
		*open = append(*open, n.name)
	case xml.EndElement:
		p.nodes = append(p.nodes, svgNode{name: t.Name.Local, end: true})
		*open = (*open)[:len(*open)-1]
	case xml.CharData:
		if len(*open) > 0 {
			return p.addText(string(t), strings.Join(*open, " "))
		}
	case xml.Directive:
		return fmt.Errorf("<!%.20s…> is not allowed in a picture", t)
	}
	return nil
}

func (p *picture) addText(text, path string) error {
	isStyle := strings.HasSuffix(path, " style")
	if isStyle {
		if found := unsafeStyle.FindString(text); found != "" {
			return fmt.Errorf("style with %q is not allowed in a picture", found)
		}
		p.style += strings.TrimSpace(text)
	}
	if path == "svg title" {
		p.title += text
	}
	p.nodes = append(p.nodes, svgNode{text: text, style: isStyle})
	return nil
}

func svgElement(t xml.StartElement) (svgNode, error) {
	n := svgNode{name: t.Name.Local}
	if !svgElements[n.name] || t.Name.Space != "" && t.Name.Space != svgSpace {
		return n, fmt.Errorf("element <%s> is not allowed in a picture", n.name)
	}
	for _, a := range t.Attr {
		name, value := a.Name.Local, a.Value
		switch {
		case name == "xmlns" && value == svgSpace:
			continue // the whole is SVG anyway
		case a.Name.Space != "" || !svgAttributes[name]:
			return n, fmt.Errorf("attribute %s of <%s> is not allowed in a picture", name, n.name)
		case name == "href" && !svgReference.MatchString(value),
			name == "id" && !svgID.MatchString(value),
			strings.Contains(strings.ToLower(value), "url(") && !svgURL.MatchString(value):
			return n, fmt.Errorf("%s=%q of <%s> is not allowed in a picture: expected a part of the same picture", name, value, n.name)
		}
		n.attrs = append(n.attrs, svgAttr{name, value})
	}
	return n, nil
}

// checkReferences wants every part that is referred to, and each id only once.
func (p *picture) checkReferences() error {
	ids := map[string]bool{}
	for _, n := range p.nodes {
		for _, a := range n.attrs {
			if a.name == "id" {
				if ids[a.value] {
					return fmt.Errorf("two elements have the id %s", a.value)
				}
				ids[a.value] = true
			}
		}
	}
	for _, n := range p.nodes {
		for _, a := range n.attrs {
			for _, id := range a.references() {
				if !ids[id] {
					return fmt.Errorf("%s=%q leads nowhere", a.name, a.value)
				}
			}
		}
	}
	return nil
}

// references are the ids that an attribute names.
func (a svgAttr) references() []string {
	switch {
	case a.name == "href":
		return []string{a.value[1:]}
	case a.name == "aria-labelledby", a.name == "aria-describedby":
		return strings.Fields(a.value)
	case svgURL.MatchString(a.value):
		return []string{a.value[len("url(#") : len(a.value)-1]}
	}
	return nil
}

// renamed is the attribute with a suffix on every id in it.
func (a svgAttr) renamed(suffix string) string {
	switch {
	case suffix == "":
		return a.value
	case a.name == "id", a.name == "href":
		return a.value + suffix
	case svgURL.MatchString(a.value):
		return strings.TrimSuffix(a.value, ")") + suffix + ")"
	case a.name == "aria-labelledby", a.name == "aria-describedby":
		ids := strings.Fields(a.value)
		return strings.Join(ids, suffix+" ") + suffix
	}
	return a.value
}

// alone is the picture as a file of its own, with its style.
func (p *picture) alone() []byte {
	return []byte(p.write("", ` xmlns="`+svgSpace+`"`, true) + "\n")
}

// inline is the picture as a part of a page. The policy of the pages allows no
// style in it, and when it stands there again its ids need other names.
func (p *picture) inline(times int) string {
	suffix := ""
	if times > 1 {
		suffix = fmt.Sprintf("-%d", times)
	}
	return p.write(suffix, "", false)
}

func (p *picture) write(suffix, space string, styled bool) string {
	var b strings.Builder
	for i, n := range p.nodes {
		switch {
		case !styled && (n.style || n.name == "style"):
		case n.name == "":
			b.WriteString(escape.Replace(n.text))
		case n.end:
			b.WriteString("</" + n.name + ">")
		default:
			b.WriteString("<" + n.name)
			if i == 0 {
				b.WriteString(space)
			}
			for _, a := range n.attrs {
				b.WriteString(" " + a.name + `="` + attribute.Replace(a.renamed(suffix)) + `"`)
			}
			b.WriteString(">")
		}
	}
	return b.String()
}

var attribute = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;")

// themed lets a reader's choice of light or dark count for the pictures too:
// what their style sheet says of dark screens it then says of dark pages.
func themed(style string) string {
	const dark = "@media (prefers-color-scheme:dark){"
	before, rest, found := strings.Cut(style, dark)
	if !found {
		return style
	}
	end, open := 0, 1
	for ; end < len(rest) && open > 0; end++ {
		switch rest[end] {
		case '{':
			open++
		case '}':
			open--
		}
	}
	rules, after := strings.TrimSuffix(rest[:end], "}"), rest[end:]
	return before + dark + ":root:not([data-theme=light]){" + rules + "}}\n" +
		"@media screen{:root[data-theme=dark]{" + rules + "}}" + themed(after)
}
