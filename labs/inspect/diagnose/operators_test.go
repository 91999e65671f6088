package diagnose

import (
	"strconv"
	"testing"
)

// installing is an installation that began at that time and is not done.
func installing(since string, more ...change) []change {
	return append([]change{
		edit("clusterversion", `.items[0].status |= (.history = [{state: "Partial", startedTime: "`+since+`", completionTime: null, version: "4.21.0", image: "x", verified: false}] | .conditions |= map(if .type == "Available" then .status = "False" | .message = "" elif .type == "Progressing" then .status = "True" | .reason = "ClusterOperatorsNotAvailable" | .message = "Working towards 4.21.0: 867 of 890 done (97% complete), waiting on authentication, console" else . end | .lastTransitionTime = "`+since+`"))`),
	}, more...)
}

// overdue is one that began two hours before.
func overdue(more ...change) []change { return installing("2026-01-02T04:00:00Z", more...) }

// unwell makes an operator report a condition since half past four.
func unwell(name, kind, status, reason, message string) change {
	return edit("clusteroperators", `(.items[] | select(.metadata.name == "`+name+`") | .status.conditions) |= map(select(.type != "`+kind+`")) + [{type: "`+kind+`", status: "`+status+`", reason: "`+reason+`", message: `+strconv.Quote(message)+`, lastTransitionTime: "2026-01-02T04:30:00Z"}]`)
}

// waits makes a container of a pod wait.
func waits(pod, reason, message string) change {
	return edit("pods", `(.items[] | select(.metadata.name | startswith("`+pod+`")) | .status.containerStatuses[0]) |= (.ready = false | .restartCount = 12 | .state = {waiting: {reason: "`+reason+`", message: `+strconv.Quote(message)+`}})`)
}

// Messages are those of cluster-version-operator pkg/cvo, of
// cluster-image-registry-operator pkg/operator, of the scheduler and the kubelet,
// and of okd-project/okd issue 759.
func init() {
	cases["operators"] = map[string]recorded{
		"overrides-left": {changes: []change{swaps("markers", "cvo-overrides.done\n", ""),
			edit("clusterversion", `.items[0].spec.overrides = [{kind: "ConfigMap", group: "", namespace: "kube-system", name: "cluster-config-v1", unmanaged: true}]`)}},
		"release-not-accepted":   {changes: overdue(edit("clusterversion", `(.items[0].status.conditions[] | select(.type == "ReleaseAccepted")) |= (.status = "False" | .reason = "RetrievePayload" | .message = "Retrieving payload failed version=\"4.21.0\" image=\"quay.io/okd/scos-release@sha256:1\" failure=Unable to download and prepare the update: deadline exceeded, reason: \"DeadlineExceeded\"")`))},
		"version-operator-loops": {changes: overdue(waits("cluster-version-operator-", "CrashLoopBackOff", "back-off 5m0s restarting failed container=cluster-version-operator"))},
		"pods-pull-refused":      {changes: overdue(waits("network-operator-", "ErrImagePull", "initializing source docker://quay.io/okd/scos-content@sha256:55: reading manifest: unauthorized: access to the requested resource is not authorized"))},
		"pods-no-image":          {changes: overdue(waits("dns-default-0", "ImagePullBackOff", `Back-off pulling image "mirror.bootlab.test:5000/okd/scos-content@sha256:55"`))},
		"operator-network":       {changes: overdue(unwell("network", "Degraded", "True", "RolloutHung", `DaemonSet "/openshift-ovn-kubernetes/ovnkube-node" rollout is not making progress - last change 2026-01-02T04:30:00Z`))},
		"operator-dns":           {changes: overdue(unwell("dns", "Available", "False", "DNSUnavailable", `DNS "default" is unavailable.`))},
		"worker-csr-pending": {changes: overdue(edit("nodes", `.items |= map(select(.metadata.name | startswith("worker") | not))`),
			edit("csrs", `.items |= map(select(.metadata.name | IN("csr-g2m5x", "csr-j5q6b") | not)) | (.items[] | select(.metadata.name == "csr-f9k7s") | .status) = {}`))},
		"pods-nowhere":     {changes: overdue(edit("pods", `(.items[] | select(.metadata.name == "router-default-66b8d9c5f-0hk2d")) |= (.spec = {} | .status = {phase: "Pending", conditions: [{type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes are available: 3 node(s) had untolerated taint {node-role.kubernetes.io/master: }. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."}]})`))},
		"registry-storage": {changes: overdue(unwell("image-registry", "Available", "False", "StorageNotConfigured", "Available: Error: storage backend not configured"))},
		"apps-unreachable": {changes: overdue(unwell("authentication", "Available", "False", "OAuthServerRouteEndpointAccessibleController_EndpointUnavailable", `OAuthServerRouteEndpointAccessibleControllerAvailable: Get "https://oauth-openshift.apps.ha.bootlab.test/healthz": dial tcp 192.168.126.1:443: connect: connection refused`))},
		"routers-not-ready": {changes: overdue(unwell("ingress", "Available", "False", "IngressUnavailable", `The "default" ingress controller reports Available=False: IngressControllerUnavailable: One or more status conditions indicate unavailable: DeploymentAvailable=False`),
			unwell("console", "Available", "False", "RouteHealth_FailedGet", `RouteHealthAvailable: failed to GET route (https://console-openshift-console.apps.ha.bootlab.test): EOF`),
			edit("pods", `(.items[] | select(.metadata.namespace == "openshift-ingress") | .status.conditions[] | select(.type == "Ready")) |= (.status = "False")`))},
		"operator-unwell": {changes: overdue(unwell("monitoring", "Degraded", "True", "UpdatingPrometheusFailed", "UpdatingPrometheus: Prometheus \"openshift-monitoring/k8s\": NoPodReady"))},
		"version-fails":   {changes: overdue(edit("clusterversion", `(.items[0].status.conditions[] | select(.type == "Failing")) |= (.status = "Unknown" | .reason = "SlowClusterOperator" | .message = "waiting on machine-config over 90 minutes which is longer than expected" | .lastTransitionTime = "2026-01-02T05:30:00Z")`))},
	}
}

func TestOperators(t *testing.T) { proveAll(t, "operators") }

func TestOperatorsThatAreOnTheirWayAreNotWrong(t *testing.T) {
	recent := func(c change) change {
		return func(t *testing.T, e evidence) {
			c(t, e)
			swaps("clusteroperators", "2026-01-02T04:30:00Z", "2026-01-02T05:50:00Z")(t, e)
		}
	}
	for name, c := range map[string]recorded{
		"working towards it": {changes: installing("2026-01-02T05:25:00Z")},
		"authentication waits for the routers": {changes: installing("2026-01-02T05:25:00Z",
			recent(unwell("authentication", "Available", "False", "OAuthServerRouteEndpointAccessibleController_EndpointUnavailable", `Get "https://oauth-openshift.apps.ha.bootlab.test/healthz": EOF`)))},
		"an image comes":          {changes: installing("2026-01-02T05:50:00Z", waits("dns-default-0", "ErrImagePull", "context canceled"), swaps("pods", "2026-01-02T04:15:00Z", "2026-01-02T05:56:00Z"))},
		"the registry is removed": {changes: installing("2026-01-02T05:25:00Z")},
	} {
		t.Run(name, func(t *testing.T) {
			if r := c.walk(t, "operators"); r.Verdict != NotReached || len(r.Warnings) > 0 {
				t.Errorf("%s, %v, %+v", r.Verdict, r.Warnings, r.Cause)
			}
		})
	}
}

// An update, or a node that reboots for one, takes nothing back.
func TestAnUpdateIsNoFault(t *testing.T) {
	c := recorded{changes: []change{
		edit("clusterversion", `.items[0].status.history = [{state: "Partial", startedTime: "2026-01-02T05:30:00Z", version: "4.21.1"}] + .items[0].status.history | (.items[0].status.conditions[] | select(.type == "Progressing")) |= (.status = "True" | .message = "Working towards 4.21.1")`),
		edit("clusteroperators", `(.items[] | select(.metadata.name == "dns") | .status.conditions[] | select(.type == "Available")) |= (.status = "False" | .lastTransitionTime = "2026-01-02T05:58:00Z")`),
	}}
	if r := c.walk(t, "operators"); r.Verdict != Healthy {
		t.Errorf("%s, %+v", r.Verdict, r.Cause)
	}
}
