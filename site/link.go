package site

import (
	"fmt"
	"net/url"
	"path"
	"strings"
)

// resolve turns a link of the markdown into one of the site. It refuses what
// leads nowhere, and every scheme but https.
func (r *rendering) resolve(destination string) (string, error) {
	u, err := url.Parse(destination)
	if err != nil {
		return "", fmt.Errorf("link %q: expected an address: %w", destination, err)
	}
	if u.Scheme == "https" && u.Host != "" {
		return u.String(), nil
	}
	if u.Scheme != "" || u.Host != "" || u.User != nil || u.RawQuery != "" || strings.HasPrefix(u.Path, "/") {
		return "", fmt.Errorf("link %q: expected a relative path inside the guide, or https", destination)
	}
	target := r.page
	if u.Path != "" {
		file := path.Join(path.Dir(r.page.File), u.Path)
		if asset, ok := strings.CutPrefix(file, "guide/pictures/"); ok {
			file = "pictures/" + asset
		}
		if r.site.isAsset(file) && u.Fragment == "" {
			return r.up() + file, nil
		}
		if target = r.site.bySource[file]; target == nil {
			return "", fmt.Errorf("link %q: there is no %s in this guide", destination, file)
		}
	}
	if u.Fragment != "" && !target.anchors[u.Fragment] {
		return "", fmt.Errorf("link %q: page %s has no heading with that anchor", destination, target.ID)
	}
	return r.href(target, u.Fragment), nil
}

// isAsset says whether a page may link to a file that is no page.
func (s *Site) isAsset(file string) bool {
	return s.assets[file] != nil && (strings.HasPrefix(file, "scripts/") || strings.HasPrefix(file, "pictures/"))
}

func (r *rendering) href(target *page, anchor string) string {
	fragment := func(id string) string { return (&url.URL{Fragment: id}).String() }
	switch {
	case r.single && anchor == "":
		return "#" + target.ID
	case r.single:
		return fragment(r.id(target, anchor))
	case anchor == "":
		return r.up() + target.HTML()
	case target == r.page:
		return fragment(anchor)
	}
	return r.up() + target.HTML() + fragment(anchor)
}

// up leads from the document that is made to the site's first directory.
func (r *rendering) up() string {
	if r.single {
		return ""
	}
	return r.page.up()
}
