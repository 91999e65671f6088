package generator

import (
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
)

// Every annotated file has a page, whole and in the list, in every lab and
// release.
func TestAnnotatedFilesHavePages(t *testing.T) {
	everyGuide(t, func(t *testing.T, p *labs.Plan, files map[string]string) {
		for _, f := range p.AnnotatedFiles() {
			text := files["guide/"+f.ID+".md"]
			for _, part := range []string{"# " + f.Path + ": " + f.Title + "\n", "\nWritten by ", "\n## Who reads it\n", "\n## The file\n",
				"\n## See it yourself\n", "\n```console\n$ ", "\n## Sources\n"} {
				if !strings.Contains(text, part) {
					t.Errorf("%s has no %q", f.ID, part)
				}
			}
			if strings.Contains(text, "\nWritten by [") == (files["guide/"+f.Stage+".md"] == "") {
				t.Errorf("%s: the link to %s", f.ID, f.Stage)
			}
			for _, mistake := range faults.FindAllString(withoutCode(text), -1) {
				t.Errorf("%s has %q", f.ID, mistake)
			}
		}
	})
}

// withoutCode puts a word in the place of each block of code.
func withoutCode(text string) string {
	var out []string
	for i, piece := range strings.Split(text, "\n```") {
		if i%2 == 0 {
			out = append(out, piece)
		}
	}
	return strings.Join(out, "\n(code)")
}

// The blocks of a page, one after the other, are the lines of the file; each
// stands below its explanation.
func TestThePageOfAFileHoldsItsPartsInOrder(t *testing.T) {
	p := plan(t, "compact", "4.21")
	files := texts(t, p)
	for _, f := range p.AnnotatedFiles() {
		_, rest, _ := strings.Cut(files["guide/"+f.ID+".md"], "\n## The file\n")
		for i, part := range f.Parts {
			keys := ""
			for _, key := range part.LabKeys {
				keys += "`" + key + "`, "
			}
			if keys != "" {
				keys = "\nDecided by " + strings.TrimSuffix(keys, ", ") + " in lab.yaml.\n"
			}
			block := strings.TrimSpace(part.Why) + "\n" + keys + "\n```" + f.Format + "\n" + strings.Trim(part.Text, "\n") + "\n```\n"
			at := strings.Index(rest, block)
			if at < 0 {
				t.Fatalf("%s does not hold part %d after those before it:\n%s", f.ID, i+1, block)
			}
			rest = rest[at+len(block):]
		}
	}
}

func TestAnnotatedFilesAreInTheListOfPages(t *testing.T) {
	index, _ := pageList(t, "compact", "4.21")
	i := slices.IndexFunc(index.Groups, func(g *guideGroup) bool { return g.ID == "reference" })
	var found []string
	for _, page := range index.Groups[i].Pages {
		if page.Kind == "file" {
			found = append(found, page.Title)
		}
	}
	if len(found) != 15 || !slices.Contains(found, "auth/kubeconfig") {
		t.Errorf("%d files in group reference: %v", len(found), found)
	}
}

// The login of a proxy stands in lab.yaml and the scripts; these pages do not
// repeat it.
func TestPagesOfFilesHoldNoLogin(t *testing.T) {
	p := plan(t, "compact", "4.21")
	p.Lab.Proxy.HTTPProxy = "http://user:geheim@proxy.example:3128"
	files := texts(t, p)
	for _, f := range p.AnnotatedFiles() {
		if strings.Contains(files["guide/"+f.ID+".md"], "geheim") {
			t.Errorf("%s holds the login", f.ID)
		}
	}
}
