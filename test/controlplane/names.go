package controlplane

import (
	"net"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// ResolverAddress is where a lab's name server listens in its network.
const ResolverAddress = "127.0.0.1"

// NameServer answers questions about the names of one domain. What it answers
// stands in files, which a test changes at any time: Dir/NAME holds the address
// of NAME.DOMAIN; without the file there is no such name; "silence" is no
// answer, "garbage" is no DNS. The file apps answers for every name below
// apps.DOMAIN.
type NameServer struct {
	Dir, Domain string
	conn        net.PacketConn
}

// Open starts to answer inside a network.
func (s *NameServer) Open(n *Network) (err error) {
	if s.conn, err = n.ListenPacket(ResolverAddress + ":53"); err == nil {
		go s.answer()
	}
	return err
}

// Close ends it.
func (s *NameServer) Close() { s.conn.Close() }

// ResolverFiles are the files of /etc with which a node asks the name server and
// no other, by name.
func ResolverFiles() map[string]string {
	return map[string]string{"resolv.conf": "nameserver " + ResolverAddress + "\n", "nsswitch.conf": "hosts: files dns\n"}
}

// answer answers questions until the socket is closed.
func (s *NameServer) answer() {
	buffer := make([]byte, 1500)
	for {
		n, from, err := s.conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		if answer := s.lookUp(buffer[:n]); answer != nil {
			s.conn.WriteTo(answer, from)
		}
	}
}

// word is what the file of a host says; empty if there is none.
func (s *NameServer) word(host string) string {
	name, found := strings.CutSuffix(strings.TrimSuffix(host, "."), "."+s.Domain)
	if !found {
		return ""
	}
	if strings.HasSuffix(name, ".apps") {
		name = "apps"
	}
	if strings.ContainsAny(name, "./") {
		return ""
	}
	data, _ := os.ReadFile(filepath.Join(s.Dir, name))
	return strings.TrimSpace(string(data))
}

// lookUp is the answer to a question; nil is silence.
func (s *NameServer) lookUp(question []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(question) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	m.Response, m.Additionals = true, nil
	switch address := s.word(q.Name.String()); {
	case address == "silence":
		return nil
	case address == "garbage":
		// An answer is announced, and the message ends in the middle of it.
		packed, _ := m.Pack()
		packed[7] = 1
		return append(packed, "garbage"...)
	case address == "":
		m.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeA:
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1},
			Body:   &dnsmessage.AResource{A: [4]byte(net.ParseIP(address).To4())},
		}}
	}
	packed, _ := m.Pack()
	return packed
}
