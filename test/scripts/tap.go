package scripts

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Point is one test point of a TAP document.
type Point struct {
	OK                    bool
	Number                int
	ID, Title             string
	Expected, Found, Hint string
	Command               string // what a person can type
}

var (
	pointLine = regexp.MustCompile(`^(ok|not ok) ([1-9][0-9]*) - ([a-z0-9-]+): (\S.*)$`)
	planLine  = regexp.MustCompile(`^1\.\.([0-9]+)$`)
)

// standInComment follows the version once release-info.sh has run: the release of
// these tests is a stand-in.
const standInComment = "# stand-in release made by bootlab: no operator in it is real"

// ParseTAP reads a TAP 14 document in the form that scripts write, and nothing
// else: the version, points numbered from 1, a YAML block behind each that is
// not ok and behind no other, and the plan as the last line.
func ParseTAP(text string) ([]Point, error) {
	lines, ended := strings.CutSuffix(text, "\n")
	if !ended {
		return nil, fmt.Errorf("the last line is not ended")
	}
	r := &tapReader{lines: strings.Split(lines, "\n")}
	if r.next() != "TAP version 14" {
		return nil, fmt.Errorf("line 1 is %q", r.lines[0])
	}
	for r.at < len(r.lines) {
		line := r.next()
		if r.at == 2 && line == standInComment {
			continue
		}
		if m := planLine.FindStringSubmatch(line); m != nil {
			return r.points, r.finish(m[1])
		}
		if err := r.point(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", r.at, err)
		}
	}
	return nil, fmt.Errorf("there is no plan")
}

type tapReader struct {
	lines  []string
	at     int
	points []Point
}

func (r *tapReader) next() string {
	r.at++
	return r.lines[r.at-1]
}

func (r *tapReader) finish(planned string) error {
	if r.at != len(r.lines) {
		return fmt.Errorf("line %d follows the plan: %q", r.at+1, r.lines[r.at])
	}
	if strconv.Itoa(len(r.points)) != planned {
		return fmt.Errorf("%d points, %s planned", len(r.points), planned)
	}
	return nil
}

func (r *tapReader) point(line string) error {
	m := pointLine.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("%q is no test point", line)
	}
	number, _ := strconv.Atoi(m[2])
	p := Point{OK: m[1] == "ok", Number: number, ID: m[3], Title: m[4]}
	if number != len(r.points)+1 {
		return fmt.Errorf("number %d behind %d points", number, len(r.points))
	}
	if strings.ContainsAny(strings.ReplaceAll(strings.ReplaceAll(p.Title, `\\`, ""), `\#`, ""), `#`) {
		return fmt.Errorf("an unescaped # begins a directive: %q", line)
	}
	if !p.OK {
		if err := r.block(&p); err != nil {
			return err
		}
	}
	r.points = append(r.points, p)
	return nil
}

// block reads the YAML block of a point.
func (r *tapReader) block(p *Point) error {
	if r.at >= len(r.lines) || r.next() != "  ---" {
		return fmt.Errorf("no YAML block behind %q", p.ID)
	}
	var text strings.Builder
	for r.at < len(r.lines) {
		line := r.next()
		if line == "  ..." {
			return p.decode(text.String())
		}
		rest, indented := strings.CutPrefix(line, "  ")
		if !indented {
			return fmt.Errorf("%q stands in a YAML block", line)
		}
		text.WriteString(rest + "\n")
	}
	return fmt.Errorf("the YAML block of %q is not ended", p.ID)
}

func (p *Point) decode(text string) error {
	var m map[string]string
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		return err
	}
	for _, key := range []string{"id", "expected", "found", "hint"} {
		if strings.TrimSpace(m[key]) == "" {
			return fmt.Errorf("%s of %s is empty", key, p.ID)
		}
	}
	command, told := m["command"]
	if told && strings.TrimSpace(command) == "" {
		return fmt.Errorf("command of %s is empty", p.ID)
	}
	delete(m, "command")
	if len(m) != 4 || m["id"] != p.ID {
		return fmt.Errorf("the YAML block of %s holds %v", p.ID, m)
	}
	p.Expected, p.Found, p.Hint, p.Command = m["expected"], m["found"], m["hint"], command
	return nil
}

// Subtest is what one script said inside the document of render-all.sh.
type Subtest struct {
	ID     string
	OK     bool
	Points []Point
}

// ParseSubtests reads the TAP 14 document of render-all.sh as strictly: a
// subtest a stage and nothing beside them, each with a document of its own that
// its test point sums up.
func ParseSubtests(text string) ([]Subtest, error) {
	lines, ended := strings.CutSuffix(text, "\n")
	if !ended {
		return nil, fmt.Errorf("the last line is not ended")
	}
	r := &tapReader{lines: strings.Split(lines, "\n")}
	if r.next() != "TAP version 14" {
		return nil, fmt.Errorf("line 1 is %q", r.lines[0])
	}
	var all []Subtest
	for r.at < len(r.lines) {
		line := r.next()
		if r.at == 2 && line == standInComment {
			continue
		}
		if m := planLine.FindStringSubmatch(line); m != nil {
			r.points = make([]Point, len(all))
			return all, r.finish(m[1])
		}
		id, begins := strings.CutPrefix(line, "# Subtest: ")
		if !begins {
			return nil, fmt.Errorf("line %d: %q begins no subtest", r.at, line)
		}
		s, err := r.subtest(id, len(all)+1)
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", r.at, id, err)
		}
		all = append(all, s)
	}
	return nil, fmt.Errorf("there is no plan")
}

// subtest reads an indented document and the point that sums it up.
func (r *tapReader) subtest(id string, number int) (Subtest, error) {
	document := "TAP version 14\n"
	for r.at < len(r.lines) {
		line := r.next()
		inside, indented := strings.CutPrefix(line, "    ")
		if indented {
			document += inside + "\n"
			continue
		}
		points, err := ParseTAP(document)
		if err != nil {
			return Subtest{}, err
		}
		s := Subtest{ID: id, OK: len(Failed(points)) == 0, Points: points}
		sum := fmt.Sprintf("ok %d - %s", number, id)
		if !s.OK {
			sum = "not " + sum
		}
		if line != sum {
			return s, fmt.Errorf("%q, not %q", line, sum)
		}
		return s, nil
	}
	return Subtest{}, fmt.Errorf("it is not ended")
}

// Failed lists the ids of the points that are not ok.
func Failed(points []Point) []string {
	var ids []string
	for _, p := range points {
		if !p.OK {
			ids = append(ids, p.ID)
		}
	}
	return ids
}
