package mask

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
)

// shortestLiteral is how long a known secret is at least, in bytes.
const shortestLiteral = 8

// literals are known secrets, found in one pass: by their first bytes.
type literals struct {
	first map[[shortestLiteral]byte][][]byte
	any   [1 << 16]bool // by the first two of those
}

// newLiterals takes each secret as it is, and as JSON, URLs and base64 have it.
func newLiterals(own [][]byte) literals {
	l := literals{first: map[[shortestLiteral]byte][][]byte{}}
	for _, secret := range own {
		secret = bytes.TrimSpace(secret)
		if len(secret) < shortestLiteral {
			continue
		}
		l.add(secret)
		if quoted, err := json.Marshal(string(secret)); err == nil {
			l.add(quoted[1 : len(quoted)-1])
		}
		l.add([]byte(url.QueryEscape(string(secret))))
		l.add([]byte(url.PathEscape(string(secret))))
		for _, form := range inBase64(secret) {
			l.add(form)
		}
	}
	return l
}

func (l *literals) add(secret []byte) {
	if len(secret) < shortestLiteral {
		return
	}
	key := [shortestLiteral]byte(secret)
	for _, known := range l.first[key] {
		if bytes.Equal(known, secret) {
			return
		}
	}
	l.first[key] = append(l.first[key], secret)
	l.any[int(secret[0])<<8|int(secret[1])] = true
}

// inBase64 are the forms that a secret has within a longer base64, which depend
// on how many bytes stand before it. What its neighbours decide is left away.
func inBase64(secret []byte) [][]byte {
	var out [][]byte
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			text := encoding.EncodeToString(append(make([]byte, before), secret...))
			from := (before*8 + 5) / 6
			to := (before + len(secret)) * 8 / 6
			if to-from >= 12 {
				out = append(out, []byte(text[from:to]))
			}
		}
	}
	return out
}

// each tells where one of them stands.
func (l *literals) each(text []byte, found func(from, to int)) {
	for i := 0; i+shortestLiteral <= len(text); i++ {
		if !l.any[int(text[i])<<8|int(text[i+1])] {
			continue
		}
		longest := 0
		for _, secret := range l.first[[shortestLiteral]byte(text[i:i+shortestLiteral])] {
			if len(secret) > longest && bytes.HasPrefix(text[i:], secret) {
				longest = len(secret)
			}
		}
		if longest > 0 {
			found(i, i+longest)
			i += longest - 1
		}
	}
}
