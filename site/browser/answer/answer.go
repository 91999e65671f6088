// Package answer is what the page diagnose shows of a bundle: the report of bootlab
// diagnose, and what the commands timeline and certificates say of the same machines.
package answer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"bootlab/labs/inspect/diagnose"
	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/record"
)

// Answer is what is shown of one bundle.
type Answer struct {
	// Report is what bootlab diagnose BUNDLE --output json prints, byte by byte, and
	// Markdown what it prints with --output markdown.
	Report   string `json:"report"`
	Markdown string `json:"markdown"`
	// Words are the verdict of a report without a cause; Limit says that a cloud has
	// part in the bootstrap.
	Words string `json:"words"`
	Limit string `json:"limit,omitempty"`
	// Notes say what was left out or cut in reading the bundle.
	Notes        []string      `json:"notes"`
	Collected    time.Time     `json:"collected"`
	Spans        []Span        `json:"spans"`
	Certificates []Certificate `json:"certificates"`
	Looked       []Looked      `json:"looked"`
}

// Span is one attempt in the time line.
type Span struct {
	Service string       `json:"service"`
	Kind    record.Kind  `json:"kind"`
	Name    string       `json:"name"`
	Attempt int          `json:"attempt"`
	Times   int          `json:"times,omitempty"`
	Start   *time.Time   `json:"start,omitempty"`
	Seconds *int         `json:"seconds,omitempty"`
	State   record.State `json:"state"`
	Error   string       `json:"error,omitempty"`
}

// Certificate is one of the certificate clock, at the time of the bundle.
type Certificate struct {
	File  string     `json:"file"`
	Also  int        `json:"also"` // other files that hold it
	Ends  time.Time  `json:"ends"`
	Lives int        `json:"lives"` // seconds
	Left  int        `json:"left"`  // seconds; negative where it has ended
	Level host.Level `json:"level"`
}

// Looked is a piece of evidence that was looked for.
type Looked struct {
	Title   string `json:"title"`
	Node    string `json:"node,omitempty"`
	File    string `json:"file"`
	Had     bool   `json:"had"`
	Problem string `json:"problem,omitempty"`
	Bytes   int    `json:"bytes"` // that were judged
	Cut     bool   `json:"cut"`   // not all of it was
}

// Of judges an archive. name is that of its file.
func Of(ctx context.Context, name string, archive io.Reader) (*Answer, error) {
	b, err := host.ReadBundle(ctx, name, archive)
	if err != nil {
		return nil, err
	}
	report, found, err := diagnose.JudgeWhole(b)
	if err != nil {
		return nil, err
	}
	a := &Answer{Words: report.Verdict.Words(), Limit: report.Limit(), Notes: b.Notes, Collected: b.Time(), Spans: []Span{}, Certificates: []Certificate{}}
	if a.Notes == nil {
		a.Notes = []string{}
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(report); err != nil {
		return nil, err
	}
	a.Report = text.String()
	text.Reset()
	report.WriteMarkdown(&text)
	a.Markdown = text.String()
	a.look(found)
	return a, a.chronicle(b)
}

// look lists what was looked at, and sets the certificate clock.
func (a *Answer) look(found []host.Found) {
	for _, f := range found {
		a.Looked = append(a.Looked, Looked{Title: f.Evidence.Title, Node: f.Node, File: f.Evidence.File, Had: f.Had, Problem: f.Problem, Bytes: len(f.Text), Cut: f.Cut})
		if f.Evidence.ID != "certificates" {
			continue
		}
		for _, ending := range host.Clock(host.ParseCertificates(f.Text), a.Collected) {
			for _, c := range ending.Certificates {
				a.Certificates = append(a.Certificates, Certificate{File: c.File, Also: len(c.Also), Ends: c.NotAfter, Level: ending.Level,
					Lives: int(c.NotAfter.Sub(c.NotBefore).Seconds()), Left: int(c.NotAfter.Sub(a.Collected).Seconds())})
			}
		}
	}
}

// chronicle reads the progress records.
func (a *Answer) chronicle(b *host.Bundle) error {
	services, err := record.Open(b.FS())
	if errors.Is(err, record.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, s := range record.Fold(record.TimeLine(services...)) {
		span := Span{Service: s.Service, Kind: s.Kind, Name: s.Name, Attempt: s.Attempt, Times: s.Times, State: s.State, Error: strings.TrimSpace(s.ErrorMessage)}
		if !s.Start.IsZero() {
			span.Start = &s.Start
		}
		if took, known := s.Took(); known {
			seconds := int(took.Seconds())
			span.Seconds = &seconds
		}
		a.Spans = append(a.Spans, span)
	}
	return nil
}
