package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
	"bootlab/labs/audit"
)

// How long a node or a registry may take to answer.
const (
	hostPatience  = time.Minute
	imagePatience = 10 * time.Minute
)

var (
	sshUser = regexp.MustCompile(`^[a-z_][a-z0-9_-]{0,31}$`)
	// Labels of a DNS name: none begins with a dash, so that no name is an
	// option of ssh.
	sshName  = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$`)
	imageRef = regexp.MustCompile(`^[a-z0-9][A-Za-z0-9._:/@-]{0,511}$`)
)

// checkHost refuses what is not user@address.
func checkHost(host string) error {
	user, address, ok := strings.Cut(host, "@")
	if !ok {
		address = user
	}
	_, notIP := netip.ParseAddr(address)
	if ok && !sshUser.MatchString(user) || notIP != nil && (!sshName.MatchString(address) || len(address) > 253) || strings.Contains(address, "%") {
		return cli.Usage(cli.Hint(fmt.Errorf("--host %q is no user and address", host), "as in --host core@192.168.126.10"))
	}
	return nil
}

// fromHost reads the script on a bootstrap node while ssh prints it. A node
// that prints without end is cut off at the limit.
func fromHost(host string) (*audit.Script, error) {
	if err := checkHost(host); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(context.Background(), hostPatience)
	defer stop()
	cmd := exec.CommandContext(ctx, "ssh", "-o", "BatchMode=yes", "--", host, "sudo cat "+audit.BootkubePath)
	complaint := &firstBytes{limit: 4096}
	cmd.Stderr = complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, cli.Hint(err, "audit --host calls the system's ssh; install it")
	}
	script, parseErr := audit.Parse(out, audit.DefaultLimits)
	if parseErr != nil {
		stop()
	}
	if err := cmd.Wait(); err != nil && (parseErr == nil || complaint.Len() > 0) {
		return nil, cli.Hint(fmt.Errorf("ssh %s: %w: %s", host, err, cli.Visible(strings.TrimSpace(complaint.String()))),
			"try: ssh "+host+" sudo cat "+audit.BootkubePath)
	}
	return script, parseErr
}

// firstBytes keeps the beginning of what is written to it.
type firstBytes struct {
	bytes.Buffer
	limit int
}

func (f *firstBytes) Write(p []byte) (int, error) {
	if room := f.limit - f.Len(); room > 0 {
		f.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// auditHelp asks the images of a release which flags their commands take, and
// compares with the release that was chosen or fits best.
func auditHelp(image, release string) (*audit.Report, error) {
	if !imageRef.MatchString(image) {
		return nil, cli.Usage(cli.Hint(fmt.Errorf("--render-help %q is no image", image), "give the pull spec of a release image"))
	}
	catalog := labs.Builtin()
	releases := []string{release}
	if release == "" {
		releases = catalog.ReleaseIDs()
	}
	asked := &helpAnswers{release: image, images: map[string]string{}, flags: map[string][]string{}}
	var best *audit.Report
	for _, id := range releases {
		help, silent := map[string][]string{}, map[string]string{}
		for _, q := range audit.HelpQuestions(catalog, id) {
			flags, err := asked.ask(q)
			switch {
			case err == nil:
				help[q.Stage] = flags
			case errors.Is(err, exec.ErrNotFound):
				return nil, err
			default:
				silent[q.Stage] = err.Error()
			}
		}
		// A release in which no command answers is none, or cannot be pulled.
		if len(help) == 0 {
			_, err := asked.ask(audit.HelpQuestions(catalog, id)[0])
			return nil, err
		}
		if r := audit.CompareHelp(catalog, id, help, silent); best == nil || r.Unknown <= best.Unknown {
			best = r
		}
	}
	best.Detected = release == ""
	return best, nil
}

// helpAnswers remembers what the images answered, since releases share most
// questions.
type helpAnswers struct {
	release string
	images  map[string]string
	flags   map[string][]string
}

func (h *helpAnswers) ask(q audit.HelpQuestion) ([]string, error) {
	key := q.Image + " " + strings.Join(q.Command, " ")
	if flags, known := h.flags[key]; known {
		return flags, nil
	}
	image, err := h.image(q.Image)
	if err != nil {
		return nil, err
	}
	text, err := podmanRun(append(append([]string{image}, q.Command...), "--help")...)
	if err != nil {
		return nil, err
	}
	flags, err := audit.ParseHelp(text)
	if err != nil {
		return nil, cli.AuditError("the help of "+key, err)
	}
	h.flags[key] = flags
	return flags, nil
}

// image asks the release image for the pull spec of a payload name.
func (h *helpAnswers) image(payload string) (string, error) {
	if payload == "release" {
		return h.release, nil
	}
	if ref, known := h.images[payload]; known {
		return ref, nil
	}
	text, err := podmanRun(h.release, "image", payload)
	if err != nil {
		return "", err
	}
	ref := strings.TrimSpace(text)
	if !imageRef.MatchString(ref) {
		return "", fmt.Errorf("the release names %q as image %s, which is no image", cli.Visible(ref), payload)
	}
	h.images[payload] = ref
	return ref, nil
}

// podmanRun gives what a container prints. It has no network.
func podmanRun(args ...string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), imagePatience)
	defer stop()
	out, complaint := &firstBytes{limit: 1 << 20}, &firstBytes{limit: 4096}
	cmd := exec.CommandContext(ctx, "podman", append([]string{"run", "--quiet", "--rm", "--network=none"}, args...)...)
	cmd.Stdout, cmd.Stderr = out, complaint
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", cli.Hint(err, "audit --render-help runs the images with podman; install it")
	case err != nil:
		return "", cli.Hint(fmt.Errorf("podman run %s: %w: %s", strings.Join(args, " "), err, cli.Visible(strings.TrimSpace(complaint.String()))),
			"run the same command by hand")
	}
	if strings.TrimSpace(out.String()) == "" {
		return complaint.String(), nil
	}
	return out.String(), nil
}
