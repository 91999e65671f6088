// Package recording runs the commands that the front page shows, holds their
// output against the page, and draws a terminal session as an SVG picture.
package recording

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"bootlab/test/checkout"
)

// parts of the checkout are all that ./setup lab reads.
var parts = []string{"cmd", "generator", "labs", "site", "standin", "templates", "vms", "go.mod", "go.sum", "setup"}

// Programs are those that ./setup lab installs where they are missing. A test
// installs nothing, so all of them have to be there.
var Programs = []string{"bash", "go", "openssl", "jq", "flock", "podman", "newuidmap"}

// Session is a directory like a new clone, in which commands run.
type Session struct {
	Dir string
	// Env is added to the environment of the commands.
	Env []string
	// Offline is a process in whose network commands run, all but the first; 0 is
	// the network of this machine.
	Offline int
	ran     bool
}

// NewSession copies what a clone has into an empty directory.
func NewSession(dir string) (*Session, error) {
	for _, part := range parts {
		from, to := filepath.Join(checkout.Root(), part), filepath.Join(dir, part)
		info, err := os.Stat(from)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			err = os.CopyFS(to, os.DirFS(from))
		} else {
			err = copyFile(from, to, info.Mode())
		}
		if err != nil {
			return nil, err
		}
	}
	return &Session{Dir: dir}, nil
}

func copyFile(from, to string, mode os.FileMode) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, mode)
}

// limit ends a command that hangs.
const limit = 10 * time.Minute

// Run gives the lines that a command prints. Each answer is what a person types
// at a question, and stands behind it as on a terminal.
func (s *Session) Run(command string, answers ...string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	words := []string{"bash", "-c", command}
	if s.Offline != 0 && s.ran {
		words = append([]string{"nsenter", fmt.Sprintf("--net=/proc/%d/ns/net", s.Offline)}, words...)
	}
	s.ran = true
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = s.Dir
	// The copy has another path in each run: without paths the build is cached.
	cmd.Env = append(append(os.Environ(), s.Env...), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -trimpath"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if len(answers) > 0 {
		cmd.Stdin = strings.NewReader(strings.Join(answers, "\n") + "\n")
	}
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", command, err, out.String())
	}
	text, err := typed(out.String(), answers)
	return strings.Split(strings.TrimRight(text, "\n"), "\n"), err
}

// question is what --step asks before each step.
var question = regexp.MustCompile(`(?m)\[Enter\] .*?q stop: `)

// typed puts the answers behind the questions.
func typed(text string, answers []string) (string, error) {
	asked := question.FindAllStringIndex(text, -1)
	if len(asked) != len(answers) {
		return "", fmt.Errorf("%d questions and %d answers:\n%s", len(asked), len(answers), text)
	}
	var out strings.Builder
	at := 0
	for i, q := range asked {
		out.WriteString(text[at:q[1]] + answers[i] + "\n")
		at = q[1]
	}
	return out.String() + text[at:], nil
}
