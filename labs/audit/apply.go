package audit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"bootlab/labs"
)

// Origin is the file that a script was read from.
type Origin struct {
	File   string // base name, of plain characters
	SHA256 string // hex, of the file's bytes
}

// What of stage data a script may use, or say in its own way: the fields of the
// templates.
const (
	usesBase      = "PodmanBase"
	usesOptions   = "PodmanLines"
	usesName      = "Run.Name"
	usesImage     = "OperatorImage"
	usesCommand   = "Run.Command"
	usesFlags     = "FlagLines"
	usesRemove    = "RemoveFirst"
	usesCopies    = "Copies"
	usesMkdir     = "Directories"
	usesHostFlags = "Command.Flags"
)

// Follows says whether the script of a stage goes by a field of stage data. A
// stage without a script only has pages, which go by all.
type Follows func(stage *labs.Stage, field string) bool

// Apply changes a plan to what a script does, as far as stage data can say it,
// and notes in it what was changed and what not. The plan must be that of the
// known release which is nearest to the script's.
//
// Nothing of the script reaches the plan but names, paths and values of plain
// form; a value may refer to shell variables that stage data knows. All else is
// named as not applied. A script without any stage of that release is a
// [Refusal].
func Apply(s *Script, c *labs.Catalog, plan *labs.Plan, from Origin, follows Follows) error {
	a := &application{script: s, plan: plan, from: from, follows: follows, containers: map[string]string{},
		audited: &labs.Audited{File: from.File, SHA256: from.SHA256, Nearest: plan.Release.ID}}
	c = a.renamed(c)
	a.known = expect(c, plan.Release.ID)
	a.found = s.stagesOf(a.known.names)
	if !a.recognised() {
		return &Refusal{Message: "has none of the stages of bootkube.sh of " + plan.Release.ID,
			Hint: "give a bootkube.sh, the installer's template of it, or a bootstrap.ign that holds one; --release begins from another release"}
	}
	report := Compare(s, c, plan.Release.ID)
	for _, f := range inSequence(report.Findings) {
		a.finding(f)
	}
	a.forget()
	plan.Release.Source = "stage data of " + plan.Release.ID + " and an audit of " + from.File + " (" + plan.Release.Source + ")"
	plan.Release.Confidence = "audited, not reviewed"
	plan.Release.Lines = s.Lines
	plan.Audited = a.audited
	return nil
}

// application is a script on its way into a plan.
type application struct {
	script  *Script
	plan    *labs.Plan
	from    Origin
	follows Follows
	known   *expectation
	found   []*Stage
	audited *labs.Audited
	// unasked are images that the script does not ask the release for.
	unasked []labs.AuditedChange
	// containers are the names that stage data has for containers which the
	// script calls otherwise, by the stage's id.
	containers map[string]string
	// ordered: the order of the stages was taken over.
	ordered bool
}

// verdict is what became of a difference: an empty reason with applied.
type verdict struct {
	outcome labs.AuditedOutcome
	reason  string
}

var (
	done    = verdict{outcome: labs.Applied}
	ofNoLab = verdict{labs.OfNoLab, "the stage data of a lab has nothing of the kind"}
)

func refused(format string, args ...any) verdict {
	return verdict{labs.NotApplied, fmt.Sprintf(format, args...)}
}

// recognised says whether the script has a stage of the nearest release.
func (a *application) recognised() bool {
	return slices.ContainsFunc(a.found, func(st *Stage) bool {
		return st.Name != around && slices.ContainsFunc(a.known.stages, func(want *Stage) bool { return want.Name == st.Name })
	})
}

// inSequence puts what others build on first: images that are asked for, then
// stages that are left out, then what stages do, then their order.
func inSequence(findings []Finding) []Finding {
	rank := func(f Finding) int {
		switch {
		case f.got != nil && f.got.Kind == factAsks:
			return 0
		case f.how == missingStage:
			return 1
		case f.how == stageOrder, f.how == factOrder:
			return 3
		}
		return 2
	}
	out := slices.Clone(findings)
	slices.SortStableFunc(out, func(f, g Finding) int { return rank(f) - rank(g) })
	return out
}

// finding applies one difference and notes what became of it.
func (a *application) finding(f Finding) {
	if f.Kind != Unknown {
		return
	}
	change := labs.AuditedChange{Where: plainText(f.Stage), What: plainText(f.What), Expected: plainText(f.Expected), Found: plainText(f.Found), Line: f.Line}
	if f.how == inWords {
		change.What += ", " + change.Expected
	}
	for _, name := range namesOf(f) {
		if st := a.stage(name); st != nil {
			change.Stages = append(change.Stages, st.ID)
		}
	}
	if f.how == missing && f.want.Kind == factAsks {
		change.What = f.want.Key
		a.unasked = append(a.unasked, change)
		return
	}
	v := a.apply(f)
	change.Found = a.named(change.Found)
	change.Outcome, change.Reason = v.outcome, v.reason
	a.note(change)
}

// named calls images by the variables that they have in the scripts.
func (a *application) named(text string) string {
	return imageAnswer.ReplaceAllStringFunc(text, func(m string) string {
		if variable := a.plan.ImageVariable(imageAnswer.FindStringSubmatch(m)[1]); variable != "" {
			return "$" + variable
		}
		return m
	})
}

func (a *application) note(c labs.AuditedChange) { a.audited.Changes = append(a.audited.Changes, c) }

func namesOf(f Finding) []string {
	if len(f.Stages) > 0 {
		return f.Stages
	}
	return []string{f.Stage}
}

// stage is the plan's stage that bootkube.sh calls so; nil without one.
func (a *application) stage(name string) *labs.Stage {
	for _, s := range a.plan.Stages {
		if s.Bootkube != "" && s.Bootkube == name {
			return s
		}
	}
	return nil
}

func (a *application) apply(f Finding) verdict {
	switch f.how {
	case missingStage:
		return a.leaveOut(f.Stage)
	case newStage:
		return refused("stage data knows no such stage: neither script nor page was made for it")
	case inWords:
		return refused("stage data tells of it in words only")
	case stageOrder:
		return a.order()
	}
	fact := f.want
	if f.got != nil {
		fact = f.got
	}
	if f.Stage == around {
		return a.around(f, fact)
	}
	if fact.Kind == factOption {
		return a.option(f)
	}
	st := a.stage(f.Stage)
	if st == nil {
		return ofNoLab
	}
	if f.how == factOrder {
		return a.factOrder(st, fact)
	}
	return a.fact(st, f, fact.Kind)
}

// fact applies a difference within a stage.
func (a *application) fact(st *labs.Stage, f Finding, kind string) verdict {
	switch kind {
	case factCondition:
		return a.condition(st, f)
	case factSkip:
		return refused("which file makes bootkube.sh leave the stage out is told in the script's own way")
	case factMarker:
		return a.marker(st, f)
	case factRemove:
		return a.removal(st, f)
	case factContainer, factImage, factCommand:
		return a.container(st, f, kind)
	case factFlag:
		return a.flag(st, f)
	case factCopy:
		return a.copied(st, f)
	case factMkdir:
		return a.mkdir(st, f)
	case factLog:
		return a.log(st, f)
	case factRetry:
		return refused("how a command is repeated is written into the script by hand")
	case factFailure:
		return refused("what happens after a failure is written into the script by hand")
	case factCall:
		return refused("what is asked of the API's names is written into the script by hand")
	}
	return refused("a command that stage data has no words for")
}

// around applies what is done outside of the stages.
func (a *application) around(f Finding, fact *Fact) verdict {
	switch fact.Kind {
	case factAsks:
		if f.how == added {
			_, v := a.image(fact.Key)
			return v
		}
	case factComputed:
		return refused("how bootkube.sh learns a value is written into release-info.sh by hand")
	case factMkdir:
		return refused("the directories that are made before the first stage are written into copy-manifests.sh by hand")
	case factShell:
		return refused("each script has shell options of its own")
	}
	return refused("a command outside of the stages that stage data knows")
}

// leaveOut takes a stage out of the plan. What only it wrote is then read if it
// is there.
func (a *application) leaveOut(name string) verdict {
	st := a.stage(name)
	if st == nil {
		return ofNoLab
	}
	for _, other := range a.plan.Stages {
		if other.Script == st.ID {
			return refused("its script does %s too", other.ID)
		}
	}
	a.plan.Stages = slices.DeleteFunc(a.plan.Stages, func(s *labs.Stage) bool { return s == st })
	for i, s := range a.plan.Stages {
		for j, in := range s.Reads {
			if in.From == st.ID || in.From == "" && a.plan.Writer(in.Path, a.plan.Stages[i]) == nil {
				s.Reads[j].Optional, s.Reads[j].From = true, "no stage of "+a.from.File
			}
		}
	}
	return done
}

// order brings the stages of bootkube.sh into the script's order; the lab's own
// keep their places.
func (a *application) order() verdict {
	if a.ordered {
		return done
	}
	a.ordered = true
	place := map[string]int{}
	for i, st := range a.found {
		place[st.Name] = i
	}
	var at []int
	var mine []*labs.Stage
	for i, s := range a.plan.Stages {
		if _, there := place[s.Bootkube]; there && s.Bootkube != "" {
			at, mine = append(at, i), append(mine, s)
		}
	}
	slices.SortStableFunc(mine, func(s, t *labs.Stage) int { return place[s.Bootkube] - place[t.Bootkube] })
	for i, s := range mine {
		a.plan.Stages[at[i]] = s
	}
	for _, s := range a.plan.Stages {
		for j, in := range s.Reads {
			if in.From == "" && a.plan.Writer(in.Path, s) == nil {
				s.Reads[j].Optional, s.Reads[j].From = true, "a later stage of "+a.from.File
			}
		}
	}
	return done
}

// condition applies when a stage runs, as far as that is decided beforehand.
func (a *application) condition(st *labs.Stage, f Finding) verdict {
	if f.got == nil {
		return refused("stage data has no stage that bootkube.sh runs always and this release only then")
	}
	when, v := conditionOf(f.got.Value)
	switch {
	case v == ofNoLab:
		return a.leaveOut(f.Stage)
	case v != done:
		return v
	case when.File+when.Dir+when.NotEmpty != "":
		return refused("a script does not leave a whole stage out because of a file or a directory")
	}
	return done
}

// log takes over the line by which the journal is read.
func (a *application) log(st *labs.Stage, f Finding) verdict {
	if st.Kind == "check" {
		return refused(byHand)
	}
	logs := a.facts(f.Stage, factLog)
	if len(logs) == 0 {
		st.Log = ""
		return done
	}
	line := a.known.shown(logs[0].Key)
	if !plainLog.MatchString(line) || len(line) > 120 {
		return refused("%s is no line of plain words", quoted(line))
	}
	st.Log = line
	return done
}

var plainLog = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 .,:;/()_-]*$`)

// facts are those of a kind that a stage of the script has.
func (a *application) facts(stage, kind string) []Fact {
	var out []Fact
	for _, st := range a.found {
		for _, f := range st.Facts {
			if st.Name == stage && f.Kind == kind {
				out = append(out, f)
			}
		}
	}
	return out
}

// renamed gives stages the names that the script has for them, where the
// container tells that only the name is another.
func (a *application) renamed(c *labs.Catalog) *labs.Catalog {
	e := expect(c, a.plan.Release.ID)
	found := a.script.stagesOf(e.names)
	mine := *c
	mine.Stages = slices.Clone(c.Stages)
	for _, st := range found {
		old := a.sameContainer(e, found, st)
		if old == "" || !plainName.MatchString(st.Name) || len(st.Name) > 63 {
			continue
		}
		for i, s := range mine.Stages {
			if s.Bootkube == old {
				other := *s
				other.Bootkube = st.Name
				mine.Stages[i] = &other
			}
		}
		change := labs.AuditedChange{Where: st.Name, What: "name of the stage", Expected: old, Found: st.Name, Line: st.Line, Outcome: labs.Applied}
		if s := a.stage(old); s != nil {
			s.Bootkube = st.Name
			change.Stages = []string{s.ID}
		}
		a.note(change)
	}
	return &mine
}

var plainName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// sameContainer is the name in stage data of a stage that the script has under
// a name that stage data does not know; empty where there is none.
func (a *application) sameContainer(e *expectation, found []*Stage, st *Stage) string {
	named := func(list []*Stage, name string) bool {
		return slices.ContainsFunc(list, func(s *Stage) bool { return s.Name == name })
	}
	if st.Name == around || named(e.stages, st.Name) {
		return ""
	}
	for _, f := range st.Facts {
		if old := e.names.containers[f.Key]; f.Kind == factContainer && old != "" && !named(found, old) {
			return old
		}
	}
	return ""
}

// forget leaves out the images that the script does not ask for and no stage
// uses.
func (a *application) forget() {
	for _, c := range a.unasked {
		name := c.What
		c.What = plainText(factAsks + " " + name)
		if user := a.user(name); user != "" {
			c.Outcome, c.Reason = labs.NotApplied, user+" still needs it here"
		} else {
			c.Outcome = labs.Applied
			a.plan.Bootkube.Images = slices.DeleteFunc(a.plan.Bootkube.Images, func(v labs.ImageVariable) bool { return v.Name == name })
		}
		a.note(c)
	}
}

// user is a stage that runs an image or hands it on.
func (a *application) user(image string) string {
	variable := a.plan.ImageVariable(image)
	for _, s := range a.plan.Stages {
		if s.Run == nil {
			continue
		}
		if s.Run.Image == image {
			return s.ID
		}
		for _, f := range s.Run.Flags {
			if strings.Contains(f.Value, "$"+variable) || strings.Contains(f.Value, "${"+variable) {
				return s.ID
			}
		}
	}
	return ""
}

// why is the reason of something that only the script has.
func (a *application) why() string {
	return "found in " + a.from.File + "; stage data knows no reason for it"
}

// whyNow is the reason of something that the script has in another way.
func (a *application) whyNow(before, why string) string {
	text := "found so in " + a.from.File + ", where " + a.plan.Release.ID + " has " + before
	if why = strings.TrimSpace(why); why != "" {
		text += "; there the reason is: " + why
	}
	return text
}

// plainText is a text of the script that a page or a comment may hold: one line
// without control characters, not too long.
func plainText(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, broken(text))
	if runes := []rune(text); len(runes) > longestText {
		text = string(runes[:longestText]) + "…"
	}
	return text
}

// longestText bounds what is repeated of a script, in characters.
const longestText = 200
