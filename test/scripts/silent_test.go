package scripts

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/labs/sample"
	"bootlab/test/podman"
	"bootlab/test/standin"
)

// silent is a render that reports success and is broken: by a fault of its
// image, or by an input that it takes without looking.
type silent struct {
	stage, fault string
	// damage is done to the inputs, in shell, as by a fixture.
	damage string
	// check must fail.
	check string
	// release has the check; empty is the usual one.
	release string
}

var silents = []silent{
	{stage: "render-api", fault: "no-crds", check: "crds"},
	{stage: "render-api", fault: "few-crds", check: "crds"},
	{stage: "render-api", fault: "no-status", check: "gates-of-version"},
	{stage: "render-api", fault: "other-version", check: "gates-of-version"},
	{stage: "render-auth-api", fault: "no-crd", check: "crd"},
	{stage: "render-auth-api", fault: "empty-crd", check: "crd"},
	{stage: "render-auth-api", fault: "other-crd", check: "crd"},
	{stage: "render-config", fault: "no-cloud-config", check: "cloud-config"},
	{stage: "render-config", fault: "other-cloud-config", check: "cloud-config"},
	{stage: "render-config", damage: "edit 's/^kind: Infrastructure$/kind: Region/' manifests/cluster-infrastructure-02-config.yml", check: "infrastructure"},
	{stage: "render-config", fault: "no-crds", check: "crds", release: "4.14"},
	{stage: "render-config", fault: "few-crds", check: "crds", release: "4.14"},
	{stage: "render-config", fault: "no-status", check: "gates-of-version", release: "4.14"},
	{stage: "render-config", fault: "other-version", check: "gates-of-version", release: "4.14"},
	{stage: "render-cvo", fault: "no-pod", check: "pod-name"},
	{stage: "render-cvo", fault: "other-pod", check: "pod-name"},
	{stage: "render-cvo", fault: "empty-image", check: "pod-image"},
	{stage: "render-cvo", fault: "other-image", check: "pod-image"},
	{stage: "render-cvo", fault: "no-manifests", check: "operator-manifests"},
	{stage: "render-cvo", fault: "no-namespace", check: "operator-manifests"},
	{stage: "render-cvo", fault: "no-crd", check: "operator-manifests"},
	{stage: "render-cvo", fault: "no-deployment", check: "deployment-image"},
	{stage: "render-cvo", fault: "empty-deployment-image", check: "deployment-image"},
	{stage: "render-cvo", fault: "other-deployment-image", check: "deployment-image"},
	{stage: "render-kube-apiserver", fault: "other-name", check: "pod-name"},
	{stage: "render-kube-apiserver", fault: "empty-image", check: "pod-image"},
	{stage: "render-kube-apiserver", fault: "other-image", check: "pod-image-of-release"},
	{stage: "render-kube-apiserver", fault: "no-pod", check: "pod-copied"},
	{stage: "render-kube-apiserver", fault: "no-config", check: "config-copied"},
	{stage: "render-kube-apiserver", fault: "no-manifests", check: "manifests-copied"},
	{stage: "render-kube-apiserver", fault: "empty-signer", check: "signer-certificates"},
	{stage: "render-kube-apiserver", fault: "empty-signer-key", check: "signer-keys"},
	{stage: "render-kube-apiserver", fault: "empty-ca", check: "client-cas"},
	{stage: "render-kube-apiserver", fault: "empty-public-key", check: "token-public-key"},
	{stage: "render-kube-apiserver", fault: "foreign-bound-key", check: "bound-key"},
	{stage: "render-kube-apiserver", damage: ": > tls/kube-apiserver-lb-signer.crt", check: "signer-certificates"},
	{stage: "render-kube-apiserver", damage: "rm tls/kube-apiserver-lb-signer.key", check: "signer-keys"},
	{stage: "render-kube-apiserver", damage: "rm tls/admin-kubeconfig-ca-bundle.crt", check: "client-cas"},
	{stage: "render-kube-apiserver", damage: ": > tls/service-account.pub", check: "token-public-key"},
	{stage: "render-kube-apiserver", damage: ": > tls/etcd-ca-bundle.crt", check: "etcd-client"},
	{stage: "render-kcm", fault: "other-name", check: "pod-name"},
	{stage: "render-kcm", fault: "empty-image", check: "pod-image"},
	{stage: "render-kcm", fault: "other-image", check: "pod-image-of-release"},
	{stage: "render-kcm", fault: "no-pod", check: "pod-copied"},
	{stage: "render-kcm", fault: "no-config", check: "config-copied"},
	{stage: "render-kcm", fault: "no-cpc-config", check: "cpc-config-copied"},
	{stage: "render-kcm", fault: "no-manifests", check: "manifests-copied"},
	{stage: "render-kcm", fault: "empty-signer", check: "csr-signer-certificate"},
	{stage: "render-kcm", fault: "empty-signer-key", check: "csr-signer-key"},
	{stage: "render-kcm", fault: "empty-token-key", check: "token-key"},
	{stage: "render-kcm", fault: "empty-ca", check: "csr-ca"},
	{stage: "render-kcm", damage: ": > tls/kubelet-signer.crt", check: "csr-signer-certificate"},
	{stage: "render-kcm", damage: ": > tls/kubelet-signer.key", check: "csr-signer-key"},
	{stage: "render-kcm", damage: ": > tls/service-account.key", check: "token-key"},
	{stage: "render-kcm", damage: ": > tls/kubelet-client-ca-bundle.crt", check: "csr-ca"},
	{stage: "render-scheduler", fault: "other-name", check: "pod-name"},
	{stage: "render-scheduler", fault: "empty-image", check: "pod-image"},
	{stage: "render-scheduler", fault: "other-image", check: "pod-image-of-release"},
	{stage: "render-scheduler", fault: "no-pod", check: "pod-copied"},
	{stage: "render-scheduler", fault: "no-config", check: "config-copied"},
	{stage: "render-scheduler", fault: "no-namespace", check: "namespace-copied"},
	{stage: "render-ingress", fault: "no-crd", check: "crd"},
	{stage: "render-ingress", fault: "other-crd", check: "crd"},
	{stage: "render-ingress", fault: "no-namespace", check: "namespace"},
	{stage: "render-ingress", fault: "other-namespace", check: "namespace"},
	{stage: "render-node-tuning", fault: "no-directory", check: "ran"},
	{stage: "render-mco", fault: "other-name", check: "pod-name"},
	{stage: "render-mco", fault: "empty-image", check: "pod-image"},
	{stage: "render-mco", fault: "other-image", check: "pod-image-of-release"},
	{stage: "render-mco", fault: "no-pod", check: "pod-placed"},
	{stage: "render-mco", fault: "no-controller-config", check: "controller-files"},
	{stage: "render-mco", fault: "no-pools", check: "controller-files"},
	{stage: "render-mco", fault: "no-pull-secret", check: "controller-files"},
	{stage: "render-mco", fault: "no-manifests", check: "manifests-copied"},
	{stage: "render-mco", fault: "empty-root-ca", check: "node-ca"},
	{stage: "render-mco", fault: "empty-kube-ca", check: "client-cas"},
	{stage: "render-mco", damage: "echo nonsense > tls/root-ca.crt", check: "node-ca"},
	{stage: "render-mco", damage: ": > tls/kube-apiserver-complete-client-ca-bundle.crt", check: "client-cas"},
	{stage: "render-mco", damage: ": > manifests/openshift-config-secret-pull-secret.yaml", check: "controller-files"},
	{stage: "render-mco", damage: "edit 's/^kind: Secret$/kind: ConfigMap/' manifests/openshift-config-secret-pull-secret.yaml", check: "pull-secret-kind"},
	{stage: "render-mco", damage: ": > auth/kubeconfig-kubelet", check: "kubeconfig-kind"},
	{stage: "render-cco", fault: "empty-image", check: "pod-image"},
	{stage: "render-cco", fault: "no-image", check: "pod-image"},
	{stage: "render-cco", fault: "other-image", check: "pod-image-of-release"},
	{stage: "render-cco", fault: "no-pod", check: "pod"},
	{stage: "render-cco", fault: "no-manifests", check: "manifests"},
	{stage: "render-cco", fault: "no-namespace", check: "manifests"},
	{stage: "render-cco", fault: "no-types", check: "types"},
}

// image is the payload name of the stage's image, or "release".
func (s silent) image() string { return labs.Builtin().Stage(s.stage).Run.Image }

// TestEverySilentFailureIsCaught: exit 0 of an operator is no proof. The stage
// alone is repeated, on a finished lab from which its results were taken; the
// faulty image comes in by its line in release-info, since generating a lab and
// running all that comes before for each fault would take hours.
func TestEverySilentFailureIsCaught(t *testing.T) {
	t.Parallel()
	byRelease := map[string]map[string][]silent{}
	for _, row := range sample.Of(t, 12, silents) {
		if row.release == "" {
			row.release = release
		}
		if byRelease[row.release] == nil {
			byRelease[row.release] = map[string][]silent{}
		}
		byRelease[row.release][row.stage] = append(byRelease[row.release][row.stage], row)
	}
	for id, stages := range byRelease {
		t.Run(id, func(t *testing.T) {
			base := finished(t, id, stages)
			for stage, rows := range stages {
				// Two containers of one stage have one name, so a stage's rows
				// take turns.
				t.Run(stage, func(t *testing.T) {
					t.Parallel()
					images := pushFaulty(t, id, rows)
					for i, row := range rows {
						t.Run(cmp.Or(row.fault, "an input")+" "+row.check, func(t *testing.T) { row.isCaught(t, base, images[i]) })
					}
				})
			}
		})
	}
}

// finished is a lab on which all scripts have run, up to the last of the stages
// at least, with a podman of its own.
func finished(t *testing.T, id string, stages map[string][]silent) *Lab {
	t.Helper()
	if id == release {
		return Good(t, podman.Ordinary(t), labs.Local).Apart(t)
	}
	last := ""
	for _, s := range Stages(t, id, labs.Local) {
		if stages[s.ID] != nil {
			last = s.ID
		}
	}
	return upTo(t, id, usualLab, last)
}

// pushFaulty gives an image for each row, in the order of the rows; a row
// without a fault has none.
func pushFaulty(t *testing.T, id string, rows []silent) []string {
	t.Helper()
	images := make([]string, len(rows))
	for i, row := range rows {
		if row.fault == "" {
			continue
		}
		r, err := standin.Push(Registry(t), id, standin.Options{Faults: map[string][]string{row.image(): {row.fault}}})
		if err != nil {
			t.Fatal(err)
		}
		images[i] = r.Images[row.image()]
		if row.image() == "release" {
			images[i] = r.Image
		}
	}
	return images
}

func (row silent) isCaught(t *testing.T, base *Lab, image string) {
	s := stageOf(t, row.release, row.stage)
	l := base.Clone(t)
	l.unmade(t, s)
	if image != "" {
		l.putImage(t, row.image(), image)
	}
	if row.damage != "" {
		fixture{Break: row.damage}.apply(t, l)
	}
	if r := l.Run(t, s.ScriptName()); r.Status != 3 && r.Status != 1 {
		t.Errorf("status %d:\n%s", r.Status, r.All)
	}
	for _, marker := range l.markers(s) {
		if _, err := os.Stat(marker); err == nil {
			t.Error("it is marked as done")
		}
	}
	points, _ := verified(t, l, s)
	if failed := Failed(points); !slices.Contains(failed, row.check) {
		t.Errorf("%s is not among the failed checks %v", row.check, failed)
	}
}

// stageOf is stage for another release.
func stageOf(t *testing.T, id, name string) *labs.Stage {
	t.Helper()
	for _, s := range Stages(t, id, labs.Local) {
		if s.ID == name {
			return s
		}
	}
	t.Fatalf("%s has no script in %s", name, id)
	return nil
}

// unmade takes away what a stage made, its copies too, as if it had never run.
// A manifest that it rewrote is again as it came.
func (l *Lab) unmade(t *testing.T, s *labs.Stage) {
	t.Helper()
	var all []string
	for _, c := range s.Copies {
		from, err := filepath.Glob(l.Asset(c.From))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range from {
			to := c.To
			if strings.HasSuffix(to, "/") {
				to += filepath.Base(f)
			}
			all = append(all, l.Asset(to))
		}
	}
	for _, out := range s.Outputs {
		all = append(all, l.Asset(strings.TrimSuffix(out.Path, "/")))
	}
	l.Undo(t, s)
	for _, path := range all {
		came, err := os.ReadFile(l.Asset(filepath.Join("openshift", filepath.Base(path))))
		if err == nil {
			err = os.WriteFile(path, came, 0o644)
		} else {
			err = os.RemoveAll(path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// putImage has an operator run from another image.
func (l *Lab) putImage(t *testing.T, name, image string) {
	t.Helper()
	file, text := l.Asset("release-info/digest"), image+"\n"
	if name != "release" {
		file = l.Asset("release-info/images")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(data), "\n")
		i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, name+" ") })
		if i < 0 {
			t.Fatalf("the release has no %s", name)
		}
		lines[i] = name + " " + image
		text = strings.Join(lines, "\n")
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
