package audit

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"bootlab/generator"
	"bootlab/labs"
	"bootlab/labs/sample"
	"bootlab/templates"
)

// planFor is the plan of the shipped lab in a release.
func planFor(t testing.TB, release string) *labs.Plan {
	t.Helper()
	lab, problems := labs.LoadLabFS(labs.Examples, "compact", labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	lab.Release.Version = release
	plan, err := labs.Builtin().Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

var testOrigin = Origin{File: "bootkube.sh", SHA256: strings.Repeat("ab", 32)}

var follows struct {
	once sync.Once
	of   Follows
	err  error
}

// followed is what the shipped templates follow: the same for each plan.
func followed(t testing.TB, plan *labs.Plan) Follows {
	t.Helper()
	follows.once.Do(func() { follows.of, follows.err = generator.Follows(plan, templates.FS) })
	if follows.err != nil {
		t.Fatal(follows.err)
	}
	return follows.of
}

// applied is the plan of a release after a script.
func applied(t testing.TB, release, text string) *labs.Plan {
	t.Helper()
	plan := planFor(t, release)
	if err := Apply(parsed(t, text), labs.Builtin(), plan, testOrigin, followed(t, plan)); err != nil {
		t.Fatal(err)
	}
	return plan
}

// differences between a script and a plan, without their lines.
func differences(t testing.TB, text string, plan *labs.Plan) []string {
	t.Helper()
	c := *labs.Builtin()
	c.Bootkube, c.Stages = plan.Bootkube, plan.Stages
	var out []string
	for _, f := range Compare(parsed(t, text), &c, plan.Release.ID).Findings {
		if f.Kind == Unknown {
			out = append(out, strings.Join([]string{f.Stage, f.What, f.Expected, f.Found}, " | "))
		}
	}
	return out
}

func TestAScriptOfTheReleaseChangesNothing(t *testing.T) {
	for i, release := range labs.Builtin().ReleaseIDs() {
		plan := applied(t, release, writeScript(labs.Builtin().Bootkube, release, stagesOfRelease(labs.Builtin(), release), styles[i*13]))
		if len(plan.Audited.Changes) != 0 {
			t.Errorf("%s: %v", release, plan.Audited.Changes)
		}
	}
}

// What is called applied must be no difference any more between the script and
// the plan, and what is not applied must still be one.
func TestWhatIsAppliedIsNoDifferenceAnyMore(t *testing.T) {
	c := labs.Builtin()
	tried, outcomes := 0, map[labs.AuditedOutcome]int{}
	for r, release := range []string{"main", "4.14"} {
		before := differences(t, writeScript(c.Bootkube, release, stagesOfRelease(c, release), styles[0]), planFor(t, release))
		n := map[bool]int{false: 16, true: 4}[sample.All()]
		all := mutations(stagesOfRelease(c, release))
		for _, i := range chosen(all, n, r, map[string]bool{}) {
			m := all[i]
			tried++
			text := writeScript(c.Bootkube, release, m.do(stagesOfRelease(c, release)), styles[i%len(styles)])
			plan := applied(t, release, text)
			left := slices.DeleteFunc(differences(t, text, plan), func(d string) bool { return slices.Contains(before, d) })
			open := 0
			for _, change := range plan.Audited.Changes {
				outcomes[change.Outcome]++
				if change.Outcome != labs.Applied {
					open++
				}
				if (change.Outcome == labs.NotApplied) != (change.Reason != "") && change.Outcome == labs.NotApplied {
					t.Errorf("%s, %s: not applied without a reason: %+v", release, m.name, change)
				}
			}
			if len(plan.Audited.Changes) == 0 {
				t.Errorf("%s, %s: nothing is noted", release, m.name)
			}
			// Where the stage is left out, so is what stage data tells of it in words.
			if len(left) > open && !strings.HasSuffix(m.name, "in place or not") {
				t.Errorf("%s, %s: %d changes are open, and left are:\n%s\n%+v", release, m.name, open, strings.Join(left, "\n"), plan.Audited.Changes)
			}
		}
	}
	t.Logf("%d mutations: %v", tried, outcomes)
	if least := map[bool]int{false: 80, true: 200}[sample.All()]; tried < least || outcomes[labs.Applied] < tried/2 || outcomes[labs.NotApplied] == 0 || outcomes[labs.OfNoLab] == 0 {
		t.Errorf("%d mutations tried: %v", tried, outcomes)
	}
}

// written renders a plan, and writes the files whose paths begin so.
func written(t testing.TB, plan *labs.Plan, beginnings ...string) string {
	t.Helper()
	out, err := generator.Render(plan, templates.FS, generator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out.Files = slices.DeleteFunc(out.Files, func(f generator.File) bool {
		return !slices.ContainsFunc(beginnings, func(beginning string) bool { return strings.HasPrefix(f.Path, beginning) })
	})
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := out.Write(dir, generator.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// bash runs a generated script and gives what it printed.
func bash(t testing.TB, script string, args ...string) string {
	t.Helper()
	cmd := exec.Command("bash", append([]string{script}, args...)...)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s %v: %v\n%s", filepath.Base(script), args, err, out)
	}
	return string(out)
}

// stageOf is the stage of that id among a release's.
func stageOf(stages []*labs.Stage, id string) *labs.Stage {
	return stages[slices.IndexFunc(stages, func(s *labs.Stage) bool { return s.ID == id })]
}

// lineOf is the line of an output that begins with a command.
func lineOf(output, command string) string {
	for _, line := range strings.Split(output, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), command) {
			return line
		}
	}
	return ""
}

// lineBreak is where a command goes on in the next line.
var lineBreak = regexp.MustCompile(` *\\\n *`)

// Each kind of difference that can be applied is seen in what the generated
// script would run, and nothing else of its command line is another.
func TestDryRunsCarryExactlyTheDifference(t *testing.T) {
	podman := func(old, now string) func(before, after string) string {
		return func(before, after string) string {
			was, is := lineOf(before, "podman run --quiet --net=host"), lineOf(after, "podman run --quiet")
			if want := strings.Replace(was, old, now, 1); want != is || was == is {
				return fmt.Sprintf("the command line is\n%s\nand should be\n%s", is, want)
			}
			return ""
		}
	}
	holds := func(lines ...string) func(before, after string) string {
		return func(before, after string) string {
			for _, line := range lines {
				gone, without := strings.CutPrefix(line, "!")
				if without && (!strings.Contains(before, gone) || strings.Contains(after, gone)) || !without && (strings.Contains(before, line) || !strings.Contains(after, line)) {
					return "no change of " + line
				}
			}
			return ""
		}
	}
	dryRun := func(dir string) string {
		shown := strings.ReplaceAll(bash(t, filepath.Join(dir, "scripts", "render-etcd.sh"), "--dry-run"), dir, "OUT")
		return lineBreak.ReplaceAllString(shown, " ")
	}
	ofEtcd := []string{"scripts/render-etcd.", "scripts/checks/render-etcd.", "scripts/lib/"}
	was := dryRun(written(t, planFor(t, "4.20"), ofEtcd...))
	for name, c := range map[string]struct {
		do   func(s *labs.Stage)
		seen func(before, after string) string
	}{
		"a flag more": {func(s *labs.Stage) {
			s.Run.Flags = append(s.Run.Flags, labs.Flag{Flag: "--surprise", Value: "new"})
		}, holds(`--surprise=new`)},
		"a flag less":           {func(s *labs.Stage) { s.Run.Flags = s.Run.Flags[1:] }, podman("--asset-output-dir=/assets/etcd-bootstrap ", "")},
		"another value":         {func(s *labs.Stage) { s.Run.Flags[1].Value += "x" }, podman("cluster-config.yaml", "cluster-config.yamlx")},
		"another name":          {func(s *labs.Stage) { s.Run.Flags[1].Flag += "-x" }, podman("--cluster-configmap-file", "--cluster-configmap-file-x")},
		"an image as value":     {func(s *labs.Stage) { s.Run.Flags[2].Value = "$OPENSHIFT_HYPERKUBE_IMAGE" }, podman("${MACHINE_CONFIG_ETCD_IMAGE}", "${OPENSHIFT_HYPERKUBE_IMAGE}")},
		"a version as value":    {func(s *labs.Stage) { s.Run.Flags[1].Value = "$VERSION" }, podman("/assets/manifests/cluster-config.yaml", `"${VERSION}"`)},
		"a flag under a file":   {func(s *labs.Stage) { s.Run.Flags[1].When.File = "tls/other" }, holds("!/assets/etcd-bootstrap --cluster-configmap-file", `"${additional_flags[@]}"`)},
		"another image":         {func(s *labs.Stage) { s.Run.Image = "pod" }, podman("${CLUSTER_ETCD_OPERATOR_IMAGE}", "${MACHINE_CONFIG_INFRA_IMAGE}")},
		"another command":       {func(s *labs.Stage) { s.Run.Command = "/usr/bin/other render" }, podman("/usr/bin/cluster-etcd-operator render", "/usr/bin/other render")},
		"another container":     {func(s *labs.Stage) { s.Run.Name = "etcd-other" }, podman("--name etcd-render", "--name etcd-other")},
		"an option more":        {func(s *labs.Stage) { s.Run.Options = []labs.Option{{Option: "--user 0"}} }, podman("--name etcd-render", "--name etcd-render --user=0")},
		"a directory as volume": {func(s *labs.Stage) { s.Run.Volume = "$PWD/below:/assets:z" }, podman("${PWD}:/assets:z", "${PWD}/below:/assets:z")},
		"a copy more": {func(s *labs.Stage) {
			s.Copies = append(s.Copies, labs.Copy{From: "etcd-bootstrap/more/*", To: "manifests/"})
		}, holds("cp etcd-bootstrap/more/* .new/")},
		"a copy less":        {func(s *labs.Stage) { s.Copies = s.Copies[:2] }, holds("!cp etcd-bootstrap/tls/* .new/")},
		"a copy elsewhere":   {func(s *labs.Stage) { s.Copies[2].To = "tls/etcd/" }, holds("!cp etcd-bootstrap/tls/* .new/\n", "cp etcd-bootstrap/tls/* tls/etcd/")},
		"a copy of the host": {func(s *labs.Stage) { s.Copies[2].To = "/etc/kubernetes/tls/" }, holds(`cp etcd-bootstrap/tls/* "${HOST_ROOT}/etc/kubernetes/tls/"`)},
		"removes another":    {func(s *labs.Stage) { s.RemoveFirst = "etcd-other" }, holds("!rm -rf etcd-bootstrap\n", "rm -rf etcd-other\n")},
		"removes nothing":    {func(s *labs.Stage) { s.RemoveFirst = "" }, holds("!rm -rf etcd-bootstrap\n")},
	} {
		t.Run(name, func(t *testing.T) {
			stages := stagesOfRelease(labs.Builtin(), "4.20")
			c.do(stageOf(stages, "render-etcd"))
			plan := applied(t, "4.20", writeScript(labs.Builtin().Bootkube, "4.20", stages, styles[0]))
			for _, change := range plan.Audited.Changes {
				if change.Outcome != labs.Applied {
					t.Errorf("%s: %s", change.Outcome, change)
				}
			}
			is := dryRun(written(t, plan, ofEtcd...))
			if problem := c.seen(was, is); problem != "" {
				t.Errorf("%s in\n%s", problem, is)
			}
		})
	}
}

func TestStagesAreLeftOutAndBroughtIntoAnotherOrder(t *testing.T) {
	stages := stagesOfRelease(labs.Builtin(), "4.20")
	i := slices.IndexFunc(stages, func(s *labs.Stage) bool { return s.ID == "render-kcm" })
	stages[i], stages[i+1] = stages[i+1], stages[i]
	stages = slices.DeleteFunc(stages, func(s *labs.Stage) bool { return s.ID == "render-ingress" })
	stageOf(stages, "render-config").Bootkube = "configuration-bootstrap"
	stageOf(stages, "render-config").Run.Flags[1].Value += "x"
	dir := written(t, applied(t, "4.20", writeScript(labs.Builtin().Bootkube, "4.20", stages, styles[0])), "scripts/")
	list := bash(t, filepath.Join(dir, "scripts", "render-all.sh"), "--list")
	if strings.Contains(list, "render-ingress") || strings.Index(list, "render-scheduler") > strings.Index(list, "render-kcm") {
		t.Errorf("the stages are\n%s", list)
	}
	if _, err := os.Stat(filepath.Join(dir, "scripts", "render-ingress.sh")); err == nil {
		t.Error("a script is made of a stage that is left out")
	}
	config, err := os.ReadFile(filepath.Join(dir, "scripts", "render-config.sh"))
	if err != nil || !strings.Contains(string(config), " RECORD=configuration-bootstrap ") || !strings.Contains(string(config), "cluster-infrastructure-02-config.ymlx") {
		t.Errorf("the stage that was renamed: %v\n%s", err, config)
	}
}

func TestAnOptionOfEveryRunIsAppliedOnce(t *testing.T) {
	stages := stagesOfRelease(labs.Builtin(), "4.20")
	data := *labs.Builtin().Bootkube
	data.Podman = append(slices.Clone(data.Podman), labs.Option{Option: "--log-driver=none"})
	plan := applied(t, "4.20", writeScript(&data, "4.20", stages, styles[0]))
	if len(plan.Audited.Changes) != 1 || plan.Audited.Changes[0].Outcome != labs.Applied || len(plan.Audited.Changes[0].Stages) < 10 {
		t.Errorf("%+v", plan.Audited.Changes)
	}
	dir := written(t, plan, "scripts/")
	for _, name := range []string{"render-etcd", "render-cvo"} {
		if out := bash(t, filepath.Join(dir, "scripts", name+".sh"), "--dry-run"); !strings.Contains(out, "podman run --quiet --net=host --rm --log-driver=none \\\n    --name") {
			t.Errorf("%s:\n%s", name, out)
		}
	}
}

func TestAScriptWithoutStagesIsRefused(t *testing.T) {
	plan := planFor(t, "4.20")
	err := Apply(parsed(t, "echo hello\npodman run --name x quay.io/x/y\n"), labs.Builtin(), plan, testOrigin, followed(t, plan))
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Hint == "" || plan.Audited != nil {
		t.Errorf("%v", err)
	}
}

// What Follows says of a template must be so: every stage with a container gets
// another of everything, and what counts as applied stands in its script.
func TestScriptsOfAllStagesFollow(t *testing.T) {
	c := labs.Builtin()
	stages := stagesOfRelease(c, "4.21")
	for _, s := range stages {
		if s.Run == nil {
			continue
		}
		for i, f := range s.Run.Flags {
			if f.When.File == "" && f.When.InPlace == nil && !strings.Contains(f.Value, "$") {
				s.Run.Flags[i].Value = strings.Trim(f.Value, `"`) + "-other"
			}
		}
		s.Run.Flags = append(s.Run.Flags, labs.Flag{Flag: "--added", Value: "yes"})
		s.Run.Command += "-other"
		s.Run.Name += "-other"
		s.Run.Options = append(s.Run.Options, labs.Option{Option: "--cpus=3"})
		s.Copies = append(s.Copies, labs.Copy{From: "added/" + s.ID, To: "manifests/"})
		s.Mkdir = append(slices.Clone(s.Mkdir), "added/"+s.ID)
	}
	plan := applied(t, "4.21", writeScript(c.Bootkube, "4.21", stages, styles[0]))
	dir := written(t, plan, "scripts/", "node/")
	scripts, lines := 0, 0
	for _, s := range stages {
		text, err := os.ReadFile(filepath.Join(dir, "node", s.ID+".sh"))
		if s.Run == nil || err != nil {
			continue
		}
		scripts++
		for _, change := range plan.Audited.Of(labs.Applied, s.ID) {
			want := strings.TrimPrefix(strings.TrimPrefix(change.Found, "flag "), "podman option ")
			switch {
			case strings.HasPrefix(change.What, "flag "), strings.HasPrefix(change.What, "podman option "):
			case strings.HasPrefix(change.What, "command"):
				want = strings.TrimPrefix(change.Found, "command: ")
			case strings.HasPrefix(change.What, "container"):
				want = s.Run.Name
			case strings.HasPrefix(change.What, "copy"):
				want = "cp added/" + s.ID + " .new/"
			case strings.HasPrefix(change.What, "mkdir"):
				want = "added/" + s.ID
			}
			lines++
			if flat := strings.Join(strings.Fields(strings.NewReplacer("\\\n", " ", `"`, "").Replace(uncommented(string(text)))), " "); !strings.Contains(flat, want) && !strings.Contains(flat, strings.Replace(want, "=", " ", 1)) {
				t.Errorf("%s.sh has no %q, which counts as applied: %s", s.ID, want, change)
			}
		}
		if s.Kind == "render" && len(plan.Audited.Of(labs.NotApplied, s.ID)) > 0 {
			t.Errorf("%s: %v", s.ID, plan.Audited.Of(labs.NotApplied, s.ID))
		}
		if s.Kind != "render" {
			continue
		}
		shown := bash(t, filepath.Join(dir, "scripts", s.ID+".sh"), "--dry-run")
		run := lineOf(lineBreak.ReplaceAllString(shown, " "), "podman run --quiet --net=host")
		for _, want := range []string{"--name " + s.Run.Name + " ", "--cpus=3 ", "--added=yes", "-other"} {
			if !strings.Contains(run, want) {
				t.Errorf("%s.sh: no %s in\n%s", s.ID, want, run)
			}
		}
	}
	if scripts < 12 || lines < 100 {
		t.Errorf("only %d scripts and %d lines were looked at", scripts, lines)
	}
	t.Logf("%d scripts, %d lines", scripts, lines)
}

// uncommented are the lines of a script that are no comments.
func uncommented(script string) string {
	var out []string
	for _, line := range strings.Split(script, "\n") {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}
