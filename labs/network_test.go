package labs

import (
	"net/netip"
	"testing"
)

func TestValidateNetworks(t *testing.T) {
	checkLabs(t, []labCase{
		{
			"OpenShiftSDN is refused since 4.15",
			minimal + `networking:
  networkType: OpenShiftSDN
`,
			`lab.yaml:5:16: networking.networkType: OpenShiftSDN is refused since 4.15
     5 |   networkType: OpenShiftSDN
       |                ^
  allowed: OVNKubernetes`,
		},
		{
			"OpenShiftSDN in 4.14 warns",
			minimal + `release:
  version: "4.14"
  image: quay.io/okd/scos-release:4.14.0
networking:
  networkType: OpenShiftSDN
`,
			`lab.yaml:8:16: warning: networking.networkType: OpenShiftSDN is deprecated in 4.14 and gone from 4.15 on
     8 |   networkType: OpenShiftSDN
       |                ^
  allowed: OVNKubernetes`,
		},
		{
			"OpenShiftSDN in 4.14 with one master is refused",
			minimal + `release:
  version: "4.14"
  image: quay.io/okd/scos-release:4.14.0
controlPlane:
  replicas: 1
networking:
  networkType: OpenShiftSDN
`,
			`lab.yaml:10:16: networking.networkType: OpenShiftSDN is refused with a single control plane node
    10 |   networkType: OpenShiftSDN
       |                ^
  allowed: OVNKubernetes`,
		},
		{
			"a network type in other letters is refused",
			minimal + `networking:
  networkType: ovnkubernetes
`,
			`lab.yaml:5:16: networking.networkType: "ovnkubernetes" is no network type of a lab
     5 |   networkType: ovnkubernetes
       |                ^
  allowed: OVNKubernetes
  hint: did you mean OVNKubernetes?`,
		},
		{
			"a network without a mask is refused",
			minimal + `networking:
  machineNetwork:
    - cidr: 192.168.130.0
`,
			`lab.yaml:6:13: networking.machineNetwork[0].cidr: "192.168.130.0" is no network
     6 |     - cidr: 192.168.130.0
       |             ^
  allowed: an IPv4 network as 192.168.126.0/24
  hint: the mask is missing, as in 192.168.130.0/24`,
		},
		{
			"an address inside a network is refused",
			minimal + `networking:
  machineNetwork:
    - cidr: 10.0.0.5/16
`,
			`lab.yaml:6:13: networking.machineNetwork[0].cidr: 10.0.0.5/16 is an address inside a network
     6 |     - cidr: 10.0.0.5/16
       |             ^
  allowed: the network itself, 10.0.0.0/16`,
		},
		{
			"words in place of a network are refused",
			minimal + `networking:
  serviceNetwork:
    - "10.0.0.0/16; reboot"
`,
			`lab.yaml:6:7: networking.serviceNetwork[0]: "10.0.0.0/16; reboot" is no network
     6 |     - "10.0.0.0/16; reboot"
       |       ^
  allowed: an IPv4 network as 192.168.126.0/24`,
		},
		{
			"IPv6 is refused",
			minimal + `networking:
  machineNetwork:
    - cidr: fd00::/64
`,
			`lab.yaml:6:13: networking.machineNetwork[0].cidr: "fd00::/64" is IPv6; neither IPv6 nor dual-stack is supported in a lab yet
     6 |     - cidr: fd00::/64
       |             ^
  allowed: an IPv4 network as 192.168.126.0/24`,
		},
		{
			"a network without cidr is refused",
			minimal + `networking:
  machineNetwork:
    - {}
`,
			`lab.yaml:6:7: networking.machineNetwork[0].cidr: is required
     6 |     - {}
       |       ^
  allowed: an IPv4 network as 192.168.126.0/24`,
		},
		{
			"two machine networks are refused",
			minimal + `networking:
  machineNetwork:
    - cidr: 192.168.130.0/24
    - cidr: 192.168.131.0/24
`,
			`lab.yaml:5:3: networking.machineNetwork: holds 2 networks
     5 |   machineNetwork:
       |   ^
  allowed: one network, which all machines of the lab share`,
		},
		{
			"no machine network is refused",
			minimal + `networking:
  machineNetwork: []
`,
			`lab.yaml:5:19: networking.machineNetwork: holds 0 networks
     5 |   machineNetwork: []
       |                   ^
  allowed: one network, which all machines of the lab share`,
		},
		{
			"no cluster network is refused",
			minimal + `networking:
  clusterNetwork: []
`,
			`lab.yaml:5:19: networking.clusterNetwork: holds no network
     5 |   clusterNetwork: []
       |                   ^
  allowed: one network or more`,
		},
		{
			"two service networks are refused",
			minimal + `networking:
  serviceNetwork: [172.30.0.0/16, 172.31.0.0/16]
`,
			`lab.yaml:5:19: networking.serviceNetwork: holds 2 networks
     5 |   serviceNetwork: [172.30.0.0/16, 172.31.0.0/16]
       |                   ^
  allowed: one network`,
		},
		{
			"a service network that is too large is refused",
			minimal + `networking:
  serviceNetwork: [172.0.0.0/11]
`,
			`lab.yaml:5:20: warning: networking.serviceNetwork[0]: 172.0.0.0/11 overlaps 172.17.0.0/16, which Docker uses by default
     5 |   serviceNetwork: [172.0.0.0/11]
       |                    ^
  hint: choose another network if Docker runs on this host
lab.yaml:5:20: warning: networking.serviceNetwork[0]: 172.0.0.0/11 has addresses of the internet, which the lab will not reach any more
     5 |   serviceNetwork: [172.0.0.0/11]
       |                    ^
  hint: choose a network of 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16
lab.yaml:5:20: networking.serviceNetwork[0]: 172.0.0.0/11 is larger than the installer lets a service network be
     5 |   serviceNetwork: [172.0.0.0/11]
       |                    ^
  allowed: a mask from /12 to /30`,
		},
		{
			"a machine network that is too small is refused",
			minimal + `networking:
  machineNetwork:
    - cidr: 192.168.130.0/29
`,
			`lab.yaml:6:13: networking.machineNetwork[0].cidr: 192.168.130.0/29 has no room for a lab
     6 |     - cidr: 192.168.130.0/29
       |             ^
  allowed: a mask of /28 or shorter`,
		},
		{
			"the documentation network is refused",
			minimal + `networking:
  machineNetwork:
    - cidr: 192.0.2.0/24
`,
			`lab.yaml:6:13: networking.machineNetwork[0].cidr: 192.0.2.0/24 overlaps 192.0.2.0/24, which is reserved for documentation (RFC 5737)
     6 |     - cidr: 192.0.2.0/24
       |             ^
  allowed: a network of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16`,
		},
		{
			"the second documentation network is refused",
			minimal + `networking:
  machineNetwork:
    - cidr: 198.51.100.0/25
`,
			`lab.yaml:6:13: networking.machineNetwork[0].cidr: 198.51.100.0/25 overlaps 198.51.100.0/24, which is reserved for documentation (RFC 5737)
     6 |     - cidr: 198.51.100.0/25
       |             ^
  allowed: a network of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16`,
		},
		{
			"the third documentation network is refused",
			minimal + `networking:
  machineNetwork:
    - cidr: 203.0.113.0/24
`,
			`lab.yaml:6:13: networking.machineNetwork[0].cidr: 203.0.113.0/24 overlaps 203.0.113.0/24, which is reserved for documentation (RFC 5737)
     6 |     - cidr: 203.0.113.0/24
       |             ^
  allowed: a network of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16`,
		},
		{
			"the loopback network is refused",
			minimal + `networking:
  serviceNetwork: [127.0.0.0/16]
`,
			`lab.yaml:5:20: networking.serviceNetwork[0]: 127.0.0.0/16 overlaps 127.0.0.0/8, which is the loopback network (RFC 1122)
     5 |   serviceNetwork: [127.0.0.0/16]
       |                    ^
  allowed: a network of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16`,
		},
		{
			"link-local addresses are refused",
			minimal + `networking:
  serviceNetwork: [169.254.0.0/17]
`,
			`lab.yaml:5:20: networking.serviceNetwork[0]: 169.254.0.0/17 overlaps 169.254.0.0/16, which is for link-local addresses (RFC 3927), and OVN-Kubernetes uses 169.254.0.0/17 itself
     5 |   serviceNetwork: [169.254.0.0/17]
       |                    ^
  allowed: a network of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16`,
		},
		{
			"multicast is refused",
			minimal + `networking:
  serviceNetwork: [239.0.0.0/16]
`,
			`lab.yaml:5:20: networking.serviceNetwork[0]: 239.0.0.0/16 overlaps 224.0.0.0/4, which is for multicast (RFC 5771)
     5 |   serviceNetwork: [239.0.0.0/16]
       |                    ^
  allowed: a network of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16`,
		},
		{
			"class E is refused",
			minimal + `networking:
  serviceNetwork: [240.0.0.0/16]
`,
			`lab.yaml:5:20: networking.serviceNetwork[0]: 240.0.0.0/16 overlaps 240.0.0.0/4, which is reserved (RFC 1112, class E)
     5 |   serviceNetwork: [240.0.0.0/16]
       |                    ^
  allowed: a network of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16`,
		},
		{
			"the zero network is refused",
			minimal + `networking:
  serviceNetwork: [0.0.0.0/16]
`,
			`lab.yaml:5:20: networking.serviceNetwork[0]: 0.0.0.0/16 overlaps 0.0.0.0/8, which is reserved for "this network" (RFC 1122)
     5 |   serviceNetwork: [0.0.0.0/16]
       |                    ^
  allowed: a network of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16`,
		},
		{
			"the whole internet is refused",
			minimal + `networking:
  clusterNetwork:
    - cidr: 0.0.0.0/0
`,
			`lab.yaml:6:13: networking.clusterNetwork[0].cidr: 0.0.0.0/0 overlaps 0.0.0.0/8, which is reserved for "this network" (RFC 1122)
     6 |     - cidr: 0.0.0.0/0
       |             ^
  allowed: a network of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16`,
		},
		{
			"the join network of OVN is refused from 4.19 on",
			minimal + `networking:
  serviceNetwork: [100.64.0.0/16]
`,
			`lab.yaml:5:20: networking.serviceNetwork[0]: 100.64.0.0/16 overlaps 100.64.0.0/16, the join network of OVN-Kubernetes
     5 |   serviceNetwork: [100.64.0.0/16]
       |                    ^
  hint: the installer refuses it since 4.19`,
		},
		{
			"the transit network of OVN warns before 4.19",
			minimal + `release:
  version: "4.18"
  image: quay.io/okd/scos-release:4.18.0
networking:
  serviceNetwork: [100.88.0.0/16]
`,
			`lab.yaml:8:20: warning: networking.serviceNetwork[0]: 100.88.0.0/16 overlaps 100.88.0.0/16, the transit network of OVN-Kubernetes
     8 |   serviceNetwork: [100.88.0.0/16]
       |                    ^`,
		},
		{
			"the network of Docker warns",
			minimal + `networking:
  serviceNetwork: [172.17.0.0/16]
`,
			`lab.yaml:5:20: warning: networking.serviceNetwork[0]: 172.17.0.0/16 overlaps 172.17.0.0/16, which Docker uses by default
     5 |   serviceNetwork: [172.17.0.0/16]
       |                    ^
  hint: choose another network if Docker runs on this host`,
		},
		{
			"a public network warns",
			minimal + `networking:
  machineNetwork:
    - cidr: 9.9.9.0/24
`,
			`lab.yaml:6:13: warning: networking.machineNetwork[0].cidr: 9.9.9.0/24 has addresses of the internet, which the lab will not reach any more
     6 |     - cidr: 9.9.9.0/24
       |             ^
  hint: choose a network of 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16`,
		},
		{
			"a network that holds more than private addresses warns",
			minimal + `networking:
  serviceNetwork: [172.0.0.0/12]
`,
			`lab.yaml:5:20: warning: networking.serviceNetwork[0]: 172.0.0.0/12 has addresses of the internet, which the lab will not reach any more
     5 |   serviceNetwork: [172.0.0.0/12]
       |                    ^
  hint: choose a network of 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16`,
		},
		{
			"networks that overlap are refused at the later one",
			minimal + `networking:
  machineNetwork:
    - cidr: 10.0.0.0/16
  clusterNetwork:
    - cidr: 10.0.0.0/14
`,
			`lab.yaml:8:13: networking.clusterNetwork[0].cidr: 10.0.0.0/14 overlaps networking.machineNetwork[0].cidr 10.0.0.0/16
     8 |     - cidr: 10.0.0.0/14
       |             ^`,
		},
		{
			"a network that overlaps a default is refused",
			minimal + `networking:
  machineNetwork:
    - cidr: 10.129.0.0/24
`,
			`lab.yaml:6:13: networking.machineNetwork[0].cidr: 10.129.0.0/24 overlaps networking.clusterNetwork[0].cidr 10.128.0.0/14
     6 |     - cidr: 10.129.0.0/24
       |             ^`,
		},
		{
			"a hostPrefix shorter than the mask is refused",
			minimal + `networking:
  clusterNetwork:
    - cidr: 10.128.0.0/14
      hostPrefix: 13
`,
			`lab.yaml:7:19: networking.clusterNetwork[0].hostPrefix: a node's /13 is larger than the whole network 10.128.0.0/14
     7 |       hostPrefix: 13
       |                   ^
  allowed: 14 to 30`,
		},
		{
			"a hostPrefix without room for pods is refused",
			minimal + `networking:
  clusterNetwork:
    - cidr: 10.128.0.0/14
      hostPrefix: 31
`,
			`lab.yaml:7:19: networking.clusterNetwork[0].hostPrefix: a node's /31 has no room for pods
     7 |       hostPrefix: 31
       |                   ^
  allowed: 14 to 30`,
		},
		{
			"hostPrefixes that differ are refused",
			minimal + `networking:
  clusterNetwork:
    - cidr: 10.128.0.0/16
    - cidr: 10.129.0.0/16
      hostPrefix: 24
`,
			`lab.yaml:8:19: networking.clusterNetwork[1].hostPrefix: 24 differs from the first network's 23
     8 |       hostPrefix: 24
       |                   ^
  allowed: the same in all cluster networks`,
		},
		{
			"a cluster network with room for two nodes is refused",
			minimal + `networking:
  clusterNetwork:
    - cidr: 10.128.0.0/22
`,
			`lab.yaml:5:3: networking.clusterNetwork: has room for 2 nodes, and the cluster has 3
     5 |   clusterNetwork:
       |   ^
  hint: choose a larger network or a longer hostPrefix`,
		},
	})
}

func TestNetworkArithmetic(t *testing.T) {
	network := netip.MustParsePrefix("10.255.255.0/30")
	if got := hostRange(network); got != "10.255.255.1 to 10.255.255.2" {
		t.Error(got)
	}
	taken := map[string]bool{"10.255.255.2": true}
	if got := freeAddress(network, 2, taken); got != "10.255.255.1" {
		t.Error(got)
	}
	taken["10.255.255.1"] = true
	if got := freeAddress(network, 1, taken); got != "" {
		t.Error(got)
	}
}
