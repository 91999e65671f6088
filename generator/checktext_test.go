package generator

import (
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"bootlab/labs"
)

// declared is a declaration of a check, and what stands in the directory in which
// its command runs.
type declared struct {
	prepare string // shell
	check   labs.Check
	found   string // what the command must say when it fails
	passes  bool
}

const (
	release123 = `mkdir release-info; echo quay.io/a/release@sha256:1 > release-info/digest
printf 'etcd quay.io/a/etcd@sha256:2\npod quay.io/a/pod@sha256:3\n' > release-info/images
`
	pair = "openssl genpkey -algorithm ed25519 -out a.key; openssl req -x509 -new -key a.key -subj /CN=a -out a.crt 2> /dev/null\n"
	twin = "openssl req -x509 -new -key a.key -subj /CN=b -out b.crt 2> /dev/null\n"
)

func payload(list string) labs.Check {
	return labs.Check{Payload: &labs.PayloadCheck{List: list, Paths: []string{"pod"}}}
}

func pairOf(path string) labs.Check {
	return labs.Check{KeyPair: &labs.PresentCheck{Paths: []string{path}}}
}

func copied(from, to string) labs.Check {
	return labs.Check{Same: &labs.SameCheck{From: from, To: to}}
}

var (
	bundleOfTwo = labs.Check{Bundle: &labs.BundleCheck{Path: "all.crt", Paths: []string{"a.crt", "b.crt"}}}
	filled      = labs.Check{Present: &labs.PresentCheck{Paths: []string{"a"}}}
	gone        = labs.Check{Absent: &labs.PresentCheck{Paths: []string{"a"}}}
	images      = labs.Check{Images: &labs.PresentCheck{Paths: []string{"pod"}}}
	objects     = labs.Check{Objects: &labs.PresentCheck{Paths: []string{"*.yaml"}}}
	two         = labs.Check{Count: &labs.CountCheck{Path: "dir/*", AtLeast: 2}}
	private     = labs.Check{Mode: &labs.ModeCheck{Paths: []string{"*.key"}, Mode: "0600"}}
	fresh       = labs.Check{Fresh: &labs.FreshCheck{Paths: []string{"a.crt"}, Minutes: 60}}
	longer      = labs.Check{Fresh: &labs.FreshCheck{Paths: []string{"a.crt"}, Minutes: 31 * 24 * 60}}
	subject     = labs.Check{Subject: &labs.SubjectCheck{Path: "a.crt", Equals: "CN=a"}}
)

var declarations = map[string]declared{
	"an image of the release":           {prepare: release123 + "echo 'image: quay.io/a/etcd@sha256:2' > pod", check: payload(""), passes: true},
	"the release image":                 {prepare: release123 + "echo '- image: \"quay.io/a/release@sha256:1\"' > pod", check: payload(""), passes: true},
	"an image of elsewhere":             {prepare: release123 + "echo 'image: quay.io/b/etcd@sha256:2' > pod", check: payload(""), found: "quay.io/b/etcd@sha256:2"},
	"a part of an image's name":         {prepare: release123 + "echo 'image: quay.io/a/etcd' > pod", check: payload(""), found: "quay.io/a/etcd"},
	"no list of images":                 {prepare: "echo 'image: quay.io/a/etcd@sha256:2' > pod", check: payload(""), found: "release-info/images"},
	"no file that names images":         {prepare: release123, check: payload(""), found: "pod"},
	"a list of another form":            {prepare: release123 + `echo '{"spec":{"tags":[{"from":{"name":"quay.io/c/mco"}}]}}' > list; echo 'image: quay.io/c/mco' > pod`, check: payload("list"), passes: true},
	"an image that this list lacks":     {prepare: release123 + `echo '{"spec":{"tags":[{"from":{"name":"quay.io/c/mco"}}]}}' > list; echo 'image: quay.io/a/etcd@sha256:2' > pod`, check: payload("list"), found: "quay.io/a/etcd@sha256:2"},
	"an image that is named":            {prepare: "echo '  - image: quay.io/a/etcd' > pod", check: images, passes: true},
	"an image that is empty":            {prepare: "printf 'image: a\\nimage: \"\"\\n' > pod", check: images, found: `image: ""`},
	"no image at all":                   {prepare: "echo 'kind: Pod' > pod", check: images},
	"a certificate and its key":         {prepare: pair, check: pairOf("a.crt"), passes: true},
	"a certificate and another key":     {prepare: pair + "openssl genpkey -algorithm ed25519 -out a.key", check: pairOf("a.crt"), found: "---"},
	"neither certificate nor key":       {prepare: "echo x > a.crt; echo x > a.key", check: pairOf("a.crt"), found: "Could not"},
	"a certificate and no key":          {prepare: pair + "echo x > a.key", check: pairOf("a.crt"), found: "a.key"},
	"one of two with another key":       {prepare: pair + twin + "openssl genpkey -algorithm ed25519 -out b.key", check: pairOf("*.crt"), found: "b.crt does not belong to b.key"},
	"no certificate that matches":       {check: pairOf("*.crt"), found: "*.crt"},
	"a public key and its key":          {prepare: pair + "openssl pkey -in a.key -pubout -out a.pub", check: pairOf("a.pub"), passes: true},
	"a public key and another key":      {prepare: pair + "openssl pkey -in a.key -pubout -out a.pub; openssl genpkey -algorithm ed25519 -out a.key", check: pairOf("a.pub"), found: "---"},
	"neither public key nor key":        {prepare: "echo x > a.pub; echo x > a.key", check: pairOf("a.pub"), found: "Could not"},
	"a bundle of its certificates":      {prepare: pair + twin + "cat b.crt a.crt > all.crt", check: bundleOfTwo, passes: true},
	"a bundle that lacks one":           {prepare: pair + twin + "cp a.crt all.crt", check: bundleOfTwo, found: "<"},
	"a bundle with one too many":        {prepare: pair + twin + "cat a.crt b.crt a.crt > all.crt", check: bundleOfTwo, found: ">"},
	"a bundle that is gone":             {prepare: pair + twin, check: bundleOfTwo, found: "all.crt"},
	"a bundle without certificates":     {prepare: "echo x > a.crt; echo x > b.crt; cat a.crt b.crt > all.crt", check: bundleOfTwo},
	"a file":                            {prepare: "echo 1 > a", check: filled, passes: true},
	"an empty file":                     {prepare: ": > a", check: filled},
	"a file that must not be there":     {prepare: ": > a", check: gone},
	"no file":                           {check: gone, passes: true},
	"two files":                         {prepare: "mkdir dir; touch dir/a dir/b", check: two, passes: true},
	"one of two files":                  {prepare: "mkdir dir; touch dir/a", check: two},
	"neither of two files":              {prepare: "mkdir dir", check: two, found: "dir/*"},
	"a private key":                     {prepare: "touch a.key; chmod 600 a.key", check: private, passes: true},
	"one of two keys open to all":       {prepare: "touch a.key b.key; chmod 644 a.key; chmod 600 b.key", check: private, found: "0644 a.key"},
	"no key":                            {check: private, found: "*.key"},
	"an object":                         {prepare: "printf 'kind: A\\napiVersion: v1\\n' > a.yaml", check: objects, passes: true},
	"an object in JSON":                 {prepare: `echo '{"kind":"A","apiVersion":"v1"}' > a.yaml`, check: objects, passes: true},
	"a second file that is no object":   {prepare: "printf 'kind: A\\napiVersion: v1\\n' > a.yaml; echo 'a: 1' > b.yaml", check: objects, found: "b.yaml is not an object"},
	"half an object in JSON":            {prepare: `echo '{"kind":"A"' > a.yaml`, check: objects, found: "a.yaml is not an object"},
	"no object":                         {check: objects, found: "*.yaml"},
	"a fresh certificate":               {prepare: pair, check: fresh, passes: true},
	"one that ends too soon":            {prepare: pair, check: longer, found: "expired"},
	"no certificate":                    {check: fresh, found: "a.crt"},
	"the subject":                       {prepare: pair, check: subject, passes: true},
	"another subject":                   {prepare: pair + "mv a.key b.key; openssl req -x509 -new -key b.key -subj /CN=b -out a.crt 2> /dev/null", check: subject, found: "CN=b"},
	"a copy":                            {prepare: "mkdir from to; echo 1 > from/a; cp from/a to", check: copied("from/a", "to/"), passes: true},
	"a copy of another name":            {prepare: "mkdir from; echo 1 > from/a; cp from/a b", check: copied("from/a", "b"), passes: true},
	"a copy that was changed":           {prepare: "mkdir from to; echo 1 > from/a; echo 2 > to/a", check: copied("from/a", "to/"), found: "from/a to/a differ"},
	"a copy that is missing":            {prepare: "mkdir from to; echo 1 > from/a", check: copied("from/a", "to/"), found: "to/a"},
	"copies":                            {prepare: "mkdir from to; touch from/a from/b; cp from/* to", check: copied("from/*", "to/"), passes: true},
	"one of the copies was changed":     {prepare: "mkdir from to; touch from/a from/b; cp from/* to; echo 2 > to/b", check: copied("from/*", "to/"), found: "b: FAILED"},
	"one of the copies is missing":      {prepare: "mkdir from to; touch from/a from/b; cp from/a to", check: copied("from/*", "to/"), found: "b: No such file"},
	"a pattern without a match":         {prepare: "mkdir from to", check: copied("from/*", "to/"), found: "no properly formatted"},
	"a pattern of names without one":    {prepare: "mkdir from to; touch from/a", check: copied("from/*.yaml", "to/"), found: "*.yaml"},
	"copies of a directory that is not": {prepare: "mkdir to", check: copied("from/*", "to/"), found: "from"},
	"copies in no directory":            {prepare: "mkdir from; touch from/a", check: copied("from/*", "to/"), found: "to"},
	"copies below a directory":          {prepare: "mkdir -p from/x to/x; echo 1 | tee from/x/a > to/x/a", check: labs.Check{Same: &labs.SameCheck{From: "from/*", To: "to/", Recursive: true}}, passes: true},
	"a changed copy below a directory":  {prepare: "mkdir -p from/x to/x; echo 1 > from/x/a; echo 2 > to/x/a", check: labs.Check{Same: &labs.SameCheck{From: "from/*", To: "to/", Recursive: true}}, found: "x/a: FAILED"},
}

// TestACommandFailsWhereItsDeclarationDoesNotHold runs the commands that
// declarations become, as checks.sh runs them.
func TestACommandFailsWhereItsDeclarationDoesNotHold(t *testing.T) {
	t.Parallel()
	for name, d := range declarations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := checkText(&d.check)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			run := func(text string) (string, error) {
				cmd := exec.Command("bash", "-euo", "pipefail", "-c", text)
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			if out, err := run(d.prepare); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if out, err := run(text); (err == nil) != d.passes || !strings.Contains(out, d.found) {
				t.Errorf("%v, said %q, not %q, in\n%s", err, out, d.found, text)
			}
		})
	}
}

// A person pastes the command of a check into the shell that he works in: it must
// not end that shell. First all commands are searched for an exit outside a
// subshell, then each runs in an interactive bash where nothing of what it asks for
// is there.
func TestACheckThatIsPastedLeavesTheShellOpen(t *testing.T) {
	commands := map[string]bool{}
	everyOutput(t, func(t *testing.T, files map[string]string) {
		for file, text := range files {
			if path.Base(path.Dir(file)) != "checks" || path.Ext(file) != ".sh" {
				continue
			}
			for _, command := range pasted(t, file, text) {
				commands[command] = true
			}
		}
	})
	if len(commands) < 200 {
		t.Fatalf("only %d commands were found", len(commands))
	}
	dir := t.TempDir()
	for command := range commands {
		for _, word := range endsShell(t, command) {
			t.Errorf("%s ends the shell, in\n%s", word, command)
		}
		cmd := exec.Command("bash", "--norc", "--noprofile", "-i", "-c", command+"\necho still alive")
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + dir, "ASSET_DIR=" + dir, "HOST_ROOT=" + dir}
		if out, _ := cmd.Output(); !strings.HasSuffix(string(out), "still alive\n") {
			t.Errorf("the shell has ended, in\n%s", command)
		}
	}
}

// pasted are the commands of a file of checks.
func pasted(t *testing.T, file, text string) []string {
	t.Helper()
	f, err := syntax.NewParser().Parse(strings.NewReader(text), file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	syntax.Walk(f, func(n syntax.Node) bool {
		s, ok := n.(*syntax.Stmt)
		if !ok || len(s.Redirs) != 1 {
			return true
		}
		if c, ok := s.Cmd.(*syntax.CallExpr); !ok || len(c.Args) == 0 || c.Args[0].Lit() != "check" {
			return true
		}
		word := s.Redirs[0].Hdoc
		if word == nil {
			word = s.Redirs[0].Word
		}
		var b strings.Builder
		for _, part := range word.Parts {
			switch p := part.(type) {
			case *syntax.Lit:
				b.WriteString(p.Value)
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			default:
				t.Fatalf("%s: a command with a %T", file, p)
			}
		}
		out = append(out, b.String())
		return true
	})
	return out
}

// endsShell are the words of a command that end the shell that runs it.
func endsShell(t *testing.T, command string) []string {
	t.Helper()
	f, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	if err != nil {
		t.Fatalf("%v in\n%s", err, command)
	}
	var out []string
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.CallExpr:
			if len(n.Args) > 0 && slices.Contains([]string{"exit", "exec", "set", "logout"}, n.Args[0].Lit()) {
				out = append(out, n.Args[0].Lit())
			}
		}
		return true
	})
	return out
}
