package mask

import (
	"strings"
	"testing"
)

// A secret that seems to go across strings must not break JSON.
func TestJSONStaysJSON(t *testing.T) {
	text := `{"items":[{"message":"begins -----BEGIN PRIVATE KEY-----"}],"last":{"message":"ends -----END PRIVATE KEY-----","n":12345678901234567890},` +
		`"secret":{"kind":"Secret","data":{"a":"c2hvcnQ="}},"token":"q9w8"} {"auths":{"r":{"email":"me@example.com"}},"list":["a","b"]}`
	got := New().Document([]byte(text))
	if !isJSON(got) || strings.Contains(string(got), "c2hvcnQ") || strings.Contains(string(got), "q9w8") || strings.Contains(string(got), "me@") ||
		!strings.Contains(string(got), `"n":12345678901234567890`) || !strings.Contains(string(got), `"list":["a","b"]`) || !strings.Contains(string(got), `"last":{"message":"`) {
		t.Errorf("became %s", got)
	}
}
