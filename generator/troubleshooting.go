package generator

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"bootlab/labs"
)

// Layers are those of the diagnosis that the lab and its release have, without
// what the pages of stages tell of their usual failures.
func (d *chapterData) Layers() []*labs.Layer {
	var out []*labs.Layer
	for _, layer := range d.diagnosis().Layers {
		mine := *layer
		mine.Symptoms = slices.DeleteFunc(slices.Clone(layer.Symptoms), func(s labs.Symptom) bool { return strings.Contains(s.ID, "/") })
		out = append(out, &mine)
	}
	return out
}

func (d *chapterData) diagnosis() *labs.Diagnosis { return labs.BuiltinDiagnosis().For(d.Plan) }

// Looked is the evidence that a layer looks at and none before it.
func (d *chapterData) Looked(id string) []*labs.Evidence {
	all := d.diagnosis()
	seen := map[string]bool{}
	for _, layer := range all.Layers {
		var mine []*labs.Evidence
		for _, name := range named(layer) {
			if e := all.Find(name); e != nil && !seen[name] {
				seen[name] = true
				mine = append(mine, e)
			}
		}
		if layer.ID == id {
			return mine
		}
	}
	return nil
}

// named is the evidence that a layer's proofs name, in their order.
func named(layer *labs.Layer) []string {
	var out []string
	add := func(lists ...[]labs.Proof) {
		for _, list := range lists {
			for _, p := range list {
				out = append(out, p.Evidence)
			}
		}
	}
	add(layer.Good, layer.Begun)
	for _, s := range layer.Symptoms {
		add(s.Proof, s.Unless)
	}
	return out
}

// FailuresOf are the stages whose usual failures belong to a layer, by links to
// their pages.
func (d *chapterData) FailuresOf(layer *labs.Layer) (string, error) {
	var out []string
	for _, s := range d.Stages {
		if !slices.Contains(layer.Stages, s.ID) || len(s.Failures) == 0 {
			continue
		}
		link, err := d.Link(s.ID)
		if err != nil {
			return "", err
		}
		out = append(out, link)
	}
	return strings.Join(out, ", "), nil
}

// Variables are the lines of bash that set what evidence lines use, for a node.
func (d *chapterData) Variables() (string, error) {
	all := d.Lab.Settings()
	out := []string{"ASSET_DIR=" + labs.AssetDir + " HOST_ROOT= WORK_DIR=work"}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		value, err := shquote(all[name])
		if err != nil {
			return "", err
		}
		out = append(out, strings.ToUpper(name)+"="+value)
	}
	return strings.Join(out, "\n"), nil
}

// placeNames say where evidence is looked for.
var placeNames = map[string]string{
	labs.OnBootstrap: "on the bootstrap node", labs.OnMasters: "on each master",
	labs.OnCluster: "where oc reaches the API", labs.OnHere: "on the workstation, in the output directory",
}

// look is evidence as lines of bash that a person can run. Those that would end or
// change the shell they are typed into stand in one of their own.
func look(e *labs.Evidence) string {
	text := lines(code(e.Run))
	if ofTheShell.MatchString(text) {
		text = "(\n" + text + "\n)"
	}
	return "# " + e.Title + ", " + placeNames[e.On] + "\n" + text
}

var ofTheShell = regexp.MustCompile(`(?m)(^|[;|&{(] *|\b(then|do|else) )(exit|cd|set|export|shopt|umask|trap)\b|^ *[A-Za-z_]+=\S*$`)

var trailing = regexp.MustCompile(`(?m) +$`)

// lines is a text as it is typed, in the middle of a page.
func lines(text string) string {
	return strings.TrimRight(trailing.ReplaceAllString(strings.ReplaceAll(text, "</", "< /"), ""), "\n")
}

var (
	special = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", "~", `\~`)
	opening = regexp.MustCompile(`^([0-9]*)([-+#>.)])`)
)

// plain is a text that is no markdown as one paragraph that shows it as it is.
func plain(text string) string {
	text = special.Replace(strings.Join(strings.Fields(text), " "))
	return opening.ReplaceAllString(text, `$1\$2`)
}
