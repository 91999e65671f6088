package images

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"bootlab/vms"
)

// download is one file on its way into the cache. Its bytes go into a file, and
// beside it stands of which version of the remote file they are.
type download struct {
	c       *Cache
	a       Artifact
	file    string
	resumed bool
}

// version is what a server said of a file: as long as that stays, bytes of an
// earlier connection and of a new one belong together.
type remoteVersion struct {
	URL          string `json:"url"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"lastModified,omitempty"`
	Length       int64  `json:"length"` // -1 where the server does not say
}

// download brings the packed file here, whole and with the right hash.
func (c *Cache) download(ctx context.Context, a Artifact, file string) error {
	for {
		d := &download{c: c, a: a, file: file}
		if err := d.whole(ctx); err != nil {
			return err
		}
		got, err := d.hash(ctx)
		if err != nil || got == a.SHA256 {
			return err
		}
		if err := d.drop(); err != nil {
			return err
		}
		// Pieces of two files that the server could not tell apart: once more,
		// from the beginning.
		if d.resumed {
			continue
		}
		return &vms.Problem{Message: fmt.Sprintf("%s has SHA-256 %s, and the metadata says %s", a.URL, got, a.SHA256),
			Hint: "it was removed; a proxy or mirror on the way serves something else, or --url names another release"}
	}
}

func (d *download) hash(ctx context.Context) (string, error) {
	f, err := os.Open(d.file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return hashOf(ctx, f)
}

func (d *download) drop() error {
	return errors.Join(removeIfThere(d.file), removeIfThere(d.file+".json"))
}

// tries is how often a download is taken up again without a single byte more.
const tries = 5

// whole goes on until every byte is here.
func (d *download) whole(ctx context.Context) error {
	for failed := 0; ; {
		before := d.size()
		done, err := d.once(ctx)
		if done || err != nil && permanent(ctx, err) {
			return d.c.noRoom(err)
		}
		if failed++; d.size() > before {
			failed = 0
		}
		if failed == tries {
			return &vms.Problem{Message: "cannot fetch " + d.a.URL, Err: err, Hint: "what is here stays: run this again, it goes on"}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d.c.Rest):
		}
	}
}

// permanent says whether trying again is no use.
func permanent(ctx context.Context, err error) bool {
	var disk *os.PathError
	return ctx.Err() != nil || errors.As(err, new(*vms.Problem)) || errors.As(err, &disk)
}

func (d *download) size() int64 {
	info, err := os.Stat(d.file)
	if err != nil {
		return 0
	}
	return info.Size()
}

// known is the version that the bytes here are of.
func (d *download) known() (remoteVersion, bool) {
	var v remoteVersion
	text, err := os.ReadFile(d.file + ".json")
	if err != nil || json.Unmarshal(text, &v) != nil || v.URL != d.a.URL {
		return v, false
	}
	return v, true
}

// once makes one request and takes what comes. done says that nothing is
// missing.
func (d *download) once(ctx context.Context) (done bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	version, from := remoteVersion{}, int64(0)
	if v, ok := d.known(); ok && v.Length >= 0 {
		version, from = v, d.size()
		if from == v.Length {
			return true, nil
		}
	}
	response, err := d.ask(ctx, version, from)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusPartialContent {
		if !continues(response, version, from) {
			return false, errors.Join(d.drop(), errors.New("the server gave another part than was asked for"))
		}
		d.resumed = true
	} else if response.StatusCode == http.StatusOK {
		if version, err = d.begin(response); err != nil {
			return false, err
		}
		from = 0
	} else {
		return false, d.refused(response)
	}
	return d.receive(ctx, cancel, response.Body, from, version.Length)
}

// ask makes the request. If-Range lets a server send the whole file when it has
// another one by now.
func (d *download) ask(ctx context.Context, version remoteVersion, from int64) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.a.URL, nil)
	if err != nil {
		return nil, err
	}
	// A packed file must not be unpacked on the way.
	request.Header.Set("Accept-Encoding", "identity")
	if from > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
		// Only a strong validator promises the same bytes (RFC 9110, 13.1.5).
		if version.ETag != "" && !strings.HasPrefix(version.ETag, "W/") {
			request.Header.Set("If-Range", version.ETag)
		} else if version.LastModified != "" {
			request.Header.Set("If-Range", version.LastModified)
		}
	}
	return d.c.Client.Do(request)
}

// continues says whether a part is that which was asked for, of a file as long
// as the one that the first bytes are of.
func continues(r *http.Response, version remoteVersion, from int64) bool {
	var first, last, total int64
	if _, err := fmt.Sscanf(r.Header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &total); err != nil {
		return false
	}
	etag := r.Header.Get("ETag")
	return first == from && total == version.Length && (etag == "" || version.ETag == "" || etag == version.ETag)
}

// refused turns a status into an error that says whether to try again.
func (d *download) refused(r *http.Response) error {
	switch {
	case r.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return errors.Join(d.drop(), errors.New(r.Status))
	case r.StatusCode == http.StatusNotFound, r.StatusCode == http.StatusGone:
		return &vms.Problem{Message: d.a.URL + ": " + r.Status, Hint: "the image is not there any more: is there a newer installer, or a mirror for --url?"}
	case r.StatusCode == http.StatusTooManyRequests, r.StatusCode == http.StatusRequestTimeout, r.StatusCode >= 500:
		return errors.New(r.Status)
	}
	return &vms.Problem{Message: d.a.URL + ": " + r.Status, Hint: "open it in a browser; --url names another place"}
}

// begin starts over with the file that the server has now.
func (d *download) begin(r *http.Response) (remoteVersion, error) {
	v := remoteVersion{URL: d.a.URL, ETag: r.Header.Get("ETag"), LastModified: r.Header.Get("Last-Modified"), Length: r.ContentLength}
	if v.Length > d.c.Most {
		return v, &vms.Problem{Message: fmt.Sprintf("%s has %d GiB", d.a.URL, v.Length>>30), Hint: "that is no CoreOS image"}
	}
	if free, err := FreeBytes(d.c.Dir); err == nil && v.Length > 0 && free < uint64(v.Length) {
		return v, d.c.noRoom(fmt.Errorf("%d MiB are to come, %d MiB are free: %w", v.Length>>20, free>>20, syscall.ENOSPC))
	}
	if err := os.WriteFile(d.file, nil, 0o644); err != nil {
		return v, err
	}
	d.resumed = false
	return v, d.c.writeJSON(filepath.Base(d.file)+".json", v)
}

var errSilent = errors.New("the server fell silent")

// receive appends what comes, until there is no more or nothing came for long.
func (d *download) receive(ctx context.Context, cancel context.CancelCauseFunc, body io.Reader, from, length int64) (done bool, err error) {
	out, err := os.OpenFile(d.file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return false, err
	}
	defer out.Close()
	watch := time.AfterFunc(d.c.Patience, func() { cancel(errSilent) })
	defer watch.Stop()
	in := &counted{r: io.LimitReader(body, d.c.Most+1-from), report: func(n int64) {
		watch.Reset(d.c.Patience)
		d.c.Progress("fetch", from+n, max(length, 0))
	}}
	_, err = io.Copy(out, in)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errSilent) {
		return false, cause
	}
	if err != nil {
		return false, err
	}
	switch size := from + in.n; {
	case size > d.c.Most:
		return false, errors.Join(d.drop(), &vms.Problem{Message: fmt.Sprintf("%s does not end after %d GiB", d.a.URL, d.c.Most>>30), Hint: "that is no CoreOS image"})
	case length >= 0 && size != length:
		return false, io.ErrUnexpectedEOF
	}
	return true, out.Sync()
}
