package inspect

import (
	"context"
	"errors"
	"fmt"
	stdio "io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
	"bootlab/labs/inspect/check"
	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/record"
)

// svg is the format with the time line as a picture.
const svg = "svg"

// timelineRequest is a command line of timeline.
type timelineRequest struct {
	cli.Where
	from, with string
	format     *cli.Format
}

func newTimelineCommand(io cli.Streams) *cobra.Command {
	r := &timelineRequest{}
	c := &cobra.Command{
		Use:   "timeline LAB",
		Short: "Show when each stage ran, for how long, and how it ended",
		Long: `Show the stages of a lab over time, from the progress records that bootkube.sh
and the scripts write in the same format: every attempt, how long it took, how
long it usually takes on this host, and why it failed.

With --from it reads the records of a bundle of bootlab gather or of
openshift-install gather bootstrap, or the *.json files of a directory. With --with
it shows another run next to them, stage by stage, for example the real
bootkube.sh next to the run by hand.

It keeps the durations of successful stages for the next time in
$XDG_STATE_HOME/bootlab/durations.json (~/.local/state).`,
		Example: `  bootlab timeline mylab
  bootlab timeline mylab --output svg > timeline.svg
  bootlab timeline mylab --with log-bundle-20260102030405.tar.gz`,
		RunE: func(c *cobra.Command, args []string) error {
			if r.from != "" && r.Local {
				return cli.Usage(cli.Hint(errors.New("--from and --local name two places"), "one of them"))
			}
			ctx, stop := cli.UntilInterrupted(c)
			defer stop()
			return runTimeline(ctx, io, args[0], r)
		},
	}
	c.Flags().StringVar(&r.from, "from", "", "records of this bundle or directory, instead of the lab's")
	c.Flags().StringVar(&r.with, "with", "", "records of another run to compare with, a bundle or a directory")
	r.format = cli.FormatFlag(c, cli.Text, cli.JSON, svg)
	r.Where.Flags(c)
	return c
}

// chronicle is what the records of one place say.
type chronicle struct {
	place    string // "local", "lab", or the path of a bundle
	local    bool
	services []*record.Service
	spans    []*record.Span
}

func runTimeline(ctx context.Context, io cli.Streams, lab string, r *timelineRequest) error {
	plan, err := cli.LoadPlan(io, lab)
	if err != nil {
		return err
	}
	here, err := r.here(ctx, io, plan)
	if err != nil {
		return err
	}
	var there *chronicle
	if r.with != "" {
		if there, err = openChronicle(ctx, io, r.with); err != nil {
			return err
		}
	}
	t := newTimeline(plan, here, there, usual(io, plan, here, r.from == ""))
	for _, c := range []*chronicle{here, there} {
		if c != nil {
			c.warn(io.Err)
		}
	}
	switch {
	case r.format.Is(cli.JSON):
		return cli.WriteJSON(io.Out, t)
	case r.format.Is(svg):
		_, err = io.Out.Write(t.picture().SVG)
	default:
		_, err = stdio.WriteString(io.Out, t.text())
	}
	return err
}

func (r *timelineRequest) here(ctx context.Context, io cli.Streams, plan *labs.Plan) (*chronicle, error) {
	if r.from != "" {
		return openChronicle(ctx, io, r.from)
	}
	places, err := r.Hosts(plan.Lab)
	if err != nil {
		return nil, cli.VmsError(err)
	}
	c, err := watchedChronicle(ctx, io, plan, places)
	if errors.Is(err, record.ErrNone) {
		return nil, cli.Hint(fmt.Errorf("%s: %w", plan.Lab.Dir, err), "nothing was run yet; the guide begins with bootlab site serve "+plan.Lab.Dir+", and --from reads a bundle")
	}
	return c, err
}

// openChronicle reads a bundle, or a directory of records.
func openChronicle(ctx context.Context, io cli.Streams, path string) (*chronicle, error) {
	c := &chronicle{place: path}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		err = c.readDir(path)
	} else if err == nil {
		err = c.readBundle(ctx, io, path)
	}
	if ctx.Err() != nil {
		return nil, cli.ErrInterrupted
	}
	if err != nil {
		return nil, cli.Hint(fmt.Errorf("%s: %w", path, unwrapPath(err)), "a bundle of bootlab gather or openshift-install gather bootstrap, or a directory with bootkube.json")
	}
	c.spans = record.TimeLine(c.services...)
	return c, nil
}

// unwrapPath leaves out a path that the message names anyway.
func unwrapPath(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// readDir does not follow links that lead out of the directory.
func (c *chronicle) readDir(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	c.services, err = record.Open(root.FS())
	return err
}

func (c *chronicle) readBundle(ctx context.Context, io cli.Streams, file string) error {
	b, err := host.OpenBundle(ctx, file)
	if err != nil {
		return err
	}
	defer b.Close()
	for _, note := range b.Notes {
		fmt.Fprintf(io.Err, "warning: %s: %s\n", check.Plain(file), check.Plain(note))
	}
	c.local = b.Local()
	c.services, err = record.Open(b.FS())
	return err
}

// watchedChronicle reads the records of a lab where it is running. With machines
// those of the bootstrap node come first; what runs on the workstation has its
// records there.
func watchedChronicle(ctx context.Context, io cli.Streams, plan *labs.Plan, places *host.Hosts) (*chronicle, error) {
	if places.Local {
		c := &chronicle{place: "local", local: true}
		return c, c.add(ctx, plan, places, places.Here, places.Root, nil)
	}
	c := &chronicle{place: "lab"}
	err := c.add(ctx, plan, places, places.Bootstrap, places.Root, nil)
	own := map[string]bool{}
	for _, s := range plan.Stages {
		own[s.RecordName()] = s.In(labs.Workstation)
	}
	root := filepath.Join(places.Work, "host")
	if here := c.add(ctx, plan, places, places.Here, root, own); here != nil && !errors.Is(here, record.ErrNone) {
		fmt.Fprintf(io.Err, "warning: %s: %s\n", places.Here.Name(), check.Plain(here.Error()))
	}
	switch {
	case err == nil:
		return c, nil
	case len(c.spans) > 0:
		fmt.Fprintf(io.Err, "warning: %s: %s\n", places.Bootstrap.Name(), check.Plain(err.Error()))
		return c, nil
	case errors.Is(err, host.ErrUnreachable):
		return nil, cli.Hint(err, "bootlab vms status "+plan.Lab.Dir+" says whether it runs; --local shows the local run, and --from a bundle")
	}
	return nil, err
}

// add adds the records of one machine; only those of some stages if these are
// named.
func (c *chronicle) add(ctx context.Context, plan *labs.Plan, places *host.Hosts, h host.Host, root string, only map[string]bool) error {
	services, err := record.Collect(ctx, h, root)
	if err != nil {
		return err
	}
	var spans []*record.Span
	for _, s := range record.TimeLine(services...) {
		if only == nil || only[s.Name] {
			spans = append(spans, s)
		}
	}
	settle(ctx, plan, places, h, spans)
	c.services, c.spans = append(c.services, services...), append(c.spans, spans...)
	return nil
}

// runningLine prints the locks that scripts hold, by name, and the units that are
// running. The kernel's list of locks is asked: taking a lock for a moment would
// stop a script that begins just then.
const runningLine = `held() { local inode; inode="$(stat --format=%i -- "$1" 2> /dev/null)" && grep --quiet --extended-regexp " FLOCK .*:${inode} " /proc/locks; }
for file in "${LOCKS}"/.bootlab*.lock; do ! held "${file}" || echo "${file##*/}"; done
[[ -n ${HOST_ROOT} ]] || systemctl list-units --type=service --state=active,activating --plain --no-legend | awk '{ print $1 }'`

// settle asks the machine which of the stages that have no end are running. If
// it does not answer, they stay without an end.
func settle(ctx context.Context, plan *labs.Plan, places *host.Hosts, h host.Host, spans []*record.Span) {
	if !hasOpen(spans) {
		return
	}
	locks, root := places.AssetDir, places.Root
	if h == places.Here {
		locks, root = filepath.Join(places.Work, "assets"), filepath.Join(places.Work, "host")
	}
	line := "LOCKS=" + cli.ShellWord(locks) + " HOST_ROOT=" + cli.ShellWord(root) + "\n" + runningLine
	r, err := h.Run(ctx, line, 1<<20)
	if err != nil {
		return
	}
	running := map[string]bool{}
	for _, name := range strings.Fields(string(r.Out)) {
		running[name] = true
	}
	parallel := map[string]bool{}
	for _, s := range plan.Stages {
		parallel[s.ID] = s.Parallel
	}
	for _, s := range spans {
		lock := ".bootlab.lock"
		if parallel[s.Service] {
			lock = ".bootlab." + s.Service + ".lock"
		}
		s.Settle(running[lock] || running[s.Service+".service"])
	}
}

func hasOpen(spans []*record.Span) bool {
	for _, s := range spans {
		if s.State == record.NoEnd {
			return true
		}
	}
	return false
}

// warn says which records are not whole.
func (c *chronicle) warn(w stdio.Writer) {
	for _, s := range c.services {
		if s.Problem != "" {
			fmt.Fprintf(w, "warning: the record of %s: %s\n", check.Plain(s.Name), check.Plain(s.Problem))
		}
		if s.Older != nil {
			fmt.Fprintf(w, "warning: an older record of %s was set aside: %s\n", check.Plain(s.Name), check.Plain(s.Older.Problem))
		}
	}
}

// usual are the durations of stages on this host, those of the lab's own records
// among them. keep adds them to the file for the next time; that it cannot be
// read or written is a warning and no more.
func usual(io cli.Streams, plan *labs.Plan, c *chronicle, keep bool) record.Durations {
	file, err := record.DurationsFile()
	if err != nil {
		fmt.Fprintf(io.Err, "warning: durations are not kept: %v\n", err)
		return record.Durations{}
	}
	add := func(d record.Durations) {
		d.Add(c.spans, func(s *record.Span) string { return durationKey(plan, c, s.Name) })
	}
	known, err := record.ReadDurations(file)
	if err != nil {
		fmt.Fprintf(io.Err, "warning: earlier durations are not known: %v\n", err)
	}
	if keep {
		if err := record.KeepDurations(file, add); err != nil {
			fmt.Fprintf(io.Err, "warning: durations are not kept: %v\n", err)
		}
	}
	add(known)
	return known
}

func durationKey(plan *labs.Plan, c *chronicle, stage string) string {
	return record.DurationKey(stage, plan.Version(), c.local)
}
