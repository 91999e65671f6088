package generator

import "strings"

// textWidth is the column at which comments in scripts end.
const textWidth = 80

// comment makes shell comment lines of a text: paragraphs stay apart, lines are
// filled up to textWidth.
func comment(indent, text string) string {
	var lines []string
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			lines = append(lines, indent+"#")
		}
		for _, line := range fill(paragraph, textWidth-len(indent)-2) {
			lines = append(lines, indent+"# "+line)
		}
	}
	return strings.Join(lines, "\n")
}

// bullet makes shell comment lines of one item of a list.
func bullet(text string) string {
	return "# - " + strings.Join(fill(text, textWidth-4), "\n#   ")
}

// fill breaks a paragraph into lines of at most width columns, words whole.
func fill(paragraph string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(paragraph) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// codeWidth is the column at which generated argument lists are broken.
const codeWidth = 100

// breakWords puts shell words on lines of at most codeWidth, continued with a
// backslash.
func breakWords(indent string, words []string) string {
	var b strings.Builder
	column := len(indent)
	for i, word := range words {
		switch {
		case i == 0:
		case column+1+len(word)+2 > codeWidth:
			b.WriteString(" \\\n" + indent + "  ")
			column = len(indent) + 2
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}
