package labs

import (
	"testing"
)

func TestValidateMachines(t *testing.T) {
	checkLabs(t, []labCase{
		{
			"a gateway outside the network is refused",
			minimal + `machines:
  gateway: 10.0.0.1
`,
			`lab.yaml:5:12: machines.gateway: 10.0.0.1 is outside the machine network 192.168.126.0/24
     5 |   gateway: 10.0.0.1
       |            ^
  allowed: 192.168.126.1 to 192.168.126.254`,
		},
		{
			"a machine with an invented address is refused",
			minimal + `machines:
  bootstrap:
    address: 192.168.126.256
`,
			`lab.yaml:6:14: machines.bootstrap.address: "192.168.126.256" is no IPv4 address
     6 |     address: 192.168.126.256
       |              ^
  allowed: 192.168.126.1 to 192.168.126.254`,
		},
		{
			"a machine outside the network is refused",
			minimal + `machines:
  bootstrap:
    address: 192.168.127.10
`,
			`lab.yaml:6:14: machines.bootstrap.address: 192.168.127.10 is outside the machine network 192.168.126.0/24
     6 |     address: 192.168.127.10
       |              ^
  allowed: 192.168.126.1 to 192.168.126.254`,
		},
		{
			"a machine at the network's own address is refused",
			minimal + `machines:
  bootstrap:
    address: 192.168.126.0
`,
			`lab.yaml:6:14: machines.bootstrap.address: 192.168.126.0 is the address of the network itself
     6 |     address: 192.168.126.0
       |              ^
  allowed: 192.168.126.1 to 192.168.126.254`,
		},
		{
			"a machine at the broadcast address is refused",
			minimal + `machines:
  bootstrap:
    address: 192.168.126.255
`,
			`lab.yaml:6:14: machines.bootstrap.address: 192.168.126.255 is the broadcast address of 192.168.126.0/24
     6 |     address: 192.168.126.255
       |              ^
  allowed: 192.168.126.1 to 192.168.126.254`,
		},
		{
			"a machine at the gateway's address is refused",
			minimal + `machines:
  bootstrap:
    address: 192.168.126.1
`,
			`lab.yaml:6:14: machines.bootstrap.address: "192.168.126.1" is taken by machines.gateway
     6 |     address: 192.168.126.1
       |              ^`,
		},
		{
			"two machines at one address are refused",
			minimal + `machines:
  bootstrap:
    address: 192.168.126.50
  masters:
    - address: 192.168.126.50
    - {}
    - {}
`,
			`lab.yaml:8:16: machines.masters[0].address: "192.168.126.50" is taken by machines.bootstrap.address
     8 |     - address: 192.168.126.50
       |                ^`,
		},
		{
			"a machine name with a domain is refused",
			minimal + `machines:
  bootstrap:
    name: bootstrap.lab
`,
			`lab.yaml:6:11: machines.bootstrap.name: "bootstrap.lab" is no host name
     6 |     name: bootstrap.lab
       |           ^
  allowed: lower-case letters, digits and hyphens, no hyphen first or last, at most 63 characters
  hint: without the domain`,
		},
		{
			"a machine name that is a record already is refused",
			minimal + `machines:
  bootstrap:
    name: api-int
`,
			`lab.yaml:6:11: machines.bootstrap.name: "api-int" means something else in the cluster's domain
     6 |     name: api-int
       |           ^
  allowed: any name but api, api-int, apps`,
		},
		{
			"a machine name with localhost in it is refused",
			minimal + `machines:
  bootstrap:
    name: localhost
`,
			`lab.yaml:6:11: machines.bootstrap.name: "localhost" holds localhost; such a node waits for another name and never starts its kubelet
     6 |     name: localhost
       |           ^`,
		},
		{
			"a name that a default has too is refused where it is given",
			minimal + `machines:
  bootstrap:
    name: master-1
`,
			`lab.yaml:6:11: machines.bootstrap.name: "master-1" is taken by machines.masters[1].name
     6 |     name: master-1
       |           ^`,
		},
		{
			"a MAC address with dashes is refused",
			minimal + `machines:
  bootstrap:
    mac: 52-54-00-00-00-01
`,
			`lab.yaml:6:10: machines.bootstrap.mac: "52-54-00-00-00-01" is no MAC address
     6 |     mac: 52-54-00-00-00-01
       |          ^
  allowed: six bytes as 52:54:00:1a:2b:3c`,
		},
		{
			"a multicast MAC address is refused",
			minimal + `machines:
  bootstrap:
    mac: 01:00:5e:00:00:01
`,
			`lab.yaml:6:10: machines.bootstrap.mac: 01:00:5e:00:00:01 is a multicast address
     6 |     mac: 01:00:5e:00:00:01
       |          ^
  allowed: six bytes as 52:54:00:1a:2b:3c
  hint: the first byte must be even`,
		},
		{
			"a MAC address that libvirt keeps is refused",
			minimal + `machines:
  bootstrap:
    mac: FE:54:00:00:00:01
`,
			`lab.yaml:6:10: machines.bootstrap.mac: fe:54:00:00:00:01 begins with fe, which libvirt keeps for its tap devices
     6 |     mac: FE:54:00:00:00:01
       |          ^
  allowed: six bytes as 52:54:00:1a:2b:3c`,
		},
		{
			"the MAC address of zeros is refused",
			minimal + `machines:
  bootstrap:
    mac: 00:00:00:00:00:00
`,
			`lab.yaml:6:10: machines.bootstrap.mac: 00:00:00:00:00:00 is no address of a machine
     6 |     mac: 00:00:00:00:00:00
       |          ^
  allowed: six bytes as 52:54:00:1a:2b:3c`,
		},
		{
			"two machines with one MAC address are refused",
			minimal + `machines:
  bootstrap:
    mac: 52:54:00:00:00:0a
  masters:
    - mac: 52:54:00:00:00:0A
    - {}
    - {}
`,
			`lab.yaml:8:12: machines.masters[0].mac: "52:54:00:00:00:0a" is taken by machines.bootstrap.mac
     8 |     - mac: 52:54:00:00:00:0A
       |            ^`,
		},
		{
			"too few masters are refused",
			minimal + `machines:
  masters:
    - name: one
`,
			`lab.yaml:5:3: machines.masters: 1 listed, and controlPlane.replicas is 3
     5 |   masters:
       |   ^
  hint: make the two equal, or leave the list out: the machines are then made from the number`,
		},
		{
			"masters in bootstrap-only are refused",
			minimal + `topology: bootstrap-only
machines:
  masters:
    - name: one
`,
			`lab.yaml:6:3: machines.masters: topology bootstrap-only has none of these machines
     6 |   masters:
       |   ^
  hint: take the list out, or choose a larger topology`,
		},
		{
			"workers in compact are refused",
			minimal + `machines:
  workers:
    - name: one
`,
			`lab.yaml:5:3: machines.workers: topology compact has none of these machines
     5 |   workers:
       |   ^
  hint: take the list out, or choose a larger topology`,
		},
		{
			"too few workers are refused",
			minimal + `topology: ha
machines:
  workers:
    - name: one
`,
			`lab.yaml:6:3: machines.workers: 1 listed, and compute[0].replicas is 2
     6 |   workers:
       |   ^
  hint: make the two equal, or leave the list out: the machines are then made from the number`,
		},
		{
			"no CPU is refused",
			minimal + `machines:
  bootstrap:
    cpus: 0
`,
			`lab.yaml:6:11: machines.bootstrap.cpus: 0 is too little for CoreOS to boot
     6 |     cpus: 0
       |           ^
  allowed: 1 to 128`,
		},
		{
			"memory in GiB is told",
			minimal + `machines:
  bootstrap:
    memory: 16
`,
			`lab.yaml:6:13: machines.bootstrap.memory: 16 MiB is too little for CoreOS to boot
     6 |     memory: 16
       |             ^
  allowed: 2048 to 1048576 MiB
  hint: memory is in MiB: 16 GiB is 16384`,
		},
		{
			"memory that cannot boot is refused",
			minimal + `machines:
  bootstrap:
    memory: 2047
`,
			`lab.yaml:6:13: machines.bootstrap.memory: 2047 MiB is too little for CoreOS to boot
     6 |     memory: 2047
       |             ^
  allowed: 2048 to 1048576 MiB`,
		},
		{
			"a disk smaller than the image is refused",
			minimal + `machines:
  bootstrap:
    disk: 10
`,
			`lab.yaml:6:11: machines.bootstrap.disk: 10 GiB is too little for CoreOS to boot
     6 |     disk: 10
       |           ^
  allowed: 16 to 10240 GiB`,
		},
		{
			"absurd sizes are refused",
			minimal + `machines:
  bootstrap:
    cpus: 1000
    memory: 17179869184
    disk: 1000000
`,
			`lab.yaml:6:11: machines.bootstrap.cpus: 1000 is more than a lab can use
     6 |     cpus: 1000
       |           ^
  allowed: 1 to 128
lab.yaml:7:13: machines.bootstrap.memory: 17179869184 MiB is more than a lab can use
     7 |     memory: 17179869184
       |             ^
  allowed: 2048 to 1048576 MiB
lab.yaml:8:11: machines.bootstrap.disk: 1000000 GiB is more than a lab can use
     8 |     disk: 1000000
       |           ^
  allowed: 16 to 10240 GiB`,
		},
		{
			"small sizes warn",
			minimal + `machines:
  bootstrap:
    cpus: 2
    memory: 8192
    disk: 60
`,
			`lab.yaml:6:11: warning: machines.bootstrap.cpus: 2 is less than the advised 4
     6 |     cpus: 2
       |           ^
lab.yaml:7:13: warning: machines.bootstrap.memory: 8192 MiB is less than the advised 16384 MiB
     7 |     memory: 8192
       |             ^
lab.yaml:8:11: warning: machines.bootstrap.disk: 60 GiB is less than the advised 120 GiB
     8 |     disk: 60
       |           ^`,
		},
		{
			"a network that is full leaves the last machines without an address",
			minimal + `topology: ha
compute:
  - replicas: 10
networking:
  machineNetwork:
    - cidr: 192.168.130.0/28
`,
			`lab.yaml:8:3: networking.machineNetwork: 192.168.130.0/28 has no address left for machines.workers[9]
     8 |   machineNetwork:
       |   ^
  hint: choose a larger network`,
		},
	})
}
