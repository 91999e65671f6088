package audit

import (
	"regexp"
	"slices"
	"strings"

	"bootlab/labs"
)

const byHand = "the script of this stage is written by hand there"

var (
	markerName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.done$`)
	containerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`)
)

// marker applies the file by which bootkube.sh knows that a stage is done.
func (a *application) marker(st *labs.Stage, f Finding) verdict {
	if st.Kind == "check" {
		return refused(byHand)
	}
	if f.got == nil {
		st.Markers = slices.DeleteFunc(st.Markers, func(m labs.Marker) bool { return m.File == f.want.Key })
		return done
	}
	switch name := f.got.Key; {
	case !markerName.MatchString(name):
		return refused("%s is no file name of plain characters that ends in .done", quoted(name))
	case f.got.When != "":
		return refused("the marker is made only when %s", quoted(f.got.When))
	case f.got.Value != "" || len(st.Markers) > 1 || f.how == added && len(st.Markers) > 0:
		return refused("the marker is used in another way than a script of a stage does")
	case a.taken(st, name):
		return refused("another stage has this marker")
	default:
		st.Markers = []labs.Marker{{File: name}}
	}
	return done
}

func (a *application) taken(st *labs.Stage, marker string) bool {
	return slices.ContainsFunc(a.plan.Stages, func(s *labs.Stage) bool { return s != st && s.Marker() == marker })
}

// removal applies which directory is emptied before the stage: never one that
// another stage writes to.
func (a *application) removal(st *labs.Stage, f Finding) verdict {
	switch {
	case !a.follows(st, usesRemove):
		return refused(byHand)
	case f.got == nil:
		st.RemoveFirst = ""
		return done
	case f.how == added || f.want.Key != st.RemoveFirst || f.got.When != "":
		return refused("a script removes one directory, and always")
	}
	dir, v := a.pathOf(f.got.Key, plainPath)
	switch {
	case v != done:
		return v
	case strings.HasPrefix(dir, "/") || !conditionPath(dir):
		return refused("%s is no directory of the stage's own", quoted(dir))
	case a.usedByOthers(st, dir):
		return refused("%s holds what another stage reads or writes", quoted(dir))
	}
	st.RemoveFirst = dir
	return done
}

// usedByOthers says whether the top of a path is used by another stage than the
// given one.
func (a *application) usedByOthers(st *labs.Stage, dir string) bool {
	top, _, _ := strings.Cut(dir, "/")
	for _, s := range a.known.catalog.Stages {
		if s.ID == st.ID {
			continue
		}
		paths := append([]string{s.RemoveFirst, s.ID}, s.Mkdir...)
		for _, f := range slices.Concat(s.Reads, s.Outputs) {
			paths = append(paths, f.Path)
		}
		for _, c := range s.Copies {
			paths = append(paths, c.From, c.To)
		}
		for _, p := range paths {
			if name, _, _ := strings.Cut(p, "/"); name == top {
				return true
			}
		}
	}
	return false
}

// ofContainer says whether a fact is about the stage's own container.
func (a *application) ofContainer(st *labs.Stage, f *Fact) bool {
	return st.Run != nil && (f.Of == st.Run.Name || f.Of != "" && f.Of == a.containers[st.ID])
}

// container applies name, image and command of the stage's own container.
func (a *application) container(st *labs.Stage, f Finding, kind string) verdict {
	uses := map[string]string{factContainer: usesName, factImage: usesImage, factCommand: usesCommand}[kind]
	switch {
	case st.Run == nil:
		return refused("the stage runs no container here")
	case !a.follows(st, uses):
		return refused(byHand)
	case kind == factContainer:
		return a.containerName(st, f)
	case f.want == nil || f.got == nil || !a.ofContainer(st, f.want):
		return refused("a script of a stage runs one container")
	case kind == factImage:
		return a.containerImage(st, f)
	}
	words := strings.Fields(f.got.Value)
	if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return !plainWord.MatchString(w) }) || strings.HasPrefix(words[0], "-") {
		return refused("%s is no command of plain words", quoted(f.got.Value))
	}
	st.Run.Command = strings.Join(words, " ")
	return done
}

// containerName applies another name of the stage's only container, which is
// found as one that is missing and one that is new.
func (a *application) containerName(st *labs.Stage, f Finding) verdict {
	var name string
	for _, got := range a.facts(st.Bootkube, factContainer) {
		switch {
		case got.Key == "":
		case name != "" || got.When != "" || got.Value != "":
			return refused("a script of a stage runs one container, and always")
		default:
			name = got.Key
		}
	}
	switch {
	case name == "":
		return refused("a script of a stage runs one container, and always")
	case !containerName.MatchString(name):
		return refused("%s is no name for a container", quoted(name))
	case name != st.Run.Name:
		a.containers[st.ID], st.Run.Name = st.Run.Name, name
	case f.got != nil && f.want != nil:
		return refused("what becomes of the container's output, and when it is run, is written into the script by hand")
	}
	return done
}

func (a *application) containerImage(st *labs.Stage, f Finding) verdict {
	if f.got.Value == "$RELEASE_IMAGE_DIGEST" {
		st.Run.Image = "release"
		return done
	}
	m := imageAnswer.FindStringSubmatch(f.got.Value)
	if m == nil || m[0] != f.got.Value {
		return refused("%s is no image that the release was asked for", quoted(f.got.Value))
	}
	if _, v := a.image(m[1]); v != done {
		return v
	}
	st.Run.Image = m[1]
	return done
}

// flag applies a flag of the container's command, or of one on the host.
func (a *application) flag(st *labs.Stage, f Finding) verdict {
	flags, part, v := a.flagsOf(st, f)
	if v != done {
		return v
	}
	at := -1
	if f.want != nil {
		at = a.flagAt(*flags, f.want)
	}
	switch {
	case f.got == nil && at < 0:
		return ofNoLab
	case !a.follows(st, part):
		return refused(byHand)
	case f.got == nil:
		*flags = slices.Delete(*flags, at, at+1)
		return done
	}
	now, v := a.newFlag(st, f.got)
	switch {
	case v == ofNoLab && at >= 0:
		*flags = slices.Delete(*flags, at, at+1)
		return verdict{labs.Applied, "it is given only where no lab is, so it is left out"}
	case v != done:
		return v
	case at < 0:
		*flags = append(*flags, now)
		return done
	}
	old := (*flags)[at]
	now.Why, now.Separate = a.whyNow(old.String(), old.Why), old.Separate && now.Value != ""
	if only := old.When.File; only != "" && now.When.File == "" {
		now.Why = a.whyNow(old.String()+" only where "+only+" is there", old.Why)
	}
	(*flags)[at] = now
	return done
}

// flagsOf are the flags among which a difference lies.
func (a *application) flagsOf(st *labs.Stage, f Finding) (*[]labs.Flag, string, verdict) {
	fact := f.want
	if fact == nil {
		fact = f.got
	}
	switch {
	case a.ofContainer(st, fact):
		return &st.Run.Flags, usesFlags, done
	case fact.Of == "" && st.Command != nil && st.Kind != "check":
		return &st.Command.Flags, usesHostFlags, done
	}
	return nil, "", refused("it belongs to a container that is not the stage's own")
}

// flagAt is the place of a flag of stage data, -1 where the plan has none.
func (a *application) flagAt(flags []labs.Flag, want *Fact) int {
	return slices.IndexFunc(flags, func(x labs.Flag) bool {
		return x.Flag == want.Key && a.known.resolved(strings.Trim(x.Value, `"`)) == want.Value && a.known.when(x.When) == want.When
	})
}

func (a *application) newFlag(st *labs.Stage, got *Fact) (labs.Flag, verdict) {
	if !flagName.MatchString(got.Key) {
		return labs.Flag{}, refused("%s is no name for a flag", quoted(got.Key))
	}
	when, v := conditionOf(got.When)
	switch {
	case v != done:
		return labs.Flag{}, v
	case when.Dir+when.NotEmpty != "":
		return labs.Flag{}, refused("a script gives a flag always, or where a file is there")
	case got.Empty:
		return labs.Flag{}, refused("an empty value")
	}
	value, v := a.valueOf(st, got.Value)
	return labs.Flag{Flag: got.Key, Value: value, When: when, Why: a.why()}, v
}
