package site

import (
	"html/template"
	"strings"
)

// escape is enough for text between tags, and shorter than what also serves in
// attributes: scripts are full of quotes.
var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// codeBlock is a block of code as HTML. What is typed (bash, and the commands
// of a console example) is marked, so that it can be copied.
func codeBlock(language, text string) string {
	class, body := "code", ""
	switch language {
	case "console":
		class, body = "code typed", console(text)
	case "bash":
		class, body = "code typed", highlight(language, text)
	default:
		body = highlight(language, text)
	}
	if language == "" {
		language = "text"
	}
	return `<div class="` + class + `"><pre tabindex="0"><code class="language-` + template.HTMLEscapeString(language) + `">` +
		body + "</code></pre></div>\n"
}

// prompt begins the lines of a console example that are typed.
const prompt = "$ "

// console parts what is typed from what is printed. A command goes on in the
// next line behind a backslash.
func console(text string) string {
	var b strings.Builder
	typed := false
	for _, line := range strings.SplitAfter(text, "\n") {
		line, end := strings.TrimSuffix(line, "\n"), line[len(strings.TrimSuffix(line, "\n")):]
		command, begins := strings.CutPrefix(line, prompt)
		switch {
		case begins:
			b.WriteString(`<i class="prompt">` + prompt + `</i>`)
			fallthrough
		case typed:
			b.WriteString(`<kbd>` + highlight("bash", command) + `</kbd>`)
			typed = strings.HasSuffix(command, `\`)
		case line != "":
			b.WriteString(`<samp>` + escape.Replace(line) + `</samp>`)
		}
		b.WriteString(end)
	}
	return b.String()
}
