package labs

import "testing"

func TestEachNameOfAValueIsThereOnce(t *testing.T) {
	seen := map[string]int{}
	for i, v := range values {
		if v.script+v.file+v.evidence == "" || v.of == nil {
			t.Errorf("value %d has no name or no origin", i)
		}
		for _, name := range []string{"script " + v.script, "file " + v.file, "evidence " + v.evidence} {
			seen[name]++
		}
	}
	for name, times := range seen {
		if last := name[len(name)-1]; last != ' ' && times > 1 {
			t.Errorf("%s: %d values", name, times)
		}
	}
}

// A bundle tells of a lab in part, and the evidence is asked for all the same.
func TestSettingsNeedNoWholeLab(t *testing.T) {
	if got := (&Lab{}).Settings(); got["machine_network"] != "" || got["api"] != "api.." {
		t.Errorf("settings of an empty lab: %v", got)
	}
}
