package host

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"bootlab/labs"
)

const (
	// mostUnzipped bounds what is unpacked of one packed file in a bundle, in bytes.
	mostUnzipped = 1 << 30
	// mostUnpacked bounds all of them together.
	mostUnpacked = 4 << 30
)

// unitLines are the last lines of several units, out of one journal.
type unitLines struct {
	units map[string]*tail
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

// lines is readTail for files that may be packed, or hold the lines of other
// units too. A journal is read once, for all units that are wanted of it.
func (r *bundleReading) lines(name, pattern, unit string, limit int) (text []byte, cut bool, err error) {
	if unit == "" && !strings.HasSuffix(name, ".gz") {
		return readTail(r.b.fsys, name, limit)
	}
	if unit == "" {
		last := &tail{limit: limit}
		err := r.stream(name, func(in io.Reader) error { _, err := io.Copy(last, in); return err })
		return last.end(limit, err)
	}
	j := r.journals[name+"#"+pattern]
	if j == nil {
		j = r.journal(name, r.units[pattern])
		r.journals[name+"#"+pattern] = j
	}
	return j.units[unit].end(limit, j.err)
}

func (r *bundleReading) journal(name string, wanted map[string]int) *unitLines {
	j := &unitLines{units: map[string]*tail{}}
	for unit, limit := range wanted {
		j.units[unit] = &tail{limit: limit}
	}
	j.err = r.stream(name, func(in io.Reader) error { return linesOf(j.units, in) })
	for _, t := range j.units {
		r.left -= int64(len(t.kept))
	}
	return j
}

// end is the last bytes of a tail, at most limit. A torn end of the file is no
// reason to throw away what came before it.
func (t *tail) end(limit int, err error) (text []byte, cut bool, _ error) {
	text = t.bytes()
	if err != nil && (len(text) == 0 || errors.Is(err, errTooMuch)) {
		return nil, false, err
	}
	if over := len(text) - limit; over > 0 {
		return text[over:], true, nil
	}
	return text, t.cut, nil
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
func linesOf(units map[string]*tail, r io.Reader) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	begins := true
	var of *tail
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
