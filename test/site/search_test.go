package site

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"bootlab/site"
)

// firstResults asks a list of questions in one go, and gives for each the page
// that comes first.
const firstResults = `(async (questions) => {
  const input = document.getElementById('Search'), found = document.getElementById('Found'), out = [];
  for (const question of questions) {
    found.textContent = '';
    input.value = question;
    input.dispatchEvent(new Event('input'));
    while (!found.textContent) await new Promise((go) => setTimeout(go, 1));
    out.push(document.querySelector('#Results a')?.getAttribute('href').replace(/^\/|\.html.*$/g, '') ?? '');
  }
  return out;
})`

func TestSearchesLeadToTheirPages(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "searches.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var questions []string
	var wanted [][]string
	for _, line := range strings.Split(string(data), "\n") {
		if question, pages, found := strings.Cut(line, " → "); found {
			questions, wanted = append(questions, question), append(wanted, strings.Fields(pages))
		}
	}
	if len(questions) < 70 {
		t.Fatalf("%d questions", len(questions))
	}
	origin, _ := fromServer(t, build(t, shipped(t)), site.Live{})
	b := open(t, origin, desktop)
	b.visit(t, "index.html")
	got := value[[]string](t, b, firstResults+`(`+quoted(t, questions)+`)`)
	for i, question := range questions {
		if !slices.Contains(wanted[i], got[i]) {
			t.Errorf("%q leads to %q, want one of %v", question, got[i], wanted[i])
		}
	}
	b.fine(t, "searching")
}

// An excerpt shows where the words stand, from a disk too, where a page may load
// no data but scripts.
func TestResultsShowTheWordsInTheirText(t *testing.T) {
	for from, origin := range origins(t, build(t, sample())) {
		t.Run(from, func(t *testing.T) {
			b := open(t, origin, desktop)
			b.visit(t, "render-one.html")
			b.run(t, focus("#Search"), chromedp.SendKeys("#Search", "longer explanation"))
			b.wait(t, `[...document.querySelectorAll('#Results mark')].some((m) => m.textContent.toLowerCase() === 'longer')`)
			b.fine(t, from)
		})
	}
}
