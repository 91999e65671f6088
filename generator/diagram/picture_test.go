package diagram

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
)

var update = flag.Bool("update", false, "rewrite testdata/pictures.txt")

// Every picture of every lab: texts fit, boxes do not overlap, labels cover
// nothing, arrows pass through nothing.
func TestLayout(t *testing.T) {
	for _, p := range plans(t) {
		for _, drawn := range p.drawn {
			wrong := flaws(drawn.scene)
			if g := gridOf(drawn.drawing); g != nil {
				wrong = append(wrong, gridFlaws(g, drawn.scene)...)
			}
			for _, flaw := range wrong {
				t.Errorf("%s: %s: %s", p.name, drawn.picture.Name, flaw)
			}
		}
	}
}

func gridOf(d drawing) *grid {
	switch d := d.(type) {
	case *grid:
		return d
	case *matrix:
		return d.grid
	}
	return nil
}

// The SVG is well-formed, has the text alternatives, and no id of one picture
// is in another. The mermaid text is one that mermaid can read.
func TestPictures(t *testing.T) {
	for _, p := range plans(t) {
		ids := map[string]bool{}
		for _, drawn := range p.drawn {
			picture := drawn.picture
			if err := checkSVG(picture, ids); err != nil {
				t.Errorf("%s: %s: %v", p.name, picture.Name, err)
			}
			if err := checkMermaid(picture.Mermaid); err != nil {
				t.Errorf("%s: %s: %v", p.name, picture.Name, err)
			}
		}
	}
}

func checkSVG(p Picture, ids map[string]bool) error {
	known := []string{"svg", "title", "desc", "style", "rect", "path", "text"}
	decoder := xml.NewDecoder(bytes.NewReader(p.SVG))
	texts := map[string]string{}
	last := ""
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			last = token.Name.Local
			if !slices.Contains(known, last) {
				return fmt.Errorf("it has an element %s", last)
			}
			if err := checkAttributes(p, token, ids); err != nil {
				return err
			}
		case xml.CharData:
			texts[last] += string(token)
		}
	}
	if strings.TrimSpace(texts["title"]) != p.Title || strings.TrimSpace(texts["desc"]) != p.Description {
		return fmt.Errorf("title or description differ")
	}
	if len(p.Title) < 10 || len(p.Description) < 80 {
		return fmt.Errorf("title or description say little: %q, %q", p.Title, p.Description)
	}
	return nil
}

func checkAttributes(p Picture, e xml.StartElement, ids map[string]bool) error {
	for _, a := range e.Attr {
		switch a.Name.Local {
		case "id":
			if ids[a.Value] || !strings.HasPrefix(a.Value, p.Name+"-") {
				return fmt.Errorf("id %s is used twice, or is not the picture's own", a.Value)
			}
			ids[a.Value] = true
		case "aria-labelledby":
			if want := p.Name + "-title " + p.Name + "-desc"; a.Value != want {
				return fmt.Errorf("it is labelled by %q, not by %q", a.Value, want)
			}
		case "class":
			for _, class := range strings.Fields(a.Value) {
				if class != "pic" && !strings.HasPrefix(class, "pic-") {
					return fmt.Errorf("class %s is not ours", class)
				}
			}
		}
		if strings.HasPrefix(strings.ToLower(a.Name.Local), "on") || strings.Contains(a.Value, "javascript:") {
			return fmt.Errorf("attribute %s runs something", a.Name.Local)
		}
	}
	return nil
}

// The same plan gives the same bytes, and drawing changes nothing in the plan.
func TestRepeatable(t *testing.T) {
	for _, example := range labs.ExampleList() {
		p := plan(t, example.Name, "4.21", nil)
		first, err := Pictures(p)
		if err != nil {
			t.Fatal(err)
		}
		second, err := Pictures(p)
		if err != nil {
			t.Fatal(err)
		}
		for i := range first {
			if !bytes.Equal(first[i].SVG, second[i].SVG) || first[i].Mermaid != second[i].Mermaid {
				t.Errorf("%s: %s differs when it is drawn again", example.Name, first[i].Name)
			}
		}
	}
}

// Names and titles of the pictures, per lab and release.
func TestNames(t *testing.T) {
	const golden = "testdata/pictures.txt"
	var b strings.Builder
	for _, p := range plans(t)[:len(labs.ExampleList())*len(labs.Builtin().ReleaseIDs())] {
		fmt.Fprintf(&b, "%s\n", p.name)
		for _, drawn := range p.drawn {
			fmt.Fprintf(&b, "  %s: %s\n", drawn.picture.Name, drawn.picture.Title)
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("%s is out of date; run go test ./generator/diagram -update and read the difference", golden)
	}
}

func BenchmarkPictures(b *testing.B) {
	p := plan(b, "ha", "4.21", nil)
	for b.Loop() {
		if _, err := Pictures(p); err != nil {
			b.Fatal(err)
		}
	}
}
