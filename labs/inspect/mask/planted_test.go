package mask

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

// contexts are what a text may stand in.
var contexts = map[string]func(string) string{
	"lines":   func(s string) string { return "first line of it\n" + s + "\nlast line of it\n" },
	"journal": func(s string) string { return behind(journalPrefix, "begins\n"+s+"\nends") + "\n" },
	"container log": func(s string) string {
		return behind("2026-01-02T03:04:0#.123456789+00:00 stderr F ", "begins\n"+s+"\nends") + "\n"
	},
	"JSON": func(s string) string {
		return jsonOf(map[string]any{"level": "info", "msg": "begins\n" + s + "\nends", "n": 1})
	},
	"JSON in JSON": func(s string) string {
		return jsonOf(map[string]any{"log": jsonOf(map[string]any{"msg": "begins\n" + s + "\nends"})})
	},
	"JSON in a log": func(s string) string { return behind(journalPrefix, `I1122 a.go:1] "x" body=`+jsonOf(s)) + "\n" },
	"base64":        func(s string) string { return "data: " + b64("first line\n"+s+"\nlast line\n") + "\n" },
	"packed": func(s string) string {
		return "source: data:;base64," + b64(gz(nil, "first line\n"+s+"\nlast line\n")) + "\n"
	},
	"YAML, literal":    func(s string) string { return "a.conf: |\n  " + strings.ReplaceAll(s, "\n", "\n  ") + "\nb: c\n" },
	"quoted-printable": func(s string) string { return quotedPrintable("first line of it\n" + s + "\nlast line of it\n") },
}

func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Every form is masked in everything that it may stand in.
func TestEveryFormIsMaskedInEveryContext(t *testing.T) {
	all := allForms(t)
	for context, around := range contexts {
		var leftOver []string
		n := 0
		for name, l := range all {
			// JSON has no bytes that are no text, and a journal no lines of NUL.
			if strings.Contains(l.text, "\x00") && context != "lines" && context != "base64" && context != "packed" {
				continue
			}
			n++
			text := around(l.text)
			got := string(New().Bytes([]byte(text)))
			if strings.Contains(got, l.secret) || !strings.Contains(got, "<masked:") {
				leftOver = append(leftOver, name)
			}
		}
		slices.Sort(leftOver)
		t.Logf("%s: %d of %d are masked", context, n-len(leftOver), n)
		for _, name := range leftOver {
			t.Errorf("%s: %s is left in %.160q", context, name, around(all[name].text))
		}
	}
}

// withSecret is the same form with another secret of the same mix of characters, where
// the form does not encode it.
func (l leak) withSecret(random *rand.Rand) leak {
	if l.secret != weak && l.secret != strong {
		return l
	}
	other := []byte(l.secret)
	for i, c := range other {
		for _, sort := range []string{"abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"} {
			if strings.IndexByte(sort, c) >= 0 {
				other[i] = sort[random.Intn(len(sort))]
			}
		}
	}
	return leak{strings.ReplaceAll(l.text, l.secret, string(other)), string(other)}
}

// plant puts a secret of any form into a context, at any place of a text, and looks
// through a window of any size.
func plant(t *testing.T, all map[string]leak, names, around []string, form, context, place, cut uint) {
	name := names[form%uint(len(names))]
	l := all[name].withSecret(rand.New(rand.NewSource(int64(form ^ place<<16 ^ cut<<32))))
	in := around[context%uint(len(around))]
	if strings.Contains(l.text, "\x00") && in != "lines" {
		return
	}
	lines := strings.Repeat("Nov 22 01:02:03 bootstrap kubelet[99]: harmless words in a line\n", int(place%200))
	text := lines + contexts[in](l.text) + "\n" + strings.Repeat("harmless words in a line\n", int(place/7%300))
	var out bytes.Buffer
	size := 20<<10 + int(cut%(12<<10))
	if err := New().copy(&out, strings.NewReader(text), size, 6<<10); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), l.secret) || !strings.Contains(out.String(), "<masked:") {
		t.Errorf("%s in %s, place %d, window %d: left in %.300q", name, in, place, size, contexts[in](l.text))
	}
	for _, line := range []string{"harmless words in a line\n"} {
		if want, got := strings.Count(text, line), strings.Count(out.String(), line); got < want {
			t.Errorf("%s in %s, place %d, window %d: of %d harmless lines %d are left", name, in, place, size, want, got)
		}
	}
}

func planting(t testing.TB) (all map[string]leak, names, around []string) {
	all = allForms(t)
	for name, l := range all {
		if len(l.text) > 3000 {
			delete(all, name)
		}
	}
	return all, slices.Sorted(maps.Keys(all)), slices.Sorted(maps.Keys(contexts))
}

func TestPlantedSecretsAreMasked(t *testing.T) {
	all, names, around := planting(t)
	random := rand.New(rand.NewSource(1))
	for range 400 {
		plant(t, all, names, around, uint(random.Uint32()), uint(random.Uint32()), uint(random.Uint32()), uint(random.Uint32()))
	}
}

func FuzzPlanted(f *testing.F) {
	all, names, around := planting(f)
	f.Add(uint(0), uint(0), uint(0), uint(0))
	f.Fuzz(func(t *testing.T, form, context, place, cut uint) {
		plant(t, all, names, around, form, context, place, cut)
	})
}
