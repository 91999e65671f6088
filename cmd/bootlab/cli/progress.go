package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
)

// How often a bar is drawn again, and how often a line is written where there is no
// terminal: then each tenth has one too.
const (
	barPause  = 200 * time.Millisecond
	linePause = 2 * time.Second
	barWidth  = 24
)

// Progress tells how far a transfer of bytes is: as a bar on a terminal, else as
// plain lines.
type Progress struct {
	to  io.Writer
	bar bool
	now func() time.Time

	doing       string
	from        int64 // of which it began: what was there already is not counted
	began, last time.Time
	told        int64
	drawn       bool
}

// NewProgress tells it on a stream.
func NewProgress(to io.Writer) *Progress {
	file, isFile := to.(*os.File)
	bar := isFile && isatty.IsTerminal(file.Fd()) && os.Getenv("TERM") != "" && os.Getenv("TERM") != "dumb"
	return &Progress{to: to, bar: bar, now: time.Now, told: -1}
}

// Bytes tells that of total bytes so many are done; total is 0 if it is not known.
func (p *Progress) Bytes(doing string, done, total int64) {
	now := p.now()
	if doing != p.doing {
		p.End()
		p.doing, p.from, p.began, p.told, p.last = doing, done, now, -1, time.Time{}
	}
	pause := linePause
	if p.bar {
		pause = barPause
	}
	tenth := !p.bar && total > 0 && p.told >= 0 && done*10/total != p.told*10/total
	if done == p.told || p.told >= 0 && done != total && !tenth && now.Sub(p.last) < pause {
		return
	}
	p.told, p.last = done, now
	text := fmt.Sprintf("  %-6s %s", doing, p.state(done, total, now))
	if !p.bar {
		fmt.Fprintln(p.to, text)
		return
	}
	fmt.Fprintf(p.to, "\r%s\x1b[K", text)
	p.drawn = true
}

// End leaves what was drawn last, so that other lines come below it.
func (p *Progress) End() {
	if p.drawn {
		fmt.Fprintln(p.to)
	}
	p.drawn = false
}

// state says how far it is, how fast, and how long it will still take.
func (p *Progress) state(done, total int64, now time.Time) string {
	if total <= 0 {
		return fmt.Sprintf("%d MiB", done>>20) + rate(done-p.from, now.Sub(p.began))
	}
	text := fmt.Sprintf("%3d%% of %d MiB", done*100/total, total>>20)
	if p.bar {
		full := int(min(done, total) * barWidth / total)
		text = "[" + strings.Repeat("#", full) + strings.Repeat(".", barWidth-full) + "] " + text
	}
	took := now.Sub(p.began)
	text += rate(done-p.from, took)
	if moved := done - p.from; moved > 0 && done < total && took >= time.Second {
		text += ", " + Short(time.Duration(float64(took)/float64(moved)*float64(total-done))) + " left"
	}
	return text
}

// rate says how fast bytes came; empty in the first second, when nothing can be said.
func rate(moved int64, took time.Duration) string {
	if took < time.Second || moved <= 0 {
		return ""
	}
	return fmt.Sprintf(", %.1f MiB/s", float64(moved)/(1<<20)/took.Seconds())
}
