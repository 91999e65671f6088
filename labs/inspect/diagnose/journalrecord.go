package diagnose

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/record"
)

// Services keep records since 4.8, and a bundle may lack them for other reasons.
// What a journal tells of a service is put into the same form, so that all that
// judges records judges journals too.

// A bootkubeLine is what bootkube.sh prints when it begins a stage, with the
// stage's name in records.
type bootkubeLine struct {
	line  *regexp.Regexp
	stage string
}

// bootkubeLines are the lines of all stages that do more than look.
var bootkubeLines = sync.OnceValue(func() []bootkubeLine {
	var lines []bootkubeLine
	for _, s := range labs.Builtin().Stages {
		if s.Bootkube == "" || s.Kind == "check" {
			continue
		}
		var forms []string
		if s.Log != "" {
			forms = append(forms, regexp.QuoteMeta(strings.TrimRight(s.Log, ".")))
		}
		if s.Journal != "" {
			forms = append(forms, s.Journal)
		}
		if len(forms) > 0 {
			lines = append(lines, bootkubeLine{regexp.MustCompile(`: (?:` + strings.Join(forms, "|") + `)`), s.Bootkube})
		}
	}
	return lines
})

// What journals say of release-image.service and bootkube.service.
var (
	pullGoesOn  = regexp.MustCompile(`\]: Pulling \S+`)
	pullFails   = regexp.MustCompile(`\]: Pull failed\. Retrying`)
	pullEnds    = regexp.MustCompile(`systemd\[1\]: (Finished|Started) .*Download the OpenShift Release Image`)
	unitFails   = regexp.MustCompile(`\.service: Failed with result`)
	bootkubeRun = regexp.MustCompile(`systemd\[1\]: Started .*Bootstrap a Kubernetes cluster`)
	bootkubeEnd = regexp.MustCompile(`: bootkube\.service complete`)
)

// writing puts together a record.
type writing struct {
	entries []record.Entry
	open    string
	run     bool
}

func (w *writing) add(at, phase, stage, result, message string) {
	w.entries = append(w.entries, record.Entry{Timestamp: at, Phase: phase, Stage: stage, Result: result, ErrorMessage: message})
}

func (w *writing) start(at string) {
	w.add(at, record.ServiceStart, "", "", "")
	w.open, w.run = "", true
}

func (w *writing) begin(at, stage string) {
	if w.open == stage {
		return
	}
	if w.open != "" {
		w.add(at, record.StageEnd, w.open, record.Success, "")
	}
	w.add(at, record.StageStart, stage, "", "")
	w.open = stage
}

// goOn is a stage of a service that may have begun before the journal does.
func (w *writing) goOn(at, stage string) {
	if !w.run {
		w.start(at)
	}
	w.begin(at, stage)
}

func (w *writing) end(at, result, message string) {
	if w.open != "" {
		w.add(at, record.StageEnd, w.open, result, message)
	}
	w.add(at, record.ServiceEnd, "", result, message)
	w.open, w.run = "", false
}

// stamp is the time of a line in the form of records; empty if it has none.
func stamp(line string) string {
	if len(line) < 19 || line[4] != '-' || line[10] != 'T' {
		return ""
	}
	return line[:19] + "Z"
}

// recordOf reads the lines of a journal that have a time. last is the message before
// a line; a line that read calls no message is not kept as one.
func recordOf(journal string, read func(w *writing, at, line, last string) (message bool)) []record.Entry {
	w := &writing{}
	last := ""
	for line := range strings.Lines(journal) {
		line = strings.TrimRight(line, "\n")
		if at := stamp(line); at != "" && read(w, at, line, last) {
			last = line
		}
	}
	return w.entries
}

// bootkubeRecord is what a journal tells of bootkube.service.
func bootkubeRecord(journal string) []record.Entry {
	return recordOf(journal, func(w *writing, at, line, last string) bool {
		switch {
		case bootkubeRun.MatchString(line):
			w.start(at)
			return false
		case unitFails.MatchString(line) && strings.Contains(line, "bootkube.service"):
			w.end(at, record.Failure, last)
			return false
		case bootkubeEnd.MatchString(line):
			w.end(at, record.Success, "")
			return false
		}
		for _, b := range bootkubeLines() {
			if b.line.MatchString(line) {
				w.goOn(at, b.stage)
				break
			}
		}
		return true
	})
}

// pullRecord is what a journal tells of release-image.service.
func pullRecord(journal string) []record.Entry {
	return recordOf(journal, func(w *writing, at, line, last string) bool {
		switch {
		case pullFails.MatchString(line):
			w.add(at, record.StageEnd, pullStage, record.Failure, last)
			w.add(at, record.StageStart, pullStage, "", "")
			w.open = pullStage
		case pullGoesOn.MatchString(line):
			w.goOn(at, pullStage)
		case unitFails.MatchString(line) && strings.Contains(line, "release-image.service"):
			w.end(at, record.Failure, last)
		case pullEnds.MatchString(line):
			w.begin(at, pullStage)
			w.begin(at, "image-metadata-arches-match")
			w.end(at, record.Success, "")
		}
		return true
	})
}

// derived adds to what was found what follows from it: records out of journals, and
// markers out of records. It is done only where there is none.
func derived(d *labs.Diagnosis, found []host.Found) []host.Found {
	by := map[string]*host.Found{}
	for i := range found {
		by[found[i].Evidence.ID] = &found[i]
	}
	had := func(id string) bool { return by[id] != nil && by[id].Had }
	fill := func(id string, text []byte) {
		if f := by[id]; f != nil && !f.Had && len(text) > 0 {
			f.Had, f.Problem, f.Text = true, "", text
		}
	}
	var records []byte
	for _, s := range []struct {
		record, journal, service string
		read                     func(string) []record.Entry
	}{{"release-image-record", "release-image-journal", releaseImage, pullRecord}, {"bootkube-record", "bootkube-journal", "bootkube", bootkubeRecord}} {
		if had(s.record) || !had(s.journal) {
			continue
		}
		entries := s.read(string(by[s.journal].Text))
		if len(entries) == 0 {
			continue
		}
		text, err := json.Marshal(entries)
		if err != nil {
			continue
		}
		fill(s.record, text)
		records = append(append(append(records, "==> "+s.service+".json\n"...), text...), '\n')
	}
	fill(labs.EvidenceRecords, records)
	if had("markers") || d.Plan == nil || !had("bootkube-record") {
		return found
	}
	fill("markers", markersOf(d.Plan, entriesOf(by["bootkube-record"].Text)))
	return found
}

// markersOf are the markers that stages leave which a record says ended well.
func markersOf(p *labs.Plan, entries []record.Entry) []byte {
	var out strings.Builder
	for _, s := range p.Stages {
		for _, e := range entries {
			if e.Phase == record.StageEnd && e.Result == record.Success && e.Stage == s.RecordName() && s.Marker() != "" {
				out.WriteString(s.Marker() + "\n")
				break
			}
		}
	}
	return []byte(out.String())
}
