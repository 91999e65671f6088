package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Names of earlier versions, by what they are called now. They work no more: an
// error about one of them suggests the new name.
var (
	renamedFlags = map[string]string{"--rehearsal": "--local", "--beside": "--with"}
	renamedWords = map[string]string{"release-brake": "release-hold", "brake": "hold"}
)

// WithNewFlag adds the new name of a flag to an error about the old one, where
// the command has it.
func WithNewFlag(c *cobra.Command, err error) error {
	old, unknown := strings.CutPrefix(err.Error(), "unknown flag: ")
	name := renamedFlags[old]
	if !unknown || name == "" || c.Flags().Lookup(strings.TrimPrefix(name, "--")) == nil {
		return err
	}
	return fmt.Errorf("unknown flag %s; did you mean %s?", old, name)
}

// NewWord suggests the new name of a stage or chapter, also as a script; empty
// for any other word.
func NewWord(old string) string {
	stem, isScript := strings.CutSuffix(old, ".sh")
	name := renamedWords[stem]
	if name == "" {
		return ""
	}
	if isScript {
		name += ".sh"
	}
	return "did you mean " + name + "?"
}
