package labs

import (
	"os"
	"path/filepath"
	"testing"
)

func TestStandInsAreRecognizedByTheirRepository(t *testing.T) {
	for image, want := range map[string]bool{
		"127.0.0.1:20001/" + StandIns + "/release:4.21.0-stand-in": true,
		"quay.io/okd/scos-release:4.21.0-okd-scos.8":               false,
		"quay.io/okd/" + StandIns + ":1":                           false,
		StandIns + "/release:1":                                    false,
		"":                                                         false,
	} {
		if got := (ReleaseRef{Image: image}).StandIn(); got != want {
			t.Errorf("%q: %t", image, got)
		}
	}
}

func TestACommentedLabNamesItsReleaseAndItsCA(t *testing.T) {
	release := ReleaseRef{Distribution: "okd", Version: "4.16", Image: "127.0.0.1:20001/" + StandIns + "/release:1"}
	text, err := CommentedFor(release, "ca.crt", "compact", "mine", UID([UIDBytes]byte{1}))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, data := range map[string][]byte{"lab.yaml": text, "ca.crt": []byte(additionalCA)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lab, problems := LoadLab(dir, Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	if lab.Release != release || lab.AdditionalTrustBundle != "ca.crt" || lab.Metadata.Name != "mine" {
		t.Errorf("%+v", lab)
	}
}
