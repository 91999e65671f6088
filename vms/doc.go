// Package vms has the definitions of a lab's machines: network, disks, domains
// and load balancer, as text, without a libvirt at hand (see [Files]). The packages
// below it look at a host and make them there.
package vms
