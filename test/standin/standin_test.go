package standin_test

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"bootlab/standin/facts"
	"bootlab/test/assets"
	"bootlab/test/podman"
	"bootlab/test/registry"
	"bootlab/test/standin"
)

func TestMain(m *testing.M) { os.Exit(podman.Main(m)) }

// stage is a release, a podman and an asset directory to try it in.
type stage struct {
	*standin.Release
	env    *podman.Env
	assets string
}

func newStage(t *testing.T, release string, options standin.Options) *stage {
	t.Helper()
	account := podman.Accounts(t)[0]
	reg := registry.Start(t)
	env := podman.New(t, account, reg)
	r, err := standin.Push(reg, release, options)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{r, env, podman.TempDir(t, account)}
	if err := assets.Write(s.assets); err != nil {
		t.Fatal(err)
	}
	return s
}

// run runs an image as scripts do and gives what it said and its status.
func (s *stage) run(t *testing.T, image string, args ...string) (out string, status int) {
	t.Helper()
	return s.runWith(t, nil, image, args...)
}

// runWith is run with more options for podman.
func (s *stage) runWith(t *testing.T, options []string, image string, args ...string) (out string, status int) {
	t.Helper()
	words := append([]string{"run", "--quiet", "--net=host", "--rm", "--volume", s.assets + ":/assets:z"}, options...)
	cmd := s.env.Command("podman", append(append(words, image), args...)...)
	data, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(data), cmd.ProcessState.ExitCode()
}

func (s *stage) etcdArgs() []string {
	return []string{
		"/usr/bin/cluster-etcd-operator", "render",
		"--asset-output-dir=/assets/etcd-bootstrap",
		"--cluster-configmap-file=/assets/manifests/cluster-config.yaml",
		"--etcd-image=" + s.Images["etcd"],
		"--infra-config-file=/assets/manifests/cluster-infrastructure-02-config.yml",
		"--network-config-file=/assets/manifests/cluster-network-02-config.yml",
	}
}

func (s *stage) render(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(s.assets, "etcd-bootstrap")); err != nil {
		t.Fatal(err)
	}
	if out, status := s.run(t, s.Images["cluster-etcd-operator"], s.etcdArgs()...); status != 0 {
		t.Fatalf("status %d: %s", status, out)
	}
}

func (s *stage) read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.assets, "etcd-bootstrap", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestTheEtcdStandInRendersWhatTheOperatorDoes(t *testing.T) {
	s := newStage(t, "4.21", standin.Options{})
	s.render(t)
	host, _ := os.Hostname()
	certs := "etc-kubernetes/static-pod-resources/etcd-member/etcd-all-certs/"
	want := []string{
		"etc-kubernetes/manifests/etcd-member-pod.yaml", "etc-kubernetes/static-pod-resources/etcd-member/ca.crt",
		"tls/etcd-ca-bundle.crt", "tls/etcd-client.crt", "tls/etcd-client.key",
		"manifests/00_etcd-endpoints-cm.yaml", "manifests/00_openshift-etcd-ns.yaml", "manifests/openshift-etcd-svc.yaml",
	}
	for _, name := range []string{"etcd-all-bundles", "etcd-all-certs", "etcd-ca-bundle", "etcd-metrics-ca-bundle"} {
		want = append(want, "manifests/openshift-etcd-"+name+".yaml")
	}
	for _, name := range []string{"etcd-client", "etcd-metric-client", "etcd-metric-signer", "etcd-signer",
		"etcd-peer-" + host, "etcd-serving-" + host, "etcd-serving-metrics-" + host} {
		want = append(want, certs+name+".crt", certs+name+".key", "manifests/openshift-etcd-"+name+".yaml")
	}
	sort.Strings(want)
	if got := list(t, filepath.Join(s.assets, "etcd-bootstrap")); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	verify(t, s.read(t, "tls/etcd-ca-bundle.crt"), s.read(t, "tls/etcd-client.crt"))
	verify(t, s.read(t, "tls/etcd-ca-bundle.crt"), s.read(t, certs+"etcd-peer-"+host+".crt"))
}

func list(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			rel, _ := filepath.Rel(dir, path)
			files = append(files, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(files)
	return files
}

func verify(t *testing.T, ca, leaf string) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(ca))
	block, _ := pem.Decode([]byte(leaf))
	if block == nil {
		t.Fatalf("no certificate in %q", leaf)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	options := x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	if _, err := certificate.Verify(options); err != nil {
		t.Error(err)
	}
}

func TestTwoEtcdRendersShareThePodManifestAndNoAuthority(t *testing.T) {
	s := newStage(t, "main", standin.Options{})
	pod, ca := "etc-kubernetes/manifests/etcd-member-pod.yaml", "tls/etcd-ca-bundle.crt"
	s.render(t)
	firstPod, firstCA := s.read(t, pod), s.read(t, ca)
	s.render(t)
	if s.read(t, pod) != firstPod {
		t.Error("the pod manifests differ")
	}
	if s.read(t, ca) == firstCA {
		t.Error("the authority is the same")
	}
}

// mistakes are calls and inputs that the etcd operator, or its stand-in alone,
// refuses.
func mistakes() map[string]mistake {
	noMachines := strings.Replace(assets.InstallConfig, "  machineNetwork:\n  - cidr: 192.168.126.0/24\n", "", 1)
	reserved := strings.Replace(assets.InstallConfig, "192.168.126.0", "192.0.2.0", 1)
	noPlane := strings.Replace(assets.InstallConfig, "controlPlane:\n  name: master\n  replicas: 3\n", "", 1)
	noStatus := strings.Replace(assets.Infrastructure, "  platformStatus:\n    type: None\n", "", 1)
	return map[string]mistake{
		"a flag of another release":  {add: "--etcd-ca=x", status: 1, says: "unknown flag: --etcd-ca"},
		"no etcd image":              {drop: "--etcd-image", status: 255, says: "missing required flag: --etcd-image"},
		"an empty etcd image":        {swap: "--etcd-image=", status: 255, says: "missing required flag: --etcd-image"},
		"another etcd image":         {swap: "--etcd-image=x", status: 1, says: "stand-in: bootkube.sh of 4.20 gives --etcd-image="},
		"another output directory":   {swap: "--asset-output-dir=/assets/x", status: 1, says: "stand-in: bootkube.sh"},
		"a flag twice":               {add: "--etcd-image=x", status: 1, says: "given twice"},
		"a word too many":            {add: "word", status: 1, says: "stand-in: bootkube.sh gives no argument"},
		"an absent cluster config":   {file: "cluster-config.yaml", status: 255, says: "failed to get cluster configmap: open"},
		"an absent infrastructure":   {file: "cluster-infrastructure-02-config.yml", status: 255, says: "failed to get infrastructure config: open"},
		"no machine network":         {file: "cluster-config.yaml", text: assets.ClusterConfig(noMachines), status: 2, says: "panic: "},
		"a reserved machine network": {file: "cluster-config.yaml", text: assets.ClusterConfig(reserved), status: 255, says: "reserved and unsupported"},
		"no control plane":           {file: "cluster-config.yaml", text: assets.ClusterConfig(noPlane), status: 255, says: "unrecognized data structure in controlPlane field"},
		"no platform status":         {file: "cluster-infrastructure-02-config.yml", text: noStatus, status: 2, says: "panic: "},
		"a file of another kind":     {file: "cluster-network-02-config.yml", text: assets.Infrastructure, status: 1, says: "stand-in: "},
	}
}

type mistake struct {
	file, text      string // put in place of a manifest
	drop, add, swap string // done to the flags
	status          int
	says            string
}

func TestTheEtcdStandInRefuses(t *testing.T) {
	s := newStage(t, "4.20", standin.Options{})
	for name, c := range mistakes() {
		t.Run(name, func(t *testing.T) {
			if err := assets.Write(s.assets); err != nil {
				t.Fatal(err)
			}
			if c.file != "" {
				replace(t, filepath.Join(s.assets, "manifests", c.file), c.text)
			}
			out, status := s.run(t, s.Images["cluster-etcd-operator"], changed(s.etcdArgs(), c.drop, c.add, c.swap)...)
			if status != c.status || !strings.Contains(out, c.says) {
				t.Errorf("status %d, not %d; said %s", status, c.status, out)
			}
		})
	}
}

// replace writes a file, or removes it where there is no text.
func replace(t *testing.T, path, text string) {
	t.Helper()
	err := os.WriteFile(path, []byte(text), 0o644)
	if text == "" {
		err = os.Remove(path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// changed drops a flag, adds one, or gives one another value.
func changed(args []string, drop, add, swap string) []string {
	var out []string
	swapName, _, _ := strings.Cut(swap, "=")
	for _, a := range args {
		name, _, _ := strings.Cut(a, "=")
		switch {
		case drop != "" && name == drop:
		case swap != "" && name == swapName:
			out = append(out, swap)
		default:
			out = append(out, a)
		}
	}
	if add != "" {
		out = append(out, add)
	}
	return out
}

func TestAnExistingOutputDirectoryIsRefused(t *testing.T) {
	s := newStage(t, "4.14", standin.Options{})
	s.render(t)
	if out, status := s.run(t, s.Images["cluster-etcd-operator"], s.etcdArgs()...); status != 1 || !strings.Contains(out, "removes it first") {
		t.Errorf("status %d: %s", status, out)
	}
}

func TestSilentFaultsReportSuccess(t *testing.T) {
	s := newStage(t, "4.19", standin.Options{Faults: map[string][]string{"cluster-etcd-operator": {"empty-image", "no-client-key"}}})
	s.render(t)
	if pod := s.read(t, "etc-kubernetes/manifests/etcd-member-pod.yaml"); strings.Count(pod, "image: \n") != 2 {
		t.Error("the pod has an image:", pod)
	}
	if _, err := os.Stat(filepath.Join(s.assets, "etcd-bootstrap/tls/etcd-client.key")); err == nil {
		t.Error("the client key is there")
	}
}

func TestTheReleaseImageAnswers(t *testing.T) {
	s := newStage(t, "4.21", standin.Options{})
	if out, status := s.run(t, s.Image, "image", "etcd"); status != 0 || out != s.Images["etcd"] {
		t.Errorf("status %d: %s", status, out)
	}
	if out, status := s.run(t, s.Image, "image", "etdc"); status != 255 || !strings.Contains(out, "could not find etdc in UpdatePayload") {
		t.Errorf("status %d: %s", status, out)
	}
	out, err := s.env.Podman("run", "--rm", "--net=none", "--entrypoint", "cat", s.Image, "/release-manifests/image-references")
	if err != nil {
		t.Fatal(err)
	}
	var references struct {
		Spec struct{ Tags []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(out), &references); err != nil || len(references.Spec.Tags) != len(s.Images) {
		t.Errorf("%v: %s", err, out)
	}
	out, err = s.env.Podman("run", "--rm", "--net=none", "--entrypoint", "cat", s.TagImage, "/release-manifests/release-metadata")
	if err != nil || !strings.Contains(out, `"version": "4.21.0-okd-scos.0"`) {
		t.Errorf("%v: %s", err, out)
	}
}

func TestTheReleaseImageRendersWithTheFlagsOfItsRelease(t *testing.T) {
	for release, extra := range map[string][]string{
		"4.16": nil,
		"4.21": {"--feature-gate-manifest-path=/assets/manifests/99_feature-gate.yaml"},
	} {
		s := newStage(t, release, standin.Options{AnyImage: true})
		s.put(t)
		args := append([]string{"render", "--output-dir=/assets/cvo-bootstrap", "--release-image=" + s.Image}, extra...)
		if out, status := s.run(t, s.Image, args...); status != 0 {
			t.Errorf("%s: status %d: %s", release, status, out)
		}
		out, status := s.run(t, s.Image, append(args, "--cluster-version-manifest-path=x")...)
		if status != 1 || !strings.Contains(out, "unknown flag: --cluster-version-manifest-path") {
			t.Errorf("%s: status %d: %s", release, status, out)
		}
	}
}

func TestEveryReleaseCanBeBuilt(t *testing.T) {
	list, err := facts.Load()
	if err != nil {
		t.Fatal(err)
	}
	reg := registry.Start(t)
	seen := map[string]bool{}
	for _, id := range list.Releases {
		r, err := standin.Push(reg, id, standin.Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if seen[r.Image] {
			t.Errorf("%s is the same as another release", id)
		}
		seen[r.Image] = true
	}
}
