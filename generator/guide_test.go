package generator

import (
	"strings"
	"testing"
)

func TestAStageOfTheNodeAloneHasAPageToo(t *testing.T) {
	files := map[string]string{}
	for _, f := range render(t, "compact", "4.21").Files {
		files[f.Path] = string(f.Data)
	}
	for file, texts := range map[string][]string{
		"guide/verify-api.md":   {"`sudo /opt/bootlab/verify-api.sh`", "curl --cacert"},
		"guide/resolve-api.md":  {"`sudo /opt/bootlab/resolve-api.sh`", "Next: `sudo /opt/bootlab/render-cco.sh`"},
		"node/verify-api.sh":    {"STAGE=verify-api"},
		"node/resolve-api.sh":   {"STAGE=resolve-api"},
		"node/render-mco.sh":    {"NEXT='resolve-api.sh'"},
		"scripts/render-mco.sh": {"NEXT='render-cco.sh'"},
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
