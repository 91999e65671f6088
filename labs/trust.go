package labs

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
)

// TrustPolicies say when the additional CA counts for what runs in the cluster:
// with a proxy only, or always. Nodes trust it in any case.
// Source: openshift/installer pkg/types, PolicyType.
var TrustPolicies = []string{"Proxyonly", "Always"}

// TrustsBundle says whether the Proxy object names the additional CA, by which
// operators come to trust it.
func (l *Lab) TrustsBundle() bool {
	return l.AdditionalTrustBundle != "" && (l.Proxy.Set() || l.AdditionalTrustBundlePolicy == "Always")
}

// validateTrustBundle reads the file of the additional CA.
func (l *loading) validateTrustBundle() {
	const path, policy = "additionalTrustBundle", "additionalTrustBundlePolicy"
	if !slices.Contains(TrustPolicies, l.lab.AdditionalTrustBundlePolicy) {
		l.reportChoice(policy, l.lab.AdditionalTrustBundlePolicy, TrustPolicies)
	}
	name := l.lab.AdditionalTrustBundle
	if name == "" && !l.doc.given(path) {
		return
	}
	p := Problem{Path: path, Allowed: "the path of a file that holds certificates in PEM"}
	if strings.Contains(name, "-----BEGIN") {
		p.Message = "the certificates themselves stand here"
		p.Hint = "save them to a file, and write the file's path here"
		l.report(p)
		return
	}
	if data, ok := l.readNamed(p, name); ok {
		l.validateCertificates(path, data)
	}
}

// validateCertificates holds a bundle to the installer's rules: certificates,
// and nothing behind the last of them. Source: pkg/validate, CABundle, and the
// warnings of pkg/asset/manifests/additionaltrustbundleconfig.go.
func (l *loading) validateCertificates(path string, data []byte) {
	p := Problem{Path: path, Allowed: "certificates in PEM, and nothing behind the last one"}
	rest := bytes.TrimSpace(data)
	if len(rest) == 0 {
		p.Message = "the file is empty"
		l.report(p)
	}
	for n := 1; len(rest) > 0; n++ {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		switch {
		case block == nil && n == 1:
			p.Message = "the file holds no certificate in PEM"
		case block == nil:
			p.Message = fmt.Sprintf("the file holds something else behind certificate %d", n-1)
		case strings.Contains(block.Type, "PRIVATE KEY"):
			p.Message = "the file holds a private key"
			p.Hint = "take it out: the file is given to every node"
		case block.Type != "CERTIFICATE":
			p.Message = fmt.Sprintf("block %d of the file is no certificate", n)
		}
		if p.Message != "" {
			l.report(p)
			return
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		switch {
		case err != nil:
			p.Message = fmt.Sprintf("certificate %d of the file cannot be read", n)
			l.report(p)
			return
		case certificate.Version < 3 || !certificate.IsCA:
			l.report(Problem{Path: path, Warning: true, Message: fmt.Sprintf("certificate %d of the file is not that of a CA", n), Hint: "name the CA that signed it; a server's own certificate makes clients trust only itself, if at all"})
		}
	}
}
