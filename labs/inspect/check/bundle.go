package check

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/record"
)

// bundledAssets is where bundles keep the asset directory.
const bundledAssets = "rendered-assets/openshift"

// ErrNoAssets says that a bundle has no asset directory.
var ErrNoAssets = errors.New("no " + bundledAssets)

// OfBundle are the declared checks of a plan on what a bundle kept.
func OfBundle(plan *labs.Plan, b *host.Bundle) (*Declared, error) {
	if info, err := fs.Stat(b.FS(), bundledAssets); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s holds %w", b.Path, ErrNoAssets)
	}
	assets, err := fs.Sub(b.FS(), bundledAssets)
	if err != nil {
		return nil, err
	}
	records, err := record.Open(b.FS())
	if err != nil && !errors.Is(err, record.ErrNone) {
		return nil, err
	}
	place := labs.OnNode
	if b.Local() {
		place = labs.Local
	}
	files := &Files{Assets: assets, Bundle: true, Incomplete: incomplete(b), Now: b.Time()}
	declared := &Declared{Plan: plan, Files: files, From: b.Path, Place: place,
		Records: records, Values: plan.CheckValues(), Advice: labs.Advice}
	if info, err := fs.Stat(b.FS(), host.TAPFolder); err == nil && info.IsDir() {
		declared.TAP, err = fs.Sub(b.FS(), host.TAPFolder)
		return declared, err
	}
	return declared, nil
}

// incomplete says why a file that is not in a bundle may have been there all the
// same; nil if it was not.
func incomplete(b *host.Bundle) error {
	if b.Torn || len(b.Notes) > 0 {
		return errors.New("not all of the bundle could be read")
	}
	if b.Index == nil {
		return nil
	}
	for _, missing := range b.Index.Missing {
		about := strings.Contains(missing, "asset directory") || strings.Contains(missing, bundledAssets)
		if about && !strings.HasSuffix(missing, "is left out for its name") {
			return errors.New("the asset directory was not gathered whole")
		}
	}
	return nil
}
