package standin_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bootlab/labs/sample"
	"bootlab/standin/role"
	"bootlab/test/assets"
	"bootlab/test/standin"
)

// controlPlane are the renders that need certificates.
var controlPlane = []render{
	{"kube-apiserver-bootstrap", "4.21", "kube-apiserver-bootstrap", nil, []string{
		"other-name", "empty-image", "other-image", "no-pod", "no-config", "no-manifests",
		"empty-signer", "empty-signer-key", "empty-ca", "empty-public-key",
	}},
	{"kube-apiserver-bootstrap", "4.14", "kube-apiserver-bootstrap", nil, nil},
	{"kube-controller-manager-bootstrap", "4.16", "kube-controller-manager-bootstrap", controllerManagerFiles, []string{
		"other-name", "empty-image", "other-image", "no-pod", "no-config", "no-cpc-config", "no-manifests",
		"empty-signer", "empty-signer-key", "empty-ca", "empty-token-key",
	}},
	{"kube-scheduler-bootstrap", "4.14", "kube-scheduler-bootstrap",
		[]string{"bootstrap-manifests/kube-scheduler-pod.yaml", "config", "manifests/00_openshift-kube-scheduler-ns.yaml"},
		[]string{"other-name", "empty-image", "other-image", "no-pod", "no-config", "no-namespace"}},
	{"mco-bootstrap", "main", "mco-bootstrap", machineConfigFiles, []string{
		"other-name", "empty-image", "other-image", "no-pod", "no-controller-config", "no-pools", "no-pull-secret", "no-manifests",
		"empty-root-ca", "empty-kube-ca",
	}},
	{"cco-bootstrap", "4.18", "cco-bootstrap", credentialFiles, []string{
		"empty-image", "no-image", "other-image", "no-pod", "no-manifests", "no-namespace", "no-types",
	}},
}

var controllerManagerFiles = []string{
	"bootstrap-manifests/kube-controller-manager-pod.yaml",
	"config",
	"cpc-config",
	"manifests/0000_00_namespace-openshift-infra.yaml",
	"manifests/00_namespace-security-allocation-controller-clusterrole.yaml",
	"manifests/00_namespace-security-allocation-controller-clusterrolebinding.yaml",
	"manifests/00_openshift-kube-controller-manager-ns.yaml",
	"manifests/00_openshift-kube-controller-manager-operator-ns.yaml",
	"manifests/00_podsecurity-admission-label-privileged-namespaces-syncer-controller-clusterrole.yaml",
	"manifests/00_podsecurity-admission-label-privileged-namespaces-syncer-controller-clusterrolebinding.yaml",
	"manifests/00_podsecurity-admission-label-syncer-controller-clusterrole.yaml",
	"manifests/00_podsecurity-admission-label-syncer-controller-clusterrolebinding.yaml",
	"manifests/configmap-csr-controller-ca.yaml",
	"manifests/secret-csr-signer-signer.yaml",
	"manifests/secret-initial-kube-controller-manager-service-account-private-key.yaml",
}

var machineConfigFiles = []string{
	"bootstrap/machineconfigoperator-bootstrap-pod.yaml",
	"bootstrap/manifests/machineconfigcontroller-controllerconfig.yaml",
	"bootstrap/manifests/machineconfigcontroller-pull-secret",
	"bootstrap/manifests/master.machineconfigpool.yaml",
	"bootstrap/manifests/worker.machineconfigpool.yaml",
	"manifests/csr-bootstrap-role-binding.yaml",
	"manifests/kube-apiserver-serving-ca-configmap.yaml",
}

var credentialFiles = []string{
	"bootstrap-manifests/cloud-credential-operator-pod.yaml",
	"manifests/cco-cloudcredential_v1_credentialsrequest_crd.yaml",
	"manifests/cco-cloudcredential_v1_operator_config_custresdef.yaml",
	"manifests/cco-namespace.yaml",
	"manifests/cco-operator-config.yaml",
}

// apiServerFiles are how many the API server's render writes: pod,
// configuration and objects.
const apiServerFiles = 46

func TestStandInsOfTheControlPlaneRenderWhatOperatorsDo(t *testing.T) {
	for _, r := range controlPlane {
		t.Run(r.stage+" "+r.release, func(t *testing.T) {
			s := newStage(t, r.release, standin.Options{})
			s.putControlPlane(t)
			good, out, status := s.call(t, r)
			if status != 0 {
				t.Fatalf("status %d: %s", status, out)
			}
			names := sorted(good)
			if r.files != nil && !slices.Equal(names, r.files) || r.files == nil && len(names) != apiServerFiles {
				t.Errorf("%d files:\n%s", len(names), strings.Join(names, "\n"))
			}
			for _, fault := range r.faults {
				bad, out, status := s.call(t, r, "--env="+role.FaultVariable+"="+fault)
				if status != 0 || maps.Equal(good, bad) {
					t.Errorf("%s: status %d, and nothing differs: %s", fault, status, out)
				}
			}
		})
	}
}

// signers are the certificates in tls/ that become Secrets.
var signers = []string{
	"aggregator-signer", "kube-control-plane-signer", "kube-apiserver-to-kubelet-signer", "kube-apiserver-lb-signer",
	"kube-apiserver-localhost-signer", "kube-apiserver-service-network-signer", "kubelet-signer", "root-ca",
}

// putControlPlane rewrites the inputs of these stages, and nothing else.
func (s *stage) putControlPlane(t *testing.T) {
	t.Helper()
	s.renew(t)
	files := map[string]string{
		gateFile: `{"apiVersion": "config.openshift.io/v1", "kind": "FeatureGate", "metadata": {"name": "cluster"}, "status":
{"featureGates": [{"version": "` + s.Version + `", "enabled": [{"name": "On"}], "disabled": [{"name": "Off"}]}]}}`,
		"auth/kubeconfig":                                    "a kubeconfig\n",
		"tls/service-account.key":                            "a key\n",
		"tls/service-account.pub":                            "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
		"image-references":                                   s.references(t),
		"manifests/cluster-dns-02-config.yml":                "apiVersion: config.openshift.io/v1\nkind: DNS\nmetadata: {name: cluster}\n",
		"manifests/cluster-proxy-01-config.yaml":             "apiVersion: config.openshift.io/v1\nkind: Proxy\nmetadata: {name: cluster}\n",
		"manifests/openshift-config-secret-pull-secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: pull-secret}\n",
	}
	for _, name := range signers {
		files["tls/"+name+".crt"], files["tls/"+name+".key"] = certificate(t, name), name+"'s key\n"
	}
	for bundle, signer := range map[string]string{
		"admin-kubeconfig": "root-ca", "kubelet-bootstrap-kubeconfig": "root-ca",
		"kubelet-client": "kubelet-signer", "kube-apiserver-complete-client": "kubelet-signer",
	} {
		files["tls/"+bundle+"-ca-bundle.crt"] = files["tls/"+signer+".crt"]
	}
	for name, text := range files {
		write(t, filepath.Join(s.assets, name), text)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// references is the list of images, as the release image prints it.
func (s *stage) references(t *testing.T) string {
	t.Helper()
	out, err := s.env.Podman("run", "--rm", "--net=none", "--entrypoint", "cat", s.Image, "/release-manifests/image-references")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func certificate(t *testing.T, name string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	template.Subject.CommonName = name
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: der}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWhatIsInTLSReachesTheObjects(t *testing.T) {
	s := newStage(t, "4.21", standin.Options{})
	s.putControlPlane(t)
	files, out, status := s.call(t, controlPlane[0])
	if status != 0 {
		t.Fatalf("status %d: %s", status, out)
	}
	tls := s.contents(t, "tls")
	for file, part := range map[string]string{
		"manifests/secret-loadbalancer-serving-signer.yaml": "tls.crt: " + inBase64(tls["kube-apiserver-lb-signer.crt"]),
		"manifests/secret-aggregator-client-signer.yaml":    "tls.key: " + inBase64("aggregator-signer's key\n"),
		"manifests/secret-bound-sa-token-signing-key.yaml":  "service-account.pub: " + inBase64(tls["bound-service-account-signing-key.pub"]),
		"manifests/configmap-sa-token-signing-certs.yaml":   "-----BEGIN PUBLIC KEY-----",
		"config": "- On=true",
		"bootstrap-manifests/kube-apiserver-pod.yaml": "image: " + s.Images["hyperkube"],
	} {
		if !strings.Contains(files[file], part) {
			t.Errorf("%s has no %s:\n%s", file, part, files[file])
		}
	}
	// A key that is there is kept; a certificate that is not there is empty.
	if err := os.Remove(filepath.Join(s.assets, "tls/kube-apiserver-lb-signer.crt")); err != nil {
		t.Fatal(err)
	}
	files, out, status = s.call(t, controlPlane[0])
	if secret := files["manifests/secret-loadbalancer-serving-signer.yaml"]; status != 0 || !strings.Contains(secret, "tls.crt: \n") {
		t.Errorf("status %d: %s%s", status, secret, out)
	}
	if again := s.contents(t, "tls"); again["bound-service-account-signing-key.key"] != tls["bound-service-account-signing-key.key"] {
		t.Error("the key was made again")
	}
}

func inBase64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// controlPlaneRefusals are those of the control plane, the machine
// configuration and the credentials; a key names what it is about.
var controlPlaneRefusals = map[string]refusal{
	"kube-apiserver: no status":             {stage: "kube-apiserver-bootstrap", file: gateFile, text: gates("9.9.9"), status: 255, says: `missing desired version "4.21.0-okd-scos.0" in featuregates.config.openshift.io/cluster`},
	"kube-apiserver: contradiction":         {stage: "kube-apiserver-bootstrap", file: "manifests/zz.yaml", text: contradiction, status: 255, says: "--rendered-manifest-files, are not consistent so results would be unpredictable"},
	"kube-apiserver: no manifests":          {stage: "kube-apiserver-bootstrap", drop: "--rendered-manifest-files", status: 255, says: "cannot return FeatureGate without rendered manifests"},
	"kube-apiserver: other manifests":       {stage: "kube-apiserver-bootstrap", swap: "--rendered-manifest-files=/assets/manifests/", status: 1, says: "stand-in: bootkube.sh of 4.21 gives --rendered-manifest-files=/assets/manifests, not"},
	"kube-apiserver: no Kubernetes version": {stage: "kube-apiserver-bootstrap", drop: "--operand-kubernetes-version", status: 255, says: "missing operand kubernetes version: --operand-kubernetes-version"},
	"kube-apiserver: v1.34":                 {stage: "kube-apiserver-bootstrap", swap: "--operand-kubernetes-version=v1.34", status: 255, says: "No Major.Minor.Patch elements found"},
	"kube-apiserver: v1.34.2":               {stage: "kube-apiserver-bootstrap", swap: "--operand-kubernetes-version=v1.34.2", status: 255, says: `Invalid character(s) found in major number "v1"`},
	"kube-apiserver: another version":       {stage: "kube-apiserver-bootstrap", swap: "--operand-kubernetes-version=1.30.0", status: 1, says: "stand-in: bootkube.sh of 4.21 gives --operand-kubernetes-version=1.34.2, not 1.30.0"},
	"kube-apiserver: 4.14 had none":         {stage: "kube-apiserver-bootstrap", release: "4.14", add: "--operand-kubernetes-version=1.27.16", status: 1, says: "unknown flag: --operand-kubernetes-version"},
	"kube-apiserver: not PEM":               {stage: "kube-apiserver-bootstrap", file: "tls/aggregator-signer.crt", text: "x", status: 255, says: `failed to render "secret-aggregator-client-signer.yaml": template: secret-aggregator-client-signer.yaml:7`},
	"kube-apiserver: half a key":            {stage: "kube-apiserver-bootstrap", file: "tls/bound-service-account-signing-key.key", text: "x", status: 255, says: "/assets/tls/bound-service-account-signing-key.key was supplied, but the matching public key is missing"},
	"kube-apiserver: the other half":        {stage: "kube-apiserver-bootstrap", file: "tls/bound-service-account-signing-key.pub", text: "x", status: 255, says: "/assets/tls/bound-service-account-signing-key.pub was supplied, but the matching private key is missing"},
	"kube-apiserver: no Network":            {stage: "kube-apiserver-bootstrap", file: "manifests/cluster-network-02-config.yml", status: 255, says: "open /assets/manifests/cluster-network-02-config.yml: no such file or directory"},
	"kube-apiserver: no image":              {stage: "kube-apiserver-bootstrap", swap: "--manifest-image=", status: 255, says: "missing required flag: --manifest-image"},
	"kcm: no kubeconfig":                    {stage: "kube-controller-manager-bootstrap", file: "auth/kubeconfig", status: 255, says: "failed to read /etc/kubernetes/bootstrap-secrets/kubeconfig: open /assets/auth/kubeconfig: no such file or directory"},
	"kcm: no second output":                 {stage: "kube-controller-manager-bootstrap", drop: "--cpc-config-output-file", status: 255, says: "missing required flag: --cpc-config-output-file"},
	"kcm: no status":                        {stage: "kube-controller-manager-bootstrap", file: gateFile, text: gates("9.9.9"), status: 255, says: "missing desired version"},
	"kcm: contradiction":                    {stage: "kube-controller-manager-bootstrap", file: "manifests/zz.yaml", text: contradiction, status: 255, says: "are not consistent"},
	"scheduler: no kubeconfig":              {stage: "kube-scheduler-bootstrap", file: "auth/kubeconfig", status: 255, says: "failed to read /etc/kubernetes/bootstrap-secrets/kubeconfig: open"},
	"scheduler: no tls":                     {stage: "kube-scheduler-bootstrap", file: "tls", status: 255, says: `failed loading assets from "/assets/tls": lstat /assets/tls: no such file or directory`},
	"scheduler: another image":              {stage: "kube-scheduler-bootstrap", swap: "--manifest-image=x", status: 1, says: "stand-in: bootkube.sh of 4.21 gives --manifest-image="},
	"mco: no DNS":                           {stage: "mco-bootstrap", release: "main", file: "manifests/cluster-dns-02-config.yml", status: 255, says: "parsing dependencies for MCO bootstrap: cannot read /assets/manifests/cluster-dns-02-config.yml"},
	"mco: no DNS, older":                    {stage: "mco-bootstrap", file: "manifests/cluster-dns-02-config.yml", status: 255, says: "error rendering bootstrap manifests: open /assets/manifests/cluster-dns-02-config.yml: no such file or directory"},
	"mco: no client CAs, older":             {stage: "mco-bootstrap", file: "tls/kube-apiserver-complete-client-ca-bundle.crt", status: 255, says: "error rendering bootstrap manifests: open /assets/tls/"},
	"mco: a DNS that is none":               {stage: "mco-bootstrap", file: "manifests/cluster-dns-02-config.yml", text: aNetwork, status: 1, says: "stand-in: "},
	"mco: no list of images":                {stage: "mco-bootstrap", file: "image-references", status: 255, says: "failed to read assets/image-references"},
	"mco: an empty list of images":          {stage: "mco-bootstrap", file: "image-references", text: "{}", status: 255, says: "Failed to find machine-config-operator in image references"},
	"mco: a tag":                            {stage: "mco-bootstrap", swap: "--release-image=quay.io/a/b:c", status: 1, says: "stand-in: bootkube.sh gives --release-image by digest"},
	"start: no assets":                      {stage: "cb-bootstrap", drop: "--asset-dir", status: 1, says: "Error: missing required flag: --asset-dir"},
	"start: no kubeconfig":                  {stage: "cb-bootstrap", status: 1, says: "Error: stat /assets/auth/kubeconfig-loopback: no such file or directory"},
	"start: torn down early":                {stage: "cb-bootstrap", swap: "--tear-down-early=true", status: 1, says: "stand-in: bootkube.sh of 4.21 gives --tear-down-early=false, not true"},
	"start: other pods":                     {stage: "cb-bootstrap", release: "main", swap: "--required-pods=kube-system/kube-apiserver", status: 1, says: "stand-in: bootkube.sh of main gives --required-pods=openshift-kube-apiserver/kube-apiserver,"},
	"start: an unknown flag":                {stage: "cb-bootstrap", release: "4.14", add: "--tear-down-late=1", status: 1, says: "unknown flag: --tear-down-late"},
	"mco: no output":                        {stage: "mco-bootstrap", drop: "--dest-dir", status: 1, says: `required flag(s) "dest-dir" not set`},
	"cco: no install-config":                {stage: "cco-bootstrap", file: "manifests/cluster-config.yaml", status: 1, says: "failed to find configmap kube-system/cluster-config-v1 in manifests"},
	"cco: its directory is there":           {stage: "cco-bootstrap", file: "cco-bootstrap/bootstrap-manifests/x", text: "x", status: 1, says: "mkdir /assets/cco-bootstrap/bootstrap-manifests: file exists"},
	"cco: an unknown mode":                  {stage: "cco-bootstrap", file: "manifests/cluster-config.yaml", text: assets.ClusterConfig("credentialsMode: Sometimes\n"), status: 1, says: "invalid mode defined: Sometimes"},
}

func gates(version string) string {
	return fmt.Sprintf("apiVersion: config.openshift.io/v1\nkind: FeatureGate\nmetadata: {name: cluster}\nstatus: {featureGates: [{version: %s}]}\n", version)
}

func TestStandInsOfTheControlPlaneRefuse(t *testing.T) {
	for _, release := range []string{"4.14", "4.21", "main"} {
		s := newStage(t, release, standin.Options{})
		for _, name := range sample.Of(t, 10, ofRelease(controlPlaneRefusals, release)) {
			t.Run(name, func(t *testing.T) {
				s.putControlPlane(t)
				s.refuses(t, controlPlaneRefusals[name])
			})
		}
	}
}

// Neither a mode without credentials nor a cluster without the capability is a
// mistake.
func TestCredentialsThatNobodyHandsOut(t *testing.T) {
	r := controlPlane[5]
	for config, want := range map[string][]string{
		"credentialsMode: Manual\n":                          credentialFiles[1:],
		"capabilities:\n  baselineCapabilitySet: None\n":     {},
		"capabilities:\n  baselineCapabilitySet: vCurrent\n": credentialFiles,
	} {
		s := newStage(t, r.release, standin.Options{})
		s.putControlPlane(t)
		write(t, filepath.Join(s.assets, "manifests/cluster-config.yaml"), assets.ClusterConfig(config))
		if files, out, status := s.call(t, r); status != 0 || !slices.Equal(sorted(files), want) {
			t.Errorf("%s: status %d: %v\n%s", config, status, sorted(files), out)
		}
	}
}

func TestTheMachineConfigOperatorOfMainMakesDoWithoutClientCAs(t *testing.T) {
	s := newStage(t, "main", standin.Options{})
	s.putControlPlane(t)
	if err := os.Remove(filepath.Join(s.assets, "tls/kube-apiserver-complete-client-ca-bundle.crt")); err != nil {
		t.Fatal(err)
	}
	files, out, status := s.call(t, controlPlane[4])
	if status != 0 || strings.Contains(files["manifests/kube-apiserver-serving-ca-configmap.yaml"], "BEGIN") {
		t.Errorf("status %d: %s", status, out)
	}
}
