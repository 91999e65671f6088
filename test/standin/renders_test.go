package standin_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bootlab/labs/sample"
	"bootlab/standin/role"
	"bootlab/test/assets"
	"bootlab/test/standin"
)

// render is a stage of bootkube.sh, where its operator writes, and what.
type render struct {
	stage, release, dir string
	files               []string
	// faults are those that its image can have without saying so.
	faults []string
}

// apiFiles are how many CRDs the API stage writes.
const apiFiles = 22

var renders = []render{
	{"api-bootstrap", "4.21", "api-bootstrap", nil, []string{"no-crds", "few-crds"}},
	{"auth-api-bootstrap", "main", "auth-api-bootstrap/manifests",
		[]string{"authorization.openshift.io_rolebindingrestrictions.yaml"}, []string{"no-crd", "empty-crd", "other-crd"}},
	{"config-bootstrap", "4.14", "config-bootstrap", nil, []string{"no-crds", "few-crds", "no-cloud-config", "other-cloud-config"}},
	{"config-bootstrap", "main", "config-bootstrap",
		[]string{"cloud-provider-config-generated.yaml"}, []string{"no-cloud-config", "other-cloud-config"}},
	{"cvo-bootstrap", "main", "cvo-bootstrap", versionFiles, []string{
		"no-pod", "other-pod", "empty-image", "other-image", "no-manifests", "no-namespace", "no-crd", "no-deployment",
		"empty-deployment-image", "other-deployment-image",
	}},
	{"ingress-operator-bootstrap", "4.20", "ingress-operator-manifests",
		[]string{"cluster-ingress-00-custom-resource-definition.yaml", "cluster-ingress-00-namespace.yaml"},
		[]string{"no-crd", "other-crd", "no-namespace", "other-namespace"}},
	{"node-tuning-bootstrap", "4.18", "node-tuning-bootstrap", []string{}, nil},
}

var versionFiles = []string{
	"bootstrap/bootstrap-pod.yaml",
	"manifests/0000_00_cluster-version-operator_00_namespace.yaml",
	"manifests/0000_00_cluster-version-operator_01_adminack_configmap.yaml",
	"manifests/0000_00_cluster-version-operator_01_admingate_configmap.yaml",
	"manifests/0000_00_cluster-version-operator_01_clusteroperators.crd.yaml",
	"manifests/0000_00_cluster-version-operator_01_clusterversions-Default.crd.yaml",
	"manifests/0000_00_cluster-version-operator_02_networkpolicy.yaml",
	"manifests/0000_00_cluster-version-operator_02_service_account-cluster-version-operator.yaml",
	"manifests/0000_00_cluster-version-operator_02_service_account-update-payload.yaml",
	"manifests/0000_00_cluster-version-operator_03_roles-cluster-version-operator.yaml",
	"manifests/0000_00_cluster-version-operator_03_roles-default.yaml",
	"manifests/0000_00_cluster-version-operator_30_deployment.yaml",
	"manifests/0000_00_cluster-version-operator_40_service.yaml",
}

// inputs are what the renders read beyond what package assets writes.
var inputs = map[string]string{
	"manifests/99_feature-gate.yaml": "apiVersion: config.openshift.io/v1\nkind: FeatureGate\nmetadata:\n  name: cluster\nspec: {}\n",
	"manifests/cvo-overrides.yaml":   "apiVersion: config.openshift.io/v1\nkind: ClusterVersion\nmetadata:\n  name: version\n  namespace: openshift-cluster-version\n",
	"tls/root-ca.crt":                "",
}

func newRenderStage(t *testing.T, release string) *stage {
	t.Helper()
	s := newStage(t, release, standin.Options{})
	s.put(t)
	return s
}

// put rewrites the inputs.
func (s *stage) put(t *testing.T) {
	t.Helper()
	for name, text := range inputs {
		write(t, filepath.Join(s.assets, name), text)
	}
}

// call runs a stage as bootkube.sh does, with more options for podman, and
// gives the files that it wrote.
func (s *stage) call(t *testing.T, r render, options ...string) (files map[string]string, out string, status int) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(s.assets, strings.Split(r.dir, "/")[0])); err != nil {
		t.Fatal(err)
	}
	image, args, err := s.Call(r.stage)
	if err != nil {
		t.Fatal(err)
	}
	out, status = s.runWith(t, options, image, args...)
	return s.contents(t, r.dir), out, status
}

// contents are the files below a directory, if there is one.
func (s *stage) contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	if _, err := os.Stat(filepath.Join(s.assets, dir)); err != nil {
		return all
	}
	for _, name := range list(t, filepath.Join(s.assets, dir)) {
		all[name] = read(t, filepath.Join(s.assets, dir, name))
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestStandInsRenderWhatOperatorsDo(t *testing.T) {
	for _, r := range renders {
		t.Run(r.stage+" "+r.release, func(t *testing.T) {
			s := newRenderStage(t, r.release)
			good, out, status := s.call(t, r)
			if status != 0 {
				t.Fatalf("status %d: %s", status, out)
			}
			switch names := sorted(good); {
			case r.files != nil && !slices.Equal(names, r.files):
				t.Errorf("got\n%s", strings.Join(names, "\n"))
			case r.files == nil && len(names) < apiFiles:
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

func sorted(files map[string]string) []string {
	names := slices.Collect(maps.Keys(files))
	slices.Sort(names)
	return names
}

const gateFile = "manifests/99_feature-gate.yaml"

func TestTheGatesAreSettledForTheVersionOfThePayload(t *testing.T) {
	for _, r := range []render{renders[0], renders[2]} {
		t.Run(r.stage, func(t *testing.T) {
			s := newRenderStage(t, r.release)
			for fault, version := range map[string]string{"": s.Version, "no-status": "", "other-version": "0.0.1-snapshot"} {
				s.put(t)
				if _, out, status := s.call(t, r, "--env="+role.FaultVariable+"="+fault); status != 0 {
					t.Fatalf("%s: status %d: %s", fault, status, out)
				}
				var gate struct {
					Status struct{ FeatureGates []struct{ Version string } }
				}
				if err := json.Unmarshal([]byte(read(t, filepath.Join(s.assets, gateFile))), &gate); err != nil {
					t.Fatal(err)
				}
				found := ""
				for _, g := range gate.Status.FeatureGates {
					found += g.Version
				}
				if found != version {
					t.Errorf("%q: the status is for %q, not %q", fault, found, version)
				}
			}
		})
	}
}

// An operator that is told of a profile it does not know says nothing.
func TestAnUnknownProfileHasNoTypesAndCannotBeTakenBack(t *testing.T) {
	s := newRenderStage(t, "4.21")
	image, args, err := s.Call("api-bootstrap")
	if err != nil {
		t.Fatal(err)
	}
	out, status := s.run(t, image, changed(args, "", "", "--cluster-profile=nonsense")...)
	if status != 0 || len(list(t, filepath.Join(s.assets, "api-bootstrap"))) > 0 {
		t.Errorf("status %d: %s", status, out)
	}
	if _, out, status := s.call(t, renders[0]); status != 2 || !strings.Contains(out, "manifest has cluster-profile preferences ([include.release.openshift.io/nonsense])") {
		t.Errorf("status %d: %s", status, out)
	}
}

// refusal is what an operator, or its stand-in alone, does not take.
type refusal struct {
	stage, release  string
	file, text      string // put in place of a file
	drop, add, swap string // done to the flags
	status          int
	says            string
}

var (
	contradiction = "apiVersion: config.openshift.io/v1\nkind: Network\nmetadata:\n  name: cluster\nspec:\n  serviceNetwork: [10.0.0.0/8]\n"
	aNetwork      = "apiVersion: config.openshift.io/v1\nkind: Network\nmetadata:\n  name: cluster\n"
	profile       = "apiVersion: performance.openshift.io/v2\nkind: PerformanceProfile\nmetadata: {name: p}\nspec: {nodeSelector: {%s: \"\"}}\n"
)

var refusals = map[string]refusal{
	"api: no FeatureGate":          {stage: "api-bootstrap", file: gateFile, status: 2, says: "no FeatureGates found in manfest dir: [/assets/manifests]"},
	"api: no version":              {stage: "api-bootstrap", swap: "--payload-version=", status: 2, says: `problem parsing payload version: strconv.ParseUint: parsing "": invalid syntax`},
	"api: another version":         {stage: "api-bootstrap", swap: "--payload-version=1.2.3", status: 1, says: "stand-in: bootkube.sh of 4.21 gives"},
	"api: an unknown flag":         {stage: "api-bootstrap", add: "--frob=1", status: 2, says: "flag provided but not defined: -frob"},
	"auth-api: no output":          {stage: "auth-api-bootstrap", drop: "--asset-output-dir", status: 1, says: "creating asset-output-dir: mkdir : no such file or directory"},
	"config: no Infrastructure":    {stage: "config-bootstrap", file: "manifests/cluster-infrastructure-02-config.yml", status: 255, says: "failed to stat /assets/manifests/cluster-infrastructure-02-config.yml"},
	"config: no tls":               {stage: "config-bootstrap", file: "tls", status: 255, says: `failed loading assets from "/assets/tls": lstat /assets/tls: no such file or directory`},
	"config: no output":            {stage: "config-bootstrap", drop: "--config-output-file", status: 255, says: "missing required flag: --config-output-file"},
	"config: APIs, too":            {stage: "config-bootstrap", drop: "--skip-api-rendering", status: 1, says: "stand-in: bootkube.sh of 4.21 gives --skip-api-rendering"},
	"config: APIs of another":      {stage: "config-bootstrap", release: "4.14", add: "--skip-api-rendering", status: 1, says: "unknown flag: --skip-api-rendering"},
	"config: no FeatureGate":       {stage: "config-bootstrap", release: "4.14", file: gateFile, status: 255, says: "no FeatureGates found in manfest dir: [/assets/manifests]"},
	"config: no object":            {stage: "config-bootstrap", file: "manifests/notes", text: "hello: you\n", status: 255, says: `unable to decode "/assets/manifests/notes"`},
	"config: contradiction":        {stage: "config-bootstrap", file: "manifests/zz.yaml", text: contradiction, status: 255, says: `are not consistent so results would be unpredictable depending on apply order: "/assets/manifests/cluster-network-02-config.yml" and "/assets/manifests/zz.yaml" both set Network.config.openshift.io/cluster in ns/, but have different values`},
	"cvo: no release image":        {stage: "cvo-bootstrap", drop: "--release-image", status: 255, says: "missing --release-image flag, it is required"},
	"cvo: a tag":                   {stage: "cvo-bootstrap", swap: "--release-image=quay.io/a/b:c", status: 1, says: "stand-in: bootkube.sh gives --release-image by digest"},
	"cvo: no FeatureGate":          {stage: "cvo-bootstrap", file: gateFile, status: 2, says: "panic: "},
	"cvo: no ClusterVersion":       {stage: "cvo-bootstrap", release: "main", file: "manifests/cvo-overrides.yaml", status: 2, says: "panic: "},
	"cvo: another FeatureGate":     {stage: "cvo-bootstrap", file: gateFile, text: aNetwork, status: 255, says: "FeatureGate manifest 99_feature-gate.yaml GroupVersionKind config.openshift.io/v1, Kind=Network, but expected config.openshift.io/v1, Kind=FeatureGate"},
	"cvo: another ClusterVersion":  {stage: "cvo-bootstrap", release: "main", file: "manifests/cvo-overrides.yaml", text: aNetwork, status: 255, says: "but expected config.openshift.io/v1, Kind=ClusterVersion"},
	"ingress: no output":           {stage: "ingress-operator-bootstrap", drop: "--output-dir", status: 1, says: `required flag(s) "output-dir" not set`},
	"node-tuning: no output":       {stage: "node-tuning-bootstrap", drop: "--asset-output-dir", status: 255, says: "asset-output-dir must be specified"},
	"node-tuning: no pool":         {stage: "node-tuning-bootstrap", file: "manifests/p.yaml", text: fmt.Sprintf(profile, "other"), status: 255, says: `no MCP found that matches performance profile node selector "other="`},
	"node-tuning: a file of waste": {stage: "node-tuning-bootstrap", file: "manifests/p.yaml", text: "{", status: 255, says: "error parsing manifests from /assets/manifests/p.yaml"},
}

func TestStandInsRefuse(t *testing.T) {
	for _, release := range []string{"4.14", "4.21", "main"} {
		t.Run(release, func(t *testing.T) {
			s := newRenderStage(t, release)
			for _, name := range sample.Of(t, 8, ofRelease(refusals, release)) {
				t.Run(name, func(t *testing.T) {
					s.renew(t)
					s.refuses(t, refusals[name])
				})
			}
		})
	}
}

// ofRelease are the names of the refusals that are tried with a release: 4.21
// unless one names another.
func ofRelease(all map[string]refusal, release string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if cmp.Or(all[name].release, "4.21") == release {
			names = append(names, name)
		}
	}
	return names
}

func (s *stage) refuses(t *testing.T, c refusal) {
	t.Helper()
	if c.file != "" {
		if err := os.RemoveAll(filepath.Join(s.assets, c.file)); err != nil {
			t.Fatal(err)
		}
	}
	if c.text != "" {
		write(t, filepath.Join(s.assets, c.file), c.text)
	}
	image, args, err := s.Call(c.stage)
	if err != nil {
		t.Fatal(err)
	}
	out, status := s.run(t, image, changed(args, c.drop, c.add, c.swap)...)
	if status != c.status || !strings.Contains(out, c.says) {
		t.Errorf("status %d, not %d; said %s", status, c.status, out)
	}
}

// renew gives the asset directory nothing but the inputs.
func (s *stage) renew(t *testing.T) {
	t.Helper()
	for _, name := range list(t, s.assets) {
		if err := os.Remove(filepath.Join(s.assets, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := assets.Write(s.assets); err != nil {
		t.Fatal(err)
	}
	s.put(t)
}
