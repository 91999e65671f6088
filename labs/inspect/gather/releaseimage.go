package gather

import (
	"bytes"
	"encoding/json"
	"slices"

	"bootlab/labs"
	"bootlab/labs/inspect/record"
)

// The installer's analyze begins with the record of release-image.service, and looks
// no further where there is none. In a local run a script pulls the release image, and
// keeps its record with the other stages.
//
// Source: openshift/installer pkg/gather/service/analyze.go, main of July 2026, which
// reads the records release-image and bootkube.
const (
	releaseImageRecord = "bootstrap/services/release-image.json"
	bootkubeRecord     = "bootstrap/services/bootkube.json"
	pullStage          = "pull-release-image"
)

// releaseImage writes that record out of the stages that pull the release image,
// unless a service kept it.
func (g *gathering) releaseImage() {
	text := g.b.files[bootkubeRecord]
	if !g.b.Index.Local || text == nil || g.b.files[releaseImageRecord] != nil {
		return
	}
	var out []record.Entry
	for _, e := range record.Read(bytes.NewReader(text)).Entries {
		if !pulls(e.Stage) {
			continue
		}
		e.Stage = pullStage
		service := record.Entry{Timestamp: e.Timestamp, Phase: record.ServiceStart}
		switch e.Phase {
		case record.StageStart:
			out = append(out, service, e)
		case record.StageEnd:
			service.Phase, service.Result, service.ErrorMessage = record.ServiceEnd, e.Result, e.ErrorMessage
			out = append(out, e, service)
		}
	}
	if len(out) == 0 {
		return
	}
	if text, err := json.MarshalIndent(out, "", "  "); err == nil {
		g.add(releaseImageRecord, append(text, '\n'))
	}
}

// pulls says whether a stage is one that brings the release image.
func pulls(stage string) bool {
	return slices.ContainsFunc(labs.BuiltinDiagnosis().Layers, func(l *labs.Layer) bool {
		return l.ID == "image" && slices.ContainsFunc(l.Stages, func(id string) bool {
			s := labs.Builtin().Stage(id)
			return s != nil && s.RecordName() == stage
		})
	})
}
