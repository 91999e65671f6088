package audit

import (
	"slices"
	"sort"
	"strings"
)

// Kinds of findings. What is identical is only counted.
const (
	Known   = "known"
	Unknown = "unknown"
)

// Finding is one difference between a script and stage data.
type Finding struct {
	Kind string `json:"kind"`
	// Stage is bootkube's name; of a difference that several stages share, the
	// words for all of them.
	Stage string `json:"stage"`
	// Stages are the stages that share the difference, where there is more than
	// one.
	Stages []string `json:"stages,omitempty"`
	What   string   `json:"what"`
	// Line is the script's; for what it lacks that of the stage, 0 without one.
	Line     int    `json:"line"`
	Expected string `json:"expected,omitempty"`
	Found    string `json:"found,omitempty"`
	// Meaning is what the difference means for who follows the lesson.
	Meaning string `json:"meaning"`
	// how tells in which way it differs, want and got are the facts, of which
	// one may be missing.
	how       int
	want, got *Fact
	// unasked: the command did not tell its flags.
	unasked bool
}

// NotCompared counts the commands whose flags were asked for and not told: they
// are among the unknown differences.
func (r *Report) NotCompared() (n int) {
	for _, f := range r.Findings {
		if f.unasked {
			n++
		}
	}
	return n
}

// Report is the comparison of a script with a release.
type Report struct {
	Release string `json:"release"`
	// Detected: the release was not chosen but is the one that fits best.
	Detected bool `json:"detected"`
	// AsWell are releases that fit equally well.
	AsWell []string `json:"asWell,omitempty"`
	// Identical and Unknown count facts; Known counts known variations.
	Identical int `json:"identical"`
	Known     int `json:"known"`
	Unknown   int `json:"unknown"`
	// Sources are files that the script reads commands from; they are not
	// looked at.
	Sources  []string  `json:"sources,omitempty"`
	Findings []Finding `json:"findings"`
	// separate counts the unknown differences stage by stage, to tell which
	// release fits best.
	separate int
	// runs are the stages on both sides that run a container.
	runs []string
}

// finish counts, and puts the findings in the order of the script.
func (r *Report) finish() {
	if r.Findings == nil {
		r.Findings = []Finding{}
	}
	sort.SliceStable(r.Findings, func(i, j int) bool { return r.Findings[i].Line < r.Findings[j].Line })
	for _, f := range r.Findings {
		if f.Kind == Unknown {
			r.separate++
		}
	}
	r.Findings = shared(r.Findings, r.runs)
	for _, f := range r.Findings {
		if f.Kind == Known {
			r.Known++
		} else {
			r.Unknown++
		}
	}
}

// shared makes one finding of an option of podman that differs in the same way
// in several stages.
func shared(findings []Finding, runs []string) []Finding {
	var out []Finding
	for _, f := range findings {
		i := slices.IndexFunc(out, func(g Finding) bool { return sameOption(f, g) })
		if i < 0 {
			out = append(out, f)
			continue
		}
		if len(out[i].Stages) == 0 {
			out[i].Stages = []string{out[i].Stage}
		}
		out[i].Stages = append(out[i].Stages, f.Stage)
	}
	for i, f := range out {
		switch {
		case len(f.Stages) == 0:
		case everyRun(f.Stages, runs):
			out[i].Stage = everyStage
		default:
			out[i].Stage = strings.Join(f.Stages, ", ")
		}
	}
	return out
}

// everyStage stands for the names of all stages that run a container.
const everyStage = "every stage with a container"

func everyRun(stages, runs []string) bool {
	return len(runs) > 0 && !slices.ContainsFunc(runs, func(name string) bool { return !slices.Contains(stages, name) })
}

func sameOption(f, g Finding) bool {
	return strings.HasPrefix(f.What, factOption+" ") && f.Stage != g.Stage && !slices.Contains(g.Stages, f.Stage) &&
		f.Kind == g.Kind && f.What == g.What && f.Expected == g.Expected && f.Found == g.Found && f.Meaning == g.Meaning
}
