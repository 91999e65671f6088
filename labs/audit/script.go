package audit

import (
	"errors"
	"io"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Script is what a bootkube.sh does, command by command.
type Script struct {
	events  []event
	actions *actions
	// images are the payload names that the script asks the release for.
	images map[string]int
	// variables are what the script computes for its flags, by canonical text.
	computed map[string]computation
	// inPlace is the line that says that the script was written for an
	// installation without a bootstrap machine; 0 without one.
	inPlace int
	// mirrors are the flags that lead oc to a mirror.
	mirrors []Fact
	// Lines is the length of the script.
	Lines int
	// Sources are the files that the script reads commands from; what those do
	// is not looked at.
	Sources []string
}

// computation is a value that a script gets from a command.
type computation struct {
	line int
	when guard
}

// event is one command that the script would run.
type event struct {
	kind string
	line int
	when guard
	args []arg
	// stage is what the script had recorded as begun.
	stage string
	// retry says how the command is repeated until it succeeds.
	retry string
	// tolerated: the script goes on when the command fails.
	tolerated bool
	// output is the file that the command's output goes to.
	output string
}

// Kinds of events.
const (
	evBegin  = "begin" // of a stage
	evRun    = "run"   // podman run
	evCopy   = "copy"
	evMkdir  = "mkdir"
	evRemove = "remove"
	evTouch  = "touch"
	evLog    = "log"
	evSet    = "set"
	evExit   = "exit"
	evOther  = "command"
)

// Parse reads a bootkube.sh or its template. Nothing of it is executed. What
// cannot be one, is too large or too deep, or makes a loop that never ends, is
// a [Refusal].
func Parse(r io.Reader, limits Limits) (*Script, error) {
	text, err := readScript(r, limits)
	if err != nil {
		return nil, err
	}
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	text, acts, err := withoutActions(text)
	if err != nil {
		return nil, err
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, notShell(err)
	}
	w := newWalk(&Script{actions: acts, images: map[string]int{}, computed: map[string]computation{}, Lines: lines}, limits)
	return w.script, w.follow(file.Stmts)
}

// notShell turns the parser's complaint into one of ours.
func notShell(err error) error {
	r := &Refusal{Message: "is no bash script: " + err.Error(), Hint: "see what bash -n says of it"}
	var parse syntax.ParseError
	var language syntax.LangError
	switch {
	case errors.As(err, &parse):
		r.Line, r.Message = int(parse.Pos.Line()), "is no bash: "+parse.Text
	case errors.As(err, &language):
		r.Line = int(language.Pos.Line())
	}
	return r
}
