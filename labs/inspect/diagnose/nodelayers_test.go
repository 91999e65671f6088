package diagnose

import "testing"

// nodeLayers are those between the release image and the masters.
var nodeLayers = []string{"kubelet", "etcd", "api", "names", "mcs"}

// onBootstrap is the evidence that only the bootstrap node has.
var onBootstrap = []string{"kubelet-health", "kubelet-journal", "crio-journal", "units", "release-image-record", "records", "etcd-answer", "etcd-log",
	"etcd-files", "etcd-metrics", "etcd-health", "api-answer", "kube-apiserver-log", "certificate-ends", "kernel-journal", "name-answers",
	"mcs-answer", "mcs-files", "mcs-root", "mcs-controller-log", "machine-config-server-log", "markers", "static-pods", "containers", "hostname",
	"bootkube-journal", "bootkube-record", "stage-logs"}

func TestABootstrapThatIsWellHasNoCauseOnItsNode(t *testing.T) {
	torn := []change{fails("etcd-answer", 7, noListener), fails("api-answer", 7, noListener)}
	for name, c := range map[string]struct {
		layers  []string
		changes []change
	}{
		"masters are waited for":     {nodeLayers, waiting()},
		"done":                       {nodeLayers, torn},
		"without the workstation":    {nodeLayers, waiting(gone("names-here", "balancer-stats", "balancer-config", "mcs-pointer"))},
		"the bootstrap node is gone": {nodeLayers, []change{gone(onBootstrap...)}},
	} {
		for _, release := range []string{"4.14", "4.18", "4.21", "main"} {
			r := recorded{release: release, changes: c.changes}.walk(t, c.layers...)
			if r.Verdict != Healthy || len(r.Warnings) > 0 {
				t.Errorf("%s, %s: %s in layer %s, cause %+v, warnings %+v", name, release, r.Verdict, r.Layer, r.Cause, r.Warnings)
			}
		}
	}
}

func TestALayerOfTheNodeThatHasNotBegunIsNotReached(t *testing.T) {
	noPods := says("static-pods", "total 0\n")
	for layer, changes := range map[string][]change{
		"kubelet": waiting(says("kubelet-health", "crio.service inactive\nkubelet.service inactive\nhealthz \n"), says("units", "# failed\n# states\nId=release-image.service\nActiveState=activating\n"),
			says("kubelet-journal", ""), says("crio-journal", ""), says("release-image-record", "[]"), says("markers", ""),
			fails("static-pods", 2, "ls: cannot access '/etc/kubernetes/manifests': No such file or directory\n")),
		"etcd": waiting(noPods, says("markers", ""), says("containers", `{"containers":[]}`), fails("etcd-answer", 58, "curl: (58) could not load PEM client certificate\n"),
			fails("etcd-log", 1, "there is no container etcd\n"), fails("etcd-files", 1, "stat"), fails("etcd-metrics", 1, "curl")),
		"api": waiting(says("static-pods", "total 8\n-rw-r--r--. 1 root root 2902 2026-01-02 04:01:11.000000000 +0000 etcd-member-pod.yaml\n"), says("bootkube-journal", ""),
			fails("api-answer", 7, noListener), fails("kube-apiserver-log", 1, "there is no container kube-apiserver\n")),
		"names": waiting(fails("api-answer", 7, noListener), named("192.168.126.1", "fails 000curl: (35) Recv failure: Connection reset by peer"),
			swaps("balancer-stats", ",UP,1,0,1,0,0,4,0,,1,3,1,,0,,2,0,,0,L7OK,200", ",DOWN,1,0,1,0,0,4,0,,1,3,1,,0,,2,0,,0,L4CON,")),
		"mcs": waiting(noPods, says("markers", "etcd-bootstrap.done\n"), says("containers", `{"containers":[]}`), says("mcs-files", "11500 /etc/mcs/kubeconfig\n"),
			mcsSays("000curl: (7) Failed to connect", "000curl: (7) Failed to connect", "000curl: (35) Recv failure"),
			fails("machine-config-server-log", 1, "there is no container machine-config-server\n"), fails("mcs-controller-log", 1, "there is no container machine-config-controller\n")),
	} {
		if r := (recorded{changes: changes}).walk(t, layer); r.Verdict != NotReached {
			t.Errorf("%s: %s, cause %+v", layer, r.Verdict, r.Cause)
		}
	}
}
