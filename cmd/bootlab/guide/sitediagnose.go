package guide

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/site"
	"bootlab/site/browser"
)

// diagnosis is what the page diagnose is made with.
func diagnosis() site.Diagnosis {
	return site.Diagnosis{Version: "bootlab " + cli.ThisBuild().Version, Program: browser.Program()}
}

func newSiteDiagnoseCommand(io cli.Streams) *cobra.Command {
	var to string
	c := &cobra.Command{
		Use:   "diagnose",
		Short: "Write the page that diagnoses a log bundle, as one file",
		Long: `Write one HTML file that diagnoses log bundles in a browser, as bootlab diagnose
does. It needs no installation, no server and no network: open it from a disk,
and drop a bundle on it. The bundle stays on that computer. A site of a lab has
the same page, with links to the pages of causes.`,
		Example: "  bootlab site diagnose --to diagnose.html",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if to == "" {
				return cli.Usage(cli.Hint(errors.New("--to is required"), "bootlab site diagnose --to diagnose.html"))
			}
			return runSiteDiagnose(io, to)
		},
	}
	cli.ToFlag(c, &to, "FILE", ": the page, which must not be there yet")
	return c
}

func runSiteDiagnose(io cli.Streams, to string) error {
	d := diagnosis()
	if d.Program == nil {
		return cli.Hint(errors.New("this bootlab was built without the program of the page"), "make build builds a bootlab with it")
	}
	page, err := site.DiagnosePage(d)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return cli.Hint(fmt.Errorf("%s is there already", to), "remove it, or give another name")
	}
	if err != nil {
		return err
	}
	_, err = f.Write(page)
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	_, err = fmt.Fprintf(io.Out, "%s: %.1f MB\n\nopen it in a browser, and drop a log bundle on it\n", to, float64(len(page))/1e6)
	return err
}
