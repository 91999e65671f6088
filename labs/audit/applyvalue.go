package audit

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"bootlab/labs"
)

var (
	plainPath   = regexp.MustCompile(`^/?[A-Za-z0-9_.][A-Za-z0-9_./-]*$`)
	plainGlobs  = regexp.MustCompile(`^/?[A-Za-z0-9_.*][A-Za-z0-9_./*?-]*$`)
	plainWord   = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`)
	payloadWord = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	flagName    = regexp.MustCompile(`^--?[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)
	imageAnswer = regexp.MustCompile(`image\(([^()]*)\)`)
	expansion   = regexp.MustCompile(`\$\{?([A-Z][A-Z0-9_]*)\}?`)
)

// longestValue bounds a flag's value, in bytes.
const longestValue = 512

// pathOf gives a path of the script if it is one of plain characters that leads
// nowhere up, and on the host into a directory that bootkube.sh is known to
// use.
func (a *application) pathOf(text string, allowed *regexp.Regexp) (string, verdict) {
	text = a.known.shown(text)
	switch {
	case !allowed.MatchString(text) || len(text) > 255:
		return "", refused("%s is no path of plain characters", quoted(text))
	case slices.Contains(strings.Split(text, "/"), ".."):
		return "", refused("%s leads upwards", quoted(text))
	case strings.HasPrefix(text, "/") && !a.usual(text):
		return "", refused("%s lies outside of the directories that bootkube.sh is known to use on the host", quoted(text))
	}
	return text, done
}

// usual says whether a path of the host lies in a directory that the copies and
// directories of stage data are in.
func (a *application) usual(text string) bool {
	for _, s := range a.known.catalog.Stages {
		places := slices.Clone(s.Mkdir)
		for _, c := range s.Copies {
			places = append(places, c.To)
		}
		for _, p := range places {
			// /etc is owned by no package; /etc/kubernetes is.
			if parts := strings.SplitN(p, "/", 4); strings.HasPrefix(p, "/") && len(parts) > 2 && parts[2] != "" {
				top := "/" + parts[1] + "/" + parts[2]
				if text == top || strings.HasPrefix(text, top+"/") {
					return true
				}
			}
		}
	}
	return false
}

// quoted repeats a text of the script in a reason.
func quoted(text string) string { return "\"" + plainText(text) + "\"" }

// valueOf gives a flag's value in the words of stage data: literal text, and
// variables that scripts know.
func (a *application) valueOf(st *labs.Stage, text string) (string, verdict) {
	text = a.computed(text)
	var bad verdict
	text = imageAnswer.ReplaceAllStringFunc(text, func(m string) string {
		variable, v := a.image(imageAnswer.FindStringSubmatch(m)[1])
		if v != done {
			bad = v
		}
		return "$" + variable
	})
	if bad.reason != "" {
		return "", bad
	}
	if strings.Contains(text, "\u00a0") {
		return "", refused("%s holds an expansion that cannot be followed", quoted(text))
	}
	if st.In(labs.Local) && (text == workingDirectory || strings.HasPrefix(text, workingDirectory+"/")) {
		text = "$PWD" + strings.TrimPrefix(text, workingDirectory)
	}
	return text, a.literal(text)
}

// literal refuses what is more than text and known variables.
func (a *application) literal(text string) verdict {
	rest := expansion.ReplaceAllStringFunc(text, func(m string) string {
		if a.variable(expansion.FindStringSubmatch(m)[1]) {
			return ""
		}
		return m
	})
	switch {
	case len(text) > longestValue:
		return refused("a value of %d bytes", len(text))
	case strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return refused("%s holds line ends or control characters", quoted(text))
	case strings.ContainsAny(rest, "$`"):
		return refused("%s holds an expansion that stage data does not know", quoted(text))
	case strings.Contains(text, "{{"):
		return refused("%s is filled in by the installer", quoted(text))
	}
	return done
}

// variable says whether scripts of this plan have a variable of bootkube.sh.
func (a *application) variable(name string) bool {
	return name == "PWD" ||
		slices.ContainsFunc(a.plan.Bootkube.Images, func(v labs.ImageVariable) bool { return v.Variable == name }) ||
		slices.ContainsFunc(a.plan.Bootkube.Variables, func(v labs.Variable) bool { return v.Name == name && v.Name != mirrorVariable })
}

// computed puts the variables back that stand for answers of oc, also those
// that only other releases have.
func (a *application) computed(text string) string {
	for _, v := range a.known.catalog.Bootkube.Variables {
		answer := valueOf(v)
		if !strings.HasPrefix(answer, "$(") || !strings.Contains(text, answer) {
			continue
		}
		text = strings.ReplaceAll(text, answer, "$"+v.Name)
		if !a.variable(v.Name) {
			a.plan.Bootkube.Variables = append(a.plan.Bootkube.Variables, v)
		}
	}
	return text
}

// image gives the variable of bootkube.sh for an image of the payload, and adds
// one that the nearest release does not ask for.
func (a *application) image(name string) (variable string, v verdict) {
	if known := a.plan.ImageVariable(name); known != "" {
		return known, done
	}
	if !payloadWord.MatchString(name) {
		return "", refused("%s is no name of an image in a release", quoted(name))
	}
	variable = strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + "_IMAGE"
	for _, other := range a.known.catalog.Bootkube.Images {
		if other.Name == name {
			variable = other.Variable
		}
	}
	if variable[0] >= '0' && variable[0] <= '9' || a.variable(variable) || variable == "RELEASE_IMAGE" {
		return "", refused("%s would be called %s, as another variable is", quoted(name), variable)
	}
	a.plan.Bootkube.Images = append(a.plan.Bootkube.Images, labs.ImageVariable{Variable: variable, Name: name, Why: a.why()})
	return variable, done
}

// conditionOf turns a condition of the script into one of stage data: at most
// one file or directory that is asked for when the script runs. ofNoLab means
// that it cannot hold in a lab.
func conditionOf(text string) (labs.Condition, verdict) {
	var c labs.Condition
	n := 0
	for _, part := range strings.Split(text, " and ") {
		kind, file, _ := strings.Cut(part, " ")
		switch {
		case text == "":
		case part == inPlace, part == profile:
			return c, ofNoLab
		case part == "not "+inPlace:
			c.InPlace = new(labs.InPlace)
		case part == "not "+profile:
		case kind == isFile && conditionPath(file):
			c.File, n = file, n+1
		case kind == isDir && conditionPath(file):
			c.Dir, n = file, n+1
		case strings.HasPrefix(part, notEmpty+" ") && conditionPath(strings.TrimPrefix(part, notEmpty+" ")):
			c.NotEmpty, n = strings.TrimPrefix(part, notEmpty+" "), n+1
		default:
			return c, refused("the condition %s is not one that stage data knows", quoted(text))
		}
	}
	if n > 1 {
		return c, refused("more than one condition: %s", quoted(text))
	}
	return c, done
}

func conditionPath(file string) bool {
	return plainPath.MatchString(file) && !strings.HasPrefix(file, "/") && len(file) <= 255 && path.Clean(file) == file && file != "." && !strings.HasPrefix(file, "..")
}
