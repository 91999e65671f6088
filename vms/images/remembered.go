package images

import (
	"context"

	"bootlab/vms"
	"bootlab/vms/state"
)

// imageFile in the lab's state names the image that its machines start from.
const imageFile = "image.json"

// Remember writes down which image the lab's machines start from.
func Remember(s *state.Dir, image vms.Image) error { return s.Remember(imageFile, image) }

// Remembered is the image that was fetched for the lab, or that it was
// made with; there is false when none was chosen yet.
func Remembered(s *state.Dir) (image vms.Image, there bool, err error) {
	there, err = s.Recall(imageFile, &image)
	return image, there, err
}

// Same looks at a remembered image again: its machines' disks stand on that
// content and no other.
func Same(ctx context.Context, image vms.Image) (vms.Image, error) {
	now, err := Open(ctx, image.File)
	if err != nil {
		return now, err
	}
	if now.SHA256 != image.SHA256 {
		return now, &vms.Problem{Message: image.File + " has changed since the lab took it",
			Hint: "bootlab vms image fetch LAB gets it again; --image FILE takes another"}
	}
	now.Stream, now.Release = image.Stream, image.Release
	return now, nil
}
