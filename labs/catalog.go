package labs

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Data is everything bootlab knows: stages, releases, fields and what
// bootkube.sh does around its stages.
//
//go:embed data
var Data embed.FS

// Catalog is Data, read.
type Catalog struct {
	Bootkube *Bootkube
	Releases []*Release // oldest first
	Stages   []*Stage   // in the order they run
}

// Builtin reads the data that bootlab carries, once in a process. It panics if
// that data is malformed, which the package's tests rule out.
var Builtin = sync.OnceValue(catalogSource.mustLoad)

// LoadCatalog reads stage data from a file tree. All problems of all files are
// reported together, as [Problems]. It decodes strictly; what holds between
// files is asked of [Catalog.Validate].
func LoadCatalog(fsys fs.FS) (*Catalog, error) {
	c := &Catalog{Bootkube: &Bootkube{}}
	problems := readYAML(fsys, "bootkube.yaml", c.Bootkube)
	for _, name := range releaseOrder {
		r := &Release{}
		problems = append(problems, readYAML(fsys, "releases/"+name+".yaml", r)...)
		c.Releases = append(c.Releases, r)
	}
	stages := make([]*Stage, len(c.Bootkube.Order))
	found := make([]Problems, len(stages))
	var wait sync.WaitGroup
	for i, id := range c.Bootkube.Order {
		stages[i] = &Stage{}
		wait.Add(1)
		go func() {
			defer wait.Done()
			found[i] = readYAML(fsys, "stages/"+id+".yaml", stages[i])
		}()
	}
	wait.Wait()
	c.Stages = stages
	for _, ps := range found {
		problems = append(problems, ps...)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return c, nil
}

// releaseOrder lists the known releases, oldest first; main is what is being
// developed.
var releaseOrder = []string{"4.14", "4.15", "4.16", "4.17", "4.18", "4.19", "4.20", "4.21", "main"}

func readYAML(fsys fs.FS, name string, into any) Problems {
	f, err := fsys.Open(name)
	if err != nil {
		return Problems{{File: name, Message: "cannot be read: " + plainError(err)}}
	}
	defer f.Close()
	d, ps := readDocument(name, f)
	if len(ps) > 0 {
		return ps
	}
	return d.decode(into)
}

// Stage returns the stage of that id; nil if there is none.
func (c *Catalog) Stage(id string) *Stage {
	for _, s := range c.Stages {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// Release returns the release of that id; nil if it is not known.
func (c *Catalog) Release(id string) *Release {
	for _, r := range c.Releases {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// ReleaseIDs lists the known releases, oldest first.
func (c *Catalog) ReleaseIDs() []string { return append([]string(nil), releaseOrder...) }

// age is the place of a release among the known ones, -1 if it is unknown.
func age(release string) int {
	for i, id := range releaseOrder {
		if id == release {
			return i
		}
	}
	return -1
}

// Holds says whether a release lies in the span.
func (s Span) Holds(release string) bool {
	at := age(release)
	return (s.Since == "" || at >= age(s.Since)) && (s.Until == "" || at <= age(s.Until))
}

// Validate says what holds between the files of a catalog and does not: ids
// that are their file's name, spans of known releases, texts and sources that
// must not be missing, references to stages that exist. It joins all it finds.
func (c *Catalog) Validate() error {
	var errs []error
	complain := func(s *Stage, format string, args ...any) {
		errs = append(errs, fmt.Errorf("stages/%s.yaml: %s", s.ID, fmt.Sprintf(format, args...)))
	}
	seen := map[string]bool{}
	for i, s := range c.Stages {
		if want := c.Bootkube.Order[i]; s.ID != want {
			complain(s, "id is %q, the file is %s.yaml", s.ID, want)
		}
		if seen[s.ID] {
			complain(s, "stands twice in the order")
		}
		seen[s.ID] = true
	}
	for _, s := range c.Stages {
		c.validateStage(s, func(format string, args ...any) { complain(s, format, args...) })
	}
	for _, r := range c.Releases {
		if r.Source == "" || (r.Confidence != "high" && r.Confidence != "medium") {
			errs = append(errs, fmt.Errorf("releases/%s.yaml: source, and confidence high or medium, are required", r.ID))
		}
	}
	return errors.Join(errs...)
}

func (c *Catalog) validateStage(s *Stage, complain func(string, ...any)) {
	for name, value := range map[string]string{"title": s.Title, "why": s.Why, "source": s.Source} {
		if strings.TrimSpace(value) == "" {
			complain("%s is required", name)
		}
	}
	if !slices.Contains(Kinds, s.Kind) {
		complain("kind %q is none of %s", s.Kind, strings.Join(Kinds, ", "))
	}
	each(s, func(at string, when Condition) {
		for _, key := range append(slices.Clone(when.With), when.Without...) {
			if !valueAt(reflect.ValueOf(Lab{}), key).IsValid() {
				complain("%s: lab.yaml has no key %q", at, key)
			}
		}
	})
	each(s, func(at string, sp Span) {
		for _, release := range []string{sp.Since, sp.Until} {
			if release != "" && age(release) < 0 {
				complain("%s: release %q is not known", at, release)
			}
		}
	})
	c.validatePhase(s, complain)
	s.validatePictures(complain)
	for key, text := range s.Texts() {
		if strings.TrimSpace(text) == "" {
			complain("text %s is empty", key)
		}
	}
	for _, inv := range s.Invalidates {
		if c.Stage(inv.Stage) == nil {
			complain("invalidates %q, which is no stage", inv.Stage)
		}
	}
	ids := map[string]bool{}
	for i := range s.Checks {
		ck := &s.Checks[i]
		if _, _, err := ck.Declaration(); err != nil {
			complain("check %s %v", ck.ID, err)
		}
		if ck.Command != nil && strings.TrimSpace(ck.Command.Text) == "" {
			complain("check %s has an empty command", ck.ID)
		}
		if ids[ck.ID] {
			complain("check %s stands twice", ck.ID)
		}
		ids[ck.ID] = true
	}
	if s.Run != nil && s.Run.Image != "release" && c.imageVariable(s.Run.Image) == "" {
		complain("image %q has no variable in bootkube.yaml", s.Run.Image)
	}
	for _, in := range s.Reads {
		if in.From == "" && !c.written(in.Path, s.ID) {
			complain("reads %s, which no earlier stage writes; name its origin in from", in.Path)
		}
	}
}

// imageVariable is the shell variable that holds the image of a payload name.
func (c *Catalog) imageVariable(payload string) string {
	for _, v := range c.Bootkube.Images {
		if v.Name == payload {
			return v.Variable
		}
	}
	return ""
}

// written says whether a stage before the given one writes or copies to a path.
func (c *Catalog) written(p, before string) bool {
	for _, s := range c.Stages {
		if s.ID == before {
			return false
		}
		for _, out := range s.Outputs {
			if covers(out.Path, p) {
				return true
			}
		}
		for _, cp := range s.Copies {
			if cp.To == p || strings.HasSuffix(cp.To, "/") && covers(cp.To, p) {
				return true
			}
		}
	}
	return false
}

// covers says whether an output path names a file: the same path, a directory
// above it, or a pattern that matches it.
func covers(output, p string) bool {
	if output == p || strings.HasSuffix(output, "/") && strings.HasPrefix(p, output) {
		return true
	}
	if !strings.ContainsAny(output, `*?[\`) {
		return false // no pattern, as most are
	}
	ok, err := path.Match(output, p)
	return err == nil && ok
}
