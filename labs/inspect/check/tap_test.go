package check

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

const goodTAP = `TAP version 14
ok 1 - present: all files are there
not ok 2 - mode: no one else can read a key
  ---
  id: mode
  expected: |-
    mode 0600
  found: |2-
    a.key: 0644
    
      b.key: missing
  hint: |-
    chmod
  ...
ok 3 - chain: the chain is whole
1..3
`

func TestTAPIsRead(t *testing.T) {
	tap, err := ParseTAP(goodTAP)
	if err != nil {
		t.Fatal(err)
	}
	want := []Point{{OK: true, ID: "present"}, {ID: "mode", Found: "a.key: 0644\n\n  b.key: missing"}, {OK: true, ID: "chain"}}
	if !slices.Equal(tap.Points, want) || tap.Bailed != "" {
		t.Errorf("%+v", tap)
	}
}

func TestTheCommandOfACheckIsRead(t *testing.T) {
	text := strings.Replace(goodTAP, "  expected: |-\n", "  command: |-\n    stat a.key |\n      grep 0600\n  expected: |-\n", 1)
	tap, err := ParseTAP(text)
	if err != nil || len(tap.Points) != 3 || tap.Points[1].Found != "a.key: 0644\n\n  b.key: missing" {
		t.Errorf("%+v, %v", tap, err)
	}
	if _, err := ParseTAP(strings.Replace(text, "    stat a.key |\n      grep 0600\n", "", 1)); err == nil {
		t.Error("an empty command was taken")
	}
}

const neverRan = "TAP version 14\nnot ok 1 - done: not run yet; run render-etcd.sh first\n1..1\n"

func TestAStageThatNeverRanIsRead(t *testing.T) {
	if tap, err := ParseTAP(neverRan); err != nil || tap.NotRun != "run render-etcd.sh first" || len(tap.Points) != 0 {
		t.Errorf("%+v, %v", tap, err)
	}
	for _, text := range []string{strings.Replace(neverRan, "1..1", "1..0", 1), strings.Replace(neverRan, "1..1\n", "ok 2 - a: b\n1..2\n", 1)} {
		if _, err := ParseTAP(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestBailingOutIsRead(t *testing.T) {
	tap, err := ParseTAP("TAP version 14\nok 1 - a: b\nBail out! /opt cannot be entered\n")
	if err != nil || tap.Bailed != "/opt cannot be entered" || len(tap.Points) != 1 {
		t.Errorf("%+v, %v", tap, err)
	}
}

func TestOtherTAPIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":               {"", "nothing was told"},
		"another version":       {strings.Replace(goodTAP, "14", "13", 1), "line 1 is"},
		"no version":            {strings.TrimPrefix(goodTAP, "TAP version 14\n"), "line 1 is"},
		"no plan":               {strings.TrimSuffix(goodTAP, "1..3\n"), "without a plan"},
		"a plan too long":       {strings.Replace(goodTAP, "1..3", "1..4", 1), "4 checks were planned, and 3 told"},
		"a plan too short":      {strings.Replace(goodTAP, "1..3", "1..2", 1), "2 checks were planned"},
		"a plan that is none":   {strings.Replace(goodTAP, "1..3", "1..03", 1), "is no check"},
		"torn in the plan":      {strings.TrimSuffix(goodTAP, "\n"), "is torn"},
		"torn in a block":       {goodTAP[:strings.Index(goodTAP, "    a.key")+7], "is torn"},
		"ends in a block":       {goodTAP[:strings.Index(goodTAP, "    a.key")], "without a plan"},
		"more behind the plan":  {goodTAP + "ok 4 - more: of it\n", "follows the end"},
		"more behind a bailing": {"TAP version 14\nBail out! x\nok 1 - a: b\n", "follows the end"},
		"a check twice":         {strings.Replace(goodTAP, "3 - chain", "3 - present", 1), "tells check present twice"},
		"a number twice":        {strings.Replace(goodTAP, "ok 3", "ok 2", 1), "has number 2"},
		"garbage":               {strings.Replace(goodTAP, "ok 3", "==> ready\nok 3", 1), "is no check"},
		"a skipped check":       {strings.Replace(goodTAP, "ok 3 - chain", "ok 3 # SKIP", 1), "is no check"},
		"no block":              {"TAP version 14\nnot ok 1 - a: b\n1..1\n", "in the block of a"},
		"a block of another":    {strings.Replace(goodTAP, "id: mode", "id: other", 1), "in the block of mode"},
		"an empty text":         {strings.Replace(goodTAP, "    chmod", "    ", 1), "is empty"},
		"a block that is open":  {strings.Replace(goodTAP, "  ...\n", "", 1), "in the block of mode"},
		"a block under an ok":   {strings.Replace(goodTAP, "not ok", "ok", 1), "is no check"},
		"carriage returns":      {strings.ReplaceAll(goodTAP, "\n", "\r\n"), "line 1 is"},
		"a steered terminal":    {"TAP version 14\n\x1b]0;owned\a\n", "is no check"},
		"a huge number":         {"TAP version 14\nok 99999999999999999999 - a: b\n", "is no check"},
		"a hundred megabytes":   {"TAP version 14\n" + strings.Repeat("x", 100<<20) + "\n", "is no check"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseTAP(c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v", err)
			}
			if len(err.Error()) > 1000 || strings.ContainsFunc(err.Error(), unicode.IsControl) {
				t.Errorf("the error itself does harm: %.300q", err.Error())
			}
		})
	}
}

func FuzzParseTAP(f *testing.F) {
	f.Add(goodTAP)
	f.Add("TAP version 14\nBail out! x\n")
	f.Add("TAP version 14\n1..0\n")
	f.Fuzz(func(t *testing.T, text string) {
		tap, err := ParseTAP(text)
		if tap == nil {
			t.Fatal("nothing was read")
		}
		seen := map[string]bool{}
		for _, p := range tap.Points {
			if seen[p.ID] || p.ID == "" || p.OK != (p.Found == "") {
				t.Errorf("%+v", p)
			}
			seen[p.ID] = true
		}
		// What is taken as a whole ends as a whole.
		if err == nil && !strings.HasSuffix(text, "\n") {
			t.Errorf("%q was taken", text)
		}
		// One line less, and it is none.
		if cut, ok := strings.CutSuffix(text, "\n"); err == nil && ok {
			if _, err := ParseTAP(cut[:strings.LastIndex(cut, "\n")+1]); err == nil {
				t.Errorf("%q was taken without its last line", text)
			}
		}
	})
}

func TestCommentsInTAPAreSkipped(t *testing.T) {
	text := strings.Replace(goodTAP, "ok 1", "# a stand-in\nok 1", 1)
	if tap, err := ParseTAP(text); err != nil || len(tap.Points) != 3 {
		t.Errorf("%+v, %v", tap, err)
	}
	if _, err := ParseTAP("# first\n" + goodTAP); err == nil {
		t.Error("a comment before the version was taken")
	}
}
