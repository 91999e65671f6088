package recording

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// The measures of a picture, in its own units.
const (
	charWidth  = 7.8
	lineHeight = 19
	margin     = 16
)

const style = `<style>
rect { fill: #f6f8fa; stroke: #d0d7de }
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328; white-space: pre }
.command { font-weight: bold }
.cut { fill: #59636e }
@media (prefers-color-scheme: dark) {
rect { fill: #0d1117; stroke: #3d444d }
text { fill: #f0f6fc }
.cut { fill: #9198a1 }
}
</style>
`

// Draw gives the picture of a terminal: lines that begin with "$ " are commands.
// Each text is as wide as its characters, whichever font the reader has.
func Draw(title string, lines []string) string {
	longest := 0
	for _, line := range lines {
		longest = max(longest, utf8.RuneCountInString(line))
	}
	width, height := float64(longest)*charWidth+2*margin, len(lines)*lineHeight+2*margin
	var out strings.Builder
	fmt.Fprintf(&out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.1f %d\" width=\"%.0f\" role=\"img\">\n<title>%s</title>\n", width, height, width, html.EscapeString(title))
	out.WriteString(style)
	fmt.Fprintf(&out, "<rect x=\"0.5\" y=\"0.5\" width=\"%.1f\" height=\"%d\" rx=\"6\"/>\n", width-1, height-1)
	for i, line := range lines {
		if line == "" {
			continue
		}
		fmt.Fprintf(&out, "<text%s x=\"%d\" y=\"%d\" textLength=\"%.1f\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\">%s</text>\n",
			class(line), margin, margin+lineHeight*i+14, float64(utf8.RuneCountInString(line))*charWidth, html.EscapeString(line))
	}
	out.WriteString("</svg>\n")
	return out.String()
}

func class(line string) string {
	switch {
	case strings.HasPrefix(line, "$ "):
		return ` class="command"`
	case line == cut:
		return ` class="cut"`
	}
	return ""
}
