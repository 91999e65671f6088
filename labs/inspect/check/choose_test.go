package check

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
)

// plan is that of the default lab.
func plan(t *testing.T) *labs.Plan {
	t.Helper()
	lab, problems := labs.LoadLabFS(labs.Examples, "compact", labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	p, err := labs.Builtin().Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWordsChooseStages(t *testing.T) {
	p := plan(t)
	localRun := func(s *labs.Stage) bool { return s.In(labs.Local) }
	for words, want := range map[string]string{
		"render-etcd":                        "render-etcd!",
		"render-etcd.sh":                     "render-etcd!",
		"etcd-bootstrap":                     "render-etcd!",
		"verify-api.sh":                      "verify-api!",
		"verify-api":                         "verify-api!",
		"render-cvo..render-kcm":             "render-cvo render-etcd render-kube-apiserver render-kcm",
		"..make-kubeconfigs":                 "make-pki make-kubeconfigs",
		"render-mco..wait-for-etcd":          "render-mco render-cco",
		"render-mco.. render-etcd":           "render-etcd! render-mco render-cco",
		"render-cvo..render-etcd render-cvo": "render-cvo! render-etcd",
		"wait-for-etcd":                      "wait-for-etcd!",
	} {
		chosen, err := Choose(p, strings.Fields(words), localRun)
		if err != nil {
			t.Errorf("%s: %v", words, err)
		}
		var got []string
		for _, c := range chosen {
			if c.Named {
				got = append(got, c.ID+"!")
			} else {
				got = append(got, c.ID)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s chooses %v", words, got)
		}
	}
}

func TestAllIsWhatIsHere(t *testing.T) {
	p := plan(t)
	node := func(s *labs.Stage) bool { return s.In(labs.OnNode) }
	for _, words := range [][]string{nil, {"all"}, {"make-pki.."}} {
		chosen, err := Choose(p, words, node)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(chosen, func(c Choice) bool { return c.Named || c.ID == "make-pki" || c.ID == "release-hold" }) ||
			!slices.ContainsFunc(chosen, func(c Choice) bool { return c.ID == "start-bootstrap" }) {
			t.Errorf("%v: %v", words, chosen)
		}
	}
}

func TestOtherWordsAreRefused(t *testing.T) {
	p := plan(t)
	here := func(s *labs.Stage) bool { return s.In(labs.Local) }
	for _, word := range []string{"", "..", "nonsense", "render-etcd..nonsense", "nonsense..", "render-etcd...render-kcm", "start-bootstrap..finish-bootstrap", "render-kcm..render-cvo"} {
		chosen, err := Choose(p, []string{word}, here)
		if err == nil {
			t.Errorf("%q chooses %v", word, chosen)
		}
		var unknown *UnknownStage
		if errors.As(err, &unknown) && len(unknown.Known) != len(p.Stages) {
			t.Errorf("%q: known are %v", word, unknown.Known)
		}
	}
}
