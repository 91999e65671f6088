package generator

import (
	"slices"
	"strings"
	"testing"
)

func TestAStageOfTheNodeAloneHasAPageToo(t *testing.T) {
	files := map[string]string{}
	for _, f := range render(t, "compact", "4.21").Files {
		files[f.Path] = string(f.Data)
	}
	for file, texts := range map[string][]string{
		"guide/verify-api.md":   {"\nsudo /opt/bootlab/verify-api.sh\n", "curl --cacert"},
		"guide/resolve-api.md":  {"\nsudo /opt/bootlab/resolve-api.sh\n", "## Next\n\n`sudo /opt/bootlab/render-cco.sh`"},
		"node/verify-api.sh":    {"STAGE=verify-api"},
		"node/resolve-api.sh":   {"STAGE=resolve-api"},
		"node/render-mco.sh":    {"NEXT='resolve-api.sh'"},
		"scripts/render-mco.sh": {"NEXT='render-cco.sh'"},
		"guide/lib-stage.md":    {"# lib/stage.sh: the protocol that every stage script follows", "It holds no value of a lab."},
		"README.md":             {"[`resolve-api.sh`](guide/resolve-api.md)", "[`verify-api.sh`](guide/verify-api.md)"},
	} {
		for _, text := range texts {
			if !strings.Contains(files[file], text) {
				t.Errorf("%s does not say %s", file, text)
			}
		}
	}
	for _, file := range []string{"scripts/verify-api.sh", "scripts/resolve-api.sh"} {
		if files[file] != "" {
			t.Errorf("%s is made", file)
		}
	}
	if strings.Contains(files["README.md"], "scripts/verify-api") {
		t.Error("the README names a local run of verify-api")
	}
}

// What is copied from the page of a stage is a step as it runs.
func TestThePageOfAStageHoldsTheWholeScript(t *testing.T) {
	files := map[string]string{}
	for _, f := range render(t, "compact", "4.21").Files {
		files[f.Path] = string(f.Data)
	}
	pages := 0
	for name, page := range files {
		id, isPage := strings.CutPrefix(name, "guide/")
		script := files["scripts/"+strings.TrimSuffix(id, ".md")+".sh"]
		_, body, _ := strings.Cut(script, "\n# Settings")
		if !isPage || body == "" || id == chainScript+".md" {
			continue
		}
		pages++
		if own := files[strings.TrimSuffix(name, ".md")+"-script.md"]; own != "" {
			page = own + "\n## End\n"
		}
		_, section, _ := strings.Cut(page, "\n## The script\n")
		section, _, _ = strings.Cut(section, "\n## ")
		var shown []string
		for i, block := range strings.Split(section, "```") {
			if i%2 == 1 {
				shown = append(shown, strings.Split(strings.TrimPrefix(block, "bash\n"), "\n")...)
			}
		}
		var want []string
		for _, line := range strings.Split(body, "\n")[1:] {
			if !isStage(script) || stepBegin.FindString(line) == "" && stepEnd.FindString(line) == "" {
				want = append(want, line)
			}
		}
		// The end of an if of the script's own looks like that of a step.
		bare := func(lines []string) string {
			return strings.Join(slices.DeleteFunc(bareLines(strings.Join(lines, "\n")), func(line string) bool {
				return stepEnd.MatchString(line)
			}), "\n")
		}
		if got, want := bare(shown), bare(want); got != want {
			t.Errorf("%s does not show its script: first at %q", name, firstDifference(want, got))
		}
	}
	if pages < 20 {
		t.Errorf("only %d pages have a script", pages)
	}
}

// bareLines are the lines of code of a piece of script, without their indentation.
func bareLines(text string) []string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}
