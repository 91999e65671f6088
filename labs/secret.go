package labs

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"sort"
	"strings"
	"unicode"
)

// A learner may paste a pull secret or a private key where only its path, or
// only the public half, belongs. Messages repeat lines of lab.yaml, end up in
// terminals, logs and questions to others, and so must leave such lines out.

var (
	privateKeyBegin = regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----`)
	privateKeyEnd   = regexp.MustCompile(`-----END [A-Z0-9 ]*PRIVATE KEY-----`)
	pullSecretKey   = regexp.MustCompile(`^\s*["']?pullSecret["']?\s*:(.*)$`)
	pullSecretPath  = regexp.MustCompile(`^\s*("[^{}"]{0,255}"|'[^{}']{0,255}'|[^{}|>"'\s][^{}|>"']{0,255})?\s*(#.*)?$`)
	topLevelKey     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*:(\s|$)`)
	proxyKey        = regexp.MustCompile(`(?i)\b(https?_?|all_?|)proxy["']?\s*[:=]`)
	urlLogin        = regexp.MustCompile(`://[^\s"']*@`)
	registryLogin   = regexp.MustCompile(`\b(auths?|credsStore|identitytoken)["']?\s*:`)
	publicPart      = regexp.MustCompile(`(^|[\s"'])AAAA[A-Za-z0-9+/=]*`)
	base64Run       = regexp.MustCompile(`[A-Za-z0-9+=]{33,}`)
	hasUpper        = regexp.MustCompile(`[A-Z]`)
	hasLower        = regexp.MustCompile(`[a-z]`)
)

// secretLines finds the lines, 1-based, that may hold a secret: private keys,
// a pull secret's JSON, a proxy's login, long base64.
func secretLines(lines []string) map[int]bool {
	out := proxyLines(lines)
	inKey, inPullSecret := false, false
	for i, line := range lines {
		if privateKeyBegin.MatchString(line) {
			inKey = true
		}
		if m := pullSecretKey.FindStringSubmatch(line); m != nil {
			inPullSecret = !pullSecretPath.MatchString(m[1])
		} else if topLevelKey.MatchString(line) {
			inPullSecret = false
		}
		if inKey || inPullSecret || looksSecret(line) {
			out[i+1] = true
		}
		if privateKeyEnd.MatchString(line) {
			inKey = false
		}
	}
	return out
}

// proxyLines finds the lines of a proxy's URL when a login may stand in it: all
// from a key that ends in proxy to the next key at the left, if there is an @
// among them. A password may hold what begins a new line.
func proxyLines(lines []string) map[int]bool {
	out := map[int]bool{}
	begin := -1
	end := func(i int) {
		if begin >= 0 && strings.Contains(strings.Join(lines[begin:i], ""), "@") {
			for at := begin; at < i; at++ {
				out[at+1] = true
			}
		}
		begin = -1
	}
	for i, line := range lines {
		if topLevelKey.MatchString(line) {
			end(i)
		}
		if begin < 0 && proxyKey.MatchString(line) {
			begin = i
		}
	}
	end(len(lines))
	return out
}

// looksSecret says whether a text may hold a secret. Digests have no upper
// case, and what is public in an SSH key begins with AAAA.
func looksSecret(text string) bool {
	if registryLogin.MatchString(text) || strings.Contains(text, "PRIVATE KEY-----") ||
		urlLogin.MatchString(strings.ReplaceAll(text, "@sha256:", "")) {
		return true
	}
	for _, run := range base64Run.FindAllString(publicPart.ReplaceAllString(text, ""), -1) {
		if hasUpper.MatchString(run) && hasLower.MatchString(run) {
			return true
		}
	}
	return false
}

// privateKey is the problem of a private key that stands in the file.
func (d *document) privateKey() (p Problem, found bool) {
	for i, line := range d.lines {
		if privateKeyBegin.MatchString(line) {
			p = d.onLine(i+1, 0, "", "a private key stands here")
			p.Allowed = "the public key, the one line of a file ending in .pub"
			p.Hint = "take the private key out of this file"
			return p, true
		}
	}
	return Problem{}, false
}

// validatePullSecret reads the pull secret that lab.yaml names and keeps
// nothing of it. OCP's images cannot be had without one; OKD's can, and a
// made-up secret serves there (https://github.com/okd-project/okd/issues/264).
func (l *loading) validatePullSecret() {
	const path = "pullSecret"
	name := l.lab.PullSecret
	if name == "" && !l.doc.given(path) {
		if l.lab.Release.Distribution == "ocp" {
			l.reportAt("release.distribution", Problem{Path: path, Message: "is required for ocp", Allowed: "the path of a file", Hint: "https://console.redhat.com/openshift/install/pull-secret has yours; save it beside lab.yaml"})
		}
		return
	}
	p := Problem{Path: path, Allowed: "the path of a file that holds the pull secret"}
	if looksSecret(name) || strings.ContainsAny(name, "{}") {
		p.Message = "the secret itself stands here"
		p.Hint = "save it to a file, and write the file's path here"
		l.report(p)
		return
	}
	if data, ok := l.readNamed(p, name); ok {
		l.validateLogins(path, data)
	}
}

// readNamed reads a file that lab.yaml names. The problem is what is reported,
// with the rest filled in, when the name is no path.
func (l *loading) readNamed(p Problem, name string) (data []byte, ok bool) {
	if p.Message = badPath(name); p.Message != "" {
		l.report(p)
		return nil, false
	}
	data, err := l.read(name)
	if err != nil {
		l.report(Problem{Path: p.Path, Message: quote(name) + ": " + plainError(err), Hint: "a path that does not begin with / or ~/ begins where lab.yaml is"})
		return nil, false
	}
	return data, true
}

// badPath says why a text is refused as a path; empty when it is not.
func badPath(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > 4096:
		return "is longer than 4096 characters"
	case hasControl(name):
		return quote(name) + " holds a line end or another control character"
	case strings.HasPrefix(name, "-"):
		return quote(name) + " begins with a hyphen, which commands take for an option"
	case strings.HasPrefix(name, "~") && !strings.HasPrefix(name, "~/"):
		return quote(name) + ": only ~/ is understood, your own home directory"
	}
	return ""
}

// hasControl says whether a text holds what ends a line or is not what it looks like.
func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || Hidden(r) })
}

// login is one entry of a pull secret.
type login struct {
	Auth       string `json:"auth"`
	CredsStore string `json:"credsStore"`
}

// validateLogins looks into a pull secret: JSON with a non-empty auths, each
// entry with auth or credsStore. Source: openshift/installer pkg/validate,
// ImagePullSecret. No message repeats anything of it but names of registries.
func (l *loading) validateLogins(path string, data []byte) {
	const form = `{"auths": {"REGISTRY": {"auth": "BASE64 OF USER:PASSWORD"}}}`
	var secret struct {
		Auths map[string]login `json:"auths"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &secret); err != nil {
		l.report(Problem{Path: path, Message: "the file is not the JSON of a pull secret", Allowed: form})
		return
	}
	if len(secret.Auths) == 0 {
		l.report(Problem{Path: path, Message: "the file has no auths", Allowed: form})
		return
	}
	registries := make([]string, 0, len(secret.Auths))
	for registry := range secret.Auths {
		registries = append(registries, registry)
	}
	sort.Strings(registries)
	for _, registry := range registries {
		switch entry := secret.Auths[registry]; {
		case entry.Auth == "" && entry.CredsStore == "":
			l.report(Problem{Path: path, Message: "the entry of " + quote(registry) + " has neither auth nor credsStore", Allowed: form})
		case entry.Auth != "" && !isLogin(entry.Auth):
			l.report(Problem{Path: path, Warning: true, Message: "the auth of " + quote(registry) + " is not base64 of USER:PASSWORD", Allowed: form})
		}
	}
	host, _, _ := strings.Cut(l.lab.Release.Image, "/")
	if l.lab.Release.Distribution == "ocp" && host != "" && !logsInto(registries, host) {
		l.report(Problem{Path: path, Warning: true, Message: "the file has no login for " + quote(host) + ", where release.image is"})
	}
	l.warnOfMirrorLogins(path, registries)
}

// isLogin says whether a text is base64 of USER:PASSWORD.
func isLogin(auth string) bool {
	text, err := base64.StdEncoding.DecodeString(auth)
	return err == nil && bytes.Contains(text, []byte(":"))
}

// logsInto says whether one of the entries of a pull secret is for the
// registry; an entry may go on with a repository.
func logsInto(entries []string, host string) bool {
	for _, entry := range entries {
		if entry == host || strings.HasPrefix(entry, host+"/") {
			return true
		}
	}
	return false
}
