package generator

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"bootlab/labs"
)

// stageLibraries are the files in lib/ that explain and guard a stage script,
// in the order in which a reader meets them.
var stageLibraries = []string{"stage", "record", "text", "later", "options", "ending", "part", "service", "follow", "checks"}

// placeLibraries are the files in lib/ that differ between the places: what is checked
// on this host, how podman reaches the registries, and programs that ask the cluster.
var placeLibraries = []string{"host.sh", "registries.sh", "csr.sh", "csr.jq", "machines.sh", "etcdctl.sh", ignitionProgram}

// ignitionProgram is what unpack-bootstrap-ignition.sh asks jq, on the workstation.
const ignitionProgram = "ignition.jq"

// isStageScript says whether a template is one of a script that is read from top
// to bottom; it then defines its steps.
func isStageScript(source string) bool { return strings.Contains(source, `{{define "steps"}}`) }

// Step numbers the steps of a script in the order in which its template asks.
func (d *scriptData) Step() int {
	d.steps++
	return d.steps
}

// needed is what a script cannot start without, and where it comes from.
type needed struct{ Line string }

// Needed are the required inputs, those of one origin in one call.
func (d *scriptData) Needed() ([]needed, error) {
	var hints []string
	files := map[string][]string{}
	for _, r := range d.Required() {
		if files[r.Hint] == nil {
			hints = append(hints, r.Hint)
		}
		files[r.Hint] = append(files[r.Hint], r.Path)
	}
	var out []needed
	for _, hint := range hints {
		quoted, err := shquote(hint)
		if err != nil {
			return nil, err
		}
		out = append(out, needed{breakWords("", append([]string{"needs_input " + quoted}, braced(files[hint])...))})
	}
	return out, nil
}

// braced are paths as the words of a command: those of one directory that follow one
// another share it, as dir/{a,b}.
func braced(paths []string) []string {
	var words []string
	for i := 0; i < len(paths); {
		dir, name := path.Split(paths[i])
		names := []string{name}
		for i++; i < len(paths); i++ {
			next, other := path.Split(paths[i])
			if next != dir || dir == "" || name == "" || other == "" || !plainWord.MatchString(paths[i]) || len(dir)+len(strings.Join(names, ","))+len(other) > codeWidth-8 {
				break
			}
			names = append(names, other)
		}
		if len(names) > 1 {
			words = append(words, dir+"{"+strings.Join(names, ",")+"}")
		} else {
			words = append(words, dir+name)
		}
	}
	return words
}

// copyCommand is one copy of a stage as the commands that make it, and why.
type copyCommand struct {
	Why       string
	Recursive bool
	Lines     []string
}

// Stages says whether a copy of the stage goes through .new/.
func (d *scriptData) Stages() bool {
	return slices.ContainsFunc(d.Copies, func(c labs.Copy) bool { return throughNew(c.To) })
}

// throughNew says whether files arrive in a directory of the assets that other
// programs read at any time.
func throughNew(to string) bool {
	return slices.Contains([]string{"manifests/", "tls/", "bootstrap-manifests/"}, to)
}

// DirectoryWords are the directories that the stage makes before it copies. Those
// of the host below /etc stand together.
func (d *scriptData) DirectoryWords() string {
	var words, below []string
	if d.Stages() {
		words = append(words, ".new")
	}
	for _, dir := range d.Mkdir {
		name, ok := strings.CutPrefix(dir, "/etc/")
		if !ok || !plainWord.MatchString(name) || strings.Contains(name, ",") {
			words = append(words, shpath(dir))
			continue
		}
		below = append(below, name)
	}
	for len(below) > 0 {
		n := 1
		for n < len(below) && len(strings.Join(below[:n+1], ",")) < codeWidth-40 {
			n++
		}
		if n == 1 {
			words = append(words, shpath("/etc/"+below[0]))
		} else {
			words = append(words, `"${HOST_ROOT}"/etc/{`+strings.Join(below[:n], ",")+"}")
		}
		below = below[n:]
	}
	return breakWords("  ", words)
}

// CopyCommands are the stage's copies in bootkube's order, but that what the
// kubelet starts comes last, when all that it mounts is there.
func (d *scriptData) CopyCommands() []copyCommand {
	var out, last []copyCommand
	for _, c := range d.Copies {
		command := copyCommand{strings.TrimSpace(c.Why), c.Recursive, append(copyLines(c), withoutLines(c)...)}
		if only, _ := condition(c.When); only != "" {
			for i, line := range command.Lines {
				command.Lines[i] = "  " + strings.ReplaceAll(line, "\n", "\n  ")
			}
			command.Lines = append(append([]string{"if " + only + "; then"}, command.Lines...), "fi")
		}
		if c.To == staticPods {
			last = append(last, command)
		} else {
			out = append(out, command)
		}
	}
	return append(out, last...)
}

// withoutLines remove what a rerun copies and the first run did not.
func withoutLines(c labs.Copy) []string {
	if len(c.Without) == 0 {
		return nil
	}
	var later []string
	for _, dir := range c.Without {
		later = append(later, dir+"/*")
	}
	return []string{"# A rerun finds more in " + path.Dir(c.From) + "/: what came after this copy the first time.",
		forFiles(later), `  rm -f "${HOST_ROOT}` + c.To + `${file##*/}"`, "done"}
}

func copyLines(c labs.Copy) []string {
	from, to := shpath(c.From), shpath(c.To)
	switch {
	case c.Recursive:
		return []string{breakWords("  ", []string{"cp", "-r", from, to})}
	case throughNew(c.To):
		return []string{breakWords("  ", []string{"cp", from, ".new/"}), "mv -f .new/* " + to}
	case c.To == staticPods && plainGlob.MatchString(c.From) && !plainWord.MatchString(c.From):
		return []string{"for file in " + from + "; do",
			`  cp "${file}" "${HOST_ROOT}` + c.To + `.${file##*/}"`,
			`  mv -f "${HOST_ROOT}` + c.To + `.${file##*/}" "${HOST_ROOT}` + c.To + `${file##*/}"`, "done"}
	case c.To == staticPods:
		name := path.Base(c.From)
		return []string{breakWords("  ", []string{"cp", from, `"${HOST_ROOT}` + c.To + "." + name + `"`}),
			`mv -f "${HOST_ROOT}` + c.To + `"{.,}` + name}
	}
	return []string{breakWords("  ", []string{"cp", from, to})}
}

// checkCommand is a check as checks/STAGE.sh has it.
type checkCommand struct {
	labs.Check
	Text   string // the command
	Unless string // shell test under which the check does not count; empty is never
}

// Head is the call of check, without its command.
func (c checkCommand) Head() (string, error) {
	title, err := shquote(c.Title)
	if head := "check " + c.ID + " " + title; len(head)+len(" << 'COMMAND'") <= codeWidth {
		return head, err
	}
	return "check " + c.ID + " \\\n  " + title, err
}

// Input is the command as check reads it: in quotes, if it has none of its own.
func (c checkCommand) Input() string {
	first, _, _ := strings.Cut(c.Text, "\n")
	if !strings.Contains(c.Text, "'") && len(first) < codeWidth-4 {
		return "<<< \\\n  '" + strings.ReplaceAll(c.Text, "\n", "\n  ") + "'"
	}
	return "<< 'COMMAND'\n" + c.Text + "\nCOMMAND"
}

// ReadsCertificates says whether a check of the stage calls openssl x509.
func (d *scriptData) ReadsCertificates() (bool, error) {
	commands, err := d.CheckCommands()
	return slices.ContainsFunc(commands, func(c checkCommand) bool { return strings.Contains(c.Text, "openssl x509") }), err
}

// CheckCommands are the stage's checks as commands.
func (d *scriptData) CheckCommands() ([]checkCommand, error) {
	var out []checkCommand
	for _, c := range d.Checks {
		text, err := checkText(&c)
		if err != nil {
			return nil, fmt.Errorf("check %s: %w", c.ID, err)
		}
		_, unless := condition(c.When)
		out = append(out, checkCommand{c, text, unless})
	}
	return out, nil
}

// checkAdvice is what stands beside the checks of a stage and is shown when one
// fails, or when the stage does.
type checkAdvice struct {
	Checks   map[string]checkExpectation `json:"checks"`
	Failures []knownFailure              `json:"failures"`
	Steps    []knownStep                 `json:"steps,omitempty"`
}

type checkExpectation struct {
	Expect string `json:"expect"`
	Hint   string `json:"hint"`
}

type knownFailure struct {
	Message string `json:"message"`
	Cause   string `json:"cause"`
	Fix     string `json:"fix"`
}

// knownStep is a point that a container reaches, known by what it prints.
type knownStep struct {
	ID      string `json:"id"`
	Line    string `json:"line"`
	Minutes int    `json:"minutes"`
	Text    string `json:"text"`
}

func (d *scriptData) advice() (string, error) {
	a := checkAdvice{Checks: map[string]checkExpectation{}, Failures: []knownFailure{}}
	for _, c := range d.Checks {
		a.Checks[c.ID] = checkExpectation{c.Expect, labs.Advice(d.Place, c.Hint)}
	}
	for _, f := range d.Failures {
		a.Failures = append(a.Failures, knownFailure{f.Message, f.Cause, labs.Advice(d.Place, f.Fix)})
	}
	for _, s := range d.Steps {
		a.Steps = append(a.Steps, knownStep{s.ID, s.Line, s.Minutes, s.Text})
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(a)
	return b.String(), err
}

// stageScript adds the files of a stage: its script, its checks, and what to say
// when they fail.
func (r *renderer) stageScript(d *scriptData, dir string, all []setting) error {
	t, err := r.parts.Clone()
	if err != nil {
		return err
	}
	if _, err := t.New(d.ID + ".sh.tmpl").Parse(r.sources[d.ID]); err != nil {
		return err
	}
	if d.Body, err = execute(t, "steps", d); err != nil {
		return err
	}
	d.Body = strings.Trim(d.Body, "\n")
	if d.Libraries, err = librariesOf(t, d); err != nil {
		return err
	}
	d.Settings = mentioned(all, scriptSettings(d.Place), d.Body)
	text, err := execute(t, "stage-script", d)
	if err != nil {
		return err
	}
	r.add(dir+"/"+d.ScriptName(), 0o755, strings.TrimRight(text, "\n")+"\n")
	d.Body = strings.TrimRight(text, "\n") + "\n"
	return r.checkScript(t, d, dir, all)
}

func (r *renderer) checkScript(t *template.Template, d *scriptData, dir string, all []setting) error {
	commands, err := execute(t, "check-script", d)
	if err != nil {
		return err
	}
	d.CheckSettings = mentioned(all, inScript, commands)
	for i, s := range d.CheckSettings {
		if s.Name == "SCRIPTS" {
			d.CheckSettings[i].Quoted = scriptFile + ` SCRIPTS="${SCRIPTS%/*/*}"`
		}
	}
	text, err := execute(t, "check-script", d)
	if err != nil {
		return err
	}
	if strings.Contains(text+d.Body, "<no value>") {
		return fmt.Errorf("%s: a template value is missing", d.ID)
	}
	r.add(dir+"/checks/"+d.ScriptName(), 0o755, strings.TrimRight(text, "\n")+"\n")
	advice, err := d.advice()
	r.add(dir+"/checks/"+d.ID+".json", 0o644, advice)
	return err
}

func execute(t *template.Template, name string, data any) (string, error) {
	var b strings.Builder
	err := t.ExecuteTemplate(&b, name, data)
	return b.String(), err
}

// inScript are the settings that the libraries use.
var inScript = map[string]bool{"SCRIPTS": true, "ASSET_DIR": true, "HOST_ROOT": true}

// callsOf finds the functions of a library in lib/ that a script calls.
var callsOf = []struct {
	library string
	call    *regexp.Regexp
}{
	{"later", regexp.MustCompile(`(?m)^(invalidates|invalidates_by_step)\b`)},
	{"options", regexp.MustCompile(`(?m)^(option|takes_words) `)},
	{"ending", regexp.MustCompile(`(?m)(^undo |\bfinish_part |^finish_by_design )`)},
}

// librariesOf are the libraries that a script sources beside stage.sh.
func librariesOf(t *template.Template, d *scriptData) ([]string, error) {
	text := d.Body + "\n"
	for _, part := range []string{"invalidations", "options", "finish"} {
		more, err := execute(t, part, d)
		if err != nil {
			return nil, err
		}
		text += more + "\n"
	}
	var out []string
	for _, c := range callsOf {
		if c.call.MatchString(text) {
			out = append(out, c.library)
		}
	}
	return out, nil
}

// Topology is the lab's.
func (d *scriptData) Topology() string { return d.Lab.Topology }

// scriptSettings are the settings that the libraries of a script use in a place:
// on a node, also what tells the lab from another.
func scriptSettings(place labs.Place) map[string]bool {
	if place != labs.OnNode {
		return inScript
	}
	out := maps.Clone(inScript)
	out["CLUSTER_DOMAIN"], out["RELEASE"] = true, true
	return out
}

// placeData is what the templates of placeLibraries see; the words are quoted for
// the shell.
type placeData struct {
	*labs.Plan
	Place                            labs.Place
	PullSecret, Mirrors, TrustBundle string
}

// PodmanBase are the options of every podman run of bootkube.sh.
func (d *placeData) PodmanBase() string { return podmanBase(d.Plan) }

// placeFiles renders the libraries that differ between the places.
func (r *renderer) placeFiles(place labs.Place, dir string) error {
	d := &placeData{Plan: r.plan, Place: place}
	if r.plan.Lab.PullSecret != "" {
		d.PullSecret = fileOfLab(r.plan.Lab.PullSecret, r.opts.LabDir)
	}
	var err error
	if mirrors := registriesConf(r.plan.Lab.Mirrors()); mirrors != "" {
		if d.Mirrors, err = shquote(mirrors); err != nil {
			return err
		}
	}
	if r.plan.Lab.AdditionalTrustBundle != "" {
		d.TrustBundle = fileOfLab(r.plan.Lab.AdditionalTrustBundle, r.opts.LabDir)
	}
	for _, name := range placeLibraries {
		if name == ignitionProgram && place != labs.Local {
			continue
		}
		t, err := r.parts.Clone()
		if err != nil {
			return err
		}
		if _, err := t.New(name).Parse(r.sources["lib/"+name]); err != nil {
			return err
		}
		text, err := execute(t, name, d)
		if err != nil {
			return err
		}
		text = strings.TrimRight(text, "\n") + "\n"
		r.share(place, "lib/"+name, text)
		r.add(dir+"/lib/"+name, 0o644, text)
	}
	return nil
}

// libFiles adds the libraries of the stage scripts.
func (r *renderer) libFiles(place labs.Place, dir string) error {
	for _, name := range stageLibraries {
		if err := r.sourced(place, dir, "lib/"+name); err != nil {
			return err
		}
	}
	return r.placeFiles(place, dir)
}
