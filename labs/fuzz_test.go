package labs

import (
	"io/fs"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// eachText calls visit for every string below a value, keys of maps included.
func eachText(v reflect.Value, visit func(string)) {
	switch v.Kind() {
	case reflect.String:
		visit(v.String())
	case reflect.Pointer:
		if !v.IsNil() {
			eachText(v.Elem(), visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			eachText(v.Field(i), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachText(v.Index(i), visit)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			eachText(key, visit)
			eachText(v.MapIndex(key), visit)
		}
	}
}

// FuzzLoadLab: whatever the bytes, loading ends without a panic. What loads
// holds nothing that could leave its line in a script, loads the same again,
// and, written out with every default in it, is still the same lab.
func FuzzLoadLab(f *testing.F) {
	c := labCatalog(f)
	for _, e := range ExampleList() {
		text, err := fs.ReadFile(Examples, e.Name+"/"+LabFile)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		if text, err = commented(e.Name, "mylab", c); err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(keyComment.ReplaceAllString(string(text), "$1$2")))
	}
	for _, rest := range []string{"sshKey: " + publicKey + " $(x) \"y\"\n", "sshKey: key.pub\npullSecret: pull-secret.json\n",
		"compute: [~]\nmachines: {masters: [~, ~, ~]}\n", "images: {etcd: quay.io/a/b}\n",
		"proxy: {httpProxy: 'http://u:p%24@p.test:1/', httpsProxy: 'https://[::1]:1', noProxy: '.a.test,::1,10.0.0.0/8'}\nadditionalTrustBundle: additional-ca.pem\n",
		"imageDigestSources:\n- {source: quay.io/a, mirrors: [m.test:5000, m.test/b]}\n- source: quay.io/a\n  mirrors: []\n",
		"imageContentSources: [{source: quay.io, mirrors: [m.test]}]\nadditionalTrustBundlePolicy: Always\n",
		"? [a]\n: b\n", "a: &a [*a]\n", "x: [1\n", "\ttopology: ha\n"} {
		f.Add([]byte(minimal + rest))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lab, ps := LoadLabFS(labFiles(string(data)), ".", c)
		if (lab == nil) != (ps.Err() != nil) {
			t.Fatalf("lab is %v, error is %v", lab, ps.Err())
		}
		for _, line := range strings.Split(ps.Error(), "\n") {
			if hasControl(line) {
				t.Errorf("a message holds a control character: %q", line)
			}
		}
		if lab == nil {
			return
		}
		eachText(reflect.ValueOf(lab), func(s string) {
			if hasControl(s) {
				t.Errorf("a control character was let in: %q", s)
			}
		})
		again, _ := LoadLabFS(labFiles(string(data)), ".", c)
		if !reflect.DeepEqual(lab, again) {
			t.Errorf("loaded again it differs:\n%+v\n%+v", lab, again)
		}
		mustStayTheSame(t, lab, c)
	})
}

// mustStayTheSame writes a lab out, with every default in it, and loads it.
func mustStayTheSame(t *testing.T, lab *Lab, c *Catalog) {
	t.Helper()
	text, err := yaml.Marshal(lab)
	if err != nil {
		t.Fatal(err)
	}
	// What is absent is written as empty; given as empty it is refused.
	for _, absent := range []string{"pullSecret: \"\"\n", "sshKey: \"\"\n", "additionalTrustBundle: \"\"\n"} {
		text = []byte(strings.Replace(string(text), absent, "", 1))
	}
	written, ps := LoadLabFS(labFiles(string(text)), ".", c)
	if ps.Err() != nil {
		t.Fatalf("written out it is refused: %v\n%s", ps.Err(), text)
	}
	for _, l := range []*Lab{lab, written} {
		if len(l.Machines.Masters) == 0 {
			l.Machines.Masters = nil
		}
		if len(l.Machines.Workers) == 0 {
			l.Machines.Workers = nil
		}
	}
	if !reflect.DeepEqual(lab, written) {
		t.Errorf("written out it differs:\n%+v\n%+v", lab, written)
	}
}
