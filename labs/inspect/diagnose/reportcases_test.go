package diagnose

import (
	"testing"
	"time"
)

// bundled is evidence as a bundle of the installer has it: nobody asked the machine.
var bundled = gone("clock", "kubelet-health", "static-pods", "etcd-answer", "etcd-health", "api-answer", "name-answers", "mcs-answer", "certificate-ends", "stage-logs", "bootstrap-ssh", "bootstrap-console")

// ended is a certificate of 24 hours that is over.
func ended(t *testing.T, e evidence) {
	e["certificates"] = "==> rendered-assets/openshift/tls/kube-apiserver-lb-server.crt\n" + certificateFrom(t, "kube-apiserver-lb-server", evening.Add(-30*time.Hour))
}

// unit is a journal of a unit that fails again and again.
func unit(evidence, name, line string) change {
	const at = "2026-01-02T05:5"
	try := func(minute string) string {
		return at + minute + "+0000 bootstrap systemd[1]: Starting something...\n" + at + minute + "+0000 bootstrap " + line + "\n" +
			at + minute + "+0000 bootstrap systemd[1]: " + name + ": Main process exited, code=exited, status=1/FAILURE\n" +
			at + minute + "+0000 bootstrap systemd[1]: " + name + ": Failed with result 'exit-code'.\n"
	}
	return says(evidence, try("0:00")+try("1:00"))
}

// The messages are those of public reports; their sources stand with the symptoms.
func init() {
	add := func(layer, id string, changes []change) {
		if cases[layer] == nil {
			cases[layer] = map[string]recorded{}
		}
		cases[layer][id] = recorded{changes: changes}
	}
	bootkube := func(stage, line string) []change { return young(failedByBootkube(stage, line)) }

	add("host", "container-out-of-memory", young(says("containers", `{"containers":[{"metadata":{"name":"kube-apiserver","attempt":3},"state":"CONTAINER_EXITED","createdAt":"17","reason":"OOMKilled"}]}`)))
	add("host", "certificates-expired", late(bundled, ended))
	add("host", "os-not-changed", bootkube("etcd-bootstrap", "error: error running ostree refs --repo /run/mco-machine-os-content/os-content-1/srv/repo: error: opening repo"))
	add("image", "node-image-finish", []change{says("node-image-journal",
		"2026-01-02T05:00:01+0000 bootstrap systemd[1]: Starting node-image-finish.service - Node Image Finish...\n"+
			"2026-01-02T05:00:01+0000 bootstrap systemd[1]: node-image-finish.service: Main process exited, code=killed, status=15/TERM\n"+
			"2026-01-02T05:00:01+0000 bootstrap systemd[1]: node-image-finish.service: Failed with result 'signal'.\n")})
	add("image", "pull-retried", []change{adds("release-image-journal", "2026-01-02T05:00:01+0000 bootstrap release-image-download.sh[1]: Pull failed. Retrying quay.io/okd/scos-release@sha256:1...\n")})
	add("image", "boot-image-old", young(failedPull("Error: unrecognized command `podman image mount`")))
	add("image", "image-architecture-missing", young(failedPull("Error: choosing an image from manifest list docker://quay.io/a/b:1: no image found in image index for architecture arm64, variant \"v8\", OS linux")))
	add("image", "no-name-server", young(failedPull(`Error: initializing source docker://quay.io/a/b:1: pinging container registry quay.io: Get "https://quay.io/v2/": dial tcp: lookup quay.io on [::1]:53: read udp [::1]:46964->[::1]:53: read: connection refused`)))
	add("image", "registry-intercepted", young(failedPull(`Error: initializing source docker://quay.io/a/b:1: pinging container registry quay.io: Get "https://quay.io/v2/": tls: failed to verify certificate: x509: certificate is valid for gateway.example.com, *.example.com, not quay.io`)))
	add("node", "address-taken", []change{says("network-manager-journal", "2026-01-02T05:00:01+0000 bootstrap NetworkManager[812]: <info>  [1767330001.1] l3cfg[0x55,ifindex=2]: IPv4 address 192.168.126.10 is used on network connected to interface 2 (ens3) from host 52:54:00:AA:BB:CC\n")})
	add("image", "mirror-fails", young(failedPull(`Error: initializing source docker://quay.io/a/b@sha256:1: (Mirrors also failed: [192.0.2.36:5500/a/b@sha256:1: pinging container registry 192.0.2.36:5500: Get "https://192.0.2.36:5500/v2/": Access violation]): quay.io/a/b@sha256:1: reading manifest sha256:1 in quay.io/a/b: unauthorized: access to the requested resource is not authorized`)))
	add("render", "release-mismatch", bootkube("kube-apiserver-bootstrap", "Error: unknown flag: --infra-config-file"))
	add("render", "no-oc", bootkube("openshift-manifests", "/usr/local/bin/bootkube.sh: line 81: oc: command not found"))
	add("kubelet", "kubelet-not-there", young(gone("kubelet-health"), unit("kubelet-journal", "kubelet.service", "systemd[3]: kubelet.service: Failed at step EXEC spawning /usr/bin/hyperkube: No such file or directory")))
	add("etcd", "etcd-disk-too-slow", waiting(says("etcd-log", container("etcd", "CONTAINER_RUNNING",
		`{"level":"warn","msg":"slow fdatasync","took":"4.975445654s","expected-duration":"1s"}`+"\n"+`{"level":"warn","msg":"slow fdatasync","took":"6.475445654s","expected-duration":"1s"}`)),
		fails("etcd-answer", 7, noEtcd)))
	add("names", "dns-api-int-bundle", late(bundled, gone("csrs"), says("bootkube-journal", "2026-01-02T05:50:02+0000 bootstrap bootkube.sh[2]: Unable to resolve API_INT_URL api-int.ha.bootlab.test\n")))
	add("masters", "cidr-overlap", stopped(edit("clusteroperators", `(.items[] | select(.metadata.name == "network") | .status.conditions) = [{"type": "Degraded", "status": "True", "message": "CIDRs 10.156.208.0/21 and 10.156.210.0/23 overlap"}]`)))
	add("masters", "master-no-name-server", stopped(console(`error: Get "`+mcs+`": dial tcp: lookup api-int.ha.bootlab.test on [::1]:53: read udp [::1]:45552->[::1]:53: read: connection refused`)))
	add("masters", "master-not-installed", stopped(adds("master-consoles", "==> master-2\n[    9.6] coreos-installer-service[862]: Error: parsing arguments\n[    9.7] coreos-installer-service[862]: Caused by: error sending request for url (http://192.168.126.1/master.ign): error trying to connect: tcp connect error: Connection refused (os error 111)\n")))
	add("masters", "master-ignition-invalid", stopped(adds("master-consoles", "==> master-2\n[    9.6] ignition[712]: GET "+mcs+": attempt #1\n[    9.7] ignition[712]: GET result: OK\n[    9.8] ignition[712]: failed to fetch config: unsupported config version\n")))
	add("masters", "vrrp-shared", stopped(says("keepalived-log", container("keepalived", "CONTAINER_RUNNING", "VRRP_Instance(lab_API) ignoring received advertisment...\n(lab_API): received an invalid passwd!"))))
	add("masters", "kcm-stops", stopped(says("kube-controller-manager-log", container("kube-controller-manager", "CONTAINER_EXITED",
		`E0102 05:50:12.113121       1 run.go:74] "command failed" err="open /etc/kubernetes/secrets/service-account.key: no such file or directory"`))))
}

// Where mirrors are named, the source cannot be reached, and nobody expects it.
func TestTheErrorOfTheMirrorIsTheCause(t *testing.T) {
	for line, want := range map[string]string{
		"Error: a b": "Error: a b",
		`Error: initializing source docker://q/a@1: (Mirrors also failed: [m:5000/a@1: x509: unknown]): q/a@1: lookup q: no such host`:             `Error: initializing source docker://q/a@1: (Mirrors also failed: [m:5000/a@1: x509: unknown]`,
		`(Mirrors also failed: [m/a: manifest unknown] [n/a: unauthorized]): q/a: dial tcp [::1]:443: i/o timeout`:                                 `(Mirrors also failed: [m/a: manifest unknown] [n/a: unauthorized]`,
		`msg="Error: (Mirrors also failed: [m/a: manifest unknown]): q/a: pinging container registry q: Get \"https://q/v2/\": handshake timeout"`: `msg="Error: (Mirrors also failed: [m/a: manifest unknown]`,
	} {
		if got := ofMirrors(line); got != want {
			t.Errorf("%s\nis %s\nwant %s", line, got, want)
		}
	}
}
