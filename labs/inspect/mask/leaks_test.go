package mask

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// leak is a text with a secret that was once passed over.
type leak struct{ text, secret string }

func noLeaks(t *testing.T, leaks map[string]leak) {
	t.Helper()
	for name, l := range leaks {
		if !strings.Contains(l.text, l.secret) {
			t.Fatalf("%s: %q is not in the text", name, l.secret)
		}
		for around, text := range map[string]string{"alone": l.text, "in a text": "first line of it\n" + l.text + "\nlast line of it\n"} {
			got := string(New().Bytes([]byte(text)))
			if strings.Contains(got, l.secret) {
				t.Errorf("%s, %s: %q is left in %.300q", name, around, l.secret, got)
			}
			if around != "alone" && (!strings.HasPrefix(got, "first line of it\n") || !strings.HasSuffix(got, "\nlast line of it\n")) {
				t.Errorf("%s: the text around is gone: %.300q", name, got)
			}
			if around == "alone" && json.Valid([]byte(text)) && !strings.Contains(name, "number") && !json.Valid([]byte(got)) {
				t.Errorf("%s: no JSON any more: %s", name, got)
			}
		}
	}
}

func unchanged(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if got := string(New().Bytes([]byte(text))); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

const hidden = "Sup3rSecretPw1"

func TestValuesBesideASecretNameAreSecret(t *testing.T) {
	noLeaks(t, map[string]leak{
		"crictl":           {`{"envs":[{"key":"A","value":"b"},{"key":"VSPHERE_PASSWORD","value":"swordfish"}]}`, "swordfish"},
		"pod":              {"{\n \"name\": \"DB_PASSWORD\",\n \"value\": \"swordfish\"\n}", "swordfish"},
		"value first":      {`{"value":"swordfish","name":"DB_PASSWORD"}`, "swordfish"},
		"something within": {`{"name":"DB_PASSWORD","x":{"value":"public"},"value":"swordfish"}`, "swordfish"},
		"string of JSON":   {`{"m":"{\"name\":\"DB_PASSWORD\",\"value\":\"swordfish\"}"}`, "swordfish"},
		"YAML":             {"env:\n- name: DB_PASSWORD\n  value: swordfish\n- name: B\n", "swordfish"},
		"YAML, quoted":     {"env:\n  - name: \"DB_PASSWORD\"\n    value: 'swordfish of the sea'\n", "of the sea"},
		"YAML, value 1st":  {"env:\n- value: swordfish\n  name: DB_PASSWORD\n", "swordfish"},
		"YAML, block":      {"env:\n- name: DB_PASSWORD\n  value: |\n    swordfish\n    shark\n", "shark"},
		"kubelet":          {`&Container{Env:[]EnvVar{EnvVar{Name:DB_PASSWORD,Value:swordfish,ValueFrom:nil,},},}`, "swordfish"},
	})
	unchanged(t, `{"name":"DB_PASSWORD","valueFrom":{"secretKeyRef":{"name":"db","key":"password"}}}`, `{"name":"PATH","value":"/usr/bin"}`,
		"- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      key: password\n      name: db\n- name: B\n  value: public\n",
		`[{"name":"token"},{"name":"b","value":"public"}]`, `{"name":"DB_PASSWORD"},{"value":"public"}`)
}

func TestSecretsByTheNameSecret(t *testing.T) {
	noLeaks(t, map[string]leak{
		"registry":        {`"REGISTRY_HTTP_SECRET=0123456789abcdef0123456789abcdef"`, "0123456789abcdef"},
		"proxy":           {"OAUTH2_COOKIE_SECRET=0123456789abcdef\n", "0123456789abcdef"},
		"aescbc in YAML":  {"- aescbc:\n    keys:\n    - name: key1\n      secret: c2VjcmV0IGlzIHNlY3VyZTEyMzQ1Njc4OTA=\n", "c2VjcmV0IGlz"},
		"aescbc in JSON":  {`{"aescbc":{"keys":[{"name":"1","secret":"c2VjcmV0IGlzIHNlY3VyZTEyMzQ1Njc4OTA="}]}}`, "c2VjcmV0IGlz"},
		"secretKey":       {"secretKey: wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY\n", "wJalrXUt"},
		"pass":            {"pass: " + hidden + "\n", hidden},
		"pass, in a line": {"user=bob pass=" + hidden + "\n", hidden},
	})
	unchanged(t, "secret: bootstrap-kubeconfig\n", `{"secret":"router-certs-default-5d8f9c7b6d"}`, `secret="openshift-etcd/etcd-client-2"`,
		"--- PASS: TestFoo12 (0.1s)", "failed to list *v1.Secret: Unauthorized401", `"imagePullSecret":"pull-secret2"`, "secret: default-dockercfg-x7k2p\n", "bypass: true\n")
}

func TestBase64BehindAnythingIsSeen(t *testing.T) {
	auths := b64(`{"auths":{"quay.io":{"auth":"` + b64("bob:"+hidden) + `","email":"a@b.c"}}}`)
	kube := b64("apiVersion: v1\nkind: Config\nusers:\n- name: admin\n  user:\n    token: S3cretTok3nabcdef\n")
	for _, before := range []string{"PULL_SECRET=", "A=", "AB=", "ABC=", "ABCD=", "x/", "/etc/kubernetes/", "--kubeconfig-data=", "-d", "a-b_", "x="} {
		noLeaks(t, map[string]leak{
			before + " login":      {"Nov 22 h a[1]: run " + before + auths, auths[12:]},
			before + " kubeconfig": {"Nov 22 h a[1]: run " + before + kube, kube[12:]},
		})
	}
}

func TestKeysOfWhichAPartIsMissing(t *testing.T) {
	key := strings.Split(strings.TrimSpace(keys(t)["rsa"]), "\n")
	journal := func(lines []string) string {
		return "Nov 22 01:02:03 host bootkube.sh[12]: " + strings.Join(lines, "\nNov 22 01:02:03 host bootkube.sh[12]: ")
	}
	foreign := append(append(append([]string{}, key[:4]...), "Nov 22 01:02:03 host kubelet[2]: hello world here"), key[4:9]...)
	leaks := map[string]leak{
		"no beginning, journal": {journal(key[3:]), key[5]},
		"foreign line, no end":  {strings.ReplaceAll(journal(foreign), "bootkube.sh[12]: Nov", "x[1]: Nov"), key[8]},
	}
	for name, gap := range map[string]string{"list": `","`, "list in lines": "\",\n \"", "HTML": "<br>", "syslog": "#012", "tab": "\t", "JSON": `\n`} {
		leaks[name+", no end"] = leak{`x["` + strings.Join(key[:9], gap) + `"]`, key[7]}
		leaks[name+", no beginning"] = leak{`x["` + strings.Join(key[3:], gap) + `"]`, key[5]}
		leaks[name] = leak{`x["` + strings.Join(key, gap) + `"]`, key[5]}
	}
	noLeaks(t, leaks)
}

func TestSecretsOfKubernetesInAnyYAML(t *testing.T) {
	noLeaks(t, map[string]leak{
		"in a string":          {`{"data":{"a.yaml":"apiVersion: v1\nkind: Secret\ndata:\n  x: c3dvcmQ=\n"},"kind":"ConfigMap"}`, "c3dvcmQ="},
		"in a string, at once": {`{"a.yaml":"kind: Secret\nstringData:\n  x: \"swordfish\"\n","b":"c"}`, "swordfish"},
		"in a string twice":    {`{"m":"{\"a\":\"kind: Secret\\nstringData:\\n  x: swordfish\\n\"}"}`, "swordfish"},
		"comment":              {"kind: Secret # c\nstringData:\n  foo: swordfish\n", "swordfish"},
		"flow":                 {"{kind: Secret, stringData: {foo: swordfish}}\n", "swordfish"},
		"flow, data first":     {"{stringData: {foo: swordfish}, kind: Secret}\n", "swordfish"},
		"tag":                  {"kind: !!str Secret\nstringData:\n  foo: swordfish\n", "swordfish"},
		"anchor":               {"kind: Secret\nstringData: &x\n  foo: swordfish\n", "swordfish"},
		"journal":              {"Nov 22 00:00:01 h u[1]: kind: Secret\nNov 22 00:00:02 h u[1]: stringData:\nNov 22 00:00:02 h k[2]: other line\nNov 22 00:00:03 h u[1]:   foo: swordfish\nNov 22 00:00:03 h u[1]: type: Opaque", "swordfish"},
		"journal, data first":  {"Nov 22 00:00:01 h u[1]: stringData:\nNov 22 00:00:02 h u[1]:   foo: swordfish\nNov 22 00:00:03 h u[1]: kind: Secret", "swordfish"},
		"brace in a string":    {"kind: Secret\nstringData: {a: \"}\", b: swordfish}\n", "swordfish"},
		"list of secrets":      {`{"kind":"SecretList","items":[{"metadata":{"name":"x"},"data":{"foo":"c3dvcmQ="},"type":"Opaque"}]}`, "c3dvcmQ="},
		"list of secrets, 2":   {`{"items":[{"metadata":{"name":"x"},"data":{"foo":"c3dvcmQ="}},{"data":{"b":"YWJj"}}],"kind":"SecretList"}`, "YWJj"},
	})
	unchanged(t, `{"a.yaml":"kind: Secret\nmetadata:\n  name: x\n","data":"y"}`, "{kind: Secret, metadata: {name: x}}\n",
		"Nov 22 h u[1]: kind: Secret\nNov 22 h u[1]: it was not found\nNov 22 h k[2]: data: is kept\n",
		`{"kind":"SecretList","items":[]}{"kind":"ConfigMapList","items":[{"data":{"a":"public"}}]}`)
}

func TestPasswordsInAnyPlace(t *testing.T) {
	noLeaks(t, map[string]leak{
		"comment":             {"password: swordfish # x\n", "swordfish"},
		"words":               {"password: correct horse battery\n", "horse"},
		"blank behind":        {"password: hunter \n", "hunter"},
		"quote within":        {"password: ab\"cdswordfish\n", "swordfish"},
		"http":                {"password=httpSecret123\n", "httpSecret123"},
		"brace":               {"PASSWORD={Secret123\n", "Secret123"},
		"arguments":           {`{"CreateCommand":["podman","run","--password","swordfish","x"]}`, "swordfish"},
		"arguments in lines":  {"[\n \"--password\",\n \"swordfish\"\n]", "swordfish"},
		"argument":            {"sudo[1]: COMMAND=/usr/bin/podman login --username bob --password swordfish quay.io", "swordfish"},
		"creds":               {"podman pull --creds=bob:swordfish x", "swordfish"},
		"creds behind":        {"skopeo copy --src-creds bob:swordfish x", "swordfish"},
		"creds as arguments":  {`["podman","pull","--creds","bob:swordfish","x"]`, "swordfish"},
		"curl":                {"curl -u bob:swordfish https://x", "swordfish"},
		"curl --user":         {`["curl","--user","bob:swordfish"]`, "swordfish"},
		"sshpass":             {"sshpass -p swordfish ssh x", "swordfish"},
		"headers":             {`{"Authorization": ["Basic dXNlcjpwYXNz"]}`, "dXNlcjpwYXNz"},
		"list":                {`{"password":["swordfish", "shark"]}`, "shark"},
		"headers of Go":       {"map[Authorization:[Bearer abcdefghijk] Accept:[x]]", "abcdefghijk"},
		"second cookie":       {"Cookie: a=1; session=swordfish\n", "swordfish"},
		"second cookie, JSON": {`{"m":"Cookie: a=1; session=swordfish"}`, "swordfish"},
		"proxy":               {`Environment="HTTP_PROXY=bob:swordfish@proxy:3128"`, "swordfish"},
		"slashes of JSON":     {`{"p":"http:\/\/bob:swordfish@proxy:3128"}`, "swordfish"},
		"slash within":        {"HTTP_PROXY=http://bob:Sup3r/swordfish@proxy:3128", "swordfish"},
		"apostrophe within":   {"HTTP_PROXY=http://bob:Sup3r'swordfish@proxy:3128", "swordfish"},
		"ampersand within":    {`{"p":"http://bob:a\u0026swordfish@proxy:3128"}`, "swordfish"},
	})
	unchanged(t, "the flag --password is required", "unknown option --token\nnext", "podman run --user 1000:1000 x", "docker run -u root:root x",
		"2026-01-02 03:04:05 configure passwd:amd64 1:4.17.4-2 <none>", "Upgrade: libsystemd0:amd64 (252.38, 252.39), passwd:amd64 (1:4.13, 1:4.17)", "passwd: authentication token manipulation error", "http: named cookie: not present", "dial https://host:6443/path?m=me@example.com x",
		"docker://registry.example.com:5000/okd@sha256:0123", "https://[fd00::1]:6443/x@y", "NO_PROXY=.cluster.local,10.0.0.0/8", "token: x509: certificate has expired",
		`{"authorization-mode":["Scope","Node"],"token":[]}`, "podman run --secret bootstrap-kubeconfig x")
}

func TestAQuoteThatIsNotClosedEndsWithItsLine(t *testing.T) {
	for _, begin := range []string{"token: 'Error getting token\n", "auth=\"x\n", "E1122 can't use --token='\n", "I1122 authorization: \"\n", `{"m":"--password='","z":"`, `{"m":"unable to parse \"token: \\\"","z":"`} {
		text := begin + strings.Repeat("important evidence\n", 100)
		if got := string(New().Bytes([]byte(text))); !strings.HasSuffix(got, strings.Repeat("important evidence\n", 100)) {
			t.Errorf("%q: evidence is gone: %.200q", begin, got)
		}
	}
	noLeaks(t, map[string]leak{
		"lines in quotes":   {"password: \"sword\n  fish\"\nnext: 1\n", "fish"},
		"JSON in quotes":    {`run --password='{"a":"b"}' x`, `"b"`},
		"quote of JSON":     {`{"args":["--token=abc\"def","x"],"msg":"password: 'it"}`, "abc"},
		"quote in an shell": {`export PASSWORD='a"b,swordfish'`, "swordfish"},
	})
}

func TestKeysThatAreOnlyNamedHideNothing(t *testing.T) {
	text := "Nov 22 h a[1]: found no '-----BEGIN RSA PRIVATE KEY-----' in x\n" + strings.Repeat("Nov 22 h a[1]: important evidence line\n", 200) + "Nov 22 h a[1]: nor '-----END RSA PRIVATE KEY-----'\n"
	if got := string(New().Bytes([]byte(text))); strings.Count(got, "important evidence") != 200 {
		t.Errorf("evidence is gone: %.300q", got)
	}
}

// Nothing takes time that grows with the square of the text: then these would not
// end before the time limit of all tests.
func TestHostileTextsEnd(t *testing.T) {
	var words strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&words, "GET /oauth?access_token=abcdef%d 50%%a\n", i)
	}
	bomb := b64(gz(t, strings.Repeat("hello world a=b\n", 1<<20-1)))
	for name, text := range map[string]string{
		"percent": words.String(), "bombs": strings.Repeat(bomb+"\n\n", 20), "keys begin": strings.Repeat("-----BEGIN PRIVATE KEY-----", 5000),
		"keys begin in lines": strings.Repeat("x -----BEGIN PRIVATE KEY----- y\n", 5000), "keys end": strings.Repeat("-----END PRIVATE KEY-----\n", 5000),
		"keys end behind lines": strings.Repeat(strings.Repeat("abcdEFGH0123", 6)+"\n-----END PRIVATE KEY-----\n", 2500),
		"names":                 strings.Repeat(`{"name":"password",`, 10000), "values": strings.Repeat(`"value":"x",`, 15000), "names of YAML": strings.Repeat("- name: password\n", 10000),
		"secrets in a string": `"` + strings.Repeat(`kind: Secret\n`, 7500), "secrets in strings": strings.Repeat(`"kind: Secret\n",`, 7500), "secrets in a journal": strings.Repeat("Nov 22 h a[1]: kind: Secret\n", 7500),
		"flow": strings.Repeat("{kind: Secret, data: {", 5000), "lists": "SecretList" + strings.Repeat(`"items":[`, 7500), "options": strings.Repeat("--password ", 15000), "curl": strings.Repeat("curl -u a:b ", 15000),
		"quotes": strings.Repeat("password='", 15000), "URLs": strings.Repeat("://a:", 25000), "slashes": strings.Repeat("/abcdefghijklmnopqrstuv", 25000),
		"values without an end": strings.Repeat("password=", 15000), "tags": strings.Repeat("<password", 15000), "literals": strings.Repeat("--from-literal=", 10000),
		"escapes": strings.Repeat(`\\\\\\\\n`, 7500), "coloured escapes": strings.Repeat("\x1b[31m\\\\\\\\n=\n", 5000), "fed": strings.Repeat("echo a | chpasswd ", 7500), "numbers": strings.Repeat("1 2 ", 15000), "kty": strings.Repeat(`{"kty":`, 10000),
		"names in quotes": strings.Repeat(`"name":"password","`, 7500), "blocks": strings.Repeat("password: |\n  a\n", 7500), "one block": strings.Repeat("  password: |\n", 10000), "lines of runs": strings.Repeat("abcdefghijklmnopqrstuv\n", 10000),
		"lists of values": strings.Repeat(`"password":[`, 15000), "quotes of YAML": strings.Repeat("password: \"\n  ", 10000),
	} {
		t.Run(name, func(t *testing.T) { New().Bytes([]byte(text)) })
	}
}
