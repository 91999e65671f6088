package scripts

import (
	"strings"
	"testing"
)

const notOK = "not ok 1 - a-b: title\n  ---\n  id: a-b\n  expected: |-\n    e: [x]\n  found: |-\n    f\n    g\n  hint: |-\n    h\n  ...\n"

func TestTheParserTakesWhatScriptsWrite(t *testing.T) {
	points, err := ParseTAP("TAP version 14\n" + notOK + "ok 2 - c: other title\n1..2\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(points) != 2 || points[0].OK || !points[1].OK || points[0].Expected != "e: [x]" || points[0].Found != "f\ng" {
		t.Errorf("%+v", points)
	}
}

func TestTheParserTakesTheCommand(t *testing.T) {
	points, err := ParseTAP("TAP version 14\n" + strings.Replace(notOK, "  expected", "  command: |-\n    cmp a |\n      b\n  expected", 1) + "1..1\n")
	if err != nil || points[0].Command != "cmp a |\n  b" {
		t.Errorf("%+v, %v", points, err)
	}
}

func TestTheParserRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"an empty command":             "TAP version 14\n" + strings.Replace(notOK, "  expected", "  command: |-\n  expected", 1) + "1..1\n",
		"nothing":                      "",
		"no version":                   "ok 1 - a: b\n1..1\n",
		"another version":              "TAP version 13\n1..0\n",
		"no plan":                      "TAP version 14\nok 1 - a: b\n",
		"a wrong plan":                 "TAP version 14\nok 1 - a: b\n1..2\n",
		"a line behind the plan":       "TAP version 14\n1..0\nok 1 - a: b\n",
		"a last line without end":      "TAP version 14\n1..0",
		"a number left out":            "TAP version 14\nok 2 - a: b\n1..1\n",
		"a point without number":       "TAP version 14\nok - a: b\n1..1\n",
		"a point without title":        "TAP version 14\nok 1 - a\n1..1\n",
		"a directive":                  "TAP version 14\nok 1 - a: b # SKIP\n1..1\n",
		"noise":                        "TAP version 14\nhello\n1..0\n",
		"a failure without block":      "TAP version 14\nnot ok 1 - a: b\n1..1\n",
		"a block behind success":       "TAP version 14\n" + strings.Replace(notOK, "not ok", "ok", 1) + "1..1\n",
		"a block that does not end":    "TAP version 14\n" + strings.Replace(notOK, "  ...\n", "", 1) + "1..1\n",
		"a block with another id":      "TAP version 14\n" + strings.Replace(notOK, "id: a-b", "id: b", 1) + "1..1\n",
		"a block without hint":         "TAP version 14\n" + strings.Replace(notOK, "  hint: |-\n    h\n", "", 1) + "1..1\n",
		"a block with an empty answer": "TAP version 14\n" + strings.Replace(notOK, "    f\n    g\n", "", 1) + "1..1\n",
		"a block that is no YAML":      "TAP version 14\n" + strings.Replace(notOK, "expected: |-", "expected: [", 1) + "1..1\n",
		"a block with one more key":    "TAP version 14\n" + strings.Replace(notOK, "  hint", "  more: x\n  hint", 1) + "1..1\n",
		"giving up":                    "TAP version 14\nBail out! no\n",
	} {
		t.Run(name, func(t *testing.T) {
			if points, err := ParseTAP(text); err == nil {
				t.Errorf("took %+v", points)
			}
		})
	}
}

const indented = "    ok 1 - a: b\n    1..1\n"

func TestTheParserTakesSubtests(t *testing.T) {
	failing := "    " + strings.ReplaceAll(strings.TrimSuffix(notOK, "\n"), "\n", "\n    ") + "\n    1..1\n"
	all, err := ParseSubtests("TAP version 14\n# Subtest: x\n" + indented + "ok 1 - x\n# Subtest: y\n" + failing + "not ok 2 - y\n1..2\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 || !all[0].OK || all[1].OK || all[1].ID != "y" || all[1].Points[0].Found != "f\ng" {
		t.Errorf("%+v", all)
	}
}

func TestTheParserRefusesSubtests(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                  "",
		"no version":               "# Subtest: x\n" + indented + "ok 1 - x\n1..1\n",
		"no plan":                  "TAP version 14\n# Subtest: x\n" + indented + "ok 1 - x\n",
		"a wrong plan":             "TAP version 14\n# Subtest: x\n" + indented + "ok 1 - x\n1..2\n",
		"a subtest that goes on":   "TAP version 14\n# Subtest: x\n" + indented,
		"a subtest without name":   "TAP version 14\n" + indented + "ok 1 - x\n1..1\n",
		"another name in the sum":  "TAP version 14\n# Subtest: x\n" + indented + "ok 1 - y\n1..1\n",
		"another number":           "TAP version 14\n# Subtest: x\n" + indented + "ok 2 - x\n1..1\n",
		"a sum that does not hold": "TAP version 14\n# Subtest: x\n" + indented + "not ok 1 - x\n1..1\n",
		"a version inside":         "TAP version 14\n# Subtest: x\n    TAP version 14\n" + indented + "ok 1 - x\n1..1\n",
		"a subtest without plan":   "TAP version 14\n# Subtest: x\n    ok 1 - a: b\nok 1 - x\n1..1\n",
		"giving up inside":         "TAP version 14\n# Subtest: x\n    Bail out! no\nnot ok 1 - x\n1..1\n",
	} {
		t.Run(name, func(t *testing.T) {
			if all, err := ParseSubtests(text); err == nil {
				t.Errorf("took %+v", all)
			}
		})
	}
}
