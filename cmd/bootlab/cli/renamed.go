package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// Names of earlier versions, by what they are called now. They work no more: an
// error about one of them suggests the new name.
var (
	renamedFlags = map[string]string{"rehearsal": "local", "beside": "with", "format": "output", "json": "output json", "output": "to"}
	renamedWords = map[string]string{"release-brake": "release-hold", "brake": "hold"}
)

// renamedFlag is the new name of an option, where the command has it; empty for
// any other.
func renamedFlag(c *cobra.Command, old string) string {
	meant := renamedFlags[old]
	name, _, _ := strings.Cut(meant, " ")
	if name == "" || c.Flags().Lookup(name) == nil {
		return ""
	}
	return meant
}

// renamedWord is the new name of a stage or chapter, also as a script; empty for
// any other word.
func renamedWord(old string) string {
	stem, isScript := strings.CutSuffix(old, ".sh")
	name := renamedWords[stem]
	if name != "" && isScript {
		name += ".sh"
	}
	return name
}
