package generator

import (
	"slices"
	"strings"

	"bootlab/labs"
)

// layerPage is what the page of a question of the diagnosis sees.
type layerPage struct {
	*labs.Layer
	*links
	Number, Questions int
	Before, After     *labs.Layer
	Looked            []*labs.Evidence
	Failures          string // links to stages
	Variables         string
}

// causePage is what the page of one cause sees.
type causePage struct {
	*labs.Symptom
	*links
	Layer *labs.Layer
}

// block is lines that are pasted in one place.
type block struct{ Where, Lines string }

// Blocks are the commands that show the cause, by the place where they run.
func (p *causePage) Blocks() []block { return blocks(p.Command) }

// blocks parts commands at the lines that say where they run.
func blocks(command string) []block {
	var out []block
	for _, line := range strings.Split(strings.TrimSpace(command), "\n") {
		if where, ok := strings.CutPrefix(line, "# "); ok {
			out = append(out, block{Where: sentenceCase(where) + asRoot(where)})
			continue
		}
		last := &out[len(out)-1]
		last.Lines = strings.TrimPrefix(last.Lines+"\n"+typedHere(line), "\n")
	}
	return out
}

func asRoot(where string) string {
	if strings.Contains(where, "workstation") {
		return ""
	}
	return ", as root (`sudo -i`)"
}

func sentenceCase(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// typedHere is a command as a reader types it who has built bootlab in bin/.
func typedHere(line string) string {
	if strings.HasPrefix(line, "bootlab ") {
		return "bin/" + line
	}
	return line
}

// causes renders a page for each question of the diagnosis and for each cause. The
// usual failures of stages stand on the stages' own pages.
func (r *renderer) causes() error {
	all := r.diagnosis
	links := &links{r.titles(), "../"}
	for i, whole := range all.Layers {
		layer := ownCauses(whole)
		page := &layerPage{Layer: layer, links: links, Number: i + 1, Questions: len(all.Layers), Looked: looked(all, layer.ID)}
		var err error
		if page.Variables, err = diagnosisVariables(r.plan, page.Looked); err != nil {
			return err
		}
		if i > 0 {
			page.Before = all.Layers[i-1]
		}
		if i+1 < len(all.Layers) {
			page.After = all.Layers[i+1]
		}
		if page.Failures, err = r.failuresOf(layer, links); err != nil {
			return err
		}
		if err := r.page("layer.md.tmpl", "guide/layers/"+layer.ID+".md", page); err != nil {
			return err
		}
		for j := range layer.Symptoms {
			s := &layer.Symptoms[j]
			if err := r.page("cause.md.tmpl", "guide/"+s.Address()+".md", &causePage{s, links, layer}); err != nil {
				return err
			}
		}
	}
	return nil
}

// ownCauses is a layer without the usual failures of stages.
func ownCauses(layer *labs.Layer) *labs.Layer {
	mine := *layer
	mine.Symptoms = slices.DeleteFunc(slices.Clone(layer.Symptoms), func(s labs.Symptom) bool { return strings.Contains(s.ID, "/") })
	return &mine
}

// failuresOf are links to the troubleshooting sections of a layer's stages.
func (r *renderer) failuresOf(layer *labs.Layer, links *links) (string, error) {
	var out []string
	for _, s := range r.plan.Stages {
		if !slices.Contains(layer.Stages, s.ID) || len(s.Failures) == 0 {
			continue
		}
		link, err := links.Link(s.ID)
		if err != nil {
			return "", err
		}
		out = append(out, strings.Replace(link, ".md)", ".md#troubleshooting)", 1))
	}
	return strings.Join(out, ", "), nil
}

// causeEntries are the pages of the questions and of the causes for the list of
// pages; a cause is listed by the page of its question, not in the navigation.
func (r *renderer) causeEntries() (layers, causes []guidePage) {
	for _, whole := range r.diagnosis.Layers {
		layer := ownCauses(whole)
		id := "layers/" + layer.ID
		layers = append(layers, guidePage{ID: id, Title: layer.Title, File: "guide/" + id + ".md", Kind: "chapter", Summary: layer.Ask})
		for _, s := range layer.Symptoms {
			causes = append(causes, guidePage{ID: s.Address(), Title: s.Title, File: "guide/" + s.Address() + ".md", Kind: "cause",
				Summary: firstSentence(s.Cause), Parent: id})
		}
	}
	return layers, causes
}
