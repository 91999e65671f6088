package diagnose

import "testing"

// named is what the bootstrap node found under api and api-int; the same for both.
func named(is, answer string) change {
	return says("name-answers", "api is "+is+"\napi "+answer+"\napi-int is "+is+"\napi-int "+answer+"\napps is "+is+"\n")
}

func init() {
	const gateway = "192.168.126.1"
	refused := named(gateway, "fails 000curl: (7) Failed to connect to api port 6443 after 0 ms: Couldn't connect to server")
	cut := named(gateway, "fails 000curl: (35) OpenSSL SSL_connect: Connection reset by peer in connection to api:6443")
	lacks := says("name-answers", "api is 192.168.126.1\napi answers 200 from 192.168.126.1\napi-int is nothing\napps is 192.168.126.1\n")
	cases["names"] = map[string]recorded{
		"dns-no-server": {changes: waiting(named("nothing", ""), says("names-here",
			"api no answer from 192.168.126.1\napi-int no answer from 192.168.126.1\napps no answer from 192.168.126.1\n"))},
		"dns-api-missing": {changes: waiting(says("name-answers", "api is nothing\napi-int is 192.168.126.1\napi-int answers 200 from 192.168.126.1\napps is 192.168.126.1\n"),
			swaps("names-here", "api is 192.168.126.1", "api is nothing"))},
		"dns-api-int-missing": {changes: waiting(lacks, swaps("names-here", "api-int is 192.168.126.1", "api-int is nothing"))},
		"dns-node":            {changes: waiting(lacks)},
		"dns-missing":         {changes: waiting(lacks, fails("names-here", 1, "dig is not installed\n"))},
		"dns-elsewhere": {changes: waiting(named("192.168.126.99", "fails 000curl: (7) Failed to connect to api port 6443 after 3 ms: No route to host"),
			says("names-here", "api is 192.168.126.99\napi-int is 192.168.126.99\napps is 192.168.126.1\n"))},
		"balancer-http-on-tls":        {changes: waiting(cut, swaps("balancer-stats", "UP,1,0,1,0,0,4,0,,1,3,1,,0,,2,0,,0,L7OK,200", "DOWN,1,0,1,0,0,4,0,,1,3,1,,0,,2,0,,0,L7STS,400"))},
		"balancer-http-on-tls-config": {changes: waiting(cut, gone("balancer-stats"), swaps("balancer-config", ":6443 check check-ssl verify none", ":6443 check"))},
		"balancer-off":                {changes: waiting(refused, fails("balancer-stats", 1, "there is no socket /labs/mylab/out/work/vms/haproxy.sock\n"))},
		"balancer-other-backends":     {changes: waiting(cut, swaps("balancer-config", "server bootstrap 192.168.126.10:6443", "server bootstrap 192.168.126.77:6443"))},
		"balancer-no-server":          {changes: waiting(cut, swaps("balancer-stats", "UP,1,0,1,0,0,4,0,,1,3,1,,0,,2,0,,0,L7OK,200", "DOWN,1,0,1,0,0,4,0,,1,3,1,,0,,2,0,,0,L4TOUT,"))},
		"names-intercepted":           {changes: waiting(named(gateway, "fails 000curl: (60) SSL certificate problem: unable to get local issuer certificate\napi is signed by issuer=O = Proxy, CN = Inspection"))},
		"names-other-name":            {changes: waiting(named(gateway, "fails 000curl: (60) SSL: no alternative certificate subject name matches target host name 'api'"))},
		"names-expired":               {changes: waiting(named(gateway, "fails 000curl: (60) SSL certificate problem: certificate has expired"))},
		"names-refused":               {changes: waiting(refused)},
		"names-blocked":               {changes: waiting(named(gateway, "fails 000curl: (28) Connection timed out after 8000 milliseconds"))},
		"dns-apps":                    {changes: waiting(swaps("names-here", "apps is 192.168.126.1", "apps is nothing"))},
	}
}

func TestEachCauseOfNamesIsProven(t *testing.T) { proveAll(t, "names") }
