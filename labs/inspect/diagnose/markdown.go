package diagnose

import (
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes a report that can be pasted into a ticket.
func (r *Report) WriteMarkdown(w io.Writer) {
	title := strings.TrimSuffix(r.Verdict.Words(), ".")
	if r.Cause != nil {
		title = r.Cause.Title
	}
	fmt.Fprintf(w, "## %s\n\n", title)
	if s := r.Subject; s != nil {
		fmt.Fprintf(w, "Domain `%s`, release `%s`, platform `%s`\n\n", codeSpan(s.Domain), codeSpan(s.Release), codeSpan(s.Platform))
		for _, assumed := range s.Assumed {
			fmt.Fprintf(w, "- assumed: %s\n", assumed)
		}
		if limit := r.Limit(); limit != "" {
			fmt.Fprintf(w, "- %s\n", limit)
		}
		fmt.Fprintln(w)
	}
	if c := r.Cause; c != nil {
		fmt.Fprintf(w, "%s\n\n", strings.TrimSpace(c.Cause))
		markdownExhibits(w, c.Shown)
		fmt.Fprintf(w, "**Fix:** %s\n\n**See it:**\n\n%s", strings.TrimSpace(c.Fix), fenced(c.Command))
		fmt.Fprintf(w, "In the guide: `%s`\n\n", c.Address)
	}
	if l := r.Lead; l != nil {
		fmt.Fprintf(w, "Failed: `%s` `%s` %s\n\n%s", codeSpan(l.Service), codeSpan(l.Stage), l.At, fenced(l.Line))
	}
	for _, c := range r.FailedChecks {
		fmt.Fprintf(w, "- failed check `%s` of `%s`: %s\n", codeSpan(c.ID), codeSpan(c.Stage), c.Title)
	}
	for _, c := range r.Likely {
		fmt.Fprintf(w, "- may be: %s\n", c.Title)
	}
	for _, c := range r.Harmless {
		fmt.Fprintf(w, "- harmless: %s\n", c.Title)
	}
	fmt.Fprintln(w, "\n| Question | Answer |\n|---|---|")
	for _, a := range r.Layers {
		fmt.Fprintf(w, "| %s | %s |\n", a.Ask, a.Answer)
	}
}

func markdownExhibits(w io.Writer, all []Exhibit) {
	for _, e := range all {
		fmt.Fprintf(w, "%s %s\n\n%s", e.Title, e.Node, fenced(strings.Join(e.Lines, "\n")))
	}
}

// fenced is a block of code that its text cannot end.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n\n"
}

// codeSpan is text that ends no code span.
func codeSpan(text string) string { return strings.ReplaceAll(text, "`", "'") }
