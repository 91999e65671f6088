package guide

import (
	"context"
	"errors"
	"fmt"
	goio "io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/generator"
	"bootlab/site"
)

const (
	// siteLook is how often a served site looks for changes on the disk.
	siteLook = time.Second
	// siteStop is how long answers under way may take when the server ends.
	siteStop = 3 * time.Second
)

func newSiteCommand(io cli.Streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "site",
		Short: "Read the guide of a lab in a browser",
		Long: `Make a web site of the guide that bootlab generate wrote. It needs no network:
no page loads anything from elsewhere.`,
		Example: `  bootlab site serve mylab
  bootlab site build mylab
  bootlab site diagnose --to diagnose.html`,
	}
	c.AddCommand(newSiteBuildCommand(io), newSiteServeCommand(io), newSiteDiagnoseCommand(io))
	return c
}

func newSiteBuildCommand(io cli.Streams) *cobra.Command {
	var out string
	var force bool
	var format *cli.Format
	c := &cobra.Command{
		Use:   "build LAB",
		Short: "Write the site to files that any browser opens",
		Long: `Write the site of LAB (a directory in which bootlab generate wrote out/, or what
generate wrote itself) to LAB/out/site. Open index.html there.`,
		Example: `  bootlab site build mylab
  bootlab site build mylab --to /srv/www/mylab`,
		RunE: func(_ *cobra.Command, args []string) error { return runSiteBuild(io, args[0], out, force, format) },
	}
	cli.ToFlag(c, &out, "DIR", " (default LAB/out/site)")
	c.Flags().BoolVar(&force, "force", false, "replace files that were edited by hand, and keep them as NAME.edited")
	format = cli.FormatFlag(c, cli.Text, cli.JSON)
	return c
}

func newSiteServeCommand(io cli.Streams) *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use:   "serve LAB",
		Short: "Serve the site, with the state of the lab",
		Long: `Serve the site of LAB to browsers on this machine. Pages are loaded again when
the guide changes, and show which stages are done, running or failed, and which
certificates end next. Ctrl-C ends it.`,
		Example: `  bootlab site serve mylab
  bootlab site serve mylab --listen 127.0.0.1:9000`,
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return runSiteServe(ctx, io, args[0], listen)
		},
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:8080", "address and port; an address that others can reach opens the site to them")
	return c
}

// guideDir is where generate wrote the guide of a lab.
func guideDir(lab string) (string, error) {
	for _, dir := range []string{filepath.Join(lab, "out"), lab, filepath.Join(filepath.Dir(lab), "out")} {
		if _, err := os.Stat(filepath.Join(dir, "guide.json")); err == nil {
			return dir, nil
		}
	}
	err := fmt.Errorf("%s holds no guide: expected %s", lab, filepath.Join(lab, "out", "guide.json"))
	return "", cli.Hint(err, "bootlab generate "+lab+" writes it")
}

// openGuide opens the directory so that no link in it leads out of it.
func openGuide(lab string) (dir string, root *os.Root, err error) {
	if dir, err = guideDir(lab); err != nil {
		return "", nil, err
	}
	root, err = os.OpenRoot(dir)
	return dir, root, err
}

func buildSite(guide fs.FS, lab string) (*site.Site, error) {
	s, err := site.BuildWith(guide, diagnosis())
	if err != nil {
		return nil, cli.Hint(err, "if files of the guide were edited or are missing, bootlab generate "+lab+" --force writes them again")
	}
	return s, nil
}

func runSiteBuild(io cli.Streams, lab, out string, force bool, format *cli.Format) error {
	// A guide can have thousands of pages, and most of what each needs is garbage
	// when it is written.
	defer debug.SetGCPercent(debug.SetGCPercent(200))
	dir, root, err := openGuide(lab)
	if err != nil {
		return err
	}
	defer root.Close()
	s, err := buildSite(root.FS(), lab)
	if err != nil {
		return err
	}
	if out == "" {
		out = filepath.Join(dir, "site")
		if info, err := os.Lstat(out); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return cli.Hint(fmt.Errorf("%s is a link", out), "remove it, or name where it leads with --to")
		}
	}
	output, err := siteOutput(s, dir)
	if err != nil {
		return err
	}
	report, err := output.Write(out, generator.WriteOptions{Force: force})
	if err != nil {
		return cli.WriteError(out, err)
	}
	if format.Is(cli.JSON) {
		return cli.WriteWritten(io, out, report)
	}
	_, err = fmt.Fprintf(io.Out, "%s: %d files written, %d unchanged, %d removed\n\nopen: %s\n", out,
		len(report.Written), len(report.Unchanged), len(report.Removed), filepath.Join(out, "index.html"))
	for _, kept := range report.Kept {
		fmt.Fprintf(io.Out, "kept your edits as %s\n", filepath.Join(out, kept))
	}
	return err
}

// siteOutput gives the files of the site the mode of the guide they come from:
// where that is closed to others, so are they.
func siteOutput(s *site.Site, dir string) (*generator.Output, error) {
	info, err := os.Stat(filepath.Join(dir, "guide.json"))
	if err != nil {
		return nil, err
	}
	output := &generator.Output{}
	for _, name := range s.Names() {
		output.Files = append(output.Files, generator.File{Path: name, Mode: info.Mode().Perm() &^ 0o111,
			Write: func(w goio.Writer) error { return s.Write(w, name) }})
	}
	return output, nil
}

func runSiteServe(ctx context.Context, io cli.Streams, lab, listen string) error {
	dir, root, err := openGuide(lab)
	if err != nil {
		return err
	}
	defer root.Close()
	source := &siteSource{guide: root.FS()}
	source.changed() // what changes from now on is a change
	if source.built, err = buildSite(source.guide, lab); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return cli.Hint(err, "choose another port with --listen 127.0.0.1:PORT")
	}
	live := site.Live{
		Rebuild: source.rebuild,
		Report:  func(err error) { cli.PrintError(io.Err, fmt.Errorf("the guide changed and cannot be shown: %w", err)) },
		States:  func() map[string]site.State { return labStates(dir, source.built.Pages()) },
		Clock:   Clock(dir),
	}
	live.Names, live.Addresses = openTo(listen, listener)
	if live.Addresses {
		fmt.Fprintf(io.Err, "warning: everybody who reaches %s can read this lab's guide and how far it is; nothing is encrypted and no password is asked for\n", listener.Addr())
	}
	if info, err := os.Stat(filepath.Join(dir, "guide.json")); err == nil && info.Mode().Perm()&0o044 == 0 {
		fmt.Fprintln(io.Err, "warning: the files of this lab hold the login of a proxy; every user of this machine can read what is served")
	}
	if _, err := fmt.Fprintf(io.Out, "http://%s/ (Ctrl-C ends it)\n", listener.Addr()); err != nil {
		return err
	}
	return serveSite(ctx, listener, source.built.Handler(live))
}

// openTo says under which names others reach a server that listens on more than
// a loopback address, and whether it does.
func openTo(listen string, listener net.Listener) (names []string, others bool) {
	address, err := netip.ParseAddrPort(listener.Addr().String())
	if err == nil && address.Addr().Unmap().IsLoopback() {
		return nil, false
	}
	if host, _, err := net.SplitHostPort(listen); err == nil && host != "" {
		names = append(names, host)
	}
	if name, err := os.Hostname(); err == nil {
		names = append(names, name)
	}
	return names, true
}

// serveSite answers until the context ends, and lets answers under way finish.
func serveSite(ctx context.Context, listener net.Listener, handler *site.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go handler.Watch(watching, siteLook)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	soon, cancel := context.WithTimeout(context.Background(), siteStop)
	defer cancel()
	if err := server.Shutdown(soon); err != nil {
		server.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// siteSource builds the site again when a file of the guide is another.
type siteSource struct {
	guide fs.FS
	seen  string
	built *site.Site
}

func (s *siteSource) rebuild() (*site.Site, error) {
	before := s.seen
	if !s.changed() {
		return nil, nil
	}
	built, err := site.BuildWith(s.guide, diagnosis())
	if err != nil {
		// Generate may be half way: the next look tries again.
		s.seen = before
		return nil, err
	}
	s.built = built
	return built, nil
}

// changed compares names, sizes and times with the last look.
func (s *siteSource) changed() bool {
	now := ""
	for _, pattern := range []string{"guide.json", "README.md", "guide/*.md", "guide/*/*.md", "guide/pictures/*.svg", "scripts/*.sh", "scripts/*/*"} {
		names, err := fs.Glob(s.guide, pattern)
		if err != nil {
			return false
		}
		for _, name := range names {
			if info, err := fs.Stat(s.guide, name); err == nil {
				now += fmt.Sprintln(name, info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	changed := now != s.seen
	s.seen = now
	return changed
}
