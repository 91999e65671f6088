package audit

import "sort"

// Kinds of findings. What is identical is only counted.
const (
	Known   = "known"
	Unknown = "unknown"
)

// Finding is one difference between a script and stage data.
type Finding struct {
	Kind  string `json:"kind"`
	Stage string `json:"stage"`
	What  string `json:"what"`
	// Line is the script's; for what it lacks that of the stage, 0 without one.
	Line     int    `json:"line"`
	Expected string `json:"expected,omitempty"`
	Found    string `json:"found,omitempty"`
	// Meaning is what the difference means for who follows the lesson.
	Meaning string `json:"meaning"`
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
}

// finish counts, and puts the findings in the order of the script.
func (r *Report) finish() {
	if r.Findings == nil {
		r.Findings = []Finding{}
	}
	sort.SliceStable(r.Findings, func(i, j int) bool { return r.Findings[i].Line < r.Findings[j].Line })
	for _, f := range r.Findings {
		if f.Kind == Known {
			r.Known++
		} else {
			r.Unknown++
		}
	}
}
