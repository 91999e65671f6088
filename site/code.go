package site

import (
	"html/template"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// escape is enough for text between tags, and shorter than what also serves in
// attributes: scripts are full of quotes.
var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// codeBlock is a block of code of a page.
type codeBlock struct {
	language, text string
	words          words
	// fragment: a part of a script that is explained, no command.
	fragment bool
	// root: commands for root on the node.
	root bool
}

// html marks what can be copied: commands that run as they stand.
func (c codeBlock) html() string {
	class, body := "code", ""
	switch c.language {
	case "console":
		var typed bool
		if body, typed = console(c.text, c.prompts()); typed {
			class = "code typed"
		}
	case "bash":
		body = highlight(c.language, c.text)
		if !c.fragment && runsAlone(c.text) {
			class = "code typed"
		}
	default:
		body = highlight(c.language, c.text)
	}
	language, caption := c.language, ""
	if language == "" {
		language = "text"
	}
	if c.root {
		caption = `<p class="root">` + escape.Replace(c.words.say("as-root")) + "</p>\n"
	}
	return `<div class="` + class + `">` + caption + `<pre tabindex="0"><code class="language-` + template.HTMLEscapeString(language) + `">` +
		body + "</code></pre></div>\n"
}

// prompts begin the lines of a console example that are typed. The one of root
// is a prompt only where the block says that root types: it begins comments
// everywhere else.
func (c codeBlock) prompts() []string {
	if c.root {
		return []string{"$ ", "# "}
	}
	return []string{"$ "}
}

// console parts what is typed from what is printed, and says whether anything
// is typed. A command goes on in the next line behind a backslash.
func console(text string, prompts []string) (html string, any bool) {
	var b strings.Builder
	typed := false
	for _, line := range strings.SplitAfter(text, "\n") {
		line, end := strings.TrimSuffix(line, "\n"), line[len(strings.TrimSuffix(line, "\n")):]
		command, prompt := cutPrompt(line, prompts)
		switch {
		case prompt != "" && !typed:
			b.WriteString(`<i class="prompt">` + prompt + `</i>`)
			any = true
			fallthrough
		case typed:
			b.WriteString(`<kbd>` + highlight("bash", command) + `</kbd>`)
			typed = strings.HasSuffix(command, `\`)
		case line != "":
			b.WriteString(`<samp>` + escape.Replace(line) + `</samp>`)
		}
		b.WriteString(end)
	}
	return b.String(), any
}

func cutPrompt(line string, prompts []string) (command, prompt string) {
	for _, prompt := range prompts {
		if command, found := strings.CutPrefix(line, prompt); found {
			return command, prompt
		}
	}
	return line, ""
}

// runsAlone says whether a reader can run a text as it stands: it is whole, it
// does more than to declare functions, and nothing in it needs a function
// around it.
func runsAlone(text string) bool {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return false
	}
	runs := false
	for _, s := range file.Stmts {
		if _, declares := s.Cmd.(*syntax.FuncDecl); declares {
			continue
		}
		runs = true
		if needsFunction(s) {
			return false
		}
	}
	return runs
}

func needsFunction(s *syntax.Stmt) bool {
	needs := false
	syntax.Walk(s, func(n syntax.Node) bool {
		switch c := n.(type) {
		case *syntax.FuncDecl:
			return false
		case *syntax.DeclClause:
			needs = needs || c.Variant.Value == "local"
		case *syntax.CallExpr:
			needs = needs || len(c.Args) > 0 && c.Args[0].Lit() == "return"
		}
		return true
	})
	return needs
}
