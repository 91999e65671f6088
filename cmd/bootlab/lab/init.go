package lab

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
)

func newInitCommand(io cli.Streams) *cobra.Command {
	var from string
	c := &cobra.Command{
		Use:   "init DIR",
		Short: "Write a commented lab.yaml into a new directory",
		Long: `Write DIR/lab.yaml with every key, its default and its explanation. The
directory's name becomes the name of the cluster. An existing lab.yaml is never
overwritten.`,
		Example: `  bootlab init mylab
  bootlab init mylab --from ha`,
		RunE: func(_ *cobra.Command, args []string) error { return runInit(io, args[0], from) },
	}
	c.Flags().StringVar(&from, "from", "compact", "the lab to start from; bootlab labs lists them")
	_ = c.RegisterFlagCompletionFunc("from", cli.Words(exampleNames()...))
	return c
}

func exampleNames() []string {
	var names []string
	for _, e := range labs.ExampleList() {
		names = append(names, e.Name)
	}
	return names
}

func runInit(io cli.Streams, dir, from string) error {
	if names := exampleNames(); !slices.Contains(names, from) {
		return cli.Unknown(fmt.Errorf("--from %q is no lab to start from", from), from, names, "there are "+strings.Join(names, ", "))
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	text, err := labs.Commented(from, filepath.Base(absolute), newUID())
	if err != nil {
		return cli.Hint(err, "the directory's name becomes the cluster's")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	file := filepath.Join(dir, "lab.yaml")
	if err := writeNew(file, text); err != nil {
		return err
	}
	_, err = fmt.Fprintf(io.Out, "wrote %s\nnext: read it, then bootlab generate %s\n", file, dir)
	return err
}

// newUID is the identity of a new lab, at random.
func newUID() string {
	var random [labs.UIDBytes]byte
	rand.Read(random[:]) // it never fails, see crypto/rand
	return labs.UID(random)
}

// writeNew writes a file that must not exist yet, whole or not at all.
func writeNew(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".lab-*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	err = os.Link(f.Name(), path)
	if errors.Is(err, fs.ErrExist) {
		return cli.Hint(fmt.Errorf("%s exists already", path), "choose another directory, or remove the file if you do not want it")
	}
	return err
}
