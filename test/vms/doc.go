// Package vms tests the machines of a lab on a libvirt of its own: daemon,
// network and files are in namespaces that no one else sees.
package vms
