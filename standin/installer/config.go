package installer

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"bootlab/standin/role"
)

// installConfig are the keys that a lab uses, as the installer's type has them.
// A key that is not here counts as unknown.
type installConfig struct {
	APIVersion string `yaml:"apiVersion"`
	Metadata   struct {
		Name string `yaml:"name"`
	} `yaml:"metadata"`
	BaseDomain   string `yaml:"baseDomain"`
	ControlPlane *pool  `yaml:"controlPlane"`
	Compute      []pool `yaml:"compute"`
	Networking   struct {
		NetworkType    string `yaml:"networkType"`
		MachineNetwork []struct {
			CIDR string `yaml:"cidr"`
		} `yaml:"machineNetwork"`
		ClusterNetwork []struct {
			CIDR       string `yaml:"cidr"`
			HostPrefix int    `yaml:"hostPrefix"`
		} `yaml:"clusterNetwork"`
		ServiceNetwork []string `yaml:"serviceNetwork"`
	} `yaml:"networking"`
	Platform      map[string]map[string]any `yaml:"platform"`
	Publish       string                    `yaml:"publish"`
	PullSecret    string                    `yaml:"pullSecret"`
	SSHKey        string                    `yaml:"sshKey"`
	OSImageStream string                    `yaml:"osImageStream"`
	Proxy         *struct {
		HTTPProxy  string `yaml:"httpProxy"`
		HTTPSProxy string `yaml:"httpsProxy"`
		NoProxy    string `yaml:"noProxy"`
	} `yaml:"proxy"`
	ImageDigestSources          []imageSource `yaml:"imageDigestSources"`
	ImageContentSources         []imageSource `yaml:"imageContentSources"`
	AdditionalTrustBundle       string        `yaml:"additionalTrustBundle"`
	AdditionalTrustBundlePolicy string        `yaml:"additionalTrustBundlePolicy"`
}

type pool struct {
	Name           string         `yaml:"name"`
	Architecture   string         `yaml:"architecture"`
	Hyperthreading string         `yaml:"hyperthreading"`
	Platform       map[string]any `yaml:"platform"`
	Replicas       *int           `yaml:"replicas"`
}

type imageSource struct {
	Source  string   `yaml:"source"`
	Mirrors []string `yaml:"mirrors"`
}

// readConfig reads install-config.yaml as the release does: unknown keys are an
// error on main, and before it a warning.
func (d *directory) readConfig(b role.Installer) *installConfig {
	data, err := os.ReadFile(filepath.Join(d.path, "install-config.yaml"))
	if err != nil {
		refuse("the real one asks for an install config on the terminal: %v", err)
	}
	c := &installConfig{}
	decoder := yaml.NewDecoder(strings.NewReader(string(data)))
	decoder.KnownFields(true)
	if err := decoder.Decode(c); err != nil {
		if !strings.Contains(err.Error(), "not found in type") {
			d.fail("failed to unmarshal install-config.yaml: %v", err)
		}
		text := "failed to parse first occurrence of unknown field: failed to unmarshal install-config.yaml: " + err.Error()
		if b.Release == "main" {
			d.fail("%s", text)
		}
		d.say("warning", "%s", text)
		*c = installConfig{}
		if err := yaml.Unmarshal(data, c); err != nil {
			d.fail("failed to unmarshal install-config.yaml: %v", err)
		}
	}
	if c.OSImageStream != "" && b.Release != "main" {
		d.say("warning", "failed to parse first occurrence of unknown field: osImageStream")
	}
	for _, complaint := range c.complaints() {
		d.fail("invalid \"install-config.yaml\" file: %s", complaint)
	}
	return c
}

// complaints are the installer's, in pkg/types/validation.
func (c *installConfig) complaints() []string {
	var out []string
	complain := func(wrong bool, text string) {
		if wrong {
			out = append(out, text)
		}
	}
	complain(c.APIVersion != "v1", "apiVersion: Required value: install-config version required")
	complain(c.Metadata.Name == "", "metadata.name: Required value: cluster name required")
	complain(c.BaseDomain == "", "baseDomain: Invalid value: \"\": invalid base domain")
	_, none := c.Platform["none"]
	complain(len(c.Platform) != 1, "platform: Invalid value: must specify one of the platforms")
	complain(!none, "platform: stand-in: only none is played")
	complain(c.ControlPlane == nil || c.ControlPlane.Name != "master" || c.ControlPlane.Replicas == nil || *c.ControlPlane.Replicas < 1,
		"controlPlane.replicas: Invalid value: number of control plane replicas must be positive")
	for _, p := range c.Compute {
		complain(p.Name != "worker" || p.Replicas == nil || *p.Replicas < 0, "compute[0]: Unsupported value")
	}
	complain(c.Publish != "" && c.Publish != "External", "publish: Invalid value: \"Internal\": internal publish strategy is not supported on \"none\" platform")
	complain(!isPullSecret(c.PullSecret), "pullSecret: Invalid value: \"\": auths required")
	complain(c.SSHKey != "" && !isKey(c.SSHKey), "sshKey: Invalid value: ssh: no key found")
	complain(c.AdditionalTrustBundle != "" && !onlyCertificates(c.AdditionalTrustBundle), "additionalTrustBundle: Invalid value: not a certificate")
	complain(len(c.ImageDigestSources) > 0 && len(c.ImageContentSources) > 0, "imageContentSources: Invalid value: cannot set imageContentSources and imageDigestSources at the same time")
	complain(c.Networking.NetworkType != "OVNKubernetes", "networking.networkType: Unsupported value")
	var networks []string
	for _, n := range c.Networking.MachineNetwork {
		networks = append(networks, n.CIDR)
	}
	for _, n := range c.Networking.ClusterNetwork {
		networks = append(networks, n.CIDR)
	}
	for _, n := range append(networks, c.Networking.ServiceNetwork...) {
		prefix, err := netip.ParsePrefix(n)
		complain(err != nil || prefix.Masked() != prefix, "networking: Invalid value: \""+n+"\": invalid network address")
	}
	complain(len(networks) < 2 || len(c.Networking.ServiceNetwork) == 0, "networking: Required value")
	return out
}

func isPullSecret(text string) bool {
	var secret struct {
		Auths map[string]struct{ Auth, CredsStore string } `json:"auths"`
	}
	if json.Unmarshal([]byte(text), &secret) != nil || len(secret.Auths) == 0 {
		return false
	}
	for _, a := range secret.Auths {
		if a.Auth == "" && a.CredsStore == "" {
			return false
		}
	}
	return true
}

func isKey(line string) bool {
	words := strings.Fields(line)
	if len(words) < 2 {
		return false
	}
	_, err := base64.StdEncoding.DecodeString(words[1])
	return err == nil
}

func onlyCertificates(text string) bool {
	rest := []byte(text)
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil || block.Type != "CERTIFICATE" {
			return false
		}
		if strings.TrimSpace(string(rest)) == "" {
			return true
		}
	}
}
