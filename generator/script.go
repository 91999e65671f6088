package generator

import (
	"maps"
	"slices"
	"strings"

	"bootlab/generator/overlay"
	"bootlab/labs"
)

// scriptData is what the script templates see. Everything is computed here;
// templates only choose and loop.
type scriptData struct {
	*labs.Stage
	Lab     *labs.Lab
	Release *labs.Release
	Place   labs.Place
	plan    *labs.Plan

	Body     string
	Settings []setting
	Next     string
	Dir      string        // where the script stands in the output
	Sharing  []*scriptData // the stages that the script does, this one among them

	ImageLookups []labs.ImageVariable
	InfoLookups  []infoLookup
	CheckLookups []infoLookup

	Libraries     []string  // of lib/, beside stage.sh, by what the script calls
	CheckSettings []setting // of checks/STAGE.sh
	steps         int       // how many steps have a number
}

// infoLookup is a shell variable whose value release-info.sh wrote down.
type infoLookup struct{ Variable, File string }

// releaseInfoFiles are the variables of bootkube.sh that release-info.sh finds.
var releaseInfoFiles = []infoLookup{
	{"RELEASE_IMAGE_DIGEST", "digest"},
	{"VERSION", "version"},
	{"KUBERNETES_VERSION", "kubernetes-version"},
}

// Scripted says whether the stage has a script; all others are bootkube.sh's
// alone.
func (d *scriptData) Scripted() bool { return d.Dir != "" }

func newScriptData(p *labs.Plan, s *labs.Stage, place labs.Place, next string) (*scriptData, error) {
	d := &scriptData{Stage: s, Lab: p.Lab, Release: p.Release, Place: place, plan: p, Next: next}
	return d, d.lookUps()
}

// lookUps finds which images and which facts of the release the container's
// command line needs, and which of them the checks compare with.
func (d *scriptData) lookUps() error {
	line := ""
	if d.Run != nil {
		line = "$" + strings.Trim(d.OperatorImage(), "${}") + " "
		for _, f := range d.Run.Flags {
			line += f.Value + " "
		}
	}
	checks := ""
	commands, err := d.CheckCommands()
	for _, c := range commands {
		checks += c.Text + " "
	}
	inLine, inChecks := mentions(line), mentions(checks)
	for _, v := range d.plan.Bootkube.Images {
		if inLine[v.Variable] {
			d.ImageLookups = append(d.ImageLookups, v)
		}
	}
	for _, info := range releaseInfoFiles {
		if inLine[info.Variable] {
			d.InfoLookups = append(d.InfoLookups, info)
		}
		if inChecks[info.Variable] {
			d.CheckLookups = append(d.CheckLookups, info)
		}
	}
	return err
}

// OperatorImage is the shell expression for the image of the container.
func (d *scriptData) OperatorImage() string {
	if d.Run.Image == "release" {
		return "${RELEASE_IMAGE_DIGEST}"
	}
	return "${" + d.plan.ImageVariable(d.Run.Image) + "}"
}

// PodmanBase are the options of every podman run of bootkube.sh.
func (d *scriptData) PodmanBase() string { return podmanBase(d.plan) }

func podmanBase(p *labs.Plan) string {
	var options []string
	for _, o := range p.Bootkube.Podman {
		options = append(options, o.Option)
	}
	return strings.Join(options, " ")
}

// PodmanLines are the options of this podman run, one a line.
func (d *scriptData) PodmanLines() []string {
	var lines []string
	for _, o := range d.Run.Options {
		lines = append(lines, o.Option)
	}
	volume := d.Run.Volume
	if volume == "" {
		volume = d.plan.Bootkube.AssetVolume
	}
	return append(lines, "--volume "+shexpand(volume))
}

// FlagLines are the flags of the command in the container, one a line; flags
// that depend on a file come from the array that the script fills before.
func (d *scriptData) FlagLines() []string {
	var lines []string
	for _, f := range d.Run.Flags {
		if f.When.File == "" {
			lines = append(lines, flagWord(f))
		}
	}
	if len(d.ConditionalFlags()) > 0 {
		lines = append(lines, `"${additional_flags[@]}"`)
	}
	return lines
}

// ConditionalFlags are the flags that are given only where a file is there.
func (d *scriptData) ConditionalFlags() []labs.Flag {
	var out []labs.Flag
	for _, f := range d.Run.Flags {
		if f.When.File != "" {
			out = append(out, f)
		}
	}
	return out
}

func flagWord(f labs.Flag) string {
	switch {
	case f.Value == "":
		return f.Flag
	case f.Separate:
		return f.Flag + " " + shexpand(f.Value)
	}
	return f.Flag + "=" + shexpand(f.Value)
}

// FlagNotes says of every flag why it is given.
func (d *scriptData) FlagNotes() []string {
	var notes []string
	for _, f := range d.Run.Flags {
		if f.Why != "" {
			notes = append(notes, f.Flag+": "+strings.TrimSpace(f.Why))
		}
	}
	return notes
}

// Directories are those that the stage makes before it copies.
func (d *scriptData) Directories() string {
	words := []string{}
	for _, dir := range d.Mkdir {
		words = append(words, shpath(dir))
	}
	return breakWords("  ", words)
}

// copyLine is a copy as a command of the script, and why it is made.
type copyLine struct{ Why, Line string }

// staticPods is where the kubelet looks for manifests of static pods.
const staticPods = "/etc/kubernetes/manifests/"

// CopyLines are the stage's copies in bootkube's order, but that what the
// kubelet starts comes last, when all that it mounts is there.
func (d *scriptData) CopyLines() []copyLine {
	var out, last []copyLine
	for _, c := range d.Copies {
		words := []string{"copy_files"}
		if c.Recursive {
			words = append(words, "--recursive")
		}
		from := shpath(c.From)
		if plainGlob.MatchString(c.From) && !plainWord.MatchString(c.From) {
			from = "'" + c.From + "'" // the library matches it
		}
		words = append(words, from, shpath(c.To))
		line := breakWords("  ", words)
		if only, _ := condition(c.When); only != "" {
			line = "if " + only + "; then\n    " + breakWords("    ", words) + "\n  fi"
		}
		if c.To == staticPods {
			last = append(last, copyLine{strings.TrimSpace(c.Why), line})
		} else {
			out = append(out, copyLine{strings.TrimSpace(c.Why), line})
		}
	}
	return append(out, last...)
}

// Commands are those the script needs, the libraries' own included.
func (d *scriptData) Commands() []string {
	var out []string
	for _, c := range d.Needs {
		// On the workstation oc is one of the release's tools, which is read. Pods
		// run on the node only.
		if c == "oc" && d.Place == labs.Workstation || c == "crictl" && d.Place != labs.OnNode {
			continue
		}
		out = append(out, c)
	}
	for _, c := range []string{"jq", "flock"} {
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// listed is a file in the header of a script.
type listed struct {
	First bool
	Path  string
}

// Inputs are the files the script reads, Written those it leaves.
func (d *scriptData) Inputs() []listed { return list(d.Reads) }

// Written are the stage's outputs and the places they are copied to.
func (d *scriptData) Written() []listed {
	out := list(d.Outputs)
	for _, c := range d.Copies {
		if !hasPath(out, c.To) {
			out = append(out, listed{len(out) == 0, c.To})
		}
	}
	return out
}

// list leaves out what stands below a directory that is listed too.
func list(files []labs.File) []listed {
	var out []listed
	for _, f := range files {
		if !below(f, files) {
			out = append(out, listed{len(out) == 0, f.Path})
		}
	}
	return out
}

func below(f labs.File, files []labs.File) bool {
	for _, other := range files {
		if other.Path != f.Path && strings.HasSuffix(other.Path, "/") && other.Covers(f.Path) {
			return true
		}
	}
	return false
}

func hasPath(files []listed, path string) bool {
	for _, f := range files {
		if f.Path == path {
			return true
		}
	}
	return false
}

// Departures are the differences that hold in the script's place.
func (d *scriptData) Departures() []labs.Difference {
	var out []labs.Difference
	for _, diff := range d.Differs {
		if len(diff.Places) == 0 || diff.Places[0] == d.Place {
			out = append(out, diff)
		}
	}
	return out
}

// Model is what the script is compared with.
func (d *scriptData) Model() string {
	if d.Stage.Model == "" {
		return "bootkube.sh"
	}
	return d.Stage.Model
}

// Version is the lab's release.
func (d *scriptData) Version() string { return d.plan.Version() }

// Typed is how the script is called where it runs.
func (d *scriptData) Typed() string {
	if d.Place == labs.OnNode {
		return "sudo " + overlay.Scripts + "/" + d.Call()
	}
	return d.Dir + "/" + d.Call()
}

// FollowedBy is the script that comes next, as it is called; empty when what
// comes next is described in words.
func (d *scriptData) FollowedBy() string {
	if len(d.Stage.Next) > 0 {
		return ""
	}
	return d.Next
}

// ByHand says whether the script does what its model does; others watch it, or
// are compared with it.
func (d *scriptData) ByHand() bool { return d.Kind == "prepare" || d.Kind == "patch" }

// Where says in words where the script runs.
func (d *scriptData) Where() string { return where(d.Place) }

func where(place labs.Place) string {
	switch place {
	case labs.OnNode:
		return "on the bootstrap node"
	case labs.Workstation:
		return "on this workstation"
	}
	return "local run on this workstation"
}

// required is an input without which the script does not begin.
type required struct{ Path, Hint string }

// Required are the inputs that must be there, each with where it comes from.
func (d *scriptData) Required() []required {
	var out []required
	for _, f := range d.Reads {
		if f.Optional {
			continue
		}
		out = append(out, required{shpath(f.Path), d.origin(f)})
	}
	return append(out, d.targets()...)
}

// targets are the directories that a render copies into, where none of its inputs
// is below them: they are missed before anything changes.
func (d *scriptData) targets() []required {
	var out []required
	seen := map[string]bool{}
	for _, c := range d.Copies {
		below := func(f labs.File) bool { return strings.HasPrefix(f.Path, c.To) && !f.Optional }
		maker := d.plan.Maker(c.To)
		if maker == nil || d.Kind != "render" || seen[c.To] || slices.ContainsFunc(d.Reads, below) {
			continue
		}
		seen[c.To] = true
		out = append(out, required{shpath(c.To), d.origin(labs.File{Path: c.To, From: maker.ID})})
	}
	return out
}

// origin says where a file that is missing is to be had.
func (d *scriptData) origin(f labs.File) string {
	w := d.plan.Stage(f.From)
	if f.From == "" {
		w = d.plan.Writer(f.Path, d.Stage)
	}
	switch {
	case w != nil && (w.In(d.Place) || d.Place == labs.Workstation && w.In(labs.Local)):
		return "run " + w.ScriptName() + " first"
	case w != nil || f.From == "installer":
		return "it comes with bootstrap.ign: is this the bootstrap node?"
	}
	return "it comes from " + f.From
}

// invalidation is a later result that a repetition of the stage would invalidate.
type invalidation struct {
	Marker, Script, Why string
	Never               bool
}

// Invalidations are those of the stages that this release has, and what they
// invalidate in their turn: a stage that must be repeated invalidates more, but for
// an optional one, which need not be repeated.
func (d *scriptData) Invalidations() []invalidation {
	var out []invalidation
	seen := map[string]bool{d.ID: true}
	for queue := []*labs.Stage{d.Stage}; len(queue) > 0; queue = queue[1:] {
		for _, inv := range queue[0].Invalidates {
			other := d.plan.Stage(inv.Stage)
			if other == nil || seen[other.ID] || !other.In(d.Place) {
				continue
			}
			seen[other.ID] = true
			out = append(out, invalidation{other.Marker(), other.ScriptName(), inv.Why, inv.Never})
			if !other.Optional {
				queue = append(queue, other)
			}
		}
	}
	return out
}

// UnsharedFailures are those that the stage does not share with all that ask the
// cluster: cluster-lib.sh knows the others.
func (d *scriptData) UnsharedFailures() []labs.Failure {
	shared := d.plan.Bootkube.ClusterFailures
	return slices.DeleteFunc(slices.Clone(d.Failures), func(f labs.Failure) bool { return slices.Contains(shared, f) })
}

// ReservedNames are those at the top of the asset directory that other stages
// write to and this one does not, in lines that fit a script.
func (d *scriptData) ReservedNames() string {
	mine, names := map[string]bool{}, map[string]bool{}
	for _, f := range d.Outputs {
		mine[topName(f.Path)] = true
	}
	for _, s := range d.plan.Stages {
		paths := append([]string{s.RemoveFirst}, s.Mkdir...)
		for _, f := range s.Outputs {
			paths = append(paths, f.Path)
		}
		for _, p := range paths {
			if name := topName(p); plainWord.MatchString(name) && (name == d.ID || !mine[name]) {
				names[name] = true
			}
		}
	}
	return strings.Join(fill(strings.Join(slices.Sorted(maps.Keys(names)), " "), textWidth), "\n  ")
}

// topName is what a path begins with; a path of the host begins with nothing.
func topName(path string) string {
	name, _, _ := strings.Cut(path, "/")
	return name
}

// Renders are the stages that run an operator's container to render.
func (d *scriptData) Renders() []*labs.Stage {
	var out []*labs.Stage
	for _, s := range d.plan.Stages {
		if s.Kind == "render" && s.Run != nil && s.In(d.Place) {
			out = append(out, s)
		}
	}
	return out
}
