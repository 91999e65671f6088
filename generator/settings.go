package generator

import (
	"maps"
	"regexp"
	"strings"

	"bootlab/labs"
)

// setting is one line of a script's settings block.
type setting struct {
	Name   string
	Quoted string // right-hand side, ready for the shell
}

// settings gives every value that a script may use, in the order they are
// printed; a script gets those that its text mentions.
func settings(p *labs.Plan, place labs.Place, labDir string) ([]setting, error) {
	list := stageSettings(p.Lab, place, labDir)
	for _, v := range settingValues(p) {
		quoted, err := shsetting(v.Name, v.Value)
		if err != nil {
			return nil, err
		}
		list = append(list, setting{v.Name, quoted})
	}
	registries, err := registrySettings(p.Lab, place, labDir)
	return append(list, registries...), err
}

// settingValues are the settings that are the same in every place, before they
// are quoted: those of the lab, those that flags name, and those of bootkube.sh.
func settingValues(p *labs.Plan) []labs.ScriptValue {
	values := append(p.ScriptValues(), labs.ScriptValue{Name: "BOOTKUBE_IMAGES", Value: imageNames(p.Bootkube.Images)})
	return append(values, p.ReleaseValues()...)
}

// scriptFile is the shell word for the file that runs, also where a link was called.
const scriptFile = `"$(readlink -f -- "${BASH_SOURCE[0]}")"`

// stageSettings are the values in which the places differ, for scripts that are
// read from top to bottom. The dry run starts with the asset directory, so the
// root of the host follows from it.
func stageSettings(lab *labs.Lab, place labs.Place, labDir string) []setting {
	list := []setting{
		{"SCRIPTS", scriptFile + ` SCRIPTS="${SCRIPTS%/*}"`},
		{"ASSET_DIR", labs.AssetDir},
		{"HOST_ROOT", "''"},
	}
	if place == labs.OnNode {
		return list
	}
	list[1].Quoted = `"${SCRIPTS%/*}/work/assets"`
	list[2].Quoted = `"${ASSET_DIR%/*}/host"`
	return append(list,
		setting{"OUT_DIR", `"${SCRIPTS%/*}"`},
		setting{"PULL_SECRET_FILE", fileOfLab(lab.PullSecret, labDir)},
		setting{"IGNITION_FILE", fileOfLab("bootstrap.ign", labDir)},
		setting{"OVERLAY_FILE", `"${OUT_DIR}/` + overlayFile + `"`})
}

// fileOfLab is the shell word for the path of a file such as the pull secret:
// it is relative to lab.yaml, to the user's home or to the root. Nothing is read.
func fileOfLab(path, labDir string) string {
	prefix := ""
	switch {
	case path == "" || strings.HasPrefix(path, "/"):
	case strings.HasPrefix(path, "~/"):
		prefix, path = `"${HOME:-}"/`, strings.TrimPrefix(path, "~/")
	default:
		prefix, path = `"${OUT_DIR}"/`, labDir+"/"+path
	}
	return prefix + oneLine(path) // loading refuses NUL bytes
}

var mention = regexp.MustCompile(`(?:\$\{?[#!]?|\bexport )([A-Z][A-Z0-9_]*)`)

// mentions are the names of the variables that a piece of shell refers to.
func mentions(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range mention.FindAllStringSubmatch(text, -1) {
		out[m[1]] = true
	}
	return out
}

// mentioned keeps the settings that a script's text refers to, those that
// others are made of, and those that are wanted in any case.
func mentioned(all []setting, wanted map[string]bool, text string) []setting {
	used := mentions(text)
	keep := make([]bool, len(all))
	for i := len(all) - 1; i >= 0; i-- { // a value refers to settings above it
		if keep[i] = wanted[all[i].Name] || used[all[i].Name]; keep[i] {
			maps.Copy(used, mentions(all[i].Quoted))
		}
	}
	var out []setting
	for i, s := range all {
		if keep[i] {
			out = append(out, s)
		}
	}
	return out
}

// imageNames lists the payload names that bootkube.sh of the release asks for,
// on several lines.
func imageNames(images []labs.ImageVariable) string {
	var names []string
	for _, v := range images {
		names = append(names, v.Name)
	}
	return strings.Join(fill(strings.Join(names, " "), textWidth), "\n  ")
}
