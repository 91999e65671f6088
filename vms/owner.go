package vms

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"bootlab/labs"
)

// Owner says whose something is: the lab's identity, and from where it is run, since
// a lab can be copied or reached from two machines. Definitions that are only shown
// have the name alone.
type Owner struct {
	XMLName xml.Name `xml:"urn:bootlab:lab:1 lab"`
	Name    string   `xml:"name,attr"`
	// UID is metadata.uid; a lab without one is known by its name.
	UID string `xml:"uid,attr,omitempty"`
	// Directory is that of lab.yaml, Workstation tells the machine that has it.
	Directory   string `xml:"directory,attr,omitempty"`
	Workstation string `xml:"workstation,attr,omitempty"`
	// Definition is the hash of the definition that this stands in: a lab.yaml
	// that was changed since gives another.
	Definition string `xml:"definition,attr,omitempty"`
}

// ownerOf is the lab's owner, as far as the lab itself tells it.
func ownerOf(lab *labs.Lab) Owner { return Owner{Name: lab.Metadata.Name} }

// Element is the owner as it stands in metadata. libvirt wants a prefix there.
func (o Owner) Element() string {
	var b strings.Builder
	b.WriteString("<bootlab:" + labs.OwnerElement + ` xmlns:bootlab="` + labs.OwnerNamespace + `" name="`)
	xml.EscapeText(&b, []byte(o.Name))
	for _, a := range []struct{ name, value string }{{"uid", o.UID}, {"directory", o.Directory}, {"workstation", o.Workstation}, {"definition", o.Definition}} {
		if a.value != "" {
			b.WriteString(`" ` + a.name + `="`)
			xml.EscapeText(&b, []byte(a.value))
		}
	}
	b.WriteString(`"/>`)
	return b.String()
}

// SameLab says whether two mean one lab, wherever it is run from.
func (o Owner) SameLab(other Owner) bool {
	if o.UID != "" && other.UID != "" {
		return o.UID == other.UID
	}
	return o.Name == other.Name
}

// Same says whether two mean one lab, run from one place. Marks of an earlier bootlab
// name no workstation.
func (o Owner) Same(other Owner) bool {
	return o.SameLab(other) && o.Directory == other.Directory &&
		(o.Workstation == "" || other.Workstation == "" || o.Workstation == other.Workstation)
}

// OwnerIn finds the owner in a definition or another text of XML; there is none
// in what others made.
func OwnerIn(text string) (Owner, bool) {
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) || err != nil {
			return Owner{}, false
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Space != labs.OwnerNamespace || start.Name.Local != labs.OwnerElement {
			continue
		}
		var o Owner
		if d.DecodeElement(&o, &start) != nil {
			return Owner{}, false
		}
		return o, true
	}
}
