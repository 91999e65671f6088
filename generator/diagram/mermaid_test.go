package diagram

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var (
	boxLineForm   = regexp.MustCompile(`^ +(?:subgraph )?([a-z][a-z0-9_]*)\["([^"]*)"\]$`)
	arrowForm     = regexp.MustCompile(`^  ([a-z][a-z0-9_]*) (?:-->|-\.->|<-->|<-\.->)(?:\|"([^"]*)"\|)? ([a-z][a-z0-9_]*)$`)
	laneForm      = regexp.MustCompile(`^  participant ([a-z]+) as (.+)$`)
	noteForm      = regexp.MustCompile(`^  Note (?:over|left of) ([a-z]+)(?:,([a-z]+))?: (.+)$`)
	messageForm   = regexp.MustCompile(`^  ([a-z]+)--?>>([a-z]+): (.+)$`)
	entity        = regexp.MustCompile(`#[0-9]+;`)
	listOf        = regexp.MustCompile(`^([0-9]+\.|-)`)
	plainWords    = regexp.MustCompile(`^[\pL\pN .,:/()\-_?!+=*']*$`)
	mermaidsOwn   = regexp.MustCompile(`^(end|graph|flowchart|subgraph|style|class|classdef|click|default|linkstyle|direction|call|href)$`)
	headerOfKinds = regexp.MustCompile(`^(flowchart TB|flowchart LR|sequenceDiagram)$`)
)

// checkMermaid holds a text to the part of mermaid's grammar that we use.
func checkMermaid(text string) error {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < 4 || !headerOfKinds.MatchString(lines[0]) {
		return fmt.Errorf("it begins with %q", lines[0])
	}
	for i, word := range []string{"  accTitle: ", "  accDescr: "} {
		rest, found := strings.CutPrefix(lines[i+1], word)
		if !found || !plainWords.MatchString(rest) {
			return fmt.Errorf("line %d is %q", i+2, lines[i+1])
		}
	}
	if lines[0] == "sequenceDiagram" {
		return checkSequence(lines[3:])
	}
	return checkFlowchart(lines[3:])
}

func checkWords(words string) error {
	for _, part := range strings.Split(words, "<br/>") {
		if !plainWords.MatchString(entity.ReplaceAllString(part, "")) || listOf.MatchString(part) {
			return fmt.Errorf("a label holds %q", part)
		}
	}
	return nil
}

func checkFlowchart(lines []string) error {
	known, open := map[string]bool{}, 0
	for _, line := range lines {
		words := ""
		if m := boxLineForm.FindStringSubmatch(line); m != nil {
			if known[m[1]] || mermaidsOwn.MatchString(m[1]) {
				return fmt.Errorf("%s is there twice, or means something to mermaid", m[1])
			}
			known[m[1]], words = true, m[2]
			if strings.HasPrefix(strings.TrimSpace(line), "subgraph ") {
				open++
			}
		} else if m := arrowForm.FindStringSubmatch(line); m != nil {
			if !known[m[1]] || !known[m[3]] {
				return fmt.Errorf("%q leads from or to nothing", line)
			}
			words = m[2]
		} else if strings.TrimSpace(line) == "end" && open > 0 {
			open--
		} else {
			return fmt.Errorf("%q is no line of a flowchart", line)
		}
		if err := checkWords(words); err != nil {
			return err
		}
	}
	if open != 0 {
		return fmt.Errorf("%d subgraphs are open", open)
	}
	return nil
}

func checkSequence(lines []string) error {
	known := map[string]bool{"": true}
	for _, line := range lines {
		var who []string
		words := ""
		if m := laneForm.FindStringSubmatch(line); m != nil {
			known[m[1]], words = true, m[2]
		} else if m := noteForm.FindStringSubmatch(line); m != nil {
			who, words = m[1:3], m[3]
		} else if m := messageForm.FindStringSubmatch(line); m != nil {
			who, words = m[1:3], m[3]
		} else {
			return fmt.Errorf("%q is no line of a sequence diagram", line)
		}
		for _, w := range who {
			if !known[w] {
				return fmt.Errorf("%q names nothing known", line)
			}
		}
		if err := checkWords(words); err != nil {
			return err
		}
	}
	return nil
}

// The check of mermaid texts finds what it is there for.
func TestMermaidFlawsAreFound(t *testing.T) {
	const head = "flowchart TB\n  accTitle: A\n  accDescr: B\n"
	for _, text := range []string{
		"pie\n  accTitle: A\n  accDescr: B\n  a[\"b\"]\n",
		"flowchart TB\n  a[\"b\"]\n  b[\"c\"]\n  c[\"c\"]\n",
		head + "  a[b]\n",
		head + "  a[\"1. b\"]\n",
		head + "  a[\"b<br/>- c\"]\n",
		head + "  a[\"b\"c\"]\n",
		head + "  a[\"b<i>\"]\n",
		head + "  a[\"`b`\"]\n",
		head + "  a[\"b\"]\n  a[\"b\"]\n",
		head + "  end[\"b\"]\n",
		head + "  a[\"b\"]\n  a --> c\n",
		head + "  subgraph a[\"b\"]\n",
		head + "  %%{init: {}}%%\n",
		"sequenceDiagram\n  accTitle: A\n  accDescr: B\n  Note over a: b\n",
		"sequenceDiagram\n  accTitle: A\n  accDescr: B\n  participant a as A; participant b\n",
	} {
		if checkMermaid(text) == nil {
			t.Errorf("nothing is found in %q", text)
		}
	}
	if err := checkMermaid(head + "  subgraph p[\"P\"]\n    a[\"b#quot;\"]\n  end\n"); err == nil {
		t.Error("an entity that is no number is not found")
	}
	if err := checkMermaid(head + "  subgraph p[\"P\"]\n    a[\"b#34;<br/>c\"]\n  end\n  b[\"b\"]\n  a -->|\"x\"| b\n"); err != nil {
		t.Errorf("a sound text is refused: %v", err)
	}
}
