package site

import (
	"slices"
	"strings"
	"testing"
)

// behind are the keys whose translation is missing, or was made from another
// text than the source has now.
func behind(source map[string]string, translation map[string]phrase) []string {
	var keys []string
	for key, text := range source {
		if p := translation[key]; p.Text == "" || p.Of != text {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

func TestATranslationThatIsBehindIsNamedByItsKeys(t *testing.T) {
	source := map[string]string{"a": "One", "b": "Two", "c": "Three"}
	translation := map[string]phrase{"a": {"One", "Eins"}, "b": {"Too", "Zwei"}}
	if got := behind(source, translation); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("behind are %v", got)
	}
	got := translate("de", source, translation)
	if got.say("a") != "Eins" || got.say("b") != "Zwei" || got.say("c") != "Three" {
		t.Errorf("the words are %v", got.texts)
	}
}

// Every shipped translation has every text, made from the source as it is now.
func TestNoShippedTranslationIsBehind(t *testing.T) {
	files, err := wordFiles.ReadDir("words")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	source := catalogs()[sourceLanguage].texts
	for _, f := range files {
		if f.Name() == sourceLanguage+".yaml" {
			continue
		}
		translation := map[string]phrase{}
		mustReadWords(f.Name(), &translation)
		if keys := behind(source, translation); len(keys) > 0 {
			t.Errorf("%s is behind: %s", f.Name(), strings.Join(keys, ", "))
		}
	}
}
