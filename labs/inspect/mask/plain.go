package mask

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrNoText is that of a file in which no secret could be found.
var ErrNoText = errors.New("it is no text")

// mostPacked is how often a file may be packed itself.
const mostPacked = 3

// Plain unpacks, to no more than most bytes, what is a packed file itself. What is not text then could hold
// any secret.
func Plain(text []byte, err error, most int) ([]byte, error) {
	for n := 0; n < mostPacked && bytes.HasPrefix(text, []byte{0x1f, 0x8b}); n++ {
		unpacked, torn := unpack(text, most)
		if torn != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoText, torn)
		}
		text = unpacked
	}
	if len(text) > 0 && !isReadable(text) {
		return nil, ErrNoText
	}
	return text, err
}

// isReadable says whether the beginning of a file is text in any language.
func isReadable(text []byte) bool {
	if isText(text) {
		return true
	}
	head := text[:min(len(text), 4096)]
	for n := 0; n < utf8.UTFMax && len(head) < len(text) && len(head) > 0 && !utf8.Valid(head); n++ {
		head = head[:len(head)-1]
	}
	return utf8.Valid(head) && bytes.IndexByte(head, 0) < 0
}

// IsSecretName says whether a file's name alone makes it stay away, as in the
// installer's bundles: installer-gather.sh removes *secret*, *kubeconfig*, *.key
// and .kube. In bundles that counts for rendered files alone.
func IsSecretName(name string) bool {
	for _, part := range strings.Split(strings.ToLower(name), "/") {
		if strings.Contains(part, "secret") || strings.Contains(part, "kubeconfig") ||
			strings.Contains(part, "password") || strings.HasSuffix(part, ".key") || part == ".kube" {
			return true
		}
	}
	return false
}
