package diagram

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"bootlab/labs"
)

// mermaidOf is the text of one picture, with letters in the place of entities.
func mermaidOf(t *testing.T, p *labs.Plan, name string) string {
	t.Helper()
	v := newView(p)
	for _, describe := range drawings {
		d := describe(v)
		if d.about().name != name {
			continue
		}
		picture, _, err := draw(d)
		if err != nil {
			t.Fatal(err)
		}
		return entity.ReplaceAllStringFunc(picture.Mermaid, func(code string) string {
			n, err := strconv.Atoi(code[1 : len(code)-1])
			if err != nil {
				t.Fatal(err)
			}
			return string(rune(n))
		})
	}
	t.Fatalf("there is no picture %s", name)
	return ""
}

// What differs by release, topology and distribution, and where it shows.
func TestPicturesFollowThePlan(t *testing.T) {
	one := func(l *labs.Lab) { masters(l, 1) }
	for _, c := range []struct {
		picture, example, release string
		change                    func(*labs.Lab)
		has, lacks                []string
	}{
		{"timeline", "compact", "4.15", nil, []string{"C starts: 30 minutes", "one master's are enough, but two must have joined", "waits for .bootkube.done, then reports", "release-image-pivot"}, []string{"node-image-pull", "a SCOS build reboots"}},
		{"timeline", "compact", "4.16", nil, []string{"C starts: 45 minutes", "two addresses behind"}, []string{"30 minutes more"}},
		{"timeline", "compact", "4.18", nil, []string{"two masters whose API server has a revision", "a SCOS build reboots", "30 minutes more", "without a limit"}, []string{"node-image-pull"}},
		{"timeline", "compact", "4.21", nil, []string{"node-image-pull", "render-auth-api", "4 members become 3"}, []string{"release-image-pivot", "Workers boot"}},
		{"timeline", "ocp-compact", "4.17", nil, []string{"CRI-O, then kubelet"}, []string{"release-image-pivot", "node-image-pull"}},
		{"timeline", "ha", "4.21", nil, []string{"Workers boot"}, nil},
		{"timeline", "compact", "4.17", one, []string{"2 members become 1", "up to 5 minutes"}, []string{"addresses behind"}},
		{"timeline", "bootstrap-only", "4.21", nil, []string{"The required pods never come"}, []string{"Second boot", "safe to remove"}},
		{"etcd-membership", "compact", "4.21", nil, []string{"4 members<br/>", "EtcdBootstrapMemberRemoved"}, []string{"5 members"}},
		{"etcd-membership", "compact", "4.21", one, []string{"2 members<br/>"}, []string{"3 members"}},
		{"etcd-membership", "ha", "4.21", func(l *labs.Lab) { masters(l, 5) }, []string{"5 members<br/>", "the other masters"}, nil},
		{"etcd-membership", "bootstrap-only", "4.21", nil, []string{"1 member<br/>"}, []string{"2 members<br/>"}},
		{"stages", "compact", "4.14", nil, []string{"1. copy-manifests", "no marker"}, []string{"render-api[", "render-auth-api", "api-dns-resolved.done"}},
		{"stages", "compact", "4.21", nil, []string{"2. render-api", "3. render-auth-api", "api-dns-resolved.done"}, nil},
		{"certificates", "compact", "4.15", nil, []string{"etcd-client, 10 years", "serving-metrics of the host, 3 years", "signer, 10 years"}, []string{"signer, 5 years"}},
		{"certificates", "compact", "4.16", nil, []string{"etcd-client, 3 years", "signer, 5 years"}, []string{"etcd-client, 10 years"}},
		{"etcd-membership", "compact", "4.14", nil, []string{"EtcdBoostrapMemberRemoved"}, []string{"EtcdBootstrapMemberRemoved"}},
		{"timeline", "compact", "4.14", nil, []string{"EtcdBoostrapMemberRemoved"}, []string{"EtcdBootstrapMemberRemoved"}},
		{"failures", "compact", "4.14", nil, []string{"EtcdBoostrapMemberRemoved"}, []string{"EtcdBootstrapMemberRemoved"}},
		{"certificates", "compact", "4.19", nil, []string{"etcd-client, 3 years", "signer, 5 years"}, nil},
		{"certificates", "compact", "4.20", nil, []string{"etcd-client, 5 years"}, nil},
		{"network", "compact", "4.21", nil, []string{"192.168.126.1:6443", "192.168.126.1:22623", "localhost:22624/config/master", "localhost:6080/readyz", "master-2 192.168.126.22", "api-int.compact.bootlab.test"}, []string{"worker-0"}},
		{"network", "ha", "4.21", nil, []string{"Routers<br/>worker-0"}, nil},
		{"network", "bootstrap-only", "4.21", nil, []string{"none in this topology"}, []string{"master-0"}},
		{"operators", "ha", "4.21", nil, []string{"on workers"}, nil},
		{"operators", "bootstrap-only", "4.21", nil, []string{"Pending"}, []string{"on workers"}},
		{"failures", "compact", "4.18", nil, []string{"release-image-pivot", "Has etcd 4 members?"}, []string{"node-image-pull"}},
		{"failures", "bootstrap-only", "4.21", nil, []string{"node-image-pull", "fails by design"}, []string{"Has etcd"}},
		{"static-pods", "bootstrap-only", "4.21", nil, []string{"etcd-member-pod.yaml"}, []string{"openshift-etcd/etcd"}},
		{"architecture", "ha", "4.21", nil, []string{"Workers, two"}, nil},
	} {
		text := mermaidOf(t, plan(t, c.example, c.release, c.change), c.picture)
		for _, words := range c.has {
			if !strings.Contains(text, words) {
				t.Errorf("%s of %s %s does not say %q", c.picture, c.example, c.release, words)
			}
		}
		for _, words := range c.lacks {
			if strings.Contains(text, words) {
				t.Errorf("%s of %s %s says %q", c.picture, c.example, c.release, words)
			}
		}
	}
}

// The certificates of the picture are those that make-pki makes, no more and no
// less, and where make-pki tells the lifetime it is the same.
func TestCertificatesAreThoseOfTheStage(t *testing.T) {
	stage := plan(t, "compact", "4.21", nil).Stage("make-pki")
	lives := map[string]string{}
	for _, s := range signers {
		lives[s.name] = s.life
		for _, l := range s.leaves {
			lives[l.name] = l.life
		}
	}
	made := map[string]bool{}
	for _, o := range stage.Outputs {
		name, pair := strings.CutSuffix(strings.TrimPrefix(o.Path, "tls/"), ".*")
		if !pair {
			continue
		}
		made[name] = true
		life, found := lives[name]
		if !found {
			t.Errorf("make-pki makes %s, which the picture does not show", name)
		}
		for _, told := range []string{"24 hours", "1 year", "10 years"} {
			if strings.Contains(o.Why, told) && life != told {
				t.Errorf("%s lives %s in the picture; make-pki says: %s", name, life, o.Why)
			}
		}
	}
	for name := range lives {
		if !made[name] {
			t.Errorf("the picture shows %s, which make-pki does not make", name)
		}
	}
}

// What the static pods' picture says of files is what the stages copy.
func TestStaticPodsAreThoseOfTheStages(t *testing.T) {
	p := plan(t, "compact", "4.21", nil)
	text := mermaidOf(t, p, "static-pods")
	found := 0
	for _, s := range p.Stages {
		for _, o := range s.Outputs {
			if !strings.HasSuffix(o.Path, "-pod.yaml") {
				continue
			}
			found++
			name := o.Path[strings.LastIndex(o.Path, "/")+1:]
			if !strings.Contains(text, `["`+name+`"]`) || !strings.Contains(text, `["`+s.ID) {
				t.Errorf("%s of stage %s is not in the picture", name, s.ID)
			}
		}
	}
	if found != 7 {
		t.Errorf("the stages write %d static pods, expected are 7", found)
	}
}

// The table of files says of single cells what the stages' data say.
func TestFilesFollowTheStages(t *testing.T) {
	p := plan(t, "compact", "4.21", nil)
	v := newView(p)
	column := func(prefix string) int {
		return slices.IndexFunc(places, func(at place) bool { return at.prefix == prefix })
	}
	for _, c := range []struct{ stage, place, want string }{
		{"render-etcd", "tls/", "writes"},
		{"render-etcd", "manifests/", "reads, writes"},
		{"render-etcd", "/etc/kubernetes/manifests/", "writes"},
		{"render-mco", "/etc/kubernetes/manifests/", "writes"},
		{"render-kcm", "tls/", "reads, may write"},
		{"render-node-tuning", "manifests/", "reads, may write"},
		{"render-config", "manifests/", "reads"},
		{"start-bootstrap", "bootstrap-manifests/", "reads"},
		{"wait-for-ceo", "auth/", "reads"},
	} {
		u, found := uses(p.Stage(c.stage))[column(c.place)]
		if got := u.words(); !found || got != c.want {
			t.Errorf("%s %s %s, want %s", c.stage, got, c.place, c.want)
		}
	}
	if u := uses(plan(t, "compact", "4.14", nil).Stage("render-config"))[column("manifests/")]; u.words() != "reads, writes" {
		t.Errorf("render-config of 4.14 %s manifests/, want reads, writes", u.words())
	}
	for id, want := range map[string]string{
		"make-pki":              "",
		"render-api":            "copy-manifests",
		"render-kube-apiserver": "render-api, make-manifests, render-etcd, make-pki",
		"wait-for-etcd":         "render-etcd",
	} {
		if got := strings.Join(v.sources(p.Stage(id)), ", "); got != want {
			t.Errorf("%s reads files of %q, want %q", id, got, want)
		}
	}
}

func TestMachines(t *testing.T) {
	for n, want := range map[int]string{
		0: "",
		2: "m-0 192.168.126.100|m-1 192.168.126.101",
		5: "m-0 192.168.126.100|m-1 192.168.126.101|m-2 192.168.126.102|m-3 192.168.126.103|m-4 192.168.126.104",
		6: "m-0 192.168.126.100|m-1 192.168.126.101|m-2 192.168.126.102|m-3 192.168.126.103|and 2 more, up to m-5 192.168.126.105",
	} {
		if got := strings.Join(machines(many("m", n)), "|"); got != want {
			t.Errorf("%d machines: got %q, want %q", n, got, want)
		}
	}
}
