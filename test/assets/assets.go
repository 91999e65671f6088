// Package assets writes the few files of an asset directory that a stage reads,
// for tests that are not about the scripts that make them.
package assets

import (
	"os"
	"path/filepath"
	"strings"
)

// InstallConfig is the install-config inside manifests/cluster-config.yaml.
const InstallConfig = `apiVersion: v1
baseDomain: example.test
controlPlane:
  name: master
  replicas: 3
metadata:
  name: mylab
networking:
  clusterNetwork:
  - cidr: 10.128.0.0/14
    hostPrefix: 23
  machineNetwork:
  - cidr: 192.168.126.0/24
  networkType: OVNKubernetes
  serviceNetwork:
  - 172.30.0.0/16
platform:
  none: {}
`

// Infrastructure is manifests/cluster-infrastructure-02-config.yml.
const Infrastructure = `apiVersion: config.openshift.io/v1
kind: Infrastructure
metadata:
  name: cluster
status:
  controlPlaneTopology: HighlyAvailable
  platform: None
  platformStatus:
    type: None
`

// Network is manifests/cluster-network-02-config.yml.
const Network = `apiVersion: config.openshift.io/v1
kind: Network
metadata:
  name: cluster
spec:
  serviceNetwork:
  - 172.30.0.0/16
`

// ClusterConfig is manifests/cluster-config.yaml around an install-config.
func ClusterConfig(installConfig string) string {
	indented := "    " + strings.ReplaceAll(strings.TrimSuffix(installConfig, "\n"), "\n", "\n    ")
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cluster-config-v1\n  namespace: kube-system\n" +
		"data:\n  install-config: |\n" + indented + "\n"
}

// Write makes the manifests/ of an asset directory.
func Write(dir string) error {
	for name, text := range map[string]string{
		"cluster-config.yaml":                  ClusterConfig(InstallConfig),
		"cluster-infrastructure-02-config.yml": Infrastructure,
		"cluster-network-02-config.yml":        Network,
	} {
		path := filepath.Join(dir, "manifests", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
