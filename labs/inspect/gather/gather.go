// Package gather collects what is to be known of a bootstrap into one archive
// that can be given away: whatever is secret is masked before anything is written.
package gather

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/mask"
)

// Options are what a gathering needs beside the lab.
type Options struct {
	Version string // of bootlab
	Masker  *mask.Masker
	// Progress hears of each thing as it comes; may be nil.
	Progress func(host.Found)
	// Timeout is how long the machines are asked; 0 is without end.
	Timeout time.Duration
}

// maskPatience is how long masking may take when the time is up; what is not
// masked by then is left out.
const maskPatience = time.Minute

// Bundle is what was gathered and masked, ready to be written.
type Bundle struct {
	Index host.Index
	files map[string][]byte
	size  int
}

// largestBundle bounds the texts of a bundle, in bytes before they are packed.
const largestBundle = 512 << 20

// Gather asks the lab's machines for the evidence that diagnose judges, and for
// what support wants beside it. It never fails: what could not be had in time, or
// until ctx ends, is named in the bundle.
func Gather(ctx context.Context, plan *labs.Plan, hosts *host.Hosts, o Options) *Bundle {
	evidence := labs.BuiltinDiagnosis().For(plan).Evidence
	b := &Bundle{files: map[string][]byte{}, Index: host.Index{
		Version: host.IndexVersion, Bootlab: o.Version, Release: plan.Release.ID, Local: hosts.Local,
		Begun: time.Now().UTC().Round(0), Lab: plan.Lab.Settings()}}
	// A machine is asked in this order: evidence first.
	all := append(slices.Clip(evidence), extras()...)
	asking, stopAsking := o.within(ctx, o.Timeout)
	found := hosts.Collect(asking, plan.Lab, all, o.Progress)
	stopAsking()
	b.Index.Ended = time.Now().UTC().Round(0)
	masking, stopMasking := o.within(ctx, max(o.Timeout-b.Index.Ended.Sub(b.Index.Begun), maskPatience))
	defer stopMasking()
	g := &gathering{ctx: masking, b: b, lab: plan.Lab, m: o.Masker}
	// What is evidence has its place first.
	for i, f := range found {
		if slices.Contains(evidence, f.Evidence) {
			g.evidence(f)
			found[i].Text = nil
		}
	}
	for i, f := range found {
		if !slices.Contains(evidence, f.Evidence) {
			g.extra(f)
			found[i].Text = nil
		}
	}
	g.releaseImage()
	b.Index.Masked = o.Masker.Counts()
	return b
}

// within is a part of the time, if there is an end to it.
func (o *Options) within(ctx context.Context, part time.Duration) (context.Context, context.CancelFunc) {
	if o.Timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, part)
}

// Collected is how many pieces of evidence could be had.
func (b *Bundle) Collected() int {
	n := 0
	for _, e := range b.Index.Evidence {
		if e.Problem == "" {
			n++
		}
	}
	return n
}

// gathering fills a bundle.
type gathering struct {
	ctx context.Context // its end ends masking; what is not masked is left out
	b   *Bundle
	lab *labs.Lab
	m   *mask.Masker
}

// folder is where a machine's files go.
func (g *gathering) folder(f host.Found) string {
	if f.Node == "" {
		return ""
	}
	for _, m := range g.lab.Machines.Masters {
		if m.Name == f.Node && m.Address != "" {
			return path.Join("control-plane", m.Address)
		}
	}
	return path.Join("control-plane", f.Node)
}

func (g *gathering) text(s string) string { return string(g.m.Bytes([]byte(s))) }

// late is why something is left out that was not masked in time.
const late = "the time was up before it was masked"

func (g *gathering) evidence(f host.Found) {
	if g.ctx.Err() != nil {
		f = host.Found{Evidence: f.Evidence, Node: f.Node, At: f.At, Took: f.Took, Problem: late}
	}
	entry := host.Entry{ID: f.Evidence.ID, Node: f.Node, Status: f.Status, Complaint: g.text(f.Complaint),
		Problem: g.text(f.Problem), At: f.At.Round(0), Took: f.Took, Cut: f.Cut}
	if !f.Had && entry.Problem == "" {
		entry.Problem = "it could not be collected"
	}
	if len(f.Text) > 0 {
		file := path.Join(g.folder(f), f.Evidence.File)
		if g.add(file, g.masked(f)) {
			entry.File = file
		} else {
			entry.Problem = "the bundle is full"
		}
	}
	g.b.Index.Evidence = append(g.b.Index.Evidence, entry)
}

// masked is the text without secrets. Where its beginning is missing, so is that
// of its first line, by which a secret might be known.
func (g *gathering) masked(f host.Found) []byte {
	text := f.Text
	if f.Cut {
		if i := bytes.IndexByte(text[:min(len(text), 64<<10)], '\n'); i >= 0 {
			text = text[i+1:]
		}
	}
	return g.m.Document(text)
}

// extra adds the files of one.
func (g *gathering) extra(f host.Found) {
	if f.Evidence.Run == "" || g.b.Index.Local && f.Evidence.Local == "" {
		return
	}
	of := f.Evidence.Title
	if f.Node != "" {
		of += ", " + f.Node
	}
	switch {
	case g.ctx.Err() != nil:
		g.missing("%s: %s", of, late)
		return
	case f.Problem != "":
		g.missing("%s: %s", of, g.text(f.Problem))
	case f.Cut:
		g.missing("%s: there is too much; the first files are left out", of)
	case f.Status != 0:
		g.missing("%s: %s", of, firstLine(g.text(f.Complaint)))
	}
	folder := path.Join(g.folder(f), f.Evidence.File)
	for _, p := range packedFiles(f.Text) {
		if g.ctx.Err() != nil {
			g.missing("%s: some files: %s", of, late)
			return
		}
		place := p.place(folder)
		if place == "" {
			g.missing("%s: %q is left out for its name", of, g.text(p.name))
			continue
		}
		text, err := p.unpack()
		if errors.Is(err, mask.ErrNoText) {
			g.missing("%s: %s is left out: %v", of, place, err)
			continue
		}
		if err != nil {
			g.missing("%s: %s: %v", of, place, err)
		}
		if len(text) > 0 && g.b.files[place] == nil {
			g.add(place, g.m.Document(text))
		}
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if line == "" {
		return "it ended without a word"
	}
	return line
}

func (g *gathering) missing(format string, args ...any) {
	const most = 1000
	if len(g.b.Index.Missing) < most {
		g.b.Index.Missing = append(g.b.Index.Missing, fmt.Sprintf(format, args...))
	}
}

// add takes a masked file while there is room. What ends in .gz is packed.
func (g *gathering) add(name string, text []byte) bool {
	if g.b.size+len(text) > largestBundle {
		g.missing("%s: the bundle is full", name)
		return false
	}
	g.b.size += len(text)
	if strings.HasSuffix(name, ".gz") {
		text = packed(text)
	}
	g.b.files[name] = text
	return true
}

func packed(text []byte) []byte {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	zip.Write(text)
	zip.Close()
	return out.Bytes()
}
