package generator

import (
	"strings"
	"text/template"

	"bootlab/labs"
)

// chainScript is the script that runs the others in their order.
const chainScript = "render-all"

// chainData is what the template of render-all.sh sees.
type chainData struct {
	*labs.Plan
	Place    labs.Place
	Chain    []*labs.Stage
	Settings []setting
	Next     string
}

// Where says in words where the script runs.
func (d *chainData) Where() string { return where(d.Place) }

// chain renders the script that runs every stage up to the last render.
func (r *renderer) chain(place labs.Place, all []setting) (string, error) {
	d := &chainData{Plan: r.plan, Place: place}
	var rest []*labs.Stage
	d.Chain, rest = r.untilLastRender(place)
	d.Next = next(rest)
	source := r.sources[chainScript]
	t, err := template.New(chainScript).Funcs(functions()).Option("missingkey=error").Parse(source)
	if err != nil {
		return "", err
	}
	var body strings.Builder
	if err := t.ExecuteTemplate(&body, "chain", d); err != nil {
		return "", err
	}
	d.Settings = mentioned(all, nil, body.String())
	var b strings.Builder
	err = t.Execute(&b, d)
	return strings.TrimRight(b.String(), "\n") + "\n", err
}

// untilLastRender are the stages on the way whose scripts are there, up to the
// last render, and those behind it.
func (r *renderer) untilLastRender(place labs.Place) (chain, rest []*labs.Stage) {
	for _, s := range r.plan.Stages {
		if _, ok := r.sources[strings.TrimSuffix(s.ScriptName(), ".sh")]; !ok || !s.In(place) || s.Optional {
			continue
		}
		rest = append(rest, s)
		if s.Kind == "render" {
			chain, rest = append(chain, rest...), nil
		}
	}
	return chain, rest
}
