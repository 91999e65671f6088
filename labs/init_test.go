package labs

import (
	"bytes"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func mustComment(t *testing.T, example, name string) string {
	t.Helper()
	text, err := commented(example, name, labCatalog(t))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// withName is the lab of an example under another name.
func withName(t *testing.T, example, name string) *Lab {
	t.Helper()
	text, err := Examples.Open(example + "/" + LabFile)
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	l, ps := decodeLab(labSource{name: LabFile, dir: ".", text: text}, labCatalog(t))
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	l.lab.Metadata.Name = name
	l.fillDefaults()
	return l.lab
}

func TestInitWritesTheLabOfTheExample(t *testing.T) {
	for _, e := range ExampleList() {
		t.Run(e.Name, func(t *testing.T) {
			got := mustLoad(t, mustComment(t, e.Name, "mylab"))
			if want := withName(t, e.Name, "mylab"); !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

// keyComment is a line that can be taken into use.
var keyComment = regexp.MustCompile(`(?m)^( *)# (.*)$`)

func TestInitShowsTheDefaultsThatCount(t *testing.T) {
	for _, e := range ExampleList() {
		t.Run(e.Name, func(t *testing.T) {
			all := keyComment.ReplaceAllString(mustComment(t, e.Name, "mylab"), "$1$2")
			all = strings.Replace(all, "~/.ssh/id_ed25519.pub", "key.pub", 1)
			got, want := mustLoad(t, all), withName(t, e.Name, "mylab")
			if got.SSHKey == "" || got.PullSecret == "" || len(got.Images) != 1 || !got.Proxy.Set() ||
				len(got.ImageDigestSources) != 1 || got.AdditionalTrustBundle == "" || got.Metadata.UID == "" {
				t.Errorf("an example value is not there: %+v", got)
			}
			got.Metadata.UID = want.Metadata.UID
			got.SSHKey, got.PullSecret, got.Images = want.SSHKey, want.PullSecret, want.Images
			got.Proxy, got.ImageDigestSources, got.AdditionalTrustBundle = want.Proxy, want.ImageDigestSources, want.AdditionalTrustBundle
			if len(got.Machines.Masters)+len(want.Machines.Masters) == 0 {
				got.Machines.Masters = want.Machines.Masters
			}
			if len(got.Machines.Workers)+len(want.Machines.Workers) == 0 {
				got.Machines.Workers = want.Machines.Workers
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestInitExplainsEveryKey(t *testing.T) {
	for _, e := range ExampleList() {
		text := mustComment(t, e.Name, "mylab")
		words := strings.Join(strings.Fields(strings.ReplaceAll(text, "##", "")), " ")
		for _, f := range Fields() {
			key := f.Path[strings.LastIndex(f.Path, ".")+1:]
			if why := strings.Join(strings.Fields(f.Why), " "); !strings.Contains(words, why) {
				t.Errorf("%s: %s is not explained", e.Name, f.Path)
			}
			if !regexp.MustCompile(`(?m)[ #]` + key + `:|^` + key + `:`).MatchString(text) {
				t.Errorf("%s: %s is not there", e.Name, f.Path)
			}
		}
	}
}

func TestInitKeepsWithinTheWidth(t *testing.T) {
	for _, e := range ExampleList() {
		for i, line := range strings.Split(mustComment(t, e.Name, strings.Repeat("a", 54)), "\n") {
			if len([]rune(line)) > commentWidth || strings.TrimRight(line, " ") != line {
				t.Errorf("%s:%d: %q", e.Name, i+1, line)
			}
		}
	}
}

func TestInitIsRepeatable(t *testing.T) {
	first, err := Commented("ha", "mylab", "0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	second, err := Commented("ha", "mylab", "0123456789abcdef")
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("two runs differ, %v", err)
	}
}

func TestInitQuotesNamesThatYAMLReadsAsSomethingElse(t *testing.T) {
	for _, name := range []string{"null", "true", "123", "1e3", "0x1f", "yes", "0o7"} {
		if lab := mustLoad(t, mustComment(t, "compact", name)); lab.Metadata.Name != name {
			t.Errorf("%s became %q", name, lab.Metadata.Name)
		}
	}
}

func TestInitRefusesWhatItCannotWrite(t *testing.T) {
	for _, tc := range []struct{ example, name, want string }{
		{"compact", "", `"" is no name for a cluster; allowed: ` + labelRule(54)},
		{"compact", "a\nb", `"a\nb" is no name for a cluster; allowed: ` + labelRule(54)},
		{"compact", "my.lab", `"my.lab" is no name for a cluster; allowed: ` + labelRule(54)},
		{"giant", "mylab", `"giant" is no example; there are bootstrap-only, compact, ha, ocp-compact`},
		{"../data", "mylab", `"../data" is no example; there are bootstrap-only, compact, ha, ocp-compact`},
	} {
		if _, err := commented(tc.example, tc.name, labCatalog(t)); err == nil || err.Error() != tc.want {
			t.Errorf("%q %q: got %v, want %s", tc.example, tc.name, err, tc.want)
		}
	}
}
