package labs

import (
	"fmt"
	"reflect"
)

// Check is one observation that can fail. Exactly one of its declarations is
// set, and becomes a command in checks/STAGE.sh. Only certificates and the
// structure of manifests are also looked at from outside (labs/inspect/check), in bundles
// that no script of ours has seen.
type Check struct {
	ID     string `yaml:"id"`
	Title  string `yaml:"title"`
	Why    string `yaml:"why"`
	Expect string `yaml:"expect"`
	Hint   string `yaml:"hint"`
	Span   `yaml:",inline"`
	When   Condition `yaml:"when"`

	Present   *PresentCheck   `yaml:"present"`
	Count     *CountCheck     `yaml:"count"`
	Absent    *PresentCheck   `yaml:"absent"`
	Mode      *ModeCheck      `yaml:"mode"`
	Same      *SameCheck      `yaml:"same"`
	Line      *LineCheck      `yaml:"line"`
	Value     *ValueCheck     `yaml:"value"`
	Images    *PresentCheck   `yaml:"images"`
	Payload   *PayloadCheck   `yaml:"payload"`
	Chain     *ChainCheck     `yaml:"chain"`
	KeyPair   *PresentCheck   `yaml:"keyPair"`
	Subject   *SubjectCheck   `yaml:"subject"`
	Names     *NamesCheck     `yaml:"names"`
	Usage     *UsageCheck     `yaml:"usage"`
	Fresh     *FreshCheck     `yaml:"fresh"`
	Bundle    *BundleCheck    `yaml:"bundle"`
	Objects   *PresentCheck   `yaml:"objects"`
	Predicate *PredicateCheck `yaml:"predicate"`
	Command   *CommandCheck   `yaml:"command"`
}

// Paths in checks: as in [Copy]. They may hold * and shell variables of the
// script's settings. A pattern that matches nothing fails.

// PresentCheck: every path is a file that is not empty. As Absent: none is
// there. As Images: no image reference in the files is empty. As KeyPair: each
// path is a certificate X.crt (or a public key X.pub) that belongs to X.key. As
// Objects: each file has a top-level kind and apiVersion.
type PresentCheck struct {
	Paths []string `yaml:"paths"`
}

// PayloadCheck: the files name images, and only those that stand in List, or the
// release image. An empty List is release-info/images, where images of lab.yaml
// stand in the place of the release's own.
type PayloadCheck struct {
	List  string   `yaml:"list"`
	Paths []string `yaml:"paths"`
}

// CountCheck: the pattern matches at least AtLeast files.
type CountCheck struct {
	Path    string `yaml:"path"`
	AtLeast int    `yaml:"atLeast"`
}

// ModeCheck: every path has these permission bits, octal as 0600.
type ModeCheck struct {
	Paths []string `yaml:"paths"`
	Mode  string   `yaml:"mode"`
}

// SameCheck: files below From are byte for byte what stands below To. From is
// a file or a pattern, with directories too if Recursive; To a file or a directory
// with a trailing slash.
type SameCheck struct {
	From      string `yaml:"from"`
	To        string `yaml:"to"`
	Recursive bool   `yaml:"recursive"`
}

// LineCheck: a line of the file matches the extended regular expression.
type LineCheck struct {
	Path    string `yaml:"path"`
	Pattern string `yaml:"pattern"`
}

// ValueCheck: the value at a path (.spec.containers[0].name) of a YAML or JSON
// file equals, as text.
type ValueCheck struct {
	Path   string `yaml:"path"`
	At     string `yaml:"at"`
	Equals string `yaml:"equals"`
	// JSON: the file is JSON whatever its name says.
	JSON bool `yaml:"json"`
}

// ChainCheck: every certificate verifies under the CA file.
type ChainCheck struct {
	CA    string   `yaml:"ca"`
	Paths []string `yaml:"paths"`
}

// SubjectCheck: the certificate's subject, in the form of RFC 2253.
type SubjectCheck struct {
	Path   string `yaml:"path"`
	Equals string `yaml:"equals"`
}

// NamesCheck: the certificate's alternative names are exactly these, each as
// DNS:name or IP:address.
type NamesCheck struct {
	Path  string   `yaml:"path"`
	Names []string `yaml:"names"`
}

// UsageCheck: the certificates' extended key usages are exactly these, of
// serverAuth and clientAuth.
type UsageCheck struct {
	Paths []string `yaml:"paths"`
	Usage []string `yaml:"usage"`
}

// FreshCheck: the certificates are valid now and for Minutes more.
type FreshCheck struct {
	Paths   []string `yaml:"paths"`
	Minutes int      `yaml:"minutes"`
}

// BundleCheck: the file holds exactly these certificates, in any order.
type BundleCheck struct {
	Path  string   `yaml:"path"`
	Paths []string `yaml:"paths"`
}

// PredicateCheck calls a function that the stage's own template defines, for
// what cannot be seen in files (an answer of podman, a resolver, an API).
type PredicateCheck struct {
	Function string `yaml:"function"`
}

// CommandCheck is a command of bash that succeeds when all is well and prints what
// is not. It runs in the asset directory, with the settings of the stage.
type CommandCheck struct {
	Text string `yaml:"text"`
}

// Declaration gives the YAML name of the one declaration that is set, and the
// declaration; an error when none or several are.
func (c *Check) Declaration() (string, any, error) {
	v := reflect.ValueOf(c).Elem()
	name, decl := "", any(nil)
	for i := 0; i < v.NumField(); i++ {
		f := v.Field(i)
		if f.Kind() != reflect.Pointer || f.IsNil() {
			continue
		}
		if name != "" {
			return "", nil, fmt.Errorf("declares both %s and %s", name, yamlName(v.Type().Field(i)))
		}
		name, decl = yamlName(v.Type().Field(i)), f.Interface()
	}
	if name == "" {
		return "", nil, fmt.Errorf("declares nothing to look at")
	}
	return name, decl, nil
}

func yamlName(f reflect.StructField) string {
	tag := f.Tag.Get("yaml")
	for i := range tag {
		if tag[i] == ',' {
			return tag[:i]
		}
	}
	return tag
}
