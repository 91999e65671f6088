package facts

import (
	"fmt"
	"testing"
)

func TestCallsAreThoseOfTheRelease(t *testing.T) {
	f, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		release, image string
		flags          int
	}{
		{"4.14", "cluster-etcd-operator", 5},
		{"4.14", "cluster-config-api", -1},
		{"4.15", "cluster-config-api", 4},
		{"4.16", "release", 2},
		{"4.17", "release", 3},
		{"main", "release", 4},
		{"4.17", "cluster-kube-apiserver-operator", 12},
		{"4.18", "cluster-kube-apiserver-operator", 13},
	} {
		t.Run(c.release+" "+c.image, func(t *testing.T) {
			calls, found := f.Calls(c.release, c.image), -1
			if len(calls) > 0 {
				found = len(calls[0].Flags)
			}
			if found != c.flags {
				t.Errorf("the first call has %d flags, not %d: %v", found, c.flags, calls)
			}
		})
	}
}

func TestEveryReleaseNamesTheEtcdImage(t *testing.T) {
	f, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, release := range f.Releases {
		if got := f.Images(release)["MACHINE_CONFIG_ETCD_IMAGE"]; got != "etcd" {
			t.Errorf("%s: %q", release, got)
		}
	}
	if _, there := f.Images("4.15")["AUTH_OPERATOR_IMAGE"]; there {
		t.Error(fmt.Sprint("4.15 has no cluster-authentication-operator: ", f.Images("4.15")))
	}
}
