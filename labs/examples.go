package labs

import (
	"embed"
	"io/fs"
	"strings"
	"sync"
)

//go:embed examples
var embeddedExamples embed.FS

// Examples holds the labs that bootlab carries, each as NAME/lab.yaml with
// nothing in it but what it does not leave to the defaults.
var Examples = examplesFS()

func examplesFS() fs.FS {
	sub, err := fs.Sub(embeddedExamples, "examples")
	if err != nil {
		panic(err) // only for a path that is malformed
	}
	return sub
}

// Example is a lab to start from.
type Example struct {
	Name string // its directory in Examples
	// About says in one sentence what it is for: the comment its file begins
	// with.
	About string
}

// ExampleList lists the examples by name. It panics if one cannot be read,
// which the package's tests rule out.
var ExampleList = sync.OnceValue(func() []Example {
	entries, err := fs.ReadDir(Examples, ".")
	if err != nil {
		panic(err)
	}
	var out []Example
	for _, entry := range entries {
		text, err := fs.ReadFile(Examples, entry.Name()+"/"+LabFile)
		if err != nil {
			panic(err)
		}
		out = append(out, Example{Name: entry.Name(), About: firstComment(string(text))})
	}
	return out
})

// firstComment joins the comment lines that a file begins with.
func firstComment(text string) string {
	var words []string
	for _, line := range strings.Split(text, "\n") {
		comment, found := strings.CutPrefix(line, "#")
		if !found {
			break
		}
		words = append(words, strings.TrimSpace(comment))
	}
	return strings.Join(words, " ")
}
