// Package doctor looks at everything that up needs before up runs. [Look] gathers
// facts, [Judge] says how each stands, with the texts of doctor.yaml.
package doctor

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"text/template"

	"sigs.k8s.io/yaml"

	"bootlab/vms"
)

// Level is how bad a finding is.
type Level string

// The levels of findings.
const (
	OK      Level = "ok"
	Warning Level = "warning"
	Failed  Level = "failed"
)

// Finding is one thing that was looked at.
type Finding struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Level Level  `json:"level"`
	Found string `json:"found"`
	Fix   string `json:"fix,omitempty"`
}

//go:embed doctor.yaml
var doctorYAML []byte

// saying is what can be said about something; topic what is looked at.
type saying struct {
	Level Level  `json:"level"`
	Found string `json:"found"`
	Fix   string `json:"fix"`
}

type topic struct {
	ID    string            `json:"id"`
	Title string            `json:"title"`
	Says  map[string]saying `json:"says"`
}

var topics = func() []topic {
	var all []topic
	if err := yaml.UnmarshalStrict(doctorYAML, &all); err != nil {
		panic(err)
	}
	return all
}()

// values are what a text's braces stand for.
type values map[string]any

// verdict is which of its sayings holds for a topic.
type verdict struct {
	topic, says string
	with        values
}

// finding puts a verdict into words.
func (v verdict) finding() (Finding, error) {
	for _, t := range topics {
		if t.ID != v.topic {
			continue
		}
		s, ok := t.Says[v.says]
		if !ok {
			break
		}
		f := Finding{ID: t.ID, Level: s.Level}
		var errs []error
		for _, part := range []struct {
			to   *string
			text string
		}{{&f.Title, t.Title}, {&f.Found, s.Found}, {&f.Fix, s.Fix}} {
			var err error
			*part.to, err = v.fill(part.text)
			errs = append(errs, err)
		}
		return f, errors.Join(errs...)
	}
	return Finding{}, fmt.Errorf("doctor.yaml has no text for %s: %s", v.topic, v.says)
}

func (v verdict) fill(text string) (string, error) {
	t, err := template.New(v.topic).Option("missingkey=error").Parse(text)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = t.Execute(&b, v.with)
	return b.String(), err
}

// Judge says of everything that up needs how it stands, in the order of
// doctor.yaml.
func Judge(f *Facts) ([]Finding, error) {
	found := map[string][]verdict{}
	for _, judge := range []func(*Facts) []verdict{
		judgeLibvirt, judgeNames, judgeNetwork, judgeBridge, judgeProcessor, judgeMemory, judgeDisk,
		judgeBalancer, judgeFirewall, judgeNaming, judgeIgnition, judgeImage} {
		for _, v := range judge(f) {
			found[v.topic] = append(found[v.topic], v)
		}
	}
	var out []Finding
	for _, t := range topics {
		for _, v := range found[t.ID] {
			finding, err := v.finding()
			if err != nil {
				return nil, err
			}
			out = append(out, finding)
		}
	}
	return out, nil
}

// fix is the hint of a problem.
func fix(err error) (message, hint string) {
	var p *vms.Problem
	if errors.As(err, &p) {
		return p.Error(), p.Hint
	}
	return err.Error(), "see what it says"
}
