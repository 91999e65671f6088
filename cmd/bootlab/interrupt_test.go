package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
)

// What a node says must not reach the terminal as it is.
func TestErrorsDoNotControlTheTerminal(t *testing.T) {
	for _, err := range []error{
		cli.Hint(errors.New("a\x1b]0;title\x07b\u202ec\n\tsecond"), "h\x1b[2J"),
		labs.Problems{{Message: "a\x1b[31mb"}},
	} {
		var out bytes.Buffer
		cli.PrintError(&out, err)
		if strings.ContainsAny(out.String(), "\x1b\x07\u202e") {
			t.Errorf("%q", out.String())
		}
	}
	var out bytes.Buffer
	cli.PrintError(&out, errors.New("first\n\tsecond"))
	if out.String() != "error: first\n\tsecond\n" {
		t.Errorf("%q", out.String())
	}
}

// The first signal ends what is running, the second the program: here the test,
// started again for that.
func TestTheSecondInterruptIsNotCaught(t *testing.T) {
	const again = "BOOTLAB_TEST_INTERRUPT"
	if os.Getenv(again) != "" {
		c := &cobra.Command{}
		c.SetContext(context.Background())
		ctx, stop := cli.UntilInterrupted(c)
		defer stop()
		fmt.Println("ready")
		<-ctx.Done()
		time.Sleep(500 * time.Millisecond) // until it is no longer caught
		fmt.Println("first")
		time.Sleep(time.Minute)
		return
	}
	c := exec.Command(os.Args[0], "-test.run=^TestTheSecondInterruptIsNotCaught$", "-test.v")
	c.Env = append(os.Environ(), again+"=1")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	heard := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if text := lines.Text(); text == "ready" || text == "first" {
			heard++
			c.Process.Signal(syscall.SIGTERM)
		}
	}
	c.Wait()
	if status := c.ProcessState.Sys().(syscall.WaitStatus); heard != 2 || !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Errorf("it heard %d signals and ended with %v", heard, c.ProcessState)
	}
}

// Whatever reads a bundle stops, says that it was interrupted, and leaves nothing.
func TestAnInterruptEndsReadingABundle(t *testing.T) {
	lab := newLab(t)
	putLocalRun(t, lab, map[string]string{"assets/make-pki.done": "", "host/var/log/openshift/bootkube.json": handRecord})
	file := filepath.Join(t.TempDir(), "x.tar.gz")
	if _, stderr, status := bootlab("gather", lab, "--to", file); status != exitDone {
		t.Fatal(stderr)
	}
	t.Setenv("TMPDIR", t.TempDir())
	ctx, stop := context.WithCancel(context.Background())
	stop()
	for _, command := range []string{"diagnose", "verify", "timeline"} {
		var out, stderr bytes.Buffer
		root := newRootCommand(cli.Streams{In: strings.NewReader(""), Out: &out, Err: &stderr})
		root.SetArgs([]string{command, lab, "--from", file})
		if err := root.ExecuteContext(ctx); !errors.Is(err, cli.ErrInterrupted) || out.Len() > 0 {
			t.Errorf("%s: %v\n%s%s", command, err, out.String(), stderr.String())
		}
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
