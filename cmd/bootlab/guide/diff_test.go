package guide

import (
	"strings"
	"testing"

	"bootlab/labs"
)

func TestAMovedStageIsToldInText(t *testing.T) {
	c := &labs.Comparison{From: "4.14", To: "4.18", Stages: []labs.StageChange{{Kind: labs.Moved, ID: "a", Title: "A", After: "b", Release: "4.15"}}}
	if got := diffText(c); !strings.Contains(got, "> a: A  [4.15]\n  behind b, no longer behind the start\n") {
		t.Error(got)
	}
}
