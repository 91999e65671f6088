package labs

import (
	"strings"
	"testing"
)

// additionalCA is a CA that has signed nothing.
const additionalCA = `-----BEGIN CERTIFICATE-----
MIIBmDCCAT2gAwIBAgIUQLkEK9rB7RbNlI7O8q+NLGjJ7W4wCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNYWRkaXRpb25hbC1jYTAgFw0yNjExMjEwMTU4MTFaGA8yMTI2
MTAyODAxNTgxMVowGDEWMBQGA1UEAwwNYWRkaXRpb25hbC1jYTBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABO39PZEJKbx3Y4eHv77DndXDdEj6Lac/G2HQf5dYERcu
SFpU0santbZGwtygGxG2Lzlwz9raDdRjQod8hTCuwWijYzBhMB0GA1UdDgQWBBSF
RfD973KBV77D8s2pPE752AwcdjAfBgNVHSMEGDAWgBSFRfD973KBV77D8s2pPE75
2AwcdjAPBgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB/wQEAwICBDAKBggqhkjOPQQD
AgNJADBGAiEA1bbg4CfcZcaZy6mflngzopjwQpEOU4hwnElcb+gESkICIQCcn+Sn
7m27BbkhqE16n5de/OjDUruOmPO++B4sAXIG5w==
-----END CERTIFICATE-----
`

// serverCertificate is no CA's.
const serverCertificate = `-----BEGIN CERTIFICATE-----
MIIBdTCCARygAwIBAgIUVIJoLcXruNhLSn2ibGwbUcmgxtUwCgYIKoZIzj0EAwIw
ETEPMA0GA1UEAwwGc2VydmVyMCAXDTI2MTEyMTAxNTgxMVoYDzIxMjYxMDI4MDE1
ODExWjARMQ8wDQYDVQQDDAZzZXJ2ZXIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AASYlseKSaLlcVHWzJzrRcjYiambb9Xu9FdnRZtllYI0WCyBhdq4nvwZdbipYEtC
S5zdwCE/HSkPGU9V5NesCS6Eo1AwTjAdBgNVHQ4EFgQUxFMEnp7dR9hLE1E3Wqro
ix6LqMUwHwYDVR0jBBgwFoAUxFMEnp7dR9hLE1E3Wqroix6LqMUwDAYDVR0TAQH/
BAIwADAKBggqhkjOPQQDAgNHADBEAiALfVVNAeh25l9JaBDoBggsDh9SBuuTVx+a
BvjO1xjnWgIgLnZ97EpfnE0mqlVq4ZmKCUDFC01U6SNaiY2mnhs4Xms=
-----END CERTIFICATE-----
`

func TestValidateTrustBundle(t *testing.T) {
	checkLabs(t, []labCase{
		{"a bundle is taken", minimal + "additionalTrustBundle: additional-ca.pem\n", ""},
		{"two certificates with a text between them are taken", minimal + "additionalTrustBundle: two-cas.pem\nadditionalTrustBundlePolicy: Always\n", ""},
		{
			"certificates in place of a path are refused",
			minimal + "additionalTrustBundle: |\n  " + strings.ReplaceAll(additionalCA, "\n", "\n  ") + "\n",
			`lab.yaml:4:24: additionalTrustBundle: the certificates themselves stand here
     4 | additionalTrustBundle: |
       |                        ^
  allowed: the path of a file that holds certificates in PEM
  hint: save them to a file, and write the file's path here`,
		},
		{
			"a bundle that is not there is refused",
			minimal + "additionalTrustBundle: nowhere.pem\n",
			`lab.yaml:4:24: additionalTrustBundle: "nowhere.pem": file does not exist
     4 | additionalTrustBundle: nowhere.pem
       |                        ^
  hint: a path that does not begin with / or ~/ begins where lab.yaml is`,
		},
		{
			"a server's own certificate warns",
			minimal + "additionalTrustBundle: server.pem\n",
			`lab.yaml:4:24: warning: additionalTrustBundle: certificate 1 of the file is not that of a CA
     4 | additionalTrustBundle: server.pem
       |                        ^
  hint: name the CA that signed it; a server's own certificate makes clients trust only itself, if at all`,
		},
		{
			"a private key is refused and not shown",
			minimal + "additionalTrustBundle: key.pem\n",
			`lab.yaml:4:24: additionalTrustBundle: the file holds a private key
     4 | additionalTrustBundle: key.pem
       |                        ^
  allowed: certificates in PEM, and nothing behind the last one
  hint: take it out: the file is given to every node`,
		},
		{
			"a policy of another spelling is told",
			minimal + "additionalTrustBundlePolicy: ProxyOnly\n",
			`lab.yaml:4:30: additionalTrustBundlePolicy: "ProxyOnly" is not known
     4 | additionalTrustBundlePolicy: ProxyOnly
       |                              ^
  allowed: Proxyonly, Always
  hint: did you mean Proxyonly?`,
		},
		refusedBundle("behind.pem", "the file holds something else behind certificate 1"),
		refusedBundle("other.pem", "block 1 of the file is no certificate"),
		refusedBundle("broken.pem", "certificate 1 of the file cannot be read"),
		refusedBundle("not.json", "the file holds no certificate in PEM"),
		refusedBundle("empty.pem", "the file is empty"),
	})
}

func refusedBundle(file, message string) labCase {
	return labCase{message, minimal + "additionalTrustBundle: " + file + "\n",
		"lab.yaml:4:24: additionalTrustBundle: " + message + "\n     4 | additionalTrustBundle: " + file +
			"\n       |                        ^\n  allowed: certificates in PEM, and nothing behind the last one"}
}

func TestTheProxyObjectNamesTheAdditionalCA(t *testing.T) {
	const bundle, proxy = "additionalTrustBundle: additional-ca.pem\n", "proxy:\n  httpProxy: http://p.test\n"
	for rest, want := range map[string]bool{
		"": false, bundle: false, proxy: false, bundle + proxy: true,
		bundle + "additionalTrustBundlePolicy: Always\n": true, "additionalTrustBundlePolicy: Always\n": false,
	} {
		if got := mustLoad(t, minimal+rest).TrustsBundle(); got != want {
			t.Errorf("%q: %v", rest, got)
		}
	}
}
