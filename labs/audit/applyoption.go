package audit

import (
	"regexp"
	"slices"
	"strings"

	"bootlab/labs"
)

// harmless are podman's options that reach nothing of the host beyond the
// container. Others are left to a person: what a script gives to a container of
// a bootstrap machine is not what a workstation should give to it.
var harmless = map[string]*regexp.Regexp{
	"--quiet": regexp.MustCompile(`^$`), "--rm": regexp.MustCompile(`^$`), "--read-only": regexp.MustCompile(`^$`), "--init": regexp.MustCompile(`^$`),
	"--log-driver": regexp.MustCompile(`^(k8s-file|journald|none|json-file|passthrough)$`),
	"--network":    regexp.MustCompile(`^(host|none)$`),
	"--user":       regexp.MustCompile(`^[a-z0-9_-]+(:[a-z0-9_-]+)?$`),
	"--env":        regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=[A-Za-z0-9_./:=,@%+-]*$`),
	"--attach":     regexp.MustCompile(`^(stdout|stderr)$`),
	"--entrypoint": regexp.MustCompile(`^[A-Za-z0-9_./-]+$`),
	"--workdir":    regexp.MustCompile(`^/[A-Za-z0-9_./-]*$`),
	"--hostname":   regexp.MustCompile(`^[a-z0-9-]+$`),
	"--memory":     regexp.MustCompile(`^[0-9]+[bkmg]?$`),
	"--cpus":       regexp.MustCompile(`^[0-9.]+$`),
	"--pids-limit": regexp.MustCompile(`^[0-9-]+$`),
	"--pull":       regexp.MustCompile(`^(always|missing|never|newer)$`),
	"--volume":     regexp.MustCompile(`^` + labs.AssetDir + `(/[A-Za-z0-9_.-]+)*:/[A-Za-z0-9_./-]*(:[a-zA-Z,]+)?$`),
}

// option applies an option of podman: of one container, or of every podman run.
func (a *application) option(f Finding) verdict {
	names := namesOf(f)
	if f.Stage == everyStage && (f.want == nil || a.base(f.want) >= 0) {
		return a.baseOption(f)
	}
	var stages []*labs.Stage
	for _, name := range names {
		if st := a.stage(name); st != nil {
			stages = append(stages, st)
		}
	}
	if len(stages) == 0 {
		return ofNoLab
	}
	for _, st := range stages { // all or none
		if v := a.optionFits(st, f); v != done {
			return v
		}
	}
	for _, st := range stages {
		a.optionOf(st, f)
	}
	return done
}

// baseOption applies a difference in every podman run.
func (a *application) baseOption(f Finding) verdict {
	for _, name := range namesOf(f) {
		if st := a.stage(name); st != nil && !a.follows(st, usesBase) {
			return refused("%s is written by hand there", st.ScriptName())
		}
	}
	options := &a.plan.Bootkube.Podman
	at := -1
	if f.want != nil {
		at = a.base(f.want)
	}
	if f.got == nil {
		*options = slices.Delete(*options, at, at+1)
		return done
	}
	text, v := optionText(f.got)
	switch {
	case v != done:
		return v
	case f.got.Key == "--volume":
		return refused("a volume of every container")
	case at >= 0:
		old := (*options)[at]
		(*options)[at] = labs.Option{Option: text, Why: a.whyNow(old.Option, old.Why)}
	default:
		*options = append(*options, labs.Option{Option: text, Why: a.why()})
	}
	return done
}

// base is the place of an option among those of every podman run, -1 if it is
// none.
func (a *application) base(want *Fact) int {
	return slices.IndexFunc(a.plan.Bootkube.Podman, func(o labs.Option) bool { return isOption(a.known, o, want) })
}

// isOption says whether an option of stage data is the one of a fact.
func isOption(e *expectation, o labs.Option, f *Fact) bool {
	var typed []arg
	for _, word := range strings.Fields(o.Option) {
		typed = append(typed, arg{text: e.resolved(strings.Trim(word, `"`))})
	}
	options := containerOf(event{args: append(typed, arg{text: "image"})}).options
	return len(options) == 1 && options[0].name == f.Key && options[0].value == f.Value
}

// optionFits says whether an option's difference can be applied to a stage.
func (a *application) optionFits(st *labs.Stage, f Finding) verdict {
	fact := f.got
	if fact == nil {
		fact = f.want
	}
	switch {
	case st.Run == nil || len(f.Stages) == 0 && !a.ofContainer(st, fact):
		return refused("it belongs to a container that is not the stage's own")
	case !a.follows(st, usesOptions):
		return refused(byHand)
	case a.assets(st, f.want):
		return a.assetsFit(st, f)
	case f.want != nil && a.stageOption(st, f.want) < 0:
		return refused("the option is one of every podman run, or written into the script by hand")
	case f.got == nil:
		return done
	case f.got.When != "":
		return refused("a script gives podman its options always")
	}
	text, v := optionText(f.got)
	if v == done && strings.Contains(text, "$PWD") && !plainWord.MatchString(strings.Trim(strings.ReplaceAll(text, "$PWD", ""), `-" `)) {
		return refused("%s is no volume of plain characters", quoted(text))
	}
	return v
}

func (a *application) stageOption(st *labs.Stage, want *Fact) int {
	return slices.IndexFunc(st.Run.Options, func(o labs.Option) bool { return isOption(a.known, o, want) })
}

// optionOf applies what fits.
func (a *application) optionOf(st *labs.Stage, f Finding) {
	if a.assets(st, f.want) {
		st.Run.Volume = "$PWD" + strings.TrimPrefix(f.got.Value, workingDirectory)
		return
	}
	at := -1
	if f.want != nil {
		at = a.stageOption(st, f.want)
	}
	if f.got == nil {
		st.Run.Options = slices.Delete(st.Run.Options, at, at+1)
		return
	}
	text, _ := optionText(f.got)
	if at < 0 {
		st.Run.Options = append(st.Run.Options, labs.Option{Option: text, Why: a.why()})
		return
	}
	old := st.Run.Options[at]
	st.Run.Options[at] = labs.Option{Option: text, Why: a.whyNow(old.Option, old.Why)}
}

// assets says whether a fact is the volume by which a container has the asset
// directory.
func (a *application) assets(st *labs.Stage, want *Fact) bool {
	volume := firstOf(st.Run.Volume, a.plan.Bootkube.AssetVolume)
	return want != nil && want.Key == "--volume" && want.Value == a.known.resolved(volume)
}

func (a *application) assetsFit(st *labs.Stage, f Finding) verdict {
	if f.got == nil || f.got.When != "" || f.got.Key != "--volume" || !harmless["--volume"].MatchString(f.got.Value) || strings.Contains(f.got.Value, "..") {
		return refused("a container of a script has the asset directory, or a directory in it")
	}
	return done
}

// optionText is an option as a script can type it.
func optionText(f *Fact) (string, verdict) {
	allowed := harmless[f.Key]
	if f.Key == "--volume" && allowed.MatchString(f.Value) && !strings.Contains(f.Value, "..") {
		return `--volume "$PWD` + strings.TrimPrefix(f.Value, workingDirectory) + `"`, done
	}
	if allowed == nil || !allowed.MatchString(f.Value) || f.Key == "--volume" || f.Value != "" && !plainWord.MatchString(f.Value) {
		return "", refused("the option reaches beyond the container, or has a value that scripts do not type: read it and decide yourself")
	}
	if f.Value == "" {
		return f.Key, done
	}
	return f.Key + "=" + f.Value, done
}
