package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootlab/cmd/bootlab/cli"
)

// allCommands are the commands of bootlab that do something.
func allCommands() []*cobra.Command {
	var all []*cobra.Command
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Runnable() {
			all = append(all, c)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRootCommand(cli.Streams{}))
	return all
}

// words are the arguments of a command behind the name of the program.
func words(c *cobra.Command) []string { return strings.Fields(c.CommandPath())[1:] }

func TestAllCommandsHaveOneHabitForFormatsAndDestinations(t *testing.T) {
	seen := 0
	for _, c := range allCommands() {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			switch {
			case f.Shorthand == "o" && f.Name != "output", f.Name == "output" && f.Value.Type() != "FORMAT":
				t.Errorf("%s: -%s, --%s is no format", c.CommandPath(), f.Shorthand, f.Name)
			case f.Name == "format", f.Name == "json":
				t.Errorf("%s: --%s is -o, --output in other commands", c.CommandPath(), f.Name)
			case f.Name != "output":
				return
			}
			seen++
			if !strings.Contains(f.Usage, cli.JSON) || f.DefValue != cli.Text || f.Shorthand != "o" {
				t.Errorf("%s: --output is %q, %s by default", c.CommandPath(), f.Usage, f.DefValue)
			}
			_, stderr, status := bootlab(append(words(c), "--output", "xml")...)
			if status != cli.ExitUsage || !strings.Contains(stderr, `--output "xml" is none of text, `) {
				t.Errorf("%s --output xml: status %d: %s", c.CommandPath(), status, stderr)
			}
		})
	}
	if seen < 15 {
		t.Errorf("only %d commands have --output", seen)
	}
	for _, name := range []string{"generate", "gather", "mask", "site build"} {
		c, _, _ := newRootCommand(cli.Streams{}).Find(strings.Fields(name))
		if c.Flags().Lookup("to") == nil {
			t.Errorf("%s has no --to", name)
		}
	}
}

func TestTheTableOfExitStatusesIsTheSameEverywhere(t *testing.T) {
	want := []int{0, 1, 2, 3, 5}
	table := "| Status | Meaning |\n|---|---|\n"
	topic, _, _ := bootlab("help", "exit-status")
	for i, s := range cli.Statuses {
		if s.Code != want[i] {
			t.Errorf("status %d is %d", want[i], s.Code)
		}
		table += fmt.Sprintf("| %d | %s |\n", s.Code, s.Meaning)
		if !strings.Contains(topic, fmt.Sprintf("  %d  %s\n", s.Code, s.Meaning)) {
			t.Errorf("help exit-status has no %d:\n%s", s.Code, topic)
		}
	}
	text, err := os.ReadFile("../../docs/command-line.md")
	if err != nil || !strings.Contains(string(text), table) {
		t.Errorf("docs/command-line.md lacks (%v)\n%s", err, table)
	}
}

func TestEveryCommandSaysItsExitStatusesAndRefusesAWrongLine(t *testing.T) {
	finds := map[string]string{"audit": "3 5", "diagnose": "3 5", "verify": "3 5", "certificates": "3 5", "connectivity": "3 5", "doctor": "3", "vms image verify": "3"}
	for _, c := range allCommands() {
		name := strings.Join(words(c), " ")
		if c.HasSubCommands() {
			refusesUnknown(t, c)
			continue
		}
		text := strings.Join(strings.Fields(c.Long), " ")
		if !strings.Contains(text, "Exit status: 0 ") || !strings.Contains(text, ", 1 ") || !strings.Contains(text, ", 2 usage") {
			t.Errorf("%s does not say how it ends:\n%s", name, c.Long)
		}
		var codes []string
		for _, code := range []string{"3", "5"} {
			if strings.Contains(text, ", "+code+" ") {
				codes = append(codes, code)
			}
		}
		if got := strings.Join(codes, " "); got != finds[name] {
			t.Errorf("%s ends with %q, want %q", name, got, finds[name])
		}
		delete(finds, name)
		if c.DisableFlagParsing {
			continue // its options are those of others
		}
		_, stderr, status := bootlab(append(words(c), "--no-such-option")...)
		refused(t, name+" --no-such-option", stderr, status)
		if name != "help" && name != "vms ssh" && !strings.Contains(c.Use, "...") {
			_, stderr, status := bootlab(append(words(c), "a", "b", "c", "d")...)
			refused(t, name+" a b c d", stderr, status)
		}
	}
	for name := range finds {
		t.Errorf("there is no command %s", name)
	}
}

func refusesUnknown(t *testing.T, group *cobra.Command) {
	t.Helper()
	_, stderr, status := bootlab(append(words(group), "nosuchcommand")...)
	refused(t, group.CommandPath()+" nosuchcommand", stderr, status)
	out, _, status := bootlab(words(group)...)
	if status != cli.ExitDone || !strings.Contains(out, "Usage:") {
		t.Errorf("%s alone shows no help: status %d", group.CommandPath(), status)
	}
}

// refused holds the form of a complaint: one line that says what is wrong, one
// what to do, and nothing in the words of a library.
func refused(t *testing.T, line, stderr string, status int) {
	t.Helper()
	if status != cli.ExitUsage || strings.Count(stderr, "error: ") != 1 || strings.Count(stderr, "  hint: ") != 1 || strings.Count(stderr, "\n") != 2 {
		t.Errorf("%s: status %d: %s", line, status, stderr)
	}
	for _, raw := range []string{"arg(s)", "unknown command", "shorthand", "flag needs", "invalid argument", "strconv", "if any flags in the group", "help topic"} {
		if strings.Contains(stderr, raw) {
			t.Errorf("%s: a library speaks: %s", line, stderr)
		}
	}
}

func TestAMisspeltWordIsAnsweredWithTheNearest(t *testing.T) {
	lab := sharedLab(t)
	for line, says := range map[string]string{
		"genrate LAB":                          "did you mean generate?",
		"help genrate":                         "did you mean generate?",
		"help vms strat":                       "did you mean start?",
		"completion bahs":                      "did you mean bash?",
		"completion foo":                       "shells: bash, zsh, fish or powershell",
		"help foo":                             "bootlab --help lists the commands",
		"vms strat LAB":                        "did you mean start?",
		"vms image ftech LAB":                  "did you mean fetch?",
		"up LAB":                               "did you mean bootlab vms up?",
		"site biuld LAB":                       "did you mean build?",
		"generate LAB --froce":                 "did you mean --force?",
		"verify LAB render-etdc":               "did you mean render-etcd?",
		"explain render-etdc":                  "did you mean render-etcd?",
		"explain etcd-bootstarp":               "did you mean etcd-bootstrap?",
		"explain etcd-member-pod.yml":          "did you mean etcd-member-pod.yaml?",
		"explain networking.machineNetwrok":    "did you mean networking.machineNetwork?",
		"explain csr-client-pendign":           "did you mean csr-client-pending?",
		"explain --etcd-imgae":                 "did you mean --etcd-image?",
		"explain render-etcd --relaese 4.20":   "did you mean --release?",
		"diff 4.20 4.21 --stage render-etdc":   "did you mean render-etcd?",
		"init other --from compcat":            "did you mean compact?",
		"audit FILE --release 4.2l":            "did you mean 4.2",
		"connectivity LAB --from-node master0": "did you mean master-0?",
		"vms ssh LAB master0":                  "did you mean master-0?",
		"watch LAB --interval soon":            `--interval "soon" is no time, as 30s or 5m`,
		"verify LAB --watch=often":             `--watch "often" is no whole number`,
		"generate LAB --force=perhaps":         `--force "perhaps" is neither true nor false`,
		"generate LAB --to":                    "--to wants a value",
		"generate LAB -x":                      "unknown flag -x",
		"doctor LAB --emulate --kvm":           "--emulate and --kvm exclude each other",
		"generate LAB --=x":                    `"--=x" is no option`,
		"vms snapshot":                         "LAB and NAME is missing",
	} {
		args := strings.Fields(strings.NewReplacer("LAB", lab, "FILE", scriptFile(t, "true\n")).Replace(line))
		_, stderr, status := bootlab(args...)
		refused(t, line, stderr, status)
		if !strings.Contains(stderr, says) {
			t.Errorf("%s: want %q in\n%s", line, says, stderr)
		}
	}
}

func TestALabThatIsNotThereIsAnsweredWithOneBesideIt(t *testing.T) {
	lab := newLab(t)
	_, stderr, status := bootlab("check", strings.TrimSuffix(lab, "mylab")+"mylba")
	if status != cli.ExitFailed || !strings.Contains(stderr, "did you mean "+lab+"?") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

func TestTheVersionIsPrintedForPeopleAndPrograms(t *testing.T) {
	text, _, status := bootlab("version")
	flag, _, _ := bootlab("--version")
	if status != cli.ExitDone || text != cli.Version()+"\n" || flag != text {
		t.Errorf("status %d: %q, --version %q", status, text, flag)
	}
	document, _, _ := bootlab("version", "--output", "json")
	var build cli.Build
	if err := json.Unmarshal([]byte(document), &build); err != nil || build != cli.ThisBuild() {
		t.Errorf("%v: %s", err, document)
	}
}

func TestTheShellCompletesWhatACommandTakes(t *testing.T) {
	lab := newLab(t)
	for line, want := range map[string]string{
		"generate LA":                       "LAB",
		"diagnose LA":                       "LAB",
		"site build LA":                     "LAB",
		"vms up LA":                         "LAB",
		"explain render-etcd --lab LA":      "LAB",
		"mask BUNDLE --lab LA":              "LAB",
		"vms start LAB ma":                  "master-0 masters",
		"vms start LAB master-0 wor":        "workers",
		"vms ssh LAB boot":                  "bootstrap",
		"vms snapshot LAB before ma":        "master-2",
		"connectivity LAB --from-node ma":   "master-1",
		"verify LAB render-e":               "render-etcd",
		"verify LAB make-pki al":            "all",
		"diff 4.20 4.2":                     "4.21",
		"diff 4.20 4.21 --stage render-e":   "render-etcd",
		"explain csr-cl":                    "csr-client-pending",
		"explain --etcd-i":                  "--etcd-image",
		"explain networking.mach":           "networking.machineNetwork",
		"explain render-etcd --release 4.1": "4.18",
		"explain render-etcd --re":          "--release",
		"generate LAB --release 4.1":        "4.18",
		"verify LAB --output j":             "json junit",
		"timeline LAB -o s":                 "svg",
		"init other --from co":              "compact",
		"completion z":                      "zsh",
		"help vms st":                       "start status stop",
		"help exit":                         "exit-status",
	} {
		args := strings.Fields("__complete " + strings.ReplaceAll(line, "LAB", lab))
		if strings.HasSuffix(line, " LA") {
			args[len(args)-1], want = lab[:len(lab)-2], lab
		}
		out, stderr, _ := bootlab(args...)
		var offered []string
		for name := range strings.Lines(out) {
			name, _, _ = strings.Cut(strings.TrimSpace(name), "\t")
			offered = append(offered, name)
		}
		for _, name := range strings.Fields(want) {
			if !slices.Contains(offered, name) {
				t.Errorf("%s: no %s in %v%s", line, name, offered, stderr)
			}
		}
	}
}

func TestManPagesAndTheReferenceHoldEveryCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	if _, stderr, status := bootlab("man", "--to", dir); status != cli.ExitDone {
		t.Fatal(stderr)
	}
	lab := sharedLab(t)
	reference, err := os.ReadFile(filepath.Join(lab, "out", "guide", "commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range allCommands() {
		page, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
		if c.Name() == "help" {
			continue
		}
		if err != nil || !strings.Contains(string(page), ".SH SYNOPSIS") {
			t.Errorf("%s: %v\n%s", c.CommandPath(), err, page)
		}
		if c.HasSubCommands() {
			continue
		}
		if !strings.Contains(string(page), "Exit status: 0 ") {
			t.Errorf("the page of %s does not say how it ends", c.CommandPath())
		}
		if !strings.Contains(string(reference), "\n## "+c.CommandPath()+"\n\n"+c.Short+".\n") {
			t.Errorf("the reference lacks %s", c.CommandPath())
		}
	}
	if index, err := os.ReadFile(filepath.Join(lab, "out", "guide.json")); err != nil || !strings.Contains(string(index), `"guide/commands.md"`) {
		t.Errorf("guide.json does not list the reference: %v", err)
	}
	if out, stderr, status := bootlab("site", "build", lab, "--to", filepath.Join(t.TempDir(), "site")); status != cli.ExitDone {
		t.Errorf("%s%s", out, stderr)
	}
}
