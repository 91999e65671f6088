package labs

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Proxy is install-config's: through which HTTP proxies the cluster reaches
// what is not its own.
type Proxy struct {
	HTTPProxy  string `yaml:"httpProxy,omitempty"`
	HTTPSProxy string `yaml:"httpsProxy,omitempty"`
	NoProxy    string `yaml:"noProxy,omitempty"`
}

// Set says whether there is a proxy at all.
func (p Proxy) Set() bool { return p.HTTPProxy != "" || p.HTTPSProxy != "" }

// HasLogin says whether a user name or a password stands in one of the URLs.
func (p Proxy) HasLogin() bool {
	return strings.Contains(p.HTTPProxy, "@") || strings.Contains(p.HTTPSProxy, "@")
}

// ProxyExceptions is what the installer makes of noProxy, for the status of the
// Proxy object and the environment of the bootstrap node: the names and the
// networks of the cluster itself are among the exceptions. Empty without a
// proxy. Source: openshift/installer pkg/asset/manifests/proxy.go.
func (l *Lab) ProxyExceptions() string {
	if !l.Proxy.Set() || l.Proxy.NoProxy == "*" {
		return l.Proxy.NoProxy
	}
	all := []string{".cluster.local", ".svc", "127.0.0.1", "api-int." + l.Domain(), "localhost"}
	for _, n := range l.Networking.MachineNetwork {
		all = append(all, n.CIDR)
	}
	for _, n := range l.Networking.ClusterNetwork {
		all = append(all, n.CIDR)
	}
	all = append(all, l.Networking.ServiceNetwork...)
	if l.Proxy.NoProxy != "" {
		all = append(all, strings.Split(l.Proxy.NoProxy, ",")...)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ",")
}

// validateProxy holds the proxy to the installer's rules: pkg/types/validation,
// validateProxy. No message repeats a URL that may hold a password.
func (l *loading) validateProxy() {
	p := l.lab.Proxy
	if !p.Set() {
		if l.doc.given("proxy") {
			l.report(Problem{Path: "proxy", Message: "names no proxy", Allowed: "httpProxy, httpsProxy or both"})
		}
		return
	}
	l.validateProxyURL("proxy.httpProxy", p.HTTPProxy, []string{"http"})
	l.validateProxyURL("proxy.httpsProxy", p.HTTPSProxy, []string{"http", "https"})
	l.validateNoProxy("proxy.noProxy", p.NoProxy)
	if p.HasLogin() {
		l.report(Problem{Path: "proxy", Warning: true, Message: "a login stands in a proxy's URL, and from there in scripts, guide and manifests", Hint: "keep lab.yaml and out/ to yourself, or let the proxy know this host without a login"})
	}
}

// proxyLogin is USER or USER:PASSWORD, each percent-encoded. Characters that a
// shell reads in double quotes are left out: in such quotes the installer
// writes the URL into the bootstrap node's profile.d/proxy.sh.
var proxyLogin = regexp.MustCompile(`^([A-Za-z0-9._~!&'()*+,;=:-]|%[0-9A-Fa-f]{2})+$`)

func (l *loading) validateProxyURL(path, text string, schemes []string) {
	if text == "" {
		return
	}
	p := Problem{Path: path, Allowed: strings.Join(schemes, " or ") + "://[USER:PASSWORD@]HOST[:PORT]"}
	scheme, rest, _ := strings.Cut(text, "://")
	authority := strings.TrimSuffix(rest, "/")
	login, host, hasLogin := cutLast(authority, "@")
	_, err := url.ParseRequestURI(text)
	switch {
	case len(text) > 2048:
		p.Message = "is longer than 2048 characters"
	case !slices.Contains(schemes, scheme):
		p.Message = "begins with none of the schemes that are possible here"
		if path == "proxy.httpProxy" && scheme == "https" {
			p.Hint = "this is the proxy for http; one that is itself reached by https goes into httpsProxy"
		}
	case hasLogin && !proxyLogin.MatchString(login):
		p.Message = "has a character in its login that has another meaning in a URL or in a shell"
		p.Hint = "write it percent-encoded, as %24 for $ and %40 for @"
	case err != nil || !isHostPort(host):
		p.Message = "is no URL of a proxy"
	default:
		l.validateProxyPlace(path, host)
		return
	}
	l.hide(path)
	l.report(p)
}

// cutLast cuts a text at the last separator; without one, all of it is behind.
func cutLast(text, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(text, separator); i >= 0 {
		return text[:i], text[i+len(separator):], true
	}
	return "", text, false
}

// isHostPort says whether a text is HOST or HOST:PORT.
func isHostPort(text string) bool {
	if strings.HasPrefix(text, "[") {
		host, port, found := strings.Cut(text[1:], "]")
		addr, err := netip.ParseAddr(host)
		return found && err == nil && addr.Is6() && addr.Zone() == "" && (port == "" || port[0] == ':' && isPort(port[1:]))
	}
	_, port, hasPort := strings.Cut(text, ":")
	return registryHost.MatchString(text) && len(text) <= 260 && (!hasPort || isPort(port))
}

func isPort(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n > 0 && n <= 65535
}

// validateProxyPlace refuses a proxy that has its address inside the cluster,
// where nothing outside of it can be reached.
func (l *loading) validateProxyPlace(path, host string) {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	addr, err := netip.ParseAddr(strings.Trim(name, "[]"))
	if err != nil {
		return
	}
	refuse := func(cidr, what string) {
		if prefix, err := netip.ParsePrefix(cidr); err == nil && prefix.Contains(addr) {
			l.report(Problem{Path: path, Message: fmt.Sprintf("the proxy's address lies in the %s network, %s", what, cidr), Allowed: "a proxy outside of the cluster"})
		}
	}
	for _, n := range l.lab.Networking.ClusterNetwork {
		refuse(n.CIDR, "cluster")
	}
	for _, cidr := range l.lab.Networking.ServiceNetwork {
		refuse(cidr, "service")
	}
}

func (l *loading) validateNoProxy(path, list string) {
	if list == "" || list == "*" {
		return
	}
	p := Problem{Path: path, Allowed: "*, or addresses, networks and domains with commas between them, without spaces; a domain may begin with a dot, and has no *"}
	if len(list) > 4096 {
		p.Message = "is longer than 4096 characters"
		l.report(p)
		return
	}
	for _, item := range strings.Split(list, ",") {
		if isProxyException(item) {
			continue
		}
		p.Message = quote(item) + " is neither an address, a network nor a domain"
		if item == "" {
			p.Message = "has nothing before, between or behind a comma"
		}
		if domain, all := strings.CutPrefix(item, "*"); all && strings.HasPrefix(domain, ".") && isProxyException(domain) {
			p.Hint = "write " + domain + ", which means all below it"
		}
		l.report(p)
		return
	}
}

func isProxyException(item string) bool {
	_, _, err := net.ParseCIDR(item)
	return err == nil || net.ParseIP(item) != nil || isSubdomain(strings.TrimSuffix(strings.TrimPrefix(item, "."), "."))
}
