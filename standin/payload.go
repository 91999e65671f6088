package standin

import (
	"encoding/json"
	"path"
	"sort"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"bootlab/standin/facts"
	"bootlab/standin/images"
	"bootlab/standin/role"
)

// pushRelease makes the release image, which names all others.
func (b *builder) pushRelease() error {
	image, err := b.playing("release")
	if err != nil {
		return err
	}
	references, err := json.MarshalIndent(b.references(), "", "  ")
	if err != nil {
		return err
	}
	metadata, err := json.MarshalIndent(map[string]any{
		"kind": "cincinnati-metadata-v0", "version": b.release.Version, "previous": []string{},
	}, "", "  ")
	if err != nil {
		return err
	}
	image.Files["/usr/bin/cat"] = images.File{Link: programPath}
	image.Files["/release-manifests/image-references"] = images.File{Data: references}
	image.Files["/release-manifests/release-metadata"] = images.File{Data: metadata}
	image.Labels[Label] = "stand-in release made by bootlab: no operator in it is real"
	image.Labels["io.openshift.release"] = b.release.Version
	built, err := image.Build()
	if err != nil {
		return err
	}
	return b.pushBoth(built)
}

func (b *builder) pushBoth(image v1.Image) (err error) {
	tag := strings.ReplaceAll(b.release.Version, "+", "_")
	if b.release.TagImage, err = b.to.Tag(b.release.ReleaseRepository, tag, image); err != nil {
		return err
	}
	b.release.Image, err = b.to.Push(b.release.ReleaseRepository, image)
	return err
}

// references is the ImageStream of a payload.
func (b *builder) references() map[string]any {
	names := make([]string, 0, len(b.release.Images))
	for name := range b.release.Images {
		names = append(names, name)
	}
	sort.Strings(names)
	var tags []map[string]any
	for _, name := range names {
		tags = append(tags, map[string]any{
			"name":        name,
			"annotations": b.annotations(name),
			"from":        map[string]string{"kind": "DockerImage", "name": b.release.Images[name]},
		})
	}
	return map[string]any{
		"kind": "ImageStream", "apiVersion": "image.openshift.io/v1",
		"metadata": map[string]any{"name": b.release.Version},
		"spec":     map[string]any{"tags": tags},
	}
}

// annotations hold versions; the one of Kubernetes stands among others, as in
// real payloads.
func (b *builder) annotations(name string) map[string]string {
	versions := map[string]string{
		"hyperkube":           "kubernetes=" + b.release.Kubernetes,
		"cli":                 "kubectl=" + b.release.Kubernetes,
		"machine-os-content":  "machine-os=9.0.1",
		"tools":               "kubernetes-tests=" + b.release.Kubernetes,
		"installer-artifacts": "",
	}
	if b.options.NoKubernetesVersion {
		delete(versions, "hyperkube")
	}
	annotations := map[string]string{"io.openshift.build.source-location": "https://example.test/" + name}
	if versions[name] != "" {
		annotations["io.openshift.build.versions"] = versions[name]
	}
	return annotations
}

// binaryPath is where an image has its program, and whether that is its
// entrypoint: bootkube.sh names the path only where it is not.
func binaryPath(name string, calls []facts.Call) (file string, entrypoint bool) {
	switch word, _, _ := strings.Cut(calls[0].Command, " "); {
	case strings.HasPrefix(word, "/"):
		return word, false
	case name == "release":
		return "/usr/bin/cluster-version-operator", true
	case entrypoints[name] != "":
		return path.Join("/usr/bin", entrypoints[name]), true
	default:
		return path.Join("/usr/bin", name), true
	}
}

// entrypoints are those that are not called as the payload calls the image.
var entrypoints = map[string]string{
	"cluster-authentication-operator": "authentication-operator",
	"cluster-ingress-operator":        "ingress-operator",
}

func faultEnv(faults []string) []string {
	if len(faults) == 0 {
		return nil
	}
	return []string{role.FaultVariable + "=" + strings.Join(faults, ",")}
}
