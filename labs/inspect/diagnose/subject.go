package diagnose

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
)

// Subject is whose bootstrap a bundle is of, as far as the bundle says, and what is
// assumed where it does not.
type Subject struct {
	Plan *labs.Plan `json:"-"`
	// Domain, Release and Platform are as the bundle has them; empty where it has
	// none. Release is in full, as 4.14.3; Platform as in the Infrastructure, AWS
	// for example.
	Domain   string `json:"domain,omitempty"`
	Release  string `json:"release,omitempty"`
	Platform string `json:"platform,omitempty"`
	// Assumed says in sentences what the bundle does not say.
	Assumed []string `json:"assumed,omitempty"`
	// near: the release is not in the catalog, and the plan is of the nearest.
	near bool
}

// ours are the platforms on which nothing but the machines themselves has part in a
// bootstrap.
var ours = []string{"", "None", "External", "BareMetal", "Libvirt"}

// Foreign says that a cloud's own layer (machines, load balancers, names, volumes)
// has part in the bootstrap, of which bootlab knows nothing.
func (s *Subject) Foreign() bool { return !slices.Contains(ours, s.Platform) }

// KnowsRelease says whether the plan is of the bundle's own release, and not of the
// nearest that is known.
func (s *Subject) KnowsRelease() bool { return !s.near }

// most is how much of one file is read to find out whose bundle it is, in bytes.
const most = 4 << 20

// SubjectOf finds out whose bootstrap a bundle is of.
func SubjectOf(b *host.Bundle) (*Subject, error) {
	s := &Subject{}
	read := func(pattern string) string {
		var text strings.Builder
		names, _ := fs.Glob(b.FS(), pattern)
		for _, name := range names[:min(len(names), 20)] {
			if f, err := b.FS().Open(name); err == nil {
				io.Copy(&text, io.LimitReader(f, most))
				f.Close()
			}
		}
		return text.String()
	}
	// Journals are long, and most bundles say all of it elsewhere.
	journals := sync.OnceValue(func() string { return read("bootstrap/journals/*.log") })
	infrastructure := read("rendered-assets/openshift/manifests/cluster-infrastructure-02-config.yml") + read("resources/infrastructure.json")
	s.Domain = first(infrastructure, `api-int\.([a-z0-9.-]+):6443`)
	if s.Domain == "" {
		s.Domain = first(journals()+read("serial/*.log"), `api-int\.([a-z0-9.-]+):(?:6443|22623)`)
	}
	s.Platform = first(infrastructure, `(?m)^  platform: ([A-Za-z0-9]+)$`)
	s.Release = first(read("resources/clusterversion.json"), `"version": *"(4\.[0-9]+[^"]*)"`)
	if s.Release == "" {
		s.Release = first(journals(), `io\.openshift\.release=(4\.[0-9]+[^,)\s]*)`)
	}
	if s.Release == "" {
		s.Release = taggedRelease(journals())
	}
	lab, err := example()
	if err != nil {
		return nil, err
	}
	s.fill(b, lab)
	s.Plan, err = labs.Builtin().Resolve(lab)
	return s, err
}

// taggedRelease is the release in the tag of an image, as release:4.17 has it.
func taggedRelease(text string) string {
	const tag = ":4."
	for from := 0; ; {
		i := strings.Index(text[from:], tag)
		if i < 0 {
			return ""
		}
		from += i + len(tag)
		around := text[max(0, from-64):min(len(text), from+64)]
		if release := first(around, `(?:release|okd)[a-z-]*:(4\.[0-9]+[0-9A-Za-z.-]*)`); release != "" {
			return release
		}
	}
}

// example is the lab whose shape is assumed.
func example() (*labs.Lab, error) {
	lab, problems := labs.LoadLabFS(labs.Examples, "compact", labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		return nil, errs
	}
	return lab, nil
}

// fill puts into the lab what the bundle says, and tells what it does not.
func (s *Subject) fill(b *host.Bundle, lab *labs.Lab) {
	assume := func(format string, args ...any) { s.Assumed = append(s.Assumed, fmt.Sprintf(format, args...)) }
	if b.Index != nil {
		s.Domain, s.Release = b.Index.Lab["domain"], b.Index.Release
	}
	if name, domain, ok := strings.Cut(s.Domain, "."); ok {
		lab.Metadata.Name, lab.BaseDomain = name, domain
	} else {
		assume("the bundle does not say the cluster's domain")
	}
	lab.Release.Image = ""
	lab.Release.Version = s.release(lab.Release.Version, assume)
	names, addresses := masterNames(b)
	if b.Index != nil {
		names = strings.Fields(b.Index.Lab["masters"])
		for i, address := range strings.Fields(b.Index.Lab["master_addresses"]) {
			if i < len(names) {
				addresses[names[i]] = address
			}
		}
	}
	if len(names) == 0 {
		assume("the bundle names no masters: three are assumed")
		names = []string{"master-0", "master-1", "master-2"}
	}
	lab.Machines.Masters = nil
	for _, name := range names {
		lab.Machines.Masters = append(lab.Machines.Masters, labs.Machine{Name: strings.TrimSuffix(name, "."+lab.Domain()), Address: addresses[name]})
	}
}

// release is the catalog's release that is nearest to the bundle's.
func (s *Subject) release(newest string, assume func(string, ...any)) string {
	id := first(s.Release, `^(4\.[0-9]+)`)
	ids := labs.Builtin().ReleaseIDs()
	switch {
	case id == "" && s.Release == "":
		assume("the bundle does not say its release: it is judged as %s", newest)
		s.near = true
		return newest
	case slices.Contains(ids, id):
		return id
	}
	s.near = true
	nearest, distance := newest, 1000
	for _, known := range ids {
		if d := minor(known) - minor(id); max(d, -d) < distance && minor(known) > 0 {
			nearest, distance = known, max(d, -d)
		}
	}
	assume("release %s is not known: it is judged as %s", s.Release, nearest)
	return nearest
}

func minor(release string) int {
	n, _ := strconv.Atoi(first(release, `^4\.([0-9]+)`))
	return n
}

// masterNames are the machines of the control plane that the bundle knows, with
// their addresses: nodes, those that ask for a certificate, and folders. localhost
// is the name of a machine that was given none.
func masterNames(b *host.Bundle) (names []string, addresses map[string]string) {
	addresses = map[string]string{}
	add := func(name string) {
		if name != "" && !strings.HasPrefix(name, "localhost") && !slices.Contains(names, name) && len(names) < 100 {
			names = append(names, name)
		}
	}
	var nodes struct {
		Items []struct {
			Metadata struct {
				Name   string            `json:"name"`
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
			Status struct {
				Addresses []struct{ Type, Address string } `json:"addresses"`
			} `json:"status"`
		} `json:"items"`
	}
	readJSON(b.FS(), "resources/nodes.json", &nodes)
	for _, n := range nodes.Items {
		_, master := n.Metadata.Labels["node-role.kubernetes.io/master"]
		_, controlPlane := n.Metadata.Labels["node-role.kubernetes.io/control-plane"]
		if !master && !controlPlane {
			continue
		}
		add(n.Metadata.Name)
		for _, a := range n.Status.Addresses {
			if a.Type == "InternalIP" && addresses[n.Metadata.Name] == "" {
				addresses[n.Metadata.Name] = a.Address
			}
		}
	}
	if len(names) == 0 {
		for _, name := range askingNames(b) {
			add(name)
		}
	}
	folders, _ := fs.ReadDir(b.FS(), "control-plane")
	for _, f := range folders {
		text, _ := fs.ReadFile(b.FS(), path.Join("control-plane", f.Name(), "network/hostname.txt"))
		name := strings.TrimSpace(string(text))
		if name != "" && len(names) < len(folders) {
			add(name)
			addresses[name] = f.Name()
		}
	}
	return names, addresses
}

// commonName is how a certificate request in DER names a node: a UTF8String or
// PrintableString behind the object identifier 2.5.4.3.
var commonName = regexp.MustCompile(`(?s)U\x04\x03[\x0c\x13].system:node:([A-Za-z0-9.-]+)`)

// askingNames are those under which kubelets ask for their first certificate.
func askingNames(b *host.Bundle) []string {
	var csrs struct {
		Items []struct {
			Spec struct {
				Request    []byte `json:"request"`
				SignerName string `json:"signerName"`
			} `json:"spec"`
		} `json:"items"`
	}
	readJSON(b.FS(), "resources/csr.json", &csrs)
	var names []string
	for _, c := range csrs.Items {
		if m := commonName.FindSubmatch(derOf(c.Spec.Request)); m != nil && strings.HasSuffix(c.Spec.SignerName, "apiserver-client-kubelet") {
			names = append(names, string(m[1]))
		}
	}
	return names
}

// derOf is what stands between the lines of a PEM block.
func derOf(request []byte) []byte {
	if block, _ := pem.Decode(request); block != nil {
		return block.Bytes
	}
	return nil
}

func readJSON(fsys fs.FS, name string, v any) {
	f, err := fsys.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	json.NewDecoder(io.LimitReader(f, 8*most)).Decode(v)
}

// compiledPattern keeps what was compiled: bundles are asked the same.
func compiledPattern(text string) *regexp.Regexp {
	re, err := pattern(text)
	if err != nil {
		panic(err)
	}
	return re
}

// first is what the first group of a pattern matches; empty if it does not.
func first(text, pattern string) string {
	if m := compiledPattern(pattern).FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// Judge walks over a bundle of which no lab is known.
func Judge(b *host.Bundle) (*Report, error) {
	r, _, err := examine(b)
	return r, err
}

// examine gives also what the walk looked at.
func examine(b *host.Bundle) (*Report, []host.Found, error) {
	s, err := SubjectOf(b)
	if err != nil {
		return nil, nil, err
	}
	d := labs.BuiltinDiagnosis().For(s.Plan)
	if s.near {
		d = leaveOut(d, ofThePlan)
	}
	if s.Foreign() {
		d = leaveOut(d, ofNothingElse)
	}
	found := b.Found(d.Evidence, s.Plan.Lab)
	r, err := Walk(d, s.Plan.Lab, b.Local(), found)
	if err != nil {
		return nil, nil, err
	}
	r.Subject = s
	return r, found, nil
}

// ofThePlan are symptoms that compare a bootstrap with the plan of its release
// stage by stage. Another release has other stages.
var ofThePlan = []string{"out-of-order", "input-gone"}

// ofNothingElse are symptoms that say that nothing else was found. On a cloud there
// is more than was looked at.
var ofNothingElse = []string{"masters-too-late", "start-bootstrap/no-masters", "start-bootstrap/refused"}

// leaveOut leaves symptoms out.
func leaveOut(d *labs.Diagnosis, ids []string) *labs.Diagnosis {
	out := *d
	out.Layers = nil
	for _, layer := range d.Layers {
		mine := *layer
		mine.Symptoms = nil
		for _, s := range layer.Symptoms {
			if !slices.Contains(ids, s.ID) {
				mine.Symptoms = append(mine.Symptoms, s)
			}
		}
		out.Layers = append(out.Layers, &mine)
	}
	return &out
}
