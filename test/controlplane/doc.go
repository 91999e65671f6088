// Package controlplane runs a real etcd and a real kube-apiserver in a network
// of their own, with the keys of a lab: what the static pods of a bootstrap node
// are once its kubelet has started them.
//
// What cannot be here is stood in for, and named so: the program oc (a script in
// front of kubectl), the signer of certificate requests (in place of the
// controller manager's) and the custom resources of OpenShift (schemas that
// refuse nothing).
package controlplane
