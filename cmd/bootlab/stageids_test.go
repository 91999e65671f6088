package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"bootlab/labs"
)

// What a stage decides is a property in its data, so that a stage can be added
// without a change of Go code: no literal outside of tests is a stage's id, its
// script or bootkube.sh's name for it.
func TestNoGoCodeNamesAStage(t *testing.T) {
	names := map[string]bool{}
	for _, s := range labs.Builtin().Stages {
		names[s.ID], names[s.ScriptName()] = true, true
		if s.Bootkube != "" {
			names[s.Bootkube] = true
		}
	}
	// The same words with another meaning: a renamed word of the command line, and
	// the name of the first etcd member.
	others := map[string]string{"renamed.go": "release-hold", "etcd.go": "etcd-bootstrap"}
	literals := 0
	for _, s := range sources(t) {
		// The stand-ins play the operators, with the words of those.
		if s.test || strings.HasPrefix(s.file, "standin/") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, filepath.Join("..", "..", s.file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			literals++
			if text, err := strconv.Unquote(lit.Value); err == nil && names[text] && others[path.Base(s.file)] != text {
				t.Errorf("%s: %s is the name of a stage; let labs/data/stages say what it decides", set.Position(lit.Pos()), lit.Value)
			}
			return true
		})
	}
	if literals < 1000 {
		t.Errorf("only %d literals were looked at", literals)
	}
}
