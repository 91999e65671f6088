package cli

import (
	"runtime/debug"
	"testing"
)

func TestTheVersionIsSemanticWhateverTheBuildKnows(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3": "1.2.3", "v1.2.4-0.20261122184400-e28a2450a1b2+dirty": "1.2.4-0.20261122184400-e28a2450a1b2+dirty",
		"(devel)": development, "": development, "v1.2": development,
	} {
		b := Build{Version: development}
		b.read(&debug.BuildInfo{Main: debug.Module{Version: version}})
		if b.Version != want || !semantic.MatchString(b.Version) {
			t.Errorf("%q: %s", version, b.Version)
		}
	}
	b := Build{Version: "1.2.3", Go: "go1.26", Platform: "linux/arm64"}
	b.read(&debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "e28a2450a1b2c3d4"}, {Key: "vcs.modified", Value: "true"},
		{Key: "CGO_ENABLED", Value: "1"}, {Key: "-tags", Value: "libvirt_dlopen"}}})
	if got := b.String(); got != "bootlab 1.2.3 e28a2450a1b2 (modified), go1.26, linux/arm64" || !b.Libvirt {
		t.Error(got)
	}
	if got := ThisBuild(); !semantic.MatchString(got.Version) || got.Go == "" {
		t.Errorf("%+v", got)
	}
}
