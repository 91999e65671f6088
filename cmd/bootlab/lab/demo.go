package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/generator"
	"bootlab/labs"
	"bootlab/standin"
	"bootlab/standin/demo"
)

// usualDemo is the directory of a demo that is given none.
const usualDemo = "demo"

// demoRequest is a command line of demo.
type demoRequest struct {
	lab           string
	release       string
	remove, serve bool
}

func newDemoCommand(io cli.Streams) *cobra.Command {
	r := &demoRequest{lab: usualDemo}
	c := &cobra.Command{
		Use:   "demo [LAB]",
		Short: "Make a lab whose render scripts run without a network",
		Long: `Make a lab in the directory LAB (default ` + usualDemo + `) that needs neither a network nor an
account. A registry on this machine serves a release image and the images of the
operators. They are stand-ins made by bootlab, not the real programs. A page of the
lab's guide lists what is not real, and every script says that it is a demo.

The registry listens only on 127.0.0.1, with a certificate that only this lab
trusts, and runs in the background. Run the same command again after a restart of
the machine, or when the registry does not run. It ends by itself when LAB is deleted.

--remove deletes the demo as a whole: the registry, the images that podman pulled
from it, and the files of the lab.`,
		Example: `  bootlab demo
  demo/out/scripts/render-all.sh
  bootlab demo --remove demo`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				r.lab = args[0]
			}
			return r.run(c, io)
		},
	}
	releases := labs.Builtin().ReleaseIDs()
	c.Flags().StringVar(&r.release, "release", "", "the release that the images stand in for: "+strings.Join(releases, ", "))
	_ = c.RegisterFlagCompletionFunc("release", cobra.FixedCompletions(releases, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().BoolVar(&r.remove, "remove", false, "delete the demo LAB")
	c.Flags().BoolVar(&r.serve, "serve", false, "serve the registry of LAB in the foreground")
	_ = c.Flags().MarkHidden("serve")
	c.MarkFlagsMutuallyExclusive("release", "remove", "serve")
	return c
}

func (r *demoRequest) run(c *cobra.Command, io cli.Streams) error {
	if r.serve {
		return r.serveRegistry(c.Context())
	}
	ctx, stop := cli.UntilInterrupted(c)
	defer stop()
	if r.remove {
		return r.removeDemo(ctx, io)
	}
	return r.make(ctx, c, io)
}

// make makes the lab, or what is missing of it, and starts its registry.
func (r *demoRequest) make(ctx context.Context, c *cobra.Command, io cli.Streams) error {
	if err := os.MkdirAll(r.lab, 0o755); err != nil {
		return err
	}
	dir, unlock, err := lockLab(r.lab)
	if err != nil {
		return err
	}
	defer unlock()
	d, err := r.prepare(dir)
	if errors.Is(err, standin.ErrNotBuilt) {
		return cli.Hint(err, "make build, or go generate ./standin before go build, adds them")
	}
	if err != nil {
		return err
	}
	process, err := d.Process()
	if err != nil {
		return err
	}
	if process == 0 {
		if process, err = start(ctx, d); err != nil {
			return cli.Hint(err, "bootlab demo --remove "+word(r.lab)+" deletes this demo; then make it again")
		}
	}
	if err := generate(c, io, r.lab); err != nil {
		return err
	}
	_, err = fmt.Fprintf(io.Out, `
demo: stand-ins for the images of %s, at https://%s (process %d); nothing else is pulled
run:    %s
remove: bootlab demo --remove %s
`, d.Release, d.Address, process, word(filepath.Join(r.lab, "out", "scripts", "render-all.sh")), word(r.lab))
	return err
}

// generate writes scripts and guide of a demo.
func generate(c *cobra.Command, io cli.Streams, lab string) error {
	plan, err := cli.LoadPlanFrom(io, lab, cli.FromAudit{})
	if err != nil {
		return err
	}
	return runGenerate(io, plan, "", generator.Options{Commands: cli.Reference(c.Root())}, false, new(cli.Format))
}

// word is a path as one word of a shell; plain paths stay as they are.
func word(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+", r)
	}
	if path != "" && path[0] != '-' && !strings.ContainsFunc(path, func(r rune) bool { return !plain(r) }) {
		return path
	}
	return cli.Visible(cli.ShellWord(path))
}

// lockLab lets one command after the other work on a demo. It gives the
// directory's path without links.
func lockLab(lab string) (dir string, unlock func(), err error) {
	if dir, err = physical(lab); err != nil {
		return "", nil, err
	}
	f, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return "", nil, errors.Join(err, f.Close())
	}
	return dir, func() { f.Close() }, nil
}

// prepare gives the registry and lab.yaml of a demo, as far as they are missing.
func (r *demoRequest) prepare(dir string) (*demo.Demo, error) {
	file := filepath.Join(dir, "lab.yaml")
	d, err := demo.Open(dir)
	switch {
	case errors.Is(err, demo.ErrNone):
		if _, err := os.Lstat(file); err == nil {
			return nil, cli.Hint(fmt.Errorf("%s is a lab, and no demo", cli.Visible(r.lab)), "name another directory: bootlab demo OTHER")
		}
		if d, err = r.create(dir); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case r.release != "" && r.release != d.Release:
		return nil, cli.Hint(fmt.Errorf("%s is a demo of release %s", cli.Visible(r.lab), d.Release), "name another directory, or remove it first: bootlab demo --remove "+word(r.lab))
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	text, err := demoLab(filepath.Base(dir), d)
	if err != nil {
		return nil, err
	}
	return d, writeNew(file, text)
}

func (r *demoRequest) create(dir string) (*demo.Demo, error) {
	release := r.release
	if release == "" {
		released := slices.DeleteFunc(labs.Builtin().ReleaseIDs(), func(id string) bool { return id == "main" })
		release = released[len(released)-1]
	}
	if _, err := labs.Builtin().Known(release); err != nil {
		return nil, cli.Usage(cli.Hint(err, "bootlab releases lists them"))
	}
	return demo.Create(dir, release)
}

// demoLab is lab.yaml of a demo. The directory may have a name that no cluster can
// have.
func demoLab(name string, d *demo.Demo) ([]byte, error) {
	release := labs.ReleaseRef{Distribution: "okd", Version: d.Release, Image: d.Image()}
	text, err := labs.CommentedFor(release, demo.CAFile, "compact", name, newUID())
	if err != nil {
		return labs.CommentedFor(release, demo.CAFile, "compact", usualDemo, newUID())
	}
	return text, nil
}

// start starts the registry as a process of its own.
func start(ctx context.Context, d *demo.Demo) (int, error) {
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	if err := d.Start(ctx, program, "demo", "--serve", "--", d.Lab); err != nil {
		return 0, err
	}
	return d.Process()
}

// serveRegistry is the process that Start starts.
func (r *demoRequest) serveRegistry(ctx context.Context) error {
	signal.Ignore(syscall.SIGHUP) // the terminal that began it may go
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	d, err := demo.Open(r.lab)
	if err != nil {
		return err
	}
	return d.Serve(ctx)
}

func (r *demoRequest) removeDemo(ctx context.Context, io cli.Streams) error {
	if _, err := os.Stat(r.lab); err != nil {
		return cli.Hint(err, "nothing was removed; name the directory of the demo")
	}
	dir, unlock, err := lockLab(r.lab)
	if err != nil {
		return err
	}
	defer unlock()
	d, err := demo.Open(dir)
	if errors.Is(err, demo.ErrNone) {
		return cli.Hint(fmt.Errorf("%s is no demo", cli.Visible(r.lab)), "nothing was removed; only what bootlab demo made can be")
	}
	if err != nil {
		return err
	}
	left, err := d.Remove(ctx)
	if errors.Is(err, demo.ErrMachines) {
		return cli.Hint(err, "remove them first: bootlab vms down "+word(r.lab))
	}
	if err != nil {
		return cli.Hint(err, "run the same command again once that is solved; it goes on where it stopped")
	}
	fmt.Fprintf(io.Out, "removed %s: the registry, its images in podman's storage, and the files of the lab\n", cli.Visible(r.lab))
	if len(left) > 0 {
		_, err = fmt.Fprintf(io.Out, "not made by the demo, and still there: %s\n", cli.Visible(strings.Join(left, ", ")))
	}
	return err
}
