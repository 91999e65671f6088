package labs

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// longestName is the length in characters that the installer allows for a
// cluster's name. Source: openshift/installer pkg/validate.
const longestName = 54

// validate says everything that is wrong with a lab whose defaults are in.
func (l *loading) validate() {
	lab := l.lab
	if lab.APIVersion != "v1" {
		l.report(Problem{Path: "apiVersion", Message: quote(lab.APIVersion) + " is not known", Allowed: "v1"})
	}
	l.validateNames()
	l.validateRelease()
	if !slices.Contains(Topologies, lab.Topology) {
		l.reportChoice("topology", lab.Topology, Topologies)
	}
	l.validatePools()
	l.validateNetworking()
	l.validateMachines()
	l.validatePullSecret()
	l.validateSSHKey()
	l.validateProxy()
	l.validateImageSources()
	l.validateTrustBundle()
	l.validateImages()
}

// reportChoice reports a value that is none of a few.
func (l *loading) reportChoice(path, value string, choices []string) {
	p := Problem{Path: path, Message: quote(value) + " is not known", Allowed: strings.Join(choices, ", ")}
	if near := nearest(value, choices); near != "" {
		p.Hint = "did you mean " + near + "?"
	}
	l.report(p)
}

var label = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

// isLabel says whether a text is one label of a DNS name (RFC 1123).
func isLabel(s string, longest int) bool { return len(s) <= longest && label.MatchString(s) }

func labelRule(longest int) string {
	return fmt.Sprintf("lower-case letters, digits and hyphens, no hyphen first or last, at most %d characters", longest)
}

// isSubdomain says whether a text is a DNS name in lower case.
func isSubdomain(s string) bool {
	for _, part := range strings.Split(s, ".") {
		if !isLabel(part, 63) {
			return false
		}
	}
	return len(s) <= 253
}

// validateNames holds metadata.name and baseDomain to the rules of DNS. The
// installer lets a base domain end in a dot; the lab drops it.
func (l *loading) validateNames() {
	name, domain := l.lab.Metadata.Name, strings.TrimSuffix(l.lab.BaseDomain, ".")
	p := Problem{Path: "metadata.name", Allowed: labelRule(longestName)}
	switch {
	case name == "":
		p.Message = "is required"
		l.report(p)
	case !isLabel(name, longestName):
		p.Message = quote(name) + " is no name for a cluster"
		if strings.Contains(name, ".") {
			p.Hint = "dots belong into baseDomain"
		}
		l.report(p)
	}
	if uid := l.lab.Metadata.UID; uid != "" && !uidForm.MatchString(uid) {
		l.report(Problem{Path: "metadata.uid", Message: quote(uid) + " is no identity of a lab",
			Allowed: "16 to 32 of the characters 0 to 9 and a to f", Hint: "bootlab init makes one"})
	}
	p = Problem{Path: "baseDomain", Allowed: "a DNS name in lower case, as bootlab.test"}
	switch {
	case domain == "":
		p.Message = "is required"
		l.report(p)
	case !isSubdomain(domain):
		p.Message = quote(domain) + " is no DNS name"
		l.report(p)
	case len(name)+1+len(domain) > 253:
		p.Message = "metadata.name and baseDomain together are longer than a DNS name can be"
		p.Allowed = "253 characters together"
		l.report(p)
	case domain == "local" || strings.HasSuffix(domain, ".local"):
		p.Message = "names below .local are asked by multicast DNS (RFC 6762), and may never reach the lab's DNS server"
		p.Allowed, p.Warning = "", true
		l.report(p)
	}
	l.lab.BaseDomain = domain
}

// Distributions are the builds of OpenShift that a lab can install.
var Distributions = []string{"okd", "ocp"}

// OCPPullSpec is the form of OCP's release images. Source: openshift
// documentation, mirroring.
const OCPPullSpec = "quay.io/openshift-release-dev/ocp-release:VERSION-x86_64"

func (l *loading) validateRelease() {
	const path = "release.image"
	r := l.lab.Release
	distributionKnown, versionKnown := slices.Contains(Distributions, r.Distribution), l.catalog.Release(r.Version) != nil || l.audited && minorRelease.MatchString(r.Version)
	if !distributionKnown {
		l.reportChoice("release.distribution", r.Distribution, Distributions)
	}
	if !versionKnown {
		l.reportVersion(r.Version)
	}
	switch {
	case r.Image != "" || l.doc.given(path):
		if l.validatePullSpec(path, r.Image) {
			l.validateImageFits(path, r)
		}
	case distributionKnown && versionKnown:
		l.reportMissingImage(path, r)
	}
}

// reportMissingImage tells what a release image looks like.
func (l *loading) reportMissingImage(path string, r ReleaseRef) {
	p := Problem{Path: path, Message: fmt.Sprintf("is required: no release image is known for %s %s", r.Distribution, r.Version)}
	newest := l.catalog.newest(r.Distribution)
	if r.Distribution == "ocp" {
		p.Hint = "name one as " + OCPPullSpec + ", VERSION being the whole version, as " + newest + ".0; it needs a pull secret"
	} else {
		p.Hint = fmt.Sprintf("choose a tag at https://github.com/okd-project/okd/releases; for %s there is %s", newest, l.catalog.pullSpec(r.Distribution, newest))
	}
	l.report(p)
}

// reportVersion names the known releases and the nearest of them.
func (l *loading) reportVersion(version string) {
	unknown := l.catalog.unknown(version)
	p := Problem{Path: "release.version", Message: quote(version) + " " + noStageData, Allowed: strings.Join(unknown.Known, ", "), Hint: unknown.Hint()}
	switch {
	case l.audited:
		p.Allowed += ", or with an audited script another minor release as MAJOR.MINOR"
	case minorRelease.MatchString(version):
		p.Hint += "; with its bootkube.sh at hand: bootlab generate LAB --from-audit FILE"
	}
	if unknown.Patch {
		p.Hint = "write " + unknown.Nearest + " here, and name the very release in release.image"
	}
	l.report(p)
}

var tagRelease = regexp.MustCompile(`:([0-9]+\.[0-9]+)[.-][^/]*$`)

// validateImageFits warns of a release image that tells by its name that it is
// not the release or the distribution which lab.yaml names.
func (l *loading) validateImageFits(path string, r ReleaseRef) {
	m := tagRelease.FindStringSubmatch(r.Image)
	if m != nil && minorRelease.MatchString(r.Version) && m[1] != r.Version {
		l.report(Problem{Path: path, Warning: true, Message: fmt.Sprintf("the tag speaks of %s, and release.version is %s", m[1], r.Version), Hint: "stages and flags differ between releases; make the two agree"})
	}
	other := map[string]string{"okd": "/ocp-release", "ocp": "quay.io/okd/"}[r.Distribution]
	if other != "" && strings.Contains(r.Image, other) {
		l.report(Problem{Path: path, Warning: true, Message: "the image is not one of " + r.Distribution, Hint: "set release.distribution to what the image is"})
	}
}

var (
	registryHost = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*(:[0-9]{1,5})?$`)
	repository   = regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	imageTag     = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	imageDigest  = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// validatePullSpec says whether a text can be the pull spec of an image:
// REGISTRY/REPOSITORY[:TAG][@sha256:DIGEST]. Source: distribution/reference.
func (l *loading) validatePullSpec(path, spec string) bool {
	p := Problem{Path: path, Allowed: "REGISTRY/REPOSITORY, then :TAG or @sha256:DIGEST or both"}
	rest, digest, hasDigest := strings.Cut(spec, "@")
	host, rest, hasHost := strings.Cut(rest, "/")
	repo, tag, hasTag := strings.Cut(rest, ":")
	switch {
	case spec == "":
		p.Message = "is empty"
	case len(spec) > 512:
		p.Message = "is longer than 512 characters"
	case strings.Contains(spec, "://"):
		p.Message = quote(spec) + " is a URL"
		p.Hint = "write it without what stands before //"
	case !hasHost || !strings.ContainsAny(host, ".:") && host != "localhost":
		p.Message = quote(spec) + " names no registry"
		p.Hint = "a registry is a host with a dot or a port, as quay.io or localhost:5000"
	case !registryHost.MatchString(host) || !repository.MatchString(repo):
		p.Message = quote(spec) + " is no pull spec"
		if lower := strings.ToLower(repo); lower != repo && repository.MatchString(lower) {
			p.Hint = "a repository is written in lower case"
		}
	case hasTag && !imageTag.MatchString(tag):
		p.Message = quote(spec) + " has no proper tag"
	case hasDigest && !imageDigest.MatchString(digest):
		p.Message = quote(spec) + " has no proper digest"
		p.Hint = "a digest is sha256: and 64 characters of 0-9 and a-f"
	default:
		return true
	}
	l.report(p)
	return false
}

// validatePools holds the machine pools to what a lab makes of them. The
// installer itself does not refuse an even control plane; etcd gains nothing
// by the even member, and needs one more for its quorum.
func (l *loading) validatePools() {
	lab := l.lab
	if lab.ControlPlane.Name != "master" {
		l.report(Problem{Path: "controlPlane.name", Message: quote(lab.ControlPlane.Name) + " is no name for the control plane", Allowed: "master"})
	}
	if n := *lab.ControlPlane.Replicas; n != 1 && n != 3 && n != maxMasters {
		p := Problem{Path: "controlPlane.replicas", Message: fmt.Sprintf("%d is no size for a control plane", n), Allowed: "1, 3, 5"}
		if n > 0 && n%2 == 0 {
			p.Hint = "an even member of etcd adds no fault that it can bear"
		}
		l.report(p)
	}
	if got := len(lab.Compute); got != 1 {
		l.report(Problem{Path: "compute", Message: fmt.Sprintf("holds %d pools", got), Allowed: "one pool, worker"})
		return
	}
	if pool := lab.Compute[0]; pool.Name != "worker" {
		l.report(Problem{Path: "compute[0].name", Message: quote(pool.Name) + " is no pool of a lab", Allowed: "worker"})
	}
	const path = "compute[0].replicas"
	switch n := *lab.Compute[0].Replicas; {
	case n < 0 || n > maxWorkers:
		l.report(Problem{Path: path, Message: fmt.Sprintf("%d is no number of workers for a lab", n), Allowed: fmt.Sprintf("0 to %d", maxWorkers)})
	case lab.Topology == "compact" && n != 0:
		l.report(Problem{Path: path, Message: fmt.Sprintf("topology compact has no workers, and this is %d", n), Allowed: "0", Hint: "topology ha has workers"})
	case lab.Topology == "ha" && n == 0:
		l.report(Problem{Path: path, Message: "topology ha has workers, and this is 0", Allowed: fmt.Sprintf("1 to %d", maxWorkers), Hint: "topology compact has none"})
	}
}

// validateImages looks at the images that replace the release's own.
func (l *loading) validateImages() {
	names := make([]string, 0, len(l.lab.Images))
	for name := range l.lab.Images {
		names = append(names, name)
	}
	sort.Strings(names)
	known := l.imageNames()
	for _, name := range names {
		path := "images." + clip(name, 60)
		l.validatePullSpec(path, l.lab.Images[name])
		switch {
		case !isLabel(name, 63):
			l.report(Problem{Path: path, Message: quote(name) + " is no name of an image in a release", Allowed: labelRule(63)})
		case !slices.Contains(known, name) && l.catalog.Release(l.lab.Release.Version) != nil:
			p := Problem{Path: path, Warning: true, Message: "no stage of " + l.lab.Release.Version + " asks for an image of this name"}
			if near := nearest(name, known); near != "" {
				p.Hint = "did you mean " + near + "?"
			}
			l.report(p)
		}
	}
}

// release is the lab's, or the known one that is nearest to it.
func (l *loading) release() string {
	if l.audited {
		return l.catalog.Nearest(l.lab.Release.Version)
	}
	return l.lab.Release.Version
}

// imageNames lists the images that bootkube.sh of the lab's release asks for.
func (l *loading) imageNames() []string {
	var out []string
	for _, image := range l.catalog.Bootkube.Images {
		if image.Span.Holds(l.release()) {
			out = append(out, image.Name)
		}
	}
	return out
}
