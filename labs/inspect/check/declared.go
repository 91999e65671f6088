package check

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/record"
)

// Declared verifies the stages of a lab on what a bundle kept: by what the scripts
// themselves said, or, in a bundle that no script of ours has seen, by what can be
// told of certificates and of the structure of manifests.
type Declared struct {
	Plan  *labs.Plan
	Files *Files
	// From is the file or directory that is looked at, for the report.
	From string
	// Place is where the scripts ran that made the files.
	Place labs.Place
	// Records are those of the services there; a marker or a record says that a
	// stage was done.
	Records []*record.Service
	// Values are the settings of the scripts, by the names of their variables.
	Values map[string]string
	Advice Advice
	// TAP holds STAGE.tap for each stage whose script was asked; nil if none was.
	TAP fs.FS
}

// Here says whether "all" means a stage.
func (d *Declared) Here(s *labs.Stage) bool { return s.In(d.Place) }

// Run verifies the chosen stages. Nothing fails because it is not kept: such a
// check says that it cannot be checked, and why.
func (d *Declared) Run(chosen []Choice) *Report {
	r := newReport(d.Plan, d.From)
	seen := d.begun()
	for _, c := range chosen {
		r.Stages = append(r.Stages, d.stage(c, seen))
	}
	r.sum()
	return r
}

func (d *Declared) stage(c Choice, seen *begun) Stage {
	stage := newStage(c.Stage, "bundle")
	if done, why := seen.has(c.Stage); !c.Named && !done {
		stage.State, stage.Problem = NotDone, why
		return stage
	}
	if said, err := d.said(c.ID); err == nil {
		return d.kept(stage, c.Stage, said)
	}
	for i := range c.Checks {
		check := &c.Checks[i]
		result := newResult(check, d.Place, d.Advice)
		counts, err := d.Files.counts(check.When)
		switch {
		case err != nil:
			result.Outcome, result.Problem = CannotTell, d.cannot(err)
		case !counts:
			continue
		default:
			d.judge(check, &result)
		}
		stage.Checks = append(stage.Checks, result)
	}
	return stage
}

// said is the TAP that a bundle kept of a stage.
func (d *Declared) said(id string) ([]byte, error) {
	if d.TAP == nil {
		return nil, fs.ErrNotExist
	}
	return fs.ReadFile(d.TAP, id+".tap")
}

// kept makes a stage of what its script said when the bundle was gathered. The
// status of the script follows from what it said.
func (d *Declared) kept(stage Stage, s *labs.Stage, said []byte) Stage {
	result := host.Result{Out: said, Cut: len(said) > saidLimit}
	tap, _ := ParseTAP(string(said))
	switch {
	case tap.NotRun != "":
		stage.State, stage.Problem, stage.Hint = NotDone, "it had not run yet", tap.NotRun
		return stage
	case slices.ContainsFunc(tap.Points, func(p Point) bool { return !p.OK }), tap.Bailed != "":
		result.Status = 3
	}
	return Judge(stage, s, d.Place, result, d.Advice)
}

// begun looks for markers and records.
func (d *Declared) begun() *begun {
	b := &begun{services: d.Records}
	entries, err := fs.ReadDir(d.Files.Assets, ".")
	if err != nil {
		return b
	}
	for _, e := range entries {
		b.names = append(b.names, e.Name())
	}
	return b
}

func (d *Declared) cannot(err error) string {
	if d.Files.Bundle {
		return "cannot be checked in a bundle: " + err.Error()
	}
	return "cannot be checked from outside: " + err.Error()
}

// look is what an observation finds. What is wrong counts for more than what
// cannot be known.
type look struct {
	files  *Files
	said   []string
	bad    bool
	cannot []error
}

// wrong says what is not as it should be.
func (l *look) wrong(format string, args ...any) {
	l.said = append(l.said, fmt.Sprintf(format, args...))
	l.bad = true
}

// unsure says what cannot be known, each reason once.
func (l *look) unsure(err error) {
	for _, known := range l.cannot {
		if known.Error() == err.Error() {
			return
		}
	}
	l.cannot = append(l.cannot, err)
}

func (d *Declared) judge(c *labs.Check, result *Result) {
	name, declaration, err := c.Declaration()
	if err != nil {
		result.Outcome, result.Problem = CouldNotRun, err.Error()
		return
	}
	l := &look{files: d.Files}
	if err := d.observe(l, name, declaration); err != nil {
		l.unsure(err)
	}
	switch {
	case l.bad:
		result.Outcome, result.Found = Failed, strings.Join(l.said, "\n")
	case len(l.cannot) > 0:
		result.Outcome, result.Problem = CannotTell, d.cannot(errors.Join(l.cannot...))
	default:
		result.Outcome = Passed
	}
}

// errScript is why a check is left to its script.
var errScript = errors.New("its script looks at this; bootlab gather keeps what the script says")

// observe looks at what a declaration names. An error is why it cannot.
func (d *Declared) observe(l *look, name string, declaration any) error {
	switch c := declaration.(type) {
	case *labs.PresentCheck:
		return d.observeFiles(l, name, c.Paths)
	case *labs.ChainCheck:
		l.chain(d.paths(l, c.CA), d.paths(l, c.Paths...))
	case *labs.SubjectCheck:
		return d.subject(l, c)
	case *labs.NamesCheck:
		return d.names(l, c)
	case *labs.UsageCheck:
		l.extensionIs(usages, c.Usage, d.paths(l, c.Paths...))
	case *labs.FreshCheck:
		l.fresh(c.Minutes, d.paths(l, c.Paths...))
	case *labs.BundleCheck:
		l.bundle(d.paths(l, c.Path), d.paths(l, c.Paths...))
	default:
		return errScript
	}
	return nil
}

// observeFiles does so for the declarations that name files and nothing else.
func (d *Declared) observeFiles(l *look, name string, paths []string) error {
	switch name {
	case "images":
		l.images(d.paths(l, paths...))
	case "keyPair":
		l.keyPair(d.paths(l, paths...))
	case "objects":
		l.objects(d.paths(l, paths...))
	default:
		return errScript
	}
	return nil
}

var variable = regexp.MustCompile(`\$\{?([A-Z][A-Z0-9_]*)\}?`)

// fill puts values in the place of $NAME.
func (d *Declared) fill(text string) (string, error) {
	var missing error
	filled := variable.ReplaceAllStringFunc(text, func(word string) string {
		name := variable.FindStringSubmatch(word)[1]
		value, err := d.variable(name)
		if err != nil {
			missing = err
		}
		return value
	})
	return filled, missing
}

func (d *Declared) variable(name string) (string, error) {
	if value, ok := d.Values[name]; ok {
		return value, nil
	}
	return "", fmt.Errorf("only the script knows $%s", name)
}

// paths are the files that the paths of a declaration mean.
func (d *Declared) paths(l *look, patterns ...string) []string {
	var all []string
	for _, pattern := range patterns {
		filled, err := d.fill(pattern)
		if err != nil {
			l.unsure(err)
			continue
		}
		if filled != pattern { // the shell quotes such a path, and matches nothing in it
			all = append(all, filled)
			continue
		}
		names, more, err := l.files.expand(pattern)
		if more {
			l.unsure(errLeftOut)
		}
		if err != nil {
			l.unsure(err)
			continue
		}
		all = append(all, names...)
	}
	return all
}
