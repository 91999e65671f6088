package labs

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// typed are the programs that a reader has, on the workstation or on a node.
var typed = strings.Fields(`arping ausearch awk base64 bootlab cat chronyc crictl curl cut date df dig du env export for free
	fuser getent grep head hostname hostnamectl interface ip journalctl jq less ls nmcli oc openshift-install openssl podman ps
	rpm-ostree sed skopeo socat ss ssh stat sysctl systemctl swapon tail tcpdump timedatectl type ulimit uname uptime virsh xargs`)

var whereToRun = regexp.MustCompile(`^# on the (bootstrap node|workstation(, in a local run)?|master|machine that does the work)$`)

// What shows a cause can be pasted: it is bash, it says where it runs, and no word of
// prose stands where a program is expected.
func TestCommandsOfCausesCanBePasted(t *testing.T) {
	for _, layer := range BuiltinDiagnosis().Layers {
		for _, s := range layer.Symptoms {
			for _, problem := range unpasteable(s.Command) {
				t.Errorf("%s: %s", s.ID, problem)
			}
		}
	}
	for text, problem := range map[string]string{
		"# on the bootstrap node\ndate, then chronyc tracking": "date, is no program",
		"date":                                  "does not begin with where it runs",
		"# on the workstation\noc get csr NAME": "NAME is left to the reader",
		"# on the workstation\noc logs of the newest (":     "is no bash",
		"# on the workstation\n# on the node named\nuptime": "# on the node named",
	} {
		if got := strings.Join(unpasteable(text), "; "); !strings.Contains(got, problem) {
			t.Errorf("%q: %q, want %s", text, got, problem)
		}
	}
}

// toFillIn is a word in capitals that a reader would have to replace.
var toFillIn = regexp.MustCompile(`(^|[ /=.])(NAME|ADDRESS|DOMAIN|LAB|MASTER|IMAGE|REGISTRY|MIRROR|FILE|INTERFACE|URL|GATEWAY)\b`)

func unpasteable(text string) []string {
	var problems []string
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if !strings.HasPrefix(lines[0], "# on the ") {
		problems = append(problems, "it does not begin with where it runs")
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "#") && !whereToRun.MatchString(line) {
			problems = append(problems, line)
		}
	}
	if m := toFillIn.FindStringSubmatch(text); m != nil {
		problems = append(problems, m[2]+" is left to the reader")
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		return append(problems, "it is no bash: "+err.Error())
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		if name := call.Args[0].Lit(); !strings.HasPrefix(name, "/") && !slices.Contains(typed, name) {
			problems = append(problems, name+" is no program")
		}
		return true
	})
	return problems
}

// The lab's own names stand in what a reader pastes.
func TestCausesNameTheLab(t *testing.T) {
	p := resolved(t, "4.21")
	for _, layer := range BuiltinDiagnosis().For(p).Layers {
		for _, s := range layer.Symptoms {
			for _, text := range []string{s.Title, s.Seen, s.Cause, s.Command, s.Fix} {
				if settingName.MatchString(text) {
					t.Errorf("%s: %s", s.ID, text)
				}
			}
			if s.ID == "dns-api-missing" && !strings.Contains(s.Command, "dig @"+p.Lab.Machines.Gateway+" api."+p.Lab.Domain()) {
				t.Errorf("%s: %s", s.ID, s.Command)
			}
		}
	}
}
