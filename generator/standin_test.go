package generator

import (
	"path"
	"strings"
	"testing"

	"bootlab/labs"
)

func TestEveryScriptAndPageOfADemoSaysSo(t *testing.T) {
	p := plan(t, "compact", "4.21")
	p.Lab.Release.Image = "127.0.0.1:20001/" + labs.StandIns + "/release:4.21.0-stand-in"
	files := texts(t, p)
	if !strings.Contains(files["guide/stand-ins.md"], "## What is not real") || !strings.Contains(files["guide/stand-ins.md"], "`127.0.0.1:20001`") {
		t.Errorf("the page is\n%s", files["guide/stand-ins.md"])
	}
	if !strings.Contains(files["guide.json"], "4.21 (demo: stand-ins, not the real operators)") {
		t.Error("the site does not say so")
	}
	marked := 0
	for name, text := range files {
		page := "guide/stand-ins.md"
		switch {
		case path.Ext(name) == ".md" && strings.HasPrefix(name, "guide/"):
			page = "(stand-ins.md)"
		case path.Ext(name) != ".md" && path.Ext(name) != ".sh":
			continue
		}
		marked++
		if !strings.Contains(text, "This lab is a demo") || !strings.Contains(text, page) {
			t.Errorf("%s does not say that it belongs to a demo:\n%.400s", name, text)
		}
	}
	if marked < 100 {
		t.Errorf("only %d files were looked at", marked)
	}
	for name, text := range texts(t, plan(t, "compact", "4.21")) {
		if strings.Contains(text, "This lab is a demo") || name == "guide/stand-ins.md" {
			t.Errorf("%s of an ordinary lab says that it belongs to a demo", name)
		}
	}
}
