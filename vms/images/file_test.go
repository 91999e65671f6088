package images

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/vms"
	"bootlab/vms/state"
)

// qcow2Image is a qcow2 file with an empty disk of that many bytes: a header,
// and a table behind it.
func qcow2Image(disk int64, change func(head []byte)) []byte {
	image := make([]byte, 3<<16)
	copy(image, "QFI\xfb")
	binary.BigEndian.PutUint32(image[4:], 3)
	binary.BigEndian.PutUint32(image[20:], 16)
	binary.BigEndian.PutUint64(image[24:], uint64(disk))
	binary.BigEndian.PutUint32(image[36:], 1)
	binary.BigEndian.PutUint64(image[40:], 2<<16)
	binary.BigEndian.PutUint32(image[100:], 104)
	if change != nil {
		change(image)
	}
	return image
}

// bootableDisk is a raw disk as far as a BIOS looks.
func bootableDisk(size int) []byte {
	disk := make([]byte, size)
	disk[510], disk[511] = 0x55, 0xaa
	return disk
}

func fileWith(t *testing.T, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "disk.img")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestImagesAreKnownByTheirContent(t *testing.T) {
	for format, data := range map[string][]byte{"qcow2": qcow2Image(16<<30, nil), "raw": bootableDisk(1 << 20)} {
		file := fileWith(t, data)
		image, err := Open(context.Background(), file)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		want := vms.Image{File: file, Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:]), Format: format, Disk: int64(len(data))}
		if format == "qcow2" {
			want.Disk = 16 << 30
		}
		if image != want {
			t.Errorf("%+v, want %+v", image, want)
		}
		if name := vms.BaseVolume(image); !strings.HasSuffix(name, "."+format) || !strings.Contains(name, image.SHA256) {
			t.Error(name)
		}
	}
}

func TestWhatIsNoWholeDiskIsRefused(t *testing.T) {
	put := func(at int, value byte) func([]byte) { return func(head []byte) { head[at] = value } }
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":               {nil, "too short"},
		"text":                {[]byte(strings.Repeat("hello\n", 512)), "neither qcow2 nor a raw disk"},
		"raw, cut off":        {bootableDisk(1 << 20)[:1<<19+7], "neither qcow2 nor a raw disk"},
		"raw without a boot":  {make([]byte, 1<<20), "neither qcow2 nor a raw disk"},
		"gzip":                {append([]byte("\x1f\x8b"), make([]byte, 1022)...), "is compressed"},
		"xz":                  {append([]byte("\xfd7zXZ"), make([]byte, 1019)...), "is compressed"},
		"zstd":                {append([]byte("\x28\xb5\x2f\xfd"), make([]byte, 1020)...), "is compressed"},
		"vmdk":                {append([]byte("KDMV"), make([]byte, 1020)...), "VMware"},
		"vhdx":                {append([]byte("vhdxfile"), make([]byte, 1016)...), "Hyper-V"},
		"qcow2 version 9":     {qcow2Image(1<<30, put(7, 9)), "makes no sense"},
		"qcow2 of no size":    {qcow2Image(0, nil), "makes no sense"},
		"qcow2 on a file":     {qcow2Image(1<<30, put(15, 200)), "stands on another file"},
		"qcow2, data outside": {qcow2Image(1<<30, put(79, 1<<2)), "stands on another file"},
		"qcow2, encrypted":    {qcow2Image(1<<30, put(35, 2)), "is encrypted"},
		"qcow2, cut off":      {qcow2Image(1<<30, nil)[:1<<16], "is cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(context.Background(), fileWith(t, c.data))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if p, ok := err.(*vms.Problem); !ok || p.Hint == "" {
				t.Errorf("no hint: %#v", err)
			}
		})
	}
	if _, err := Open(context.Background(), t.TempDir()); err == nil {
		t.Error("a directory is taken for an image")
	}
}

func TestHashingAnImageCanBeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(ctx, fileWith(t, bootableDisk(1<<20))); err == nil {
		t.Error("no error")
	}
}

func TestALabRemembersItsImageAndSeesThatItChanged(t *testing.T) {
	state, err := state.Open(t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	if _, there, err := Remembered(state); there || err != nil {
		t.Fatal(there, err)
	}
	file := fileWith(t, bootableDisk(1<<20))
	image, err := Open(context.Background(), file)
	if err != nil {
		t.Fatal(err)
	}
	image.Release = "9.6.1"
	if err := Remember(state, image); err != nil {
		t.Fatal(err)
	}
	got, there, err := Remembered(state)
	if err != nil || !there || got != image {
		t.Fatal(got, there, err)
	}
	if same, err := Same(context.Background(), got); err != nil || same != image {
		t.Errorf("%+v, %v", same, err)
	}
	if err := os.WriteFile(file, bootableDisk(2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Same(context.Background(), got); err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Error(err)
	}
	if err := os.WriteFile(state.Path(imageFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Remembered(state); err == nil {
		t.Error("half a file is trusted")
	}
}
