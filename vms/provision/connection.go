package provision

import (
	"bootlab/labs"
	"bootlab/vms"
	"bootlab/vms/state"
)

// connectionFile is the state that holds where the lab's machines are.
const connectionFile = "connection.json"

// Connection is the libvirt connection of a lab: the one that up was told, where there
// are machines, else the one that is asked for, or the system's. Another one than the
// lab was made with is refused: there nothing of it would be found.
func Connection(dir *state.Dir, asked string) (string, error) {
	var made string
	there, err := dir.Recall(connectionFile, &made)
	switch {
	case err != nil:
		return "", err
	case there && asked != "" && asked != made:
		return "", &vms.Problem{Message: "the machines of this lab are at " + made + ", not at " + asked,
			Hint: "leave --connect out, or take the lab away first: bootlab vms down"}
	case there:
		return made, nil
	case asked != "":
		return asked, nil
	}
	return labs.LibvirtURI, nil
}

// RememberConnection notes where the machines are made, until they are taken away.
func (p *Provisioner) RememberConnection(uri string) error {
	return p.State.Remember(connectionFile, uri)
}
