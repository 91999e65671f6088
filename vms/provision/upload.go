package provision

import (
	"context"
	"errors"
	"os"
	"time"

	"bootlab/vms"
	"bootlab/vms/images"
	"bootlab/vms/libvirt"
)

// uploadRest is how long an upload may stand still before it counts as cut off.
var uploadRest = 3 * time.Second

// baseImage is the image below every disk. All labs of a host share it, so another one
// may be bringing it just now.
func (p *Provisioner) baseImage(ctx context.Context) Thing {
	t := p.volume("image", vms.Pool, vms.BaseVolume(p.Base))
	t.Kept = true
	t.look = func() (condition, error) {
		at, size, err := p.uploaded()
		if at != halfMade || err != nil {
			return at, err
		}
		return p.uploading(ctx, size)
	}
	t.make = func() error {
		err := p.upload(ctx)
		if errors.Is(err, libvirt.ErrVolumeExists) {
			_, err = p.uploading(ctx, 0) // another lab was faster by a moment
		}
		return err
	}
	return t
}

// uploaded says whether the base image is in the shared pool, whole or not, and how
// many bytes of it are.
func (p *Provisioner) uploaded() (condition, uint64, error) {
	state, there, err := p.Host.Volume(vms.Pool, vms.BaseVolume(p.Base))
	switch {
	case err != nil || !there:
		return missing, 0, err
	case state.Physical < uint64(p.Base.Size):
		return halfMade, state.Physical, nil
	}
	return ready, state.Physical, nil
}

// uploading waits while the image grows. One that stands still was cut off, and is to
// be made again.
func (p *Provisioner) uploading(ctx context.Context, size uint64) (condition, error) {
	for {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(uploadRest):
		}
		at, now, err := p.uploaded()
		if at != halfMade || err != nil || now == size {
			return at, err
		}
		size = now
		p.tellUploaded(int64(size))
	}
}

func (p *Provisioner) upload(ctx context.Context) error {
	file, err := os.Open(p.Base.File)
	if err != nil {
		return err
	}
	defer file.Close()
	return p.makeVolume(vms.Pool, vms.BaseImage(p.Base), images.Interruptible(ctx, file), p.Base.Size, p.tellUploaded)
}

func (p *Provisioner) tellUploaded(sent int64) {
	if p.Uploaded != nil {
		p.Uploaded(sent, p.Base.Size)
	}
}

// HasBase says whether the base image is in the shared pool, whole.
func (p *Provisioner) HasBase() bool {
	at, _, err := p.uploaded()
	return err == nil && at == ready
}
