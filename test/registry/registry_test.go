package registry

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"bootlab/standin/images"
)

func smallImage(t *testing.T) v1.Image {
	t.Helper()
	image, err := images.Image{Files: map[string]images.File{"/a/b": {Data: []byte(strings.Repeat("x", 1000))}, "/a/c": {Link: "/a/b"}}}.Build()
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// get asks for the manifest behind a pull spec.
func get(r *Registry, spec string) (status int, body string, err error) {
	_, rest, _ := strings.Cut(spec, "/")
	repository, reference, byDigest := strings.Cut(rest, "@")
	if !byDigest {
		i := strings.LastIndex(rest, ":")
		repository, reference = rest[:i], rest[i+1:]
	}
	answer, err := http.Get("http://" + r.Host + "/v2/" + repository + "/manifests/" + reference)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(data), err
}

func TestAPushedImageIsServedByDigestAndTag(t *testing.T) {
	r := Start(t)
	tag, err := r.Tag("some/where", "v1", smallImage(t))
	if err != nil {
		t.Fatal(err)
	}
	digest, err := r.Push("some/where", smallImage(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{tag, digest} {
		if status, body, err := get(r, spec); status != 200 || !strings.Contains(body, string(types.DockerManifestSchema2)) {
			t.Errorf("%s: %d %v %s", spec, status, err, body)
		}
	}
	if r.Pulls("some/where") != 2 {
		t.Errorf("%d pulls counted, not 2", r.Pulls("some/where"))
	}
}

func TestTheSameFilesMakeTheSameImage(t *testing.T) {
	one, _ := smallImage(t).Digest()
	two, _ := smallImage(t).Digest()
	if one != two {
		t.Errorf("%s and %s", one, two)
	}
}

func TestAFaultHitsOnlyItsRepositoryAndOnlySoOften(t *testing.T) {
	r := Start(t)
	bad, _ := r.Push("bad", smallImage(t))
	good, _ := r.Push("good", smallImage(t))
	r.Break("bad", Fault{Status: 503, Times: 2})
	want := []int{503, 503, 200}
	for i, status := range want {
		if got, _, err := get(r, bad); got != status {
			t.Errorf("request %d of bad: %d %v, not %d", i, got, err, status)
		}
	}
	if got, _, _ := get(r, good); got != 200 {
		t.Errorf("good: %d", got)
	}
	if r.Refusals("bad") != 2 || r.Pulls("bad") != 1 {
		t.Errorf("%d refusals, %d pulls", r.Refusals("bad"), r.Pulls("bad"))
	}
}

func TestAFaultCanCutAnAnswer(t *testing.T) {
	r := Start(t)
	spec, _ := r.Push("cut", smallImage(t))
	r.Break("cut", Fault{CutAfter: 10})
	if _, body, err := get(r, spec); err == nil {
		t.Errorf("the whole answer arrived: %s", body)
	}
}

func TestAFaultCanSlowAnAnswerAndBeFixed(t *testing.T) {
	r := Start(t)
	spec, _ := r.Push("slow", smallImage(t))
	r.Break("slow", Fault{Delay: time.Minute})
	done := make(chan int)
	go func() {
		status, _, _ := get(r, spec)
		done <- status
	}()
	select {
	case status := <-done:
		t.Fatalf("answered %d at once", status)
	case <-time.After(100 * time.Millisecond):
	}
	r.Fix()
	select {
	case status := <-done:
		if status != 200 {
			t.Errorf("status %d", status)
		}
	case <-time.After(5 * time.Second):
		t.Error("still waiting after the fault was fixed")
	}
}
