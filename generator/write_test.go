package generator

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func output(pairs ...string) *Output {
	o := &Output{}
	for i := 0; i < len(pairs); i += 2 {
		o.Files = append(o.Files, File{Path: pairs[i], Mode: 0o644, Data: []byte(pairs[i+1])})
	}
	return o
}

func mustWrite(t *testing.T, o *Output, dir string) *Report {
	t.Helper()
	r, err := o.Write(dir, WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestASecondWriteChangesNothing(t *testing.T) {
	dir := t.TempDir()
	o := output("a", "1", "sub/b", "2")
	mustWrite(t, o, dir)
	before, _ := os.Stat(filepath.Join(dir, "a"))
	r := mustWrite(t, o, dir)
	after, _ := os.Stat(filepath.Join(dir, "a"))
	if len(r.Written) != 0 || len(r.Unchanged) != 2 || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("second write: %+v", r)
	}
}

func TestAFileThatIsNoLongerGeneratedIsRemoved(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, output("a", "1", "b", "2"), dir)
	r := mustWrite(t, output("a", "1"), dir)
	if _, err := os.Stat(filepath.Join(dir, "b")); !errors.Is(err, fs.ErrNotExist) || len(r.Removed) != 1 {
		t.Errorf("b is still there: %v, %+v", err, r)
	}
}

func TestAnEditedFileStopsTheWholeWrite(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, output("a", "1", "b", "2"), dir)
	os.WriteFile(filepath.Join(dir, "b"), []byte("mine"), 0o644)
	_, err := output("a", "3", "b", "4").Write(dir, WriteOptions{})
	var edited *EditedError
	if !errors.As(err, &edited) || strings.Join(edited.Paths, " ") != "b" {
		t.Fatalf("err = %v", err)
	}
	if content(t, filepath.Join(dir, "a")) != "1" || content(t, filepath.Join(dir, "b")) != "mine" {
		t.Error("something was written all the same")
	}
}

func TestForceKeepsTheEditedFileBesideTheNewOne(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, output("b", "2"), dir)
	os.WriteFile(filepath.Join(dir, "b"), []byte("mine"), 0o644)
	r, err := output("b", "4").Write(dir, WriteOptions{Force: true})
	if err != nil || len(r.Kept) != 1 {
		t.Fatalf("%v, %+v", err, r)
	}
	if content(t, filepath.Join(dir, "b")) != "4" || content(t, filepath.Join(dir, "b.edited")) != "mine" {
		t.Error("the edit was lost or not replaced")
	}
}

func TestAnEditedFileThatIsNoLongerGeneratedStays(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, output("a", "1", "b", "2"), dir)
	os.WriteFile(filepath.Join(dir, "b"), []byte("mine"), 0o644)
	mustWrite(t, output("a", "1"), dir)
	if content(t, filepath.Join(dir, "b")) != "mine" {
		t.Error("the edit was removed")
	}
}

// A stage was renamed: its old script goes, unless a person edited it.
func TestTheScriptOfARenamedStageIsRemovedUnlessItWasEdited(t *testing.T) {
	const old, now = "node/release-brake.sh", "node/release-hold.sh"
	for edit, kept := range map[string]bool{"": false, "mine": true} {
		dir := t.TempDir()
		mustWrite(t, output(old, "1", "node/lib.sh", "1"), dir)
		if edit != "" {
			os.WriteFile(filepath.Join(dir, old), []byte(edit), 0o755)
		}
		r, err := output(now, "1", "node/lib.sh", "1").Write(dir, WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(filepath.Join(dir, old)); (err == nil) != kept || slices.Contains(r.Removed, old) == kept {
			t.Errorf("edited %t: %v, removed %q", kept, err, r.Removed)
		}
		if content(t, filepath.Join(dir, now)) != "1" {
			t.Error("the new script is not there")
		}
	}
}

func TestAForeignFileOfTheSameNameIsNotOverwritten(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "a"), []byte("foreign"), 0o644)
	if _, err := output("a", "1").Write(dir, WriteOptions{}); !errors.As(err, new(*EditedError)) {
		t.Errorf("err = %v", err)
	}
}

// A write that was killed between two renames leaves new and old files and its
// pending manifest.
func TestAnInterruptedWriteIsCompletedByTheNext(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, output("a", "1", "b", "1"), dir)
	second := output("a", "2", "b", "2")
	hash, err := sum(func(w io.Writer) error { _, err := w.Write([]byte("2")); return err })
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{dir: dir, known: map[string][]string{}, next: hashes{"a": hash, "b": hash}}
	if err := w.writeManifest(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(dir, "a"), []byte("2"), 0o644)

	mustWrite(t, output("a", "3", "b", "3"), dir) // neither is taken for an edit
	if content(t, filepath.Join(dir, "a")) != "3" || content(t, filepath.Join(dir, "b")) != "3" {
		t.Error("the third write is not complete")
	}
	mustWrite(t, second, dir)
	if _, err := os.Stat(filepath.Join(dir, pendingName)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the pending manifest is still there")
	}
}

func TestADirectoryInTheWayIsAnErrorAndNothingIsWritten(t *testing.T) {
	dir := t.TempDir()
	os.Mkdir(filepath.Join(dir, "b"), 0o755)
	if _, err := output("a", "1", "b", "2").Write(dir, WriteOptions{}); err == nil {
		t.Fatal("no error")
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); err == nil {
		t.Error("a was written")
	}
}

func TestAManifestThatNamesForeignPathsIsRefused(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, manifestName), []byte(`{"../victim": "00"}`), 0o644)
	if _, err := output("a", "1").Write(dir, WriteOptions{}); err == nil || !strings.Contains(err.Error(), "outside") {
		t.Errorf("err = %v", err)
	}
}

func TestEveryEditIsKeptHoweverOftenForceIsUsed(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, output("b", "1"), dir)
	for _, edit := range []string{"first", "second"} {
		os.WriteFile(filepath.Join(dir, "b"), []byte(edit), 0o644)
		if _, err := output("b", "1").Write(dir, WriteOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
	}
	if content(t, filepath.Join(dir, "b.edited")) != "first" || content(t, filepath.Join(dir, "b.edited-2")) != "second" {
		t.Error("an edit was lost")
	}
}

func TestALinkInTheOutputLeadsToNothing(t *testing.T) {
	dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	os.WriteFile(victim, []byte("untouched"), 0o644)
	for _, name := range []string{pendingName, pendingName + ".tmp", manifestName + ".tmp"} {
		os.Symlink(victim, filepath.Join(dir, name))
	}
	output("a", "1").Write(dir, WriteOptions{}) // an error is as good
	if content(t, victim) != "untouched" {
		t.Error("the target of a link was overwritten")
	}
}

func TestALostExecutableBitIsRestored(t *testing.T) {
	dir := t.TempDir()
	o := &Output{Files: []File{{Path: "run.sh", Mode: 0o755, Data: []byte("x")}}}
	mustWrite(t, o, dir)
	os.Chmod(filepath.Join(dir, "run.sh"), 0o644)
	mustWrite(t, o, dir)
	if info, err := os.Stat(filepath.Join(dir, "run.sh")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestWhatAKilledWriteStagedIsSweptAway(t *testing.T) {
	dir := t.TempDir()
	os.MkdirAll(filepath.Join(dir, stagingPrefix+"123", "x"), 0o755)
	mustWrite(t, output("a", "1"), dir)
	if left, _ := filepath.Glob(filepath.Join(dir, stagingPrefix+"*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestALinkedDirectoryIsRefusedAndNothingIsWrittenThroughIt(t *testing.T) {
	for name, link := range map[string]func(dir, elsewhere string) error{
		"a parent":      func(dir, elsewhere string) error { return os.Symlink(elsewhere, filepath.Join(dir, "sub")) },
		"a grandparent": func(dir, elsewhere string) error { return os.Symlink(elsewhere, filepath.Join(dir, "deep")) },
		"inside":        func(dir, _ string) error { return os.Symlink("real", filepath.Join(dir, "sub")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, elsewhere := t.TempDir(), t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, "real"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := link(dir, elsewhere); err != nil {
				t.Fatal(err)
			}
			_, err := output("a", "1", "sub/b", "2", "deep/er/c", "3").Write(dir, WriteOptions{Force: true})
			if err == nil || !strings.Contains(err.Error(), "is a link") {
				t.Errorf("%v", err)
			}
			for _, there := range []string{elsewhere, filepath.Join(dir, "real")} {
				if entries, _ := os.ReadDir(there); len(entries) > 0 {
					t.Errorf("written through the link: %v", entries)
				}
			}
			if _, err := os.Lstat(filepath.Join(dir, "a")); err == nil {
				t.Error("a was written")
			}
		})
	}
}

func TestAStaleFileBehindALinkedDirectoryIsNotRemoved(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	mustWrite(t, output("a", "1", "sub/b", "2"), dir)
	if err := os.Rename(filepath.Join(dir, "sub"), filepath.Join(elsewhere, "sub")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(elsewhere, "sub"), filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, output("a", "1"), dir)
	if content(t, filepath.Join(elsewhere, "sub", "b")) != "2" {
		t.Error("the file behind the link is another")
	}
}

// A linked output directory is what its owner wants: it was named.
func TestTheOutputDirectoryItselfMayBeALink(t *testing.T) {
	real := t.TempDir()
	link := filepath.Join(t.TempDir(), "out")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, output("sub/b", "2"), link)
	if content(t, filepath.Join(real, "sub", "b")) != "2" {
		t.Error("nothing was written")
	}
}

func TestWritesAtOnceDoNotDisturbEachOther(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i := range 40 {
		files = append(files, fmt.Sprintf("sub%d/file", i), strings.Repeat("x", i))
	}
	errs := make(chan error)
	for i := range 8 {
		go func() {
			_, err := output(append(slices.Clone(files), fmt.Sprintf("own%d", i), "")...).Write(dir, WriteOptions{})
			errs <- err
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".bootlab-*"))
	own, _ := filepath.Glob(filepath.Join(dir, "own*"))
	if len(left) != 1 || len(own) != 1 {
		t.Errorf("left are %v and %v", left, own)
	}
}

func TestWhatAKilledWriteLeftGoesEvenWhereNothingIsToBeDone(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, output("a", "1"), dir)
	if err := os.MkdirAll(filepath.Join(dir, stagingPrefix+"killed", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, output("a", "1"), dir)
	if left, _ := filepath.Glob(filepath.Join(dir, stagingPrefix+"*")); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}
