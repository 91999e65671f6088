package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// valueRow is a row of "The life of one value": a file, and a Go name in it.
var valueRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (?:`([^`]+)` )?\\|")

// The files and functions that CONTRIBUTING.md names on the way of a value are
// there.
func TestTheLifeOfOneValueIsThere(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## The life of one value\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := valueRow.FindAllStringSubmatch(section, -1)
	if len(rows) < 8 {
		t.Fatalf("only %d rows were found", len(rows))
	}
	for _, row := range rows {
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(row[1])))
		if err != nil {
			t.Error(err)
			continue
		}
		declared := regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type )` + regexp.QuoteMeta(row[2]) + `\b`)
		switch {
		case path.Ext(row[1]) == ".go" && (row[2] == "" || !declared.Match(source)):
			t.Errorf("%s declares no %q", row[1], row[2])
		case !strings.Contains(strings.ToLower(strings.ReplaceAll(string(source), "_", "")), "machinenetwork") && path.Ext(row[1]) != ".go":
			t.Errorf("%s does not name the machine network", row[1])
		}
	}
}
