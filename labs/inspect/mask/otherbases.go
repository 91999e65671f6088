package mask

import (
	"bytes"
	"encoding/base32"
	"encoding/hex"
	"strings"
)

// shortestHex and shortestBase32 are the least number of characters that are
// decoded: 12 bytes.
const (
	shortestHex    = 24
	shortestBase32 = 20
)

// insideOthers is the kind of the first secret in a text of hex or base32.
func (f *finding) insideOthers(text []byte, open bool) string {
	for at := 0; at < len(text); {
		if n := class(hexDigit).length(text[at:]); n > 0 {
			// 0x begins a number.
			if n == 1 && at+1 < len(text) && text[at] == '0' && text[at+1] == 'x' {
				at += 2
				continue
			}
			if n >= shortestHex {
				if kind := f.hexKind(text[at : at+n]); kind != "" {
					return kind
				}
			}
			at += n
			continue
		}
		at++
	}
	for _, form := range []class{isBase32, isSmallBase32} {
		for at := 0; at < len(text); {
			n := form.length(text[at:])
			if n >= shortestBase32 {
				if kind := f.base32Kind(text[at : at+n]); kind != "" {
					return kind
				}
			}
			at += n + 1
		}
	}
	return ""
}

// headOfText is how many decoded bytes tell whether they are text.
const headOfText = 24

var (
	largeBase32 = base32.StdEncoding.WithPadding(base32.NoPadding)
	smallBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
)

func (f *finding) hexKind(text []byte) string {
	for shift := range 2 {
		var head [headOfText]byte
		if n, _ := hex.Decode(head[:], text[shift:shift+min(2*len(head), (len(text)-shift)&^1)]); !halfText(head[:n]) {
			continue
		}
		out := make([]byte, (len(text)-shift)/2)
		n, _ := hex.Decode(out, text[shift:shift+2*len(out)])
		if kind := f.decodedText(out[:n]); kind != "" {
			return kind
		}
	}
	return ""
}

func isBase32(c byte) bool      { return c >= 'A' && c <= 'Z' || c >= '2' && c <= '7' }
func isSmallBase32(c byte) bool { return c >= 'a' && c <= 'z' || c >= '2' && c <= '7' }

func (f *finding) base32Kind(text []byte) string {
	encoding := largeBase32
	if text[0] >= 'a' || isSmallBase32(text[0]) && bytes.ContainsAny(text[:min(len(text), 16)], "abcdefghijklmnopqrstuvwxyz") {
		encoding = smallBase32
	}
	for shift := range 8 {
		part := text[shift:]
		var head [headOfText]byte
		if n, _ := encoding.Decode(head[:], part[:min(len(part), 32)&^7]); !halfText(head[:n]) {
			continue
		}
		for strings.IndexByte("\x01\x03\x06", byte(len(part)%8)) >= 0 && len(part) > 0 {
			part = part[:len(part)-1]
		}
		out := make([]byte, encoding.DecodedLen(len(part)))
		n, _ := encoding.Decode(out, part)
		if kind := f.decodedText(out[:n]); kind != "" {
			return kind
		}
	}
	return ""
}

// decodedText is the kind of the first secret in bytes, if they are text or hold a
// secret that is known.
func (f *finding) decodedText(out []byte) string {
	if !halfText(out[:min(len(out), headOfText)]) {
		return ""
	}
	return f.decoded(out, false)
}
