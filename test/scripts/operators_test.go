package scripts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"bootlab/test/controlplane"
)

// atRest says of an operator, or of the ClusterVersion, that it is at rest for a
// while already.
func atRest(failing string) []controlplane.Condition {
	since := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	return []controlplane.Condition{
		{Type: "Available", Status: "True", Since: since, Message: "Done applying 4.21.0"},
		{Type: failing, Status: "False", Since: since},
		{Type: "Progressing", Status: "False", Since: since, Message: "Cluster version is 4.21.0"},
	}
}

// TestTheOperatorsAreWatched: the test plays the operators.
func TestTheOperatorsAreWatched(t *testing.T) {
	t.Parallel()
	node, c := pivot(t)
	w := node.workstation(t)
	s := pivotStage(t, release, "wait-for-operators")
	operators := []string{"dns", "image-registry", "ingress"}
	object := func(name string) string { return "clusteroperators.config.openshift.io/" + name }
	for _, name := range operators {
		c.Apply(t, fmt.Sprintf("apiVersion: config.openshift.io/v1\nkind: ClusterOperator\nmetadata: {name: %s}\n", name))
	}
	good := func(t *testing.T) {
		t.Helper()
		c.SetStatus(t, clusterVersion, map[string]any{"conditions": atRest("Failing")})
		for _, name := range operators {
			// As fixtures of checks count them: Available, Progressing.
			at := atRest("Degraded")
			at[1], at[2] = at[2], at[1]
			c.SetStatus(t, object(name), map[string]any{"conditions": at})
		}
	}
	set := func(t *testing.T, object, kind, status, message, since string) {
		t.Helper()
		c.SetConditions(t, object, controlplane.Condition{Type: kind, Status: status, Message: message, Since: since})
	}

	t.Run("from start to end", func(t *testing.T) {
		good(t)
		set(t, clusterVersion, "Available", "False", "", "")
		set(t, clusterVersion, "Progressing", "True", "Working towards 4.21.0: 300 of 900 done (33% complete), waiting on ingress", "")
		set(t, object("ingress"), "Available", "False", "deployment/router-default has no\nreplicas", "2026-01-01T00:00:00Z")
		set(t, object("image-registry"), "Available", "False", "no storage", "2026-01-01T01:00:00Z")
		set(t, object("dns"), "Degraded", "True", "one\x1b[31m pod is missing", "")
		session := w.Start(t, s.ScriptName())
		session.Until(t, "version: Available False, Failing False, Progressing True; Working towards 4.21.0: 300 of 900 done (33% complete), waiting on ingress")
		session.Until(t, "operator ingress: Available False: deployment/router-default has no replicas")
		session.Until(t, "operator dns: Degraded True: one")
		session.Until(t, "longest: ingress, since 2026-01-01T00:00:00Z")
		good(t)
		set(t, object("dns"), "Progressing", "False", "", time.Now().UTC().Format(time.RFC3339))
		r := session.Wait(t)
		r.Want(t, 0, "dns is Progressing False since", "all are at rest", "console: there is no route openshift-console/console",
			"password in "+w.Asset("install/auth/kubeadmin-password"), s.ID+" is done; next: ")
		if strings.Contains(r.All, "aaaaa-bbbbb") || strings.Contains(r.All, "\x1b") {
			t.Errorf("it says the password, or steers the terminal:\n%s", r.All)
		}
		allGood(t, w, s)
	})
	t.Run("with a console", func(t *testing.T) {
		good(t)
		c.Namespace(t, "openshift-console")
		c.Apply(t, "apiVersion: route.openshift.io/v1\nkind: Route\nmetadata: {name: console, namespace: openshift-console}\nspec: {host: console.apps.example.test}\n")
		r := w.RunStage(t, s)
		r.Want(t, 0, "console: https://console.apps.example.test", s.ID+" is done")
		w.shown(t, s.ID, r)
	})
	t.Run("one operator never comes", func(t *testing.T) {
		good(t)
		set(t, clusterVersion, "Available", "False", "", "")
		set(t, object("ingress"), "Available", "False", "no node", "")
		w.RunStage(t, s, "--timeout=2").Want(t, 1, "longest: ingress", "no sign of the ClusterVersion to be Available and not Progressing within 2 s",
			"cause: Routers need a node", "cause: Forty minutes were not enough")
	})
	t.Run("failing", func(t *testing.T) {
		good(t)
		set(t, clusterVersion, "Failing", "True", "", "")
		w.RunStage(t, s, "--timeout=1").Want(t, 1, "Failing True")
	})
	t.Run("never at rest", func(t *testing.T) {
		good(t)
		set(t, object("dns"), "Progressing", "True", "", "")
		w.RunStage(t, s, "--timeout=1").Want(t, 1, "dns is Progressing True since", "no sign of every operator to be without Progressing for 30 seconds within 1 s")
	})
	t.Run("nothing is there yet", func(t *testing.T) {
		c.SetStatus(t, clusterVersion, map[string]any{"conditions": nil})
		w.RunStage(t, s, "--timeout=1").Want(t, 1, "version: Available Unknown, Failing Unknown, Progressing Unknown")
	})
	t.Run("interrupted", func(t *testing.T) {
		session := w.Start(t, s.ScriptName())
		session.Until(t, "waiting for the ClusterVersion")
		session.Interrupt()
		session.Wait(t).Want(t, 1, "interrupted", s.ScriptName())
	})
	t.Run("every mode", func(t *testing.T) {
		good(t)
		eachMode(t, w, s)
	})
	t.Run("broken", func(t *testing.T) {
		for _, check := range s.Checks {
			good(t)
			breaks(t, w, s, check.ID, fixtures(t, s.ID)[check.ID])
		}
	})
	hopeless(t, w, s, controlplane.ForAPI, good)
}

// TestThereIsNoRestToWaitForInOldReleases: openshift-install of 4.14 ends with
// the ClusterVersion.
func TestThereIsNoRestToWaitForInOldReleases(t *testing.T) {
	t.Parallel()
	node, c := pivot(t)
	w := node.inRelease(t, "4.14").workstation(t)
	c.Apply(t, "apiVersion: config.openshift.io/v1\nkind: ClusterOperator\nmetadata: {name: dns}\n")
	c.SetStatus(t, clusterVersion, map[string]any{"conditions": atRest("Failing")})
	c.SetStatus(t, "clusteroperators.config.openshift.io/dns", map[string]any{"conditions": []controlplane.Condition{{Type: "Available", Status: "True"}, {Type: "Progressing", Status: "True"}}})
	w.RunStage(t, pivotStage(t, "4.14", "wait-for-operators")).Want(t, 0, "is done")
}
