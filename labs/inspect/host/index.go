package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"time"
)

// IndexFile is the place of the index in a bundle of bootlab. The installer
// neither writes nor reads it.
const IndexFile = "bootlab/index.json"

// TAPFolder is the directory of a bundle of bootlab with what the checks of each
// stage said, as STAGE.tap.
const TAPFolder = "bootlab/tap"

// IndexVersion is the form of the index that this bootlab writes and reads.
const IndexVersion = 1

// Index says what a bundle of bootlab holds, and what cannot be seen in its
// files: how each command ended, and why what is missing is missing.
type Index struct {
	Version int    `json:"version"`
	Bootlab string `json:"bootlab,omitempty"` // the version that wrote it
	Release string `json:"release"`           // the id of the catalogue, as 4.21
	Local   bool   `json:"local"`
	// Rehearsal is what earlier versions wrote for Local; nothing writes it now.
	Rehearsal bool              `json:"rehearsal,omitempty"`
	Begun     time.Time         `json:"begun"`
	Ended     time.Time         `json:"ended"`
	Lab       map[string]string `json:"lab"` // labs.Lab.Settings
	Evidence  []Entry           `json:"evidence"`
	// Missing are other things that could not be had, or that did not fit.
	Missing []string `json:"missing"`
	// Masked counts what was taken out, by kind.
	Masked map[string]int `json:"masked"`
}

// Entry is one piece of evidence in an [Index].
type Entry struct {
	ID        string        `json:"id"`
	Node      string        `json:"node,omitempty"` // the machine's name, for what is on every master
	File      string        `json:"file,omitempty"` // its place in the bundle; empty when there was nothing to keep
	Status    int           `json:"status"`
	Complaint string        `json:"complaint,omitempty"`
	Problem   string        `json:"problem,omitempty"` // why it could not be collected; empty when it could
	At        time.Time     `json:"at"`
	Took      time.Duration `json:"took"` // nanoseconds
	Cut       bool          `json:"cut,omitempty"`
}

// maxIndex is far more than any index takes, in bytes, and maxCommas than any
// has: a short text may mean very many entries.
const (
	maxIndex  = 16 << 20
	maxCommas = 500_000
)

// readIndex reads the index of a bundle; nil where there is none, as in those of
// the installer.
func readIndex(fsys fs.FS) (*Index, error) {
	if _, err := fs.Stat(fsys, IndexFile); err != nil {
		return nil, nil
	}
	data, cut, err := readTail(fsys, IndexFile, maxIndex)
	if err != nil {
		return nil, err
	}
	index := &Index{}
	if cut {
		return nil, fmt.Errorf("%s is longer than %d MiB", IndexFile, maxIndex>>20)
	}
	if bytes.Count(data, []byte(",")) > maxCommas {
		return nil, fmt.Errorf("%s has too many entries", IndexFile)
	}
	if err := json.Unmarshal(data, index); err != nil {
		return nil, fmt.Errorf("%s: %w", IndexFile, err)
	}
	if index.Version != IndexVersion {
		return nil, fmt.Errorf("%s is of version %d; this bootlab reads %d", IndexFile, index.Version, IndexVersion)
	}
	index.Local = index.Local || index.Rehearsal
	for _, e := range index.Evidence {
		if e.File != "" && !fs.ValidPath(e.File) {
			return nil, fmt.Errorf("%s: %q is no place in a bundle", IndexFile, e.File)
		}
	}
	return index, nil
}
