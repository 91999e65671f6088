package provision

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bootlab/vms"
	"bootlab/vms/libvirt"
)

// shared is a host whose pool another lab writes into: each look finds the image as
// long as the next of sizes says.
type shared struct {
	*storage
	sizes []uint64 // of the image, look by look; the last one stays
	made  int      // how often this lab brought it
	taken bool     // the other lab's volume came between look and make
}

func (s *shared) Volume(pool, name string) (libvirt.VolumeState, bool, error) {
	state, there, err := s.storage.Volume(pool, name)
	if there && len(s.sizes) > 0 {
		state.Physical = s.sizes[0]
		if len(s.sizes) > 1 {
			s.sizes = s.sizes[1:]
		}
	}
	return state, there, err
}

func (s *shared) MakeVolume(pool, xml string, content io.Reader, size int64, progress func(int64)) error {
	if s.taken {
		s.taken = false
		s.storage.MakeVolume(pool, xml, strings.NewReader(""), 0, nil)
		return fmt.Errorf("%w: storage volume", libvirt.ErrVolumeExists)
	}
	s.made++
	s.sizes = []uint64{uint64(size)}
	return s.storage.MakeVolume(pool, xml, content, size, progress)
}

func TestAnImageThatAnotherLabUploadsIsWaitedFor(t *testing.T) {
	before := uploadRest
	uploadRest = time.Millisecond
	defer func() { uploadRest = before }()
	const size = 100
	image := vms.Image{File: filepath.Join(t.TempDir(), "image.qcow2"), Size: size, SHA256: strings.Repeat("a", 64), Format: "qcow2"}
	if err := os.WriteFile(image.File, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		host *shared
		here bool // the volume is there from the beginning
		made int
	}{
		"missing":                           {&shared{}, false, 1},
		"whole":                             {&shared{sizes: []uint64{size}}, true, 0},
		"growing":                           {&shared{sizes: []uint64{10, 20, 90, size}}, true, 0},
		"cut off":                           {&shared{sizes: []uint64{10, 20, 20}}, true, 1},
		"overtaken":                         {&shared{taken: true, sizes: []uint64{10, 60, size}}, false, 0},
		"overtaken by one that was cut off": {&shared{taken: true, sizes: []uint64{10, 10}}, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c.host.storage = newStorage()
			c.host.DefinePool("")
			p := probing(t, c.host)
			p.Base = image
			if c.here {
				c.host.pools[vms.Pool].Volumes = []string{vms.BaseVolume(image)}
			}
			if err := makeAll(context.Background(), p.State, []Thing{p.baseImage(context.Background())}, silent); err != nil {
				t.Fatal(err)
			}
			if c.host.made != c.made || !slices.Contains(c.host.pools[vms.Pool].Volumes, vms.BaseVolume(image)) {
				t.Errorf("it was made %d times, want %d; the pool holds %v", c.host.made, c.made, c.host.pools[vms.Pool].Volumes)
			}
		})
	}
	t.Run("interrupted", func(t *testing.T) {
		host := &shared{storage: newStorage(), sizes: []uint64{10}}
		host.DefinePool("")
		p := probing(t, host)
		p.Base = image
		host.pools[vms.Pool].Volumes = []string{vms.BaseVolume(image)}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := p.baseImage(ctx).look(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
