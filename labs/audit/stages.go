package audit

import (
	"sort"
	"strings"
)

// names is what stage data knows a stage by, so that a script which records no
// names can be read too.
type names struct {
	markers    map[string]string // marker: bootkube's name
	containers map[string]string
	calls      map[string]string // function and its first argument
	commands   map[string]string // first words on the host
}

// stagesOf puts what a script does into stages. The last one holds what is done
// around them.
func (s *Script) stagesOf(known names) []*Stage {
	owner := s.owners(known)
	byName := map[string]*group{}
	var order []*group
	rest := &group{stage: &Stage{Name: around}}
	for i, e := range s.events {
		name := owner[i]
		if name == "" {
			rest.events = append(rest.events, e)
			continue
		}
		g := byName[name]
		if g == nil {
			g = &group{stage: &Stage{Name: name, Line: e.line}}
			byName[name], order = g, append(order, g)
		}
		g.events = append(g.events, e)
	}
	var out []*Stage
	for _, g := range append(order, rest) {
		g.build(known)
		out = append(out, g.stage)
	}
	s.preamble(out[len(out)-1])
	return out
}

// owners names the stage of each event: the one that was recorded as begun, or
// the one whose marker stands over it, or the one that stage data knows by the
// container, the call or the command.
func (s *Script) owners(known names) []string {
	recorded := map[string]string{} // marker: the stage that begins under it
	for _, e := range s.events {
		name := firstOf(e.stage, known.of(e))
		if name == "" {
			continue
		}
		for _, m := range markersOf(e.when) {
			if _, taken := recorded[m]; !taken {
				recorded[m] = name
			}
		}
	}
	touched := s.touched()
	owner := make([]string, len(s.events))
	for i, e := range s.events {
		owner[i] = e.stage
		for _, m := range markersOf(e.when) {
			if owner[i] == "" {
				owner[i] = firstOf(recorded[m], known.markers[m])
			}
			if owner[i] == "" && touched[m] {
				owner[i] = strings.TrimSuffix(m, ".done")
			}
		}
		if owner[i] == "" {
			owner[i] = known.of(e)
		}
	}
	s.logsToNext(owner)
	return owner
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func (n names) of(e event) string {
	switch e.kind {
	case evRun:
		return n.containers[e.name()]
	case evTouch:
		return n.markers[e.text()]
	case evOther:
		if len(e.args) > 1 {
			if name := n.calls[e.args[0].text+" "+e.args[1].text]; name != "" {
				return name
			}
			return n.commands[e.args[0].text+" "+e.args[1].text]
		}
	}
	return ""
}

// logsToNext gives a line that is logged outside of every stage to the one that
// comes next.
func (s *Script) logsToNext(owner []string) {
	next := ""
	for i := len(owner) - 1; i >= 0; i-- {
		switch {
		case owner[i] != "":
			next = owner[i]
		case s.events[i].kind == evLog && next != "":
			owner[i] = next
		}
	}
}

func (s *Script) touched() map[string]bool {
	out := map[string]bool{}
	for _, e := range s.events {
		if e.kind == evTouch && len(e.args) > 0 {
			out[e.args[0].text] = true
		}
	}
	return out
}

// markersOf are the .done files whose absence a condition asks for, innermost
// known first.
func markersOf(g guard) []string {
	var out []string
	for _, a := range g {
		if isMarker(a) {
			out = append(out, a.arg)
		}
	}
	return out
}

func isMarker(a atom) bool {
	return (a.kind == isFile || a.kind == exists) && a.not && strings.HasSuffix(a.arg, ".done")
}

// group is the events of one stage, on the way to its facts.
type group struct {
	stage  *Stage
	events []event
	common guard
	// touched are the markers that the stage makes.
	touched map[string]bool
}

func (g *group) build(known names) {
	g.touched = map[string]bool{}
	for _, e := range g.events {
		if e.kind == evTouch && strings.HasSuffix(e.args[0].text, ".done") {
			g.touched[e.args[0].text] = true
		}
	}
	g.findCommon()
	if g.stage.Name != around {
		g.conditions()
	}
	for _, e := range g.events {
		g.event(e, known)
	}
}

// findCommon is the condition of the stage: that of its beginning where the
// script records one, else what all of its commands share.
func (g *group) findCommon() {
	if g.stage.Name == around {
		return
	}
	var all []guard
	for _, e := range g.events {
		if e.kind == evBegin {
			g.common = e.when
			return
		}
		if e.kind != evLog {
			all = append(all, e.when)
		}
	}
	if len(all) == 0 {
		return
	}
	g.common = all[0].drop(func(a atom) bool {
		for _, when := range all {
			if !when.has(a) {
				return true
			}
		}
		return false
	})
}

func (g *group) conditions() {
	var left guard
	for _, a := range g.common {
		switch {
		case isMarker(a) && !g.touched[a.arg]:
			g.stage.add(newFact(factSkip, a.arg, "", "", g.stage.Line))
		case isMarker(a):
		default:
			left = append(left, a)
		}
	}
	if len(left) > 0 {
		g.stage.add(newFact(factCondition, "", left.String(), "", g.stage.Line))
	}
}

func (g *group) event(e event, known names) {
	switch {
	case g.failure(e):
		return
	case temporaryOnly(e):
		return
	}
	when := g.when(e)
	if e.retry != "" && e.kind != evLog {
		g.stage.add(newFact(factRetry, "", e.retry, "", e.line))
	}
	switch e.kind {
	case evRun:
		e.when = e.when.drop(isMarker)
		facts := factsOfRun(e, g.common)
		if e.output != "" {
			facts[0].Value = "output to " + e.output
		}
		for _, f := range facts {
			g.stage.add(f)
		}
	case evCopy:
		w, _ := e.when.and(e.args[1].when...)
		e.when = w
		g.stage.add(newFact(factCopy, e.args[1].text, e.args[2].text+strings.TrimPrefix(e.args[0].text, "copy"), g.when(e), e.line))
	case evMkdir:
		g.stage.add(newFact(factMkdir, e.args[0].text, "", when, e.line))
	case evRemove:
		g.stage.add(newFact(factRemove, e.args[0].text, "", when, e.line))
	case evTouch:
		g.touch(e)
	case evLog:
		g.stage.add(newFact(factLog, strings.TrimSpace(e.text()), "", when, e.line))
	case evSet:
		g.stage.add(newFact(factShell, setOptions(e.args), "", when, e.line))
	case evOther:
		g.other(e, when, known)
	case evExit:
		g.stage.add(newFact(factOther, strings.TrimSpace("exit "+e.text()), "", when, e.line))
	}
}

// when is the condition of an event within its stage.
func (g *group) when(e event) string {
	return words(e.when.drop(func(a atom) bool { return isMarker(a) && (g.touched[a.arg] || g.common.has(a)) }), g.common.drop(isMarker))
}

func (g *group) touch(e event) {
	file := e.args[0].text
	if !strings.HasSuffix(file, ".done") || g.stage.Name == around {
		g.stage.add(newFact(factOther, "touch "+file, "", g.when(e), e.line))
		return
	}
	asked := false
	for _, a := range e.when {
		asked = asked || isMarker(a) && a.arg == file
	}
	// A marker is made when what it marks has succeeded; to say so is no
	// condition.
	e.when = e.when.drop(func(a atom) bool { return a.kind == succeeds && !a.not })
	f := newFact(factMarker, file, "", g.when(e), e.line)
	if !asked {
		f.Value = "never asked for"
	}
	g.stage.add(f)
}

func (g *group) other(e event, when string, known names) {
	if len(e.args) > 1 && known.calls[e.args[0].text+" "+e.args[1].text] != "" {
		host := ""
		if len(e.args) > 2 {
			host = kindOfHost(e.args[2].text)
		}
		g.stage.add(newFact(factCall, e.args[0].text+" "+e.args[1].text, host, when, e.line))
		return
	}
	if len(e.args) > 1 && known.commands[e.args[0].text+" "+e.args[1].text] != "" {
		command, flags := commandLine(e.args)
		g.stage.add(newFact(factCommand, "", strings.Join(command, " "), when, e.line))
		for _, f := range flags {
			fact := newFact(factFlag, f.name, f.value, words(f.when, e.when), firstLine(f.line, e.line))
			fact.Empty = f.empty
			g.stage.add(fact)
		}
		return
	}
	g.stage.add(newFact(factOther, e.text(), "", when, e.line))
}

// kindOfHost is which of the cluster's two names a script asks for: written by
// the installer, or still its template's.
func kindOfHost(text string) string {
	text = strings.ToLower(strings.Trim(text, "{} ."))
	switch {
	case strings.HasPrefix(text, "apiserverurl"):
		return "api"
	case strings.HasPrefix(text, "apiintserverurl"):
		return "api-int"
	}
	host, _, _ := strings.Cut(text, ".")
	return host
}

// failure collects what a stage does when a command of it fails for good.
func (g *group) failure(e event) bool {
	failed := false
	for _, a := range e.when {
		failed = failed || a.kind == succeeds && a.not
	}
	if !failed || e.kind == evLog && g.stage.Name == around {
		return false
	}
	text := ""
	switch {
	case e.kind == evOther && strings.HasSuffix(e.text(), "cluster_bootstrap_gather"):
		text = "gather cluster state"
	case e.kind == evExit && strings.HasPrefix(e.text(), "$"):
		text = "exit with the same status"
	case e.kind == evExit:
		text = strings.TrimSpace("exit " + e.text())
	case e.kind == evLog, e.kind == evSet, e.kind == evBegin:
		return true
	default:
		return false
	}
	for i, f := range g.stage.Facts {
		if f.Kind == factFailure {
			g.stage.Facts[i].Value += ", " + text
			return true
		}
	}
	g.stage.add(newFact(factFailure, "", text, "", e.line))
	return true
}

// temporaryOnly says whether a command deals with nothing but a temporary
// directory.
func temporaryOnly(e event) bool {
	switch e.kind {
	case evMkdir, evRemove, evTouch:
		return strings.HasPrefix(e.args[0].text, temporary)
	}
	return false
}

// setOptions are the options of set, sorted, so that their order and grouping
// do not matter.
func setOptions(args []arg) string {
	var out []string
	for i := 0; i < len(args); i++ {
		text := args[i].text
		if len(text) < 2 {
			continue
		}
		for _, c := range text[1:] {
			if c == 'o' && i+1 < len(args) {
				i++
				out = append(out, longSetOption(text[:1], args[i].text))
			} else {
				out = append(out, text[:1]+string(c))
			}
		}
	}
	sort.Strings(out)
	return strings.Join(out, " ")
}

func longSetOption(sign, name string) string {
	short := map[string]string{"errexit": "e", "nounset": "u", "errtrace": "E", "xtrace": "x"}[name]
	return sign + firstOf(short, name)
}

// preamble adds what the whole script asks the release for.
func (s *Script) preamble(st *Stage) {
	var asked []string
	for name := range s.images {
		asked = append(asked, name)
	}
	sort.Strings(asked)
	for _, name := range asked {
		st.add(newFact(factAsks, name, "", "", s.images[name]))
	}
	for _, m := range s.mirrors {
		st.add(m)
	}
	var computed []string
	for text := range s.computed {
		computed = append(computed, text)
	}
	sort.Strings(computed)
	for _, text := range computed {
		st.add(newFact(factComputed, text, "", s.computed[text].when.String(), s.computed[text].line))
	}
}
