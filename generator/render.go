package generator

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"
	"sync"
	"text/template"

	"github.com/Masterminds/sprig/v3"

	"bootlab/generator/diagram"
	"bootlab/labs"
)

// File is one generated file. Path is relative to the output directory, with
// slashes.
type File struct {
	Path string
	Mode fs.FileMode
	Data []byte
	// Write stands for Data where the files together are large: it writes the same
	// bytes each time.
	Write func(io.Writer) error
}

func (f File) writeTo(w io.Writer) error {
	if f.Write != nil {
		return f.Write(w)
	}
	_, err := w.Write(f.Data)
	return err
}

// Output is a set of generated files, sorted by path.
type Output struct {
	Files []File
}

// Options are what the generator must know beside lab and release.
type Options struct {
	// LabDir leads from the output directory to the directory of lab.yaml;
	// empty is "..".
	LabDir string
	// Commands is the page with the commands of bootlab, in markdown. Without it
	// there is no such page: the generator does not know them.
	Commands string
}

// commandsID is the page with the commands of bootlab.
const commandsID = "commands"

// places are the script sets and their directories.
var places = []struct {
	place labs.Place
	dir   string
}{{labs.Local, "scripts"}, {labs.Workstation, "scripts"}, {labs.OnNode, "node"}}

// Render makes all files of a lab. Errors name the template or the stage; they
// mean that data and templates do not fit, never that a lab value is wrong.
func Render(p *labs.Plan, templates fs.FS, opts Options) (*Output, error) {
	if opts.LabDir == "" {
		opts.LabDir = ".."
	}
	r, err := newRenderer(p, templates, opts)
	if err != nil {
		return nil, err
	}
	r.diagnosis, r.explained = labs.BuiltinDiagnosis().For(p), p.AnnotatedFiles()
	for _, pl := range places {
		if err := r.scripts(pl.place, pl.dir); err != nil {
			return nil, err
		}
	}
	if err := r.pageTheRest(); err != nil {
		return nil, err
	}
	if err := r.guide(); err != nil {
		return nil, err
	}
	if err := r.releases(); err != nil {
		return nil, err
	}
	if err := r.annotated(); err != nil {
		return nil, err
	}
	if err := r.causes(); err != nil {
		return nil, err
	}
	if err := r.drawPictures(); err != nil {
		return nil, err
	}
	if err := r.chapters(templates); err != nil {
		return nil, err
	}
	if opts.Commands != "" {
		r.add("guide/"+commandsID+".md", 0o644, opts.Commands)
	}
	if err := r.index(); err != nil {
		return nil, err
	}
	if err := r.auditedPage(templates); err != nil {
		return nil, err
	}
	if err := r.addStandInPage(templates); err != nil {
		return nil, err
	}
	if err := r.guideJSON(); err != nil {
		return nil, err
	}
	if err := r.mark(templates); err != nil {
		return nil, err
	}
	if p.Lab.Proxy.HasLogin() {
		closeToOthers(r.out.Files)
	}
	if err := r.overlay(templates); err != nil {
		return nil, err
	}
	sort.Slice(r.out.Files, func(i, j int) bool { return r.out.Files[i].Path < r.out.Files[j].Path })
	return r.out, nil
}

// renderer holds the parsed templates while one output is made.
type renderer struct {
	plan     *labs.Plan
	opts     Options
	parts    *template.Template // what scripts share
	sources  map[string]string  // template name to text
	pages    *template.Template
	out      *Output
	paged    []*scriptData // the stages that have a page in the guide
	pictures []diagram.Picture
	// shared are the libraries of the local run, which have a page each.
	shared []libraryPage
	// What several pages need of the plan, cut to it once.
	diagnosis *labs.Diagnosis
	explained []*labs.AnnotatedFile
}

func newRenderer(p *labs.Plan, templates fs.FS, opts Options) (*renderer, error) {
	r := &renderer{plan: p, opts: opts, sources: map[string]string{}, out: &Output{}}
	names, err := fs.Glob(templates, "scripts/*.tmpl")
	if err != nil {
		return nil, err
	}
	r.parts = template.New("parts").Funcs(functions()).Option("missingkey=error")
	for _, name := range names {
		text, err := fs.ReadFile(templates, name)
		if err != nil {
			return nil, err
		}
		base := path.Base(name)
		if strings.HasPrefix(base, "_") {
			if _, err := r.parts.New(base).Parse(string(text)); err != nil {
				return nil, err
			}
			continue
		}
		r.sources[strings.TrimSuffix(base, ".sh.tmpl")] = string(text)
	}
	for _, name := range stageLibraries {
		text, err := fs.ReadFile(templates, "scripts/lib/"+name+".sh.tmpl")
		if err != nil {
			return nil, err
		}
		r.sources["lib/"+name] = string(text)
	}
	for _, name := range placeLibraries {
		text, err := fs.ReadFile(templates, "scripts/lib/"+name+".tmpl")
		if err != nil {
			return nil, err
		}
		r.sources["lib/"+name] = string(text)
	}
	r.pages, err = template.New("guide").Funcs(functions()).Funcs(r.pictureFunction()).Option("missingkey=error").ParseFS(templates, "guide/*.tmpl")
	return r, err
}

// pure are the functions of sprig that templates may use. The others read the
// clock, the environment or random numbers, or quote for another language than
// the shell.
var pure = []string{"join", "lower", "trim", "replace", "indent", "contains", "hasPrefix", "default", "list"}

var functions = sync.OnceValue(func() template.FuncMap {
	all := sprig.HermeticTxtFuncMap()
	out := template.FuncMap{"shquote": shquote, "comment": comment, "bullet": bullet, "cell": cell, "flag": flagWord, "sentence": sentence, "code": code, "misconception": misconceptionBlock, "advice": labs.Advice, "prose": prose, "span": textSpan, "inline": inline, "plain": plain, "evidence": look, "place": placeName, "inc": func(i int) int { return i + 1 }}
	for _, name := range pure {
		out[name] = all[name]
	}
	return out
})

// scripts renders the scripts and libraries of one place.
func (r *renderer) scripts(place labs.Place, dir string) error {
	stages, err := r.stages(place)
	if err != nil {
		return err
	}
	all, err := settings(r.plan, place, r.opts.LabDir)
	if err != nil {
		return err
	}
	for _, d := range stages {
		if err := r.script(d, dir, all); err != nil {
			return fmt.Errorf("stage %s: %w", d.ID, err)
		}
	}
	if place == labs.Workstation {
		return nil // the local run's libraries stand beside them
	}
	text, err := r.chain(place, all)
	if err != nil {
		return fmt.Errorf("%s: %w", chainScript, err)
	}
	r.share(place, chainScript+".sh", text)
	r.add(dir+"/"+chainScript+".sh", 0o755, text)
	return r.libFiles(place, dir)
}

// sourced adds a library, by its name below the directory of the scripts.
func (r *renderer) sourced(place labs.Place, dir, name string) error {
	text, err := r.library(name)
	r.share(place, name+".sh", text)
	r.add(dir+"/"+name+".sh", 0o644, text)
	return err
}

// stages is what the templates see of the stages that have a script in a place.
func (r *renderer) stages(place labs.Place) ([]*scriptData, error) {
	scripted := r.scripted(place)
	var out []*scriptData
	sharing := map[string][]*scriptData{}
	for i, s := range scripted {
		following := ""
		switch {
		case len(s.Next) > 0:
			following = s.Next[0].Text
		case !s.Parallel:
			following = next(scripted[i+1:])
		}
		if following == "" && place == labs.Local && !s.Optional {
			following = chainScript + ".sh --verify"
		}
		if place == labs.Workstation && s.Kind == "prepare" {
			following = "" // the machines, not a script
		}
		d, err := newScriptData(r.plan, s, place, following)
		if err != nil {
			return nil, fmt.Errorf("stage %s: %w", s.ID, err)
		}
		out = append(out, d)
		sharing[s.ScriptName()] = append(sharing[s.ScriptName()], d)
	}
	for _, d := range out {
		d.Sharing = sharing[d.ScriptName()]
	}
	return out, nil
}

// script renders the script of a stage, unless another stage's does it too, and
// keeps the stage for the guide: each has one page, about the local run's script
// where there is one.
func (r *renderer) script(d *scriptData, dir string, all []setting) error {
	if d.Script == "" {
		if err := r.stageScript(d, dir, all); err != nil {
			return err
		}
	}
	d.Dir = dir
	if d.Place != labs.OnNode || !d.In(labs.Local) {
		r.paged = append(r.paged, d)
	}
	return nil
}

// pageTheRest gives a page to the stages that have no script, and brings the
// pages into the order in which the stages run.
func (r *renderer) pageTheRest() error {
	var ordered []*scriptData
	for _, s := range r.plan.Stages {
		i := slices.IndexFunc(r.paged, func(d *scriptData) bool { return d.ID == s.ID })
		if i >= 0 {
			ordered = append(ordered, r.paged[i])
			continue
		}
		d, err := newScriptData(r.plan, s, labs.OnNode, "")
		if err != nil {
			return fmt.Errorf("stage %s: %w", s.ID, err)
		}
		ordered = append(ordered, d)
	}
	r.paged = ordered
	return nil
}

// library renders a file that scripts source; it has no values of the lab, and
// knows what bootkube.sh of the release has in common for all stages.
func (r *renderer) library(name string) (string, error) {
	t, err := template.New(name + ".sh.tmpl").Funcs(functions()).Parse(r.sources[name])
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, r.plan.Bootkube)
	return b.String(), err
}

// scripted are the plan's stages whose script has a template, and a use in a
// place.
func (r *renderer) scripted(place labs.Place) []*labs.Stage {
	var out []*labs.Stage
	for _, s := range r.plan.Stages {
		if _, ok := r.sources[strings.TrimSuffix(s.ScriptName(), ".sh")]; ok && s.In(place) {
			out = append(out, s)
		}
	}
	return out
}

// next names the script that follows on the way; empty at its end.
func next(rest []*labs.Stage) string {
	for _, s := range rest {
		if !s.Optional {
			return s.Call()
		}
	}
	return ""
}

func (r *renderer) add(p string, mode fs.FileMode, text string) {
	r.out.Files = append(r.out.Files, File{Path: p, Mode: mode, Data: []byte(text)})
}
