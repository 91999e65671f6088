// Package vms makes and removes the machines of a lab with libvirt: network,
// disks, domains and load balancer. What it would make, it can show as text
// without a libvirt at hand (see [Files]).
package vms
