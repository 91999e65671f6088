package labs

import (
	"reflect"
	"testing"
)

func TestMirrorsAreMergedAsTheInstallerDoes(t *testing.T) {
	const items = `
- {source: quay.io/a, mirrors: [m.test:5000/a, n.test]}
- {source: quay.io/b, mirrors: [m.test:5000/b]}
- {source: quay.io/a, mirrors: [o.test/a, n.test]}
`
	want := []ImageSource{
		{"quay.io/a", []string{"m.test:5000/a", "n.test", "o.test/a"}},
		{"quay.io/b", []string{"m.test:5000/b"}},
	}
	for _, key := range []string{"imageDigestSources", "imageContentSources"} {
		lab, ps := LoadLabFS(labFiles(minimal+key+":"+items), ".", labCatalog(t))
		if ps.Err() != nil {
			t.Fatal(ps)
		}
		if got := lab.Mirrors(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", key, got)
		}
		if len(lab.ImageSources()) != 3 {
			t.Errorf("%s: the sources themselves were changed", key)
		}
	}
	lab := &Lab{ImageDigestSources: []ImageSource{{Source: "quay.io/c"}}}
	if got := lab.Mirrors(); len(got) != 0 {
		t.Errorf("a source without a mirror: %+v", got)
	}
}

func TestValidateImageSources(t *testing.T) {
	const rule = "\n  allowed: REGISTRY or REGISTRY/REPOSITORY, without tag and digest"
	mirror := func(name, value, message string) labCase {
		return labCase{name, minimal + "imageDigestSources:\n- source: r.test/a\n  mirrors:\n  - " + value + "\n",
			"lab.yaml:7:5: imageDigestSources[0].mirrors[0]: " + message}
	}
	shown := func(value string) string { return "\n     7 |   - " + value + "\n       |     ^" + rule }
	checkLabs(t, []labCase{
		{"registries and repositories are taken", minimal + "imageDigestSources:\n- source: r.test\n  mirrors: [localhost, m.test:5000/a/b_c, 10.0.0.1:1]\n- source: docker.io/library/a\n  mirrors: [m.test]\n", ""},
		mirror("a tag is refused", "m.test/a:1", `"m.test/a:1" is an image, with tag or digest`+shown("m.test/a:1")+"\n  hint: leave out what stands behind the repository"),
		mirror("a URL is refused", "https://m.test", `"https://m.test" is a URL`+shown("https://m.test")+"\n  hint: write it without what stands before //"),
		mirror("a login is not shown", "https://u:secret@m.test", `this value is a URL`+rule+"\n  hint: write it without what stands before //"),
		mirror("a bare word is refused", "mirror", `"mirror" names no registry`+shown("mirror")+"\n  hint: a registry is a host with a dot or a port, as quay.io or localhost:5000"),
		mirror("a slash at the end is refused", "m.test/", `"m.test/" ends in a slash`+shown("m.test/")),
		mirror("what a shell would run is refused", "m.test/$(reboot)", `"m.test/$(reboot)" is neither a registry nor a repository in one`+shown("m.test/$(reboot)")),
		mirror("what ends a line is refused", `"m.test\n[[registry]]"`, `"m.test\n[[registry]]" is neither a registry nor a repository in one`+shown(`"m.test\n[[registry]]"`)),
		mirror("what ends a text in TOML is refused", `m.test/a"b`, `"m.test/a\"b" is neither a registry nor a repository in one`+shown(`m.test/a"b`)),
		mirror("a short name of Docker Hub is refused", "docker.io/a", `"docker.io/a" is short for another name, which the installer refuses`+shown("docker.io/a")+"\n  hint: write docker.io/library/a"),
		{
			"a source without mirrors warns, one without a name is refused",
			minimal + "imageDigestSources:\n- source: r.test/a\n- mirrors: [m.test]\n",
			"lab.yaml:5:3: warning: imageDigestSources[0]: names no mirror, so nothing comes of it\n     5 | - source: r.test/a\n       |   ^\n" +
				"lab.yaml:6:3: imageDigestSources[1].source: is empty\n     6 | - mirrors: [m.test]\n       |   ^" + rule,
		},
		{
			"the older key warns",
			minimal + "imageContentSources:\n- {source: r.test/a, mirrors: [m.test]}\n",
			"lab.yaml:4:1: warning: imageContentSources: is deprecated\n     4 | imageContentSources:\n       | ^\n" +
				"  hint: rename it to imageDigestSources, unless you want to see the older object",
		},
		{
			"both keys exclude each other",
			minimal + "imageDigestSources: [{source: r.test/a, mirrors: [m.test]}]\nimageContentSources: [{source: r.test/b, mirrors: [m.test]}]\n",
			"lab.yaml:5:22: imageContentSources: stands beside imageDigestSources\n" +
				"     5 | imageContentSources: [{source: r.test/b, mirrors: [m.test]}]\n       |                      ^\n  allowed: one of the two\n  hint: move its items to imageDigestSources",
		},
		{
			"a release image by tag gets nothing from a mirror",
			minimal + "release:\n  image: r.test/okd:4.21.0\nimageDigestSources: [{source: r.test/okd, mirrors: [m.test]}]\n",
			"lab.yaml:5:10: warning: release.image: is named by tag, and mirrors are asked for digests only\n     5 |   image: r.test/okd:4.21.0\n       |          ^\n" +
				`  hint: name it by digest, or it must be had from "r.test/okd" itself`,
		},
		{
			"a mirror that the pull secret has no login for warns",
			minimal + "pullSecret: pull-secret.json\nimageDigestSources:\n- {source: r.test/okd, mirrors: [quay.io/a, m.test/a, m.test/b]}\n",
			"lab.yaml:4:13: warning: pullSecret: the file has no login for the mirror \"m.test\"\n     4 | pullSecret: pull-secret.json\n       |             ^",
		},
	})
}
