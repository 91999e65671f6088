package diagram

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// handRun is what a person does who reads for an hour between two stages.
func handRun() Run {
	return Run{Title: "By hand", Bars: []Bar{
		{Name: "cvo-bootstrap", From: 0, To: 12, State: BarGood, Words: "12s, usual 10s"},
		{Name: "etcd-bootstrap", From: 20, To: 23, State: BarBad, Words: "failed after 3s"},
		{Name: "etcd-bootstrap (2)", From: 3600, To: 3625, State: BarGood, Words: "25s"},
		{Name: "kube-controller-manager-bootstrap", From: 3626, To: 3626, State: BarCut, Words: "was cut off"},
		{Name: "cb-bootstrap", From: 3700, To: 4900, State: BarOpen, Words: "runs since 20m"},
	}}
}

func sceneOf(runs ...Run) *scene {
	s := &scene{w: maxWidth}
	y := margin
	for _, r := range runs {
		y = r.paint(s, y) + margin
	}
	s.h = y
	return s
}

func TestARunIsDrawn(t *testing.T) {
	picture := DrawRuns("Time line of lab one", handRun(), Run{Title: "A real run", Bars: []Bar{{Name: "cvo-bootstrap", To: 9, State: BarGood, Words: "9s"}}})
	if err := checkSVG(picture, map[string]bool{}); err != nil {
		t.Error(err)
	}
	for _, flaw := range flaws(sceneOf(handRun())) {
		t.Error(flaw)
	}
	golden := filepath.Join("testdata", "run.svg")
	if *update {
		if err := os.WriteFile(golden, picture.SVG, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != string(picture.SVG) {
		t.Errorf("the picture is not %s (%v); go test ./generator/diagram -run TestARunIsDrawn -update writes it", golden, err)
	}
	for _, text := range []string{"5 attempts, of which 2 went well, 1 failed, 1 are running and 1 have no end", "failed after 3s", "was cut off"} {
		if !strings.Contains(string(picture.SVG), text) {
			t.Errorf("it does not say %q", text)
		}
	}
}

// Whatever the records hold, the picture holds together.
func TestAnyRunIsSound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	states := []BarState{BarGood, BarBad, BarOpen, BarCut}
	for round := range 300 {
		var bars []Bar
		at := 0
		for range random.IntN(60) {
			at += random.IntN(1 << random.IntN(20))
			bars = append(bars, Bar{Name: strings.Repeat("name-", random.IntN(30)), From: at, To: at + random.IntN(1<<random.IntN(16)) - 2,
				State: states[random.IntN(4)], Words: strings.Repeat("word ", random.IntN(9))})
		}
		if found := flaws(sceneOf(Run{Title: "Any", Bars: bars})); len(found) > 0 {
			t.Fatalf("round %d: %q\n%+v", round, found, bars)
		}
	}
}

func TestARunOfForeignNamesIsNoMarkup(t *testing.T) {
	picture := DrawRuns("Time line <of> x", Run{Title: "<script>", Bars: []Bar{{Name: "</svg>\x1b[31m\u202e", Words: "&amp;"}}})
	if err := checkSVG(picture, map[string]bool{}); err != nil {
		t.Error(err)
	}
	if strings.ContainsAny(string(picture.SVG), "\x1b\u202e") {
		t.Error("control characters are in the picture")
	}
}

func TestThousandsOfBarsAreBounded(t *testing.T) {
	s := sceneOf(Run{Title: "Many", Bars: make([]Bar, 100000)})
	if len(s.shapes) != mostBars || s.texts[len(s.texts)-1].words != fmt.Sprintf("and %d more", 100000-mostBars) {
		t.Errorf("%d bars, %q", len(s.shapes), s.texts[len(s.texts)-1].words)
	}
}

// Who stands first began first, and what takes longer is longer.
func TestBarsAreInProportion(t *testing.T) {
	s := sceneOf(Run{Title: "Two", Bars: []Bar{{From: 0, To: 100}, {From: 100, To: 300}}})
	first, second := s.shapes[0], s.shapes[1]
	if second.x != first.right() || second.w < 2*first.w-2 || second.w > 2*first.w+2 {
		t.Errorf("%v, %v", first.rect, second.rect)
	}
}
