package vms

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"bootlab/labs"
)

// Owner says whose something is: the lab's name and the directory of its
// lab.yaml, since two directories may hold labs of one name. Definitions that
// are only shown have no directory.
type Owner struct {
	XMLName   xml.Name `xml:"urn:bootlab:lab:1 lab"`
	Name      string   `xml:"name,attr"`
	Directory string   `xml:"directory,attr,omitempty"`
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
	if o.Directory != "" {
		b.WriteString(`" directory="`)
		xml.EscapeText(&b, []byte(o.Directory))
	}
	if o.Definition != "" {
		b.WriteString(`" definition="` + o.Definition)
	}
	b.WriteString(`"/>`)
	return b.String()
}

// Same says whether two mean one lab.
func (o Owner) Same(other Owner) bool { return o.Name == other.Name && o.Directory == other.Directory }

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
