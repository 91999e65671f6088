package scripts

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/standin/facts"
	"bootlab/test/podman"
	"bootlab/test/standin"
)

// chainLab gives a lab of a release on which nothing has run, with podman of
// its own.
func chainLab(t *testing.T, account podman.Account, id string, place labs.Place) *Lab {
	t.Helper()
	return NewLab(t, podman.New(t, account, Registry(t)), Options{Release: SharedRelease(t, id), Place: place})
}

// chainStages are those that render-all.sh runs in the usual lab: all on the
// way, up to the last render.
func chainStages(tb testing.TB, id string, place labs.Place) []*labs.Stage {
	tb.Helper()
	var chain []*labs.Stage
	last := 0
	for _, s := range Stages(tb, id, place) {
		if s.Optional {
			continue
		}
		chain = append(chain, s)
		if s.Kind == "render" {
			last = len(chain)
		}
	}
	return chain[:last]
}

// factsOf are the stages that bootkube.sh has, up to the last render.
func factsOf(t *testing.T, id string) []facts.Stage {
	t.Helper()
	f, err := facts.Load()
	if err != nil {
		t.Fatal(err)
	}
	return f.Chain(id)
}

// ofTheHost are what a local run must leave alone on the machine it runs on.
var ofTheHost = []string{
	"/etc/kubernetes", "/etc/mcc", "/etc/mcs", "/etc/ssl/mcs", "/etc/containers", "/opt/openshift", "/var/log/openshift", "/root/.docker",
}

func hostNow() map[string]string {
	now := map[string]string{}
	for _, path := range ofTheHost {
		if info, err := os.Stat(path); err == nil {
			now[path] = info.ModTime().String()
		}
	}
	return now
}

func TestTheWholeChain(t *testing.T) {
	before := hostNow()
	for _, id := range []string{"4.14", "4.18", "main"} {
		t.Run(id, func(t *testing.T) {
			eachAccount(t, func(t *testing.T, account podman.Account) {
				l := chainLab(t, account, id, labs.Local)
				l.Must(t, "render-all.sh")
				chainIsDone(t, l)
				onlyWorkIsWritten(t, l)
				if after := hostNow(); !maps.Equal(before, after) {
					t.Errorf("a local run touched the host: %v, was %v", after, before)
				}
			})
		})
	}
}

func TestTheWholeChainOnANode(t *testing.T) {
	t.Parallel()
	account := podman.Accounts(t)[0]
	if !account.Root() {
		t.Skip("on the bootstrap node scripts run as root; only root can make a mount namespace")
	}
	before := hostNow()
	l := chainLab(t, account, release, labs.OnNode)
	if err := l.takeAssets(Good(t, account, labs.Local), bootstrapAssets...); err != nil {
		t.Fatal(err)
	}
	if err := l.removeRendered(t); err != nil {
		t.Fatal(err)
	}
	l.withoutNames(t)
	l.Must(t, "render-all.sh")
	chainIsDone(t, l)
	if after := hostNow(); !maps.Equal(before, after) {
		t.Errorf("the host was touched: %v, was %v", after, before)
	}
}

// withoutNames: the node asks a name server on loopback where nothing answers,
// which stops nothing.
func (l *Lab) withoutNames(t *testing.T) {
	t.Helper()
	for file, text := range map[string]string{"resolv.conf": "nameserver 127.0.0.1\n", "nsswitch.conf": "hosts: files dns\n"} {
		path := l.Asset("/etc/" + file)
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// removeRendered leaves in manifests/ and tls/ what the installer puts there.
func (l *Lab) removeRendered(t *testing.T) error {
	t.Helper()
	for path := range l.manifests(t, "manifests") {
		if !slices.Contains(installersManifests(l.Release.ID), path) {
			if err := os.Remove(l.Asset("manifests/" + path)); err != nil {
				return err
			}
		}
	}
	for _, name := range []string{"etcd-ca-bundle.crt", "etcd-client.crt", "etcd-client.key"} {
		if err := os.RemoveAll(l.Asset("tls/" + name)); err != nil {
			return err
		}
	}
	return nil
}

// chainIsDone looks at all that render-all.sh must leave.
func chainIsDone(t *testing.T, l *Lab) {
	t.Helper()
	stages := chainStages(t, l.Release.ID, l.Place)
	for _, s := range stages {
		allGood(t, l, s)
		for _, marker := range l.markers(s) {
			if _, err := os.Stat(marker); err != nil {
				t.Error(err)
			}
		}
	}
	recordsInOrder(t, l)
	theReleasesFiles(t, l)
	if left := l.Env.Containers(t); len(left) > 0 {
		t.Errorf("containers are left: %v", left)
	}
	noHalfFiles(t, l)
}

// recordsInOrder: the records hold bootkube's names in its order, behind the
// lab's own, each once and each a success.
func recordsInOrder(t *testing.T, l *Lab) {
	t.Helper()
	var want, got []string
	for _, s := range stagesBefore(t, l) {
		want = append(want, s.ID)
	}
	for _, s := range factsOf(t, l.Release.ID) {
		want = append(want, s.Name)
	}
	looks := map[string]bool{"resolve-api-url": true, "resolve-api-int-url": true}
	for _, r := range l.Records(t) {
		if r.Phase == "stage end" && !looks[r.Stage] {
			got = append(got, r.Stage+" "+r.Result)
		}
	}
	for i := range want {
		want[i] += " success"
	}
	if !slices.Equal(got, want) {
		t.Errorf("recorded are\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// stagesBefore are the lab's own, ahead of bootkube's first.
func stagesBefore(t *testing.T, l *Lab) []*labs.Stage {
	t.Helper()
	chain := chainStages(t, l.Release.ID, l.Place)
	first := slices.IndexFunc(chain, func(s *labs.Stage) bool { return s.Bootkube != "" })
	return chain[:first]
}

// installersManifests are what the installer of a release puts into manifests/
// for platform none.
func installersManifests(id string) []string {
	names := []string{
		"cluster-config.yaml", "cluster-dns-02-config.yml", "cluster-infrastructure-02-config.yml", "cluster-ingress-02-config.yml",
		"cluster-network-02-config.yml", "cluster-proxy-01-config.yaml", "cluster-scheduler-02-config.yml", "cvo-overrides.yaml",
		"kube-cloud-config.yaml", "kube-system-configmap-root-ca.yaml", "machine-config-server-tls-secret.yaml",
		"openshift-config-secret-pull-secret.yaml",
	}
	if (labs.Span{Since: "4.19"}).Holds(id) {
		names = append(names, "machine-config-server-ca-configmap.yaml", "machine-config-server-ca-secret.yaml")
	}
	return names
}

// mayBeEmpty are the copies that find nothing in the usual lab: without a
// tuning profile there is nothing to tune.
var mayBeEmpty = []string{"node-tuning-bootstrap/*"}

// theReleasesFiles: manifests/ and bootstrap-manifests/ hold what the installer
// and the copies of bootkube.sh put there, and nothing else.
func theReleasesFiles(t *testing.T, l *Lab) {
	t.Helper()
	want := map[string]map[string]bool{"manifests/": {}, "bootstrap-manifests/": {}}
	for _, name := range installersManifests(l.Release.ID) {
		want["manifests/"][name] = true
	}
	for _, s := range factsOf(t, l.Release.ID) {
		for _, c := range s.Copies {
			if want[c.To] == nil {
				continue
			}
			files, err := filepath.Glob(l.Asset(c.From))
			if err != nil || len(files) == 0 && !slices.Contains(mayBeEmpty, c.From) {
				t.Errorf("%s of %s finds nothing: %v", c.From, s.Name, err)
			}
			for _, file := range files {
				want[c.To][filepath.Base(file)] = true
			}
		}
	}
	for dir, names := range want {
		if got := l.manifests(t, dir); !maps.Equal(got, names) {
			t.Errorf("%s holds\n%s\nnot\n%s", dir, lines(got), lines(names))
		}
	}
	pods := "bootstrap-pod.yaml cloud-credential-operator-pod.yaml kube-apiserver-pod.yaml kube-controller-manager-pod.yaml kube-scheduler-pod.yaml"
	if got := lines(l.manifests(t, "bootstrap-manifests")); strings.ReplaceAll(got, "\n", " ") != pods {
		t.Errorf("bootstrap-manifests/ holds\n%s", got)
	}
	if got := lines(l.manifests(t, "/etc/kubernetes/manifests")); got != "etcd-member-pod.yaml\nmachineconfigoperator-bootstrap-pod.yaml" {
		t.Errorf("the kubelet has\n%s", got)
	}
}

// manifests are the names in a directory.
func (l *Lab) manifests(t *testing.T, dir string) map[string]bool {
	t.Helper()
	entries, err := os.ReadDir(l.Asset(dir))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	return names
}

func lines(names map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(names)), "\n")
}

// TestEveryReleasesCommandsAreBootkubes compares what the dry runs of a release
// call podman with, and what bootkube.sh of that release calls it with. Real chains
// run for some releases only.
func TestEveryReleasesCommandsAreBootkubes(t *testing.T) {
	t.Parallel()
	env := podman.New(t, podman.Accounts(t)[0], Registry(t))
	for _, id := range labs.Builtin().ReleaseIDs() {
		t.Run(id, func(t *testing.T) {
			l := NewLab(t, env, Options{Release: &standin.Release{
				ID: id, Image: "quay.io/example/release@sha256:" + strings.Repeat("0", 64),
			}})
			l.pretendReleaseInfo(t)
			calls := filepath.Join(env.Dir, "tmp", "calls-"+id)
			// No render runs: the dry run ends with the podman that should do it. The
			// list of images, which bootkube.sh reads too, is no render.
			l.Wrap(t, "podman", `[ "$1" = run ] || exit 0; [ "$5" != --entrypoint=cat ] || { echo '{}'; exit 0; }; echo "podman $*" >> `+calls+`; exit 9`)
			for _, s := range chainStages(t, id, labs.Local) {
				if s.Run == nil || s.Bootkube == "" {
					continue
				}
				text := l.Must(t, s.ScriptName(), "--dry-run").Out
				finish(t, env.Command("bash", "-c", text)).Want(t, 9)
			}
			data, err := os.ReadFile(calls)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Split(strings.TrimSpace(string(data)), "\n")
			if want := l.bootkubesCommands(t); !slices.Equal(got, want) {
				t.Errorf("run would be\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// pretendReleaseInfo writes what release-info.sh writes, a word for each answer.
func (l *Lab) pretendReleaseInfo(t *testing.T) {
	t.Helper()
	f, err := facts.Load()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, name := range f.Images(l.Release.ID) {
		names[name] = true
	}
	for _, s := range f.Chain(l.Release.ID) {
		names[s.Image] = true
	}
	var images strings.Builder
	for _, name := range slices.Sorted(maps.Keys(names)) {
		images.WriteString(name + " IMAGE-FOR:" + name + "\n")
	}
	for name, text := range map[string]string{
		"version": "RELEASE-INFO:version\n", "kubernetes-version": "RELEASE-INFO:kubernetes-version\n",
		"digest": "RELEASE-INFO:digest\n", "images": images.String(),
	} {
		if err := os.MkdirAll(l.Asset("release-info"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(l.Asset("release-info/"+name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l.Env.Own(t, l.Dir)
}

// bootkubesCommands are the podman runs that bootkube.sh makes for renders.
func (l *Lab) bootkubesCommands(t *testing.T) []string {
	t.Helper()
	f, err := facts.Load()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, s := range f.Chain(l.Release.ID) {
		if s.Image != "" {
			want = append(want, l.bootkubesCommand(f, s))
		}
	}
	return want
}

// bootkubesCommand is the podman run of a stage, with the words in it that
// pretendReleaseInfo gives.
func (l *Lab) bootkubesCommand(f *facts.Facts, s facts.Stage) string {
	values := map[string]string{
		"VERSION": "RELEASE-INFO:version", "KUBERNETES_VERSION": "RELEASE-INFO:kubernetes-version",
		"RELEASE_IMAGE_DIGEST": "RELEASE-INFO:digest", "ETCD_ENDPOINTS": "https://localhost:2379",
		"CLUSTER_PROFILE_ANNOTATION": "self-managed-high-availability",
	}
	for variable, name := range f.Images(l.Release.ID) {
		values[variable] = "IMAGE-FOR:" + name
	}
	image := "IMAGE-FOR:" + s.Image
	if s.Image == "release" {
		image = values["RELEASE_IMAGE_DIGEST"]
	}
	words := append([]string{"podman run"}, s.Podman...)
	words = append(words, "--volume "+l.Assets()+":/assets:z", image, s.Call.Command)
	for _, flag := range s.Call.Flags {
		switch {
		case flag.WhenFile != "":
		case flag.Value == "":
			words = append(words, "--"+flag.Name)
		default:
			words = append(words, "--"+flag.Name+"="+os.Expand(flag.Value, func(name string) string { return values[name] }))
		}
	}
	return strings.Join(words, " ")
}
