package mask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// secretsOfACluster is a list of so many Secrets and ConfigMaps, in a form, and how
// many values of Secrets are in it.
func secretsOfACluster(t testing.TB, n int, form string) (text string, values int) {
	t.Helper()
	var items []string
	for i := range n {
		kind, word := "Secret", fmt.Sprintf("hidden%06dx", i)
		if i%4 == 3 {
			kind, word = "ConfigMap", fmt.Sprintf("public%06dx", i)
		} else {
			values++
		}
		var item string
		switch form {
		case "YAML", "YAML, kind first":
			data := "  data:\n    first: " + word + "\n    more: |\n" + strings.Repeat("      "+word+"\n", 1+i%7)
			head := "  kind: " + kind + "\n"
			if form == "YAML" {
				item = "- apiVersion: v1\n" + data + head + "  metadata:\n    name: a" + fmt.Sprint(i) + "\n"
			} else {
				item = "- apiVersion: v1\n" + head + "  metadata:\n    name: a" + fmt.Sprint(i) + "\n" + data
			}
		case "list of Secrets":
			if kind == "ConfigMap" {
				continue
			}
			item = fmt.Sprintf(`{"metadata":{"name":"a%d"},"data":{"first":%q,"more":%q}}`, i, word, strings.Repeat(word+" ", 1+i%7))
		default:
			item = fmt.Sprintf(`{"apiVersion":"v1","data":{"first":%q,"more":%q},"kind":%q,"metadata":{"name":"a%d","labels":{"a":"b"}}}`, word, strings.Repeat(word+" ", 1+i%7), kind, i)
			if form == "JSON, kind first" {
				item = fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"metadata":{"name":"a%d","labels":{"a":"b"}},"data":{"first":%q,"more":%q}}`, kind, i, word, strings.Repeat(word+" ", 1+i%7))
			}
			if form == "JSON in lines" {
				var out bytes.Buffer
				if err := json.Indent(&out, []byte(item), "        ", "    "); err != nil {
					t.Fatal(err)
				}
				item = out.String()
			}
		}
		items = append(items, item)
	}
	switch form {
	case "YAML", "YAML, kind first":
		return "apiVersion: v1\nitems:\n" + strings.Join(items, "") + "kind: List\n", values
	case "list of Secrets":
		return `{"kind":"SecretList","apiVersion":"v1","metadata":{},"items":[` + strings.Join(items, ",") + "]}\n", values
	case "JSON in lines":
		return "{\n    \"items\": [\n        " + strings.Join(items, ",\n        ") + "\n    ],\n    \"kind\": \"List\"\n}\n", values
	}
	return `{"items":[` + strings.Join(items, ",") + `],"kind":"List"}`, values
}

// Wherever a window ends, no Secret is left whole or in part, and no ConfigMap is
// masked.
func TestNoCutLosesWhatTellsASecret(t *testing.T) {
	for _, form := range []string{"YAML", "YAML, kind first", "JSON", "JSON, kind first", "JSON in lines", "list of Secrets"} {
		text, _ := secretsOfACluster(t, 700, form)
		for shift := range 4 {
			var out bytes.Buffer
			if err := New().copy(&out, strings.NewReader(text), 32<<10+shift*2797, 4<<10); err != nil {
				t.Fatal(err)
			}
			if i := strings.Index(out.String(), "hidden"); i >= 0 {
				t.Errorf("%s, shift %d: left: %.200q", form, shift, out.String()[max(0, i-100):])
			}
			if want, got := strings.Count(text, "public"), strings.Count(out.String(), "public"); got != want {
				t.Errorf("%s, shift %d: of %d public values %d are left", form, shift, want, got)
			}
		}
	}
}

// A window may end anywhere in any form.
func TestEveryFormIsMaskedAtEveryCut(t *testing.T) {
	all := allForms(t)
	for name, l := range all {
		if len(l.text) > 1500 {
			continue
		}
		for cut := -64; cut <= len(l.text)+64; cut += 96 {
			// The window of 12 KiB ends cut bytes into the text.
			before := strings.Repeat("harmless words in a line\n", 400)
			before = before[len(before)-(12<<10)/2+min(cut, 4<<10):]
			text := before + "\n" + l.text + "\n" + strings.Repeat("harmless words in a line\n", 400)
			var out bytes.Buffer
			if err := New().copy(&out, strings.NewReader(text), 12<<10, 4<<10); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), l.secret) {
				t.Errorf("%s is left at cut %d", name, cut)
				break
			}
		}
	}
}
