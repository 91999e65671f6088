package inspect

import (
	"context"
	"fmt"
	stdio "io"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
	"bootlab/labs/inspect/check"
	"bootlab/labs/inspect/host"
)

// certificatesReport is what --output json writes. New keys may be added.
type certificatesReport struct {
	Lab          string               `json:"lab"`
	Place        string               `json:"place"` // local or lab
	Now          time.Time            `json:"now"`   // of the machine that asks
	Certificates []clockedCertificate `json:"certificates"`

	endings []host.Ending
}

// clockedCertificate is a certificate and how near its end is. Files are given
// below the asset directory, or with a leading slash on the host.
type clockedCertificate struct {
	host.Certificate
	Also  []string   `json:"also"`
	Level host.Level `json:"level"`
	Day   bool       `json:"day"` // it lives 24 hours or less
	// For is what the stages that make it say of it: who serves or asks with it.
	For string `json:"for,omitempty"`
}

func newCertificatesCommand(io cli.Streams) *cobra.Command {
	var place cli.Where
	var format *cli.Format
	c := &cobra.Command{
		Use:   "certificates LAB",
		Short: "Show which certificates expire when, and what stops working then",
		Long: `Show the certificates of the asset directory and of the bootstrap node in the
order in which they expire, each with its purpose. The serving certificates of the
bootstrap are valid for 24 hours after they were made. Keys are not read.`,
		Example: "  bootlab certificates mylab\n  bootlab certificates mylab --output json",
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := cli.UntilInterrupted(c)
			defer stop()
			return runCertificates(ctx, io, args[0], &place, format)
		},
	}
	format = cli.FormatFlag(c, cli.Text, cli.JSON)
	place.Flags(c)
	cli.SetEnds(c, cli.Ends{cli.ExitDone: "all are valid", cli.ExitFound: "one has expired or is not valid yet by this machine's clock",
		cli.ExitCannotTell: "those that were read are valid, but not all could be read"})
	return c
}

func runCertificates(ctx context.Context, io cli.Streams, lab string, place *cli.Where, format *cli.Format) error {
	plan, err := cli.LoadPlan(io, lab)
	if err != nil {
		return err
	}
	places, err := place.Hosts(plan.Lab)
	if err != nil {
		return cli.VmsError(err)
	}
	all, missing, err := collectCertificates(ctx, plan, places)
	if err != nil {
		return err
	}
	if len(all) == 0 && missing != nil {
		return missing
	}
	if len(all) == 0 {
		return cli.Hint(fmt.Errorf("%s has no certificates yet", lab), "make-pki.sh makes them, or unpack-bootstrap-ignition.sh takes the installer's")
	}
	r := newCertificatesReport(plan, places, all, time.Now().UTC())
	if format.Is(cli.JSON) {
		err = cli.WriteJSON(io.Out, r)
	} else {
		_, err = stdio.WriteString(io.Out, r.text())
	}
	if err == nil && !r.valid() {
		if missing != nil {
			fmt.Fprintf(io.Err, "warning: %s\n", cli.Harmless(missing.Error()))
		}
		return cli.Found(nil)
	}
	if err == nil && missing != nil {
		return cli.CannotTell(missing)
	}
	return err
}

// collectCertificates reads those of the lab where it is running. missing says
// why they are not all.
func collectCertificates(ctx context.Context, plan *labs.Plan, places *host.Hosts) (all []host.Certificate, missing, err error) {
	evidence := labs.BuiltinDiagnosis().Find("certificates")
	found := places.Collect(ctx, plan.Lab, []*labs.Evidence{evidence}, nil)
	if len(found) == 0 {
		return nil, nil, nil
	}
	f := found[0]
	if !f.Had {
		return nil, nil, cli.Hint(fmt.Errorf("the certificates cannot be read: %s", check.Plain(f.Problem)), "--local shows those of the workstation")
	}
	return host.ParseCertificates(f.Text), partly(f), nil
}

// partly is nil if the answer is whole.
func partly(f host.Found) error {
	switch {
	case f.Cut:
		return fmt.Errorf("not all certificates were read: they are longer than %d KiB", f.Evidence.Limit)
	case f.Status != 0:
		why := strings.TrimSpace(f.Complaint)
		if why == "" {
			why = fmt.Sprintf("what reads them ended with status %d", f.Status)
		}
		return cli.Hint(fmt.Errorf("not all certificates were read: %s", why), "what is shown is true, and not all")
	}
	return nil
}

func newCertificatesReport(plan *labs.Plan, places *host.Hosts, all []host.Certificate, now time.Time) *certificatesReport {
	r := &certificatesReport{Lab: plan.Lab.Metadata.Name, Place: "lab", Now: now.Truncate(time.Second),
		Certificates: []clockedCertificate{}, endings: host.Clock(all, now)}
	if places.Local {
		r.Place = "local"
	}
	leaf := map[string]string{} // the first certificate of each file
	for _, c := range all {
		if file := stagePath(places, c.File); leaf[file] == "" {
			leaf[file] = c.Fingerprint
		}
	}
	for _, e := range r.endings {
		for _, placed := range e.Certificates {
			c := clockedCertificate{Certificate: placed.Certificate, Also: []string{}, Level: e.Level, Day: e.Day}
			files := append([]string{placed.File}, placed.Also...)
			for i, file := range files {
				files[i] = stagePath(places, file)
			}
			c.For = purpose(plan, files, func(file string) bool { return leaf[file] == placed.Fingerprint })
			c.File, c.Also = files[0], append(c.Also, files[1:]...)
			r.Certificates = append(r.Certificates, c)
		}
	}
	return r
}

// stagePath is a file as the stages name it: below the asset directory, else on
// the host.
func stagePath(places *host.Hosts, file string) string {
	if rest, ok := strings.CutPrefix(file, strings.TrimSuffix(places.AssetDir, "/")+"/"); ok {
		return rest
	}
	return strings.TrimPrefix(file, strings.TrimSuffix(places.Root, "/"))
}

// purpose is what the stage that makes or copies a certificate says of it, and
// puts the file that it says it of first. Of several that hold the certificate,
// that one counts whose key is made beside it, and that begins with it: the others
// are bundles, or have their signer behind them.
func purpose(plan *labs.Plan, files []string, begins func(file string) bool) string {
	text, best, at := "", 0, 0
	say := func(file int, why string, rank int) {
		if rank > best {
			text, best, at = oneLine(why), rank, file
		}
	}
	for i, file := range files {
		key := strings.TrimSuffix(file, ".crt") + ".key"
		for _, s := range plan.Stages {
			for _, f := range s.Outputs {
				switch {
				case !f.Covers(file):
				case begins(file) && !strings.HasSuffix(f.Path, "/") && f.Covers(key):
					say(i, f.Why, len(f.Path)+1<<16)
				default:
					say(i, f.Why, len(f.Path))
				}
			}
			for _, c := range s.Copies {
				if c.Arrives(file) {
					say(i, c.Why, len(c.To))
				}
			}
		}
	}
	files[0], files[at] = files[at], files[0]
	return text
}

// valid says whether all can be used now.
func (r *certificatesReport) valid() bool {
	for _, e := range r.endings {
		if e.Level == host.HasEnded || e.Level == host.NotYet {
			return false
		}
	}
	return true
}

func (r *certificatesReport) text() string {
	var b strings.Builder
	cli.Table(&b, func(row func(cells ...string)) {
		row("ENDS (UTC)", "LEFT", "LIVES", "STATE", "CERTIFICATE", "FOR")
		for _, c := range r.Certificates {
			file := check.Plain(c.File)
			if n := len(c.Also); n > 0 {
				file += fmt.Sprintf(" (and %d more)", n)
			}
			row(c.NotAfter.Format("2006-01-02 15:04:05"), cli.Left(c.NotAfter.Sub(r.Now)), cli.Left(c.NotAfter.Sub(c.NotBefore)), string(c.Level), file, c.For)
		}
	})
	b.WriteString("\n")
	for _, e := range r.endings {
		if e.Level != host.EndsInDays {
			b.WriteString(r.warning(e))
		}
	}
	if text := nextEnd(r.endings, r.Now); text != "" {
		b.WriteString(text + "\n")
	}
	return b.String()
}

// warning tells of certificates that have ended or soon will.
func (r *certificatesReport) warning(e host.Ending) string {
	what := cli.Counted(len(e.Certificates), "certificate")
	switch {
	case e.Level == host.NotYet:
		return fmt.Sprintf("warning: %s cannot be used yet: the clock of this machine, or of the one that made them, is wrong\n", what)
	case e.Level != host.HasEnded:
		return fmt.Sprintf("warning: %s will end in %s\n", what, cli.Left(e.At.Sub(r.Now)))
	case e.Day && r.Place == "local":
		what += ", of those that make-pki.sh --renew makes again,"
	case e.Day:
		what += ", of those that a bootstrap node has from new Ignition files only,"
	}
	return fmt.Sprintf("warning: %s ended %s ago\n", what, cli.Left(r.Now.Sub(e.At)))
}

// nextEnd says in a line what ends next; empty where nothing is valid.
func nextEnd(endings []host.Ending, now time.Time) string {
	for _, e := range endings {
		if e.Level == host.HasEnded || e.Level == host.NotYet {
			continue
		}
		more := ""
		if n := len(e.Certificates) - 1; n > 0 {
			more = " and " + cli.Counted(n, "other")
		}
		return fmt.Sprintf("next to end: %s%s, at %s UTC, in %s", check.Plain(path.Base(e.Certificates[0].File)), more,
			e.At.Format("2006-01-02 15:04"), cli.Left(e.At.Sub(now)))
	}
	return ""
}
