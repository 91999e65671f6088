package labs

import (
	"fmt"
	"slices"
	"strings"
)

// ImageSource is an item of install-config's imageDigestSources, and of
// imageContentSources, which is older: images of Source are looked for in the
// mirrors first, if they are asked for by digest.
type ImageSource struct {
	Source  string   `yaml:"source"`
	Mirrors []string `yaml:"mirrors"`
}

// ImageSources are the lab's, under whichever of the two keys they stand.
func (l *Lab) ImageSources() []ImageSource {
	if len(l.ImageContentSources) > 0 {
		return l.ImageContentSources
	}
	return l.ImageDigestSources
}

// Mirrors are the image sources as podman and CRI-O need them: each source once
// with all its mirrors, in the order of lab.yaml, and none without a mirror.
// Source: openshift/installer pkg/asset/ignition/bootstrap/registries.go.
func (l *Lab) Mirrors() []ImageSource {
	var out []ImageSource
	for _, s := range l.ImageSources() {
		at := slices.IndexFunc(out, func(o ImageSource) bool { return o.Source == s.Source })
		if at < 0 {
			at = len(out)
			out = append(out, ImageSource{Source: s.Source})
		}
		for _, mirror := range s.Mirrors {
			if !slices.Contains(out[at].Mirrors, mirror) {
				out[at].Mirrors = append(out[at].Mirrors, mirror)
			}
		}
	}
	return slices.DeleteFunc(out, func(s ImageSource) bool { return len(s.Mirrors) == 0 })
}

// withoutEmpty makes a list that is empty the same as one that is not there.
func withoutEmpty(sources []ImageSource) []ImageSource {
	if len(sources) == 0 {
		return nil
	}
	for i := range sources {
		if len(sources[i].Mirrors) == 0 {
			sources[i].Mirrors = nil
		}
	}
	return sources
}

// validateImageSources holds both keys to the installer's rules:
// pkg/types/validation, validateImageDigestSources and what follows on it.
func (l *loading) validateImageSources() {
	const digest, content = "imageDigestSources", "imageContentSources"
	l.validateSources(digest, l.lab.ImageDigestSources)
	l.validateSources(content, l.lab.ImageContentSources)
	switch {
	case len(l.lab.ImageContentSources) == 0:
	case len(l.lab.ImageDigestSources) > 0:
		l.report(Problem{Path: content, Message: "stands beside " + digest, Allowed: "one of the two", Hint: "move its items to " + digest})
	default:
		l.report(Problem{Path: content, Warning: true, Message: "is deprecated", Hint: "rename it to " + digest + ", unless you want to see the older object"})
	}
	l.validateMirroredRelease()
}

func (l *loading) validateSources(path string, sources []ImageSource) {
	for i, s := range sources {
		item := fmt.Sprintf("%s[%d]", path, i)
		l.validateRepository(item+".source", s.Source)
		for j, mirror := range s.Mirrors {
			l.validateRepository(fmt.Sprintf("%s.mirrors[%d]", item, j), mirror)
		}
		if len(s.Mirrors) == 0 {
			l.report(Problem{Path: item, Warning: true, Message: "names no mirror, so nothing comes of it"})
		}
	}
}

// validateRepository refuses what is neither a registry nor a repository in
// one: a tag or a digest is not a place to look for images.
func (l *loading) validateRepository(path, name string) {
	p := Problem{Path: path, Allowed: "REGISTRY or REGISTRY/REPOSITORY, without tag and digest"}
	host, repo, hasRepo := strings.Cut(name, "/")
	switch {
	case name == "":
		p.Message = "is empty"
	case len(name) > 255:
		p.Message = "is longer than 255 characters"
	case strings.Contains(name, "://"):
		p.Message = quote(name) + " is a URL"
		p.Hint = "write it without what stands before //"
	case strings.HasSuffix(name, "/"):
		p.Message = quote(name) + " ends in a slash"
	case strings.Contains(name, "@") || strings.Contains(repo, ":"):
		p.Message = quote(name) + " is an image, with tag or digest"
		p.Hint = "leave out what stands behind the repository"
	case !strings.ContainsAny(host, ".:") && host != "localhost":
		p.Message = quote(name) + " names no registry"
		p.Hint = "a registry is a host with a dot or a port, as quay.io or localhost:5000"
	case !registryHost.MatchString(host) || hasRepo && !repository.MatchString(repo):
		p.Message = quote(name) + " is neither a registry nor a repository in one"
	case host == "docker.io" && hasRepo && !strings.Contains(repo, "/"):
		p.Message = quote(name) + " is short for another name, which the installer refuses"
		p.Hint = "write docker.io/library/" + repo
	default:
		return
	}
	l.report(p)
}

// validateMirroredRelease warns of a release image that no mirror is asked for.
func (l *loading) validateMirroredRelease() {
	image := l.lab.Release.Image
	if image == "" || strings.Contains(image, "@") {
		return
	}
	for _, s := range l.lab.Mirrors() {
		if below, ok := strings.CutPrefix(image, s.Source); ok && (below == "" || below[0] == '/' || below[0] == ':') {
			l.report(Problem{Path: "release.image", Warning: true, Message: "is named by tag, and mirrors are asked for digests only", Hint: "name it by digest, or it must be had from " + quote(s.Source) + " itself"})
			return
		}
	}
}

// warnOfMirrorLogins warns, as the installer does, of mirrors that a pull
// secret has no login for; many a mirror needs none.
func (l *loading) warnOfMirrorLogins(path string, registries []string) {
	var told []string
	for _, s := range l.lab.Mirrors() {
		for _, mirror := range s.Mirrors {
			host, _, _ := strings.Cut(mirror, "/")
			if logsInto(registries, host) || slices.Contains(told, host) {
				continue
			}
			told = append(told, host)
			l.report(Problem{Path: path, Warning: true, Message: "the file has no login for the mirror " + quote(host)})
		}
	}
}
