package inspect

import (
	"context"
	"errors"
	"fmt"
	stdio "io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs/inspect/mask"
	"bootlab/vms"
)

func newMaskCommand(io cli.Streams) *cobra.Command {
	var to, lab string
	var format *cli.Format
	c := &cobra.Command{
		Use:   "mask BUNDLE --to FILE",
		Short: "Write a copy of a bundle without its secrets",
		Long: `Write a masked copy of a bundle: of bootlab gather, of openshift-install gather
bootstrap, or any other archive of tar or zip, packed by gzip or not. Archives
and packed files in it are masked too. A directory becomes a .tar.gz; a single
log works as well. The original is not changed, and no file is replaced.

It masks private keys, passwords, tokens, logins and the data of Secrets, found by
their form, their name or the command around them:
in plain text, JSON, YAML, XML and dumps of programs, also as base64, base32,
hex, UTF-16 or lists of bytes. With --lab it masks the secrets of that lab
everywhere. Files that it cannot read are left out of the copy and
named: binary files, xz, zstd, bzip2, links.

No program finds every secret. For example, a password that looks like a word of a
sentence stays. So the command lists what it masked, by file, kind and line,
and what still looks like a secret by its mix of characters. Lines are those of
the masked copy. Digests, UUIDs and certificates are not listed. Names and
addresses of your machines stay too: look into the copy before you pass it on.`,
		Example: "  bootlab mask log-bundle-20260102030405.tar.gz --to masked.tar.gz\n  bootlab mask log-bundle-20260102030405.tar.gz --to masked.tar.gz --lab mylab\n  bootlab mask bootkube.log --to masked.log --output json",
		RunE: func(c *cobra.Command, args []string) error {
			if to == "" {
				return cli.Usage(cli.Hint(errors.New("--to is required"), "bootlab mask "+args[0]+" --to masked-"+filepath.Base(args[0])))
			}
			ctx, stop := cli.UntilInterrupted(c)
			defer stop()
			return runMask(ctx, io, args[0], to, lab, format)
		},
	}
	cli.ToFlag(c, &to, "FILE", ": the masked copy, which must not exist yet")
	c.Flags().StringVar(&lab, "lab", "", "a lab whose own secrets are masked everywhere")
	format = cli.FormatFlag(c, cli.Text, cli.JSON)
	return c
}

func runMask(ctx context.Context, io cli.Streams, bundle, to, lab string, format *cli.Format) error {
	var own [][]byte
	if lab != "" {
		plan, err := cli.LoadPlan(io, lab)
		if err != nil {
			return err
		}
		own = mask.LabSecrets(plan.Lab)
	}
	report, err := mask.New(own...).Bundle(ctx, bundle, to)
	switch {
	case ctx.Err() != nil:
		return errNotWritten
	case errors.Is(err, fs.ErrExist):
		return cli.Hint(fmt.Errorf("%s is there already", to), "give another name; mask replaces nothing")
	case err != nil:
		return cli.Hint(fmt.Errorf("nothing is written: %w", err), "BUNDLE is an archive, a directory or a log; --to is a new file in a directory that is there")
	}
	if format.Is(cli.JSON) {
		return cli.WriteJSON(io.Out, report)
	}
	printMasked(io.Out, report, to)
	return nil
}

// mostRows is how many rows of a list are printed as text; JSON has all.
const mostRows = 200

func printMasked(w stdio.Writer, r *mask.Report, to string) {
	fmt.Fprintf(w, "%s: %d files are copied\n", to, r.Files)
	for _, note := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", vms.PlainText(note))
	}
	rows(w, "masked", "", len(r.Masked), func(i int) string {
		m := r.Masked[i]
		return fmt.Sprintf("%s: %d of kind %s, %s", m.File, m.Count, m.Kind, lines(m.Lines))
	})
	rows(w, "left out of the copy", "", len(r.LeftOut), func(i int) string { return r.LeftOut[i].File + ": " + r.LeftOut[i].Why })
	rows(w, "still looks like a secret", "look at these lines of the copy, and decide", len(r.Suspects), func(i int) string {
		s := r.Suspects[i]
		return fmt.Sprintf("%s:%d: begins with %s, %d characters, %d times", s.File, s.Line, s.Begins, s.Length, s.Count)
	})
}

// rows prints a list under a title.
func rows(w stdio.Writer, title, advice string, n int, row func(int) string) {
	fmt.Fprintf(w, "%s: %d\n", title, n)
	if n > 0 && advice != "" {
		fmt.Fprintf(w, "  %s\n", advice)
	}
	for i := range min(n, mostRows) {
		fmt.Fprintf(w, "  %s\n", vms.PlainText(row(i)))
	}
	if n > mostRows {
		fmt.Fprintf(w, "  and %d more; --output json lists all\n", n-mostRows)
	}
}

// lines names the first lines of a list.
func lines(all []int) string {
	const most = 5
	var named []string
	for _, line := range all[:min(len(all), most)] {
		named = append(named, fmt.Sprint(line))
	}
	text := "line " + strings.Join(named, ", ")
	if len(all) > 1 {
		text = "lines " + strings.Join(named, ", ")
	}
	if len(all) > most {
		text += " and more"
	}
	return text
}
