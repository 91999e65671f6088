package generator

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"bootlab/labs"
)

// checkText is the command that makes a check's observation. It is one that a
// person could type: it succeeds when all is well, and prints what is not.
func checkText(c *labs.Check) (string, error) {
	name, decl, err := c.Declaration()
	if err != nil {
		return "", err
	}
	switch d := decl.(type) {
	case *labs.CommandCheck:
		return strings.TrimSuffix(d.Text, "\n"), nil
	case *labs.PresentCheck:
		return presentText(name, d.Paths)
	case *labs.PayloadCheck:
		return payloadText(d), nil
	case *labs.CountCheck:
		return fmt.Sprintf("(($(ls %s | wc -l) >= %d))", shpath(d.Path), d.AtLeast), nil
	case *labs.ModeCheck:
		return breakWords("", append([]string{"stat --format='%04a %n'"}, shpaths(d.Paths)...)) + " |\n  awk '$1 != \"" + d.Mode + "\" { print; bad = 1 } END { exit bad }'", nil
	case *labs.SameCheck:
		return sameText(d), nil
	case *labs.LineCheck:
		return grepText(patternWord(d.Pattern), d.Path), nil
	case *labs.ValueCheck:
		return valueText(d), nil
	case *labs.ChainCheck:
		return breakWords("", append([]string{"openssl", "verify", "-no-CApath", "-CAfile"}, shpaths(append([]string{d.CA}, d.Paths...))...)), nil
	case *labs.SubjectCheck:
		return "openssl x509 -in " + shpath(d.Path) + " -noout -subject -nameopt RFC2253 |\n  diff - <(printf '%s' subject= \\\n    " +
			strings.Join(subjectWords(d.Equals), " \\\n    ") + " && echo)", nil
	case *labs.NamesCheck:
		return extensionText("subjectAltName", []string{d.Path}, strings.Fields(strings.Join(d.Names, " "))), nil
	case *labs.UsageCheck:
		return extensionText("extendedKeyUsage", d.Paths, d.Usage), nil
	case *labs.FreshCheck:
		return freshText(d), nil
	case *labs.BundleCheck:
		return "grep -q -e '-BEGIN CERTIFICATE-' " + shpath(d.Path) + "\n" +
			breakWords("", append([]string{"cat"}, shpaths(d.Paths)...)) + " |\n  sort | diff - <(sort " + shpath(d.Path) + ")", nil
	}
	return "", fmt.Errorf("no command for a %s declaration", name)
}

// subjectWords are the parts of a subject as shell words, each with what separates
// it from the next.
func subjectWords(subject string) []string {
	var out []string
	for _, part := range strings.SplitAfter(subject, ",") {
		out = append(out, shexpand(part))
	}
	return out
}

// patternWord is a pattern as a shell word: quoted whole where it holds no
// variable.
func patternWord(pattern string) string {
	if variable.MatchString(pattern) {
		return shexpand(pattern)
	}
	if !strings.ContainsAny(pattern, "\"'\\$`!") {
		return `"` + pattern + `"`
	}
	return "'" + strings.ReplaceAll(pattern, "'", `'\''`) + "'"
}

func words(paths []string) string { return strings.Join(shpaths(paths), " ") }

// grepText wants a line that matches, in each of the files. -e, for a pattern may
// begin with a hyphen.
func grepText(pattern, file string) string {
	if plainWord.MatchString(file) {
		return breakWords("", []string{"grep -E -e " + pattern, shpath(file)})
	}
	return breakWords("", []string{"grep -l -E -e " + pattern, shpath(file)}) + " |\n  diff - <(ls " + shpath(file) + ")"
}

// isOneFile says whether paths are a single one that is no pattern.
func isOneFile(paths []string) bool { return len(paths) == 1 && !strings.ContainsAny(paths[0], "*?[{") }

// eachFile runs a command for one file, or in a loop for several; %s in it is the
// file.
func eachFile(paths []string, command string) string {
	if isOneFile(paths) {
		return strings.ReplaceAll(command, "%s", shpath(paths[0]))
	}
	command = strings.ReplaceAll(command, "%s", `"${file}"`) + " ||"
	failed := `{ echo "${file}" && false; }`
	if len(command)+len(failed) < codeWidth-3 {
		command += " " + failed
	} else {
		command += "\n    " + failed
	}
	return forFiles(paths) + "\n  " + command + "\ndone"
}

// forFiles is the first line of a loop over files.
func forFiles(paths []string) string {
	files := shpaths(paths)
	files[len(files)-1] += "; do"
	return breakWords("", append([]string{"for file in"}, files...))
}

func presentText(name string, paths []string) (string, error) {
	switch name {
	case "present":
		if isOneFile(paths) {
			return "[[ -s " + shpath(paths[0]) + " ]]", nil
		}
		// wc prints a size before each name.
		return breakWords("", append([]string{"wc --bytes"}, shpaths(paths)...)) + " | (! grep '^ *0 ')", nil
	case "absent":
		return eachFile(paths, "[[ ! -e %s ]]"), nil
	case "images":
		return imageLines + words(paths) + ` |
  (! grep -vE "image.?: *.?[a-z0-9]")`, nil
	case "keyPair":
		return keyPairText(paths), nil
	case "objects":
		return objectsText(paths), nil
	}
	return "", fmt.Errorf("no command for a %s declaration", name)
}

// keyPairText compares public keys: that of a certificate X.crt, or X.pub itself,
// with that of X.key.
func keyPairText(paths []string) string {
	var text []string
	certificates := slices.DeleteFunc(slices.Clone(paths), isPublicKey)
	switch {
	case isOneFile(certificates):
		text = append(text, "openssl x509 -in "+shpath(certificates[0])+" -noout -pubkey |\n  diff - <(openssl pkey -in "+
			shpath(strings.TrimSuffix(certificates[0], path.Ext(certificates[0]))+".key")+" -pubout)")
	case len(certificates) > 0:
		text = append(text, breakWords("", append([]string{"for", "file", "in"}, shpaths(certificates)...))+`; do
  public=$(openssl x509 -in "${file}" -noout -pubkey)
  [[ ${public} == "$(openssl pkey -in "${file%.*}.key" -pubout)" ]] ||
    { echo "${file} does not belong to ${file%.*}.key" && false; }
done`)
	}
	for _, p := range paths {
		if isPublicKey(p) {
			text = append(text, "openssl pkey -pubin -in "+shpath(p)+" -pubout |\n  diff - <(openssl pkey -in "+shpath(strings.TrimSuffix(p, ".pub")+".key")+" -pubout)")
		}
	}
	return strings.Join(text, "\n")
}

func isPublicKey(p string) bool { return path.Ext(p) == ".pub" }

// freshText asks whether certificates are valid now and some time later, each on
// its own: its signer is a matter of chain.
func freshText(d *labs.FreshCheck) string {
	files := breakWords("", append([]string{"certificates=("}, shpaths(d.Paths)...))
	verify := `-partial_chain -trusted <(cat "${certificates[@]}") "${certificates[@]}"`
	return strings.Replace(files, "( ", "(", 1) + ")\nopenssl verify " + verify +
		"\nopenssl verify -attime $((EPOCHSECONDS + " + strconv.Itoa(d.Minutes*60) + ")) \\\n  " + verify
}

// objectsText wants a top-level kind and apiVersion in each file.
func objectsText(paths []string) string {
	return forFiles(paths) + `
  if [[ $(head -c 1 "${file}") == '{' ]]; then
    jq --exit-status '.kind and .apiVersion' "${file}" > /dev/null
  else
    grep '^"\?kind"\?:' "${file}" > /dev/null && grep '^"\?apiVersion"\?:' "${file}" > /dev/null
  fi || { echo "${file} is not an object" && false; }
done`
}

// imageLines prints the lines of manifests that name an image.
const imageLines = `grep -E "^[- ]*.?image.?:" `

// payloadText wants every image of the files in a list of the release.
func payloadText(d *labs.PayloadCheck) string {
	known := `grep -ho "[^ ]*$" release-info/images release-info/digest`
	if d.List != "" {
		known = `jq -r ".spec.tags[].from.name" ` + shpath(d.List) + " && cat release-info/digest"
	}
	return imageLines + words(d.Paths) + " |\n  (! grep -vwFf <(" + known + "))"
}

// sameText compares one file, or every file that a pattern matches, with what
// stands elsewhere.
func sameText(d *labs.SameCheck) string {
	if plainWord.MatchString(d.From) {
		to := d.To
		if strings.HasSuffix(to, "/") {
			to += path.Base(d.From)
		}
		return breakWords("", []string{"cmp", shpath(d.From), shpath(to)})
	}
	dir, glob := path.Split(d.From)
	sums := "sha256sum -- " + glob
	if d.Recursive {
		sums = "find " + glob + " -type f -exec sha256sum {} +"
	}
	made := "(cd " + shpath(strings.TrimSuffix(dir, "/")) + " && " + sums + ") |"
	compared := "(cd " + shpath(strings.TrimSuffix(d.To, "/")) + " && sha256sum --check --quiet)"
	if len(made+compared) < codeWidth-5 {
		return made + " " + compared
	}
	return made + "\n  " + compared
}

// valueText looks for a value: with jq in JSON; in YAML for the line of its key, as
// operators and the installer write it.
func valueText(d *labs.ValueCheck) string {
	if path.Ext(d.Path) == ".ign" || d.JSON {
		return breakWords("", []string{"jq", "--exit-status", "--arg want " + shexpand(d.Equals), "'" + d.At + " == $want'", shpath(d.Path)})
	}
	key := strings.TrimSuffix(d.At[strings.LastIndex(d.At, ".")+1:], "[0]")
	before := `\b` + key + `"?: *`
	if strings.HasSuffix(d.At, "[0]") {
		before = "- *"
	}
	return grepText(yamlLine(before, d.Equals), d.Path)
}

// yamlLine is a pattern for a key and its value in a line of YAML, as a shell word.
// The value may hold the script's variables, whose dots match any character.
func yamlLine(before, value string) string {
	quote := `"?`
	if strings.Contains(before, "image") {
		quote = `\W?` // operators write either quote around an image
	}
	pattern := before + quote + strings.ReplaceAll(value, ".", "[.]") + quote + `(,|}| *$)`
	if !strings.Contains(value, "$") {
		return "'" + pattern + "'"
	}
	var b strings.Builder
	last := 0
	for _, m := range variable.FindAllStringSubmatchIndex(pattern, -1) {
		b.WriteString(escapePattern(pattern[last:m[0]]))
		b.WriteString("${" + pattern[m[2]:m[3]] + "}")
		last = m[1]
	}
	b.WriteString(escapePattern(pattern[last:]))
	return `"` + b.String() + `"`
}

func escapePattern(s string) string { return strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(s) }

// extensionText compares the values of one extension of certificates, in any
// order, with those that openssl prints for the wanted.
func extensionText(extension string, paths, wanted []string) string {
	names := map[string]string{"serverAuth": "TLSWebServerAuthentication", "clientAuth": "TLSWebClientAuthentication"}
	var want []string
	for _, w := range wanted {
		if long := names[w]; long != "" {
			w = long
		}
		if address, ok := strings.CutPrefix(w, "IP:"); ok {
			w = "IPAddress:" + strings.Replace(address, "::1", "0:0:0:0:0:0:0:1", 1)
		}
		want = append(want, shexpand(w))
	}
	command := "openssl x509 -in %s -noout -ext " + extension + " |\n  sed '1d; s/ //g; y/,/\\n/' | sort |\n" +
		breakWords("  ", append([]string{"  diff - <(printf '%s\\n'"}, want...)) + " | sort)"
	if isOneFile(paths) {
		return strings.Replace(command, "%s", shpath(paths[0]), 1)
	}
	return forFiles(paths) + "\n  " + strings.ReplaceAll(strings.Replace(command, "%s", `"${file}"`, 1), "\n", "\n  ") + "\ndone"
}
