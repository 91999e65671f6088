package provision

import (
	"slices"
	"strings"

	"bootlab/labs"
	"bootlab/vms"
)

// adoptedFile is the state that holds the places whose marks count as this lab's.
const adoptedFile = "adopted.json"

// marked says whether a definition, or another text with a mark, is this lab's.
func (p *Provisioner) marked(text string) bool {
	o, ok := vms.OwnerIn(text)
	return ok && (o.Same(p.owner) || slices.ContainsFunc(p.adopted, o.Same))
}

// foreign is the error about something under a name of ours that is not ours.
func (p *Provisioner) foreign(what, name, text string) error {
	problem := &vms.Problem{Message: what + " " + name + " is there already, and this lab did not make it",
		Hint: "rename the lab in lab.yaml, or remove it yourself if it is not needed"}
	o, ok := vms.OwnerIn(text)
	switch {
	case !ok || o.Directory == "":
	case p.moved(o):
		return p.movedProblem(what+" "+name, o)
	default:
		problem.Message = what + " " + name + " belongs to the lab in " + place(o, p.owner)
		problem.Hint = "rename one of the labs, or take the other away: bootlab vms down " + o.Directory
	}
	return problem
}

// moved says whether a mark is that of this very lab, run from another place.
func (p *Provisioner) moved(o vms.Owner) bool {
	return o.UID != "" && o.UID == p.owner.UID && !o.Same(p.owner)
}

func (p *Provisioner) movedProblem(what string, o vms.Owner) error {
	return &vms.Problem{Message: what + " was made by this lab from " + place(o, p.owner),
		Hint: "if the lab was moved, bootlab vms adopt " + p.owner.Directory + " takes over what was made there; if this is a copy, give it another metadata.uid and name"}
}

// place is the directory of a mark, with the workstation where that is another one.
func place(o, here vms.Owner) string {
	if o.Workstation != "" && o.Workstation != here.Workstation {
		return o.Directory + " of another workstation (" + o.Workstation + ")"
	}
	return o.Directory
}

// Adopt takes over what this lab made from other places: its directory was moved, or
// its work goes on from another workstation. It gives the places, which are none
// where nothing of the kind is on the host.
func (p *Provisioner) Adopt() ([]string, error) {
	marks, err := p.marks()
	if err != nil {
		return nil, err
	}
	var places []string
	for _, o := range marks {
		if !p.moved(o) || slices.ContainsFunc(p.adopted, o.Same) {
			continue
		}
		o.Definition = ""
		p.adopted = append(p.adopted, o)
		places = append(places, place(o, p.owner))
	}
	if len(places) == 0 {
		return nil, nil
	}
	return places, p.State.Remember(adoptedFile, p.adopted)
}

// marks are the owners of everything on the host that carries one.
func (p *Provisioner) marks() ([]vms.Owner, error) {
	var texts []string
	domains, err := p.Host.Domains()
	if err != nil {
		return nil, err
	}
	for _, d := range domains {
		texts = append(texts, d.XML)
	}
	networks, err := p.Host.Networks()
	if err != nil {
		return nil, err
	}
	for _, n := range networks {
		texts = append(texts, n.XML)
	}
	pools, err := p.Host.Pools()
	if err != nil {
		return nil, err
	}
	for _, pool := range pools {
		if !strings.HasPrefix(pool.Name, labs.HostPrefix) || !slices.Contains(pool.Volumes, vms.OwnerVolume) {
			continue
		}
		text, err := p.Host.ReadVolume(pool.Name, vms.OwnerVolume, 1<<16)
		if err != nil {
			return nil, err
		}
		texts = append(texts, strings.TrimRight(string(text), "\x00"))
	}
	var out []vms.Owner
	for _, text := range texts {
		if o, ok := vms.OwnerIn(text); ok {
			out = append(out, o)
		}
	}
	return out, nil
}

// earlierNames are names that this lab had when it made what is still on the host. A
// lab without metadata.uid is known by its name, and has none. Where another place
// made something of this very lab, that is the error, with nothing touched.
func (p *Provisioner) earlierNames() ([]string, error) {
	if p.owner.UID == "" {
		return nil, nil
	}
	marks, err := p.marks()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, o := range marks {
		if o.UID != p.owner.UID {
			continue
		}
		if !o.Same(p.owner) && !slices.ContainsFunc(p.adopted, o.Same) {
			return nil, p.movedProblem("what is on the host", o)
		}
		if o.Name != p.owner.Name && !slices.Contains(names, o.Name) {
			names = append(names, o.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// named is the lab under another name.
func (p *Provisioner) named(name string) *Provisioner {
	lab, q := *p.Lab, *p
	lab.Metadata.Name = name
	q.Lab = &lab
	return &q
}

// notRenamed refuses to make machines while those of an earlier name are there.
func (p *Provisioner) notRenamed() error {
	names, err := p.earlierNames()
	if err != nil || len(names) == 0 {
		return err
	}
	return &vms.Problem{Message: "machines of this lab are there from when it was called " + strings.Join(names, ", "),
		Hint: "bootlab vms down " + p.owner.Directory + " takes them away; or put metadata.name back"}
}
