package labs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"
)

func TestAnnotatedFilesLoadAndHoldTogether(t *testing.T) {
	files := BuiltinAnnotatedFiles()
	if err := validateAnnotatedFiles(files, Builtin(), BuiltinGuide()); err != nil {
		t.Error(err)
	}
	for _, path := range []string{"/etc/kubernetes/manifests/etcd-member-pod.yaml", "/etc/kubernetes/manifests/machineconfigoperator-bootstrap-pod.yaml",
		"bootstrap-manifests/kube-apiserver-pod.yaml", "bootstrap-manifests/kube-controller-manager-pod.yaml", "bootstrap-manifests/kube-scheduler-pod.yaml",
		"bootstrap-manifests/bootstrap-pod.yaml", "bootstrap-manifests/cloud-credential-operator-pod.yaml",
		"auth/kubeconfig", "auth/kubeconfig-kubelet", "auth/kubeconfig-loopback", "manifests/cluster-infrastructure-02-config.yml",
		"manifests/cvo-overrides.yaml", "manifests/99_feature-gate.yaml", "master.ign", "ignition/overlay.ign"} {
		if !slices.ContainsFunc(files, func(f *AnnotatedFile) bool { return f.Path == path }) {
			t.Errorf("%s is not annotated", path)
		}
	}
}

// Each mistake in otherwise good data is found, and by its own message.
func TestAnnotatedFileValidationFindsEachMistake(t *testing.T) {
	for name, mistake := range map[string]struct {
		make func(*AnnotatedFile)
		want string
	}{
		"a page's name with a dot":    {func(f *AnnotatedFile) { f.ID = "pod.yaml" }, `id "pod.yaml" is no name for a page`},
		"the name of a stage":         {func(f *AnnotatedFile) { f.ID = "render-etcd" }, "id render-etcd is that of a stage or a chapter"},
		"the name of a chapter":       {func(f *AnnotatedFile) { f.ID = "pki" }, "id pki is that of a stage or a chapter"},
		"no title":                    {func(f *AnnotatedFile) { f.Title = " " }, "the file has an empty text"},
		"no readers":                  {func(f *AnnotatedFile) { f.Readers = "" }, "the file has an empty text"},
		"no source":                   {func(f *AnnotatedFile) { f.Source = "" }, "the file has an empty text"},
		"another format":              {func(f *AnnotatedFile) { f.Format = "toml" }, `format "toml" is none of yaml, json`},
		"a release of no file":        {func(f *AnnotatedFile) { f.Since = "3.11" }, `the file: release "3.11" is not known`},
		"a condition on no key":       {func(f *AnnotatedFile) { f.When.With = []string{"colour"} }, `the file: lab.yaml has no key "colour"`},
		"a stage that is none":        {func(f *AnnotatedFile) { f.Stage = "render-nothing" }, `"render-nothing" is no stage`},
		"a stage that writes another": {func(f *AnnotatedFile) { f.Stage = "render-scheduler" }, "stage render-scheduler does not write /etc/kubernetes/manifests/etcd-member-pod.yaml"},
		"a path that no stage writes": {func(f *AnnotatedFile) { f.Path = "pod.yaml" }, "stage render-etcd does not write pod.yaml"},
		"a value that no file holds":  {func(f *AnnotatedFile) { f.Within = "secret.yaml" }, "stage render-etcd does not write secret.yaml"},
		"a place without a reason":    {func(f *AnnotatedFile) { f.Also[0].Why = "" }, "has an empty text"},
		"a place of no release":       {func(f *AnnotatedFile) { f.Also[0].Until = "5" }, `release "5" is not known`},
		"no parts":                    {func(f *AnnotatedFile) { f.Parts = nil }, "has no parts"},
		"a part without lines":        {func(f *AnnotatedFile) { f.Parts[0].Text = "\n" }, "part 1 has an empty text"},
		"a part without a reason":     {func(f *AnnotatedFile) { f.Parts[1].Why = "" }, "part 2 has an empty text"},
		"a part of no release":        {func(f *AnnotatedFile) { f.Parts[0].Until = "4.13" }, `part 1: release "4.13" is not known`},
		"a part on no key":            {func(f *AnnotatedFile) { f.Parts[0].When.Without = []string{"colour"} }, `part 1: lab.yaml has no key "colour"`},
		"a key that is none":          {func(f *AnnotatedFile) { f.Parts[0].LabKeys = []string{"colour"} }, `part 1: lab.yaml has no key "colour"`},
		"a name without a value":      {func(f *AnnotatedFile) { f.Parts[0].Text = "a: $COLOUR" }, "part 1: $COLOUR has no value"},
		"no look":                     {func(f *AnnotatedFile) { f.Looks = nil }, "does not say how to see the real one"},
		"a look without a command":    {func(f *AnnotatedFile) { f.Looks[0].Command = "" }, "a look has an empty text"},
		"a look without a value":      {func(f *AnnotatedFile) { f.Looks[0].Command = "ls $COLOUR" }, "a look: $COLOUR has no value"},
		"a look of no release":        {func(f *AnnotatedFile) { f.Looks[0].Since = "5" }, `a look: release "5" is not known`},
		"a look elsewhere":            {func(f *AnnotatedFile) { f.Looks[0].Place = "moon" }, `place "moon" is none of local, lab`},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := LoadAnnotatedFiles(dataFiles(t))
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(files, func(f *AnnotatedFile) bool { return f.ID == "etcd-member-pod" })
			mistake.make(files[i])
			if err := validateAnnotatedFiles(files, Builtin(), BuiltinGuide()); err == nil || !strings.Contains(err.Error(), mistake.want) {
				t.Errorf("%v, want %s", err, mistake.want)
			}
		})
	}
}

func TestAnnotatedFilesAreReadStrictly(t *testing.T) {
	for text, want := range map[string]string{
		"id: other\ncolour: red\n": "colour",
		"id: another\n":            `id is "another", the file is other.yaml`,
	} {
		files := dataFiles(t)
		files["files/other.yaml"] = &fstest.MapFile{Data: []byte(text)}
		if _, err := LoadAnnotatedFiles(files); err == nil || !strings.Contains(err.Error(), "files/other.yaml") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// everyAnnotatedFile calls visit for each file of every shipped lab in every
// release, with its parts put together.
func everyAnnotatedFile(t *testing.T, visit func(p *Plan, f *AnnotatedFile, text string)) {
	t.Helper()
	for _, example := range ExampleList() {
		for _, release := range Builtin().ReleaseIDs() {
			p := examplePlan(t, example.Name, release)
			for _, f := range p.AnnotatedFiles() {
				visit(p, f, whole(f))
			}
		}
	}
}

// examplePlan is a shipped lab in a release. The one of OCP lacks a file that
// its owner adds, so it is the default lab with OCP's name.
func examplePlan(t *testing.T, example, release string) *Plan {
	t.Helper()
	lab, problems := LoadLabFS(Examples, example, Builtin())
	distribution := "okd"
	if len(problems.Errors()) > 0 {
		lab, problems = LoadLabFS(Examples, "compact", Builtin())
		distribution = "ocp"
	}
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	lab.Release.Version, lab.Release.Distribution = release, distribution
	p, err := Builtin().Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func whole(f *AnnotatedFile) string {
	text := ""
	for _, part := range f.Parts {
		text += strings.TrimRight(part.Text, "\n") + "\n"
	}
	return text
}

// The parts of a file make a file: nothing is missing, twice, or left unfilled.
func TestThePartsOfAnAnnotatedFileMakeAFile(t *testing.T) {
	count := 0
	everyAnnotatedFile(t, func(p *Plan, f *AnnotatedFile, text string) {
		count++
		at := fmt.Sprintf("%s in %s of %s", f.ID, p.Release.ID, p.Lab.Topology)
		var content map[string]any
		if err := yaml.Unmarshal([]byte(text), &content); err != nil {
			t.Errorf("%s: %v", at, err)
		}
		if f.Format == "json" && !json.Valid([]byte(text)) {
			t.Errorf("%s is no JSON", at)
		}
		if left := valueNames(text); len(left) > 0 {
			t.Errorf("%s: %v was not filled in", at, left)
		}
		if strings.Contains(text, "<image  ") {
			t.Errorf("%s names an image variable that bootkube.sh of this release does not have", at)
		}
	})
	if want := len(ExampleList()) * len(Builtin().ReleaseIDs()) * 15; count != want {
		t.Errorf("%d files, want %d", count, want)
	}
}

// The ports that a pod names are ones that the guide lists for its node.
func TestPortsOfAnnotatedPodsAreInTheList(t *testing.T) {
	type pod struct {
		Spec struct {
			Containers []struct {
				Ports []struct {
					ContainerPort int `yaml:"containerPort"`
				}
			}
		}
	}
	found := 0
	everyAnnotatedFile(t, func(p *Plan, f *AnnotatedFile, text string) {
		var content pod
		if err := yaml.Unmarshal([]byte(text), &content); err != nil {
			t.Fatal(err)
		}
		for _, c := range content.Spec.Containers {
			for _, port := range c.Ports {
				found++
				listed := slices.ContainsFunc(BuiltinGuide().PortsOf("bootstrap", p), func(l Port) bool { return l.Number == fmt.Sprint(port.ContainerPort) })
				if !listed {
					t.Errorf("%s in %s: port %d is not in the list of ports", f.ID, p.Release.ID, port.ContainerPort)
				}
			}
		}
	})
	if found == 0 {
		t.Error("no pod names a port")
	}
}

func TestAnnotatedFilesFollowReleaseAndLab(t *testing.T) {
	text := func(p *Plan, id string) string {
		for _, f := range p.AnnotatedFiles() {
			if f.ID == id {
				return whole(f)
			}
		}
		t.Fatalf("%s is not there", id)
		return ""
	}
	one := examplePlan(t, "compact", "4.21")
	replicas := 1
	one.Lab.ControlPlane.Replicas = &replicas
	behindProxy := examplePlan(t, "compact", "4.21")
	behindProxy.Lab.Proxy.HTTPSProxy = "http://login:secret@proxy.example:3128"
	overridden := examplePlan(t, "compact", "4.21")
	overridden.Lab.Images = map[string]string{"etcd": "quay.io/mine/etcd:test"}
	for _, c := range []struct {
		name, id     string
		plan         *Plan
		holds, lacks string
	}{
		{"4.20 has the old flag", "etcd-member-pod", examplePlan(t, "compact", "4.20"), "--experimental-initial-corrupt-check", "InitialCorruptCheck"},
		{"4.21 has the new flag", "etcd-member-pod", examplePlan(t, "compact", "4.21"), "--feature-gates=InitialCorruptCheck=true", "experimental"},
		{"4.21 has no HTTP port", "etcd-member-pod", examplePlan(t, "compact", "4.21"), "2380", "2381"},
		{"main has an HTTP port", "etcd-member-pod", examplePlan(t, "compact", "main"), "containerPort: 2381", "experimental"},
		{"an image override", "etcd-member-pod", overridden, "image: quay.io/mine/etcd:test", "<image etcd"},
		{"the learners of one master", "etcd-member-pod", one, "name: \"ETCD_MAX_LEARNERS\"\n      value: \"1\"", "value: \"3\""},
		{"the end of one API server", "kube-apiserver-pod", one, "terminationGracePeriodSeconds: 15", "135"},
		{"the topology of one master", "cluster-infrastructure", one, "controlPlaneTopology: SingleReplica", "HighlyAvailable"},
		{"probes of 4.16", "kube-apiserver-pod", examplePlan(t, "compact", "4.16"), "initialDelaySeconds: 45", "startupProbe"},
		{"a proxy, without its login", "cloud-credential-operator-pod", behindProxy, "HTTPS_PROXY", "secret@"},
		{"no proxy", "cloud-credential-operator-pod", examplePlan(t, "compact", "4.21"), "kind: Pod", "env:"},
		{"OKD's channel", "cluster-version", examplePlan(t, "compact", "4.21"), "stable-scos-4", "stable-4.21"},
		{"OCP's channel", "cluster-version", examplePlan(t, "ocp-compact", "4.21"), "stable-4.21", "upstream"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := text(c.plan, c.id)
			if !strings.Contains(got, c.holds) || strings.Contains(got, c.lacks) {
				t.Errorf("want %q and not %q in:\n%s", c.holds, c.lacks, got)
			}
		})
	}
}

func TestAPartNamesTheKeysBehindItsValues(t *testing.T) {
	for _, f := range examplePlan(t, "compact", "4.21").AnnotatedFiles() {
		for _, part := range f.Parts {
			if f.ID == "kubeconfig" && part.Explains("server") && !slices.Equal(part.LabKeys, []string{"metadata.name", "baseDomain"}) {
				t.Errorf("keys of the server: %v", part.LabKeys)
			}
			if f.ID == "etcd-member-pod" && part.Explains("image") && !slices.Equal(part.LabKeys, []string{"release.image", "images"}) {
				t.Errorf("keys of the image: %v", part.LabKeys)
			}
		}
	}
}

func TestAPartExplainsItsFieldsFlagsAndVariables(t *testing.T) {
	part := Part{Text: "spec:\n  - name: \"ETCD_NAME\"\n    value: \"x\"\n  hostNetwork: true\n  - --listen-client-urls=https://[::1]:2379\n{\"a\": {\"version\": \"3.2.0\"}}\n"}
	for name, want := range map[string]bool{"spec": true, "hostNetwork": true, "ETCD_NAME": true, "--listen-client-urls": true, "version": true,
		"Network": false, "https": false, "--listen-client": false, "ETCD": false, "true": false} {
		if got := part.Explains(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
