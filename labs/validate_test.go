package labs

import (
	"strings"
	"testing"
)

func TestValidateNamesAndPools(t *testing.T) {
	checkLabs(t, []labCase{
		{
			"a lab without a name and a domain is refused",
			`topology: compact
`,
			`lab.yaml: metadata.name: is required
  allowed: lower-case letters, digits and hyphens, no hyphen first or last, at most 54 characters
lab.yaml: baseDomain: is required
  allowed: a DNS name in lower case, as bootlab.test`,
		},
		{
			"an unknown api version is refused",
			minimal + `apiVersion: v2
`,
			`lab.yaml:4:13: apiVersion: "v2" is not known
     4 | apiVersion: v2
       |             ^
  allowed: v1`,
		},
		{
			"a name with a dot is refused",
			`metadata:
  name: my.lab
baseDomain: bootlab.test
`,
			`lab.yaml:2:9: metadata.name: "my.lab" is no name for a cluster
     2 |   name: my.lab
       |         ^
  allowed: lower-case letters, digits and hyphens, no hyphen first or last, at most 54 characters
  hint: dots belong into baseDomain`,
		},
		{
			"a name in upper case is refused",
			`metadata:
  name: MyLab
baseDomain: bootlab.test
`,
			`lab.yaml:2:9: metadata.name: "MyLab" is no name for a cluster
     2 |   name: MyLab
       |         ^
  allowed: lower-case letters, digits and hyphens, no hyphen first or last, at most 54 characters`,
		},
		{
			"a name of 55 characters is refused",
			`metadata:
  name: ` + strings.Repeat("a", 55) + `
baseDomain: bootlab.test
`,
			`lab.yaml:2:9: metadata.name: "` + strings.Repeat("a", 55) + `" is no name for a cluster
     2 |   name: ` + strings.Repeat("a", 55) + `
       |         ^
  allowed: lower-case letters, digits and hyphens, no hyphen first or last, at most 54 characters`,
		},
		{
			"a name that a shell would run is refused",
			`metadata:
  name: $(reboot)
baseDomain: bootlab.test
`,
			`lab.yaml:2:9: metadata.name: "$(reboot)" is no name for a cluster
     2 |   name: $(reboot)
       |         ^
  allowed: lower-case letters, digits and hyphens, no hyphen first or last, at most 54 characters`,
		},
		{
			"a name with a line end is refused",
			`metadata:
  name: "a\nb"
baseDomain: bootlab.test
`,
			`lab.yaml:2:9: metadata.name: "a\nb" is no name for a cluster
     2 |   name: "a\nb"
       |         ^
  allowed: lower-case letters, digits and hyphens, no hyphen first or last, at most 54 characters`,
		},
		{
			"a name with a NUL is refused",
			`metadata:
  name: "a\0b"
baseDomain: bootlab.test
`,
			`lab.yaml:2:9: metadata.name: holds the control character U+0000
     2 |   name: "a\0b"
       |         ^
  allowed: characters that can be seen
  hint: delete it: type the value again`,
		},
		{
			"a name that looks like an option is refused",
			`metadata:
  name: -rf
baseDomain: bootlab.test
`,
			`lab.yaml:2:9: metadata.name: "-rf" is no name for a cluster
     2 |   name: -rf
       |         ^
  allowed: lower-case letters, digits and hyphens, no hyphen first or last, at most 54 characters`,
		},
		{
			"a domain with an underscore is refused",
			`metadata:
  name: mylab
baseDomain: boot_lab.test
`,
			`lab.yaml:3:13: baseDomain: "boot_lab.test" is no DNS name
     3 | baseDomain: boot_lab.test
       |             ^
  allowed: a DNS name in lower case, as bootlab.test`,
		},
		{
			"a domain with an empty label is refused",
			`metadata:
  name: mylab
baseDomain: bootlab..test
`,
			`lab.yaml:3:13: baseDomain: "bootlab..test" is no DNS name
     3 | baseDomain: bootlab..test
       |             ^
  allowed: a DNS name in lower case, as bootlab.test`,
		},
		{
			"name and domain together are held to the length of a DNS name",
			`metadata:
  name: mylab
baseDomain: ` + strings.Repeat("a", 60) + "." + strings.Repeat("a", 60) + "." + strings.Repeat("a", 60) + "." + strings.Repeat("a", 60) + `.abcdef
`,
			`lab.yaml:3:13: baseDomain: metadata.name and baseDomain together are longer than a DNS name can be
     3 | baseDomain: ` + strings.Repeat("a", 60) + "." + strings.Repeat("a", 60) + `.aaaaaaaaaaaaaaaaaaaaaaaaaa…
       |             ^
  allowed: 253 characters together`,
		},
		{
			"a domain below .local warns",
			`metadata:
  name: mylab
baseDomain: lab.local
`,
			`lab.yaml:3:13: warning: baseDomain: names below .local are asked by multicast DNS (RFC 6762), and may never reach the lab's DNS server
     3 | baseDomain: lab.local
       |             ^`,
		},
		{
			"an unknown topology names the known ones",
			minimal + `topology: compct
`,
			`lab.yaml:4:11: topology: "compct" is not known
     4 | topology: compct
       |           ^
  allowed: bootstrap-only, compact, ha
  hint: did you mean compact?`,
		},
		{
			"an even control plane is refused",
			minimal + `controlPlane:
  replicas: 4
`,
			`lab.yaml:5:13: controlPlane.replicas: 4 is no size for a control plane
     5 |   replicas: 4
       |             ^
  allowed: 1, 3, 5
  hint: an even member of etcd adds no fault that it can bear`,
		},
		{
			"a control plane of none is refused",
			minimal + `controlPlane:
  replicas: 0
`,
			`lab.yaml:5:13: controlPlane.replicas: 0 is no size for a control plane
     5 |   replicas: 0
       |             ^
  allowed: 1, 3, 5`,
		},
		{
			"a negative control plane is refused",
			minimal + `controlPlane:
  replicas: -1
`,
			`lab.yaml:5:13: controlPlane.replicas: -1 is no size for a control plane
     5 |   replicas: -1
       |             ^
  allowed: 1, 3, 5`,
		},
		{
			"a control plane of another name is refused",
			minimal + `controlPlane:
  name: control-plane
`,
			`lab.yaml:5:9: controlPlane.name: "control-plane" is no name for the control plane
     5 |   name: control-plane
       |         ^
  allowed: master`,
		},
		{
			"two compute pools are refused",
			minimal + `compute:
  - name: worker
  - name: edge
`,
			`lab.yaml:4:1: compute: holds 2 pools
     4 | compute:
       | ^
  allowed: one pool, worker`,
		},
		{
			"an empty list of pools is refused",
			minimal + `compute: []
`,
			`lab.yaml:4:10: compute: holds 0 pools
     4 | compute: []
       |          ^
  allowed: one pool, worker`,
		},
		{
			"a compute pool of another name is refused",
			minimal + `compute:
  - name: workers
`,
			`lab.yaml:5:11: compute[0].name: "workers" is no pool of a lab
     5 |   - name: workers
       |           ^
  allowed: worker`,
		},
		{
			"compact with workers is refused",
			minimal + `compute:
  - replicas: 2
`,
			`lab.yaml:5:15: compute[0].replicas: topology compact has no workers, and this is 2
     5 |   - replicas: 2
       |               ^
  allowed: 0
  hint: topology ha has workers`,
		},
		{
			"ha without workers is refused",
			minimal + `topology: ha
compute:
  - replicas: 0
`,
			`lab.yaml:6:15: compute[0].replicas: topology ha has workers, and this is 0
     6 |   - replicas: 0
       |               ^
  allowed: 1 to 30
  hint: topology compact has none`,
		},
		{
			"a thousand workers are refused",
			minimal + `topology: ha
compute:
  - replicas: 1000
`,
			`lab.yaml:6:15: compute[0].replicas: 1000 is no number of workers for a lab
     6 |   - replicas: 1000
       |               ^
  allowed: 0 to 30`,
		},
		{
			"another platform is refused",
			minimal + `platform:
  aws: {}
`,
			`lab.yaml:5:3: platform.aws: is not a key that is known here
     5 |   aws: {}
       |   ^
  allowed: none`,
		},
	})
}

func TestLoadRefusesWhatIsNoLab(t *testing.T) {
	checkLabs(t, []labCase{
		{
			"an unknown key names the nearest",
			minimal + `baseDomian: x
`,
			`lab.yaml:4:1: baseDomian: is not a key that is known here
     4 | baseDomian: x
       | ^
  allowed: additionalTrustBundle, additionalTrustBundlePolicy, apiVersion, baseDomain, compute, controlPlane, imageContentSources, imageDigestSources, images, machines, metadata, networking, platform, proxy, pullSecret, release, sshKey, topology
  hint: did you mean baseDomain?`,
		},
		{
			"a key given twice is refused",
			minimal + `topology: compact
topology: ha
`,
			`lab.yaml:5:1: topology: is given twice, first on line 4
     5 | topology: ha
       | ^`,
		},
		{
			"a fraction in place of a number is refused",
			minimal + `machines:
  bootstrap:
    cpus: 2.5
`,
			`lab.yaml:6:11: machines.bootstrap.cpus: is the number 2.5
     6 |     cpus: 2.5
       |           ^
  allowed: a whole number, in decimal and without quotes`,
		},
		{
			"an octal number is refused",
			minimal + `networking:
  clusterNetwork:
    - cidr: 10.128.0.0/14
      hostPrefix: 023
`,
			`lab.yaml:7:19: networking.clusterNetwork[0].hostPrefix: is the number 023
     7 |       hostPrefix: 023
       |                   ^
  allowed: a whole number, in decimal and without quotes`,
		},
		{
			"text in place of a list is refused",
			minimal + `compute: worker
`,
			`lab.yaml:4:10: compute: is text
     4 | compute: worker
       |          ^
  allowed: a list`,
		},
		{
			"a tab is refused",
			minimal + "networking:\n\tnetworkType: OVNKubernetes\n",
			`lab.yaml:5:1: is not valid YAML: the line holds a tab
     5 |  networkType: OVNKubernetes
       | ^
  hint: YAML is indented with spaces, never with tabs`,
		},
		{
			"a bracket that is not closed is told where it was opened",
			minimal + `networking:
  serviceNetwork: [172.30.0.0/16
`,
			`lab.yaml:5:19: is not valid YAML: a list in brackets is not closed
     5 |   serviceNetwork: [172.30.0.0/16
       |                   ^
  hint: close it with ], or write each item on a line of its own behind a hyphen`,
		},
		{
			"an alias is refused",
			minimal + `topology: *shape
`,
			`lab.yaml:4:11: anchors, aliases and merge keys are not used here
     4 | topology: *shape
       |           ^
  hint: write the value out where it is needed, or put a leading & or * in quotes`,
		},
		{
			"a tag is refused",
			minimal + `topology: !!str compact
`,
			`lab.yaml:4:11: tags, as !!str, are not used here
     4 | topology: !!str compact
       |           ^
  hint: put text in quotes`,
		},
		{
			"control characters are refused",
			minimal + "topology: com\x01pact\n",
			`lab.yaml:4:14: is not valid YAML: the line holds a control character
     4 | topology: com�pact
       |              ^
  hint: delete it: type the line again`,
		},
	})
}

func TestLoadRefusesWhatIsNoDocument(t *testing.T) {
	const keys = "\n  allowed: additionalTrustBundle, additionalTrustBundlePolicy, apiVersion, baseDomain, compute, controlPlane, imageContentSources, imageDigestSources, images, machines, metadata, networking, platform, proxy, pullSecret, release, sshKey, topology"
	checkLabs(t, []labCase{
		{"a list is refused", "- a\n", "lab.yaml:1:1: the document is a list\n     1 | - a\n       | ^\n  allowed: a mapping"},
		{"a word is refused", "hello", "lab.yaml:1:1: the document is text\n     1 | hello\n       | ^\n  allowed: a mapping"},
		{"true is refused", "true", "lab.yaml:1:1: the document is true or false\n     1 | true\n       | ^\n  allowed: a mapping"},
		{"comments alone are refused", "# nothing\n", "lab.yaml: is empty\n  hint: bootlab init writes a commented lab.yaml to start from"},
		{"an empty document is refused", "---\n", "lab.yaml: is empty\n  hint: bootlab init writes a commented lab.yaml to start from"},
		{"a second document is refused", minimal + "---\na: b\n", "lab.yaml:4:1: a second document starts here\n     4 | ---\n       | ^\n  allowed: one document a file"},
		{"a second document that is broken is refused", minimal + "---\n\"a\n", "lab.yaml:5:1: is not valid YAML: a quote is opened here and not closed\n     5 | \"a\n       | ^\n  hint: close it with the same quote"},
		{"an anchor is refused", minimal + "topology: &a ha\n", "lab.yaml:4:11: anchors, aliases and merge keys are not used here\n     4 | topology: &a ha\n       |           ^\n  hint: write the value out where it is needed, or put a leading & or * in quotes"},
		{"a key that is a list is refused", minimal + "? [a]\n: b\n", "lab.yaml:4:3: a key is a list\n     4 | ? [a]\n       |   ^"},
		{"a key that is a secret is not shown", minimal + "b3BlbnNoaWZ0LXJlbGVhc2UtZGV2K29jbV9hY2Nlc3NfdG9rZW4: x\n", "lab.yaml:4:1: …: is not a key that is known here" + keys},
		{"lines are counted as other systems end them", "metadata:\r\n  name: mylab\r\nbaseDomain: bootlab.test\r\ntopology: giant\r\n", "lab.yaml:4:11: topology: \"giant\" is not known\n     4 | topology: giant\n       |           ^\n  allowed: bootstrap-only, compact, ha"},
		{"a mapping in place of text is refused", minimal + "topology: {a: b}\n", "lab.yaml:4:11: topology: is a mapping\n     4 | topology: {a: b}\n       |           ^\n  allowed: text"},
		{"a list in place of a mapping is refused", minimal + "release: []\n", "lab.yaml:4:10: release: is a list\n     4 | release: []\n       |          ^\n  allowed: a mapping"},
		{"an item of the wrong kind leaves the others in their places", minimal + "networking:\n  serviceNetwork:\n    - [a]\n    - 1.2.3.4/33\n",
			"lab.yaml:5:3: networking.serviceNetwork: holds 2 networks\n     5 |   serviceNetwork:\n       |   ^\n  allowed: one network\n" +
				"lab.yaml:6:7: networking.serviceNetwork[0]: is a list\n     6 |     - [a]\n       |       ^\n  allowed: text\n" +
				"lab.yaml:7:7: networking.serviceNetwork[1]: \"1.2.3.4/33\" is no network\n     7 |     - 1.2.3.4/33\n       |       ^\n  allowed: an IPv4 network as 192.168.126.0/24"},
		{"an item that is left out is told", minimal + "networking:\n  serviceNetwork: [~]\n", "lab.yaml:5: networking.serviceNetwork[0]: is required\n     5 |   serviceNetwork: [~]\n  allowed: an IPv4 network as 192.168.126.0/24"},
	})
}
