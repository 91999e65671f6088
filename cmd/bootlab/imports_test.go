package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ours is the table of CONTRIBUTING.md: which of our packages a package may
// import. Its line is the only place that needs a change when one is added.
// What is not listed is not allowed, and neither is a package without a line.
var ours = map[string][]string{
	"labs":                      {},
	"labs/inspect/host":         {"labs"},
	"labs/inspect/record":       {"labs", "labs/inspect/host"},
	"labs/inspect/check":        {"labs", "labs/inspect/host", "labs/inspect/record"},
	"labs/inspect/diagnose":     {"labs", "labs/inspect/host", "labs/inspect/record", "labs/inspect/check"},
	"labs/inspect/connectivity": {"labs", "labs/inspect/host"},
	"labs/inspect/mask":         {"labs"},
	"labs/inspect/gather":       {"labs", "labs/inspect/host", "labs/inspect/record", "labs/inspect/check", "labs/inspect/diagnose", "labs/inspect/mask"},
	"labs/inspect/watch":        {"labs", "labs/inspect/host", "labs/inspect/record", "labs/inspect/check", "labs/inspect/diagnose", "labs/inspect/gather"},

	"labs/prepare": {"labs"},
	"labs/sample":  {},       // for tests alone
	"labs/labtest": {"labs"}, // for tests alone

	"templates": {},

	"generator":         {"labs", "generator/diagram", "generator/overlay"},
	"generator/diagram": {"labs"},
	"generator/overlay": {"labs"},
	"labs/audit":        {"labs"},

	"site":                 {},
	"site/browser":         {"site"},
	"site/browser/answer":  {"labs/inspect/host", "labs/inspect/record", "labs/inspect/diagnose"},
	"site/browser/program": {"labs", "labs/inspect/mask", "site/browser/answer"},

	"vms":            {"labs"},
	"vms/state":      {"labs", "vms"},
	"vms/libvirt":    {"vms"},
	"vms/images":     {"vms", "vms/state"},
	"vms/access":     {"labs", "vms", "vms/state"},
	"vms/serial":     {"vms"},
	"vms/balancer":   {"labs", "vms", "vms/state"},
	"vms/provision":  {"labs", "vms", "vms/state", "vms/libvirt", "vms/images", "vms/serial", "vms/balancer"},
	"vms/groundwork": {"labs", "vms", "vms/state"},
	"vms/doctor":     {"labs", "vms", "vms/state", "vms/libvirt", "vms/images", "vms/balancer", "vms/provision", "vms/groundwork"},

	"standin":           {"standin/facts", "standin/images", "standin/role"},
	"standin/facts":     {},
	"standin/role":      {"standin/facts"},
	"standin/images":    {},
	"standin/demo":      {"labs", "standin", "standin/images"},
	"standin/program":   {"standin/facts", "standin/installer", "standin/role"},
	"standin/installer": {"standin/role"},

	"cmd/bootlab/background": {},
	"cmd/bootlab/cli":        {"labs", "labs/inspect/check", "labs/inspect/host", "labs/inspect/watch", "labs/audit", "generator", "templates", "vms", "vms/access"},
	"cmd/bootlab/lab":        {"cmd/bootlab/cli", "labs", "labs/audit", "generator", "templates", "vms", "standin", "standin/demo"},
	"cmd/bootlab/guide":      {"cmd/bootlab/cli", "labs", "labs/inspect/host", "labs/inspect/diagnose", "labs/inspect/record", "labs/inspect/watch", "generator", "site", "site/browser"},
	"cmd/bootlab/inspect": {"cmd/bootlab/background", "cmd/bootlab/cli", "labs", "labs/inspect/host", "labs/inspect/record", "labs/inspect/check", "labs/inspect/diagnose", "labs/inspect/connectivity", "labs/inspect/mask", "labs/inspect/gather", "labs/inspect/watch",
		"generator", "generator/diagram", "generator/overlay", "vms"},
	"cmd/bootlab/machines": {"cmd/bootlab/cli", "labs",
		"vms", "vms/state", "vms/libvirt", "vms/images", "vms/access", "vms/provision", "vms/doctor", "vms/groundwork"},
	"cmd/bootlab": {"cmd/bootlab/cli", "cmd/bootlab/lab", "cmd/bootlab/guide", "cmd/bootlab/inspect", "cmd/bootlab/machines"},
}

// withoutEffects are packages that only compute, and what they may therefore
// not import: labs runs no command and opens no connection, and Render and the
// definitions of machines give the same bytes for the same plan.
var withoutEffects = map[string][]string{
	"labs":      {"os/exec", "net/http", "math/rand", "math/rand/v2", "crypto/rand"},
	"templates": {"os", "os/exec", "net/http", "time"},
	"vms":       {"os", "os/exec", "net/http", "time"},
	"generator": {"os/exec", "net", "net/http", "time", "math/rand", "math/rand/v2", "crypto/rand"},
}

// source is what one Go file of the module imports. Build tags do not matter:
// files for other systems and with libvirt count too.
type source struct {
	file, pkg string
	test      bool
	imports   []string
}

// sources reads the import clauses of the whole module, without test/, which is
// a module of its own.
func sources(t *testing.T) []source {
	t.Helper()
	root := filepath.Join("..", "..")
	var all []source
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && file != root && (strings.HasPrefix(name, ".") || name == "testdata" || file == filepath.Join(root, "test")) {
			return filepath.SkipDir
		}
		if d.IsDir() || path.Ext(name) != ".go" {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		s := source{file: rel, pkg: path.Dir(rel), test: strings.HasSuffix(name, "_test.go")}
		for _, i := range parsed.Imports {
			imported, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, imported)
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPackagesImportOnlyWhatTheTableAllows(t *testing.T) {
	for _, problem := range forbidden(sources(t)) {
		t.Error(problem)
	}
}

func forbidden(all []source) []string {
	var problems []string
	for _, s := range all {
		allowed, listed := ours[s.pkg]
		if !listed {
			problems = append(problems, s.file+": package "+s.pkg+" has no line in the table")
			continue
		}
		for _, imported := range s.imports {
			name, own := strings.CutPrefix(imported, "bootlab/")
			switch {
			case own && name == "test" || strings.HasPrefix(name, "test/"):
				problems = append(problems, s.file+" imports "+imported+": test/ uses the module, never the other way")
			case s.test: // tests may look at any package of ours
			case own && name != s.pkg && !slices.Contains(allowed, name):
				problems = append(problems, s.file+" imports "+imported+", which "+s.pkg+" must not")
			case slices.Contains(withoutEffects[s.pkg], imported) && !writes[s.file]:
				problems = append(problems, s.file+" imports "+imported+": "+s.pkg+" only computes")
			}
		}
	}
	return problems
}

// writes names the one file of the generator that touches a disk.
var writes = map[string]bool{"generator/write.go": true}

func TestModulesThatOnlyTestsNeedStandInTheTestModule(t *testing.T) {
	for _, problem := range testOnly(sources(t)) {
		t.Error(problem)
	}
}

// testOnly finds packages of other modules that only test files import.
func testOnly(all []source) []string {
	used := map[string]bool{}
	each := func(test bool, visit func(s source, imported string)) {
		for _, s := range all {
			for _, imported := range s.imports {
				host, _, _ := strings.Cut(imported, "/")
				if s.test == test && strings.Contains(host, ".") {
					visit(s, imported)
				}
			}
		}
	}
	each(false, func(_ source, imported string) { used[imported] = true })
	var problems []string
	each(true, func(s source, imported string) {
		if !used[imported] {
			problems = append(problems, s.file+" imports "+imported+", which nothing but tests needs: that test belongs in test/")
		}
	})
	return problems
}

// A rule that cannot be broken is no rule.
func TestTheImportRulesCanFail(t *testing.T) {
	for _, c := range []struct {
		name  string
		file  source
		rules func([]source) []string
	}{
		{"upwards", source{file: "labs/x.go", pkg: "labs", imports: []string{"bootlab/generator"}}, forbidden},
		{"sideways", source{file: "site/x.go", pkg: "site", imports: []string{"bootlab/vms"}}, forbidden},
		{"unlisted", source{file: "util/x.go", pkg: "util"}, forbidden},
		{"of the tests", source{file: "labs/x_test.go", pkg: "labs", test: true, imports: []string{"bootlab/test/registry"}}, forbidden},
		{"with effects", source{file: "generator/x.go", pkg: "generator", imports: []string{"time"}}, forbidden},
		{"for tests alone", source{file: "labs/x_test.go", pkg: "labs", test: true, imports: []string{"example.org/assert"}}, testOnly},
	} {
		t.Run(c.name, func(t *testing.T) {
			if len(c.rules([]source{c.file})) == 0 {
				t.Error("no rule refuses it")
			}
		})
	}
}
