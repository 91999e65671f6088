package labs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// LabFile is the name of a lab's file in the lab's directory.
const LabFile = "lab.yaml"

// LoadLab reads lab.yaml: path is the directory that holds it, or the file
// itself. The file is decoded strictly, what it leaves out is filled in, and
// the whole is validated against the releases and images of the catalog.
//
// Everything that is wrong is reported together, in the order of the file. The
// lab is nil if there is an error among the problems (see [Problems.Err]);
// with warnings alone it is whole.
//
// The files that lab.yaml names are read too: the public key behind sshKey,
// whose content the lab then holds, and the pull secret, which is only
// validated.
func LoadLab(path string, c *Catalog) (*Lab, Problems) { return loadLabFile(path, c, false) }

// LoadAuditedLab is LoadLab for a lab that will be made from an audited script:
// its release.version may be a minor release without stage data. What depends
// on the release is then validated by the nearest known one.
func LoadAuditedLab(path string, c *Catalog) (*Lab, Problems) { return loadLabFile(path, c, true) }

func loadLabFile(path string, c *Catalog, audited bool) (*Lab, Problems) {
	file, ps := findLab(path)
	if len(ps) > 0 {
		return nil, ps
	}
	f, err := openRegular(file)
	if err != nil {
		return nil, Problems{{File: file, Message: plainError(err)}}
	}
	defer f.Close()
	dir := filepath.Dir(file)
	return loadLab(labSource{name: file, dir: dir, text: f, read: readBeside(dir), audited: audited}, c)
}

// LoadLabFS reads DIR/lab.yaml out of a file tree, as [LoadLab] does. Files
// that it names are looked for in the same tree, so absolute paths and ~ lead
// to nothing.
func LoadLabFS(fsys fs.FS, dir string, c *Catalog) (*Lab, Problems) {
	file := path.Join(dir, LabFile)
	f, err := openRegularFS(fsys, file)
	if err != nil {
		return nil, Problems{{File: file, Message: plainError(err)}}
	}
	defer f.Close()
	read := func(name string) ([]byte, error) {
		if path.IsAbs(name) || strings.HasPrefix(name, "~") {
			return nil, fs.ErrNotExist
		}
		f, err := openRegularFS(fsys, path.Join(dir, name))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readLimited(f)
	}
	return loadLab(labSource{name: file, dir: dir, text: f, read: read}, c)
}

// labSource is one lab.yaml and a way to the files it names.
type labSource struct {
	name string // for messages
	dir  string
	text io.Reader
	read func(name string) ([]byte, error)
	// audited: the release need not be known.
	audited bool
}

// loading is a lab on its way from YAML to [Lab].
type loading struct {
	doc      *document
	lab      *Lab
	catalog  *Catalog
	read     func(name string) ([]byte, error)
	audited  bool
	problems Problems
}

func loadLab(src labSource, c *Catalog) (*Lab, Problems) {
	l, ps := decodeLab(src, c)
	if len(ps) > 0 {
		return nil, ps
	}
	l.fillDefaults()
	l.validate()
	ps = l.problems.sorted()
	if len(ps.Errors()) > 0 {
		return nil, ps
	}
	return l.lab, ps
}

// decodeLab fills a lab with what the file says. It returns problems only if
// there is no going on.
func decodeLab(src labSource, c *Catalog) (*loading, Problems) {
	doc, ps := readDocument(src.name, src.text)
	if len(ps) > 0 {
		return nil, ps
	}
	l := &loading{doc: doc, lab: &Lab{Dir: src.dir}, catalog: c, read: src.read, audited: src.audited}
	l.problems = doc.decode(l.lab)
	if slices.Contains(doc.removed, "") {
		return nil, l.problems
	}
	if p, found := doc.privateKey(); found {
		l.problems = append(l.problems, p)
	}
	return l, nil
}

// report adds a problem and finds its place in the file. It says nothing about
// values that the decoder has complained about and taken out.
func (l *loading) report(p Problem) { l.reportAt(p.Path, p) }

// reportAt is report for a problem whose reason stands under another key.
func (l *loading) reportAt(path string, p Problem) {
	for _, removed := range l.doc.removed {
		after, below := strings.CutPrefix(p.Path, removed)
		if below && (after == "" || after[0] == '.' || after[0] == '[') {
			return
		}
	}
	_, line, column := l.doc.lookup(path)
	placed := l.doc.onLine(line, column, p.Path, p.Message)
	p.File, p.Line, p.Column, p.Excerpt = placed.File, placed.Line, placed.Column, placed.Excerpt
	l.problems = append(l.problems, p)
}

// findLab turns a path into that of a lab.yaml.
func findLab(path string) (string, Problems) {
	const writes = "bootlab init DIRECTORY writes a commented lab.yaml to start from"
	if path == "" {
		return "", Problems{{Message: "no path is given", Allowed: "a directory that holds lab.yaml, or the file itself"}}
	}
	info, err := os.Stat(path)
	if err != nil {
		p := Problem{File: path, Message: plainError(err)}
		if errors.Is(err, fs.ErrNotExist) {
			p.Hint = writes
			if near := NearestWord(filepath.Base(path), labsIn(filepath.Dir(path))); near != "" {
				p.Hint = "did you mean " + filepath.Join(filepath.Dir(path), near) + "?"
			}
		}
		return "", Problems{p}
	}
	if !info.IsDir() {
		return path, nil
	}
	file := filepath.Join(path, LabFile)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		p := Problem{File: path, Message: "holds no lab.yaml", Hint: writes}
		if _, err := os.Stat(filepath.Join(path, "lab.yml")); err == nil {
			p.Hint = "rename lab.yml to lab.yaml"
		}
		return "", Problems{p}
	}
	return file, nil
}

// labsIn are the names of the directories in a directory that hold a lab.yaml.
func labsIn(dir string) []string {
	var names []string
	files, _ := filepath.Glob(filepath.Join(EscapeGlob(dir), "*", LabFile))
	for _, file := range files {
		names = append(names, filepath.Base(filepath.Dir(file)))
	}
	return names
}

// EscapeGlob makes a path mean itself in a pattern.
func EscapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// openRegular opens a file, and nothing that could block or never end.
func openRegular(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err == nil {
		err = mustBeRegular(info)
	}
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	// The name may have come to mean something else since.
	if info, err = f.Stat(); err == nil {
		err = mustBeRegular(info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func openRegularFS(fsys fs.FS, name string) (fs.File, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = mustBeRegular(info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func mustBeRegular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return errors.New("is a directory")
	case !info.Mode().IsRegular():
		return errors.New("is no regular file")
	}
	return nil
}

// readBeside reads files named in a lab.yaml that stands in dir.
func readBeside(dir string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		full, err := expand(dir, name)
		if err != nil {
			return nil, err
		}
		f, err := openRegular(full)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readLimited(f)
	}
}

func readLimited(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err == nil && len(data) > maxDocument {
		err = errors.New("is larger than 1 MiB")
	}
	return data, err
}

// expand turns a path of lab.yaml into one that can be opened: ~/ is the home
// directory, any other relative path begins at the directory of lab.yaml.
func expand(dir, name string) (string, error) {
	switch {
	case name == "~" || strings.HasPrefix(name, "~/"):
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("~ has no meaning here: %w", err)
		}
		return filepath.Join(home, name[1:]), nil
	case filepath.IsAbs(name):
		return name, nil
	}
	return filepath.Join(dir, name), nil
}

// PullSecretPath is where the pull secret lies, with ~ and the directory of
// lab.yaml put in; empty when the lab names none.
func (l *Lab) PullSecretPath() (string, error) {
	if l.PullSecret == "" {
		return "", nil
	}
	return expand(l.Dir, l.PullSecret)
}
