package cli

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// The formats that most commands have. Text is for people and may change; JSON is
// for programs.
const (
	Text = "text"
	JSON = "json"
)

// Format is the value of -o, --output: the same option in every command that
// prints what it found.
type Format struct {
	name  string
	known []string
}

// FormatFlag adds the option to a command. The first of the formats is the
// default.
func FormatFlag(c *cobra.Command, formats ...string) *Format {
	f := &Format{name: formats[0], known: formats}
	c.Flags().VarP(f, "output", "o", Alternatives(formats))
	_ = c.RegisterFlagCompletionFunc("output", Words(formats...))
	return f
}

// Is says whether that format is wanted.
func (f *Format) Is(name string) bool { return f.name == name }

// String is the name of the format.
func (f *Format) String() string { return f.name }

// Type is what the help writes for the value.
func (f *Format) Type() string { return "FORMAT" }

// Set refuses what is none of the command's formats.
func (f *Format) Set(name string) error {
	if !slices.Contains(f.known, name) {
		return errors.New("is none of " + strings.Join(f.known, ", "))
	}
	f.name = name
	return nil
}

// Alternatives lists words as a, b or c.
func Alternatives(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// ToFlag adds the option for the file or directory that a command writes: the
// same in every command that writes one.
func ToFlag(c *cobra.Command, to *string, kind, usage string) {
	c.Flags().StringVar(to, "to", "", "`"+kind+"` to write to"+usage)
}

// WriteJSON writes a value for programs.
func WriteJSON(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(value)
}
