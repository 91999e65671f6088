package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Sample is how long a stage took once, when it went well.
type Sample struct {
	Start   time.Time `json:"start"`
	Seconds int       `json:"seconds"`
}

// kept is how many samples there are of a stage, the newest ones.
const kept = 9

// Durations are how long stages took on this host, by [DurationKey].
type Durations map[string][]Sample

// DurationKey is what makes durations comparable: the stage as it stands in the
// record, the release, and whether it was done in a local run or in a lab with
// machines.
func DurationKey(stage, release string, local bool) string {
	place := "lab"
	if local {
		place = "local"
	}
	return place + " " + release + " " + stage
}

// DurationsFile is where this user keeps them: below XDG_STATE_HOME, or in
// ~/.local/state. Source: XDG Base Directory Specification 0.8, which wants an
// absolute path.
func DurationsFile() (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "bootlab", "durations.json"), nil
}

// durationsFile is the file.
type durationsFile struct {
	Version   int       `json:"version"`
	Durations Durations `json:"durations"`
}

const durationsVersion = 1

var errVersion = errors.New("of version")

// largestDurations bounds what is read of the file, in bytes.
const largestDurations = 4 << 20

// ReadDurations reads the file. One that is not there holds nothing; one that is
// torn is an error, and nothing is lost by going on without it.
func ReadDurations(file string) (Durations, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return Durations{}, nil
	}
	if err != nil {
		return Durations{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, largestDurations))
	if err != nil {
		return Durations{}, err
	}
	var read durationsFile
	if err := json.Unmarshal(data, &read); err != nil {
		return Durations{}, fmt.Errorf("%s is torn: %w", file, err)
	}
	if read.Version != durationsVersion {
		return Durations{}, fmt.Errorf("%s is %w %d, expected %d", file, errVersion, read.Version, durationsVersion)
	}
	if read.Durations == nil {
		read.Durations = Durations{}
	}
	return read.Durations, nil
}

// Add takes the stages that went well among spans, each once, however often it
// is added. key gives the key of a stage.
func (d Durations) Add(spans []*Span, key func(*Span) string) {
	for _, s := range spans {
		took, known := s.Took()
		if s.Kind != Stage || s.State != Succeeded || !known {
			continue
		}
		k := key(s)
		d[k] = newest(append(d[k], Sample{s.Start.UTC(), int(took.Seconds())}))
	}
}

// newest are the last samples in the order of time, each once.
func newest(samples []Sample) []Sample {
	samples = slices.Clone(samples)
	slices.SortFunc(samples, func(a, b Sample) int {
		if by := a.Start.Compare(b.Start); by != 0 {
			return by
		}
		return a.Seconds - b.Seconds
	})
	samples = slices.CompactFunc(samples, func(a, b Sample) bool { return a.Start.Equal(b.Start) })
	return samples[max(len(samples)-kept, 0):]
}

// Usual is the median of what a stage took before a moment.
func (d Durations) Usual(key string, before time.Time) (time.Duration, bool) {
	var seconds []int
	for _, s := range d[key] {
		if s.Start.Before(before) {
			seconds = append(seconds, s.Seconds)
		}
	}
	if len(seconds) == 0 {
		return 0, false
	}
	slices.Sort(seconds)
	n := len(seconds)
	return time.Duration(seconds[(n-1)/2]+seconds[n/2]) * time.Second / 2, true
}

// KeepDurations adds to the file, for the next time: under a lock, since several
// bootlabs may be running, and whole or not at all. A torn file is started over.
func KeepDurations(file string, add func(Durations)) error {
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	unlock, err := lock(file + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	// What is torn is worth nothing, and is replaced; what another bootlab wrote
	// in its own way is not.
	all, err := ReadDurations(file)
	if errors.Is(err, errVersion) {
		return err
	}
	add(all)
	data, err := json.MarshalIndent(durationsFile{durationsVersion, all}, "", "  ")
	if err != nil {
		return err
	}
	return replace(file, append(data, '\n'))
}

// patience is how long a lock is waited for: it is not held longer than a file
// takes to write.
const patience = 2 * time.Second

func lock(file string) (unlock func() error, err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err = tryLock(f)
		if err == nil {
			return f.Close, nil
		}
		if !errors.Is(err, errLocked) || time.Now().After(end) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", file, err)
		}
	}
}

// replace writes a file beside its place and renames it. It is its owner's alone.
func replace(file string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
