package images

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Store keeps images in memory and serves them as a registry does, to read. Only
// this process writes.
type Store struct {
	name    string
	handler http.Handler
}

// NewStore makes an empty store. The name, HOST:PORT, stands in its pull specs.
func NewStore(name string) *Store {
	return &Store{name: name, handler: registry.New(registry.Logger(log.New(io.Discard, "", 0)))}
}

// ServeHTTP answers a client of the registry.
func (s *Store) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		http.Error(w, "this registry is read-only", http.StatusMethodNotAllowed)
		return
	}
	s.handler.ServeHTTP(w, req)
}

// Push stores an image and returns its pull spec by digest.
func (s *Store) Push(repository string, image v1.Image) (string, error) {
	digest, err := image.Digest()
	if err != nil {
		return "", err
	}
	if err := s.putBlobs(repository, image); err != nil {
		return "", err
	}
	return s.name + "/" + repository + "@" + digest.String(), s.putManifest(repository, digest.String(), image)
}

// Tag gives a pushed image a second pull spec, by tag.
func (s *Store) Tag(repository, tag string, image v1.Image) (string, error) {
	if _, err := s.Push(repository, image); err != nil {
		return "", err
	}
	return s.name + "/" + repository + ":" + tag, s.putManifest(repository, tag, image)
}

// putBlobs stores layers and configuration.
func (s *Store) putBlobs(repository string, image v1.Image) error {
	layers, err := image.Layers()
	if err != nil {
		return err
	}
	for _, layer := range layers {
		digest, err := layer.Digest()
		if err != nil {
			return err
		}
		packed, err := layer.Compressed()
		if err != nil {
			return err
		}
		data, err := io.ReadAll(packed)
		if err := errors.Join(err, packed.Close()); err != nil {
			return err
		}
		if err := s.putBlob(repository, digest, data); err != nil {
			return err
		}
	}
	digest, err := image.ConfigName()
	if err != nil {
		return err
	}
	config, err := image.RawConfigFile()
	if err != nil {
		return err
	}
	return s.putBlob(repository, digest, config)
}

func (s *Store) putBlob(repository string, digest v1.Hash, data []byte) error {
	query := url.Values{"digest": {digest.String()}}
	return s.put(http.MethodPost, "/v2/"+repository+"/blobs/uploads/?"+query.Encode(), "application/octet-stream", data)
}

func (s *Store) putManifest(repository, reference string, image v1.Image) error {
	manifest, err := image.RawManifest()
	if err != nil {
		return err
	}
	return s.put(http.MethodPut, "/v2/"+repository+"/manifests/"+reference, string(types.DockerManifestSchema2), manifest)
}

// put is a request of this process.
func (s *Store) put(method, path, contentType string, data []byte) error {
	req, err := http.NewRequest(method, path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", contentType)
	answer := &answer{header: http.Header{}}
	s.handler.ServeHTTP(answer, req)
	if answer.status != http.StatusCreated {
		return fmt.Errorf("%s %s: status %d: %s", method, path, answer.status, answer.body.String())
	}
	return nil
}

// answer is what the registry says to this process.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) { a.status = status }

func (a *answer) Write(data []byte) (int, error) { return a.body.Write(data) }
