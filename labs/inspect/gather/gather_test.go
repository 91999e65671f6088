package gather

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/mask"
	"bootlab/labs/inspect/record"
)

// answers is a machine that answers each line as a test says.
type answers struct {
	name   string
	answer func(ctx context.Context, line string) (host.Result, error)
}

func (a answers) Name() string { return a.name }
func (a answers) Run(ctx context.Context, line string, limit int) (host.Result, error) {
	r, err := a.answer(ctx, line)
	if len(r.Out) > limit {
		r.Out, r.Cut = r.Out[len(r.Out)-limit:], true
	}
	return r, err
}
func (a answers) ReadFile(context.Context, string, int) ([]byte, error) { return nil, fs.ErrNotExist }
func (a answers) List(context.Context, string) ([]string, error)        { return nil, fs.ErrNotExist }

// always is a machine that says the same to everything.
func always(name, text string) answers {
	return answers{name, func(context.Context, string) (host.Result, error) { return host.Result{Out: []byte(text)}, nil }}
}

// compact is the plan of a lab with three masters.
func compact(t testing.TB) *labs.Plan {
	t.Helper()
	dir := t.TempDir()
	lab, problems := labs.LoadLab(examplePath(t, dir), labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(problems)
	}
	plan, err := labs.Builtin().Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func examplePath(t testing.TB, dir string) string {
	t.Helper()
	text := "metadata: {name: mylab}\nbaseDomain: example.test\nrelease: {distribution: okd, version: \"4.21\"}\ntopology: compact\nsshKey: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAcmF0VdJ1oQWgm8pzEmyXLc0gvWZTWMvaoTIsoYoVs2\n"
	if err := os.WriteFile(filepath.Join(dir, "lab.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func hosts(bootstrap host.Host, masters map[string]host.Host) *host.Hosts {
	return &host.Hosts{Here: always("this machine", ""), Bootstrap: bootstrap, Masters: masters, AssetDir: "/opt/openshift"}
}

// written writes a bundle and opens it again.
func written(t testing.TB, b *Bundle) (*host.Bundle, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), FileName(b.Index.Ended))
	if err := b.WriteFile(context.Background(), file); err != nil {
		t.Fatal(err)
	}
	opened, err := host.OpenBundle(context.Background(), file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.Close() })
	if len(opened.Notes) > 0 {
		t.Errorf("notes: %q", opened.Notes)
	}
	return opened, file
}

// contents is every file of an archive, unpacked.
func contents(t testing.TB, file string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for archive := tar.NewReader(zip); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(h.Name, ".gz") {
			inner, err := gzip.NewReader(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if text, err = io.ReadAll(inner); err != nil {
				t.Fatal(err)
			}
		}
		_, name, _ := strings.Cut(h.Name, "/")
		if h.Mode != 0o600 || h.Uid != 0 || h.Uname != "" || all[name] != "" {
			t.Errorf("%s: mode %o, owner %d %q", h.Name, h.Mode, h.Uid, h.Uname)
		}
		all[name] = string(text)
	}
}

func framed(t testing.TB, name, text string) string {
	return "==> " + name + "\n" + b64(gz(t, text)) + "\n"
}

// Whatever machines say, a bundle says the same, but for what is secret.
func TestWhatIsReadIsWhatWasFound(t *testing.T) {
	plan := compact(t)
	random := rand.New(rand.NewSource(1))
	words := []string{"level=error msg=\"x\"\n", `{"items":[{"a":1}]}`, "\n", "", "==> bootkube.json\n[]\n", "\x1b[31mred\x00\xff\n", strings.Repeat("line of a log\n", 300),
		"-----BEGIN PRIVATE KEY-----\nMHcCAQEEIN1vSHXXMmIl1qrq0ABBAAZIxkOwcwg6\n-----END PRIVATE KEY-----\n", "password=opensesame\n"}
	answer := func(_ context.Context, line string) (host.Result, error) {
		r := host.Result{Status: random.Intn(4)}
		for range random.Intn(20) {
			r.Out = append(r.Out, words[random.Intn(len(words))]...)
		}
		if random.Intn(3) == 0 {
			r.Err = []byte("complaint with token: " + jwt + "\n")
		}
		if random.Intn(100) == 0 {
			r.Out = bytes.Repeat([]byte("a line of a log that is too long to be kept\n"), 60_000)
		}
		switch random.Intn(12) {
		case 0:
			return r, errors.New("no answer in time")
		case 1:
			return r, fmt.Errorf("%w: refused", host.ErrUnreachable)
		}
		return r, nil
	}
	for range 10 {
		// One machine after the other would ask: random is for one alone.
		one := answers{"bootstrap", answer}
		var live []host.Found
		told := func(f host.Found) { live = append(live, f) }
		p := hosts(one, nil)
		p.Here = nil
		b := Gather(context.Background(), plan, p, Options{Masker: mask.New(), Progress: told})
		bundle, _ := written(t, b)
		read := bundle.Found(labs.BuiltinDiagnosis().For(plan).Evidence, plan.Lab)
		if len(read) == 0 {
			t.Fatal("nothing was read")
		}
		for _, f := range read {
			i := slices.IndexFunc(live, func(l host.Found) bool { return l.Evidence == f.Evidence })
			compareFound(t, live[i], f)
		}
	}
}

func compareFound(t *testing.T, live, read host.Found) {
	t.Helper()
	m := mask.New()
	g := &gathering{m: m}
	want := string(g.masked(live))
	if read.Had != live.Had || read.Node != live.Node || read.Problem != live.Problem || read.Status != live.Status || read.Cut != live.Cut ||
		!read.At.Equal(live.At) || read.Took != live.Took || read.Complaint != string(m.Bytes([]byte(live.Complaint))) {
		t.Errorf("%s: read %+v, found %+v", live.Evidence.ID, head(read), head(live))
	}
	if string(read.Text) != want {
		t.Errorf("%s: read %d bytes, want %d", live.Evidence.ID, len(read.Text), len(want))
	}
}

func head(f host.Found) host.Found {
	f.Text = f.Text[:min(len(f.Text), 80)]
	return f
}

// planted is a text and the secret in it.
type planted struct{ text, secret string }

// Whatever machines say is masked: texts, complaints, packed files.
func TestNoSecretIsInABundle(t *testing.T) {
	plan := compact(t)
	all := map[string]planted{
		"token":  {"token is " + jwt + " here", jwt},
		"key":    {"-----BEGIN PRIVATE KEY-----\nMHcCAQEEIN1vSHXXMmIl1qrq0ABBAAZIxkOwcwg6\n-----END PRIVATE KEY-----\n", "MHcCAQEEIN1vSHXX"},
		"secret": {`{"apiVersion":"v1","data":{"a":"c2hvcnQ="},"kind":"Secret"}`, "c2hvcnQ="},
		"packed": {"data:;base64," + b64(gz(t, "password: opensesame\n")), b64(gz(t, "password: opensesame\n"))[20:]},
		"own":    {"xone-of-a-kindy", "one-of-a-kind"},
	}
	var text strings.Builder
	for name, p := range all {
		fmt.Fprintf(&text, "%s\n%s\n\n", name, p.text)
	}
	files := framed(t, "a.log", text.String()) + framed(t, "journal.log.gz", text.String()) + framed(t, "tls/x.key", "key") + framed(t, "../../evil", "x") + framed(t, "auth/kubeconfig", "x")
	b := Gather(context.Background(), plan, hosts(answers{"bootstrap", func(_ context.Context, line string) (host.Result, error) {
		r := host.Result{Out: []byte(text.String()), Err: []byte(text.String()), Status: 1}
		if strings.Contains(line, "base64") {
			r = host.Result{Out: []byte("rest of a file that was cut\n" + files), Err: r.Err}
		}
		return r, nil
	}}, map[string]host.Host{"master-0": always("master-0", text.String())}), Options{Masker: mask.New([]byte("one-of-a-kind"))})
	_, file := written(t, b)
	files2 := contents(t, file)
	for name, text := range files2 {
		for kind, p := range all {
			if strings.Contains(text, p.secret) {
				t.Errorf("%s: %s: %q is there", name, kind, p.secret)
			}
		}
		if strings.HasSuffix(name, ".key") && strings.HasPrefix(name, "rendered-assets") || strings.Contains(name, "evil") || strings.HasPrefix(name, "rendered-assets") && strings.Contains(name, "kubeconfig") {
			t.Errorf("%s is there", name)
		}
	}
	for _, name := range []string{"bootstrap/journals/bootkube.log", "bootstrap/journals/journal.log.gz", "control-plane/" + plan.Lab.Machines.Masters[0].Address + "/journals/kubelet.log", "rendered-assets/openshift/a.log", host.IndexFile} {
		for _, kind := range []string{"private-key", "token", "password", "secret-object", "secret-of-this-lab"} {
			if !strings.Contains(files2[name], "<masked:"+kind+">") {
				t.Errorf("%s has no mark of kind %s", name, kind)
			}
		}
	}
}

func TestTheSameBundleIsTheSameBytes(t *testing.T) {
	b := Gather(context.Background(), compact(t), hosts(always("bootstrap", "text\n"), nil), Options{Masker: mask.New()})
	var first, second bytes.Buffer
	if err := errors.Join(b.Write(&first), b.Write(&second)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two archives of one bundle differ")
	}
}

// A node that hangs takes the time of the whole, and no more.
func TestWhatTakesTooLongIsNamed(t *testing.T) {
	hangs := answers{"bootstrap", func(ctx context.Context, _ string) (host.Result, error) {
		<-ctx.Done()
		return host.Result{Out: []byte("so far\n")}, ctx.Err()
	}}
	plan := compact(t)
	b := Gather(context.Background(), plan, hosts(hangs, map[string]host.Host{"master-0": always("master-0", "well\n")}),
		Options{Masker: mask.New(), Timeout: 300 * time.Millisecond})
	_, file := written(t, b)
	all := contents(t, file)
	if all["control-plane/"+plan.Lab.Machines.Masters[0].Address+"/journals/kubelet.log"] != "well\n" {
		t.Error("the other machine was not collected")
	}
	if all["bootstrap/journals/bootkube.log"] != "so far\n" || !strings.Contains(all["gather.log"], "not collected: bootkube-journal: bootstrap: ") {
		t.Errorf("the machine that hangs: %q\n%s", all["bootstrap/journals/bootkube.log"], all["gather.log"])
	}
	if missing := strings.Join(b.Index.Missing, "\n"); !strings.Contains(missing, "the asset directory") {
		t.Errorf("missing: %s", missing)
	}
}

// ssh finds nothing at that port.
func TestAMachineThatCannotBeReachedIsNamedOnce(t *testing.T) {
	if _, err := exec.LookPath("ssh"); err != nil {
		t.Skip("there is no ssh")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	config := filepath.Join(t.TempDir(), "ssh_config")
	if err := os.WriteFile(config, fmt.Appendf(nil, "Host *\n  HostName 127.0.0.1\n  Port %d\n  UserKnownHostsFile /dev/null\n  ConnectTimeout 5\n", port), 0o600); err != nil {
		t.Fatal(err)
	}
	b := Gather(context.Background(), compact(t), hosts(host.Node{Machine: "bootstrap", Config: config},
		map[string]host.Host{"master-0": host.Node{Machine: "master-0", Config: config}, "master-1": always("master-1", "well\n")}), Options{Masker: mask.New()})
	bundle, file := written(t, b)
	for _, f := range bundle.Found(labs.BuiltinDiagnosis().For(compact(t)).Evidence, compact(t).Lab) {
		gone := f.Evidence.On == labs.OnBootstrap || f.Node == "master-0"
		if gone && (f.Had || !strings.Contains(f.Problem, "cannot be reached") || !strings.Contains(f.Problem, "refused")) {
			t.Errorf("%s of %q: had %v, %q", f.Evidence.ID, f.Node, f.Had, f.Problem)
		}
		if f.Node == "master-1" && !f.Had {
			t.Errorf("%s of master-1: %q", f.Evidence.ID, f.Problem)
		}
	}
	if log := contents(t, file)["gather.log"]; !strings.Contains(log, "not collected: bootkube-journal: bootstrap: the machine cannot be reached") {
		t.Error(log)
	}
}

// The files of a local run's bundle, as far as they do not depend on the machine
// it runs on. The installer's analyze looks for bootstrap/services/NAME.json.
func TestTheFilesOfALocalRunsBundle(t *testing.T) {
	work := t.TempDir()
	for name, text := range map[string]string{
		"host/var/log/openshift/bootkube.json":                `[{"phase":"service start"}]`,
		"host/var/log/openshift/release-image.json":           `[{"phase":"service start"},{"phase":"service end","result":"success"}]`,
		"host/var/log/openshift/bootlab/make-pki.log":         "log\n",
		"host/var/log/openshift/bootlab/make-kubeconfigs.log": "log\n",
		"assets/make-pki.done":                                "",
		"assets/tls/root-ca.crt":                              "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
		"assets/tls/root-ca.key":                              "secret", "assets/auth/kubeconfig": "secret", "assets/auth/kubeadmin-password": "secret",
		"assets/manifests/a-secret.yaml": "secret", "assets/manifests/b.yaml": "kind: Secret\ndata:\n  a: c2VjcmV0\n", "assets/tools/oc": strings.Repeat("x", 3<<20),
	} {
		file := filepath.Join(work, name)
		os.MkdirAll(filepath.Dir(file), 0o700)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	os.Symlink("/etc/passwd", filepath.Join(work, "assets/passwd"))
	b := Gather(context.Background(), compact(t), &host.Hosts{Here: host.Local{}, Local: true, Work: work,
		AssetDir: filepath.Join(work, "assets"), Root: filepath.Join(work, "host")}, Options{Masker: mask.New()})
	_, file := written(t, b)
	var got []string
	for name, text := range contents(t, file) {
		for _, sure := range []string{"bootstrap/services/", "rendered-assets/", "bootlab/markers", "bootlab/records", "bootlab/stage-logs", "bootlab/asset-files", "bootlab/index", "gather.log", "resources/", "control-plane/"} {
			if strings.HasPrefix(name, sure) {
				got = append(got, name)
			}
		}
		if strings.Contains(text, "c2VjcmV0") || strings.Contains(text, "root:x:") {
			t.Errorf("%s: %q", name, text)
		}
	}
	slices.Sort(got)
	want := []string{"bootlab/asset-files.txt", "bootlab/index.json", "bootlab/markers.txt", "bootlab/records.txt", "bootlab/stage-logs.txt",
		"bootstrap/services/bootkube.json", "bootstrap/services/bootlab/make-kubeconfigs.log", "bootstrap/services/bootlab/make-pki.log", "bootstrap/services/release-image.json",
		"gather.log", "rendered-assets/openshift/make-pki.done", "rendered-assets/openshift/manifests/b.yaml", "rendered-assets/openshift/tls/root-ca.crt"}
	want = slices.DeleteFunc(want, func(s string) bool { return strings.HasSuffix(s, "make-pki.done") }) // it is empty
	if !slices.Equal(got, want) {
		t.Errorf("files\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if services := regexp.MustCompile(`/bootstrap/services/([^.]+)\.json$`); !services.MatchString("log-bundle-1/" + got[5]) {
		t.Errorf("analyze does not find %s", got[5])
	}
}

// The installer's analyze finds a release image that was pulled in a local run too.
func TestALocalRunTellsTheInstallerOfItsReleaseImage(t *testing.T) {
	for result, want := range map[string]string{"success": "success", "failure": "failure"} {
		work := t.TempDir()
		file := filepath.Join(work, "host/var/log/openshift/bootkube.json")
		os.MkdirAll(filepath.Dir(file), 0o700)
		text := `[{"timestamp":"2026-01-02T05:00:00Z","phase":"service start"},{"timestamp":"2026-01-02T05:00:01Z","phase":"stage start","stage":"release-info"},` +
			`{"timestamp":"2026-01-02T05:00:09Z","phase":"stage end","stage":"release-info","result":"` + result + `","errorMessage":"Error: manifest unknown"}]`
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		b := Gather(context.Background(), compact(t), &host.Hosts{Here: host.Local{}, Local: true, Work: work,
			AssetDir: filepath.Join(work, "assets"), Root: filepath.Join(work, "host")}, Options{Masker: mask.New()})
		entries := record.Read(bytes.NewReader(b.files[releaseImageRecord])).Entries
		var phases []string
		for _, e := range entries {
			phases = append(phases, e.Phase)
		}
		if !slices.Equal(phases, []string{record.ServiceStart, record.StageStart, record.StageEnd, record.ServiceEnd}) || entries[1].Stage != pullStage ||
			entries[3].Result != want || entries[3].ErrorMessage != "Error: manifest unknown" {
			t.Errorf("%s: %+v", result, entries)
		}
	}
}

// A writer that is killed leaves nothing under the final name.
func TestAKilledWriterLeavesNoHalfBundle(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log-bundle-20260102030405.tar.gz")
	c := exec.Command(os.Args[0], "-test.run=^TestWriteForEver$")
	c.Env = append(os.Environ(), "BOOTLAB_WRITE="+file)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		if parts, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".*.part-*")); len(parts) == 1 {
			if info, err := os.Stat(parts[0]); err == nil && info.Size() > 1<<20 && info.Mode().Perm() == 0o600 {
				break
			}
		}
		if i > 2000 {
			t.Fatal("nothing is written")
		}
		time.Sleep(5 * time.Millisecond)
	}
	c.Process.Kill()
	c.Wait()
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a bundle: %v", err)
	}
}

// TestWriteForEver is what the test above runs and kills.
func TestWriteForEver(t *testing.T) {
	file := os.Getenv("BOOTLAB_WRITE")
	if file == "" {
		t.Skip("only another test runs this")
	}
	noise := make([]byte, 16<<20)
	rand.New(rand.NewSource(1)).Read(noise)
	b := &Bundle{files: map[string][]byte{}}
	for i := range 1000 {
		b.files[fmt.Sprintf("noise/%04d", i)] = noise
	}
	t.Fatal(b.WriteFile(context.Background(), file))
}

func TestNothingIsReplaced(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine")
	os.WriteFile(file, []byte("mine"), 0o600)
	b := &Bundle{files: map[string][]byte{}}
	if err := b.WriteFile(context.Background(), file); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error %v", err)
	}
	if data, _ := os.ReadFile(file); string(data) != "mine" {
		t.Errorf("the file is %q", data)
	}
	if left, _ := os.ReadDir(filepath.Dir(file)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// What machines send as files may be anything.
func FuzzExtra(f *testing.F) {
	f.Add([]byte("==> a\nH4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA==\n==> ../b\n\n==> \n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		g := &gathering{ctx: context.Background(), b: &Bundle{files: map[string][]byte{}}, m: mask.New()}
		g.extra(host.Found{Evidence: &labs.Evidence{Run: "x", File: "rendered-assets/openshift"}, Had: true, Text: text})
		for name := range g.b.files {
			if !fs.ValidPath(name) || !strings.HasPrefix(name, "rendered-assets/openshift/") {
				t.Errorf("%q is a file", name)
			}
		}
	})
}

// The data of the index is what other programs read.
func TestTheIndexKeepsItsKeys(t *testing.T) {
	b := &Bundle{Index: host.Index{Version: host.IndexVersion, Evidence: []host.Entry{{ID: "a", File: "f", Took: time.Second}}}}
	data, err := b.index()
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"version", "release", "local", "begun", "ended", "lab", "evidence", "missing", "masked"} {
		if _, there := got[key]; !there {
			t.Errorf("no %s in %s", key, data)
		}
	}
}

// What is not masked in time must not be written, and is named.
func TestWhatIsNotMaskedIsLeftOut(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	plan := compact(t)
	begun := false
	told := func(f host.Found) {
		if begun = begun || f.Had; begun {
			stop()
		}
	}
	b := Gather(ctx, plan, hosts(always("bootstrap", "text\n"), nil), Options{Masker: mask.New(), Progress: told})
	if !begun || len(b.files) > 0 || b.Collected() > 0 {
		t.Errorf("%d files, %d had", len(b.files), b.Collected())
	}
	if !strings.Contains(b.Index.Evidence[0].Problem, late) || !strings.Contains(strings.Join(b.Index.Missing, "\n"), late) {
		t.Errorf("%q, missing %q", b.Index.Evidence[0].Problem, b.Index.Missing)
	}
}

func TestAnInterruptLeavesNoArchive(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithCancel(context.Background())
	stop()
	b := &Bundle{files: map[string][]byte{"a": []byte("text")}}
	if err := b.WriteFile(ctx, filepath.Join(dir, "x.tar.gz")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
