package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Reference is the page of the guide with all commands, in markdown.
func Reference(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Commands of bootlab\n\nEvery command with its options, as bootlab help prints it.\n\n## Exit statuses\n\n")
	b.WriteString(statusTable())
	each(root, func(c *cobra.Command) {
		if !c.HasParent() || c.HasSubCommands() || !c.Runnable() || c.Name() == "help" {
			return
		}
		describe(&b, c)
	})
	return b.String()
}

// statusTable is [Statuses] in markdown.
func statusTable() string {
	var b strings.Builder
	b.WriteString("| Status | Meaning |\n|---|---|\n")
	for _, s := range Statuses {
		fmt.Fprintf(&b, "| %d | %s |\n", s.Code, s.Meaning)
	}
	return b.String()
}

func describe(b *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(b, "\n## %s\n\n%s.\n\n```text\n%s\n```\n\n", c.CommandPath(), c.Short, c.UseLine())
	for paragraph := range strings.SplitSeq(strings.TrimSpace(c.Long), "\n\n") {
		if strings.HasPrefix(paragraph, "  ") {
			fmt.Fprintf(b, "```text\n%s\n```\n\n", strings.TrimRight(paragraph, "\n"))
			continue
		}
		b.WriteString(literal.Replace(paragraph) + "\n\n")
	}
	if c.Example != "" {
		b.WriteString("```text\n" + unindented(c.Example) + "\n```\n\n")
	}
	c.InitDefaultHelpFlag()
	if options := strings.TrimRight(c.LocalFlags().FlagUsagesWrapped(100), "\n"); options != "" {
		b.WriteString("Options:\n\n```text\n" + options + "\n```\n")
	}
}

// literal keeps characters from meaning something in markdown.
var literal = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "#", `\#`, "|", `\|`)

func unindented(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "  ")
	}
	return strings.Join(lines, "\n")
}

func newManCommand(out io.Writer) *cobra.Command {
	var to string
	c := &cobra.Command{
		Use:   "man --to DIR",
		Short: "Write the man pages of all commands",
		Long: `Write the man pages of bootlab and of each of its commands, as bootlab-generate.1,
to DIR, which is made if it is missing. The packages of bootlab install them. By
hand, DIR is ~/.local/share/man/man1, and man bootlab-generate finds them there.
The date on them is that of SOURCE_DATE_EPOCH, if it is set.`,
		Example: "  bootlab man --to ~/.local/share/man/man1",
		RunE: func(c *cobra.Command, _ []string) error {
			if to == "" {
				return Usage(Hint(fmt.Errorf("--to is missing"), "bootlab man --to ~/.local/share/man/man1"))
			}
			if err := os.MkdirAll(to, 0o755); err != nil {
				return err
			}
			c.Root().DisableAutoGenTag = true
			header := &doc.GenManHeader{Section: "1", Source: "bootlab " + ThisBuild().Version, Manual: "bootlab"}
			if err := doc.GenManTree(c.Root(), header, to); err != nil {
				return err
			}
			pages, err := filepath.Glob(filepath.Join(to, "bootlab*.1"))
			if err == nil {
				_, err = fmt.Fprintf(out, "%s: %s\n", to, Counted(len(pages), "page"))
			}
			return err
		},
	}
	ToFlag(c, &to, "DIR", "")
	return c
}
