package site

import (
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
)

// The lexers are our own and few. Chroma's collection knows hundreds of
// languages and reads them all when a program starts, which costs every command
// of bootlab more than its work does.

// marks are the classes of a kind of token; what is not listed stays plain, so
// that pages are small and calm.
var marks = map[chroma.TokenType]string{
	chroma.Comment:       "c",
	chroma.Keyword:       "k",
	chroma.LiteralString: "s",
	chroma.NameVariable:  "v",
	chroma.NameFunction:  "f",
	chroma.NameAttribute: "a",
}

var lexers = map[string]func() chroma.Lexer{
	"bash": lazy("bash", bashRules),
	"yaml": lazy("yaml", yamlRules),
	"json": lazy("json", jsonRules),
	"ini":  lazy("ini", iniRules),
}

// lazy makes a lexer when the first page needs it.
func lazy(name string, rules func() chroma.Rules) func() chroma.Lexer {
	return sync.OnceValue(func() chroma.Lexer { return chroma.MustNewLexer(&chroma.Config{Name: name}, rules) })
}

const (
	bashWords = `if|then|else|elif|fi|for|while|until|do|done|case|esac|in|function|return|exit|local|readonly|export|` +
		`declare|trap|source|shift|break|continue`
	bashVariable = `\$\{[^}\n]*\}|\$[A-Za-z_]\w*|\$[0-9@#?*!$-]`
)

func bashRules() chroma.Rules {
	return chroma.Rules{
		"root": {
			{Pattern: `\s+`, Type: chroma.Text},
			{Pattern: `(?<![^\s;(])#.*`, Type: chroma.Comment},
			{Pattern: `<<<`, Type: chroma.Text},
			// A here document, up to the word that ends it.
			{Pattern: `(<<-?[ \t]*)(['"]?)(\w+)(\2)([^\n]*\n)((?s:.*?))(^[ \t]*\3)$`, Type: chroma.ByGroups(chroma.Text,
				chroma.Text, chroma.LiteralString, chroma.Text, chroma.Text, chroma.LiteralString, chroma.LiteralString)},
			{Pattern: `\$'(?:[^'\\]|\\.)*'|'[^']*'`, Type: chroma.LiteralString},
			{Pattern: `"`, Type: chroma.LiteralString, Mutator: chroma.Push("quoted")},
			{Pattern: bashVariable, Type: chroma.NameVariable},
			{Pattern: `\\.`, Type: chroma.Text},
			{Pattern: `(?<![\w./$-])(?:` + bashWords + `)(?![\w./=-])`, Type: chroma.Keyword},
			{Pattern: `(?<![^\s])\w[\w-]*(?=\(\))`, Type: chroma.NameFunction},
			{Pattern: `(?<![^\s])--?[A-Za-z][\w-]*`, Type: chroma.NameAttribute},
			{Pattern: `\w[\w./:-]*`, Type: chroma.Text},
			{Pattern: `.|\n`, Type: chroma.Text},
		},
		"quoted": {
			{Pattern: `[^"$\\]+`, Type: chroma.LiteralString},
			{Pattern: `"`, Type: chroma.LiteralString, Mutator: chroma.Pop(1)},
			{Pattern: bashVariable, Type: chroma.NameVariable},
			{Pattern: `\$\(`, Type: chroma.Text, Mutator: chroma.Push("command")},
			{Pattern: `\\(?:.|\n)`, Type: chroma.LiteralString},
			{Pattern: `.|\n`, Type: chroma.LiteralString},
		},
		// A command inside quotes has quotes of its own.
		"command": {
			{Pattern: `\(`, Type: chroma.Text, Mutator: chroma.Push("command")},
			{Pattern: `\)`, Type: chroma.Text, Mutator: chroma.Pop(1)},
			chroma.Include("root"),
		},
	}
}

func yamlRules() chroma.Rules {
	return chroma.Rules{"root": {
		{Pattern: `(?<![^\s])#.*`, Type: chroma.Comment},
		{Pattern: `(^[ \t]*(?:-[ \t]+)*)([\w./"'$][^\n:#]*)(?=:(?:\s|$))`, Type: chroma.ByGroups(chroma.Text, chroma.NameAttribute)},
		{Pattern: `"(?:[^"\\\n]|\\.)*"|'[^'\n]*'`, Type: chroma.LiteralString},
		{Pattern: `[^\s#"']+|.|\n`, Type: chroma.Text},
	}}
}

func jsonRules() chroma.Rules {
	return chroma.Rules{"root": {
		{Pattern: `"(?:[^"\\\n]|\\.)*"(?=\s*:)`, Type: chroma.NameAttribute},
		{Pattern: `"(?:[^"\\\n]|\\.)*"`, Type: chroma.LiteralString},
		{Pattern: `\b(?:true|false|null)\b`, Type: chroma.Keyword},
		{Pattern: `\w+|.|\n`, Type: chroma.Text},
	}}
}

func iniRules() chroma.Rules {
	return chroma.Rules{"root": {
		{Pattern: `^\s*[#;].*`, Type: chroma.Comment},
		{Pattern: `^\[[^\]\n]*\]`, Type: chroma.Keyword},
		{Pattern: `^[\w.-]+(?=\s*=)`, Type: chroma.NameAttribute},
		{Pattern: `[^\n]|\n`, Type: chroma.Text},
	}}
}

// highlight is a text as HTML with its tokens marked. A language that is not
// known, or a text that its lexer cannot read, stays plain.
func highlight(language, text string) string {
	lexer, known := lexers[language]
	if !known {
		return escape.Replace(text)
	}
	tokens, err := chroma.Tokenise(lexer(), &chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return escape.Replace(text)
	}
	var b strings.Builder
	for _, r := range runs(tokens) {
		if r.mark == "" || strings.Trim(r.text, "\"' \n") == "" {
			b.WriteString(escape.Replace(r.text))
			continue
		}
		shown := strings.TrimRight(r.text, " \t\n")
		b.WriteString(`<i class="` + r.mark + `">` + escape.Replace(shown) + "</i>" + r.text[len(shown):])
	}
	return b.String()
}

// run is text of one mark.
type run struct{ mark, text string }

// runs joins neighbours of the same mark. Space looks the same in every colour
// and ends none.
func runs(tokens []chroma.Token) []run {
	var out []run
	for _, t := range tokens {
		n := len(out)
		if mark := marks[t.Type]; n == 0 || mark != out[n-1].mark && strings.TrimSpace(t.Value) != "" {
			out = append(out, run{mark, t.Value})
		} else {
			out[n-1].text += t.Value
		}
	}
	return out
}
