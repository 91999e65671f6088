package host

import (
	"bufio"
	"bytes"
	"compress/gzip"
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
// and of the nodes: as [Places.Collect] gives it of live machines.
func (b *Bundle) Found(all []*labs.Evidence, lab *labs.Lab) []Found {
	r := &bundleReading{b: b, at: b.Time(), folders: b.masters(lab), entries: map[string]*Entry{}}
	if b.Index != nil {
		for i := range b.Index.Evidence {
			e := &b.Index.Evidence[i]
			r.entries[e.ID+"\n"+e.Node] = e
		}
	}
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

// masters are the folders of the control plane's machines, by machine name. A
// folder is named by address (gather --master) or by the node's name; one that
// the lab does not know keeps its own name.
func (b *Bundle) masters(lab *labs.Lab) map[string]string {
	names := map[string]string{}
	for _, m := range lab.Machines.Masters {
		names[m.Address], names[m.Name], names[m.Name+"."+lab.Domain()] = m.Name, m.Name, m.Name
	}
	folders := map[string]string{}
	entries, _ := fs.ReadDir(b.fsys, "control-plane")
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		name := names[e.Name()]
		if name == "" || folders[name] != "" {
			name = e.Name()
		}
		folders[name] = path.Join("control-plane", e.Name())
	}
	// A master that could not be reached has no folder, but our index knows it.
	if b.Index != nil {
		for _, e := range b.Index.Evidence {
			if e.Node != "" && folders[e.Node] == "" {
				folders[e.Node] = path.Join("control-plane", e.Node)
			}
		}
	}
	return folders
}

// bundleReading reads the evidence of one bundle.
type bundleReading struct {
	b       *Bundle
	at      time.Time
	folders map[string]string // of the masters
	entries map[string]*Entry // by id and node
}

func (r *bundleReading) found(e *labs.Evidence, node, folder string) Found {
	f := Found{Evidence: e, Node: node, At: r.at}
	if entry := r.entries[e.ID+"\n"+node]; entry != nil {
		r.indexed(&f, entry)
		return f
	}
	file := path.Join(folder, e.File)
	if text, cut, err := readTail(r.b.fsys, file, e.Limit<<10); err == nil {
		f.Had, f.Text, f.Cut = true, text, cut
	} else {
		r.elsewhere(&f, folder)
	}
	// The installer keeps what oc printed, and not that it failed.
	if f.Had && e.Form == labs.JSONForm && len(bytes.TrimSpace(f.Text)) == 0 {
		f.Had, f.Problem = false, file+" is empty: there was no answer"
	}
	if !f.Had && f.Problem == "" {
		f.Problem = "the bundle has no " + file
	}
	return f
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

// elsewhere puts together what stands in other places. A pattern may end in
// #UNIT: of a whole journal (journalctl -o with-unit), that unit's lines.
func (r *bundleReading) elsewhere(f *Found, folder string) {
	var parts []part
	for _, also := range f.Evidence.Also {
		pattern, unit, _ := strings.Cut(also, "#")
		for _, name := range match(r.b.fsys, path.Join(folder, pattern)) {
			text, cut, err := readLines(r.b.fsys, name, unit, f.Evidence.Limit<<10)
			switch {
			case err != nil:
				f.Problem = err.Error()
			case unit == "" || len(text) > 0:
				parts = append(parts, part{name, text, cut})
			}
		}
	}
	if len(parts) == 0 {
		return
	}
	all := &tail{limit: f.Evidence.Limit << 10}
	for _, p := range parts {
		all.cut = all.cut || p.cut
		all.Write(p.form(f.Evidence.Form, len(parts) == 1))
	}
	f.Had, f.Text, f.Cut, f.Problem = true, all.bytes(), all.cut, ""
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

// readTail reads the last bytes of a file, of a .gz those of what is in it.
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

// maxUnzipped bounds what is unpacked of a .gz in a bundle, in bytes.
const maxUnzipped = 1 << 30

// readLines is readTail for files that may be packed, or hold the lines of
// other units too.
func readLines(fsys fs.FS, name, unit string, limit int) (text []byte, cut bool, err error) {
	if !strings.HasSuffix(name, ".gz") && unit == "" {
		return readTail(fsys, name, limit)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	var stream io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		zip, err := gzip.NewReader(f)
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", name, err)
		}
		stream = io.LimitReader(zip, maxUnzipped)
	}
	last := &tail{limit: limit}
	if unit == "" {
		_, err = io.Copy(last, stream)
	} else {
		err = linesOf(last, stream, unit)
	}
	// A torn end is no reason to throw away the beginning.
	if err != nil && len(last.kept) == 0 {
		return nil, false, fmt.Errorf("%s: %w", name, err)
	}
	return last.bytes(), last.cut, nil
}

// linesOf copies the lines of a unit: they have " UNIT[PID]: " behind time and
// host. Of a line longer than the buffer the beginning tells whose it is.
func linesOf(w io.Writer, r io.Reader, unit string) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	mark := []byte(" " + unit)
	begins, wanted := true, false
	for {
		part, err := lines.ReadSlice('\n')
		if begins {
			head, _, _ := bytes.Cut(part[:min(len(part), 512)], []byte("["))
			wanted = bytes.HasSuffix(head, mark)
		}
		if wanted {
			w.Write(part)
		}
		begins = err == nil
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			if err == io.EOF {
				return nil
			}
			return err
		}
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
