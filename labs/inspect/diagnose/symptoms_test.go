package diagnose

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"bootlab/labs"
)

// A symptom that no test proves may never be.
func TestEverySymptomHasACase(t *testing.T) {
	for _, layer := range labs.BuiltinDiagnosis().Layers {
		known := map[string]bool{}
		for _, s := range layer.Symptoms {
			known[s.ID] = true
			if _, ok := cases[layer.ID][s.ID]; !ok {
				t.Errorf("layer %s: nothing proves %s", layer.ID, s.ID)
			}
		}
		for id := range cases[layer.ID] {
			if !known[id] {
				t.Errorf("layer %s: %s is no symptom", layer.ID, id)
			}
		}
	}
}

func eachProof(each func(of string, p *labs.Proof)) {
	for _, layer := range labs.BuiltinDiagnosis().Layers {
		for _, list := range [][]labs.Proof{layer.Good, layer.Begun} {
			for i := range list {
				each("layer "+layer.ID, &list[i])
			}
		}
		for i := range layer.Symptoms {
			s := &layer.Symptoms[i]
			for _, list := range [][]labs.Proof{s.Proof, s.Or, s.Unless} {
				for j := range list {
					each("symptom "+s.ID, &list[j])
				}
			}
		}
	}
}

func TestEveryProgramAndPatternCompiles(t *testing.T) {
	eachProof(func(of string, p *labs.Proof) {
		if p.JQ != "" {
			if _, err := Compile(p.JQ); err != nil {
				t.Errorf("%s: %v", of, err)
			}
		}
		for _, pattern := range []string{p.Matches, p.Fails, p.Says} {
			if re, err := regexp.Compile(pattern); err != nil {
				t.Errorf("%s: %v", of, err)
			} else if pattern != "" && re.MatchString("") {
				t.Errorf("%s: %q matches nothing at all", of, pattern)
			}
		}
	})
}

// allLayers are the ids of the walk.
func allLayers() []string {
	var ids []string
	for _, layer := range labs.BuiltinDiagnosis().Layers {
		ids = append(ids, layer.ID)
	}
	return ids
}

// The evidence of a lab that ended well proves nothing, in any release and shape.
func TestNothingIsFoundInAHealthyLab(t *testing.T) {
	for _, release := range labs.Builtin().ReleaseIDs() {
		for _, example := range []string{"ha", "compact"} {
			t.Run(example+" "+release, func(t *testing.T) {
				r := recorded{example: example, release: release}.walk(t, allLayers()...)
				if r.Verdict != Healthy || len(r.Warnings) > 0 {
					t.Errorf("%s at %s: cause %+v, warnings %+v", r.Verdict, r.Layer, r.Cause, r.Warnings)
				}
				for _, a := range r.Layers {
					if a.Answer != "yes" && a.Answer != "nothing found" {
						t.Errorf("%s: %s", a.Layer, a.Answer)
					}
				}
			})
		}
	}
}

// Whatever one layer proves, those below it do not take for something of theirs.
func TestACauseIsFoundOnTheWholeWayUp(t *testing.T) {
	for _, layer := range []string{"host", "node", "image", "render"} {
		for id, c := range cases[layer] {
			t.Run(id, func(t *testing.T) {
				r := c.walk(t, "host", "node", "image", "render")
				if r.Cause != nil && r.Cause.ID == id {
					return
				}
				for _, w := range append(r.Warnings, r.Harmless...) {
					if w.ID == id {
						return
					}
				}
				t.Errorf("%s at %s: cause %+v, warnings %+v", r.Verdict, r.Layer, r.Cause, r.Warnings)
			})
		}
	}
}

// What the stage data tells of usual failures is proven by the component's own
// message, in what the script or bootkube.sh printed.
func TestTheFailuresOfStagesAreSymptoms(t *testing.T) {
	for _, release := range []string{"4.14", "4.18", "main"} {
		plan := planOf(t, "ha", release)
		for _, layer := range labs.BuiltinDiagnosis().Layers {
			if layer.ID != "host" && layer.ID != "image" && layer.ID != "render" {
				continue
			}
			for _, id := range layer.Stages {
				if stage := plan.Stage(id); stage != nil {
					failuresAreProven(t, release, layer.ID, stage)
				}
			}
		}
	}
}

func failuresAreProven(t *testing.T, release, layer string, stage *labs.Stage) {
	for _, f := range stage.Failures {
		t.Run(fmt.Sprint(release, " ", stage.ID, " ", f.ID), func(t *testing.T) {
			ways := map[string]change{"by hand": failedByHand(stage.RecordName(), stage.ID, "some words", "x "+f.Message+" y")}
			if stage.Bootkube != "" {
				ways["by bootkube.sh"] = failedByBootkube(stage.RecordName(), "x "+f.Message+" y")
			}
			for way, c := range ways {
				r := recorded{release: release, changes: young(c)}.walk(t, layer)
				if r.Verdict != Proven {
					t.Fatalf("%s: %s", way, r.Verdict)
				}
				if own := hasOwn(layer, r.Cause.ID); r.Cause.ID != stage.ID+"/"+f.ID && !own {
					t.Errorf("%s: %s is proven", way, r.Cause.ID)
				}
			}
		})
	}
}

// hasOwn says whether a symptom is the layer's own: those are tried first, and
// say the same more closely.
func hasOwn(layer, id string) bool {
	_, ok := cases[layer][id]
	return ok
}

// failedByBootkube is bootkube.service that was started twice: the second time it
// failed in that stage, and it was restarted.
func failedByBootkube(record, line string) change {
	return func(_ *testing.T, e evidence) {
		e["bootkube-record"] = "[" + strings.Join([]string{
			entry(0, "service start", "", ""), entry(0, "service start", "", ""),
			entry(1, "stage start", "openshift-manifests", ""), entry(1, "stage end", "openshift-manifests", "failure"), entry(1, "service end", "", "failure"),
			entry(10, "service start", "", ""), entry(10, "service start", "", ""),
			entry(11, "stage start", record, ""), entry(12, "stage end", record, "failure"), entry(12, "service end", "", "failure"),
			entry(20, "service start", "", ""), entry(20, "service start", "", ""),
		}, ",\n") + "]"
		if record != "openshift-manifests" {
			e["bootkube-record"] = strings.Replace(e["bootkube-record"], `"stage end", "stage": "openshift-manifests", "result": "failure"`, `"stage end", "stage": "openshift-manifests", "result": "success"`, 1)
		}
		const at = "2026-01-02T05:50:00+0000 bootstrap "
		const started = at + "systemd[1]: Started bootkube.service - Bootstrap a Kubernetes cluster.\n"
		e["bootkube-journal"] = started + at + "bootkube.sh[1]: exec format error, permission denied of yesterday\n" +
			started + at + "bootkube.sh[2]: " + line + "\n" + at + "systemd[1]: bootkube.service: Failed with result 'exit-code'.\n" +
			started + at + "bootkube.sh[3]: something of now\n"
	}
}
