package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"bootlab/labs"
	"bootlab/labs/check"
)

// oneCA makes ca.crt, and leaf.crt and leaf.key of it with some extensions.
func oneCA(days, extensions string) string {
	return `openssl req -x509 -newkey ed25519 -nodes -keyout ca.key -out ca.crt -subj /CN=ca -days 10 2> /dev/null
openssl req -newkey ed25519 -nodes -keyout leaf.key -subj '/O=a, b/O=c+d/CN=x y' 2> /dev/null |
  openssl x509 -req -CA ca.crt -CAkey ca.key -days ` + days + ` -extfile <(printf '` + extensions + `\n') -out leaf.crt 2> /dev/null
`
}

const (
	chainOfTwo = `{chain: {ca: ca.crt, paths: [leaf.crt]}}`
	plainLeaf  = `basicConstraints=CA:FALSE`
)

// oddFiles are declarations on odd files: what prepares those, the declaration, and
// how its script would call it.
var oddFiles = map[string]struct{ prepare, declaration, call string }{
	"files and directories":             {"echo x > a; mkdir b; echo > c", `{present: {paths: [a, b, c]}}`, "present a b c"},
	"an empty file":                     {": > a", `{present: {paths: [a]}}`, "present a"},
	"a link to nothing":                 {"ln -s nowhere a", `{present: {paths: [a]}}`, "present a"},
	"a link to nothing, absent":         {"ln -s nowhere a", `{absent: {paths: [a]}}`, "absent a"},
	"absent, and there":                 {"mkdir d; : > d/a", `{absent: {paths: [b, d/a]}}`, "absent b d/a"},
	"absent behind a file":              {"echo > d", `{absent: {paths: [d/a]}}`, "absent d/a"},
	"a pattern that matches nothing":    {"", `{present: {paths: ["*.key"]}}`, "present *.key"},
	"absent, by a pattern":              {"", `{absent: {paths: ["*.key"]}}`, "absent *.key"},
	"a hidden file":                     {"echo x > .a.key", `{present: {paths: ["*.key"]}}`, "present *.key"},
	"enough":                            {"touch a b c", `{count: {path: "*", atLeast: 3}}`, "count 3 *"},
	"too few, with a hidden one":        {"touch a b .c", `{count: {path: "*", atLeast: 3}}`, "count 3 *"},
	"none":                              {"", `{count: {path: "*", atLeast: 1}}`, "count 1 *"},
	"modes":                             {"touch a b; chmod 0600 a b", `{mode: {paths: [a, b], mode: "0600"}}`, "mode 0600 a b"},
	"a mode with the sticky bit":        {"mkdir a; chmod 1700 a", `{mode: {paths: [a], mode: "0700"}}`, "mode 0700 a"},
	"a mode of nothing":                 {"", `{mode: {paths: [a], mode: "0600"}}`, "mode 0600 a"},
	"a directory without files":         {"mkdir -p a/b c", `{same: {from: a/b, to: c/}}`, "same a/b c/"},
	"a copy in another place":           {"mkdir c; echo x > a; echo x > c/b", `{same: {from: a, to: c/b}}`, "same a c/b"},
	"a copy of nothing":                 {"mkdir c; : > a; : > c/a", `{same: {from: a, to: c/}}`, "same a c/"},
	"a copy that became a directory":    {"mkdir -p c/a; echo x > a", `{same: {from: a, to: c/a}}`, "same a c/a"},
	"links beside copies":               {"mkdir -p a/b c/b; echo x | tee a/b/x > c/b/x; ln -s x a/b/y", `{same: {from: a/b, to: c/}}`, "same a/b c/"},
	"a line":                            {"printf 'x\\n  - cidr: 10.0.0.0/16' > a", `{line: {path: a, pattern: '^ +- cidr: 10.0.0.0/16$'}}`, "line '^ +- cidr: 10.0.0.0/16$' a"},
	"a line that goes on":               {"echo '  - cidr: 10.0.0.0/160' > a", `{line: {path: a, pattern: '^ +- cidr: 10.0.0.0/16$'}}`, "line '^ +- cidr: 10.0.0.0/16$' a"},
	"a line ended by Windows":           {"printf 'a\\r\\n' > a", `{line: {path: a, pattern: '^a$'}}`, "line '^a$' a"},
	"a line in one of two files":        {"echo x > a.x; echo y > b.x", `{line: {path: "*.x", pattern: x}}`, "line x *.x"},
	"an empty line":                     {"printf '\\n' > a", `{line: {path: a, pattern: '^$'}}`, "line '^$' a"},
	"a repetition":                      {"echo tls.crt: QUFB > a", `{line: {path: a, pattern: '^ *tls\.crt: [A-Za-z0-9+/=]{5}'}}`, `line '^ *tls\.crt: [A-Za-z0-9+/=]{5}' a`},
	"a value":                           {"printf 'a:\\n  b:\\n  - c: \"x\" # why\\n' > f", `{value: {path: f, at: ".a.b[0].c", equals: x}}`, "value .a.b[0].c x f"},
	"a value of another item":           {"printf 'a:\\n- c: x\\n- c: y\\n' > f", `{value: {path: f, at: ".a[1].c", equals: x}}`, "value .a[1].c x f"},
	"a value in the second document":    {"printf 'a: 1\\n---\\nb: 2\\n' > f", `{value: {path: f, at: .b, equals: "2"}}`, "value .b 2 f"},
	"a value that is empty first":       {"printf 'b:\\n---\\nb: 2\\n' > f", `{value: {path: f, at: .b, equals: "2"}}`, "value .b 2 f"},
	"a value that is a map":             {"printf 'b:\\n  c: 2\\n' > f", `{value: {path: f, at: .b, equals: "2"}}`, "value .b 2 f"},
	"a key in a text":                   {"printf 'a: |\\n  b: 2\\nb: 3\\n' > f", `{value: {path: f, at: .b, equals: "2"}}`, "value .b 2 f"},
	"a quoted key":                      {"printf '\"a\":\\n  \"b\": 2\\n' > f", `{value: {path: f, at: .a.b, equals: "2"}}`, "value .a.b 2 f"},
	"a value of a list of lists":        {"printf -- '- - a: 1\\n  - a: 2\\n' > f", `{value: {path: f, at: "[0][1].a", equals: "2"}}`, "value '[0][1].a' 2 f"},
	"JSON":                              {`echo '{"a":[{"b":"x"}]}' > f`, `{value: {path: f, at: ".a[0].b", equals: x}}`, "value .a[0].b x f"},
	"JSON behind empty lines":           {`printf '\n \t\n{"a":12}' > f`, `{value: {path: f, at: .a, equals: "12"}}`, "value .a 12 f"},
	"false in JSON":                     {`echo '{"a":false}' > f`, `{value: {path: f, at: .a, equals: "false"}}`, "value .a false f"},
	"true in JSON":                      {`echo '{"a":true}' > f`, `{value: {path: f, at: .a, equals: "true"}}`, "value .a true f"},
	"torn JSON":                         {`echo '{"a":"x"' > f`, `{value: {path: f, at: .a, equals: x}}`, "value .a x f"},
	"a list where a map should be":      {`echo '{"a":["x"]}' > f`, `{value: {path: f, at: .a.b, equals: x}}`, "value .a.b x f"},
	"an empty image in quotes":          {"printf 'image: a\\n- image: \"\"  \\n' > f", `{images: {paths: [f]}}`, "images f"},
	"an image in JSON":                  {`echo '{"x":{"image":"a"},"image":3}' > f`, `{images: {paths: [f]}}`, "images f"},
	"an empty image in JSON":            {`echo '{"x":{"image":""}}' > f`, `{images: {paths: [f]}}`, "images f"},
	"no image":                          {"echo imagePullPolicy: Always > f", `{images: {paths: [f]}}`, "images f"},
	"an image behind two blanks":        {"echo '-  image: a' > f", `{images: {paths: [f]}}`, "images f"},
	"a list that is missing":            {"echo image: x > f", `{payload: {paths: [f]}}`, "payload release-info/images f"},
	"the digest of the list":            {release123 + "echo 'image: quay.io/a/release@sha256:1' > f", `{payload: {paths: [f]}}`, "payload release-info/images f"},
	"an image with blanks behind":       {release123 + "echo '  image: quay.io/a/pod@sha256:3   # x' > f", `{payload: {paths: [f]}}`, "payload release-info/images f"},
	"only an empty image":               {release123 + "echo 'image:' > f", `{payload: {paths: [f]}}`, "payload release-info/images f"},
	"a chain":                           {oneCA("1", plainLeaf), chainOfTwo, "chain ca.crt leaf.crt"},
	"a chain of yesterday":              {oneCA("0", plainLeaf) + "sleep 1", chainOfTwo, "chain ca.crt leaf.crt"},
	"its own chain":                     {oneCA("1", plainLeaf), `{chain: {ca: ca.crt, paths: [ca.crt]}}`, "chain ca.crt ca.crt"},
	"a CA that is none":                 {oneCA("1", plainLeaf) + "cp leaf.crt ca.crt", chainOfTwo, "chain ca.crt leaf.crt"},
	"a CA file with more in it":         {oneCA("1", plainLeaf) + "{ echo text; cat ca.crt leaf.key; } > x; mv x ca.crt", chainOfTwo, "chain ca.crt leaf.crt"},
	"a torn CA file":                    {oneCA("1", plainLeaf) + "{ cat ca.crt; head --lines=3 ca.crt; } > x; mv x ca.crt", chainOfTwo, "chain ca.crt leaf.crt"},
	"a CA file of garbage":              {oneCA("1", plainLeaf) + "echo x > ca.crt", chainOfTwo, "chain ca.crt leaf.crt"},
	"another CA of the same name":       {oneCA("1", plainLeaf) + "openssl req -x509 -newkey ed25519 -nodes -keyout k -out ca.crt -subj /CN=ca 2> /dev/null", chainOfTwo, "chain ca.crt leaf.crt"},
	"a leaf with a chain behind":        {oneCA("1", plainLeaf) + "cat ca.crt >> leaf.crt", chainOfTwo, "chain ca.crt leaf.crt"},
	"a middle without its root":         {oneCA("1", "basicConstraints=critical,CA:TRUE") + "openssl req -newkey ed25519 -nodes -keyout k -subj /CN=end 2> /dev/null | openssl x509 -req -CA leaf.crt -CAkey leaf.key -days 1 -out end.crt 2> /dev/null", `{chain: {ca: leaf.crt, paths: [end.crt]}}`, "chain leaf.crt end.crt"},
	"a middle with its root":            {oneCA("1", "basicConstraints=critical,CA:TRUE") + "openssl req -newkey ed25519 -nodes -keyout k -subj /CN=end 2> /dev/null | openssl x509 -req -CA leaf.crt -CAkey leaf.key -days 1 -out end.crt 2> /dev/null; cat ca.crt >> leaf.crt", `{chain: {ca: leaf.crt, paths: [end.crt]}}`, "chain leaf.crt end.crt"},
	"a root that is no CA":              {"openssl req -x509 -newkey ed25519 -nodes -keyout ca.key -out ca.crt -subj /CN=ca -addext basicConstraints=critical,CA:FALSE 2> /dev/null; openssl req -newkey ed25519 -nodes -keyout k -subj /CN=end 2> /dev/null | openssl x509 -req -CA ca.crt -CAkey ca.key -days 1 -out leaf.crt 2> /dev/null", chainOfTwo, "chain ca.crt leaf.crt"},
	"a pair of a public key":            {"openssl genpkey -algorithm ed25519 -out a.key; openssl pkey -in a.key -pubout > a.pub", `{keyPair: {paths: [a.pub]}}`, "key_pair a.pub"},
	"an old RSA pair":                   {"openssl genrsa -traditional 2048 > a.key 2> /dev/null; openssl rsa -in a.key -RSAPublicKey_out > a.pub 2> /dev/null", `{keyPair: {paths: [a.pub]}}`, "key_pair a.pub"},
	"a wrong label on a public key":     {"openssl genrsa 2048 > a.key 2> /dev/null; openssl pkey -in a.key -pubout | sed 's/PUBLIC/RSA PUBLIC/' > a.pub", `{keyPair: {paths: [a.pub]}}`, "key_pair a.pub"},
	"an old EC pair":                    {"openssl ecparam -genkey -name prime256v1 > a.key 2> /dev/null; openssl pkey -in a.key -pubout > a.pub", `{keyPair: {paths: [a.pub]}}`, "key_pair a.pub"},
	"half a pair":                       {oneCA("1", plainLeaf) + "rm leaf.key", `{keyPair: {paths: [leaf.crt]}}`, "key_pair leaf.crt"},
	"a subject with what is escaped":    {oneCA("1", plainLeaf), `{subject: {path: leaf.crt, equals: 'CN=x y,O=c\+d,O=a\, b'}}`, `subject 'CN=x y,O=c\+d,O=a\, b' leaf.crt`},
	"the same not escaped":              {oneCA("1", plainLeaf), `{subject: {path: leaf.crt, equals: 'CN=x y,O=c+d,O=a, b'}}`, `subject 'CN=x y,O=c+d,O=a, b' leaf.crt`},
	"names in another order":            {oneCA("1", "subjectAltName=DNS:b,IP:10.0.0.1,DNS:a,IP:::1"), `{names: {path: leaf.crt, names: ["IP:::1", "DNS:a", "DNS:b", "IP:10.0.0.1"]}}`, "names 'IP:::1 DNS:a DNS:b IP:10.0.0.1' leaf.crt"},
	"a name too many":                   {oneCA("1", "subjectAltName=DNS:b,email:a@b"), `{names: {path: leaf.crt, names: ["DNS:b"]}}`, "names DNS:b leaf.crt"},
	"no names":                          {oneCA("1", plainLeaf), `{names: {path: leaf.crt, names: ["DNS:b"]}}`, "names DNS:b leaf.crt"},
	"usages in another order":           {oneCA("1", "extendedKeyUsage=clientAuth,serverAuth"), `{usage: {paths: [leaf.crt], usage: [serverAuth, clientAuth]}}`, "usage_is 'serverAuth clientAuth' leaf.crt"},
	"a usage too many":                  {oneCA("1", "extendedKeyUsage=clientAuth,codeSigning"), `{usage: {paths: [leaf.crt], usage: [clientAuth]}}`, "usage_is clientAuth leaf.crt"},
	"no usage":                          {oneCA("1", plainLeaf), `{usage: {paths: [leaf.crt], usage: [clientAuth]}}`, "usage_is clientAuth leaf.crt"},
	"fresh enough":                      {oneCA("1", plainLeaf), `{fresh: {paths: [leaf.crt], minutes: 60}}`, "fresh 60 leaf.crt"},
	"fresh, and not for long":           {oneCA("1", plainLeaf), `{fresh: {paths: [leaf.crt], minutes: 1500}}`, "fresh 1500 leaf.crt"},
	"fresh, and no certificate":         {"echo x > leaf.crt", `{fresh: {paths: [leaf.crt], minutes: 60}}`, "fresh 60 leaf.crt"},
	"a bundle in another order":         {key1 + "openssl req -x509 -key a.key -subj /CN=b -out b.crt; cat b.crt a.crt > all", `{bundle: {path: all, paths: [a.crt, b.crt]}}`, "bundle all a.crt b.crt"},
	"a bundle with one twice":           {key1 + "cat a.crt a.crt > all", `{bundle: {path: all, paths: [a.crt]}}`, "bundle all a.crt"},
	"a bundle with comments":            {key1 + "{ echo '# CA'; cat a.crt; } > all", `{bundle: {path: all, paths: [a.crt]}}`, "bundle all a.crt"},
	"one object in two forms":           {twoDNS("  ", "a") + "sed -i 's/baseDomain: a/baseDomain: \"a\"/' b.yaml", `{agree: {paths: ["*.yaml"]}}`, "agree *.yaml"},
	"comments in one of two":            {twoDNS("  ", "a") + "sed -i '1i# a comment\\n\\n---' b.yaml", `{agree: {paths: ["*.yaml"]}}`, "agree *.yaml"},
	"an object twice in a file":         {twoDNS("  ", "b") + "{ cat a.yaml; echo ---; cat b.yaml; } > all; rm *.yaml", `{agree: {paths: ["all"]}}`, "agree all"},
	"JSON of another order":             {`echo '{"kind":"A","apiVersion":"v1","metadata":{"name":"x"},"a":1}' > a; echo '{"apiVersion":"v1","kind":"A","metadata":{"name":"x"},"a":1}' > b`, `{agree: {paths: ["*"]}}`, "agree *"},
	"JSON with other blanks":            {`echo '{"kind":"A","apiVersion":"v1","metadata":{"name":"x"},"a":"\u003c"}' > a; echo '{ "kind": "A", "apiVersion": "v1", "metadata": {"name":"x"}, "a": "<" }' > b`, `{agree: {paths: ["*"]}}`, "agree *"},
	"JSON and YAML of one object":       {twoDNS("  ", "a") + `rm b.yaml; echo '{"kind":"DNS","apiVersion":"config.openshift.io/v1","metadata":{"name":"cluster"},"spec":{"baseDomain":"a"}}' > b`, `{agree: {paths: ["*"]}}`, "agree *"},
	"objects of two namespaces":         {`for n in a b; do printf 'kind: A\napiVersion: v1\nmetadata:\n  name: x\n  namespace: %s\n' "$n" > "$n"; done`, `{agree: {paths: ["*"]}}`, "agree *"},
	"an empty file among manifests":     {": > a", `{agree: {paths: ["*"]}}`, "agree *"},
	"objects without a version in JSON": {`for n in 1 2; do echo "{\"kind\":\"A\",\"metadata\":{\"name\":\"x\"},\"a\":$n}" > "$n"; done`, `{agree: {paths: ["*"]}}`, "agree *"},
}

// TestDeclarationsOnOddFilesMeanInGoWhatTheyMeanInBash does for odd files what
// the fixtures do not.
func TestDeclarationsOnOddFilesMeanInGoWhatTheyMeanInBash(t *testing.T) {
	t.Parallel()
	lab := filepath.Join(t.TempDir(), "mylab")
	for _, args := range [][]string{{"init", lab}, {"generate", lab}} {
		if _, err := Bootlab(args...); err != nil {
			t.Fatal(err)
		}
	}
	libraries := filepath.Join(lab, "out", "scripts")
	good, bad := 0, 0
	for name, c := range oddFiles {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			prepare := exec.Command("bash", "-euo", "pipefail", "-c", c.prepare)
			prepare.Dir = dir
			if out, err := prepare.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			// As check of check-lib.sh calls it.
			cmd := exec.Command("bash", "-c", "set -Eeuo pipefail; export LC_ALL=C; source "+libraries+"/check-lib.sh; source "+libraries+
				"/certificate-lib.sh; if found=\"$("+c.call+" 2>&1)\"; then exit 0; fi; echo \"${found}\"; exit 3")
			cmd.Dir = dir
			said, _ := cmd.CombinedOutput()
			want := check.Passed
			switch cmd.ProcessState.ExitCode() {
			case 0:
				good++
			case 3:
				want = check.Failed
				bad++
			default:
				t.Fatalf("bash: %s", said)
			}
			got := byDeclaration(t, dir, c.declaration)
			if got.Outcome != want {
				t.Errorf("%s in Go, %s in bash\nGo: %s%s\nbash: %s", got.Outcome, want, got.Found, got.Problem, said)
			}
		})
	}
	t.Logf("%d are good, %d are not", good, bad)
}

func byDeclaration(t *testing.T, dir, declaration string) check.Result {
	t.Helper()
	c := labs.Check{ID: "one"}
	if err := yaml.Unmarshal([]byte(declaration), &c); err != nil {
		t.Fatal(err)
	}
	s := &labs.Stage{ID: "some", Checks: []labs.Check{c}}
	d := &check.Declared{Plan: planOf(t, release, usualLab), Files: &check.Files{Assets: os.DirFS(dir), Now: time.Now()}}
	return d.Run([]check.Choice{{Stage: s, Named: true}}).Stages[0].Checks[0]
}
