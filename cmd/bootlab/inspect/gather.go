package inspect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
	"bootlab/labs/inspect/gather"
	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/mask"
	"bootlab/vms"
)

func newGatherCommand(io cli.Streams) *cobra.Command {
	var place cli.Where
	var to string
	var timeout time.Duration
	var format *cli.Format
	c := &cobra.Command{
		Use:   "gather LAB",
		Short: "Collect logs and states of a bootstrap into one archive",
		Long: `Collect journals, logs of containers, records, rendered files and objects of the
API from the machines of a lab, or from its local run, into one archive. It holds
all evidence that bootlab diagnose reads, and has the layout of openshift-install
gather bootstrap: openshift-install analyze reads it too. It changes nothing on any
machine. It names a machine that it cannot reach, and collects from the others.

Secrets are masked before anything is written, as bootlab mask does: keys, tokens,
passwords, logins and the data of Secrets, found by their form, their name or the
command around them. The lab's own secrets are masked everywhere. The archive still
contains addresses and names of your network, and no program finds every secret:
look into it before you pass it on.`,
		Example: "  bootlab gather mylab\n  bootlab gather mylab --to /tmp/mylab.tar.gz\n  bootlab diagnose mylab --from mylab/out/work/gather/log-bundle-20260102030405.tar.gz",
		RunE: func(c *cobra.Command, args []string) error {
			if timeout <= 0 {
				return cli.Usage(cli.Hint(fmt.Errorf("timeout %s is not above 0", timeout), "--timeout 5m"))
			}
			ctx, stop := cli.UntilInterrupted(c)
			defer stop()
			return runGather(ctx, io, args[0], &place, to, timeout, format)
		},
	}
	cli.ToFlag(c, &to, "FILE", " (default LAB/out/work/gather/log-bundle-TIME.tar.gz)")
	c.Flags().DurationVar(&timeout, "timeout", 5*time.Minute, "limit for collecting and masking; masking gets at least a minute, and what is missing is named")
	format = cli.FormatFlag(c, cli.Text, cli.JSON)
	place.Flags(c)
	return c
}

// gatheredBundle is what --output json writes. New keys may be added.
type gatheredBundle struct {
	File     string `json:"file"`
	Had      int    `json:"had"`
	Evidence int    `json:"evidence"`
	Masked   int    `json:"masked"`
}

func runGather(ctx context.Context, io cli.Streams, dir string, place *cli.Where, to string, timeout time.Duration, format *cli.Format) error {
	plan, err := cli.LoadPlan(io, dir)
	if err != nil {
		return err
	}
	if err := freePlace(to); err != nil {
		return err
	}
	places, err := place.Hosts(plan.Lab)
	if err != nil {
		return cli.VmsError(err)
	}
	told := func(f host.Found) { printFound(io, f, places.Local) }
	b := gather.Gather(ctx, plan, places, gather.Options{Version: cli.Version(), Masker: mask.New(mask.LabSecrets(plan.Lab)...), Progress: told, Timeout: timeout})
	if ctx.Err() != nil {
		return errNotWritten
	}
	if b.Collected() == 0 {
		return cli.Hint(errors.New("nothing could be collected"), "bootlab diagnose "+dir+" says why")
	}
	return writeGathered(ctx, io, plan.Lab, b, to, dir, format)
}

// errNotWritten is the end of a gathering that was interrupted.
var errNotWritten = errors.New("interrupted; nothing is written")

// freePlace refuses a place that is taken before anything is collected.
func freePlace(to string) error {
	if to == "" {
		return nil
	}
	if _, err := os.Lstat(to); err == nil {
		return cli.Hint(fmt.Errorf("%s is there already", to), "give another name; gather replaces nothing")
	}
	if info, err := os.Stat(filepath.Dir(to)); err != nil || !info.IsDir() {
		return cli.Hint(fmt.Errorf("%s is no directory", filepath.Dir(to)), "make it first")
	}
	return nil
}

// printFound tells of one thing as it comes. A local run has nothing of machines,
// which need not be told for each.
func printFound(io cli.Streams, f host.Found, local bool) {
	of := f.Evidence.Title
	if f.Node != "" {
		of += ", " + f.Node
	}
	switch {
	case f.Had:
		fmt.Fprintf(io.Err, "collected      %s\n", of)
	case local && (f.Problem == host.NotInLocalRun || f.Problem == host.NoMachines || f.Problem == host.NoAPI):
	default:
		fmt.Fprintf(io.Err, "not collected  %s: %s\n", of, vms.PlainText(f.Problem))
	}
}

func writeGathered(ctx context.Context, io cli.Streams, lab *labs.Lab, b *gather.Bundle, to, dir string, format *cli.Format) error {
	if to == "" {
		folder := filepath.Join(lab.Dir, "out", "work", "gather")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
		to = filepath.Join(folder, gather.FileName(b.Index.Ended.Local()))
	}
	if err := b.WriteFile(ctx, to); err != nil {
		if ctx.Err() != nil {
			return errNotWritten
		}
		if errors.Is(err, fs.ErrExist) {
			return cli.Hint(fmt.Errorf("%s is there already", to), "run it again")
		}
		return err
	}
	masked := 0
	for _, n := range b.Index.Masked {
		masked += n
	}
	if format.Is(cli.JSON) {
		return cli.WriteJSON(io.Out, gatheredBundle{to, b.Collected(), len(b.Index.Evidence), masked})
	}
	_, err := fmt.Fprintf(io.Out, "%s\n%d of %d pieces of evidence; secrets taken out: %d; look into it before you give it away\nnext: bootlab diagnose %s --from %s\n",
		to, b.Collected(), len(b.Index.Evidence), masked, dir, to)
	return err
}
