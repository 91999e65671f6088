package diagnose

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"time"

	"bootlab/labs"
	"bootlab/labs/inspect/record"
)

// failure is a stage, or a service between its stages, that failed when it was
// last tried.
type failure struct {
	service string
	stage   string // as the records call it; empty between stages
	script  string // the stage's id; empty where the plan has none
	message string // of the record
	again   bool   // it is tried once more
	lines   []string
	from    *item // what the lines are of
}

// filePlace is the line before a file among others, as the evidence lines and
// bundles write it. What scripts tell begins with an arrow too.
var filePlace = regexp.MustCompile(`(?m)^==> (?:(?:.*/)?(?:openshift|services)/)?(?:bootlab/)?([A-Za-z0-9@_.-]+)\.(?:log|json)\n`)

// files takes apart what stands behind lines "==> FILE", by the name of the file
// without its ending.
func files(text []byte) map[string][]byte {
	out := map[string][]byte{}
	places := filePlace.FindAllSubmatchIndex(text, -1)
	for i, p := range places {
		end := len(text)
		if i+1 < len(places) {
			end = places[i+1][0]
		}
		out[string(text[p[2]:p[3]])] = text[p[1]:end]
	}
	return out
}

// recordsOf reads progress records, by service.
func recordsOf(text []byte) map[string][]record.Entry {
	out := map[string][]record.Entry{}
	for service, file := range files(text) {
		out[service] = entriesOf(file)
	}
	if len(out) > 0 || len(bytes.TrimSpace(text)) == 0 {
		return out
	}
	// A file that is alone in a bundle has no name before it: it is that of the
	// service that comes first, or bootkube's.
	entries := entriesOf(text)
	service := "bootkube"
	if slices.ContainsFunc(entries, func(e record.Entry) bool { return e.Stage == pullStage }) {
		service = releaseImage
	}
	out[service] = entries
	return out
}

// entriesOf reads one record; of a long one only the end is there.
func entriesOf(file []byte) []record.Entry {
	if file = bytes.TrimSpace(file); len(file) > 0 && file[0] != '[' {
		return record.ReadEnd(file).Entries
	}
	return record.Read(bytes.NewReader(file)).Entries
}

// release-image.service tries again and again inside one stage, without a pause.
// Source: openshift/installer release-image-download.sh, 4.14 to main.
const (
	releaseImage = "release-image"
	pullStage    = "pull-release-image"
)

// failures are those of the records of one place, in the order of the plan.
func (b *bench) failures(records, logs string) []failure {
	var all []failure
	for _, it := range b.had(records) {
		for service, entries := range recordsOf(it.Text) {
			for _, f := range failuresOf(service, entries) {
				b.addLines(&f, entries, logs)
				if f.from == nil {
					f.from = it
				}
				all = append(all, f)
			}
		}
	}
	slices.SortFunc(all, func(x, y failure) int { return strings.Compare(x.stage, y.stage) })
	slices.SortStableFunc(all, func(x, y failure) int { return b.place(&x) - b.place(&y) })
	return all
}

// place is where a failure stands in the order: what the plan does not have, as
// the pull of the release image, comes before its stages.
func (b *bench) place(f *failure) int {
	if b.diagnosis.Plan == nil {
		return -1
	}
	return slices.IndexFunc(b.diagnosis.Plan.Stages, func(s *labs.Stage) bool { return s.ID == f.script })
}

// failuresOf are the stages whose last entry says that they failed. One that was
// that was restarted is running, and nothing is known of it, but for the pull that goes on
// by itself.
func failuresOf(service string, entries []record.Entry) []failure {
	var all []failure
	last, ended := map[string]record.Entry{}, map[string]record.Entry{}
	var order []string
	for _, e := range entries {
		if e.Phase != record.StageStart && e.Phase != record.StageEnd {
			continue
		}
		if !slices.Contains(order, e.Stage) {
			order = append(order, e.Stage)
		}
		last[e.Stage] = e
		if e.Phase == record.StageEnd {
			ended[e.Stage] = e
		}
	}
	for _, stage := range order {
		e := last[stage]
		again := e.Phase == record.StageStart && failedOften(entries, stage)
		if service == releaseImage && stage == pullStage || again {
			e = ended[stage]
		}
		if e.Phase == record.StageEnd && e.Result == record.Failure {
			all = append(all, failure{service: service, stage: stage, message: e.ErrorMessage, again: again})
		}
	}
	if e := betweenStages(entries); e != nil {
		all = append(all, failure{service: service, message: e.ErrorMessage})
	}
	return all
}

// failedOften says whether a stage that is tried once more has failed at least twice
// since it last ended well: then the earlier tries are evidence, since nothing
// was repaired between them. After one failure the second try may still succeed.
func failedOften(entries []record.Entry, stage string) bool {
	times := 0
	for i, e := range entries {
		switch {
		case e.Phase != record.StageEnd || e.Stage != stage:
		case e.Result == record.Success:
			times = 0
		case i+1 < len(entries) && entries[i+1].Phase == record.ServiceEnd:
			times++ // a person's script never ends the service
		}
	}
	return times > 1
}

// patience is after how long a stage of bootkube.sh counts as failed although it has
// not ended; 0 is never.
func patience(stage string) time.Duration {
	for _, s := range labs.Builtin().Stages {
		if s.RecordName() == stage {
			return time.Duration(s.HangsAfter) * time.Minute
		}
	}
	return 0
}

// hanging is a stage that was begun long ago and has not ended.
func (b *bench) hanging() []failure {
	var all []failure
	for _, it := range b.had(labs.EvidenceRecords) {
		entries := recordsOf(it.Text)["bootkube"]
		if len(entries) == 0 {
			continue
		}
		e := entries[len(entries)-1]
		limit := patience(e.Stage)
		if e.Phase != record.StageStart || limit == 0 || e.Time().IsZero() || it.At.Sub(e.Time()) < limit {
			continue
		}
		f := failure{service: "bootkube", stage: e.Stage, message: "it has not ended", from: it}
		if b.diagnosis.Plan != nil {
			for _, s := range b.diagnosis.Plan.Stages {
				if s.RecordName() == e.Stage {
					f.script = s.ID
				}
			}
		}
		for _, j := range b.had("bootkube-journal") {
			f.from = j
			f.lines = lastOf(textLines(string(j.Text)), e.Time())
		}
		all = append(all, f)
	}
	return all
}

// lately is how far back a stage that waits is listened to: what it says at first,
// before anything could have started, is no failure.
const lately = 10 * time.Minute

// lastOf are the last lines of a journal, from a moment on at most.
func lastOf(lines []string, from time.Time) []string {
	if len(lines) == 0 {
		return nil
	}
	if end := timeOf(lines[len(lines)-1]); end.Add(-lately).After(from) {
		from = end.Add(-lately)
	}
	var out []string
	for _, line := range lines {
		if at := timeOf(line); !at.IsZero() && !at.Before(from) {
			out = append(out, line)
		}
	}
	return out
}

// betweenStages is the failed end of a service that no stage explains, if none
// was begun since.
func betweenStages(entries []record.Entry) *record.Entry {
	for i := len(entries) - 1; i >= 0; i-- {
		switch e := &entries[i]; {
		case e.Phase == record.StageStart || e.Phase == record.StageEnd:
			return nil
		case e.Phase == record.ServiceEnd && e.Result == record.Failure:
			if i > 0 && entries[i-1].Phase == record.StageEnd && entries[i-1].Result == record.Failure {
				return nil
			}
			return e
		case e.Phase == record.ServiceEnd:
			return nil
		}
	}
	return nil
}

// addLines finds what the failed try printed: in the log of the stage's script,
// or in the journal of the service, else what the record kept of it.
func (b *bench) addLines(f *failure, entries []record.Entry, logs string) {
	if b.diagnosis.Plan != nil && f.stage != "" {
		for _, s := range b.diagnosis.Plan.Stages {
			if s.RecordName() == f.stage {
				f.script = s.ID
			}
		}
	}
	again, byService := startsAfter(entries, f.stage)
	if !byService {
		for _, it := range b.had(logs) {
			if text := files(it.Text)[f.script]; f.script != "" && len(text) > 0 {
				f.lines, f.from = lastRun(text), it
				return
			}
		}
	}
	for _, it := range b.had(f.service + "-journal") {
		if f.lines = lastTry(f, string(it.Text), again); len(f.lines) > 0 {
			f.from = it
			return
		}
	}
	f.lines = textLines(f.message)
}

// startsAfter counts how often the service was started behind the last end of a
// stage, and says whether a service did the stage at all: scripts that are run
// by hand never write that it ended.
func startsAfter(entries []record.Entry, stage string) (starts int, byService bool) {
	for i := len(entries) - 1; i >= 0; i-- {
		switch e := entries[i]; {
		case e.Phase == record.ServiceEnd:
			byService = true
			if stage == "" && e.Result == record.Failure {
				return starts, byService
			}
		case e.Phase == record.ServiceStart && (i == 0 || entries[i-1].Phase != record.ServiceStart):
			starts++
		case e.Phase == record.StageEnd && e.Stage == stage:
			return starts, byService
		}
	}
	return starts, byService
}

// Where a try begins: the header that scripts put into their log, what systemd
// says of a service (with its name before the description since version 249), and
// what release-image-download.sh prints.
// Source: openshift/installer data/data/bootstrap, 4.14 to main; systemd NEWS.
var (
	runBegins     = regexp.MustCompile(`^\+?==> [a-z-]+\.sh.* (starts|begins), [0-9TZ:-]+$`)
	serviceStarts = regexp.MustCompile(`systemd\[1\]: Starting `)
	serviceBegins = regexp.MustCompile(`systemd\[1\]: Started `)
	pullBegins    = regexp.MustCompile(`\]: (Pulling |Pull failed\. Retrying )`)
)

// lastRun is what a stage script printed since it was last begun, without its own
// words: commands, progress, and what checks expect and advise name failures
// before there are any. likely_causes of templates/scripts/lib/record.sh.tmpl does
// the same.
func lastRun(text []byte) []string {
	lines := textLines(string(text))
	for i := len(lines) - 1; i >= 0; i-- {
		if runBegins.MatchString(lines[i]) {
			lines = lines[i+1:]
			break
		}
	}
	var out []string
	own := false
	for _, line := range lines {
		switch line {
		case "  command: |-", "  expected: |-", "  hint: |-":
			own = true
		case "  found: |2-", "  ...":
			own = false
		}
		if !own && !ownWords.MatchString(line) {
			out = append(out, line)
		}
	}
	return out
}

var ownWords = regexp.MustCompile(`^(\+?==> |  \$ |    \| |(not )?ok [0-9]+ - |  hint: )`)

// lastTry is what a service's journal has of the failed try: the one before so
// many starts. Of the pull that begins again at once it is the last two tries,
// for the last one is running.
func lastTry(f *failure, journal string, startsSince int) []string {
	begins, since, tries := serviceBegins, startsSince, 1
	if f.stage == pullStage {
		begins, since, tries = pullBegins, 0, 2
	}
	if begins == serviceBegins && serviceStarts.MatchString(journal) {
		begins = serviceStarts // said first, where something is done before the start
	}
	lines := textLines(journal)
	var starts []int
	for i, line := range lines {
		if begins.MatchString(line) {
			starts = append(starts, i)
		}
	}
	first, end := len(starts)-since-tries, len(lines)
	if since > 0 && len(starts) >= since {
		end = starts[len(starts)-since]
	}
	if first < 0 {
		if since >= len(starts) && since > 0 {
			return nil
		}
		return lines[:end] // the journal is cut at its beginning
	}
	return lines[starts[first]:end]
}

func textLines(text string) []string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(strings.ToValidUTF8(text, "\uFFFD"), "\n")
}

// says asks for lines in what the last, failed try of a stage printed.
func (b *bench) says(p *labs.Proof) (state, []Exhibit, error) {
	re, err := pattern(p.Says)
	if err != nil {
		return not, nil, err
	}
	result := unseen
	if len(b.had(p.Evidence)) > 0 || len(b.failed) > 0 {
		result = not
	}
	var shown []Exhibit
	tries := b.failed
	if p.Unit != "" {
		tries = nil
		if f := b.units[p.Unit]; f != nil {
			tries, result = []failure{*f}, not
		}
	}
	for i := range tries {
		f := &tries[i]
		if p.Stage != "" && f.stage != p.Stage {
			continue
		}
		if lines := saying(re, f.lines); len(lines) > 0 {
			result = holds
			shown = append(shown, exhibit(f.from, lines))
		}
	}
	return result, shown, nil
}

// saying are the lines that match, a pull's by what it says of mirrors.
func saying(re *regexp.Regexp, lines []string) []string {
	var out []string
	for _, line := range lines {
		if re.MatchString(ofMirrors(line)) {
			out = append(out, line)
		}
	}
	return out
}

// failedTries is the end of what each failed try printed.
func (b *bench) failedTries() []Exhibit {
	var out []Exhibit
	for i := range b.failed {
		f := &b.failed[i]
		lines := f.lines
		if len(lines) == 0 {
			lines = []string{"(it printed nothing)"}
		}
		e := exhibit(f.from, lines)
		if f.script != "" {
			e.Title += ", stage " + f.script
		}
		out = append(out, e)
	}
	return out
}

// nodeImage is the service that brings the node image, since 4.19. It keeps no
// record: it says that it tries again, or systemd says that it failed.
// Source: openshift/installer node-image-pull.sh, 4.19 to main.
var (
	nodeImageFails = regexp.MustCompile(`(Failed to .*; retrying\.\.\.$|Expected single docker ref, found:|node-image-pull\.service: Failed with result)`)
	nodeImageGoes  = regexp.MustCompile(`\]: (Extracting machine-config-osimagestream|Target node image is|Checking out node image content)`)
)

// nodeImageFailure is the last try of that service if it failed.
func (b *bench) nodeImageFailure() []failure {
	for _, it := range b.had("node-image-journal") {
		lines := textLines(string(it.Text))
		var fails []int
		for i, line := range lines {
			switch {
			case nodeImageFails.MatchString(line):
				fails = append(fails, i)
			case nodeImageGoes.MatchString(line):
				fails = nil
			}
		}
		if len(fails) == 0 {
			continue
		}
		first := 0
		if len(fails) > 1 {
			first = fails[len(fails)-2]
		}
		return []failure{{service: "node-image-pull", lines: lines[first:], from: it}}
	}
	return nil
}
