package diagram

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// luminance is the relative luminance of #rrggbb (WCAG 2.1).
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	var r, g, b int
	if _, err := fmt.Sscanf(hex, "#%02x%02x%02x", &r, &g, &b); err != nil {
		t.Fatalf("%q is no colour: %v", hex, err)
	}
	linear := func(c int) float64 {
		v := float64(c) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

func contrast(t *testing.T, a, b string) float64 {
	light, dark := luminance(t, a), luminance(t, b)
	if light < dark {
		light, dark = dark, light
	}
	return (light + 0.05) / (dark + 0.05)
}

// Text has 4.5:1 against every fill, lines have 3:1 against every ground, in
// both schemes.
func TestContrast(t *testing.T) {
	for scheme, value := range map[string]func(colour) string{
		"light": func(c colour) string { return c.light },
		"dark":  func(c colour) string { return c.dark },
	} {
		all := map[string]string{}
		for _, c := range colours {
			all[c.name] = value(c)
		}
		least := func(a, b string, want float64) {
			if got := contrast(t, all[a], all[b]); got < want {
				t.Errorf("%s: %s on %s has %.2f:1, wanted is %.1f:1", scheme, a, b, got, want)
			}
		}
		for name := range all {
			if name == "fg" || name == "muted" || name == "line" || strings.HasSuffix(name, "-line") {
				continue
			}
			least("fg", name, 4.5)
			if border := name + "-line"; all[border] != "" && name != "panel" {
				least(border, "panel", 3)
				least(border, "bg", 3)
			}
		}
		for _, ground := range []string{"bg", "panel"} {
			least("muted", ground, 4.5)
			least("line", ground, 3)
		}
	}
	if got := contrast(t, "#ffffff", "#000000"); math.Abs(got-21) > 0.01 {
		t.Errorf("white on black has %.2f:1, and must have 21:1", got)
	}
}

// Every variable that a rule uses is one that is set, and every class that a
// rule names is ours.
func TestStyle(t *testing.T) {
	for _, part := range strings.Split(style(), "var(--pic-")[1:] {
		name, _, _ := strings.Cut(part, ")")
		found := false
		for _, c := range colours {
			found = found || c.name == name
		}
		if !found {
			t.Errorf("variable --pic-%s has no value", name)
		}
	}
}
