// Package images gets the disk images that machines start from: looks at local
// files, reads stream metadata, downloads, and keeps what it fetched for all labs of
// a user.
package images

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"bootlab/vms"
	"bootlab/vms/state"
)

// Cache keeps the images that were fetched, unpacked and under the hash of their
// content, for all labs of a user.
type Cache struct {
	Dir    string
	Client *http.Client
	// Most bounds a file, packed and unpacked, in bytes. CoreOS images have 1
	// to 3 GiB.
	Most int64
	// Patience is how long a download may stand still, Rest how long to wait
	// before one that broke off is taken up again.
	Patience, Rest time.Duration
	// Progress is called while something long goes on; total is 0 where it is not
	// known.
	Progress func(doing string, done, total int64)

	lock *os.File
}

// NewCache is the cache below XDG_CACHE_HOME, or ~/.cache.
func NewCache() (*Cache, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil, &vms.Problem{Message: "there is no place for images", Err: err, Hint: "set HOME or XDG_CACHE_HOME"}
	}
	return &Cache{
		Dir:    filepath.Join(dir, "bootlab", "images"),
		Client: &http.Client{Transport: http.DefaultTransport},
		Most:   32 << 30, Patience: time.Minute, Rest: 2 * time.Second,
		Progress: func(string, int64, int64) {},
	}, nil
}

// Fetched is an image in the cache.
type Fetched struct {
	vms.Image
	From string    `json:"from"` // where it came from
	At   time.Time `json:"at"`
	// Labs are the directories of the labs that it was fetched for.
	Labs []string `json:"labs"`
}

func (c *Cache) path(name string) string { return filepath.Join(c.Dir, name) }

// take locks the cache; two at once would write into the same files.
func (c *Cache) take() error {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return c.noRoom(err)
	}
	file, err := os.OpenFile(c.path("lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return c.noRoom(err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return &vms.Problem{Message: "another bootlab vms image is running in " + c.Dir, Hint: "wait until it ends"}
		}
		return err
	}
	c.lock = file
	return nil
}

func (c *Cache) release() { c.lock.Close() }

// noRoom says where a full disk is, and passes other errors on.
func (c *Cache) noRoom(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return &vms.Problem{Message: "the disk of " + c.Dir + " is full", Err: err,
			Hint: "make room and run this again, it goes on; bootlab vms image prune, or another directory by XDG_CACHE_HOME"}
	}
	return err
}

// Fetch brings an image here, for the lab in a directory. It goes on where an
// earlier one was stopped. What is here already is only read.
func (c *Cache) Fetch(ctx context.Context, a Artifact, lab string) (Fetched, error) {
	if err := c.take(); err != nil {
		return Fetched{}, err
	}
	defer c.release()
	if f, err := c.read(a.Unpacked); err == nil && c.check(ctx, f) == nil {
		return f, c.claim(&f, lab)
	}
	packed := c.path(a.SHA256 + ".part")
	if err := c.download(ctx, a, packed); err != nil {
		return Fetched{}, err
	}
	image, err := c.unpack(ctx, a, packed)
	if err != nil {
		return Fetched{}, err
	}
	f := Fetched{Image: image, From: a.URL, At: time.Now().UTC().Truncate(time.Second)}
	if err := c.claim(&f, lab); err != nil {
		return Fetched{}, err
	}
	return f, errors.Join(removeIfThere(packed), removeIfThere(packed+".json"))
}

// claim notes that a lab uses an image.
func (c *Cache) claim(f *Fetched, lab string) error {
	if lab != "" && !slices.Contains(f.Labs, lab) {
		f.Labs = append(f.Labs, lab)
	}
	return c.writeJSON(f.SHA256+".json", f)
}

// writeJSON puts a small file into the cache, whole or not at all.
func (c *Cache) writeJSON(name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	temporary := c.path(name + ".new")
	if err := os.WriteFile(temporary, append(text, '\n'), 0o644); err != nil {
		return c.noRoom(err)
	}
	return os.Rename(temporary, c.path(name))
}

func (c *Cache) read(hash string) (Fetched, error) {
	var f Fetched
	text, err := os.ReadFile(c.path(hash + ".json"))
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return f, fmt.Errorf("%s: %w", c.path(hash+".json"), err)
	}
	// The directory may have been moved.
	f.File = c.path(hash + ".qcow2")
	if f.SHA256 != hash {
		return f, fmt.Errorf("%s speaks of another file", c.path(hash+".json"))
	}
	return f, nil
}

// unpack makes an image of a packed one, and trusts it only by its hash. The
// bound is for metadata that was made to fill a disk.
func (c *Cache) unpack(ctx context.Context, a Artifact, packed string) (image vms.Image, err error) {
	in, err := os.Open(packed)
	if err != nil {
		return image, err
	}
	defer in.Close()
	out, err := os.Create(c.path(a.Unpacked + ".unpacking"))
	if err != nil {
		return image, c.noRoom(err)
	}
	defer func() {
		out.Close()
		if err != nil {
			os.Remove(out.Name())
		}
	}()
	hash := sha256.New()
	if err := c.inflate(ctx, in, io.MultiWriter(out, hash)); err != nil {
		return image, c.noRoom(err)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != a.Unpacked {
		os.Remove(packed)
		return image, &vms.Problem{Message: fmt.Sprintf("what is packed in %s has SHA-256 %s, and the metadata says %s", a.URL, got, a.Unpacked),
			Hint: "the metadata and the file do not belong together: print the metadata again"}
	}
	if err := errors.Join(out.Sync(), out.Close()); err != nil {
		return image, c.noRoom(err)
	}
	if image, err = Look(out.Name()); err != nil {
		return image, err
	}
	image.File, image.SHA256, image.Stream, image.Release = c.path(a.Unpacked+".qcow2"), a.Unpacked, a.Stream, a.Release
	return image, os.Rename(out.Name(), image.File)
}

func (c *Cache) inflate(ctx context.Context, in *os.File, out io.Writer) error {
	info, err := in.Stat()
	if err != nil {
		return err
	}
	// Progress goes by what was read: how large it gets, the file does not say.
	read := &counted{r: &interruptible{ctx, in}, report: func(n int64) { c.Progress("unpack", n, info.Size()) }}
	z, err := gzip.NewReader(read)
	if err != nil {
		return &vms.Problem{Message: "the file is not packed with gzip", Err: err, Hint: "is the URL that of the .qcow2.gz?"}
	}
	n, err := io.Copy(out, io.LimitReader(z, c.Most+1))
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	if n > c.Most {
		return &vms.Problem{Message: fmt.Sprintf("unpacked it is larger than %d GiB", c.Most>>30), Hint: "that is no CoreOS image"}
	}
	return nil
}

// counted tells how many bytes went through a reader.
type counted struct {
	r      io.Reader
	n      int64
	report func(int64)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.report(c.n)
	return n, err
}

// List gives the images of the cache by name; unreadable notes are errors.
func (c *Cache) List() ([]Fetched, error) {
	names, err := filepath.Glob(c.path("*.qcow2"))
	if err != nil {
		return nil, err
	}
	var out []Fetched
	for _, name := range names {
		f, err := c.read(strings.TrimSuffix(filepath.Base(name), ".qcow2"))
		if err != nil {
			// Its note got lost: the file is known by its name alone.
			f = Fetched{Image: vms.Image{File: name, SHA256: strings.TrimSuffix(filepath.Base(name), ".qcow2"), Format: "qcow2"}}
			if info, err := os.Stat(name); err == nil {
				f.Size = info.Size()
			}
		}
		out = append(out, f)
	}
	return out, nil
}

// check reads an image and holds it against its name.
func (c *Cache) check(ctx context.Context, f Fetched) error {
	file, err := os.Open(f.File)
	if err != nil {
		return err
	}
	defer file.Close()
	hash := sha256.New()
	read := &counted{r: &interruptible{ctx, file}, report: func(n int64) { c.Progress("read", n, f.Size) }}
	if _, err := io.Copy(hash, read); err != nil {
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != f.SHA256 {
		return &vms.Problem{Message: f.File + " is damaged: its SHA-256 is " + got, Hint: "remove it and fetch it again: bootlab vms image fetch LAB"}
	}
	return nil
}

// Verify reads every image and holds it against its name.
func (c *Cache) Verify(ctx context.Context, each func(Fetched, error)) error {
	all, err := c.List()
	for _, f := range all {
		each(f, c.check(ctx, f))
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return err
}

// Prune removes what interrupted downloads left, and the images that no lab
// uses any more, by what used says.
func (c *Cache) Prune(used func(Fetched) bool, each func(file string, size int64)) error {
	if _, err := os.Stat(c.Dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := c.take(); err != nil {
		return err
	}
	defer c.release()
	all, err := c.List()
	if err != nil {
		return err
	}
	keep := map[string]bool{"lock": true}
	for _, f := range all {
		if used(f) {
			keep[f.SHA256+".qcow2"], keep[f.SHA256+".json"] = true, true
		}
	}
	return c.sweep(keep, each)
}

// isCacheFile is how the cache names its files; others in the directory are
// somebody else's.
func isCacheFile(name string) bool {
	hash, rest, _ := strings.Cut(name, ".")
	return hexSHA256.MatchString(hash) &&
		slices.Contains([]string{"qcow2", "json", "json.new", "part", "part.json", "part.json.new", "unpacking"}, rest)
}

func (c *Cache) sweep(keep map[string]bool, each func(file string, size int64)) error {
	files, err := os.ReadDir(c.Dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if keep[f.Name()] || !isCacheFile(f.Name()) {
			continue
		}
		size := int64(0)
		if info, err := f.Info(); err == nil {
			size = info.Size()
		}
		if err := os.Remove(c.path(f.Name())); err != nil {
			return err
		}
		each(c.path(f.Name()), size)
	}
	return nil
}

func removeIfThere(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// UsedBy says whether one of the labs that an image was fetched for still wants
// it. State is below each lab's directory.
func UsedBy(f Fetched) bool {
	return slices.ContainsFunc(f.Labs, func(lab string) bool {
		s, err := state.Open(filepath.Join(lab, "out"), true)
		if err != nil {
			return false
		}
		image, there, err := Remembered(s)
		return err != nil || there && image.SHA256 == f.SHA256
	})
}
