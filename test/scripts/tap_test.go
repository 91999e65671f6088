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

func TestTheParserRefuses(t *testing.T) {
	for name, text := range map[string]string{
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
