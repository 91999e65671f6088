package host

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"bootlab/labs"
)

// Found is what the bundle has of each piece of evidence, in the order of all
// and of the nodes: as [Hosts.Collect] gives it of live machines.
func (b *Bundle) Found(all []*labs.Evidence, lab *labs.Lab) []Found {
	r := b.reading(all, lab)
	var out []Found
	for _, e := range all {
		if e.On != labs.OnMasters {
			out = append(out, r.found(e, "", ""))
			continue
		}
		for _, node := range slices.Sorted(maps.Keys(r.folders)) {
			out = append(out, r.found(e, node, r.folders[node]))
		}
	}
	return out
}

// mostNodes is far more than any lab has masters. Each is one more answer to many
// questions.
const mostNodes = 100

// masters are the folders of the control plane's machines, by machine name. A
// folder is named by address (gather --master) or by the node's name; one that
// the lab does not know keeps its own name. Of too many those that the lab knows
// come first, and a note counts the others.
func (b *Bundle) masters(lab *labs.Lab) map[string]string {
	names := map[string]string{}
	for _, m := range lab.Machines.Masters {
		names[m.Address], names[m.Name], names[m.Name+"."+lab.Domain()] = m.Name, m.Name, m.Name
	}
	folders, strange := map[string]string{}, map[string]bool{}
	for _, folder := range b.nodeFolders() {
		name := names[folder]
		switch {
		case name == "" || folders[name] != "":
			strange[folder] = true
		default:
			folders[name] = path.Join("control-plane", folder)
		}
	}
	over := 0
	for _, folder := range sortedKeys(strange) {
		switch {
		case folders[folder] != "":
		case len(folders) >= mostNodes:
			over++
		default:
			folders[folder] = path.Join("control-plane", folder)
		}
	}
	if over > 0 {
		b.Notes = append(b.Notes, fmt.Sprintf("of more than %d machines of the control plane %d are passed over", mostNodes, over))
	}
	return folders
}

// nodeFolders are the folders of the control plane, and behind them the machines
// that our index knows: one that could not be reached has no folder.
func (b *Bundle) nodeFolders() []string {
	var all []string
	entries, _ := fs.ReadDir(b.fsys, "control-plane")
	for _, e := range entries {
		if e.IsDir() {
			all = append(all, e.Name())
		}
	}
	if b.Index == nil {
		return all
	}
	for _, e := range b.Index.Evidence {
		if e.Node != "" && (len(all) == 0 || all[len(all)-1] != e.Node) {
			all = append(all, e.Node)
		}
	}
	return all
}

func (b *Bundle) reading(all []*labs.Evidence, lab *labs.Lab) *bundleReading {
	r := &bundleReading{b: b, at: b.Time(), folders: b.masters(lab), entries: map[string]*Entry{},
		left: mostFound, packed: mostUnpacked, units: unitsOf(all), journals: map[string]*unitLines{}}
	if b.Index != nil {
		for i := range b.Index.Evidence {
			e := &b.Index.Evidence[i]
			r.entries[e.ID+"\n"+e.Node] = e
		}
	}
	return r
}

// bundleReading reads the evidence of one bundle.
type bundleReading struct {
	b       *Bundle
	at      time.Time
	folders map[string]string // of the masters
	entries map[string]*Entry // by id and node

	left     int64 // bytes of texts that may still be kept
	packed   int64 // bytes that packed files may still give
	units    map[string]map[string]int
	journals map[string]*unitLines
}

// mostFound bounds the texts of one bundle, in bytes.
const mostFound = 1 << 30

func (r *bundleReading) found(e *labs.Evidence, node, folder string) Found {
	f := Found{Evidence: e, Node: node, At: r.at}
	if r.left <= 0 {
		f.Problem = fmt.Sprintf("the bundle holds more than %d MiB of evidence; the rest is not read", mostFound>>20)
		return f
	}
	r.read(&f, node, folder)
	r.left -= int64(len(f.Text))
	return f
}

func (r *bundleReading) read(f *Found, node, folder string) {
	e := f.Evidence
	if entry := r.entries[e.ID+"\n"+node]; entry != nil {
		r.indexed(f, entry)
		return
	}
	file := path.Join(folder, e.File)
	if text, cut, err := r.lines(file, "", "", e); err == nil {
		f.Had, f.Text, f.Cut = true, text, cut
	} else {
		r.elsewhere(f, folder)
	}
	// The installer keeps what oc printed, and not that it failed.
	if f.Had && e.Form == labs.JSONForm && len(bytes.TrimSpace(f.Text)) == 0 {
		f.Had, f.Problem = false, file+" is empty: there was no answer"
	}
	if f.Had && e.Form == labs.TextForm && r.b.Index == nil {
		f.Text = fullTimes(f.Text, r.at)
	}
	if !f.Had && f.Problem == "" {
		f.Problem = "the bundle has no " + file
	}
}

// indexed takes what our own index says. Without a file there was nothing to
// keep.
func (r *bundleReading) indexed(f *Found, entry *Entry) {
	f.Status, f.Complaint, f.Problem = entry.Status, entry.Complaint, entry.Problem
	f.At, f.Took, f.Cut = entry.At, entry.Took, entry.Cut
	if entry.File != "" {
		// Marks in place of secrets may have made it longer.
		text, cut, err := readTail(r.b.fsys, entry.File, 2*f.Evidence.Limit<<10)
		if err != nil {
			f.Problem = "the bundle has no " + entry.File
			return
		}
		f.Text, f.Cut = text, cut || entry.Cut
	}
	f.Had = entry.Problem == ""
}

// elsewhere puts together what stands in other hosts. A pattern may end in
// #UNIT: of a whole journal (journalctl -o with-unit), that unit's lines; in
// #names: the names of the files; in #inspect: the list of the containers.
func (r *bundleReading) elsewhere(f *Found, folder string) {
	e := f.Evidence
	j := &joint{form: e.Form, named: e.Named, all: tail{limit: e.Limit << 10}}
	for _, also := range e.Also {
		pattern, unit, _ := strings.Cut(also, "#")
		names := match(r.b.fsys, path.Join(folder, pattern))
		switch {
		case unit == "names" && len(names) > 0:
			j.add(part{text: baseNames(names)})
			continue
		case unit == "inspect":
			if text := r.b.containerList(names); text != nil {
				j.add(part{text: text})
			}
			continue
		case e.First && j.parts > 0:
			continue
		}
		r.b.byAge(names)
		for _, name := range names {
			text, cut, err := r.lines(name, pattern, unit, e)
			switch {
			case err != nil:
				f.Problem = err.Error()
			case unit == "" || len(text) > 0:
				j.add(part{r.b.headOf(name), text, cut})
			}
		}
	}
	if j.parts > 0 {
		f.Had, f.Problem = true, ""
		f.Text, f.Cut = j.bytes()
	}
}

// joint is the end of several files behind each other. There may be many: no
// more than one waits, as long as it is alone.
type joint struct {
	form  string
	named bool // one that is alone has its name before it too
	all   tail
	first part
	parts int
}

func (j *joint) add(p part) {
	if j.parts++; j.parts == 1 {
		j.first = p
		return
	}
	if j.parts == 2 {
		j.write(j.first, false)
		j.first = part{}
	}
	j.write(p, false)
}

func (j *joint) write(p part, alone bool) {
	j.all.cut = j.all.cut || p.cut
	j.all.Write(p.form(j.form, alone))
}

func (j *joint) bytes() (text []byte, cut bool) {
	if j.parts == 1 {
		j.write(j.first, !j.named && !strings.Contains(j.first.name, " attempt "))
	}
	text = j.all.bytes()
	return text, j.all.cut
}

// baseNames are the names of files without their folders, one a line.
func baseNames(files []string) []byte {
	var out bytes.Buffer
	for _, file := range files {
		fmt.Fprintln(&out, path.Base(file))
	}
	return out.Bytes()
}

// part is one file of several.
type part struct {
	name string
	text []byte
	cut  bool
}

// form is how a file stands among the others. JSON documents follow each other
// as they are; of what should be certificates only those are taken. One that is
// alone needs no name.
func (p part) form(form string, alone bool) []byte {
	text := p.text
	switch {
	case form == labs.JSONForm:
		return append(text, '\n')
	case form == labs.CertificatesForm:
		text = certificates(text)
	case alone:
		return text
	}
	out := fmt.Appendf(nil, "==> %s\n%s", p.name, text)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		out = append(out, '\n')
	}
	return out
}

// certificates are the PEM blocks of that kind.
func certificates(text []byte) []byte {
	var out bytes.Buffer
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return out.Bytes()
		}
		if block.Type == "CERTIFICATE" {
			pem.Encode(&out, &pem.Block{Type: block.Type, Bytes: block.Bytes})
		}
	}
}

// readTail reads the last bytes of a file.
func readTail(fsys fs.FS, name string, limit int) (text []byte, cut bool, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	if info.IsDir() {
		return nil, false, &fs.PathError{Op: "read", Path: name, Err: errors.New("it is no file")}
	}
	if seeker, ok := f.(io.Seeker); ok && info.Size() > int64(limit) {
		if _, err := seeker.Seek(info.Size()-int64(limit), io.SeekStart); err != nil {
			return nil, false, err
		}
		cut = true
	}
	last := &tail{limit: limit}
	if _, err := io.Copy(last, f); err != nil {
		return nil, false, err
	}
	return last.bytes(), cut || last.cut, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
