package host

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"bootlab/labs"
)

const (
	// mostUnzipped bounds what is unpacked of one packed file in a bundle, in bytes.
	mostUnzipped = 1 << 30
	// mostUnpacked bounds all of them together.
	mostUnpacked = 4 << 30
)

// unitLines are the lines of several units that are kept, out of one journal.
type unitLines struct {
	units map[string]*digest
	err   error
}

// unitsOf are the units whose lines are wanted, by the pattern of the journals
// that they stand in, with the largest limit of each in bytes.
func unitsOf(all []*labs.Evidence) map[string]map[string]int {
	wanted := map[string]map[string]int{}
	for _, e := range all {
		for _, also := range e.Also {
			pattern, unit, _ := strings.Cut(also, "#")
			if unit == "" {
				continue
			}
			if wanted[pattern] == nil {
				wanted[pattern] = map[string]int{}
			}
			wanted[pattern][unit] = max(wanted[pattern][unit], e.Limit<<10)
		}
	}
	return wanted
}

// lines reads files that may be packed, or hold the lines of other units too: a
// text whole, of other forms the last bytes. A journal is read once, for all units
// that are wanted of it.
func (r *bundleReading) lines(name, pattern, unit string, e *labs.Evidence) (text []byte, cut bool, err error) {
	limit := e.Limit << 10
	if unit == "" && !strings.HasSuffix(name, ".gz") {
		if e.Form != labs.TextForm {
			return readTail(r.b.fsys, name, limit)
		}
		return r.wholeLog(name, limit)
	}
	if unit == "" {
		all := newDigest(limit)
		err := r.stream(name, func(in io.Reader) error { _, err := io.Copy(all, in); return err })
		return all.end(err)
	}
	j := r.journals[name+"#"+pattern]
	if j == nil {
		j = r.journal(name, r.units[pattern])
		r.journals[name+"#"+pattern] = j
	}
	return j.units[unit].end(j.err)
}

// wholeLog reads a text in one pass.
func (r *bundleReading) wholeLog(name string, limit int) (text []byte, cut bool, err error) {
	f, err := r.b.fsys.Open(name)
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
	return readLog(f, info.Size(), limit)
}

func (r *bundleReading) journal(name string, wanted map[string]int) *unitLines {
	j := &unitLines{units: map[string]*digest{}}
	for unit, limit := range wanted {
		j.units[unit] = newDigest(limit)
	}
	j.err = r.stream(name, func(in io.Reader) error { return linesOf(j.units, in) })
	for _, d := range j.units {
		r.left -= int64(len(d.tail.kept))
	}
	return j
}

// end is what is kept. A torn end of the file is no reason to throw away what came
// before it.
func (d *digest) end(err error) (text []byte, cut bool, _ error) {
	text, cut = d.bytes()
	if err != nil && (len(text) == 0 || errors.Is(err, errTooMuch)) {
		return nil, false, err
	}
	return text, cut, nil
}

// errTooMuch: what was read so far is the beginning, and the end is wanted.
var errTooMuch = errors.New("it holds more than is read of packed files")

// stream reads a file of the bundle, unpacked if its name says that it is packed.
func (r *bundleReading) stream(name string, read func(io.Reader) error) error {
	f, err := r.b.fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		zip, err := gzip.NewReader(f)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		in = &unzipped{zip, mostUnzipped, &r.packed}
	}
	if err := read(in); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// unzipped bounds what is read of one packed file, and of all.
type unzipped struct {
	r    io.Reader
	left int64
	all  *int64
}

func (u *unzipped) Read(p []byte) (int, error) {
	if u.left <= 0 || *u.all <= 0 {
		return 0, errTooMuch
	}
	n, err := u.r.Read(p)
	u.left -= int64(n)
	*u.all -= int64(n)
	return n, err
}

// linesOf copies the lines of units: they have " UNIT[PID]: " behind time and
// host. Of a line longer than the buffer the beginning tells whose it is.
func linesOf(units map[string]*digest, r io.Reader) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	begins := true
	var of *digest
	for {
		part, err := lines.ReadSlice('\n')
		if begins {
			of = units[string(unitOf(part))]
		}
		if of != nil {
			of.Write(part)
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

// unitOf is the last word before the first bracket of a line.
func unitOf(line []byte) []byte {
	head, _, _ := bytes.Cut(line[:min(len(line), 512)], []byte("["))
	return head[bytes.LastIndexByte(head, ' ')+1:]
}
