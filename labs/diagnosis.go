package labs

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"
)

// Diagnosis is what there is to be known about bootstraps that hang: what to
// look at, in which order, and which causes show how. gather collects exactly
// the evidence that diagnose judges.
type Diagnosis struct {
	Evidence []*Evidence
	// Layers in the order of the walk, from what everything stands on upwards.
	Layers []*Layer
	// Plan is what it was cut to by [Diagnosis.For]; nil for the whole of it.
	Plan *Plan
}

// Evidence that diagnose reads for $records, $failed and Says, beside
// SERVICE-journal of the installer's services.
const (
	EvidenceRecords = "records"    // the progress records, behind lines "==> FILE"
	EvidenceLogs    = "stage-logs" // what the stage scripts printed, behind lines "==> FILE"
	// The same of the scripts that run on the workstation, in a lab with machines.
	EvidenceRecordsHere = "workstation-records"
	EvidenceLogsHere    = "workstation-stage-logs"
)

// Where evidence is to be had.
const (
	OnBootstrap = "bootstrap" // the bootstrap node
	OnMasters   = "masters"   // each control plane node that can be reached
	OnCluster   = "cluster"   // the API, by oc: on the bootstrap node, else on the workstation
	OnHere      = "here"      // the workstation: where the learner sits and the load balancer runs
)

// Forms of evidence.
const (
	TextForm         = "text"
	JSONForm         = "json"         // one JSON document, or several behind each other
	CertificatesForm = "certificates" // PEM behind lines "==> FILE"; read as a list of certificates
)

// Evidence is one thing to look at: how it is collected from a live machine, and
// where it is in a bundle. Bundles have the layout of openshift-install gather
// bootstrap (openshift/installer installer-gather.sh), so each program reads the
// bundles of the other.
type Evidence struct {
	ID    string `yaml:"id"`
	Title string `yaml:"title"` // what it is, as "the journal of bootkube.service"
	On    string `yaml:"on"`    // one of the On constants
	Form  string `yaml:"form"`  // one of the forms; text is the default
	// Run is a line of bash that prints it, as root on a node. It may use
	// $ASSET_DIR, $HOST_ROOT (empty on a node), on the workstation $WORK_DIR (the
	// lab's out/work), and the settings of the lab that [Lab.Settings] names. It
	// changes nothing.
	Run string `yaml:"run"`
	// Local is the line for a local run, where there is no node; empty where
	// a local run has nothing of the kind, "same" where it is Run.
	Local string `yaml:"local"`
	// File is its place in a bundle; for On masters below control-plane/ADDRESS.
	File string `yaml:"file"`
	// Also are other places (patterns of path.Match, ** not known) where bundles
	// of openshift-install have it; several files are put behind each other,
	// each with a line "==> FILE" before it.
	Also []string `yaml:"also"`
	// First: the first place of Also that has anything is enough.
	First bool `yaml:"first"`
	// Named: each file stands behind its name, also when there is only one.
	Named   bool   `yaml:"named"`
	Limit   int    `yaml:"limit"`   // KiB that are kept, from the end; 2048 is the default
	Seconds int    `yaml:"seconds"` // after which collecting it stops; 20 is the default
	Source  string `yaml:"source"`
	Span    `yaml:",inline"`
	When    Condition `yaml:"when"`
}

// Timeout is how long collecting may take.
func (e *Evidence) Timeout() time.Duration { return time.Duration(e.Seconds) * time.Second }

// Layer is one question of the walk, with the causes that make its answer no.
type Layer struct {
	ID    string `yaml:"id"`
	Title string `yaml:"title"`
	Ask   string `yaml:"ask"`  // "Is the release image there?"
	Why   string `yaml:"why"`  // why nothing further can work without it
	Page  string `yaml:"page"` // stage or chapter of the guide that explains it
	// Local: the layer is walked in a local run too.
	Local bool `yaml:"local"`
	// Good are the proofs that all is well. When one of them holds, no symptom is
	// tried. A layer without Good is passed when no symptom is proven and Begun, if
	// it is there, does not hold.
	Good []Proof `yaml:"good"`
	// Begun proves that the bootstrap has reached the layer, which should be good by
	// now. When it does not hold, nothing is wrong yet, and the walk ends with "not
	// reached yet". Empty: the layer is always reached.
	Begun []Proof `yaml:"begun"`
	// Evidence is what this layer needs and no layer before it.
	Evidence []*Evidence `yaml:"evidence"`
	// Stages are those whose usual failures (see [Failure]) are symptoms of this
	// layer too, behind its own. They are written once, in the stage's data.
	Stages   []string  `yaml:"stages"`
	Symptoms []Symptom `yaml:"symptoms"`
	// SeenBy is the evidence that answers the question. When none of it was
	// collected, the layer cannot be seen, which is not the same as "not reached
	// yet". Empty: the evidence of any proof.
	SeenBy []string `yaml:"seen_by"`
	// ShownBy are later layers that cannot work without this one. When one of them is
	// good, this one is good too, or was.
	ShownBy []string `yaml:"shown_by"`
	Span    `yaml:",inline"`
	When    Condition `yaml:"when"`
}

// Symptom is one cause: what a learner sees, what proves it, what to do.
type Symptom struct {
	ID    string `yaml:"id"`
	Title string `yaml:"title"`
	// Seen is what shows it first: a message, a hanging stage.
	Seen  string  `yaml:"seen"`
	Cause string  `yaml:"cause"`
	Proof []Proof `yaml:"proof"` // all of them
	// Or is another way to prove it: all of them.
	Or []Proof `yaml:"or"`
	// Unless: when one of these holds, the symptom is not proven.
	Unless []Proof `yaml:"unless"`
	// Command is what a person runs to see the proof with their own eyes: lines of
	// bash that can be pasted as they stand. A line "# on the bootstrap node" says
	// where those below it run. As in title, seen, cause and fix, a name of
	// [Lab.Settings] stands for the lab's value, as ${API_INT}.
	Command string `yaml:"command"`
	Fix     string `yaml:"fix"`
	Stage   string `yaml:"stage"` // the stage it strikes; empty if none
	// Harmless: it looks like a failure and is none. The report shows it, and the walk
	// goes on.
	Harmless bool `yaml:"harmless"`
	// Warning: the report shows it in addition to any cause, and the walk goes on.
	Warning bool   `yaml:"warning"`
	Source  string `yaml:"source"`
	Span    `yaml:",inline"`
	When    Condition `yaml:"when"`
}

// Address is where the guide explains the cause, below guide/ and without .md: a
// page of its own, or the troubleshooting section of the stage whose usual failure
// it is.
func (s *Symptom) Address() string {
	if stage, _, ofStage := strings.Cut(s.ID, "/"); ofStage {
		return stage + "#troubleshooting"
	}
	return "causes/" + s.ID
}

// Proof is one observation. Exactly one of Matches, JQ, Fails, Silent and Says
// is set.
type Proof struct {
	Evidence string `yaml:"evidence"`
	// Matches is a regular expression (RE2) that a line of the text matches;
	// those lines are what is shown.
	Matches string `yaml:"matches"`
	// JQ is a jq program over the evidence: the JSON document, the list of
	// certificates, or for text the text. It gets
	//
	//	$lab      see [Lab.Settings]
	//	$now      seconds since 1970, when the evidence was collected
	//	$e        all evidence by id, on masters by node: {had, status, error, value}
	//	$records  the progress records by service, without .json: lists of entries
	//	$failed   what failed when it was last tried: [{service, stage, script,
	//	          message, lines}], lines being what that last try printed
	//	$stages   the plan's stages: [{id, kind, record, marker, script, needs: [{file, stage, why}]}]
	//
	// What it yields is shown; nothing, null or false proves nothing.
	JQ string `yaml:"jq"`
	// Fails: the command ended with another status than 0, and its complaint
	// matches this regular expression.
	Fails string `yaml:"fails"`
	// Silent: it was asked for, with status 0, and there is nothing.
	Silent bool `yaml:"silent"`
	// Says: a line that Stage (its name in the records; empty is any) printed
	// when it was last tried, and failed, matches this regular expression.
	Says  string `yaml:"says"`
	Stage string `yaml:"stage"`
	// Unit: Says is asked of the last try of this unit, if that failed, and not of
	// stages.
	Unit string `yaml:"unit"`
	// Positive: it proves something when it holds, and nothing when it does not.
	Positive bool `yaml:"positive"`
}

// diagnosisIndex is labs/data/symptoms/index.yaml.
type diagnosisIndex struct {
	Walk     []string    `yaml:"walk"`
	Evidence []*Evidence `yaml:"evidence"`
}

// BuiltinDiagnosis reads the diagnosis that bootlab carries, once in a process.
// It panics if that data is malformed, which the package's tests rule out.
var BuiltinDiagnosis = sync.OnceValue(func() *Diagnosis { return diagnosisSource.mustLoad().diagnosis() })

// diagnosisFiles are the files of a diagnosis as they were read.
type diagnosisFiles struct {
	Index  diagnosisIndex
	Layers []*Layer // in the order of the walk
}

// readDiagnosis reads symptoms/index.yaml and the layers that it names. All
// problems of all files are reported together, as [Problems].
func readDiagnosis(fsys fs.FS) (*diagnosisFiles, error) {
	files := &diagnosisFiles{}
	problems := readYAML(fsys, "symptoms/index.yaml", &files.Index)
	for _, id := range files.Index.Walk {
		layer := &Layer{}
		problems = append(problems, readYAML(fsys, "symptoms/"+id+".yaml", layer)...)
		files.Layers = append(files.Layers, layer)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return files, nil
}

// diagnosis puts the files together.
func (f *diagnosisFiles) diagnosis() *Diagnosis {
	d := &Diagnosis{Evidence: slices.Clone(f.Index.Evidence), Layers: f.Layers}
	for _, layer := range f.Layers {
		d.Evidence = append(d.Evidence, layer.Evidence...)
	}
	for _, e := range d.Evidence {
		e.fill()
	}
	return d
}

// fill sets the defaults.
func (e *Evidence) fill() {
	if e.Form == "" {
		e.Form = TextForm
	}
	if e.Local == "same" {
		e.Local = e.Run
	}
	if e.Limit == 0 {
		e.Limit = 2048
	}
	if e.Seconds == 0 {
		e.Seconds = 20
	}
}

// For is the part of a diagnosis that concerns a plan's release and lab.
func (d *Diagnosis) For(p *Plan) *Diagnosis {
	keep := func(sp Span, when Condition) bool { return sp.Holds(p.Release.ID) && when.possible(p.Lab) }
	out := &Diagnosis{Plan: p}
	settings := p.Lab.Settings()
	for _, e := range d.Evidence {
		if keep(e.Span, e.When) {
			out.Evidence = append(out.Evidence, e)
		}
	}
	for _, s := range d.Layers {
		if !keep(s.Span, s.When) {
			continue
		}
		mine := *s
		mine.Symptoms = nil
		for _, sy := range s.Symptoms {
			if keep(sy.Span, sy.When) {
				for _, text := range []*string{&sy.Title, &sy.Seen, &sy.Cause, &sy.Command, &sy.Fix} {
					*text = inSettings(*text, settings)
				}
				mine.Symptoms = append(mine.Symptoms, sy)
			}
		}
		mine.Symptoms = append(mine.Symptoms, p.failures(s.Stages, settings)...)
		out.Layers = append(out.Layers, &mine)
	}
	return out
}

// failures makes symptoms of the usual failures of stages, in the plan's order.
func (p *Plan) failures(ids []string, settings map[string]string) []Symptom {
	var all []Symptom
	for _, s := range p.Stages {
		if !slices.Contains(ids, s.ID) {
			continue
		}
		for _, f := range s.Failures {
			sy := s.symptom(f)
			sy.Command = inSettings(sy.Command, settings)
			all = append(all, sy)
		}
	}
	return all
}

// symptom is a usual failure of the stage: its message stands in what the stage
// printed when it was last tried, and the record says that this failed.
func (s *Stage) symptom(f Failure) Symptom {
	source := f.Source
	if source == "" {
		source = s.Source
	}
	see := "# on the bootstrap node\nless /var/log/openshift/bootlab/" + s.ID + ".log"
	if s.Bootkube != "" {
		see += "\njournalctl -u bootkube"
	}
	if s.In(Local) {
		see += "\n# on the workstation, in a local run\nless ${NAME}/out/work/host/var/log/openshift/bootlab/" + s.ID + ".log"
	}
	return Symptom{ID: s.ID + "/" + f.ID, Title: s.ID + " failed: " + f.Message, Seen: f.Message, Cause: f.Cause,
		Proof:   []Proof{{Evidence: EvidenceRecords, Says: f.pattern(), Stage: s.RecordName()}},
		Command: see, Fix: f.Fix, Stage: s.ID, Source: source}
}

// Find returns the evidence of that id; nil if there is none.
func (d *Diagnosis) Find(id string) *Evidence {
	for _, e := range d.Evidence {
		if e.ID == id {
			return e
		}
	}
	return nil
}

// Validate says what is wrong with a diagnosis: ids given twice, texts that are
// missing, proofs of evidence that does not exist. It joins all it finds.
func (d *Diagnosis) Validate(c *Catalog) error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	seen := map[string]bool{}
	once := func(kind, id string) {
		if seen[kind+id] || id == "" {
			complain("%s %q stands twice, or has no name", kind, id)
		}
		seen[kind+id] = true
	}
	for _, e := range d.Evidence {
		once("evidence ", e.ID)
		e.validate(complain)
	}
	for _, s := range d.Layers {
		once("layer ", s.ID)
		d.validateProofs("layer "+s.ID, complain, s.Good, s.Begun)
		for _, id := range s.SeenBy {
			if d.Find(id) == nil {
				complain("layer %s: there is no evidence %q", s.ID, id)
			}
		}
		for _, id := range s.ShownBy {
			if !slices.ContainsFunc(d.Layers, func(l *Layer) bool { return l.ID == id }) {
				complain("layer %s: there is no layer %q", s.ID, id)
			}
		}
		if s.Title == "" || s.Ask == "" || s.Why == "" {
			complain("layer %s: title, ask and why are required", s.ID)
		}
		for _, id := range s.Stages {
			once("failures of stage ", id)
			if c.Stage(id) == nil {
				complain("layer %s: %q is no stage", s.ID, id)
			}
		}
		for i := range s.Symptoms {
			sy := &s.Symptoms[i]
			once("symptom ", sy.ID)
			d.validateProofs("symptom "+sy.ID, complain, sy.Proof, sy.Or, sy.Unless)
			if sy.Title == "" || sy.Seen == "" || sy.Cause == "" || sy.Command == "" || sy.Fix == "" || sy.Source == "" || len(sy.Proof) == 0 {
				complain("symptom %s: title, seen, cause, proof, command, fix and source are required", sy.ID)
			}
			if sy.Stage != "" && c.Stage(sy.Stage) == nil {
				complain("symptom %s: %q is no stage", sy.ID, sy.Stage)
			}
		}
	}
	return errors.Join(errs...)
}

func (e *Evidence) validate(complain func(string, ...any)) {
	if e.Title == "" || e.File == "" || e.Source == "" || e.Run == "" {
		complain("evidence %s: title, run, file and source are required", e.ID)
	}
	switch e.On {
	case OnBootstrap, OnMasters, OnCluster, OnHere:
	default:
		complain("evidence %s: on is %q", e.ID, e.On)
	}
	switch e.Form {
	case TextForm, JSONForm, CertificatesForm:
	default:
		complain("evidence %s: form is %q", e.ID, e.Form)
	}
}

func (d *Diagnosis) validateProofs(of string, complain func(string, ...any), lists ...[]Proof) {
	for _, list := range lists {
		for _, p := range list {
			ways := 0
			for _, set := range []bool{p.Matches != "", p.JQ != "", p.Fails != "", p.Silent, p.Says != ""} {
				if set {
					ways++
				}
			}
			if ways != 1 {
				complain("%s: a proof has exactly one of matches, jq, fails, silent and says", of)
			}
			if d.Find(p.Evidence) == nil {
				complain("%s: there is no evidence %q", of, p.Evidence)
			}
		}
	}
}
