// Package overlay makes the Ignition config that is merged into the installer's
// bootstrap.ign: the scripts of the node, the holds on three of its services,
// and a word to whoever logs in. The bootstrap itself stays as the installer
// wrote it.
//
// Facts are from the Ignition specification 3.2 and from openshift/installer
// data/data/bootstrap, main: bootkube.service, approve-csr.service and
// progress.service are the same in 4.14 to main.
package overlay

import (
	"bytes"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"text/template"

	"bootlab/labs"
)

const (
	// Version is the Ignition specification of the overlay: the installer's own,
	// in 4.14 to main.
	Version = "3.2.0"
	// Scripts is where the node's scripts lie on the node.
	Scripts = "/opt/bootlab"
	// Released is the directory whose files release the units, each by the name of
	// its unit.
	Released = "/etc/bootlab/automatic"
	// Lock is the file that a script of the node holds while it is running, and
	// that bootkube.service must find free.
	Lock = labs.AssetDir + "/.bootlab.lock"

	dropIn  = "10-bootlab.conf"
	welcome = "/etc/motd.d/50-bootlab"
)

// Units are the services that are held, by name without .service. Those
// behind the first pull it in, and not the other way round.
var Units = []string{"bootkube", "approve-csr", "progress"}

// Script is a file for Scripts, by its path there: a script, a library, or what
// the checks of a stage expect.
type Script struct {
	Name string
	Mode fs.FileMode
	Data []byte
}

// hold is what the template of a drop-in sees.
type hold struct {
	Unit, Released, Lock string
	Locks                bool // it is bootkube.service, which must not run beside a script
}

// greeting is what the template of the welcome sees.
type greeting struct {
	Lab     *labs.Lab
	Release *labs.Release
	Scripts string
	First   string // the script that begins the way
}

// Render gives the overlay as JSON. It is the same for the same plan, templates
// and scripts. first is the script that begins the way on the node. Errors mean
// that a template is missing or does not fit.
func Render(p *labs.Plan, templates fs.FS, scripts []Script, first string) ([]byte, error) {
	c := config{Ignition: ignition{Version}}
	for _, s := range scripts {
		c.add(path.Join(Scripts, s.Name), s.Mode, s.Data)
	}
	text, err := render(templates, "motd", greeting{p.Lab, p.Release, Scripts, first})
	if err != nil {
		return nil, err
	}
	c.add(welcome, 0o644, text)
	for _, dir := range directories(scripts) {
		c.Storage.Directories = append(c.Storage.Directories, directory{dir, 0o755})
	}
	for _, unit := range Units {
		text, err := render(templates, "hold.conf", hold{unit, Released, Lock, unit == Units[0]})
		if err != nil {
			return nil, err
		}
		c.Systemd.Units = append(c.Systemd.Units, serviceUnit{unit + ".service", []contents{{dropIn, string(text)}}})
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err = encoder.Encode(c)
	return b.Bytes(), err
}

// directories are those of the overlay, each after the one that holds it.
func directories(scripts []Script) []string {
	all := []string{path.Dir(Released), Released, Scripts}
	for _, s := range scripts {
		if dir := path.Join(Scripts, path.Dir(s.Name)); !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	return all
}

func render(templates fs.FS, name string, data any) ([]byte, error) {
	t, err := template.New(name+".tmpl").Option("missingkey=error").ParseFS(templates, "ignition/"+name+".tmpl")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, data)
	return b.Bytes(), err
}

// config is the part of an Ignition config that the overlay has. The names are
// those of the specification.
type config struct {
	Ignition ignition `json:"ignition"`
	Storage  struct {
		Directories []directory `json:"directories"`
		Files       []file      `json:"files"`
	} `json:"storage"`
	Systemd struct {
		Units []serviceUnit `json:"units"`
	} `json:"systemd"`
}

type ignition struct {
	Version string `json:"version"`
}

type directory struct {
	Path string `json:"path"`
	Mode int    `json:"mode"` // JSON has no octal numbers: 493 is 0755
}

type file struct {
	Path      string   `json:"path"`
	Mode      int      `json:"mode"`
	Overwrite bool     `json:"overwrite"`
	Contents  resource `json:"contents"`
}

type resource struct {
	Source       string       `json:"source"`
	Verification verification `json:"verification"`
}

type verification struct {
	Hash string `json:"hash"`
}

type serviceUnit struct {
	Name    string     `json:"name"`
	DropIns []contents `json:"dropins"`
}

type contents struct {
	Name     string `json:"name"`
	Contents string `json:"contents"`
}

// add puts a file into the config. It stays readable: what compresses it later
// compresses all of it together, and then it is smaller than if each file had
// been compressed alone.
func (c *config) add(path string, mode fs.FileMode, data []byte) {
	c.Storage.Files = append(c.Storage.Files, file{
		Path: path, Mode: int(mode.Perm()), Overwrite: true,
		Contents: resource{
			Source:       "data:," + escape(data),
			Verification: verification{fmt.Sprintf("sha512-%x", sha512.Sum512(data))},
		},
	})
}

// plain are the marks that stand for themselves in a data URL (RFC 2397) and in
// JSON.
const plain = "-_.!~*'()/:,=+;@&$?"

// escape writes bytes as a data URL holds them: %0A for a line feed.
func escape(data []byte) string {
	const hex = "0123456789ABCDEF"
	out := make([]byte, 0, 2*len(data))
	for _, c := range data {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(plain, c) >= 0 {
			out = append(out, c)
		} else {
			out = append(out, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(out)
}
