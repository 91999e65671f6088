package diagnose

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/itchyny/gojq"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
)

// state is what a proof came to.
type state int

const (
	not    state = iota // the evidence says no
	unseen              // the evidence could not be had
	holds
)

// bench is where the evidence lies, ready to be asked.
type bench struct {
	diagnosis *labs.Diagnosis
	lab       any
	all       any // $e
	records   any // $records
	failing   any // $failed
	stages    any // $stages
	failed    []failure
	units     map[string]*failure // of units without a record, by their names
	items     map[string][]*item
	programs  map[string]*gojq.Code
}

// item is one piece of evidence of one machine.
type item struct {
	host.Found
	value any // what jq sees
}

// shownAtMost is how many lines of one piece of evidence are shown: the last.
const shownAtMost = 5

// jqPatience bounds a jq program over one piece of evidence in time, and
// yieldsAtMost in what it yields.
var jqPatience = 10 * time.Second

const yieldsAtMost = 100_000

func newBench(d *labs.Diagnosis, lab *labs.Lab, local bool, found []host.Found) *bench {
	settings := map[string]any{}
	for name, value := range lab.Settings() {
		settings[name] = value
	}
	b := &bench{diagnosis: d, lab: settings, items: map[string][]*item{},
		programs: map[string]*gojq.Code{}}
	all := map[string]any{}
	for _, f := range derived(d, found) {
		it := &item{Found: f}
		if f.Had {
			it.value = value(f)
		}
		id := f.Evidence.ID
		b.items[id] = append(b.items[id], it)
		one := map[string]any{"had": f.Had, "status": f.Status, "error": f.Complaint, "value": it.value}
		if f.Evidence.On != labs.OnMasters {
			all[id] = one
			continue
		}
		nodes, _ := all[id].(map[string]any)
		if nodes == nil {
			nodes = map[string]any{}
			all[id] = nodes
		}
		nodes[f.Node] = one
	}
	// A program may ask for what was not looked for.
	for _, e := range d.Evidence {
		if all[e.ID] == nil {
			all[e.ID] = map[string]any{}
			if e.On != labs.OnMasters {
				all[e.ID] = map[string]any{"had": false, "status": 0, "error": "", "value": nil}
			}
		}
	}
	b.all = all
	b.units = b.unitFailures()
	b.failed = append(append(b.pivotFailure(), b.nodeImageFailure()...), b.failures(labs.EvidenceRecords, labs.EvidenceLogs)...)
	b.failed = append(b.failed, b.failures(labs.EvidenceRecordsHere, labs.EvidenceLogsHere)...)
	b.failed = append(b.failed, b.hanging()...)
	b.fillPlan(local)
	return b
}

// had are the items of that evidence that could be had.
func (b *bench) had(id string) []*item {
	var all []*item
	for _, it := range b.items[id] {
		if it.Had {
			all = append(all, it)
		}
	}
	return all
}

// value is the evidence as jq takes it: a JSON document (a list if there are
// several, null if it is none), certificates, or text.
func value(f host.Found) any {
	switch f.Evidence.Form {
	case labs.JSONForm:
		return documents(f.Text)
	case labs.CertificatesForm:
		return certificates(f.Text)
	}
	return strings.ToValidUTF8(string(f.Text), "\uFFFD")
}

func documents(text []byte) any {
	var all []any
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		var one any
		if err := d.Decode(&one); err != nil {
			if !errors.Is(err, io.EOF) && len(all) == 0 {
				return nil // torn, or no JSON at all
			}
			break
		}
		all = append(all, one)
	}
	if len(all) == 1 {
		return all[0]
	}
	return any(all)
}

// unanswered says of a document that the command failed before it printed any: the
// API refused it, say. That a file is not there is an answer.
func (it *item) unanswered() bool {
	return it.Evidence.Form == labs.JSONForm && it.Status != 0 && len(bytes.TrimSpace(it.Text)) == 0 &&
		!strings.Contains(it.Complaint, "No such file or directory")
}

// try asks one proof of every machine that has the evidence.
func (b *bench) try(p *labs.Proof) (state, []Exhibit, error) {
	if p.Says != "" {
		return b.says(p)
	}
	result := unseen
	var shown []Exhibit
	for _, it := range b.had(p.Evidence) {
		if p.JQ != "" && it.unanswered() {
			continue
		}
		lines, ok, err := b.ask(p, it)
		if err != nil {
			return not, nil, fmt.Errorf("evidence %s: %w", p.Evidence, err)
		}
		if ok {
			result = holds
			shown = append(shown, exhibit(it, lines))
		} else if result == unseen {
			result = not
		}
	}
	return result, shown, nil
}

// anyOf is whether one of them holds; unseen if none could be asked.
func (b *bench) anyOf(proofs []labs.Proof) (state, []Exhibit, error) {
	result := not
	asked := false
	for i := range proofs {
		s, shown, err := b.try(&proofs[i])
		if err != nil || s == holds {
			return s, shown, err
		}
		asked = asked || s != unseen && !proofs[i].Positive
	}
	if len(proofs) > 0 && !asked {
		result = unseen
	}
	return result, nil, nil
}

// ask is whether one proof holds on one machine, and by which lines.
func (b *bench) ask(p *labs.Proof, it *item) ([]string, bool, error) {
	switch {
	case p.Silent:
		return []string{"(nothing)"}, it.Status == 0 && len(bytes.TrimSpace(it.Text)) == 0, nil
	case p.Fails != "":
		re, err := pattern(p.Fails)
		if err != nil || it.Status == 0 {
			return nil, false, err
		}
		lines := matching(re, it.Complaint)
		return lines, len(lines) > 0, nil
	case p.Matches != "":
		re, err := pattern(p.Matches)
		if err != nil {
			return nil, false, err
		}
		lines := matching(re, string(it.Text))
		return lines, len(lines) > 0, nil
	}
	return b.jq(p.JQ, it)
}

func matching(re *regexp.Regexp, text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); re.MatchString(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// patterns are regular expressions by their texts: like programs they are data of
// this binary, and many walks and lines ask the same.
var patterns sync.Map

func pattern(text string) (*regexp.Regexp, error) {
	if re, ok := patterns.Load(text); ok {
		return re.(*regexp.Regexp), nil
	}
	re, err := regexp.Compile(text)
	if err == nil {
		patterns.Store(text, re)
	}
	return re, err
}

// jq runs a program; what it yields is shown, each as a line.
func (b *bench) jq(program string, it *item) ([]string, bool, error) {
	code, err := b.compile(program)
	if err != nil {
		return nil, false, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), jqPatience)
	defer cancel()
	var lines []string
	results := code.RunWithContext(ctx, it.value, b.lab, float64(it.At.Unix()), b.all, b.records, b.failing, b.stages)
	for {
		v, ok := results.Next()
		if !ok {
			break
		}
		if _, failed := v.(error); failed {
			// A document of another shape than expected proves nothing.
			if ctx.Err() != nil {
				return nil, false, fmt.Errorf("jq took longer than %s", jqPatience)
			}
			break
		}
		if v == nil || v == false {
			continue
		}
		if lines = append(lines, asLine(v)); len(lines) > yieldsAtMost {
			return nil, false, fmt.Errorf("jq yields more than %d values", yieldsAtMost)
		}
	}
	return lines, len(lines) > 0, nil
}

func asLine(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, err := gojq.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

func (b *bench) compile(program string) (*gojq.Code, error) {
	if code := b.programs[program]; code != nil {
		return code, nil
	}
	code, err := Compile(program)
	if err == nil {
		b.programs[program] = code
	}
	return code, err
}

// Compile reads a jq program of the symptoms' data; it has no access to files
// or to the environment.
func Compile(program string) (*gojq.Code, error) {
	if code, ok := compiled.Load(program); ok {
		return code.(*gojq.Code), nil
	}
	code, err := compile(program)
	if err == nil {
		compiled.Store(program, code)
	}
	return code, err
}

// compiled are programs by their texts: they are data of this binary, and many
// walks ask the same.
var compiled sync.Map

func compile(program string) (*gojq.Code, error) {
	query, err := gojq.Parse(program)
	if err != nil {
		return nil, fmt.Errorf("jq %q: %w", program, err)
	}
	code, err := gojq.Compile(query, gojq.WithVariables([]string{"$lab", "$now", "$e", "$records", "$failed", "$stages"}))
	if err != nil {
		return nil, fmt.Errorf("jq %q: %w", program, err)
	}
	return code, nil
}

func exhibit(it *item, lines []string) Exhibit {
	e := Exhibit{Evidence: it.Evidence.ID, Title: it.Evidence.Title, Node: it.Node, Lines: []string{}}
	if over := len(lines) - shownAtMost; over > 0 {
		lines = append([]string{fmt.Sprintf("(%d more before these)", over)}, lines[over:]...)
	}
	for _, line := range lines {
		e.Lines = append(e.Lines, clean(line))
	}
	return e
}

// widest is where a line that is shown is cut.
const widest = 400

// clean makes a line harmless for a terminal.
func clean(line string) string {
	line = strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(line, "\uFFFD"))
	if runes := []rune(line); len(runes) > widest {
		return string(runes[:widest]) + "…"
	}
	return line
}

// missing is what could not be had, and why. What a local run never has is not
// missing there.
func (b *bench) missing(local bool) []Exhibit {
	out := []Exhibit{}
	for _, e := range b.diagnosis.Evidence {
		if local && e.Local == "" {
			continue
		}
		for _, it := range b.items[e.ID] {
			if !it.Had {
				out = append(out, exhibit(it, []string{it.Problem}))
			}
		}
	}
	return out
}

// exhibits is the end of all evidence that a layer and its symptoms look at.
func (b *bench) exhibits(layer *labs.Layer) []Exhibit {
	var out []Exhibit
	seen := map[string]bool{}
	add := func(proofs []labs.Proof) {
		for _, p := range proofs {
			if seen[p.Evidence] {
				continue
			}
			seen[p.Evidence] = true
			for _, it := range b.items[p.Evidence] {
				if it.Had && it.Evidence.Form == labs.TextForm {
					out = append(out, exhibit(it, lastLines(it)))
				}
			}
		}
	}
	add(layer.Good)
	add(layer.Begun)
	for i := range layer.Symptoms {
		add(layer.Symptoms[i].Proof)
	}
	return out
}

func lastLines(it *item) []string {
	lines := textLines(string(it.Text))
	if it.Complaint != "" {
		lines = append(lines, strings.Split(strings.TrimRight(it.Complaint, "\n"), "\n")...)
	}
	return lines
}
