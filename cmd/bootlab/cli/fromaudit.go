package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"bootlab/generator"
	"bootlab/labs"
	"bootlab/labs/audit"
	"bootlab/templates"
)

// maxAudited bounds the file that a lab is made from: a bootstrap.ign with
// everything that an installer puts into one.
const maxAudited = 32 << 20

// FromAudit is how a lab is made from an audited script.
type FromAudit struct {
	File    string // empty: from reviewed stage data
	Release string // the known release to begin from; empty is the nearest
}

// Flags adds its options to those of a command.
func (f *FromAudit) Flags(c *cobra.Command) {
	set := c.Flags()
	set.StringVar(&f.File, "from-audit", "", "follow this bootkube.sh, its template or a bootstrap.ign, which nobody reviewed; all results say so")
	set.StringVar(&f.Release, "release", "", "with --from-audit: the supported release to start from (default the nearest)")
}

// UnknownRelease is the error about a release that the catalog does not have.
func UnknownRelease(release string, catalog *labs.Catalog) error {
	return Unknown(fmt.Errorf("release %q is not known", release), release, catalog.ReleaseIDs(), "known are "+strings.Join(catalog.ReleaseIDs(), ", "))
}

// Problems are all problems of a lab, the warnings among them.
func (f FromAudit) Problems(path string) labs.Problems {
	load := labs.LoadLab
	if f.File != "" {
		load = labs.LoadAuditedLab
	}
	_, problems := load(path, labs.Builtin())
	return problems
}

// LoadPlanFrom is loadPlan, or with an audited file the plan of the lab after
// that file.
func LoadPlanFrom(io Streams, path string, from FromAudit) (*labs.Plan, error) {
	if from.File == "" {
		if from.Release != "" {
			return nil, Usage(Hint(errors.New("--release without --from-audit"), "release.version of lab.yaml is the release of a lab"))
		}
		return LoadPlan(io, path)
	}
	catalog := labs.Builtin()
	lab, problems := labs.LoadAuditedLab(path, catalog)
	if errs := problems.Errors(); len(errs) > 0 {
		return nil, problems
	}
	for _, warning := range problems {
		fmt.Fprintln(io.Err, warning)
	}
	return from.Plan(lab, catalog)
}

// Plan resolves a lab in the release to begin from, and changes that to what
// the file does.
func (f FromAudit) Plan(lab *labs.Lab, catalog *labs.Catalog) (*labs.Plan, error) {
	release := f.Release
	if release == "" {
		release = catalog.Nearest(lab.Release.Version)
	}
	if catalog.Release(release) == nil {
		return nil, UnknownRelease(release, catalog)
	}
	script, origin, err := readAudited(f.File)
	if err != nil {
		return nil, AuditError(f.File, err)
	}
	plan, err := catalog.ResolveAs(lab, release)
	if err != nil {
		return nil, err
	}
	follows, err := generator.Follows(plan, templates.FS)
	if err != nil {
		return nil, err
	}
	if err := audit.Apply(script, catalog, plan, origin, follows); err != nil {
		return nil, AuditError(f.File, err)
	}
	return plan, nil
}

// readAudited reads a script, a template or a bootstrap.ign, and tells them
// apart by how they begin.
func readAudited(file string) (*audit.Script, audit.Origin, error) {
	data, err := readRegular(file)
	if err != nil {
		return nil, audit.Origin{}, err
	}
	sum := sha256.Sum256(data)
	origin := audit.Origin{File: baseName(file), SHA256: hex.EncodeToString(sum[:])}
	if isIgnition(data) {
		if data, err = audit.FromIgnition(bytes.NewReader(data)); err != nil {
			return nil, origin, err
		}
	}
	script, err := audit.Parse(bytes.NewReader(data), audit.DefaultLimits)
	return script, origin, err
}

// isIgnition says whether data is an Ignition config, compressed or not. A
// template may begin with a brace too, but with two.
func isIgnition(data []byte) bool {
	text := bytes.TrimSpace(data[:min(len(data), 4096)])
	return bytes.HasPrefix(data, []byte{0x1f, 0x8b}) || bytes.HasPrefix(text, []byte("{")) && !bytes.HasPrefix(text, []byte("{{"))
}

// readRegular reads a file, but nothing that could block or never end.
func readRegular(file string) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &audit.Refusal{Message: "is no regular file", Hint: "give a bootkube.sh, the installer's template of it, or a bootstrap.ign"}
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxAudited+1))
	if err == nil && len(data) > maxAudited {
		err = &audit.Refusal{Message: fmt.Sprintf("is larger than %d bytes", maxAudited), Hint: "give a bootkube.sh, the installer's template of it, or a bootstrap.ign"}
	}
	return data, err
}

// baseName is the name of a file without its directories, for scripts and pages:
// other than plain characters become underscores.
func baseName(file string) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._+@-", r)) {
			return r
		}
		return '_'
	}, filepath.Base(file))
	return name[:min(len(name), 80)]
}

// AuditError says of which file a refusal is.
func AuditError(name string, err error) error {
	var refusal *audit.Refusal
	switch {
	case !errors.As(err, &refusal):
		return err
	case refusal.Line > 0:
		return Hint(fmt.Errorf("%s:%d: %s", name, refusal.Line, refusal.Message), refusal.Hint)
	}
	return Hint(fmt.Errorf("%s %s", name, refusal.Message), refusal.Hint)
}
