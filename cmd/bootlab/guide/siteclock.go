package guide

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs/inspect/host"
)

const (
	// clockLook is how often a served site looks at the certificates.
	clockLook = 10 * time.Second
	// largestClockFile bounds what is read of each, in bytes.
	largestClockFile = 1 << 20
)

// Clock tells what ends next of the certificates in a guide's local run, as
// [site.Live] wants it.
func Clock(dir string) func() string {
	var looked time.Time
	text := ""
	return func() string {
		if now := time.Now(); now.Sub(looked) >= clockLook {
			looked, text = now, clockLine(host.Clock(localCertificates(dir), now))
		}
		return text
	}
}

// localCertificates are those below tls/ of the asset directory. What cannot
// be read counts as not there.
func localCertificates(dir string) []host.Certificate {
	tls := filepath.Join(dir, "work", "assets", "tls")
	entries, err := os.ReadDir(tls)
	if err != nil {
		return nil
	}
	var all []host.Certificate
	for _, entry := range entries {
		if !entry.Type().IsRegular() || filepath.Ext(entry.Name()) != ".crt" {
			continue
		}
		file, err := os.Open(filepath.Join(tls, entry.Name()))
		if err != nil {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(file, largestClockFile))
		file.Close()
		if err == nil {
			all = append(all, host.ParseCertificates(append([]byte("==> "+entry.Name()+"\n"), text...))...)
		}
	}
	return all
}

// clockLine says the worst there is, in words that stay the same for a while.
func clockLine(endings []host.Ending) string {
	for _, worst := range []host.Level{host.HasEnded, host.NotYet, host.EndsNow, host.EndsSoon, host.EndsInDays} {
		i := slices.IndexFunc(endings, func(e host.Ending) bool { return e.Level == worst })
		if i < 0 {
			continue
		}
		e := endings[i]
		what := path.Base(e.Certificates[0].File)
		if n := len(e.Certificates) - 1; n > 0 {
			what += " and " + cli.Counted(n, "other")
		}
		switch worst {
		case host.HasEnded:
			return fmt.Sprintf("Certificates: %s ended at %s UTC; make-pki.sh --renew makes them again.", what, e.At.Format("2006-01-02 15:04"))
		case host.NotYet:
			return fmt.Sprintf("Certificates: %s cannot be used yet; a clock is wrong.", what)
		}
		text := fmt.Sprintf("Certificates: next to end %s, at %s UTC", what, e.At.Format("2006-01-02 15:04"))
		if worst != host.EndsInDays {
			text += " (" + string(worst) + ")"
		}
		return text + "."
	}
	return ""
}
