package site

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strings"
)

// outside is an https address of the markdown; false for any other.
func outside(destination string) (string, bool) {
	u, err := url.Parse(destination)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return "", false
	}
	return u.String(), true
}

// resolve finds what the link in a slot leads to. It refuses what leads nowhere,
// and every scheme but https.
func (s *Site) resolve(src fs.FS, from *page, link *slot) error {
	destination := link.text
	u, err := url.Parse(destination)
	if err != nil {
		return fmt.Errorf("link %q: expected an address: %w", destination, err)
	}
	if u.Scheme != "" || u.Host != "" || u.User != nil || u.RawQuery != "" || strings.HasPrefix(u.Path, "/") {
		return fmt.Errorf("link %q: expected a relative path inside the guide, or https", destination)
	}
	link.target = from
	if u.Path != "" {
		file := path.Join(path.Dir(from.File), u.Path)
		asset := file
		if name, ok := pictureOf(file); ok {
			if err := s.readPicture(src, name); err != nil {
				return fmt.Errorf("link %q: %w", destination, err)
			}
			asset = "pictures/" + name + ".svg"
		}
		if file == diagnoseLink && u.Fragment == "" {
			link.text, link.target = diagnosePage, nil
			return nil
		}
		if s.isAsset(asset) && u.Fragment == "" {
			link.text, link.target = asset, nil
			return nil
		}
		if link.target = s.bySource[file]; link.target == nil {
			return fmt.Errorf("link %q: there is no %s in this guide", destination, file)
		}
	}
	if u.Fragment != "" && !link.target.anchors[u.Fragment] {
		return fmt.Errorf("link %q: page %s has no heading with that anchor", destination, link.target.ID)
	}
	link.text = "#" + u.Fragment
	return nil
}

// diagnoseLink is how the guide's markdown names the page diagnose: its place once
// bootlab site build has written the site beside it.
const diagnoseLink = "site/" + diagnosePage

// isAsset says whether a page may link to a file that is no page.
func (s *Site) isAsset(file string) bool {
	return s.assets[file] != nil && (strings.HasPrefix(file, "scripts/") || strings.HasPrefix(file, "pictures/"))
}

// fragmentOf is a link to an anchor of the same document.
func fragmentOf(anchor string) string { return (&url.URL{Fragment: anchor}).String() }
