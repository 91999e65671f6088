package scripts

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/labs/sample"
	"bootlab/standin/role"
	"bootlab/test/assets"
	"bootlab/test/podman"
)

// mistake is something that an operator refuses. Where the inputs alone are
// wrong the stage's script runs, and has to explain it. A command line or an
// image that no script gives is run by hand.
type mistake struct {
	stage, failure string
	// damage is done to the inputs, in shell, as by a fixture.
	damage string
	// byHand: the script would not come as far. What follows is for that.
	byHand bool
	// drop, add and swap change the flags, front stands before the command,
	// options are for podman.
	drop, add, swap, front string
	options                []string
	// status is the operator's own, for a run by hand.
	status int
	// release has the failure; empty is the usual one.
	release string
}

var mistakes = map[string]mistake{
	"api: no FeatureGate": {stage: "render-api", failure: "no-feature-gate", damage: "edit 's/FeatureGate/Gate/' manifests/99_feature-gate.yaml"},
	"api: no version":     {stage: "render-api", failure: "no-version", byHand: true, swap: "--payload-version=", status: 2},
	"api: no templates":   {stage: "render-api", failure: "wrong-image", byHand: true, options: faultOption("no-templates"), status: 2},
	"api: another profile": {stage: "render-api", failure: "other-profile", damage: `
		jq '.metadata.annotations = {"include.release.openshift.io/nonsense": "true"}' manifests/99_feature-gate.yaml > new
		mv new manifests/99_feature-gate.yaml`},
	"auth-api: a path before the entrypoint": {stage: "render-auth-api", failure: "path-before-entrypoint", byHand: true, front: "/usr/bin/authentication-operator", status: 1},
	"config: no Infrastructure":              {stage: "render-config", failure: "no-infrastructure", byHand: true, damage: "rm manifests/cluster-infrastructure-02-config.yml", status: 255},
	"config: no tls":                         {stage: "render-config", failure: "no-tls", byHand: true, damage: "rm --recursive tls", status: 255},
	"config: a contradiction": {stage: "render-config", failure: "contradiction", damage: `
		sed 's/^  baseDomain: .*/  baseDomain: elsewhere.test/' manifests/cluster-dns-02-config.yml > manifests/zz-dns.yml`},
	"config: a file that is no object":          {stage: "render-config", failure: "undecodable", damage: "echo hello: you > manifests/zz.yaml"},
	"kube-apiserver: an empty file":             {stage: "render-kube-apiserver", failure: "undecodable", damage: ": > manifests/zz.yaml"},
	"kcm: an empty file":                        {stage: "render-kcm", failure: "undecodable", damage: ": > manifests/zz.yaml"},
	"config: no FeatureGate":                    {stage: "render-config", failure: "no-feature-gate", release: "4.14", byHand: true, damage: "rm manifests/99_feature-gate.yaml", status: 255},
	"cvo: no FeatureGate":                       {stage: "render-cvo", failure: "absent-file", byHand: true, damage: "rm manifests/99_feature-gate.yaml", status: 2},
	"cvo: no release image":                     {stage: "render-cvo", failure: "no-release-image", byHand: true, options: []string{"--tmpfs=/release-manifests:notmpcopyup"}, status: 255},
	"etcd: no image":                            {stage: "render-etcd", failure: "no-etcd-image", byHand: true, swap: "--etcd-image=", status: 255},
	"etcd: no install-config":                   {stage: "render-etcd", failure: "no-cluster-config", byHand: true, damage: "rm manifests/cluster-config.yaml", status: 255},
	"etcd: no machineNetwork":                   {stage: "render-etcd", failure: "no-machine-network", damage: withInstallConfig("  machineNetwork:\n  - cidr: 192.168.126.0/24\n", "")},
	"etcd: a reserved machineNetwork":           {stage: "render-etcd", failure: "reserved-network", damage: withInstallConfig("192.168.126.0", "192.0.2.0")},
	"etcd: no controlPlane":                     {stage: "render-etcd", failure: "no-control-plane", damage: withInstallConfig("controlPlane:\n  name: master\n  replicas: 3\n", "")},
	"etcd: no platformStatus":                   {stage: "render-etcd", failure: "no-platform-status", damage: "edit '/^  platformStatus:/,$d' manifests/cluster-infrastructure-02-config.yml"},
	"etcd: a flag of another release":           {stage: "render-etcd", failure: "old-flag", byHand: true, add: "--etcd-ca=x", status: 1},
	"etcd: no templates":                        {stage: "render-etcd", failure: "wrong-image", byHand: true, options: faultOption("no-templates"), status: 255},
	"ingress: a path before the entrypoint":     {stage: "render-ingress", failure: "path-before-entrypoint", byHand: true, front: "/usr/bin/ingress-operator", status: 1},
	"ingress: no output directory":              {stage: "render-ingress", failure: "no-output-dir", byHand: true, drop: "--output-dir", status: 1},
	"node-tuning: no pool":                      {stage: "render-node-tuning", failure: "no-pool", damage: profileFor("nowhere")},
	"node-tuning: two pools":                    {stage: "render-node-tuning", failure: "two-pools", damage: profileFor("node-role.kubernetes.io/master") + secondPool},
	"kube-apiserver: no status":                 {stage: "render-kube-apiserver", failure: "no-status", damage: otherGates},
	"kube-apiserver: no Kubernetes version":     {stage: "render-kube-apiserver", failure: "no-kubernetes-version", byHand: true, drop: "--operand-kubernetes-version", status: 255},
	"kube-apiserver: the version with a v":      {stage: "render-kube-apiserver", failure: "version-with-v", damage: "echo v1.34 > release-info/kubernetes-version"},
	"kube-apiserver: no manifests":              {stage: "render-kube-apiserver", failure: "no-rendered-manifests", byHand: true, drop: "--rendered-manifest-files", status: 255},
	"kube-apiserver: a contradiction":           {stage: "render-kube-apiserver", failure: "contradiction", damage: otherScheduler},
	"kube-apiserver: a CA that is not PEM":      {stage: "render-kube-apiserver", failure: "not-pem", damage: "echo nonsense > tls/aggregator-signer.crt"},
	"kube-apiserver: half a key":                {stage: "render-kube-apiserver", failure: "half-a-key", damage: "rm tls/bound-service-account-signing-key.pub"},
	"kcm: no kubeconfig":                        {stage: "render-kcm", failure: "no-kubeconfig", byHand: true, damage: "rm auth/kubeconfig", status: 255},
	"kcm: no second configuration":              {stage: "render-kcm", failure: "no-cpc-config", byHand: true, drop: "--cpc-config-output-file", status: 255},
	"kcm: no status":                            {stage: "render-kcm", failure: "no-status", damage: otherGates},
	"kcm: a contradiction":                      {stage: "render-kcm", failure: "contradiction", damage: otherScheduler},
	"scheduler: no kubeconfig":                  {stage: "render-scheduler", failure: "no-kubeconfig", byHand: true, damage: "rm auth/kubeconfig", status: 255},
	"scheduler: a directory that nothing makes": {stage: "render-scheduler", failure: "config-directory", byHand: true, swap: "--config-output-file=/assets/nowhere/config", status: 255},
	"scheduler: no templates":                   {stage: "render-scheduler", failure: "wrong-image", byHand: true, options: faultOption("no-templates"), status: 2},
	"mco: no DNS":                               {stage: "render-mco", failure: "missing-file", release: "main", byHand: true, damage: "rm manifests/cluster-dns-02-config.yml", status: 255},
	"mco: no DNS, older":                        {stage: "render-mco", failure: "missing-file-older", byHand: true, damage: "rm manifests/cluster-dns-02-config.yml", status: 255},
	"mco: no haproxy-router": {stage: "render-mco", failure: "missing-image", byHand: true, damage: `
		jq 'del(.spec.tags[] | select(.name == "haproxy-router"))' image-references > new
		mv new image-references`, status: 255},
	"cco: no install-config":      {stage: "render-cco", failure: "no-cluster-config", damage: "edit 's/name: cluster-config-v1/name: other/' manifests/cluster-config.yaml"},
	"cco: its directory is there": {stage: "render-cco", failure: "directory-there", damage: "mkdir --parents cco-bootstrap/bootstrap-manifests", byHand: true, status: 1},
}

// otherGates has a status for another version than the payload's, and
// otherScheduler a second file for an object.
const (
	otherGates     = `edit 's/("version": ")4/\15/' manifests/99_feature-gate.yaml`
	otherScheduler = "sed 's/mastersSchedulable: .*/mastersSchedulable: false/' manifests/cluster-scheduler-02-config.yml > manifests/zz-scheduler.yaml"
)

// notProvoked are failures that no row can bring about, and why.
var notProvoked = map[string]string{
	"render-cvo permission":     "the script opens the directories with podman unshare",
	"render-cvo empty-manifest": "the stand-in reads no manifest; seen with the operator of main",
	"render-kcm not-pem":        "the stand-in of kube-controller-manager reads no CA; seen with the operator of main",
	"render-mco undecodable":    "the stand-in decodes no object; seen with the operator of main",
}

func faultOption(fault string) []string { return []string{"--env=" + role.FaultVariable + "=" + fault} }

// withInstallConfig is damage to the install-config.
func withInstallConfig(old, new string) string {
	return "cat > manifests/cluster-config.yaml << 'END'\n" + assets.ClusterConfig(strings.Replace(assets.InstallConfig, old, new, 1)) + "END\n"
}

// profileFor asks for tuning of the nodes with a label.
func profileFor(label string) string {
	return `cat > manifests/profile.yaml << 'END'
apiVersion: performance.openshift.io/v2
kind: PerformanceProfile
metadata:
  name: tuned
spec:
  cpu:
    isolated: 1-3
    reserved: "0"
  nodeSelector:
    ` + label + `: ""
END
`
}

const secondPool = `cat > manifests/pool.yaml << 'END'
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfigPool
metadata:
  name: second
spec:
  nodeSelector:
    matchLabels:
      node-role.kubernetes.io/master: ""
END
`

// TestMistakes: each leads to the failure text that the stage data has for it,
// and to no other.
func TestMistakes(t *testing.T) {
	t.Parallel()
	// No other podman: containers of one stage have one name.
	base := Good(t, podman.Ordinary(t), labs.Local).Apart(t)
	for _, name := range sample.Of(t, 12, slices.Sorted(maps.Keys(mistakes))) {
		m := mistakes[name]
		t.Run(name, func(t *testing.T) {
			id := release
			if m.release != "" {
				id = m.release
			}
			s := stageOf(t, id, m.stage)
			l := base.Clone(t)
			l.Undo(t, s)
			if m.damage != "" {
				fixture{Break: m.damage}.apply(t, l)
			}
			if m.byHand {
				m.refused(t, l, s, id)
			} else {
				m.explained(t, l, s)
			}
		})
	}
}

// explained runs the script, which says cause and hint of this failure alone.
func (m mistake) explained(t *testing.T, l *Lab, s *labs.Stage) {
	r := l.Run(t, s.ScriptName(), "--force")
	found := false
	for _, f := range s.Failures {
		if f.ID == m.failure {
			found = true
			r.Want(t, 1, "cause: "+f.Cause, "hint: "+f.Fix)
		} else if strings.Contains(r.All, f.Cause) {
			t.Errorf("explained as %s:\n%s", f.ID, r.All)
		}
	}
	if !found {
		t.Errorf("%s has no failure %s", s.ID, m.failure)
	}
}

// refused runs the image by hand; its message is the one in the stage data.
func (m mistake) refused(t *testing.T, l *Lab, s *labs.Stage, id string) {
	image, args, err := SharedRelease(t, id).Call(s.Bootkube)
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"run", "--rm", "--quiet", "--net=host", "--volume", l.Assets() + ":/assets:z"}
	words = append(append(words, m.options...), image)
	if m.front != "" {
		words = append(words, m.front)
	}
	r := finish(t, l.Env.Command("podman", append(words, m.changed(args)...)...))
	i := slices.IndexFunc(s.Failures, func(f labs.Failure) bool { return f.ID == m.failure })
	if i < 0 {
		t.Fatalf("%s has no failure %s", s.ID, m.failure)
	}
	r.Want(t, m.status, strings.Split(s.Failures[i].Message, "…")...)
}

func (m mistake) changed(args []string) []string {
	var out []string
	swapped, _, _ := strings.Cut(m.swap, "=")
	for _, a := range args {
		switch name, _, _ := strings.Cut(a, "="); name {
		case m.drop:
		case swapped:
			out = append(out, m.swap)
		default:
			out = append(out, a)
		}
	}
	if m.add != "" {
		out = append(out, m.add)
	}
	return out
}

// TestEveryFailureIsProvoked: a failure text that nothing leads to may be wrong
// for years.
func TestEveryFailureIsProvoked(t *testing.T) {
	t.Parallel()
	left := maps.Clone(notProvoked)
	for _, s := range labs.Builtin().Stages {
		if s.Run == nil || !HasTemplate(s) || !s.In(labs.Local) {
			continue
		}
		for _, f := range s.Failures {
			key := s.ID + " " + f.ID
			if left[key] != "" {
				delete(left, key)
				continue
			}
			if !slices.ContainsFunc(slices.Collect(maps.Values(mistakes)), func(m mistake) bool { return m.stage == s.ID && m.failure == f.ID }) {
				t.Errorf("nothing leads to failure %s of %s", f.ID, s.ID)
			}
		}
	}
	for key := range left {
		t.Errorf("there is no failure %s", key)
	}
}
