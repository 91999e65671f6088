package labs

import (
	"strings"
	"testing"
)

func TestProxyExceptionsAreThoseOfTheInstaller(t *testing.T) {
	const own = ".cluster.local,.svc,10.128.0.0/14,127.0.0.1,172.30.0.0/16,192.168.126.0/24,api-int.mylab.bootlab.test,localhost"
	for rest, want := range map[string]string{
		"":                                     "",
		"proxy:\n  httpProxy: http://p.test\n": own,
		"proxy:\n  httpsProxy: http://p.test\n  noProxy: \"*\"\n":    "*",
		"proxy:\n  httpProxy: http://p.test\n  noProxy: localhost\n": own,
		"proxy:\n  httpProxy: http://p.test\n  noProxy: .example.com,10.1.2.3,z.test.\n": ".cluster.local,.example.com,.svc,10.1.2.3,10.128.0.0/14,127.0.0.1," +
			"172.30.0.0/16,192.168.126.0/24,api-int.mylab.bootlab.test,localhost,z.test.",
	} {
		if got := mustLoad(t, minimal+rest).ProxyExceptions(); got != want {
			t.Errorf("%q: %s", rest, got)
		}
	}
}

const (
	httpRule  = "\n  allowed: http://[USER:PASSWORD@]HOST[:PORT]"
	httpsRule = "\n  allowed: http or https://[USER:PASSWORD@]HOST[:PORT]"
)

func TestValidateProxy(t *testing.T) {
	noProxyRule := "\n  allowed: *, or addresses, networks and domains with commas between them, without spaces; a domain may begin with a dot, and has no *"
	http := func(name, value, said string) labCase {
		return labCase{name, minimal + "proxy:\n  httpProxy: " + value + "\n", "lab.yaml:5:14: proxy.httpProxy: " + said}
	}
	except := func(name, value, message string) labCase {
		return labCase{name, minimal + "proxy:\n  httpProxy: http://p.test\n  noProxy: " + value + "\n",
			"lab.yaml:6:12: proxy.noProxy: " + message}
	}
	checkLabs(t, []labCase{
		{"a name, an address and a port are taken", minimal + "proxy:\n  httpProxy: http://p.test:3128\n  httpsProxy: https://[2001:db8::1]:3128/\n  noProxy: .a.test,b.test.,10.0.0.0/8,fd00::/8,::1\n", ""},
		{"an empty proxy is none", minimal + "proxy:\n", ""},
		{"a proxy without URLs is told", minimal + "proxy:\n  noProxy: a.test\n", "lab.yaml:4:1: proxy: names no proxy\n     4 | proxy:\n       | ^\n  allowed: httpProxy, httpsProxy or both"},
		http("a proxy without a scheme is refused", "p.test:3128", "begins with none of the schemes that are possible here"+httpRule),
		http("a proxy for http that is reached by https is refused", "https://p.test", "begins with none of the schemes that are possible here"+httpRule+
			"\n  hint: this is the proxy for http; one that is itself reached by https goes into httpsProxy"),
		http("a proxy with a path is refused", "http://p.test/a", "is no URL of a proxy"+httpRule),
		http("a proxy with a port too high is refused", "http://p.test:70000", "is no URL of a proxy"+httpRule),
		http("a proxy without a host is refused", "http://", "is no URL of a proxy"+httpRule),
		http("what a shell would run is refused", "http://$(reboot)", "is no URL of a proxy"+httpRule),
		http("a proxy in the service network is refused", "http://172.30.0.5:3128", "the proxy's address lies in the service network, 172.30.0.0/16\n     5 |   httpProxy: http://172.30.0.5:3128\n       |              ^\n  allowed: a proxy outside of the cluster"),
		http("a proxy in the cluster network is refused", "http://10.128.0.5", "the proxy's address lies in the cluster network, 10.128.0.0/14\n     5 |   httpProxy: http://10.128.0.5\n       |              ^\n  allowed: a proxy outside of the cluster"),
		except("a wildcard is refused", `"*.a.test"`, `"*.a.test" is neither an address, a network nor a domain`+"\n     6 |   noProxy: \"*.a.test\"\n       |            ^"+noProxyRule+"\n  hint: write .a.test, which means all below it"),
		except("a space is refused", "a.test, b.test", `" b.test" is neither an address, a network nor a domain`+"\n     6 |   noProxy: a.test, b.test\n       |            ^"+noProxyRule),
		except("a comma at the end is refused", `"a.test,"`, "has nothing before, between or behind a comma\n     6 |   noProxy: \"a.test,\"\n       |            ^"+noProxyRule),
		except("upper case is refused", "A.test", `"A.test" is neither an address, a network nor a domain`+"\n     6 |   noProxy: A.test\n       |            ^"+noProxyRule),
	})
}

// TestAProxysPasswordIsNeverRepeated writes it where it belongs, where it does
// not, and badly; whatever is said of it, it is not said itself.
func TestAProxysPasswordIsNeverRepeated(t *testing.T) {
	for _, text := range []string{
		"proxy:\n  httpProxy: http://user:hunter2@p.test:3128\n",
		"proxy:\n  httpProxy: http://user:hunter2@p.test:3128/x\n",
		"proxy:\n  httpProxy: http://user:hunter2/@p.test:3128\n",
		"proxy:\n  httpProxy: http://user:hunter2#@p.test:3128\n",
		"proxy:\n  httpProxy: \"http://user:hunter2 @p.test\"\n",
		"proxy:\n  httpProxy: http://user:hunter2$@p.test\n",
		"proxy:\n  httpProxy: user:hunter2@p.test:3128\n",
		"proxy:\n  httpProxy: ftp://user:hunter2@p.test\n",
		"proxy: http://user:hunter2@p.test\n",
		"proxy: {httpProxy: \"http://user:hunter2@p.test\", noProxy: \"*.x\"}\n",
		"proxy:\n  httpProxy: [http://user:hunter2@p.test]\n",
		"proxy:\n  httpProxy: >\n    http://user:hunter2\n    @p.test\n",
		"proxy:\n  httpProxi: http://user:hunter2@p.test\n",
		"Proxy:\n  httpproxy: user:hunter2@p.test\n",
		"https_proxy: user:hunter2@p.test\n",
		"proxy:\n  httpProxy: \"http://user:hunter2@p.test\n",
		"proxy:\n\thttpProxy: http://user:hunter2@p.test\n",
		"proxy:\n  noProxy: http://user:hunter2@p.test\n  httpProxy: http://p.test\n",
		"http://user:hunter2@p.test: x\n",
		"topology: http://user:hunter2@p.test\n",
		"release:\n  image: http://user:hunter2@p.test\n",
		"additionalTrustBundle: http://user:hunter2@p.test\n",
	} {
		_, ps := LoadLabFS(labFiles(minimal+text), ".", labCatalog(t))
		if len(ps) == 0 {
			t.Errorf("%q: nothing is said", text)
		}
		if said := ps.Error(); strings.Contains(said, "hunter2") {
			t.Errorf("%q: %s", text, said)
		}
	}
}

func TestALoginInAProxyWarnsAndIsKept(t *testing.T) {
	const url = "http://user:p%24w;(&'!@p.test:3128"
	lab, ps := LoadLabFS(labFiles(minimal+"proxy:\n  httpProxy: \""+url+"\"\n"), ".", labCatalog(t))
	const want = "lab.yaml:4:1: warning: proxy: a login stands in a proxy's URL, and from there in scripts, guide and manifests\n" +
		"  hint: keep lab.yaml and out/ to yourself, or let the proxy know this host without a login"
	if ps.Error() != want || lab == nil || lab.Proxy.HTTPProxy != url {
		t.Errorf("%+v\n%s", lab, ps)
	}
}
