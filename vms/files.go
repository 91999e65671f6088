package vms

import (
	"fmt"

	"bootlab/labs"
)

// File is a generated file; Path is relative to the output directory.
type File struct {
	Path string
	Text string
}

// unknownImage stands for the hash of the base image, which is known only when
// there is one; its format is that of the images that openshift-install names.
var unknownImage = Image{SHA256: "SHA256", Format: "qcow2"}

// Files are the definitions that the provisioner gives to libvirt and HAProxy,
// each field explained in a comment, so that virsh define, virsh net-define and
// haproxy -f take them too.
func Files(lab *labs.Lab) ([]File, error) {
	type definition struct {
		name string
		xml  interface{ Marshal() (string, error) }
	}
	definitions := []definition{{"network", Network(lab, ownerOf(lab))}, {"pool-base", SharedPool()}, {"pool", LabPoolDefinition(lab)}}
	for _, m := range Machines(lab) {
		definitions = append(definitions,
			definition{"domain-" + m.Name, Domain(lab, ownerOf(lab), m, unknownImage, KVM)},
			definition{"disk-" + m.Name, Disk(lab, m, unknownImage)})
	}
	files := []File{{"vms/haproxy.cfg", Balancer(lab, "unix@"+labs.BalancerSocket)}}
	for _, d := range definitions {
		text, err := d.xml.Marshal()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		if text, err = annotate(text); err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		files = append(files, File{"vms/" + d.name + ".xml", text})
	}
	return files, nil
}
