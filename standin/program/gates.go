package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"

	"bootlab/standin/role"
)

// featureGate is what renders take from a FeatureGate.
type featureGate struct {
	Spec struct {
		FeatureSet string `yaml:"featureSet"`
	} `yaml:"spec"`
	Status struct {
		FeatureGates []gateDetails `yaml:"featureGates"`
	} `yaml:"status"`
}

// gateDetails are the gates of one version of the payload.
type gateDetails struct {
	Version  string `json:"version" yaml:"version"`
	Enabled  []gate `json:"enabled" yaml:"enabled"`
	Disabled []gate `json:"disabled" yaml:"disabled"`
}

type gate struct {
	Name string `json:"name" yaml:"name"`
}

func (d gateDetails) enabled() []string {
	var names []string
	for _, g := range d.Enabled {
		names = append(names, g.Name)
	}
	return names
}

func (m manifest) gates() featureGate {
	var g featureGate
	must(yaml.Unmarshal(m.data, &g))
	return g
}

// gateManifests are the FeatureGates among the manifests; there must be one.
func (r renderedManifests) gateManifests() ([]manifest, error) {
	found := r.ofKind("config.openshift.io", "FeatureGate")
	if len(found) == 0 {
		return nil, fmt.Errorf("no FeatureGates found in manfest dir: [%s]", r.dir)
	}
	return found, nil
}

// gateFaults are ways to settle the gates that nothing is said of.
var gateFaults = map[string]func(*gateDetails, map[string]any){
	"no-status":     func(_ *gateDetails, object map[string]any) { object["status"] = map[string]any{} },
	"other-version": func(d *gateDetails, _ map[string]any) { d.Version = "0.0.1-snapshot" },
}

// settle writes into each FeatureGate, in its place and as JSON, which gates are
// on in a version of the payload.
func settle(found []manifest, version, profile string) error {
	for _, m := range found {
		details := &gateDetails{version, []gate{{"ExampleThatIsOn"}}, []gate{{"ExampleThatIsOff"}}}
		annotate(m.object, profile)
		m.object["status"] = map[string]any{"featureGates": []*gateDetails{details}}
		for name, damage := range gateFaults {
			if role.Faults()[name] {
				damage(details, m.object)
			}
		}
		data, err := json.MarshalIndent(m.object, "", "    ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(m.path, append(data, '\n'), 0o644); err != nil {
			return fmt.Errorf("error writing FeatureGate manifest: %w", err)
		}
	}
	return nil
}

// profiles are the cluster profiles that the manifest is for, as annotations.
func (m manifest) profiles() map[string]bool {
	out := map[string]bool{}
	metadata, _ := m.object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	for key, value := range annotations {
		if strings.HasPrefix(key, profilePrefix) && value == "true" {
			out[key] = true
		}
	}
	return out
}

const profilePrefix = "include.release.openshift.io/"

// annotate says for which cluster profile the object holds.
func annotate(object map[string]any, profile string) {
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		object["metadata"] = metadata
	}
	annotations, ok := metadata["annotations"].(map[string]any)
	if !ok {
		annotations = map[string]any{}
		metadata["annotations"] = annotations
	}
	annotations[profilePrefix+profile] = "true"
}
