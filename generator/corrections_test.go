package generator

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
)

// A correction holds one thing that is often said wrongly: no page may say it
// outside the blocks that put it right, and the page says what is right.
type correction struct {
	misconception string
	page          string
	// wrong is the statement that must not be made, sample a text that makes it.
	wrong, sample string
	right         string
	// since and until are the releases whose pages are asked.
	labs.Span
}

var corrections = []correction{
	{misconception: "fifteen-stages", page: "dissecting-bootkube", Span: labs.Span{Since: "4.15"},
		wrong: `(?i)\b(15|fifteen) stages`, sample: "the 15 stages", right: `records (1[6-9]|[2-9][0-9]) stages that change something`},
	{misconception: "copied-to-assets", page: "copy-manifests",
		wrong: `cp [^\n]*/assets/manifests`, sample: "cp -r /opt/openshift/manifests /assets/manifests", right: "`manifests/`: from `openshift/\\*`"},
	{misconception: "digest-by-oc", page: "release-image",
		wrong: `oc adm release info[^\n]*\.digest`, sample: "oc adm release info IMAGE -o json | jq -r .digest", right: "reads the digest of the\\s+pulled image with `podman inspect`"},
	{misconception: "api-is-the-api-server", page: "render-api", Span: labs.Span{Since: "4.15"},
		wrong: `\bapi-bootstrap\b[^\n]*kube-apiserver-operator`, sample: "| `api-bootstrap` | cluster-kube-apiserver-operator |", right: `/usr/bin/render \\`},
	{misconception: "auth-api-is-oauth", page: "render-auth-api", Span: labs.Span{Since: "4.19"},
		wrong: `/usr/bin/authentication-operator render`, sample: "/usr/bin/authentication-operator render", right: `CRD of RoleBindingRestriction, the only file`},
	{misconception: "config-operator-path", page: "render-config",
		wrong: `/usr/bin/config-operator`, sample: "/usr/bin/config-operator render", right: `/usr/bin/cluster-config-operator render`},
	{misconception: "cvo-image-variable", page: "environment",
		wrong: `CVO_IMAGE`, sample: "${CVO_IMAGE}", right: "`RELEASE_IMAGE_DIGEST` is also the image of"},
	{misconception: "cvo-renders-everything", page: "render-cvo",
		wrong: `(?i)renders? (the manifests of )?(all|every) operators?`, sample: "renders all operators", right: `not render the manifests of\s+the\s+other\s+operators`},
	{misconception: "etcd-asset-input-dir", page: "render-etcd",
		wrong: "--name etcd-render[^`]*--asset-input-dir", sample: "--name etcd-render \\\n --asset-input-dir=/assets/tls", right: `--cluster-configmap-file=/assets/manifests/cluster-config\.yaml`},
	{misconception: "etcd-certificates-from-installer", page: "pki",
		wrong: "tls/etcd-[a-z-]+\\.(crt|key)` \\| openshift-install", sample: "| `tls/etcd-client.crt` | openshift-install |", right: `Its operator makes new signers and certificates each time\s+it renders`},
	{misconception: "ingress-asset-input-dir", page: "render-ingress",
		wrong: `/usr/bin/ingress-operator render`, sample: "/usr/bin/ingress-operator render", right: `--prefix=cluster-ingress-`},
	{misconception: "mco-asset-flags", page: "render-mco",
		wrong: `--machine-config-file`, sample: "--machine-config-file=/assets/manifests/*.yaml", right: `--root-ca=/assets/tls/root-ca\.crt`},
	{misconception: "nothing-between", page: "dissecting-bootkube",
		wrong: "\\| `ingress-operator-bootstrap` [^\\n]*\\n[^\\n]*`mco-bootstrap`", sample: "| render | `ingress-operator-bootstrap` | |\n| render | `mco-bootstrap` |",
		right: `(?s)\| .ingress-operator-bootstrap. .*\| .node-tuning-bootstrap. .*\| .mco-bootstrap. .*\| .cco-bootstrap. .*\| .wait-for-etcd. .*\| .cb-bootstrap. `},
	{misconception: "mco-last", page: "dissecting-bootkube",
		wrong: "\\| `mco-bootstrap` [^\\n]*\\n(\\| check [^\\n]*\\n)?\\| wait ", sample: "| `mco-bootstrap` | x |\n| wait | y |",
		right: `(?s)\| .cvo-bootstrap. .*\| .etcd-bootstrap. .*\| .mco-bootstrap. .*\| .cco-bootstrap. `},
	{misconception: "same-in-every-release", page: "dissecting-bootkube",
		wrong: `(?i)bootkube\.sh is the same in (all|every)`, sample: "bootkube.sh is the same in every release", right: "`bootkube.sh` of (4\\.\\d\\d|main) is \\d{3} lines"},
	{misconception: "cluster-bootstrap-starts-etcd", page: "static-pods",
		wrong: `cluster-bootstrap (writes|starts|places) etcd|etcd-member-pod\.yaml. \| cluster-bootstrap`, sample: "cluster-bootstrap starts etcd first", right: "`etcd-member-pod\\.yaml` \\| bootkube\\.sh"},
	{misconception: "cluster-bootstrap-starts-etcd", page: "static-pods",
		wrong: `machineconfigoperator-bootstrap-pod\.yaml. \| cluster-bootstrap`, sample: "| `machineconfigoperator-bootstrap-pod.yaml` | cluster-bootstrap |", right: "`machineconfigoperator-bootstrap-pod\\.yaml` \\| bootkube\\.sh"},
	{misconception: "bootkube-writes-static-pods", page: "static-pods",
		wrong: `(?i)bootkube(\.sh)? (writes|places) (all|the) static pod`, sample: "bootkube writes the static pods", right: "`kube-apiserver-pod\\.yaml` \\| cluster-bootstrap"},
	{misconception: "baked-static-pods", page: "static-pods",
		wrong: `(?i)static pods? [^\n.]*(baked|part of the Ignition)`, sample: "kubelet starts static pods (pre-baked in ignition)", right: `are in .*bootstrap-manifests.,\s+which no kubelet\s+reads`},
	{misconception: "only-asset-dir", page: "start-bootstrap",
		wrong: `start --asset-dir=\S+\s`, sample: "cluster-bootstrap start --asset-dir=/assets\n", right: `--tear-down-early=false`},
	{misconception: "cluster-bootstrap-renders", page: "timeline",
		wrong: `cluster-bootstrap renders`, sample: "cluster-bootstrap renders manifests", right: `creates every file of .manifests/. in the API`},
	{misconception: "apply-cvo-bootstrap", page: "cluster-version-operator",
		wrong: `oc apply [^\n]*cvo-bootstrap`, sample: "oc apply -f /assets/cvo-bootstrap/", right: `\{"spec":\{"overrides":null\}\}`},
	{misconception: "wait-for-healthz", page: "timeline",
		wrong: `6443/healthz`, sample: "curl -k https://localhost:6443/healthz", right: `20 minutes for any answer on .https://localhost:6443/readyz`},
	{misconception: "progress-listener", page: "completion",
		wrong: `bootstrap-progress-listener`, sample: "/usr/bin/bootstrap-progress-listener", right: `\| .progress\.service. \| ConfigMap`},
	{misconception: "etcd-pod-file", page: "files-and-logs",
		wrong: `[^a-z-]etcd-pod\.yaml`, sample: "/etc/kubernetes/manifests/etcd-pod.yaml", right: `/etc/kubernetes/manifests/etcd-member-pod\.yaml`},
	{misconception: "images-by-ignition", page: "environment",
		wrong: `(?i)variables?[^\n.]* \(?set by Ignition`, sample: "these environment variables (set by Ignition)", right: `Ignition sets no shell variable`},
	{misconception: "bootkube-in-opt", page: "files-and-logs",
		wrong: `/opt/openshift/bootkube\.sh`, sample: "/opt/openshift/bootkube.sh", right: `/usr/local/bin/bootkube\.sh`},
	{misconception: "bootstrap-in-get-nodes", page: "static-pods",
		wrong: `(?i)oc get nodes[^\n.]* shows? [^\n.]*bootstrap`, sample: "oc get nodes shows the bootstrap node", right: `It registers\s+no node`},
	{misconception: "short-pod-names", page: "components-and-ports",
		wrong: `(?i)pods? .?kube-apiserver-bootstrap|etcd-bootstrap-HOST`, sample: "pod kube-apiserver-bootstrap", right: "`etcd-bootstrap-member-HOST`(?s:.*)`bootstrap-kube-apiserver-HOST`"},
	{misconception: "kcm-not-on-bootstrap", page: "control-plane",
		wrong: `(?i)(controller[ -]manager|scheduler)[^\n.]*not run(ning)? on the bootstrap`, sample: "the scheduler is not running on the bootstrap node", right: `\| kube-scheduler \| static pod \| static pod on each`},
	{misconception: "log-lines", page: "render-etcd",
		wrong: `Rendering (etcd|kube-apiserver) manifests`, sample: "Rendering etcd manifests...", right: `Rendering CEO Manifests\.\.\.`},
	{misconception: "tearing-down-etcd", page: "etcd-membership",
		wrong: `Tearing down etcd`, sample: "Tearing down etcd-bootstrap...", right: `"Bootstrap member removed"|"successfully removed bootstrap member"`},
	{misconception: "kubeconfig-names", page: "kubeconfigs",
		wrong: `\b(localhost|admin)\.kubeconfig`, sample: "kubeconfigs/admin.kubeconfig", right: "`auth/kubeconfig-loopback` \\| `https://localhost:6443`"},
	{misconception: "masters-without-mcs", page: "machine-config-server",
		wrong: `(?i)(masters?|complete)[^\n.]* (needs? no|no need of a|without a) (MCS|Machine Config Server)`, sample: "each master needs no MCS", right: `source: https://api-int\.[a-z.-]+:22623/config/master`},
	{misconception: "mcs-one-port", page: "components-and-ports",
		wrong: `(?i)22623 only|only (on )?(port )?22623`, sample: "22623 only", right: `\| 22624 \| machine-config-server \|`},
	{misconception: "masters-start-static-pods", page: "control-plane",
		wrong: `(?i)masters? [^\n.]*starts? (its|their) own static pods`, sample: "masters boot and start their own static pods", right: `starts an \*\*installer pod\*\*`},
	{misconception: "release-image-pivot", page: "release-image", Span: labs.Span{Since: "4.19"},
		wrong: `release-image-pivot`, sample: "release-image-pivot.service", right: "`node-image-pull\\.service` pulls it"},
	{misconception: "etcd-statefulset", page: "control-plane",
		wrong: `(?i)statefulset`, sample: "| etcd | StatefulSet |", right: `\| etcd \| static pod, one member \| static pod on each`},
	{misconception: "api-server-by-mco", page: "control-plane",
		wrong: `(?i)via (the )?MCO|static pods?[^\n.|]*(by|through) the Machine Config Operator`, sample: "Static pod on masters (via MCO)", right: `\| kube-apiserver \| static pod \| static pod on each \| the kube-apiserver operator`},
	{misconception: "waits-before-rendering", page: "timeline",
		wrong: `(?s)## The bootstrap control plane.*## bootkube\.sh renders`, sample: "## The bootstrap control plane\n## bootkube.sh renders", right: `(?s)## bootkube\.sh renders.*wait-for-etcd. checks etcd|(?s)## bootkube\.sh renders.*wait-for-etcd\.md\) checks etcd`},
	{misconception: "bootkube-removes-member", page: "etcd-membership",
		wrong: `(?i)bootkube(\.sh|\.service)? removes the [^\n.]*member`, sample: "bootkube removes the bootstrap etcd member", right: `.bootkube\.sh. ends\. The member is still there`},
	{misconception: "no-one-removes-member", page: "etcd-membership",
		wrong: `(?i)remove the (bootstrap|etcd)[^\n.]* member by hand`, sample: "remove the bootstrap etcd member by hand", right: `BootstrapTeardownController sees it and removes the member`},
	{misconception: "third-replaces-bootstrap", page: "etcd-membership",
		wrong: `(?i)third master replaces|replaces the bootstrap member`, sample: "the third master replaces it", right: `\| 4 \| and |to two, three and four members`},
	{misconception: "two-nodes", page: "completion", Span: labs.Span{Since: "4.18"},
		wrong: `(?i)waits? for (two|2) control plane nodes`, sample: "bootkube: wait for 2 control plane nodes", right: `two nodes with a revision of\s+API server`},
	{misconception: "two-nodes-before", page: "completion", Span: labs.Span{Until: "4.17"},
		wrong: `(?i)two nodes with a revision`, sample: "also two nodes with a revision", right: `two Node objects of masters`},
	{misconception: "ceo-available", page: "etcd-membership",
		wrong: `(?i)waits? until the (etcd )?operator is available`, sample: "wait-for-ceo waits until the operator is available", right: `waits only for this condition`},
	{misconception: "crictl-by-name", page: "files-and-logs",
		wrong: `crictl logs [a-z]+-[a-z]`, sample: "crictl logs etcd-bootstrap", right: `crictl logs ID`},
	{misconception: "assisted-in-place", page: "installation-methods",
		wrong: `(?i)assisted[^\n.]*uses? .?bootstrap.in.place`, sample: "Assisted uses bootstrap-in-place", right: `\| Assisted Installer, three masters or more \|[^\n]*\| one of the hosts \|`},
	{misconception: "always-a-vip", page: "network",
		wrong: `(?i)\bthe API VIP\b`, sample: "The API VIP answers on port 6443", right: "`api\\.[a-z.-]+` \\| load balancer"},
}

// misconceptionQuote is a block that puts a misconception right.
var misconceptionQuote = regexp.MustCompile(`(?m)^> \[!MISCONCEPTION\]\n(>.*\n?)+`)

func TestWhatIsOftenSaidWronglyIsSaidRightly(t *testing.T) {
	wrong, right := make([]*regexp.Regexp, len(corrections)), make([]*regexp.Regexp, len(corrections))
	for i, c := range corrections {
		wrong[i], right[i] = regexp.MustCompile(c.wrong), regexp.MustCompile(c.right)
	}
	asked := map[string]bool{}
	// Most pages are the same in many labs, but for their names. Each is searched once
	// for each correction.
	type search struct{ correction, page int }
	searched := map[search]bool{}
	numbers := map[string]int{}
	everyGuide(t, func(t *testing.T, p *labs.Plan, files map[string]string) {
		said := map[int]string{}
		names := strings.NewReplacer(p.Lab.Domain(), "LAB.DOMAIN", p.Lab.Metadata.Name, "LAB")
		for _, page := range withoutMisconceptions(files) {
			page = names.Replace(page)
			if _, known := numbers[page]; !known {
				numbers[page] = len(numbers)
			}
			said[numbers[page]] = page
		}
		for i, c := range corrections {
			if !c.Holds(p.Release.ID) {
				continue
			}
			asked[c.misconception] = true
			if !right[i].MatchString(files["guide/"+c.page+".md"] + files["guide/"+c.page+"-script.md"]) {
				t.Errorf("%s: %s does not say %s", c.misconception, c.page, c.right)
			}
			for n, page := range said {
				if !searched[search{i, n}] && wrong[i].MatchString(page) {
					t.Errorf("%s: %s says %q", c.misconception, firstHeading(page), wrong[i].FindString(page))
				}
				searched[search{i, n}] = true
			}
		}
	})
	for _, b := range labs.BuiltinGuide().Misconceptions {
		if !asked[b.ID] {
			t.Errorf("no page is asked about misconception %s", b.ID)
		}
	}
}

func firstHeading(page string) string { return strings.SplitN(page, "\n", 2)[0] }

// withoutMisconceptions are the pages, in their order, without the blocks that put
// misconceptions right.
func withoutMisconceptions(files map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Ext(name) == ".md" {
			out = append(out, misconceptionQuote.ReplaceAllString(files[name], ""))
		}
	}
	return out
}

// A search that finds nothing proves nothing, so each wrong statement is found
// where it is made, and not in a block that puts it right.
func TestWrongStatementsAreFound(t *testing.T) {
	for _, c := range corrections {
		if !regexp.MustCompile(c.wrong).MatchString(c.sample) {
			t.Errorf("%s: %s does not find %q", c.misconception, c.wrong, c.sample)
		}
		block := misconceptionBlock(labs.Misconception{Claim: strings.ReplaceAll(c.sample, "\n", " "), Fact: "It is\notherwise."})
		if got := withoutMisconceptions(map[string]string{"a.md": "Before.\n\n" + block + "\n\nAfter.\n"}); got[0] != "Before.\n\n\nAfter.\n" {
			t.Errorf("%s: %q is left of a page", c.misconception, got)
		}
	}
}
