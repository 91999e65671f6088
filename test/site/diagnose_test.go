package site

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	cases "bootlab/labs/sample"
	"bootlab/site"
	programs "bootlab/test/build"
	"bootlab/test/checkout"
)

// program is the diagnosis for browsers, built from this checkout.
var program = sync.OnceValues(func() (*site.Program, error) {
	generate := exec.Command("go", "generate", "./site/browser")
	generate.Dir = checkout.Root()
	if out, err := generate.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	dir := filepath.Join(checkout.Root(), "site", "browser", "built")
	wasm, err := os.ReadFile(filepath.Join(dir, "diagnose.wasm.gz"))
	if err != nil {
		return nil, err
	}
	support, err := os.ReadFile(filepath.Join(dir, "wasm_exec.js"))
	return &site.Program{Wasm: wasm, Support: support}, err
})

func diagnosis(t testing.TB) site.Diagnosis {
	t.Helper()
	p, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return site.Diagnosis{Version: "bootlab 1.2.3", Program: p}
}

// diagnoseSite serves a guide with the page.
func diagnoseSite(t testing.TB, guide fs.FS) (origin string, s *site.Site) {
	t.Helper()
	s, err := site.BuildWith(guide, diagnosis(t))
	if err != nil {
		t.Fatal(err)
	}
	origin, _ = fromServer(t, s, site.Live{})
	return origin, s
}

// oneFile is where the page is that is one file.
func oneFile(t testing.TB, d site.Diagnosis) (origin string) {
	t.Helper()
	page, err := site.DiagnosePage(d)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "diagnose.html"), page, 0o644); err != nil {
		t.Fatal(err)
	}
	return "file://" + dir + "/"
}

// choose gives the page a file, and waits for what it says of it.
func (b *tab) choose(t testing.TB, file string) {
	t.Helper()
	b.run(t, chromedp.Evaluate(`document.getElementById('Answer').replaceChildren(); document.getElementById('Trouble').hidden = true; document.getElementById('File').value = ''`, nil),
		chromedp.SetUploadFiles("#File", []string{file}, chromedp.ByQuery))
	b.waitLong(t, 100*time.Second, `document.getElementById('Work').hidden && (document.querySelector('#Answer h2') !== null || !document.getElementById('Trouble').hidden)`)
}

// trouble is why there is no answer; empty if there is one.
func (b *tab) trouble(t *testing.T) string {
	t.Helper()
	return value[string](t, b, `document.getElementById('Trouble').hidden ? '' : document.getElementById('Trouble').textContent`)
}

// bundles are those of the public reports: a sample, and in the complete run all.
func bundles(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	c := exec.Command("go", "test", "-count=1", "-run=^TestReportsArePacked$", "./labs/inspect/diagnose")
	c.Dir, c.Env = checkout.Root(), append(os.Environ(), "BOOTLAB_KEEP_REPORTS="+dir)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.tar.gz"))
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	return files
}

// command gives what bootlab diagnose prints of a bundle.
func command(t *testing.T, args ...string) string {
	t.Helper()
	bootlab, err := programs.Program{Package: "bootlab/cmd/bootlab"}.File()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(bootlab, append([]string{"diagnose"}, args...)...).Output()
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		t.Fatal(err)
	}
	return string(out)
}

// The page gives the report of the command, byte by byte, wherever it comes from; and it
// asks for nothing once it is there.
func TestThePageSaysWhatTheCommandSays(t *testing.T) {
	all := bundles(t)
	want := map[string]string{}
	for _, file := range all {
		want[file] = command(t, file, "--output", "json")
	}
	served, s := diagnoseSite(t, shipped(t))
	for from, origin := range map[string]string{"server": served, "disk": "file://" + onDisk(t, s) + "/", "one file": oneFile(t, diagnosis(t))} {
		t.Run(from, func(t *testing.T) {
			var b *tab
			files := all
			if from != "server" {
				files = all[:2]
			}
			for i, file := range files {
				if i%30 == 0 { // a tab has only so much patience
					b = open(t, origin, desktop)
					b.visit(t, "diagnose.html")
				}
				b.choose(t, file)
				if got := value[string](t, b, `document.getElementById('Answer').answer?.report ?? ''`); got != want[file] {
					t.Errorf("%s: %s\n%s\nwant\n%s", file, b.trouble(t), got, want[file])
				}
			}
			markdown := value[string](t, b, `document.getElementById('Answer').answer.markdown`)
			if text := command(t, files[len(files)-1], "--output", "markdown"); markdown != text {
				t.Errorf("as Markdown:\n%s\nwant\n%s", markdown, text)
			}
			// A cause leads to its page, where a guide is beside the page.
			for _, link := range value[[]string](t, b, `[...document.querySelectorAll('#Answer a')].map((a) => a.getAttribute('href'))`) {
				if name, _, _ := strings.Cut(link, "#"); !slices.Contains(s.Names(), name) || from == "one file" {
					t.Errorf("a link leads to %s", link)
				}
			}
			b.fine(t, from)
			if asked := value[[]string](t, b, `performance.getEntriesByType('resource').map((r) => r.name).filter((name) => !/(site|diagnose)\.css$|diagnose(-program)?\.js$/.test(name))`); len(asked) > 0 {
				t.Errorf("the page asked for %v", asked)
			}
		})
	}
}

// packed is an archive with a journal and other files.
func packed(t testing.TB, fill func(*tar.Writer)) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	w := tar.NewWriter(zip)
	text := "Jan 02 05:10:05 bootstrap bootkube.sh[1843]: Rendering Kubernetes API server core manifests...\n" +
		"Jan 02 05:10:06 bootstrap bootkube.sh[1843]: Error: <img src=x onerror=\"document.title='run'\"> \x1b[31m \u202e unknown flag: --infra-config-file\n" +
		"Jan 02 05:10:06 bootstrap systemd[1]: bootkube.service: Main process exited, code=exited, status=1/FAILURE\n" +
		"Jan 02 05:10:06 bootstrap systemd[1]: bootkube.service: Failed with result 'exit-code'.\n"
	journal(t, w, "log-bundle-20260102060000/bootstrap/journals/bootkube.log", text)
	fill(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func journal(t testing.TB, w *tar.Writer, name, text string) {
	t.Helper()
	if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o644, ModTime: time.Date(2026, 1, 2, 6, 0, 0, 0, time.UTC)}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

// Whatever is chosen ends in an answer or in one sentence, and markup in a log stays
// text.
func TestHostileBundlesEndInOneSentence(t *testing.T) {
	whole := packed(t, func(*tar.Writer) {})
	random := bytes.Repeat([]byte("0123456789abcdef"), 1<<12)
	many := packed(t, func(w *tar.Writer) {
		// Reading ends at the limit: more entries cost nothing more.
		for i := range 200_100 {
			if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("log-bundle-20260102060000/%d", i), Mode: 0o644}); err != nil {
				t.Fatal(err)
			}
		}
	})
	origin, _ := diagnoseSite(t, sample())
	b := open(t, origin, desktop)
	b.visit(t, "diagnose.html")
	for name, c := range map[string]struct {
		data          []byte
		trouble, note string
	}{
		"markup":       {whole, "", ""},
		"torn":         {whole[:len(whole)-20], "", "torn"},
		"no archive":   {random, "no tar archive", ""},
		"empty":        {nil, "This cannot be diagnosed", ""},
		"of one kind":  {[]byte{0x1f, 0x8b, 8, 0}, "no gzip file", ""},
		"many entries": {many, "", "over the limit of 200000 entries"},
	} {
		file := filepath.Join(t.TempDir(), "log-bundle-20260102060000.tar.gz")
		if err := os.WriteFile(file, c.data, 0o644); err != nil {
			t.Fatal(err)
		}
		b.choose(t, file)
		got := b.trouble(t)
		if (got == "") != (c.trouble == "") || !strings.Contains(got, c.trouble) || strings.Contains(got, "\n") {
			t.Errorf("%s: the page says %q, want %q", name, got, c.trouble)
		}
		text := value[string](t, b, `document.getElementById('Answer').textContent`)
		if !strings.Contains(text, c.note) {
			t.Errorf("%s: nothing says %q in\n%s", name, c.note, text)
		}
		if c.trouble != "" {
			continue
		}
		if !strings.Contains(text, `<img src=x onerror="document.title='run'">`) || strings.ContainsAny(text, "\x1b\u202e") {
			t.Errorf("%s: the line of the log is\n%s", name, text)
		}
	}
	if n := value[int](t, b, `document.querySelectorAll('#Answer img').length`); n > 0 {
		t.Error("markup of a log became a part of the page")
	}
	b.fine(t, "hostile bundles")
}

// An archive of a few MB that unpacks to more than the limit ends in an answer too.
func TestABombEndsInOneSentence(t *testing.T) {
	cases.OnlyInAll(t, "TestHostileBundlesEndInOneSentence reaches a limit of unpacking, and TestLimitsEndReading all of them by the same code")
	file := filepath.Join(t.TempDir(), "log-bundle-20260102060000.tar.gz")
	data := packed(t, func(w *tar.Writer) {
		const size = 3 << 30
		if err := w.WriteHeader(&tar.Header{Name: "log-bundle-20260102060000/bootstrap/journals/kubelet.log", Size: size, Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		part := bytes.Repeat([]byte("A"), 1<<20)
		for range size >> 20 {
			if _, err := w.Write(part); err != nil {
				t.Fatal(err)
			}
		}
	})
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	origin, _ := diagnoseSite(t, sample())
	b := open(t, origin, desktop)
	b.visit(t, "diagnose.html")
	b.choose(t, file)
	if text := value[string](t, b, `document.getElementById('Answer').textContent`); b.trouble(t) != "" || !strings.Contains(text, "over the limit of bytes") {
		t.Errorf("%s\n%s", b.trouble(t), text)
	}
	b.fine(t, "a bomb")
}

// A long diagnosis tells how far it is, and can be cancelled; the next one works.
func TestADiagnosisTellsItsProgressAndIsCancelled(t *testing.T) {
	long := packed(t, func(w *tar.Writer) {
		text := strings.Repeat("0123456789 the journal of a long day\n", 1<<18)
		for i := range 40 {
			journal(t, w, fmt.Sprintf("log-bundle-20260102060000/bootstrap/journals/%d.log", i), text)
		}
	})
	dir := t.TempDir()
	file, short := filepath.Join(dir, "log-bundle-20260102060000.tar.gz"), filepath.Join(dir, "short.tar.gz")
	if err := errors.Join(os.WriteFile(file, long, 0o644), os.WriteFile(short, packed(t, func(*tar.Writer) {}), 0o644)); err != nil {
		t.Fatal(err)
	}
	b := open(t, oneFile(t, diagnosis(t)), phone)
	b.visit(t, "diagnose.html")
	// The page itself cancels after some words about its progress: it may be fast.
	b.run(t, chromedp.Evaluate(`window.told = new Set(); window.heard = new Set();
		new MutationObserver((_, observer) => {
			told.add(document.getElementById('Doing').textContent);
			if ([...told].filter((text) => text.startsWith('Unpacking')).length === 3) { observer.disconnect(); document.getElementById('Cancel').focus(); document.activeElement.click(); }
		}).observe(document.getElementById('Doing'), {childList: true});
		new MutationObserver(() => heard.add(document.getElementById('Said').textContent)).observe(document.getElementById('Said'), {childList: true})`, nil),
		chromedp.SetUploadFiles("#File", []string{file}, chromedp.ByQuery))
	b.wait(t, `document.getElementById('Work').hidden && document.activeElement.id === 'File'`)
	b.wait(t, `[...heard].some((text) => /^(Unpacking|Loading)/.test(text)) && heard.has('Cancelled. Nothing was kept.')`)
	if got := b.trouble(t); got != "Cancelled. Nothing was kept." {
		t.Errorf("the page says %q", got)
	}
	b.choose(t, short)
	if got := b.trouble(t); got != "" {
		t.Errorf("after a cancelled one: %s", got)
	}
	b.wait(t, `document.activeElement.textContent === 'Result' && document.getElementById('Said').textContent.startsWith('Cause: ')`)
	b.fine(t, "cancelling")
}

// The masked copy is an archive without the secret, and the page says what it masked.
func TestTheMaskedCopyIsSaved(t *testing.T) {
	const secret = "hunter2-Pa55word-of-the-lab"
	data := packed(t, func(w *tar.Writer) {
		journal(t, w, "log-bundle-20260102060000/bootstrap/journals/kubelet.log", "Jan 02 05:10:05 bootstrap a[1]: password="+secret+"\n")
	})
	file := filepath.Join(t.TempDir(), "log-bundle-20260102060000.tar.gz")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	b := open(t, oneFile(t, diagnosis(t)), desktop)
	b.visit(t, "diagnose.html")
	// What is saved is caught on its way to the disk.
	b.run(t, chromedp.Evaluate(`window.saved = []; URL.createObjectURL = (blob) => { saved.push(blob); return 'data:,'; }; HTMLAnchorElement.prototype.click = function () { saved.push(this.download); }`, nil))
	b.choose(t, file)
	b.run(t, chromedp.Evaluate(`[...document.querySelectorAll('.tools button')].find((b) => b.textContent === 'Save the masked copy').click()`, nil))
	b.wait(t, `document.querySelector('#Masked .note') !== null`)
	if name := value[string](t, b, `saved.at(-1)`); name != "masked-log-bundle-20260102060000.tar.gz" {
		t.Errorf("it is called %q", name)
	}
	text := value[string](t, b, `new Response(saved.at(-2).stream().pipeThrough(new DecompressionStream('gzip'))).text()`)
	if strings.Contains(text, secret) || !strings.Contains(text, "log-bundle-20260102060000/bootstrap/journals/kubelet.log") || !strings.Contains(text, "password=") {
		t.Errorf("the copy holds\n%q", text)
	}
	if said := value[string](t, b, `document.getElementById('Masked').textContent`); !strings.Contains(said, "2 files. 1 secrets") || !strings.Contains(said, "kubelet.log, line 1") {
		t.Errorf("the page says %q", said)
	}
}

// No rule of accessibility is broken before, while there is an answer, and where the
// program is missing; a phone need not scroll sideways.
func TestThePageDiagnoseBreaksNoRule(t *testing.T) {
	text := axe(t)
	file := filepath.Join(t.TempDir(), "log-bundle-20260102060000.tar.gz")
	if err := os.WriteFile(file, packed(t, func(*tar.Writer) {}), 0o644); err != nil {
		t.Fatal(err)
	}
	origin, _ := diagnoseSite(t, sample())
	for _, seen := range darkToo(phone, desktop) {
		t.Run(seen.String(), func(t *testing.T) {
			b := open(t, origin, seen)
			b.visit(t, "diagnose.html")
			look := func(when string) {
				b.run(t, chromedp.Evaluate(text, nil))
				for _, v := range value[[]string](t, b, violations) {
					t.Errorf("%s: %s", when, v)
				}
				// A phone shows a page that is too wide smaller: then innerWidth grows with it.
				if wide := value[int64](t, b, `document.documentElement.scrollWidth`); wide > seen.width {
					t.Errorf("%s: the page is %d pixels wide, the screen %d", when, wide, seen.width)
				}
			}
			look("at first")
			b.choose(t, file)
			value[[]int](t, b, `(document.querySelectorAll('details').forEach((d) => { d.open = true; }), [])`)
			look("with an answer")
		})
	}
	b := open(t, oneFile(t, site.Diagnosis{Version: "bootlab 1.2.3"}), phone)
	b.visit(t, "diagnose.html")
	b.run(t, chromedp.Evaluate(text, nil))
	for _, v := range value[[]string](t, b, violations) {
		t.Errorf("without the program: %s", v)
	}
	if said := value[string](t, b, `document.querySelector('main').innerText`); !strings.Contains(said, "make build") || !strings.Contains(said, "bootlab diagnose log-bundle-ID.tar.gz") {
		t.Errorf("without the program it says %q", said)
	}
	b.fine(t, "without the program")
}

// Without scripts the page names the command; on paper it is the report alone.
func TestThePageDiagnoseWithoutScriptsAndOnPaper(t *testing.T) {
	origin, _ := diagnoseSite(t, sample())
	off := desktop
	off.noScripts = true
	b := open(t, origin, off)
	b.visit(t, "diagnose.html")
	if said := value[string](t, b, `document.querySelector('main').innerText`); !strings.Contains(said, "needs JavaScript") || !strings.Contains(said, "bootlab diagnose log-bundle-ID.tar.gz") || strings.Contains(said, "drop it here") {
		t.Errorf("without scripts it says %q", said)
	}
	b = open(t, origin, desktop)
	b.run(t, forPaper)
	b.visit(t, "diagnose.html")
	for _, what := range []string{"#Choose", ".limits", ".top"} {
		if shown := value[bool](t, b, `document.querySelector('`+what+`').getClientRects().length > 0`); shown {
			t.Errorf("%s is on paper", what)
		}
	}
}

// BenchmarkDiagnoseInTheBrowser judges a bundle of 100 MB in a worker of Chromium. The
// program is there before: a page loads it when it is opened.
func BenchmarkDiagnoseInTheBrowser(b *testing.B) {
	const line = "Jan 02 05:%02d:41 bootstrap kubelet.sh[2251]: I0102 05:10:41.%s kubelet_node_status.go:736] \"Recording event message for node\"\n"
	var text strings.Builder
	for n := 0; text.Len() < 25e6; n++ {
		fmt.Fprintf(&text, line, n%60, fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, n)))[:12+n%32])
	}
	file := filepath.Join(b.TempDir(), "log-bundle-20260102060000.tar.gz")
	data := packed(b, func(w *tar.Writer) {
		for _, name := range []string{"kubelet", "crio", "release-image", "node-image-pull"} {
			journal(b, w, "log-bundle-20260102060000/bootstrap/journals/"+name+".log", text.String())
		}
	})
	if err := os.WriteFile(file, data, 0o644); err != nil {
		b.Fatal(err)
	}
	page := open(b, oneFile(b, diagnosis(b)), desktop)
	page.visit(b, "diagnose.html")
	page.wait(b, `document.getElementById('Answer').dataset.ready === 'true'`)
	seconds, memory := 0.0, 0.0
	for b.Loop() {
		page.choose(b, file)
		seconds += value[float64](b, page, `document.getElementById('Answer').answer.seconds`)
		memory = max(memory, value[float64](b, page, `document.getElementById('Answer').answer.memory`))
	}
	b.ReportMetric(seconds/float64(b.N), "s")
	b.ReportMetric(memory/1e6, "MB")
}
