package diagnose

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"bootlab/labs/sample"
)

// later are failures that come after others came right.
var later = []report{
	{
		Name: "denied", Release: "4.14", Moment: "pull",
		Pull: "Error: initializing source docker://quay.io/openshift-release-dev/ocp-release@sha256:a1b2: reading manifest sha256:a1b2 in quay.io/openshift-release-dev/ocp-release: unauthorized: access to the requested resource is not authorized\n",
		Want: []string{"pull-denied", "pull-secret-missing"},
	},
	{
		Name: "csr-pending", Release: "4.14", Moment: "masters",
		CSRs: [][]string{{"node-bootstrapper", "kubernetes.io/kube-apiserver-client-kubelet", "master-0"}},
		Want: []string{"csr-client-pending"},
	},
	{
		Name: "unknown-flag", Release: "4.14", Moment: "render", Stage: "kube-apiserver-bootstrap",
		Bootkube: "Rendering Kubernetes API server core manifests...\nError: unknown flag: --infra-config-file\n",
		Want:     []string{"release-mismatch"},
	},
	{
		Name: "name-taken", Release: "4.14", Moment: "pivot", Stage: "wait-for-ceo", Status: 125,
		Bootkube: "Waiting for CEO to finish...\nError: name \"wait-for-ceo\" is in use: container already exists\n",
		Want:     []string{"name-taken"},
	},
}

// cameRight is the other failure, in a bundle that begins with the lines of this one:
// what failed was tried again, and worked. It is nil where this one came later, or has
// no lines in the journals of the bootstrap node.
func (r *report) cameRight(other report) *report {
	if r.Moment == "done" || r.Partial || r.Expired || r.past(other.Moment) || slices.Contains(other.Want, r.Want[0]) {
		return nil
	}
	out := other
	out.Name = r.Name + " before " + other.Name
	out.Minutes = 150
	out.Early = map[string]string{}
	for journal, text := range r.Early {
		out.Early[journal] = text
	}
	out.PullFirst = r.Pull + r.PullFirst
	if r.Unit != "" {
		out.Early[unitJournal(r.Unit)] += r.Journal
	}
	if text := r.Bootkube + r.Waits; text != "" {
		out.Early["bootkube"] += lineStart.ReplaceAllString(text, "bootkube.sh: $0")
		if r.Stage != "" {
			out.Records = [][2]string{{r.Stage, "failure"}, {r.Stage, "success"}}
		}
	}
	for name, log := range r.Container {
		if !log.Running {
			if out.Container == nil {
				out.Container = map[string]reportLog{}
			}
			out.Container[name] = reportLog{Running: true, Attempt: log.Attempt + 1, Before: log.Log}
		}
	}
	if out.PullFirst == "" && out.Container == nil && len(out.Early) == 0 {
		return nil
	}
	return &out
}

var lineStart = regexp.MustCompile(`(?m)^.`)

// A failure that came right is not the cause of the one that follows. The lines are
// those of public reports: nearly every cause that is told by lines of the bootstrap
// node stands once beside another cause.
func TestWhatCameRightIsNotTheCause(t *testing.T) {
	var all []*report
	causes := map[string]bool{}
	for _, r := range reports(t) {
		for _, other := range later {
			if made := r.cameRight(other); made != nil {
				all = append(all, made)
				causes[r.Want[0]] = true
			}
		}
	}
	t.Logf("%d bundles with the lines of %d causes", len(all), len(causes))
	for _, r := range sample.Of(t, 24, all) {
		t.Run(r.Name, func(t *testing.T) {
			if outcome, verdict := r.outcome(judged(t, r.write(t, t.TempDir(), nil))); outcome != right {
				t.Errorf("%s: %s, want %s", outcome, verdict, strings.Join(r.Want, " or "))
			}
		})
	}
	if len(all) < 100 {
		t.Errorf("only %d bundles", len(all))
	}
}
