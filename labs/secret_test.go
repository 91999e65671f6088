package labs

import (
	"strings"
	"testing"
)

func TestValidatePullSecret(t *testing.T) {
	checkLabs(t, []labCase{
		{
			"a pull secret pasted as text is refused and not shown",
			minimal + `pullSecret: '{"auths": {"quay.io": {"auth": "c2VjcmV0OnNlY3JldA=="}}}'
`,
			`lab.yaml:4:13: pullSecret: the secret itself stands here
  allowed: the path of a file that holds the pull secret
  hint: save it to a file, and write the file's path here`,
		},
		{
			"a pull secret pasted as YAML is refused and not shown",
			minimal + `pullSecret: {"auths": {"quay.io": {"auth": "c2VjcmV0OnNlY3JldA=="}}}
`,
			`lab.yaml:4:13: pullSecret: is a mapping
  allowed: text`,
		},
		{
			"a token in place of the pull secret is refused and not shown",
			minimal + `pullSecret: b3BlbnNoaWZ0LXJlbGVhc2UtZGV2K29jbV9hY2Nlc3NfdG9rZW4
`,
			`lab.yaml:4:13: pullSecret: the secret itself stands here
  allowed: the path of a file that holds the pull secret
  hint: save it to a file, and write the file's path here`,
		},
		{
			"a pull secret under a wrong key is not shown",
			minimal + `pullsecret: '{"auths": {"quay.io": {"auth": "c2VjcmV0OnNlY3JldA=="}}}'
`,
			`lab.yaml:4:1: pullsecret: is not a key that is known here
  allowed: additionalTrustBundle, additionalTrustBundlePolicy, apiVersion, baseDomain, compute, controlPlane, imageContentSources, imageDigestSources, images, machines, metadata, networking, platform, proxy, pullSecret, release, sshKey, topology
  hint: did you mean pullSecret?`,
		},
		{
			"a pull secret with a quote too few is not shown",
			minimal + `pullSecret: '{"auths": {"quay.io": {"auth": "c2VjcmV0OnNlY3JldA=="}}}
`,
			"lab.yaml:4: is not valid YAML: a quote is opened here and not closed\n  hint: close it with the same quote",
		},
		{
			"a pull secret that is not there is refused",
			minimal + `pullSecret: nowhere.json
`,
			`lab.yaml:4:13: pullSecret: "nowhere.json": file does not exist
     4 | pullSecret: nowhere.json
       |             ^
  hint: a path that does not begin with / or ~/ begins where lab.yaml is`,
		},
		{
			"a pull secret that is a directory is refused",
			minimal + `pullSecret: directory
`,
			`lab.yaml:4:13: pullSecret: "directory": is a directory
     4 | pullSecret: directory
       |             ^
  hint: a path that does not begin with / or ~/ begins where lab.yaml is`,
		},
		{
			"a pull secret that is not JSON is refused",
			minimal + `pullSecret: not.json
`,
			`lab.yaml:4:13: pullSecret: the file is not the JSON of a pull secret
     4 | pullSecret: not.json
       |             ^
  allowed: {"auths": {"REGISTRY": {"auth": "BASE64 OF USER:PASSWORD"}}}`,
		},
		{
			"a pull secret without auths is refused",
			minimal + `pullSecret: no-auths.json
`,
			`lab.yaml:4:13: pullSecret: the file has no auths
     4 | pullSecret: no-auths.json
       |             ^
  allowed: {"auths": {"REGISTRY": {"auth": "BASE64 OF USER:PASSWORD"}}}`,
		},
		{
			"a pull secret with an empty entry is refused",
			minimal + `pullSecret: no-auth.json
`,
			`lab.yaml:4:13: pullSecret: the entry of "r.test" has neither auth nor credsStore
     4 | pullSecret: no-auth.json
       |             ^
  allowed: {"auths": {"REGISTRY": {"auth": "BASE64 OF USER:PASSWORD"}}}
lab.yaml:4:13: pullSecret: the entry of "s.test" has neither auth nor credsStore
     4 | pullSecret: no-auth.json
       |             ^
  allowed: {"auths": {"REGISTRY": {"auth": "BASE64 OF USER:PASSWORD"}}}`,
		},
		{
			"a pull secret whose auth is not base64 warns",
			minimal + `pullSecret: not-base64.json
`,
			`lab.yaml:4:13: warning: pullSecret: the auth of "quay.io" is not base64 of USER:PASSWORD
     4 | pullSecret: not-base64.json
       |             ^
  allowed: {"auths": {"REGISTRY": {"auth": "BASE64 OF USER:PASSWORD"}}}`,
		},
		{
			"a pull secret without the release's registry warns with ocp",
			minimal + `release:
  distribution: ocp
  image: registry.test/ocp-release:4.21.0-x86_64
pullSecret: pull-secret.json
`,
			`lab.yaml:7:13: warning: pullSecret: the file has no login for "registry.test", where release.image is
     7 | pullSecret: pull-secret.json
       |             ^`,
		},
		{
			"an empty pull secret is refused",
			minimal + `pullSecret: ""
`,
			`lab.yaml:4:13: pullSecret: is empty
     4 | pullSecret: ""
       |             ^
  allowed: the path of a file that holds the pull secret`,
		},
		{
			"a pull secret with a line end is refused",
			minimal + `pullSecret: "a\nb"
`,
			`lab.yaml:4:13: pullSecret: "a\nb" holds a line end or another control character
     4 | pullSecret: "a\nb"
       |             ^
  allowed: the path of a file that holds the pull secret`,
		},
		{
			"a pull secret that looks like an option is refused",
			minimal + `pullSecret: --help
`,
			`lab.yaml:4:13: pullSecret: "--help" begins with a hyphen, which commands take for an option
     4 | pullSecret: --help
       |             ^
  allowed: the path of a file that holds the pull secret`,
		},
		{
			"a pull secret in another's home is refused",
			minimal + `pullSecret: ~root/pull-secret.json
`,
			`lab.yaml:4:13: pullSecret: "~root/pull-secret.json": only ~/ is understood, your own home directory
     4 | pullSecret: ~root/pull-secret.json
       |             ^
  allowed: the path of a file that holds the pull secret`,
		},
		{
			"a very long pull secret is refused",
			minimal + "pullSecret: " + strings.Repeat("a/", 2100) + `
`,
			`lab.yaml:4:13: pullSecret: is longer than 4096 characters
  allowed: the path of a file that holds the pull secret`,
		},
	})
}
