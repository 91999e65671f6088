package images

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"bootlab/vms"
)

// Open looks at a local image and takes its hash.
func Open(ctx context.Context, file string) (vms.Image, error) {
	f, err := os.Open(file)
	if err != nil {
		return vms.Image{}, &vms.Problem{Message: "cannot read the disk image", Err: err, Hint: "name a file that you can read"}
	}
	defer f.Close()
	image, err := describeImage(f)
	if err != nil {
		return vms.Image{}, err
	}
	image.SHA256, err = hashOf(ctx, f)
	if err != nil {
		return vms.Image{}, fmt.Errorf("read %s: %w", file, err)
	}
	return image, nil
}

// Look is [Open] without the hash, which takes a while.
func Look(file string) (vms.Image, error) {
	f, err := os.Open(file)
	if err != nil {
		return vms.Image{}, &vms.Problem{Message: "cannot read the disk image", Err: err, Hint: "name a file that you can read"}
	}
	defer f.Close()
	return describeImage(f)
}

// hashOf reads a file from its beginning; an interruption ends it.
func hashOf(ctx context.Context, f io.ReadSeeker) (string, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	hash := sha256.New()
	_, err := io.Copy(hash, &interruptible{ctx, f})
	return hex.EncodeToString(hash.Sum(nil)), err
}

// Interruptible is a reader that ends when the context does.
func Interruptible(ctx context.Context, r io.Reader) io.Reader { return &interruptible{ctx, r} }

// interruptible ends a long reading when its context does.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (i *interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.r.Read(p)
}

// describeImage goes by the beginning of the file, never by its name.
func describeImage(f *os.File) (vms.Image, error) {
	info, err := f.Stat()
	if err != nil {
		return vms.Image{}, err
	}
	if !info.Mode().IsRegular() {
		return vms.Image{}, &vms.Problem{Message: f.Name() + " is no regular file", Hint: "name a qcow2 or raw file"}
	}
	head := make([]byte, 512)
	if _, err := io.ReadFull(f, head); err != nil {
		return vms.Image{}, &vms.Problem{Message: f.Name() + " is too short for a disk image", Hint: "name a qcow2 or raw file"}
	}
	image := vms.Image{File: f.Name(), Size: info.Size()}
	if bytes.HasPrefix(head, []byte("QFI\xfb")) {
		image.Format = "qcow2"
		image.Disk, err = qcow2Disk(f.Name(), info.Size(), head)
		return image, err
	}
	image.Format, image.Disk = "raw", info.Size()
	return image, rawDisk(f.Name(), info.Size(), head)
}

// otherFormats are files that people take for disk images, by their first
// bytes, and what makes one of them.
var otherFormats = []struct{ magic, what, remedy string }{
	{"\x1f\x8b", "is compressed", "unpack it: gunzip --keep "},
	{"\xfd7zXZ", "is compressed", "unpack it: unxz --keep "},
	{"\x28\xb5\x2f\xfd", "is compressed", "unpack it: unzstd --keep "},
	{"KDMV", "is a disk of VMware", "make a qcow2 of it: qemu-img convert -O qcow2 FILE NEW, FILE being "},
	{"vhdxfile", "is a disk of Hyper-V", "make a qcow2 of it: qemu-img convert -O qcow2 FILE NEW, FILE being "},
}

// rawDisk says why a file is no raw disk that a BIOS would boot.
func rawDisk(file string, size int64, head []byte) error {
	for _, f := range otherFormats {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return &vms.Problem{Message: file + " " + f.what, Hint: f.remedy + file}
		}
	}
	if size%512 != 0 || head[510] != 0x55 || head[511] != 0xaa {
		return &vms.Problem{Message: file + " is neither qcow2 nor a raw disk with a boot sector",
			Hint: "take the image for QEMU: bootlab vms image fetch gets it"}
	}
	return nil
}

// qcow2Disk reads the header of a qcow2 file: how large the disk is that it
// holds, and whether the file is all there is to it. Numbers are big-endian.
// Source: qemu docs/interop/qcow2.txt.
func qcow2Disk(file string, size int64, head []byte) (int64, error) {
	number := func(at int) uint64 { return binary.BigEndian.Uint64(head[at:]) }
	version, clusterBits := binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[20:])
	disk, tableSize, table := number(24), uint64(binary.BigEndian.Uint32(head[36:])), number(40)
	const external = 1 << 2 // an incompatible feature: data in another file
	problem := func(what string) error {
		return &vms.Problem{Message: file + " " + what, Hint: "get it again; qemu-img info " + file + " says more"}
	}
	switch {
	case version != 2 && version != 3, clusterBits < 9, clusterBits > 21, disk == 0, disk > 1<<50:
		return 0, problem("is damaged: its header makes no sense")
	case number(8) != 0, version == 3 && number(72)&external != 0:
		return 0, problem("is only a part of a disk: it stands on another file")
	case binary.BigEndian.Uint32(head[32:]) != 0:
		return 0, problem("is encrypted")
	case table > uint64(size), table+tableSize*8 > uint64(size):
		return 0, problem("is cut off")
	}
	return int64(disk), nil
}
