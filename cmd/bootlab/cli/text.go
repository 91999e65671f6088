package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"bootlab/labs"
)

// Counted gives a number and what it counts, as 1 difference or 2 differences.
func Counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// Visible shows a text of the script on one line and without characters that a
// terminal would obey or that cannot be seen.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || labs.Hidden(r) {
			return '?'
		}
		return r
	}, text)
}

// Table writes rows of cells, each column as wide as its widest cell.
func Table(b *strings.Builder, fill func(row func(cells ...string))) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fill(func(cells ...string) { fmt.Fprintln(w, strings.Join(cells, "\t")) })
	w.Flush()
}

// Left is a duration as people say it: days, or hours and minutes.
func Left(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	if days := int(d / (24 * time.Hour)); days >= 2 {
		return fmt.Sprintf("%s%dd", sign, days)
	}
	return sign + Short(d.Truncate(time.Minute))
}

// Short is a duration without what is zero: 1h5m, 12s.
func Short(d time.Duration) string {
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// PrintIndented writes each line of a text behind an indent.
func PrintIndented(w io.Writer, indent, text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		fmt.Fprint(w, indent, strings.TrimRight(line, "\n"), "\n")
	}
}

// ShellWord quotes a path for the shell.
func ShellWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
