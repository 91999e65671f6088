package mask

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"math"
	"strings"
)

// Suspect is a word that still looks like a secret in what was masked, so that a
// person decides. What is written as a digest is (hex of 32, 40, 64, 96 or 128
// digits, and what follows sha256:), a UUID, a certificate or a public key of SSH
// is none.
type Suspect struct {
	File    string  `json:"file"`
	Line    int     `json:"line"` // of the masked copy, from 1; the first of them
	Begins  string  `json:"begins"`
	Length  int     `json:"length"`  // bytes
	Entropy float64 `json:"entropy"` // bits a character
	Count   int     `json:"count"`   // how often it stands in that file
}

// Limits of what is suspected: bytes of a word, and words in all.
const (
	shortestSuspect = 20
	longestSuspect  = 4096
	mostSuspects    = 2000
)

// suspector reads what is written, line by line.
type suspector struct {
	file        string
	line        int
	rest        []byte
	certificate bool
	seen        map[string]int // index in found
	found       []Suspect
}

func (s *suspector) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.rest = append(s.rest, p...)
			if len(s.rest) > 1<<20 {
				s.look(s.rest)
				s.rest = s.rest[:0]
			}
			break
		}
		if len(s.rest) > 0 {
			s.rest = append(s.rest, p[:i]...)
			s.look(s.rest)
			s.rest = s.rest[:0]
		} else {
			s.look(p[:i])
		}
		s.line++
		p = p[i+1:]
	}
	return n, nil
}

func (s *suspector) end() { s.look(s.rest) }

// look goes through the words of a line.
func (s *suspector) look(line []byte) {
	if bytes.Contains(line, []byte("-----BEGIN CERT")) {
		s.certificate = true
	}
	if bytes.Contains(line, []byte("-----END CERT")) {
		s.certificate = false
		return
	}
	if s.certificate {
		return
	}
	for at := 0; at < len(line); {
		if !inBase64Table[line[at]] {
			at++
			continue
		}
		from := at
		for at < len(line) && inBase64Table[line[at]] {
			at++
		}
		if at-from >= shortestSuspect && at-from <= longestSuspect {
			s.word(line, from, at)
		}
	}
}

func (s *suspector) word(line []byte, from, to int) {
	word := line[from:to]
	if from > 0 && (line[from-1] == ':' || line[from-1] == '~') && bytes.HasSuffix(line[:from-1], []byte("sha256")) || !isSuspect(word) {
		return
	}
	if i, is := s.seen[string(word)]; is {
		s.found[i].Count++
		return
	}
	if len(s.found) >= mostSuspects {
		return
	}
	if s.seen == nil {
		s.seen = map[string]int{}
	}
	s.seen[string(word)] = len(s.found)
	s.found = append(s.found, Suspect{File: s.file, Line: s.line + 1, Begins: string(word[:4]), Length: len(word), Entropy: math.Round(entropy(word)*10) / 10, Count: 1})
}

// isSuspect says whether a word is as mixed as a secret is.
func isSuspect(word []byte) bool {
	if n := class(hexDigit).length(word); n == len(word) {
		return isMixed(word) && n != 32 && n != 40 && n != 64 && n != 96 && n != 128 && n >= 24
	}
	if isUUID(word) || isPublic(word) {
		return false
	}
	word = longestPart(word)
	var kinds [3]int
	changes, last := 0, -1
	for _, c := range word {
		kind := 2
		switch {
		case c >= '0' && c <= '9':
			kind = 0
		case c >= 'a' && c <= 'z':
			kind = 1
		}
		kinds[kind]++
		if kind != last && last >= 0 {
			changes++
		}
		last = kind
	}
	// In a name of several words most letters are followed by their like.
	switch {
	case len(word) < shortestMixed:
		return false
	case kinds[0] > 0 && kinds[1] > 0 && kinds[2] > 0:
		return changes*100 >= len(word)*35 && entropy(word) >= 3.4
	}
	return kinds[0] > 2 && len(word) >= 25 && changes*100 >= len(word)*30 && entropy(word) >= 3.5
}

// shortestMixed is the least number of letters and digits in a row that are
// suspected: names have words between their dashes and slashes.
const shortestMixed = 14

// longestPart is the longest part of a word without dashes, slashes and the like.
func longestPart(word []byte) (longest []byte) {
	for _, part := range bytes.FieldsFunc(word, func(r rune) bool { return r >= 0x80 || !isWord(byte(r)) }) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

func isUUID(word []byte) bool {
	return len(word) >= 36 && word[8] == '-' && word[13] == '-' && word[18] == '-' && word[23] == '-' && class(hexDigit).length(word) == 8
}

// isPublic knows what may be seen: certificates, requests, public keys.
func isPublic(word []byte) bool {
	for _, begin := range []string{"AAAAC3NzaC1", "AAAAB3NzaC1", "AAAAE2VjZHNh", "LS0tLS1CRUdJTiBDRVJU", "LS0tLS1CRUdJTiBQVUJM"} {
		if strings.HasPrefix(string(word[:min(len(word), len(begin))]), begin) {
			return true
		}
	}
	if !bytes.HasPrefix(word, []byte("MI")) {
		return false
	}
	der, _ := base64.RawStdEncoding.DecodeString(strings.TrimRight(string(word), "="))
	if _, err := x509.ParseCertificate(der); err == nil {
		return true
	}
	_, err := x509.ParsePKIXPublicKey(der)
	return err == nil
}

// entropy is that of Shannon, in bits a character.
func entropy(word []byte) float64 {
	var counts [256]int
	for _, c := range word {
		counts[c]++
	}
	bits := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(word))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
