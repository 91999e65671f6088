package mask

import "sync"

// rule is what is done where a word stands.
type rule struct {
	word  string
	found func(f *finding, from, to int)
}

// rules are those of all kinds; each file of them adds its own.
func rules() (all []rule) {
	for _, group := range [][]rule{nameRules(), tokenRules(), formRules(), commandRules(), viewRules()} {
		all = append(all, group...)
	}
	return all
}

// known is the automaton of all rules, made once.
var known struct {
	once  sync.Once
	words *words
	rules []rule
}

// scan applies the rules to what stands in the text.
func (f *finding) scan() {
	known.once.Do(func() {
		known.rules = rules()
		list := make([]string, len(known.rules))
		for i, r := range known.rules {
			list[i] = r.word
		}
		known.words = newWords(list)
	})
	known.words.each(f.text, func(word, from, to int) {
		if f.walked <= longestWalk {
			known.rules[word].found(f, from, to)
		}
	})
	f.tired()
}

// wordEnds says whether no letter or digit follows.
func (f *finding) wordEnds(at int) bool { return at >= len(f.text) || !isWord(f.text[at]) }

// wordBegins says whether no letter or digit stands before.
func (f *finding) wordBegins(at int) bool { return at == 0 || !isWord(f.text[at-1]) }

// has says whether a text stands at a place.
func (f *finding) has(at int, text string) bool {
	return at >= 0 && at+len(text) <= len(f.text) && string(f.text[at:at+len(text)]) == text
}
