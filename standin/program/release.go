package main

import (
	"encoding/json"
	"fmt"
	"os"

	"bootlab/standin/role"
)

// releaseImage is the release image itself: the cluster-version-operator.
var releaseImage = program{
	commands: map[string]command{
		"image": {plain: true, do: printImage},
		"render": {
			required: []string{"output-dir", "release-image"},
			missing:  func(flag string) { klogFatal("missing --%s flag, it is required", flag) },
			do:       renderClusterVersion,
		},
	},
	// image-empty: `image NAME` prints nothing. image-other: it prints another
	// image than image-references has.
	faults: append(keys(versionFaults), "image-empty", "image-other"),
}

// printImage prints the pull spec of a payload name, with no newline behind it.
func printImage(inv *invocation) {
	if len(inv.args) == 0 {
		klogFatal("missing command line argument short-name")
	}
	references, err := readReferences(payloadReferences)
	if err != nil {
		klogFatal("error: error loading image references from \"/release-manifests\": %v", err)
	}
	for _, tag := range references.Spec.Tags {
		if tag.Name == inv.args[0] && tag.From.Kind == "DockerImage" {
			fmt.Print(damagedImage(tag.From.Name))
			return
		}
	}
	klogFatal("error: error: Unknown name requested, could not find %s in UpdatePayload", inv.args[0])
}

// references is the ImageStream of the payload.
type references struct {
	Spec struct {
		Tags []struct {
			Name string
			From struct{ Kind, Name string }
		}
	}
}

// payloadReferences is where the release image has it.
const payloadReferences = "/release-manifests/image-references"

func readReferences(path string) (r references, err error) {
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	return r, err
}

const otherImage = "quay.io/other/image@sha256:0000000000000000000000000000000000000000000000000000000000000000"

func damagedImage(image string) string {
	switch faults := role.Faults(); {
	case faults["image-empty"]:
		return ""
	case faults["image-other"]:
		return otherImage
	}
	return image
}
