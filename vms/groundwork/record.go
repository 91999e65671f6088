package groundwork

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"

	"bootlab/vms"
	"bootlab/vms/state"
)

// recordFile is the state that holds what was changed on the host.
const recordFile = "host.json"

// Made are the changes that were begun and not undone, in their order.
func Made(dir *state.Dir) ([]Change, error) {
	var made []Change
	_, err := dir.Recall(recordFile, &made)
	return made, err
}

// Make makes changes. Each is written down before its first line runs, so one that was
// killed half-way is undone like one that was made. The first line that fails is the
// error; what ran before it stays, and is written down.
func Make(ctx context.Context, dir *state.Dir, changes []Change, shell Shell) error {
	made, err := Made(dir)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if !slices.ContainsFunc(made, func(m Change) bool { return slices.Equal(m.Undo, c.Undo) }) {
			made = append(made, c)
			if err := dir.Remember(recordFile, made); err != nil {
				return err
			}
		}
		if err := shell.run(ctx, c.Do); err != nil {
			return err
		}
	}
	return nil
}

// Undo takes back what [Make] made, last first, and forgets each change when all of its
// lines have worked.
func Undo(ctx context.Context, dir *state.Dir, shell Shell) error {
	made, err := Made(dir)
	if err != nil {
		return err
	}
	for len(made) > 0 {
		last := len(made) - 1
		if err := shell.run(ctx, made[last].Undo); err != nil {
			return err
		}
		made = made[:last]
		if err := dir.Remember(recordFile, made); err != nil {
			return err
		}
	}
	return dir.Forget(recordFile)
}

// Shell runs lines with bash, and shows each before it runs. Where this program is
// root's, sudo is left out.
type Shell struct {
	In       io.Reader
	Out, Err io.Writer
	Root     bool
}

// rootSudo stands for sudo where there is none to be asked.
const rootSudo = `sudo() { "$@"; }; `

func (s Shell) run(ctx context.Context, lines []string) error {
	for _, line := range lines {
		fmt.Fprintln(s.Out, "+ "+line)
		text := line
		if s.Root {
			text = rootSudo + line
		}
		cmd := exec.CommandContext(ctx, "bash", "-c", text)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = s.In, s.Out, s.Err
		cmd.Env = append(os.Environ(), "LC_ALL=C")
		if err := cmd.Run(); err != nil {
			return &vms.Problem{Message: "this did not work: " + line, Err: err, Hint: "what it says stands above; bootlab host undo takes back what was done so far"}
		}
	}
	return nil
}
