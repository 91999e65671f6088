package vms

import (
	"context"
)

// imageFile in the lab's state names the image that its machines start from.
const imageFile = "image.json"

// RememberImage writes down which image the lab's machines start from.
func RememberImage(s *State, image Image) error { return s.remember(imageFile, image) }

// RememberedImage is the image that was fetched for the lab, or that it was
// made with; there is false when none was chosen yet.
func RememberedImage(s *State) (image Image, there bool, err error) {
	there, err = s.recall(imageFile, &image)
	return image, there, err
}

// SameImage looks at a remembered image again: its machines' disks stand on that
// content and no other.
func SameImage(ctx context.Context, image Image) (Image, error) {
	now, err := OpenImage(ctx, image.File)
	if err != nil {
		return now, err
	}
	if now.SHA256 != image.SHA256 {
		return now, &Problem{Message: image.File + " has changed since the lab took it",
			Hint: "bootlab vms image fetch LAB gets it again; --image FILE takes another"}
	}
	now.Stream, now.Release = image.Stream, image.Release
	return now, nil
}
