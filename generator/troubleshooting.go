package generator

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"bootlab/labs"
)

// Layers are the questions of the diagnosis that the lab and its release have.
func (d *chapterData) Layers() []*labs.Layer { return d.diagnosis.Layers }

// looked is the evidence that a layer looks at and none before it.
func looked(all *labs.Diagnosis, id string) []*labs.Evidence {
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

// diagnosisVariables are the lines of bash that set what evidence lines use, for a
// node.
func diagnosisVariables(p *labs.Plan, used []*labs.Evidence) (string, error) {
	all := p.Lab.Settings()
	text := ""
	for _, e := range used {
		text += e.Run
	}
	out := []string{"ASSET_DIR=" + labs.AssetDir + " HOST_ROOT= WORK_DIR=work"}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !strings.Contains(text, "${"+strings.ToUpper(name)) {
			continue
		}
		value, err := shquote(all[name])
		if err != nil {
			return "", err
		}
		out = append(out, strings.ToUpper(name)+"="+value)
	}
	if strings.Contains(text, "oc ") {
		out = append(out, `oc() { command oc --kubeconfig="${ASSET_DIR}/auth/kubeconfig" --request-timeout=5s "$@"; }`)
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
	return text
}

// placeName says where evidence is looked for.
func placeName(e *labs.Evidence) string { return placeNames[e.On] }

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
