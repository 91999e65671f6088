package site

import (
	"embed"
	"fmt"
	"path"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"
)

// The words of the interface are data: words/LANG.yaml. English is the source.
// A translation keeps beside each text the English text it was made from, so
// that a test can say which of its texts are older than their source.
//
//go:embed words
var wordFiles embed.FS

// sourceLanguage is the one that all others are translated from.
const sourceLanguage = "en"

// words are the texts of the interface in one language.
type words struct {
	lang  string
	texts map[string]string
}

// phrase is a text of a translation, and the source text it was made from.
type phrase struct {
	Of   string `json:"of"`
	Text string `json:"text"`
}

// say is the text of a key, with values in place of its verbs.
func (w words) say(key string, values ...any) string {
	text, known := w.texts[key]
	switch {
	case !known:
		panic("site: no text has the key " + key)
	case len(values) > 0:
		return fmt.Sprintf(text, values...)
	}
	return text
}

// catalogs are all languages, read when the first site is built.
var catalogs = sync.OnceValue(func() map[string]words {
	source := map[string]string{}
	mustReadWords(sourceLanguage+".yaml", &source)
	all := map[string]words{sourceLanguage: {sourceLanguage, source}}
	files, err := wordFiles.ReadDir("words")
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		lang, _ := strings.CutSuffix(f.Name(), ".yaml")
		if lang == sourceLanguage {
			continue
		}
		translation := map[string]phrase{}
		mustReadWords(f.Name(), &translation)
		all[lang] = translate(lang, source, translation)
	}
	return all
})

// mustReadWords reads a file that is part of the program.
func mustReadWords(name string, into any) {
	data, err := wordFiles.ReadFile(path.Join("words", name))
	if err == nil {
		err = yaml.UnmarshalStrict(data, into)
	}
	if err != nil {
		panic(fmt.Sprintf("site: words/%s: %v", name, err))
	}
}

// translate puts a translation in place of the source; what it does not have
// stays in the source's language.
func translate(lang string, source map[string]string, translation map[string]phrase) words {
	texts := map[string]string{}
	for key, text := range source {
		texts[key] = text
		if translated := translation[key].Text; translated != "" {
			texts[key] = translated
		}
	}
	return words{lang, texts}
}

// wordsIn are the words for pages in a language; English where there are none.
func wordsIn(lang string) words {
	if w, known := catalogs()[lang]; known {
		return w
	}
	return catalogs()[sourceLanguage]
}

// scriptWords are the texts of a script in all languages, as JavaScript: those whose
// keys begin so.
func scriptWords(name, prefix string) []byte {
	all := map[string]map[string]string{}
	for lang, w := range catalogs() {
		all[lang] = map[string]string{}
		for key, text := range w.texts {
			if key, of := strings.CutPrefix(key, prefix); of {
				all[lang][key] = text
			}
		}
	}
	return fmt.Appendf(nil, "const %s = %s;\n", name, asScript(all))
}
