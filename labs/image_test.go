package labs

import (
	"strings"
	"testing"
)

func TestValidateReleaseAndImages(t *testing.T) {
	checkLabs(t, []labCase{
		{
			"an unknown distribution names the known ones",
			minimal + `release:
  distribution: odk
  image: quay.io/okd/scos-release:4.21.0-okd-scos.8
`,
			`lab.yaml:5:17: release.distribution: "odk" is not known
     5 |   distribution: odk
       |                 ^
  allowed: okd, ocp
  hint: did you mean okd?`,
		},
		{
			"a release that is too new names the nearest",
			minimal + `release:
  version: "4.22"
`,
			`lab.yaml:5:12: release.version: "4.22" has no stage data
     5 |   version: "4.22"
       |            ^
  allowed: 4.14, 4.15, 4.16, 4.17, 4.18, 4.19, 4.20, 4.21, main
  hint: the nearest is 4.21; with its bootkube.sh at hand: bootlab generate LAB --from-audit FILE`,
		},
		{
			"a release that is too old names the nearest",
			minimal + `release:
  version: "3.11"
`,
			`lab.yaml:5:12: release.version: "3.11" has no stage data
     5 |   version: "3.11"
       |            ^
  allowed: 4.14, 4.15, 4.16, 4.17, 4.18, 4.19, 4.20, 4.21, main
  hint: the nearest is 4.14; with its bootkube.sh at hand: bootlab generate LAB --from-audit FILE`,
		},
		{
			"a version with a patch level is told where it belongs",
			minimal + `release:
  version: 4.21.3
`,
			`lab.yaml:5:12: release.version: "4.21.3" has no stage data
     5 |   version: 4.21.3
       |            ^
  allowed: 4.14, 4.15, 4.16, 4.17, 4.18, 4.19, 4.20, 4.21, main
  hint: write 4.21 here, and name the very release in release.image`,
		},
		{
			"a version that is no number names the known ones",
			minimal + `release:
  version: latest
`,
			`lab.yaml:5:12: release.version: "latest" has no stage data
     5 |   version: latest
       |            ^
  allowed: 4.14, 4.15, 4.16, 4.17, 4.18, 4.19, 4.20, 4.21, main`,
		},
		{
			"okd of a release without a known image wants one",
			minimal + `release:
  version: "4.18"
`,
			`lab.yaml:4:1: release.image: is required: no release image is known for okd 4.18
     4 | release:
       | ^
  hint: choose a tag at https://github.com/okd-project/okd/releases; for 4.21 there is quay.io/okd/scos-release:4.21.0-okd-scos.8`,
		},
		{
			"ocp wants an image and a pull secret",
			minimal + `release:
  distribution: ocp
`,
			`lab.yaml:4:1: release.image: is required: no release image is known for ocp 4.21
     4 | release:
       | ^
  hint: name one as quay.io/openshift-release-dev/ocp-release:VERSION-x86_64, VERSION being the whole version, as 4.21.0; it needs a pull secret
lab.yaml:5:17: pullSecret: is required for ocp
     5 |   distribution: ocp
       |                 ^
  allowed: the path of a file
  hint: https://console.redhat.com/openshift/install/pull-secret has yours; save it beside lab.yaml`,
		},
		{
			"an image given as empty is refused",
			minimal + `release:
  image: ""
`,
			`lab.yaml:5:10: release.image: is empty
     5 |   image: ""
       |          ^
  allowed: REGISTRY/REPOSITORY, then :TAG or @sha256:DIGEST or both`,
		},
		{
			"an image without a registry is refused",
			minimal + `release:
  image: okd/scos-release:4.21.0-okd-scos.8
`,
			`lab.yaml:5:10: release.image: "okd/scos-release:4.21.0-okd-scos.8" names no registry
     5 |   image: okd/scos-release:4.21.0-okd-scos.8
       |          ^
  allowed: REGISTRY/REPOSITORY, then :TAG or @sha256:DIGEST or both
  hint: a registry is a host with a dot or a port, as quay.io or localhost:5000`,
		},
		{
			"an image with a URL scheme is refused",
			minimal + `release:
  image: docker://quay.io/okd/scos-release:4.21.0
`,
			`lab.yaml:5:10: release.image: "docker://quay.io/okd/scos-release:4.21.0" is a URL
     5 |   image: docker://quay.io/okd/scos-release:4.21.0
       |          ^
  allowed: REGISTRY/REPOSITORY, then :TAG or @sha256:DIGEST or both
  hint: write it without what stands before //`,
		},
		{
			"an image in upper case is refused",
			minimal + `release:
  image: quay.io/OKD/scos-release:4.21.0
`,
			`lab.yaml:5:10: release.image: "quay.io/OKD/scos-release:4.21.0" is no pull spec
     5 |   image: quay.io/OKD/scos-release:4.21.0
       |          ^
  allowed: REGISTRY/REPOSITORY, then :TAG or @sha256:DIGEST or both
  hint: a repository is written in lower case`,
		},
		{
			"an image with a short digest is refused",
			minimal + `release:
  image: quay.io/okd/scos-release@sha256:abc
`,
			`lab.yaml:5:10: release.image: "quay.io/okd/scos-release@sha256:abc" has no proper digest
     5 |   image: quay.io/okd/scos-release@sha256:abc
       |          ^
  allowed: REGISTRY/REPOSITORY, then :TAG or @sha256:DIGEST or both
  hint: a digest is sha256: and 64 characters of 0-9 and a-f`,
		},
		{
			"an image with a tag that a shell would run is refused",
			minimal + `release:
  image: quay.io/okd/scos-release:$(reboot)
`,
			`lab.yaml:5:10: release.image: "quay.io/okd/scos-release:$(reboot)" has no proper tag
     5 |   image: quay.io/okd/scos-release:$(reboot)
       |          ^
  allowed: REGISTRY/REPOSITORY, then :TAG or @sha256:DIGEST or both`,
		},
		{
			"an image with a space is refused",
			minimal + `release:
  image: quay.io/okd/scos-release 4.21
`,
			`lab.yaml:5:10: release.image: "quay.io/okd/scos-release 4.21" is no pull spec
     5 |   image: quay.io/okd/scos-release 4.21
       |          ^
  allowed: REGISTRY/REPOSITORY, then :TAG or @sha256:DIGEST or both`,
		},
		{
			"an image with a line end is refused",
			minimal + `release:
  image: "quay.io/okd/scos-release:4.21\n"
`,
			`lab.yaml:5:10: release.image: "quay.io/okd/scos-release:4.21\n" has no proper tag
     5 |   image: "quay.io/okd/scos-release:4.21\n"
       |          ^
  allowed: REGISTRY/REPOSITORY, then :TAG or @sha256:DIGEST or both`,
		},
		{
			"an image of another release warns",
			minimal + `release:
  image: quay.io/okd/scos-release:4.20.0-okd-scos.1
`,
			`lab.yaml:5:10: warning: release.image: the tag speaks of 4.20, and release.version is 4.21
     5 |   image: quay.io/okd/scos-release:4.20.0-okd-scos.1
       |          ^
  hint: stages and flags differ between releases; make the two agree`,
		},
		{
			"an image of another distribution warns",
			minimal + `release:
  distribution: ocp
  image: quay.io/okd/scos-release:4.21.0-okd-scos.8
pullSecret: pull-secret.json
`,
			`lab.yaml:6:10: warning: release.image: the image is not one of ocp
     6 |   image: quay.io/okd/scos-release:4.21.0-okd-scos.8
       |          ^
  hint: set release.distribution to what the image is`,
		},
		{
			"an image of a name that no stage asks for warns",
			minimal + `images:
  ectd: quay.io/me/etcd:mine
`,
			`lab.yaml:5:9: warning: images.ectd: no stage of 4.21 asks for an image of this name
     5 |   ectd: quay.io/me/etcd:mine
       |         ^
  hint: did you mean etcd?`,
		},
		{
			"an image name that a shell would run is refused",
			minimal + `images:
  "a;reboot": quay.io/me/etcd:mine
`,
			`lab.yaml:5:15: images.a;reboot: "a;reboot" is no name of an image in a release
     5 |   "a;reboot": quay.io/me/etcd:mine
       |               ^
  allowed: lower-case letters, digits and hyphens, no hyphen first or last, at most 63 characters`,
		},
		{
			"an image name with a dot is found in the file",
			minimal + `images:
  etcd: quay.io/me/etcd:mine
  a.b: quay.io/me/etcd:mine
`,
			`lab.yaml:6:8: images.a.b: "a.b" is no name of an image in a release
     6 |   a.b: quay.io/me/etcd:mine
       |        ^
  allowed: lower-case letters, digits and hyphens, no hyphen first or last, at most 63 characters`,
		},
		{
			"an image that is empty is refused",
			minimal + `images:
  etcd:
`,
			`lab.yaml:5:3: images.etcd: is empty
     5 |   etcd:
       |   ^
  allowed: REGISTRY/REPOSITORY, then :TAG or @sha256:DIGEST or both`,
		},
		{
			"an image value that looks like an option is refused",
			minimal + `images:
  etcd: --privileged
`,
			`lab.yaml:5:9: images.etcd: "--privileged" names no registry
     5 |   etcd: --privileged
       |         ^
  allowed: REGISTRY/REPOSITORY, then :TAG or @sha256:DIGEST or both
  hint: a registry is a host with a dot or a port, as quay.io or localhost:5000`,
		},
		{
			"a very long image is refused",
			minimal + `images:
  etcd: quay.io/` + strings.Repeat("a", 600) + `
`,
			`lab.yaml:5:9: images.etcd: is longer than 512 characters
     5 |   etcd: quay.io/` + strings.Repeat("a", 144) + `…
       |         ^
  allowed: REGISTRY/REPOSITORY, then :TAG or @sha256:DIGEST or both`,
		},
	})
}
