package host

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"bootlab/labs"
)

// glancePatience bounds each thing that is looked at in a glance.
const glancePatience = 20 * time.Second

// look prints what a line of bash does as one line: its output, its status and
// its complaint. Like glance it keeps no files.
const look = `look() { # SECONDS BYTES LINE
  local complaint status
  { complaint="$({ timeout --kill-after=1 "$1" bash --noprofile --norc -c "$3" 2>&3 | tail --bytes="$2" | base64 --wrap=0 >&4
    exit "${PIPESTATUS[0]}"; } 3>&1)"; status=$?; } 4>&1
  printf ' %s %s\n' "${status}" "$(printf %s "${complaint}" | tail --bytes=300 | base64 --wrap=0)"
}
`

// Glance collects several pieces of evidence from one machine by one line of bash,
// in which they run in parallel. It is quicker than [Hosts.Collect], for a command
// that looks again and again. node names the master; all evidence is for the same
// machine. An error says that the machine could not be asked.
func (p *Hosts) Glance(ctx context.Context, lab *labs.Lab, node string, evidence []*labs.Evidence) ([]Found, error) {
	g, err := p.groupOf(ctx, lab, node, evidence)
	if err != nil {
		return nil, err
	}
	lines, seconds, limit := p.glance(g.lines)
	ctx, cancel := context.WithTimeout(ctx, seconds+glancePatience)
	defer cancel()
	at := time.Now().UTC()
	r, err := g.host.Run(ctx, "set -a\n"+p.Preamble(lab)+g.options+"set +a\nexport -f oc 2> /dev/null\n"+look+lines, limit)
	if err != nil {
		return nil, err
	}
	return read(g, r.Out, at, time.Since(at))
}

// groupOf is the one group that the evidence belongs to.
func (p *Hosts) groupOf(ctx context.Context, lab *labs.Lab, node string, evidence []*labs.Evidence) (*asked, error) {
	for _, g := range p.groups(ctx, lab, evidence) {
		switch {
		case len(g.lines) == 0 || g.node != node:
		case g.host == nil:
			return nil, errors.New(g.why)
		default:
			return &g, nil
		}
	}
	return nil, errors.New("there is no such machine")
}

// glance is the script that looks at all of them, how long it may take, and how
// much it may print. Each runs behind a descriptor of its own, and they are read
// in order.
func (p *Hosts) glance(evidence []*labs.Evidence) (script string, longest time.Duration, limit int) {
	var begin, read strings.Builder
	for i, e := range evidence {
		line := e.Run
		if p.Local {
			line = e.Local
		}
		patience := min(e.Timeout(), glancePatience)
		longest = max(longest, patience)
		size := e.Limit << 10
		limit += base64.StdEncoding.EncodedLen(size) + 1<<10
		fmt.Fprintf(&begin, "exec {f%d}< <(look %g %d %s)\n", i, patience.Seconds(), size, quote(line))
		fmt.Fprintf(&read, "cat <&\"${f%d}\"\n", i)
	}
	return begin.String() + read.String(), longest, limit
}

// read takes apart what look printed.
func read(g *asked, out []byte, at time.Time, took time.Duration) ([]Found, error) {
	lines := bytes.Split(bytes.TrimSuffix(out, []byte("\n")), []byte("\n"))
	if len(lines) != len(g.lines) {
		return nil, fmt.Errorf("%s: its answer is torn: %d of %d lines", g.host.Name(), len(lines), len(g.lines))
	}
	found := make([]Found, len(lines))
	for i, line := range lines {
		f := Found{Evidence: g.lines[i], Node: g.node, At: at, Took: took}
		if err := f.take(line); err != nil {
			f.Problem = g.host.Name() + ": its answer is torn"
		}
		found[i] = f
	}
	return found, nil
}

// timedOut is the status of timeout when it ended a command.
const timedOut = 124

func (f *Found) take(line []byte) error {
	words := strings.Split(string(line), " ")
	if len(words) != 3 {
		return errors.New("not three words")
	}
	status, err := strconv.Atoi(words[1])
	if err != nil {
		return err
	}
	text, err := base64.StdEncoding.DecodeString(words[0])
	if err != nil {
		return err
	}
	complaint, err := base64.StdEncoding.DecodeString(words[2])
	if err != nil {
		return err
	}
	f.Text, f.Status, f.Complaint = text, status, string(complaint)
	f.Cut = len(text) >= f.Evidence.Limit<<10
	f.Had = status != timedOut
	if !f.Had {
		f.Problem = "no answer in time"
	}
	return nil
}
