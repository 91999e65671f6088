package generator

import (
	"os/exec"
	"strings"
	"testing"
)

// inBash gives what bash makes of a word, with the variables the word may use.
func inBash(t *testing.T, word string) string {
	t.Helper()
	out, err := exec.Command("bash", "-c", "HOST_ROOT=/host NAME=value; printf %s "+word).Output()
	if err != nil {
		t.Fatalf("bash refuses %q: %v", word, err)
	}
	return string(out)
}

func TestAQuotedValueArrivesByteExact(t *testing.T) {
	for _, value := range []string{"", "plain", "it's", `a"b`, "$(touch /tmp/x)", "`id`", "a\nb", "-n", "äöü €", "\\", "''", "*", "~", "!"} {
		word, err := shquote(value)
		if err != nil {
			t.Fatal(err)
		}
		if got := inBash(t, word); got != value {
			t.Errorf("%q became %q in bash", value, got)
		}
	}
}

func TestANulByteIsRefused(t *testing.T) {
	if _, err := shquote("a\x00b"); err == nil {
		t.Error("a NUL byte was quoted")
	}
}

func FuzzShquote(f *testing.F) {
	f.Add("it's $(x) `y` \\ \" \n")
	f.Fuzz(func(t *testing.T, value string) {
		word, err := shquote(value)
		if strings.Contains(value, "\x00") {
			if err == nil {
				t.Fatal("a NUL byte was quoted")
			}
			return
		}
		if got := inBash(t, word); got != strings.TrimSuffix(value, "\n") {
			t.Fatalf("%q became %q in bash", value, got)
		}
	})
}

func TestStageDataExpandsItsVariablesAndNothingElse(t *testing.T) {
	for in, want := range map[string]string{
		"/assets/manifests":      "/assets/manifests",
		"$NAME":                  "value",
		"a ${NAME}b":             "a valueb",
		"$(id)":                  "$(id)",
		"`id` \"quoted\" \\":     "`id` \"quoted\" \\",
		"https://localhost:2379": "https://localhost:2379",
	} {
		if got := inBash(t, shexpand(in)); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestPathsOfTheHostStandBelowItsRoot(t *testing.T) {
	for in, want := range map[string]string{
		"/etc/kubernetes/manifests/": "/host/etc/kubernetes/manifests/",
		"/no/such/etcd-peer-*.crt":   "/host/no/such/etcd-peer-*.crt",
		"tls/etcd-client.crt":        "tls/etcd-client.crt",
		"/etc/$NAME/x":               "/host/etc/value/x",
	} {
		if got := inBash(t, shpath(in)); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestThePullSecretIsFoundWhereverLabYamlPutsIt(t *testing.T) {
	for path, want := range map[string]string{
		"":                    "",
		"pull-secret.json":    "/out/../pull-secret.json",
		"/etc/my secret.json": "/etc/my secret.json",
		"~/it's.json":         "/home/me/it's.json",
	} {
		word := fileOfLab(path, "..")
		out, err := exec.Command("bash", "-c", "OUT_DIR=/out HOME=/home/me; printf %s "+word).Output()
		if err != nil || string(out) != want {
			t.Errorf("%q became %q, want %q (%v)", path, out, want, err)
		}
	}
}
