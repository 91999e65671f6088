package demo

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"bootlab/standin"
)

// TestMain is also the process that serves the registry of a test's demo.
func TestMain(m *testing.M) {
	if lab := os.Getenv("BOOTLAB_TEST_SERVE"); lab != "" {
		d, err := Open(lab)
		if err == nil {
			err = d.Serve(context.Background())
		}
		if err != nil {
			io.WriteString(os.Stderr, "error: "+err.Error()+"\n")
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// newDemo makes a demo in a directory with a hostile name, and lets it end.
func newDemo(t *testing.T) *Demo {
	t.Helper()
	lab := filepath.Join(t.TempDir(), "a [*] 'lab'\n$(x)")
	if err := os.Mkdir(lab, 0o755); err != nil {
		t.Fatal(err)
	}
	d, err := Create(lab, "4.21")
	if errors.Is(err, standin.ErrNotBuilt) {
		if os.Getenv("CI") == "true" {
			t.Fatal("go generate ./standin has not run")
		}
		t.Skip("go generate ./standin has not run")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d *Demo) begin(t *testing.T) (process int) {
	t.Helper()
	t.Setenv("BOOTLAB_TEST_SERVE", d.Lab)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(t.Context(), program); err != nil {
		t.Fatal(err)
	}
	if process, err = d.Process(); err != nil || process == 0 {
		t.Fatal(process, err)
	}
	return process
}

// get asks the registry, trusting only the lab's CA.
func (d *Demo) get(t *testing.T, method, path string) int {
	t.Helper()
	ca, err := os.ReadFile(filepath.Join(d.Lab, CAFile))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}}
	req, err := http.NewRequest(method, "https://"+d.Address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

func TestARegistryIsServedAgainAfterAKill(t *testing.T) {
	d := newDemo(t)
	process := d.begin(t)
	manifest := strings.ReplaceAll(strings.TrimPrefix(d.digest, d.Address), "@", "/manifests/")
	_, tag, _ := strings.Cut(strings.TrimPrefix(d.Image(), d.Address), ":")
	for path, want := range map[string]int{
		"/v2/":           http.StatusOK,
		"/v2" + manifest: http.StatusOK,
		"/v2/bootlab-stand-in/release/manifests/" + tag: http.StatusOK,
		"/v2/bootlab-stand-in/release/manifests/x":      http.StatusNotFound,
	} {
		if got := d.get(t, http.MethodGet, path); got != want {
			t.Errorf("%s: status %d", path, got)
		}
	}
	if got := d.get(t, http.MethodPost, "/v2/x/blobs/uploads/"); got != http.StatusMethodNotAllowed {
		t.Errorf("a push: status %d", got)
	}
	// A second one does not get in its way.
	program, _ := os.Executable()
	if err := d.Start(t.Context(), program); err == nil || !strings.Contains(err.Error(), "another process serves this registry already") {
		t.Error(err)
	}
	if err := syscall.Kill(process, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for again := process; again != 0; {
		var err error
		if again, err = d.Process(); err != nil {
			t.Fatal(err)
		}
	}
	opened, err := Open(d.Lab)
	if err != nil {
		t.Fatal(err)
	}
	if second := opened.begin(t); second == process || opened.get(t, http.MethodGet, "/v2"+manifest) != http.StatusOK {
		t.Error("the images are not there after a kill, by the same names")
	}
	if err := opened.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if process, err := opened.Process(); process != 0 || err != nil {
		t.Error(process, err)
	}
}

func TestARegistryEndsWithItsLab(t *testing.T) {
	d := newDemo(t)
	d.begin(t)
	lock, err := os.Open(d.path(lockFile))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := os.RemoveAll(d.Lab); err != nil {
		t.Fatal(err)
	}
	held := syscall.Flock_t{Type: syscall.F_RDLCK}
	if err := syscall.FcntlFlock(lock.Fd(), syscall.F_SETLKW, &held); err != nil { // waits for its end
		t.Fatal(err)
	}
	if err := os.Mkdir(d.Lab, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(d.Lab, directory), 0o755); err != nil { // for Stop
		t.Fatal(err)
	}
}

func TestAnotherListenerIsNamed(t *testing.T) {
	d := newDemo(t)
	l, err := net.Listen("tcp", d.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("BOOTLAB_TEST_SERVE", d.Lab)
	program, _ := os.Executable()
	if err := d.Start(t.Context(), program); err == nil || !strings.Contains(err.Error(), d.Address+": bind: address already in use") {
		t.Error(err)
	}
	other, err := freeAddress(d.Lab)
	if err != nil || other == d.Address {
		t.Errorf("%s, %v", other, err)
	}
}

func TestOtherImagesAreNotServed(t *testing.T) {
	d := newDemo(t)
	d.digest += "0"
	if err := d.Serve(t.Context()); !errors.Is(err, ErrOtherBuild) {
		t.Error(err)
	}
}

func TestRemoveLeavesWhatItDidNotMake(t *testing.T) {
	d := newDemo(t)
	t.Setenv("PATH", t.TempDir()) // without podman
	for _, name := range []string{"out/work/closed/file", "lab.yaml", "mine"} {
		file := filepath.Join(d.Lab, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(d.Lab, "out/work/closed"), 0o666); err != nil {
		t.Fatal(err)
	}
	left, err := d.Remove(t.Context())
	if err != nil || !slices.Equal(left, []string{"mine"}) {
		t.Errorf("%q, %v", left, err)
	}
	if _, err := Open(d.Lab); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	if err := os.MkdirAll(filepath.Join(d.Lab, "out/work/vms"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Remove(t.Context()); !errors.Is(err, ErrMachines) {
		t.Error(err)
	}
	if err := os.Mkdir(filepath.Join(d.Lab, directory), 0o755); err != nil { // for Stop
		t.Fatal(err)
	}
}

func TestAnUnfinishedStartIsSwept(t *testing.T) {
	d := newDemo(t)
	if err := os.RemoveAll(filepath.Join(d.Lab, directory)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(d.Lab, "."+directory+"-1"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(d.Lab, "4.16"); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(d.Lab); err != nil || len(entries) != 1 {
		t.Error(entries, err)
	}
	info, err := os.Stat(d.path(serverFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}
