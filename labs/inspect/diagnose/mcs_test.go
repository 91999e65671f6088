package diagnose

import "testing"

// mcsSays is what the server answers without TLS, with it, and through the
// balancer.
func mcsSays(config, tls, balanced string) change {
	return says("mcs-answer", "config "+config+"\ntls "+tls+"\nbalanced "+balanced+"\n")
}

// mcsEnds is a server that ended with that line.
func mcsEnds(line string) []change {
	const refused = "000curl: (7) Failed to connect to localhost port 22624 after 0 ms: Couldn't connect to server"
	return waiting(mcsSays(refused, refused, "000curl: (35) Recv failure: Connection reset by peer"),
		says("machine-config-server-log", container("machine-config-server", "CONTAINER_EXITED", "I0102 05:02:40.200001       1 api.go:68] Launching server on :22623", line)))
}

// The words are those of machine-config-operator 7ff337a4, read.
func init() {
	const refused = "000curl: (7) Failed to connect to localhost port 22624 after 0 ms: Couldn't connect to server"
	const cut = "000curl: (35) Recv failure: Connection reset by peer"
	const bad = "000curl: (60) SSL certificate problem: "
	waits := mcsSays(refused, refused, cut)
	empty := says("containers", `{"containers":[]}`)
	none := fails("machine-config-server-log", 1, "there is no container machine-config-server\n")
	cases["mcs"] = map[string]recorded{
		"mcs-no-input":    {changes: waiting(waits, empty, none, says("mcs-files", "absent /etc/mcc/bootstrap\nabsent /etc/mcs/bootstrap\n"))},
		"mcs-port":        {changes: mcsEnds("F0102 05:02:40.200100       1 api.go:89] Machine Config Server exited with error: listen tcp :22623: bind: address already in use")},
		"mcs-certificate": {changes: mcsEnds("F0102 05:02:40.200100       1 api.go:77] failed to load serving cert: open /etc/ssl/mcs/tls.crt: no such file or directory")},
		"mcs-controller": {changes: waiting(waits, empty, none, says("mcs-controller-log", container("machine-config-controller", "CONTAINER_EXITED",
			"F0102 05:02:36.700000       1 bootstrap.go:58] error running MCC[BOOTSTRAP]: parsing Ignition config failed: unknown version")))},
		"mcs-no-pool": {changes: waiting(mcsSays("404", "200", "200"))},
		"mcs-conversion": {changes: waiting(mcsSays("500", "200", "200"), adds("machine-config-server-log",
			`E0102 05:05:02.000000       1 api.go:145] couldn't get config for req: {machineConfigPool:master version:3.2.0}, error: parsing Ignition config failed with error: config is not valid`+"\n"))},
		"mcs-expired":       {changes: waiting(mcsSays("200", bad+"certificate has expired", bad+"certificate has expired"))},
		"mcs-other-name":    {changes: waiting(mcsSays("200", "000curl: (60) SSL: no alternative certificate subject name matches target host name 'api-int'", cut))},
		"mcs-other-ca":      {changes: waiting(mcsSays("200", bad+"unable to get local issuer certificate", bad+"unable to get local issuer certificate"))},
		"mcs-other-pointer": {changes: waiting(mcsSays("200", "200", cut), swaps("mcs-pointer", "A1:B2", "00:00"))},
		"mcs-not-balanced":  {changes: waiting(mcsSays("200", "200", cut))},
		"mcs-intercepted":   {changes: waiting(mcsSays("200", "200", bad+"self-signed certificate"))},
		"mcs-off": {changes: waiting(waits, empty, none, adds("kubelet-journal",
			`2026-01-02T05:59:51+0000 bootstrap kubelet.sh[1890]: E0102 05:59:51.000000    1890 pod_workers.go:1324] "Error syncing pod, skipping" err="failed to \"StartContainer\" for \"machine-config-controller\" with ImagePullBackOff" pod="openshift-machine-config-operator/bootstrap-machine-config-operator-bootstrap"`+"\n"))},
		"mcs-no-accept": {changes: waiting(adds("machine-config-server-log",
			`I0102 05:05:00.000000       1 api.go:126] Pool "master" requested by address:"192.168.126.1:53120" User-Agent:"curl/8.9.1" Accept-Header: "*/*"`+"\n"))},
	}
}

func TestEachCauseOfTheMachineConfigServerIsProven(t *testing.T) { proveAll(t, "mcs") }
