package images

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bootlab/vms"
	"bootlab/vms/state"
)

// packedImage is an image that does not shrink when it is packed, so that a
// download has something to do.
func packedImage(t *testing.T, seed int64) (image, packed []byte) {
	t.Helper()
	image = append(qcow2Image(1<<30, nil), make([]byte, 1<<20)...)
	rand.New(rand.NewSource(seed)).Read(image[3<<16:])
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(image); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return image, b.Bytes()
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// origin serves a file, and breaks off as often as it is told to.
type origin struct {
	sync.Mutex
	data   []byte
	etag   string
	cut    int   // connections that break off
	after  int64 // bytes into a connection
	plain  bool  // knows no ranges
	status int   // instead of the file
	stall  bool  // falls silent instead of breaking off
	ranges []string
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.Lock()
	data, cut, status := o.data, o.cut > 0, o.status
	o.cut--
	o.ranges = append(o.ranges, r.Header.Get("Range"))
	o.Unlock()
	if status != 0 {
		w.WriteHeader(status)
		return
	}
	if o.plain {
		r.Header.Del("Range")
		w = &noRanges{w}
	}
	if o.etag != "" {
		w.Header().Set("ETag", o.etag)
	}
	if cut {
		w = &breaking{ResponseWriter: w, left: o.after, stall: o.stall, gone: r.Context().Done()}
	}
	http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader(data))
}

func (o *origin) asked() []string {
	o.Lock()
	defer o.Unlock()
	return append([]string(nil), o.ranges...)
}

type noRanges struct{ http.ResponseWriter }

func (w *noRanges) WriteHeader(status int) {
	w.Header().Del("Accept-Ranges")
	w.ResponseWriter.WriteHeader(status)
}

// breaking ends a connection in the middle of the body.
type breaking struct {
	http.ResponseWriter
	left  int64
	stall bool
	gone  <-chan struct{}
}

func (b *breaking) Write(p []byte) (int, error) {
	if int64(len(p)) <= b.left {
		b.left -= int64(len(p))
		return b.ResponseWriter.Write(p)
	}
	b.ResponseWriter.Write(p[:b.left])
	if f, ok := b.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
	if b.stall {
		<-b.gone
	}
	panic(http.ErrAbortHandler)
}

// served gives a server of the file, a cache, and what the metadata says.
func served(t *testing.T, o *origin, image []byte) (*Cache, Artifact) {
	t.Helper()
	server := httptest.NewTLSServer(o)
	server.Config.ErrorLog = nil
	t.Cleanup(server.Close)
	return newCache(t, server.Client()), Artifact{Stream: "c10s", Release: "10.0.1", URL: server.URL + "/image.qcow2.gz", SHA256: hexSum(o.data), Unpacked: hexSum(image)}
}

func newCache(t *testing.T, client *http.Client) *Cache {
	return &Cache{Dir: filepath.Join(t.TempDir(), "images"), Client: client, Most: 1 << 30, Patience: 5 * time.Second, Rest: time.Millisecond, Progress: func(string, int64, int64) {}}
}

// wantImage holds the cache against what ought to be in it, and nothing else.
func wantImage(t *testing.T, c *Cache, f Fetched, image []byte) {
	t.Helper()
	got, err := os.ReadFile(f.File)
	if err != nil || !bytes.Equal(got, image) {
		t.Errorf("%d bytes, want %d; %v", len(got), len(image), err)
	}
	if f.SHA256 != hexSum(image) || f.Format != "qcow2" || f.Disk != 1<<30 {
		t.Errorf("%+v", f)
	}
	wantFiles(t, c, f.SHA256+".json", f.SHA256+".qcow2", "lock")
}

func wantFiles(t *testing.T, c *Cache, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if fmt.Sprint(got) != fmt.Sprint(names) {
		t.Errorf("in the cache: %q\nwant: %q", got, names)
	}
}

func TestAnImageIsFetchedOnceAndChecked(t *testing.T) {
	image, packed := packedImage(t, 1)
	o := &origin{data: packed, etag: `"1"`}
	c, a := served(t, o, image)
	told := map[string]int64{}
	c.Progress = func(doing string, done, total int64) {
		if done > total || done < told[doing] {
			t.Errorf("%s: %d of %d after %d", doing, done, total, told[doing])
		}
		told[doing] = done
	}
	f, err := c.Fetch(context.Background(), a, "/lab/one")
	if err != nil {
		t.Fatal(err)
	}
	wantImage(t, c, f, image)
	if told["fetch"] != int64(len(packed)) || told["unpack"] != int64(len(packed)) {
		t.Error(told)
	}
	c.Progress = func(string, int64, int64) {}
	again, err := c.Fetch(context.Background(), a, "/lab/two")
	if err != nil || len(o.asked()) != 1 || fmt.Sprint(again.Labs) != "[/lab/one /lab/two]" {
		t.Errorf("%+v, %v, %d requests", again, err, len(o.asked()))
	}
	// A damaged image is fetched again.
	if err := os.WriteFile(f.File, image[:len(image)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	bad := 0
	if err := c.Verify(context.Background(), func(_ Fetched, err error) {
		if err != nil {
			bad++
		}
	}); err != nil || bad != 1 {
		t.Errorf("%d are bad; %v", bad, err)
	}
	if f, err = c.Fetch(context.Background(), a, ""); err != nil || len(o.asked()) != 2 {
		t.Fatal(err, o.asked())
	}
	wantImage(t, c, f, image)
	if err := c.Verify(context.Background(), func(_ Fetched, err error) {
		if err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Error(err)
	}
}

func TestABrokenDownloadGoesOnWhereItBroke(t *testing.T) {
	image, packed := packedImage(t, 2)
	for name, o := range map[string]*origin{
		"with a hash of the server":  {etag: `"1"`},
		"with a weak hash":           {etag: `W/"1"`},
		"with a time alone":          {},
		"that falls silent":          {etag: `"1"`, stall: true},
		"of a server without ranges": {plain: true},
	} {
		t.Run(name, func(t *testing.T) {
			o.data, o.cut, o.after = packed, 3, 200_000
			c, a := served(t, o, image)
			c.Patience = 300 * time.Millisecond
			f, err := c.Fetch(context.Background(), a, "")
			if err != nil {
				t.Fatal(err)
			}
			wantImage(t, c, f, image)
			asked := o.asked()
			if len(asked) != 4 || asked[0] != "" || asked[1] == "" {
				t.Errorf("ranges: %q", asked)
			}
		})
	}
}

func TestAFileThatChangedInBetweenIsFetchedFromTheBeginning(t *testing.T) {
	image, packed := packedImage(t, 3)
	_, other := packedImage(t, 4)
	for name, change := range map[string]func(o *origin, known string){
		"another hash":    func(o *origin, _ string) { o.data, o.etag = packed, `"2"` },
		"another length":  func(o *origin, _ string) { o.data, o.etag = packed, "" },
		"the same to see": func(o *origin, _ string) { o.data = packed },
	} {
		t.Run(name, func(t *testing.T) {
			old := other[:len(packed)-4096]
			if name != "another length" {
				old = append([]byte(nil), other...)
				old = append(old, make([]byte, max(0, len(packed)-len(old)))...)[:len(packed)]
			}
			o := &origin{data: old, etag: `"1"`, cut: 1, after: 300_000}
			if name == "another length" {
				o.etag = ""
			}
			c, a := served(t, o, image)
			a.SHA256 = hexSum(packed)
			c.Rest = time.Hour
			ctx, cancel := context.WithCancel(context.Background())
			c.Progress = func(_ string, done, _ int64) {
				if done >= 290_000 {
					time.AfterFunc(100*time.Millisecond, cancel)
				}
			}
			if _, err := c.Fetch(ctx, a, ""); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if info, err := os.Stat(c.path(a.SHA256 + ".part")); err != nil || info.Size() == 0 {
				t.Fatal("nothing is left to go on with", err)
			}
			change(o, "")
			c.Rest, c.Progress = time.Millisecond, func(string, int64, int64) {}
			f, err := c.Fetch(context.Background(), a, "")
			if err != nil {
				t.Fatal(err)
			}
			wantImage(t, c, f, image)
		})
	}
}

func TestWhatCannotBeFetchedLeavesNoImage(t *testing.T) {
	image, packed := packedImage(t, 5)
	_, other := packedImage(t, 6)
	bomb := func() []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		io.CopyN(z, zeros{}, 64<<20)
		z.Close()
		return b.Bytes()
	}()
	for name, c := range map[string]struct {
		origin   *origin
		artifact func(*Artifact)
		most     int64
		want     string
		requests int
	}{
		"another file":         {origin: &origin{data: other}, artifact: func(a *Artifact) { a.SHA256 = hexSum(packed) }, want: "and the metadata says", requests: 1},
		"another content":      {origin: &origin{data: packed}, artifact: func(a *Artifact) { a.Unpacked = hexSum(other) }, want: "what is packed in", requests: 1},
		"not there":            {origin: &origin{data: packed, status: 404}, want: "404 Not Found", requests: 1},
		"forbidden":            {origin: &origin{data: packed, status: 403}, want: "403 Forbidden", requests: 1},
		"down":                 {origin: &origin{data: packed, status: 503}, want: "503 Service Unavailable", requests: 5},
		"always broken off":    {origin: &origin{data: packed, cut: 1 << 30}, want: "unexpected EOF", requests: 5},
		"too large":            {origin: &origin{data: packed}, most: 1000, want: "no CoreOS image", requests: 1},
		"a bomb":               {origin: &origin{data: bomb}, most: 1 << 20, want: "unpacked it is larger", requests: 1},
		"not packed":           {origin: &origin{data: image}, want: "not packed with gzip", requests: 1},
		"cut off, and so said": {origin: &origin{data: packed[:len(packed)/2]}, want: "unpack", requests: 1},
		"no qcow2":             {origin: &origin{data: zipped("hello, world")}, artifact: func(a *Artifact) { a.Unpacked = hexSum([]byte("hello, world")) }, want: "too short for a disk image", requests: 1},
	} {
		t.Run(name, func(t *testing.T) {
			cache, a := served(t, c.origin, image)
			if c.artifact != nil {
				c.artifact(&a)
			}
			if c.most > 0 {
				cache.Most = c.most
			}
			_, err := cache.Fetch(context.Background(), a, "")
			if err == nil || !strings.Contains(err.Error()+hintOf(err), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if got := len(c.origin.asked()); got != c.requests {
				t.Errorf("%d requests, want %d", got, c.requests)
			}
			if all, err := cache.List(); err != nil || len(all) > 0 {
				t.Error(all, err)
			}
		})
	}
}

func hintOf(err error) string {
	var p *vms.Problem
	if errors.As(err, &p) {
		return p.Hint
	}
	return ""
}

func zipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestTwoCannotFetchAtOnce(t *testing.T) {
	c := newCache(t, nil)
	if err := c.take(); err != nil {
		t.Fatal(err)
	}
	defer c.release()
	other := &Cache{Dir: c.Dir}
	if _, err := other.Fetch(context.Background(), Artifact{}, ""); err == nil || !strings.Contains(err.Error(), "is running") {
		t.Error(err)
	}
}

func TestPruneLeavesWhatALabUsesAndWhatIsNotItsOwn(t *testing.T) {
	image, packed := packedImage(t, 7)
	c, a := served(t, &origin{data: packed}, image)
	lab := t.TempDir()
	f, err := c.Fetch(context.Background(), a, lab)
	if err != nil {
		t.Fatal(err)
	}
	state, err := state.Open(filepath.Join(lab, "out"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	if err := Remember(state, f.Image); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{sumA + ".part", sumA + ".part.json", sumB + ".unpacking", "notes.txt", "mine.qcow2"} {
		if err := os.WriteFile(c.path(name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Prune(UsedBy, func(string, int64) {}); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, c, f.SHA256+".json", f.SHA256+".qcow2", "lock", "mine.qcow2", "notes.txt")
	f.Image.SHA256 = sumA
	if err := Remember(state, f.Image); err != nil {
		t.Fatal(err)
	}
	if err := c.Prune(UsedBy, func(string, int64) {}); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, c, "lock", "mine.qcow2", "notes.txt")
}

// fetchHere makes this test program fetch: directory, URL, hash packed, hash
// unpacked.
const fetchHere = "BOOTLAB_TEST_FETCH"

func TestAKilledFetchGoesOn(t *testing.T) {
	if words := strings.Fields(os.Getenv(fetchHere)); len(words) == 4 {
		c := &Cache{Dir: words[0], Client: http.DefaultClient, Most: 1 << 30, Patience: time.Minute, Rest: time.Hour, Progress: func(string, int64, int64) {}}
		_, err := c.Fetch(context.Background(), Artifact{URL: words[1], SHA256: words[2], Unpacked: words[3]}, "")
		t.Fatal("it was not killed:", err)
	}
	image, packed := packedImage(t, 8)
	o := &origin{data: packed, etag: `"1"`, cut: 1, after: 400_000, stall: true}
	server := httptest.NewServer(o)
	defer server.Close()
	c := newCache(t, server.Client())
	a := Artifact{URL: server.URL, SHA256: hexSum(packed), Unpacked: hexSum(image)}
	child := exec.Command(os.Args[0], "-test.run=^TestAKilledFetchGoesOn$")
	child.Env = append(os.Environ(), fetchHere+"="+strings.Join([]string{c.Dir, a.URL, a.SHA256, a.Unpacked}, " "))
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	part := c.path(a.SHA256 + ".part")
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if info, err := os.Stat(part); err == nil && info.Size() >= 300_000 {
			break
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	child.Wait()
	left, err := os.Stat(part)
	if err != nil || left.Size() < 300_000 {
		t.Fatal("the child fetched nothing", err)
	}
	f, err := c.Fetch(context.Background(), a, "")
	if err != nil {
		t.Fatal(err)
	}
	wantImage(t, c, f, image)
	if asked := o.asked(); len(asked) != 2 || asked[1] != fmt.Sprintf("bytes=%d-", left.Size()) {
		t.Errorf("%q after %d bytes", asked, left.Size())
	}
}
