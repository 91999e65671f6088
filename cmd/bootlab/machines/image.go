package machines

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	stdio "io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
	"bootlab/vms"
	"bootlab/vms/images"
	"bootlab/vms/libvirt"
	"bootlab/vms/provision"
	"bootlab/vms/state"
)

func newVMsImageCommand(io cli.Streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "image",
		Short: "Fetch, check and remove the disk images that machines start from",
		Long: `Keep CoreOS images for QEMU below XDG_CACHE_HOME (~/.cache) in bootlab/images,
for all labs of a user: unpacked, and each under the SHA-256 of its content.`,
		Example: `  bootlab vms image fetch mylab
  bootlab vms image list
  bootlab vms image verify
  bootlab vms image prune`,
	}
	c.AddCommand(newImageFetchCommand(io), newImageListCommand(io), newImageVerifyCommand(io), newImagePruneCommand(io))
	return c
}

func newImageFetchCommand(io cli.Streams) *cobra.Command {
	var streamFile, location string
	c := &cobra.Command{
		Use:   "fetch LAB",
		Short: "Fetch the CoreOS image of a lab's release",
		Long: `Fetch the image for QEMU that the lab's openshift-install names: get-tools.sh
takes that program out of the release image, and coreos print-stream-json prints
where the image is and which hashes it has. Both hashes are checked, that of the
packed file and that of the image. What was interrupted goes on when the command
is run again. From then on bootlab vms up takes this image.`,
		Example: `  bootlab vms image fetch mylab
  bootlab vms image fetch mylab --stream-json stream.json
  bootlab vms image fetch mylab --url https://mirror.example.test/scos-qemu.x86_64.qcow2.gz`,
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := cli.UntilInterrupted(c)
			defer stop()
			plan, err := cli.LoadPlan(io, args[0])
			if err != nil {
				return err
			}
			artifact, err := namedArtifact(ctx, io, plan.Lab.Dir, streamFile)
			if err == nil && location != "" {
				err = artifact.From(location)
			}
			if err != nil {
				return cli.VmsError(err)
			}
			err = fetchImage(ctx, io, artifact, plan.Lab.Dir)
			if ctx.Err() != nil {
				return cli.Hint(errors.New("interrupted"), "what is here stays; the same command goes on")
			}
			return cli.VmsError(err)
		},
	}
	c.Flags().StringVar(&streamFile, "stream-json", "", "stream metadata in a file, - for standard input (default what the lab's openshift-install prints)")
	c.Flags().StringVar(&location, "url", "", "fetch the same file from another place, as a mirror")
	return c
}

// namedArtifact is the image that stream metadata names.
func namedArtifact(ctx context.Context, io cli.Streams, dir, file string) (images.Artifact, error) {
	var text []byte
	var err error
	switch file {
	case "":
		text, err = printStream(ctx, filepath.Join(dir, "out", "work", "assets", "tools", "openshift-install"))
	case "-":
		text, err = stdio.ReadAll(io.In)
	default:
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return images.Artifact{}, err
	}
	return images.ParseStream(text)
}

// printStream asks the lab's own openshift-install, which needs no network for
// it.
func printStream(ctx context.Context, program string) ([]byte, error) {
	if _, err := os.Stat(program); err != nil {
		return nil, &vms.Problem{Message: "there is no openshift-install of the lab", Err: err,
			Hint: "run out/scripts/get-tools.sh first, or name stream metadata with --stream-json"}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "coreos", "print-stream-json")
	cmd.Stderr = &said
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s coreos print-stream-json: %w: %s", program, err, strings.TrimSpace(said.String()))
	}
	return text, nil
}

func fetchImage(ctx context.Context, io cli.Streams, artifact images.Artifact, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	cache, err := images.NewCache()
	if err != nil {
		return err
	}
	progress := cli.NewProgress(io.Out)
	cache.Progress = progress.Bytes
	fmt.Fprintf(io.Out, "%s %s from %s\n", artifact.Stream, artifact.Release, artifact.URL)
	fetched, err := cache.Fetch(ctx, artifact, dir)
	progress.End()
	if err != nil {
		return err
	}
	state, err := state.Open(filepath.Join(dir, "out"), false)
	if err != nil {
		return err
	}
	defer state.Close()
	if err := images.Remember(state, fetched.Image); err != nil {
		return err
	}
	_, err = fmt.Fprintf(io.Out, "%s: %d MiB, both hashes are right\nbootlab vms up takes it for this lab\n", fetched.File, fetched.Size>>20)
	return err
}

func newImageListCommand(io cli.Streams) *cobra.Command {
	var format *cli.Format
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the images that were fetched",
		Example: "  bootlab vms image list\n  bootlab vms image list --output json",
		RunE: func(*cobra.Command, []string) error {
			cache, err := images.NewCache()
			if err != nil {
				return cli.VmsError(err)
			}
			all, err := cache.List()
			if err != nil {
				return err
			}
			if format.Is(cli.JSON) {
				return cli.WriteJSON(io.Out, append([]images.Fetched{}, all...))
			}
			w := tabwriter.NewWriter(io.Out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "STREAM\tRELEASE\tSIZE\tSHA-256\tFOR")
			for _, f := range all {
				fmt.Fprintf(w, "%s\t%s\t%d MiB\t%.12s\t%s\n", orDash(f.Stream), orDash(f.Release), f.Size>>20, f.SHA256, orDash(strings.Join(f.Labs, ", ")))
			}
			return w.Flush()
		},
	}
	format = cli.FormatFlag(c, cli.Text, cli.JSON)
	return c
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func newImageVerifyCommand(io cli.Streams) *cobra.Command {
	c := &cobra.Command{
		Use:     "verify",
		Short:   "Read every fetched image and hold it against its hash",
		Example: "  bootlab vms image verify",
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := cli.UntilInterrupted(c)
			defer stop()
			cache, err := images.NewCache()
			if err != nil {
				return cli.VmsError(err)
			}
			bad := 0
			err = cache.Verify(ctx, func(f images.Fetched, err error) {
				if err != nil {
					bad++
					fmt.Fprintln(io.Out, err)
					return
				}
				fmt.Fprintf(io.Out, "%s is right\n", f.File)
			})
			if err == nil && bad > 0 {
				err = cli.Found(cli.Hint(fmt.Errorf("%s damaged", cli.Counted(bad, "image")), "remove them and fetch again: bootlab vms image fetch LAB"))
			}
			return err
		},
	}
	cli.SetEnds(c, cli.Ends{cli.ExitDone: "all are right", cli.ExitFound: "one is damaged"})
	return c
}

func newImagePruneCommand(io cli.Streams) *cobra.Command {
	var uri string
	c := &cobra.Command{
		Use:   "prune",
		Short: "Remove images that no lab uses",
		Long: `Remove what interrupted downloads left, fetched images that none of their labs
uses any more, and base images in libvirt's pool bootlab that no disk on this
host stands on. An image that is needed again is fetched again.`,
		Example: "  bootlab vms image prune",
		RunE: func(*cobra.Command, []string) error {
			cache, err := images.NewCache()
			if err != nil {
				return cli.VmsError(err)
			}
			removed := func(file string, size int64) { fmt.Fprintf(io.Out, "removed %s, %d MiB\n", file, size>>20) }
			if err := cache.Prune(images.UsedBy, removed); err != nil {
				return cli.VmsError(err)
			}
			host, err := libvirt.Connect(cmp.Or(uri, labs.LibvirtURI))
			if err != nil {
				fmt.Fprintln(io.Err, "warning: base images of libvirt were not looked at:", err)
				return nil
			}
			defer host.Close()
			return cli.VmsError(provision.PruneBases(host, func(v libvirt.VolumeState) { removed(v.Path, int64(v.Physical)) }))
		},
	}
	connectFlag(c, &uri)
	return c
}
