package facts

import (
	"strings"
	"testing"
)

func TestTheChainIsThatOfTheRelease(t *testing.T) {
	f, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	const (
		front = "openshift-manifests "
		back  = "config-bootstrap cvo-bootstrap etcd-bootstrap kube-apiserver-bootstrap kube-controller-manager-bootstrap " +
			"kube-scheduler-bootstrap ingress-operator-bootstrap node-tuning-bootstrap mco-bootstrap cco-bootstrap"
	)
	for release, want := range map[string]string{
		"4.14": front + back,
		"4.18": front + "api-bootstrap " + back,
		"main": front + "api-bootstrap auth-api-bootstrap " + back,
	} {
		var names []string
		for _, s := range f.Chain(release) {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s", release, got)
		}
	}
}

func TestAStageHasItsOptionsAndCopies(t *testing.T) {
	f, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for release, want := range map[string]string{
		"4.20": "--quiet --net=host --rm --name mco-render --user 0",
		"4.21": "--quiet --net=host --rm --log-driver=k8s-file --name mco-render --user 0",
	} {
		chain := f.Chain(release)
		mco := chain[len(chain)-2]
		if got := strings.Join(mco.Podman, " "); got != want {
			t.Errorf("%s: %s", release, got)
		}
		if last := mco.Copies[len(mco.Copies)-1]; last != (Copy{"tls/machine-config-server.key", "/etc/ssl/mcs/tls.key"}) {
			t.Errorf("%s: the last copy is %v", release, last)
		}
	}
}
