package check

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Point is one test point of a script's TAP.
type Point struct {
	OK    bool
	ID    string
	Found string // of a point that is not ok
}

// TAP is what a script said with --verify.
type TAP struct {
	Points []Point
	// Bailed is why the script gave up; empty if it did not.
	Bailed string
	// NotRun is what a stage says that never ran, as "run X.sh first".
	NotRun string
}

var (
	pointLine = regexp.MustCompile(`^(ok|not ok) ([1-9][0-9]{0,5}) - ([a-z0-9][a-z0-9-]*): \S`)
	notRun    = regexp.MustCompile(`^not ok 1 - done: not run yet; (run \S+\.sh first)$`)
	planLine  = regexp.MustCompile(`^1\.\.(0|[1-9][0-9]{0,5})$`)
)

// The lines of a script's TAP that are always the same.
const (
	tapVersion = "TAP version 14"
	bailOut    = "Bail out!"
	blockBegin = "  ---"
	blockEnd   = "  ..."
	blockText  = "    "
	command    = "  command: |-\n"
	comment    = "# "
)

// longest is how much of a line an error quotes.
const longest = 120

// ParseTAP reads a TAP 14 document in the form that lib/checks.sh writes, and
// nothing else: the version, points numbered from 1, each check once, a YAML
// block behind each that is not ok and behind no other, and the plan as the last
// line, or "Bail out!". Comments between them are skipped. A stage that never ran is one point without a block. What
// was read before an error is given too.
func ParseTAP(text string) (*TAP, error) {
	r := &tapReader{rest: text, tap: &TAP{}, seen: map[string]bool{}}
	line, err := r.next()
	if err == nil && line != tapVersion {
		err = fmt.Errorf("line 1 is %s, not %q", quoted(line), tapVersion)
	}
	for err == nil {
		if line, err = r.next(); err != nil {
			break
		}
		if strings.HasPrefix(line, comment) {
			continue
		}
		if reason, bailed := strings.CutPrefix(line, bailOut); bailed {
			r.tap.Bailed = strings.TrimSpace(reason)
			if r.tap.Bailed == "" {
				r.tap.Bailed = "it does not say why"
			}
			return r.tap, r.end()
		}
		if m := planLine.FindStringSubmatch(line); m != nil {
			told := len(r.tap.Points)
			if r.tap.NotRun != "" {
				told++
			}
			if planned := m[1]; strconv.Itoa(told) != planned {
				return r.tap, fmt.Errorf("%s checks were planned, and %d told", planned, told)
			}
			return r.tap, r.end()
		}
		err = r.point(line)
	}
	return r.tap, err
}

type tapReader struct {
	rest string
	line int
	tap  *TAP
	seen map[string]bool
}

// next takes a whole line.
func (r *tapReader) next() (string, error) {
	line, rest, ended := strings.Cut(r.rest, "\n")
	switch {
	case r.rest == "" && r.line == 0:
		return "", fmt.Errorf("nothing was told")
	case r.rest == "":
		return "", fmt.Errorf("it ends behind line %d, without a plan", r.line)
	case !ended:
		return "", fmt.Errorf("line %d is torn: %s", r.line+1, quoted(line))
	}
	r.rest = rest
	r.line++
	return line, nil
}

func (r *tapReader) end() error {
	if r.rest != "" {
		line, _, _ := strings.Cut(r.rest, "\n")
		return fmt.Errorf("line %d follows the end: %s", r.line+1, quoted(line))
	}
	return nil
}

func (r *tapReader) point(line string) error {
	if m := notRun.FindStringSubmatch(line); m != nil && r.line == 2 {
		r.tap.NotRun = m[1]
		return nil
	}
	if r.tap.NotRun != "" {
		return fmt.Errorf("line %d is a check of a stage that never ran: %s", r.line, quoted(line))
	}
	m := pointLine.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("line %d is no check: %s", r.line, quoted(line))
	}
	p := Point{OK: m[1] == "ok", ID: m[3]}
	switch {
	case m[2] != strconv.Itoa(len(r.tap.Points)+1):
		return fmt.Errorf("line %d has number %s, behind %d checks", r.line, m[2], len(r.tap.Points))
	case r.seen[p.ID]:
		return fmt.Errorf("line %d tells check %s twice", r.line, p.ID)
	}
	if !p.OK {
		if err := r.block(&p); err != nil {
			return err
		}
	}
	r.seen[p.ID] = true
	r.tap.Points = append(r.tap.Points, p)
	return nil
}

// block reads what stands behind a check that is not ok: its id, its command, and
// three texts, of which only found is the script's own. Scripts of stage-lib.sh
// tell no command.
func (r *tapReader) block(p *Point) error {
	for _, want := range []string{blockBegin, "  id: " + p.ID} {
		if err := r.exactly(want, p.ID); err != nil {
			return err
		}
	}
	if strings.HasPrefix(r.rest, command) {
		r.next()
		if _, err := r.text("  expected: |-", p.ID); err != nil {
			return err
		}
	} else if err := r.exactly("  expected: |-", p.ID); err != nil {
		return err
	}
	if _, err := r.text("  found: |2-", p.ID); err != nil {
		return err
	}
	var err error
	if p.Found, err = r.text("  hint: |-", p.ID); err != nil {
		return err
	}
	_, err = r.text(blockEnd, p.ID)
	return err
}

func (r *tapReader) exactly(want, id string) error {
	line, err := r.next()
	if err == nil && line != want {
		err = fmt.Errorf("line %d, in the block of %s, is %s, not %q", r.line, id, quoted(line), want)
	}
	return err
}

// text takes the lines of a text, up to the line that ends it.
func (r *tapReader) text(end, id string) (string, error) {
	var lines []string
	for {
		line, err := r.next()
		if err != nil {
			return "", err
		}
		if line == end {
			break
		}
		inside, indented := strings.CutPrefix(line, blockText)
		if !indented {
			return "", fmt.Errorf("line %d, in the block of %s, is %s, not %q", r.line, id, quoted(line), end)
		}
		lines = append(lines, inside)
	}
	text := strings.Join(lines, "\n")
	if strings.TrimSpace(text) == "" {
		return "", fmt.Errorf("line %d: a text of %s is empty", r.line, id)
	}
	return text, nil
}

// quoted shows a line in an error: short, and without what steers a terminal.
func quoted(line string) string {
	if len(line) > longest {
		return strconv.QuoteToASCII(line[:longest]) + "…"
	}
	return strconv.QuoteToASCII(line)
}
