package audit

import (
	"strings"

	"bootlab/labs"
)

// expectation is what bootkube.sh of one release does, as stage data has it.
type expectation struct {
	release string
	stages  []*Stage // the last one is around
	names   names
	catalog *labs.Catalog
	values  map[string]string
}

// expect cuts a catalog down to a release. A plan would leave out what no lab
// has, as an installation in place; a script has it.
func expect(c *labs.Catalog, release string) *expectation {
	e := &expectation{release: release, catalog: c, values: map[string]string{"PWD": workingDirectory},
		names: names{map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}}}
	for _, v := range c.Bootkube.Images {
		if v.Holds(release) {
			e.values[v.Variable] = "image(" + v.Name + ")"
		}
	}
	for _, v := range c.Bootkube.Variables {
		if v.Holds(release) {
			e.values[v.Name] = valueOf(v)
		}
	}
	for _, s := range c.Stages {
		if s.Bootkube != "" && s.Holds(release) {
			e.stages = append(e.stages, e.stage(s))
		}
	}
	e.stages = append(e.stages, e.around())
	return e
}

// valueOf is what a variable stands for: itself, when the script learns it only
// as it runs.
func valueOf(v labs.Variable) string {
	switch {
	case strings.HasPrefix(v.Value, "oc adm "):
		return unbroken("$(" + v.Value + ")")
	case !strings.ContainsAny(v.Value, " "):
		return v.Value
	}
	return "$" + v.Name
}

// resolved puts values in the place of the variables of a text.
func (e *expectation) resolved(text string) string {
	return variableName.ReplaceAllStringFunc(text, func(m string) string {
		name := variableName.FindStringSubmatch(m)[1]
		if v, known := e.values[name]; known {
			return v
		}
		return m
	})
}

// shown puts the names of variables back for the reader.
func (e *expectation) shown(text string) string {
	for _, v := range e.catalog.Bootkube.Images {
		if v.Holds(e.release) {
			text = strings.ReplaceAll(text, "image("+v.Name+")", "$"+v.Variable)
		}
	}
	for _, v := range e.catalog.Bootkube.Variables {
		if v.Holds(e.release) && strings.HasPrefix(e.values[v.Name], "$(") {
			text = strings.ReplaceAll(text, e.values[v.Name], "$"+v.Name)
		}
	}
	return broken(text)
}

func (e *expectation) when(c labs.Condition) string {
	var parts []atom
	add := func(kind, arg string) {
		if arg != "" {
			parts = append(parts, atom{kind: kind, arg: arg})
		}
	}
	add(isFile, c.File)
	add(isDir, c.Dir)
	add(notEmpty, c.NotEmpty)
	if c.InPlace != nil {
		parts = append(parts, atom{kind: inPlace, not: !bool(*c.InPlace)})
	}
	if c.ClusterProfile {
		parts = append(parts, atom{kind: profile})
	}
	add("distribution", c.Distribution)
	return sentence(parts)
}

func (e *expectation) stage(s *labs.Stage) *Stage {
	st := &Stage{ID: s.ID, Name: s.Bootkube}
	if when := e.when(s.When); when != "" {
		st.add(Fact{Kind: factCondition, Value: when})
	}
	if s.SkipIf != "" {
		st.add(Fact{Kind: factSkip, Key: s.SkipIf})
	}
	if s.RemoveFirst != "" {
		st.add(Fact{Kind: factRemove, Key: s.RemoveFirst})
	}
	if s.Retry != "" {
		st.add(Fact{Kind: factRetry, Value: s.Retry})
	}
	if s.Run != nil {
		e.run(st, s.Run)
		e.names.containers[s.Run.Name] = s.Bootkube
	}
	e.command(st, s)
	for _, dir := range s.Mkdir {
		st.add(Fact{Kind: factMkdir, Key: belowWork(dir)})
	}
	e.copies(st, s.Copies)
	for _, m := range s.Markers {
		if m.Holds(e.release) {
			st.add(Fact{Kind: factMarker, Key: m.File})
			e.names.markers[m.File] = s.Bootkube
		}
	}
	if s.Log != "" {
		st.add(Fact{Kind: factLog, Key: s.Log})
	}
	for _, n := range append(append([]labs.Note{}, s.Before...), s.After...) {
		if n.Holds(e.release) {
			st.Notes += " " + n.Text
			st.places = append(st.places, pathsIn(n.Text)...)
		}
	}
	return st
}

// pathsIn are the files that a text names with their whole path.
func pathsIn(text string) []string {
	var out []string
	for _, word := range strings.Fields(text) {
		word = strings.TrimRight(word, ",.;:")
		if strings.HasPrefix(word, "/") && strings.Count(word, "/") > 1 {
			out = append(out, word)
		}
	}
	return out
}

func (e *expectation) run(st *Stage, r *labs.Container) {
	image := "image(" + r.Image + ")"
	if r.Image == "release" {
		image = "$RELEASE_IMAGE_DIGEST"
	}
	var typed []arg
	add := func(text string, when labs.Condition) {
		for _, word := range strings.Fields(text) {
			typed = append(typed, arg{text: e.resolved(strings.Trim(word, `"`)), when: guardOf(when)})
		}
	}
	for _, o := range e.catalog.Bootkube.Podman {
		if o.Holds(e.release) {
			add(o.Option, o.When)
		}
	}
	add("--name "+r.Name, labs.Condition{})
	add("--volume "+firstOf(r.Volume, e.catalog.Bootkube.AssetVolume), labs.Condition{})
	overlay := ""
	for _, o := range r.Options {
		if list, ok := strings.CutPrefix(o.Option, "overlay (:O) volume per existing directory of: "); ok {
			overlay = list
		} else if o.Holds(e.release) {
			add(strings.ReplaceAll(o.Option, "<profile>", "{{.ClusterProfile}}"), o.When)
		}
	}
	typed = append(typed, arg{text: image})
	for _, word := range strings.Fields(r.Command) {
		typed = append(typed, arg{text: word})
	}
	for _, f := range factsOfRun(event{kind: evRun, args: typed}, nil) {
		st.add(f)
	}
	if overlay != "" {
		st.add(Fact{Kind: factOption, Key: "overlay", Value: overlay, Of: r.Name})
	}
	e.flags(st, r.Flags, r.Name)
}

func guardOf(c labs.Condition) guard {
	if c.ClusterProfile {
		return guard{{kind: profile}}
	}
	return nil
}

func (e *expectation) flags(st *Stage, flags []labs.Flag, of string) {
	for _, f := range flags {
		if f.Holds(e.release) {
			st.add(Fact{Kind: factFlag, Key: f.Flag, Value: e.resolved(strings.Trim(f.Value, `"`)), When: e.when(f.When), Of: of})
		}
	}
}

// command adds what a stage does on the host: a command of its own, or a call
// of one of the functions that look at the API's names.
func (e *expectation) command(st *Stage, s *labs.Stage) {
	switch {
	case s.Kind == "check":
		function, _, _ := strings.Cut(s.Bootkube, "-api-")
		for _, host := range []string{"api", "api-int"} {
			call := function + "_url " + strings.ToUpper(strings.ReplaceAll(host, "-", "_")) + "_URL"
			st.add(Fact{Kind: factCall, Key: call, Value: host})
			e.names.calls[call] = s.Bootkube
		}
	case s.Command != nil:
		words := strings.Fields(s.Command.Line)
		st.add(Fact{Kind: factCommand, Value: s.Command.Line})
		e.names.commands[strings.Join(words[:min(2, len(words))], " ")] = s.Bootkube
		e.flags(st, s.Command.Flags, "")
	}
	if s.OnFailure != "" && s.Kind != "check" {
		text, _, _ := strings.Cut(s.OnFailure, ";")
		st.add(Fact{Kind: factFailure, Value: text})
	}
}

// copies adds one for each platform it is made on: all copies of a group for
// one platform, then all for the next.
func (e *expectation) copies(st *Stage, copies []labs.Copy) {
	var held []labs.Copy
	for _, c := range copies {
		if c.Holds(e.release) {
			held = append(held, c)
		}
	}
	for i := 0; i < len(held); {
		j := i + 1
		platforms := strings.Join(held[i].When.Platforms, " ")
		for platforms != "" && j < len(held) && strings.Join(held[j].When.Platforms, " ") == platforms {
			j++
		}
		each := held[i].When.Platforms
		if len(each) == 0 {
			each = []string{""}
		}
		for _, platform := range each {
			for _, c := range held[i:j] {
				e.copy(st, c, platform)
			}
		}
		i = j
	}
}

func (e *expectation) copy(st *Stage, c labs.Copy, platform string) {
	here := func(text string) string { return strings.ReplaceAll(text, "<platform>", platform) }
	to := here(c.To)
	if c.Recursive {
		to += " recursively"
	}
	st.add(Fact{Kind: factCopy, Key: here(c.From), Value: to, When: here(e.when(c.When))})
}

// around is what bootkube.sh does outside of its stages.
func (e *expectation) around() *Stage {
	b := e.catalog.Bootkube
	st := &Stage{Name: around}
	words := strings.Fields(b.ShellOptions)
	var args []arg
	for _, w := range words[min(1, len(words)):] {
		args = append(args, arg{text: w})
	}
	st.add(Fact{Kind: factShell, Key: setOptions(args)})
	for _, dir := range b.Mkdir {
		st.add(Fact{Kind: factMkdir, Key: belowWork(dir)})
	}
	for _, v := range b.Images {
		if v.Holds(e.release) {
			st.add(Fact{Kind: factAsks, Key: v.Name})
		}
	}
	for _, v := range b.Variables {
		if v.Holds(e.release) && strings.HasPrefix(e.values[v.Name], "$(") {
			st.add(Fact{Kind: factComputed, Key: e.values[v.Name]})
		}
	}
	e.mirrors(st)
	last, log, _ := strings.Cut(b.End, "; ")
	if command, file, ok := strings.Cut(last, " "); ok {
		st.add(Fact{Kind: factOther, Key: command + " " + belowWork(file)})
	}
	if _, line, ok := strings.Cut(log, ": "); ok {
		st.add(Fact{Kind: factLog, Key: line})
	}
	return st
}

// mirrors takes the flags out of the words that describe them: each counts if
// its file is there and none before it is.
func (e *expectation) mirrors(st *Stage) {
	for _, v := range e.catalog.Bootkube.Variables {
		if v.Name != mirrorVariable || !v.Holds(e.release) {
			continue
		}
		var when []atom
		for _, word := range strings.Fields(v.Value) {
			if !mirrorFlag(word) {
				continue
			}
			value := e.resolved(word)
			_, file, _ := strings.Cut(value, "=")
			there := atom{kind: isFile, arg: belowWork(file)}
			st.add(Fact{Kind: factComputed, Key: mirrorVariable, Value: value, When: sentence(append(append([]atom{}, when...), there))})
			when = append(when, there.negated())
		}
	}
}
