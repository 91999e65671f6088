package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// manifest is a file that cluster-bootstrap will create an object from.
type manifest struct {
	path   string
	data   []byte
	object map[string]any
	broken error // why there is no object
}

// renderedManifests are all of a directory, in the order of their names.
type renderedManifests struct {
	dir  string
	list []manifest
}

// readManifests is what the flag --rendered-manifest-files does in the renders
// that share it: it reads everything and refuses contradictions.
func readManifests(dir string) renderedManifests {
	r, err := loadManifests(dir)
	if err != nil {
		klogFatal("--rendered-manifest-files, could not be read: %v", err)
	}
	if err := r.disagreement(); err != nil {
		klogFatal("--rendered-manifest-files, are not consistent so results would be unpredictable depending on apply order: %v", err)
	}
	return r
}

// loadManifests reads them and judges nothing. Without a directory there are
// none.
func loadManifests(dir string) (renderedManifests, error) {
	r := renderedManifests{dir: dir}
	if dir == "" {
		return r, nil
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		r.list = append(r.list, newManifest(path, data))
		return err
	})
	if err != nil {
		return r, fmt.Errorf("failed loading rendered manifest inputs from %q: %w", dir, err)
	}
	return r, nil
}

func newManifest(path string, data []byte) manifest {
	m := manifest{path: path, data: data}
	err := yaml.Unmarshal(data, &m.object)
	if err == nil && m.kind() == "" {
		//lint:ignore ST1005 the words are those of the real program
		err = errors.New("Object 'Kind' is missing")
	}
	if err != nil {
		m.broken = fmt.Errorf("unable to decode %q: %w", path, err)
	}
	return m
}

func (m manifest) kind() string { return text(m.object["kind"]) }

// group is that of the object's API, empty for the core one.
func (m manifest) group() string {
	group, _, grouped := strings.Cut(text(m.object["apiVersion"]), "/")
	if !grouped {
		return ""
	}
	return group
}

func (m manifest) meta(key string) string {
	metadata, _ := m.object["metadata"].(map[string]any)
	return text(metadata[key])
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

// id is what two manifests of one object have in common.
func (m manifest) id() string {
	return fmt.Sprintf("%s.%s/%s in ns/%s", m.kind(), m.group(), m.meta("name"), m.meta("namespace"))
}

// disagreement names every file that holds no object, and every two that set
// one object to different values.
func (r renderedManifests) disagreement() error {
	var complaints []string
	for i, m := range r.list {
		if m.broken != nil {
			complaints = append(complaints, m.broken.Error())
			continue
		}
		for _, other := range r.list[i+1:] {
			if other.broken == nil && m.id() == other.id() && !reflect.DeepEqual(pruned(m.object), pruned(other.object)) {
				complaints = append(complaints, fmt.Sprintf("%q and %q both set %s, but have different values", m.path, other.path, m.id()))
			}
		}
	}
	switch len(complaints) {
	case 0:
		return nil
	case 1:
		return errors.New(complaints[0])
	}
	return fmt.Errorf("[%s]", strings.Join(complaints, ", "))
}

// pruned leaves out what says nothing, so that {} and no key at all are equal.
func pruned(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	out := map[string]any{}
	for key, v := range object {
		v = pruned(v)
		if inner, isObject := v.(map[string]any); v != nil && !(isObject && len(inner) == 0) {
			out[key] = v
		}
	}
	return out
}

// ofKind gives the objects of a kind, whatever their names.
func (r renderedManifests) ofKind(group, kind string) []manifest {
	var out []manifest
	for _, m := range r.list {
		if m.broken == nil && m.group() == group && m.kind() == kind {
			out = append(out, m)
		}
	}
	return out
}

// featureGates gives the gates that are on in a version of the payload, and
// dies where the FeatureGate does not say.
func (r renderedManifests) featureGates(version string) []string {
	if version == "" {
		klogFatal("error getting FeatureGates: cannot return FeatureGate without payload version")
	}
	if r.dir == "" {
		klogFatal("error getting FeatureGates: cannot return FeatureGate without rendered manifests")
	}
	found, err := r.gateManifests()
	if err != nil {
		klogFatal("error getting FeatureGates: error reading input manifests: %v", err)
	}
	for _, details := range found[0].gates().Status.FeatureGates {
		if details.Version == version {
			return details.enabled()
		}
	}
	klogFatal("error getting FeatureGates: error creating feature accessor: missing desired version %q in featuregates.config.openshift.io/cluster", version)
	return nil
}
