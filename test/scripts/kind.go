package scripts

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"bootlab/labs"
	"bootlab/test/registry"
)

// kinds are labs with keys that no shipped lab has: what stands behind the text
// of the usual lab, by a name that serves in place of a shipped lab's.
var kinds = map[string]string{
	"proxy-mirrors-ca": `
proxy:
  httpProxy: http://127.0.0.1:1
  httpsProxy: http://user:pass%24word@127.0.0.1:1
  noProxy: .example.test,10.1.2.3
imageDigestSources:
- source: source.example.test/a
  mirrors: [mirror.example.test:5000/a, other.example.test]
- source: source.example.test/b
- source: source.example.test/a
  mirrors: [third.example.test/a]
additionalTrustBundle: additional-ca.pem
`,
	"old-mirrors": `
imageContentSources:
- source: source.example.test/a
  mirrors: [mirror.example.test:5000/a]
additionalTrustBundle: additional-ca.pem
additionalTrustBundlePolicy: Always
`,
}

// kindNames lists the shipped labs and, behind them, kinds.
func kindNames() []string {
	var names []string
	for _, e := range labs.ExampleList() {
		names = append(names, e.Name)
	}
	return append(names, "proxy-mirrors-ca", "old-mirrors")
}

// shippedOf gives the shipped lab that a kind is made of; a shipped lab is its
// own.
func shippedOf(kind string) string {
	if _, made := kinds[kind]; made || kind == "" {
		return usualLab
	}
	return kind
}

// labText is the lab.yaml of a kind, as short as it is shipped.
func labText(kind string) ([]byte, error) {
	text, err := fs.ReadFile(labs.Examples, shippedOf(kind)+"/"+labs.LabFile)
	return append(text, kinds[kind]...), err
}

// withKind puts the keys of a kind behind the commented lab.yaml of its shipped
// lab, and beside it the CA that registries of the tests are signed by.
func withKind(dir, text, kind string) (string, error) {
	if kinds[kind] == "" {
		return text, nil
	}
	return withKeys(dir, text, kinds[kind])
}

// withKeys does the same for keys of a test's own.
func withKeys(dir, text, keys string) (string, error) {
	ca, err := registry.CA()
	if err != nil {
		return "", err
	}
	// The commented file holds the key, empty.
	text = strings.Replace(text, "\nproxy:\n", "\n", 1) + keys
	return text, os.WriteFile(filepath.Join(dir, "additional-ca.pem"), ca.PEM, 0o644)
}
