package scripts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/test/podman"
	"bootlab/test/registry"
	"bootlab/test/standin"
)

// nowhere is a registry that does not run: nothing listens on that port.
const nowhere = "127.0.0.1:1"

// labFrom gives a lab of a release on a registry, with keys of its own; the
// podman knows the plain registries only.
func labFrom(t *testing.T, account podman.Account, from *registry.Registry, keys string, plain ...*registry.Registry) *Lab {
	t.Helper()
	r, err := standin.Push(from, release, standin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return NewLab(t, podman.New(t, account, plain...), Options{Release: r, Edit: func(dir, text string) (string, error) {
		return withKeys(dir, text, keys)
	}})
}

func mirrorKeys(r *registry.Registry) string {
	return "imageDigestSources:\n- source: " + r.Name + "/stand-in\n  mirrors: [" + nowhere + "/first, " + r.Host + "/stand-in]\n"
}

const caKey = "additionalTrustBundle: additional-ca.pem\n"

// TestImagesAreHadFromAMirror: the release image and an operator, by names that
// no registry answers to, out of the second of two mirrors.
func TestImagesAreHadFromAMirror(t *testing.T) {
	eachAccount(t, func(t *testing.T, account podman.Account) {
		reg := registry.StartTLS(t, nowhere)
		l := labFrom(t, account, reg, mirrorKeys(reg)+caKey)
		if err := l.takeAssets(Good(t, account, labs.Local), bootstrapAssets...); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"release-info", "render-etcd"} {
			l.Must(t, id+".sh")
			allGood(t, l, stage(t, id))
		}
		if reg.Pulls(l.Release.ReleaseRepository) == 0 || reg.Pulls(l.Release.Repository) == 0 {
			t.Error("the mirror was not asked")
		}
		digest, err := os.ReadFile(l.Asset("release-info/digest"))
		if err != nil || !strings.HasPrefix(string(digest), nowhere+"/stand-in/release@") {
			t.Errorf("the release is known as %s, %v", digest, err)
		}
	})
}

func TestWithoutItsMirrorAnImageIsNotFound(t *testing.T) {
	t.Parallel()
	l := labFrom(t, podman.Ordinary(t), registry.StartTLS(t, nowhere), caKey)
	l.Run(t, "release-info.sh").Want(t, 1, pullFailed, nowhere, "connection refused")
}

// TestOnesOwnRegistriesConfStays: what podman is set to on this machine counts
// beside the mirrors, and running a script again adds nothing to it.
func TestOnesOwnRegistriesConfStays(t *testing.T) {
	t.Parallel()
	plain := registry.Start(t)
	l := labFrom(t, podman.Ordinary(t), plain, "imageDigestSources: [{source: source.example.test, mirrors: [mirror.example.test]}]\n", plain)
	file := l.Asset("/etc/containers/registries.conf")
	l.Must(t, "release-info.sh")
	first, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(first), plain.Host) || !strings.Contains(string(first), `location = "mirror.example.test"`) {
		t.Errorf("%s, %v", first, err)
	}
	l.RunWith(t, []string{"CONTAINERS_REGISTRIES_CONF=" + file}, "release-info.sh", "--force").Want(t, 0)
	if again, err := os.ReadFile(file); err != nil || string(again) != string(first) {
		t.Errorf("the second time it is %s, %v", again, err)
	}
}

func TestARegistryOfAnotherCAIsTrustedOnlyWithIt(t *testing.T) {
	eachAccount(t, func(t *testing.T, account podman.Account) {
		reg := registry.StartTLS(t, "")
		l := labFrom(t, account, reg, "")
		l.Run(t, "release-info.sh").Want(t, 1, pullFailed, "certificate signed by unknown authority", "name the file there as additionalTrustBundle")
		l = labFrom(t, account, reg, caKey)
		l.Must(t, "release-info.sh")
		allGood(t, l, stage(t, "release-info"))
	})
}

// TestOnesOwnCAsStay: the additional CA is another one; the registry's is among
// those that this machine is told of.
func TestOnesOwnCAsStay(t *testing.T) {
	t.Parallel()
	l := labFrom(t, podman.Ordinary(t), registry.StartTLS(t, ""), caKey)
	own := filepath.Join(l.Env.Dir, "own-cas")
	other, err := registry.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(own, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(l.Dir, "additional-ca.pem"), filepath.Join(own, "ca.pem")); err != nil {
		t.Fatal(err)
	}
	l.Run(t, "release-info.sh").Want(t, 4, "additionalTrustBundle of lab.yaml names ", "additional-ca.pem")
	write(t, filepath.Join(l.Dir, "additional-ca.pem"), string(other.PEM))
	l.Run(t, "release-info.sh").Want(t, 1, "certificate signed by unknown authority")
	l.RunWith(t, []string{"SSL_CERT_DIR=" + own}, "release-info.sh").Want(t, 0)
}

// recordEnvironment makes podman write down, beside each cat in the release
// image, what environment the container has.
const recordEnvironment = `"$REAL" "$@" || exit
case "$*" in
  "run "*--entrypoint=cat*image-references) "$REAL" "${@:1:$#-1}" /proc/self/environ | tr '\0' '\n' > "${TMPDIR}/inside" ;;
esac`

// TestThePullGoesThroughTheProxy: the registry's name has no address, so that
// only the proxy leads to it. What the caller's environment says of proxies
// neither counts nor arrives in the container.
func TestThePullGoesThroughTheProxy(t *testing.T) {
	eachAccount(t, func(t *testing.T, account podman.Account) {
		const name = "registry.bootlab.test"
		reg := registry.StartTLS(t, name)
		proxy := registry.StartProxy(t, reg)
		url := strings.Replace(proxy.URL, "//", "//user:pass%24word@", 1)
		l := labFrom(t, account, reg, caKey+"proxy:\n  httpsProxy: "+url+"\n  noProxy: .example.test\n")
		l.Wrap(t, "podman", recordEnvironment)
		mine := []string{"http_proxy=http://" + nowhere, "HTTP_PROXY=http://" + nowhere, "https_proxy=http://" + nowhere, "no_proxy=" + name}
		l.RunWith(t, mine, "release-info.sh").Want(t, 0)
		if asked := proxy.Asked(); !slices.Contains(asked, name+":443") {
			t.Errorf("the proxy was asked for %v", asked)
		}
		inside, err := os.ReadFile(filepath.Join(l.Env.Dir, "tmp", "inside"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, line := range strings.Split(string(inside), "\n") {
			if key, _, _ := strings.Cut(line, "="); strings.HasSuffix(strings.ToLower(key), "_proxy") {
				got = append(got, line)
			}
		}
		slices.Sort(got)
		want := []string{"HTTPS_PROXY=" + url, "NO_PROXY=.cluster.local,.example.test,.svc,10.128.0.0/14,127.0.0.1,172.30.0.0/16," +
			"192.168.126.0/24,api-int.mylab.bootlab.test,localhost"}
		if !slices.Equal(got, want) {
			t.Errorf("inside:\n%s", strings.Join(got, "\n"))
		}
	})
}

func TestAProxyThatDoesNotAnswerIsTold(t *testing.T) {
	t.Parallel()
	reg := registry.StartTLS(t, "registry.bootlab.test")
	l := labFrom(t, podman.Ordinary(t), reg, caKey+"proxy:\n  httpsProxy: http://user:hunter2@"+nowhere+"\n")
	r := l.Run(t, "release-info.sh")
	r.Want(t, 1, pullFailed, "The proxy does not answer")
	if strings.Contains(r.All, "hunter2") {
		t.Errorf("the proxy's password is told:\n%s", r.All)
	}
}

// TestANodeHasMirrorsAndCAFromItsOwnFiles: there the scripts set the proxy, and
// leave to podman what bootstrap.ign brings.
func TestANodeHasMirrorsAndCAFromItsOwnFiles(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		podman.Unavailable(t, "a node's scripts run as root")
	}
	const name = "registry.bootlab.test"
	reg := registry.StartTLS(t, name)
	proxy := registry.StartProxy(t, reg)
	r, err := standin.Push(reg, release, standin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := NewLab(t, podman.New(t, podman.Accounts(t)[0]), Options{Place: labs.OnNode, Release: r, Edit: func(dir, text string) (string, error) {
		return withKeys(dir, text, mirrorKeys(reg)+caKey+"proxy:\n  httpsProxy: "+proxy.URL+"\n")
	}})
	l.put(t, "manifests/cluster-dns-02-config.yml", "spec:\n  baseDomain: mylab.bootlab.test\n")
	registries, anchor := l.Asset("/etc/containers/registries.conf"), l.Asset("/etc/pki/ca-trust/source/anchors/ca.crt")
	before, _ := os.ReadFile(registries)
	l.Run(t, "release-info.sh").Want(t, 1, "certificate signed by unknown authority")
	if after, _ := os.ReadFile(registries); string(after) != string(before) {
		t.Errorf("%s was written", registries)
	}
	if _, err := os.Stat(anchor); err == nil {
		t.Errorf("%s was written", anchor)
	}
	l.RunWith(t, []string{"SSL_CERT_DIR=" + l.Dir}, "release-info.sh").Want(t, 0)
	if asked := proxy.Asked(); !slices.Contains(asked, name+":443") {
		t.Errorf("the proxy was asked for %v", asked)
	}
}
