package generator

import (
	"fmt"
	"strings"

	"bootlab/labs"
)

// registrySettings are the values by which podman reaches the registries of a
// lab, and the same for the cluster. A lab without such keys has none of them.
func registrySettings(lab *labs.Lab, place labs.Place, labDir string) ([]setting, error) {
	var list []setting
	var firstErr error
	add := func(name, value string) {
		quoted, err := shsetting(name, value)
		if err != nil && firstErr == nil {
			firstErr = err
		}
		if value != "" {
			list = append(list, setting{name, quoted})
		}
	}
	add("PROXY_FOR_HTTP", lab.Proxy.HTTPProxy)
	add("PROXY_FOR_HTTPS", lab.Proxy.HTTPSProxy)
	add("NO_PROXY_GIVEN", lab.Proxy.NoProxy)
	add("NO_PROXY_FOR", lab.ProxyExceptions())
	add("IMAGE_SOURCES", imageSources(lab.ImageSources()))
	add("MIRRORS", registriesConf(lab.Mirrors()))
	if lab.AdditionalTrustBundle != "" && place != labs.OnNode {
		list = append(list, setting{"TRUST_BUNDLE_FILE", fileOfLab(lab.AdditionalTrustBundle, labDir)})
	}
	return list, firstErr
}

// imageSources writes sources as lines of a source and its mirrors.
func imageSources(sources []labs.ImageSource) string {
	var lines []string
	for _, s := range sources {
		lines = append(lines, strings.Join(append([]string{s.Source}, s.Mirrors...), " "))
	}
	return strings.Join(lines, "\n")
}

// registriesConf writes mirrors as the installer's registries.conf.template
// does. Loading lets nothing into a repository that would end a text of TOML.
func registriesConf(mirrors []labs.ImageSource) string {
	var b strings.Builder
	for _, s := range mirrors {
		fmt.Fprintf(&b, "\n[[registry]]\nlocation = \"%s\"\ninsecure = false\nmirror-by-digest-only = true\n", s.Source)
		for _, mirror := range s.Mirrors {
			fmt.Fprintf(&b, "\n[[registry.mirror]]\nlocation = \"%s\"\ninsecure = false\n", mirror)
		}
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// closeToOthers takes every right on the files from all but their owner: a
// proxy's login stands in them.
func closeToOthers(files []File) {
	for i := range files {
		files[i].Mode &= 0o700
	}
}
