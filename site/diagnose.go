package site

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"path"
	"strings"
)

// Program is the diagnosis as a program for browsers.
type Program struct {
	Wasm    []byte // WebAssembly, packed by gzip
	Support []byte // wasm_exec.js of the Go that built it
}

// Diagnosis is what the page diagnose is made with.
type Diagnosis struct {
	// Version is that of the bootlab that makes the page.
	Version string
	// Program may be nil: the page then says that it is missing, and how to have it.
	Program *Program
}

// The page diagnose reads a bundle in the browser. It is a page of its own kind: it
// has no search and follows no lab, as it asks for nothing once it is open.
const (
	diagnosePage    = "diagnose.html"
	diagnoseProgram = "diagnose-program.js"
)

// script is the program as a script: a page on a disk may load scripts, and nothing
// else.
func (p *Program) script() []byte {
	return fmt.Appendf(nil, "const diagnoseProgram = {support: %s, wasm: '%s'};\n", asScript(string(p.Support)), base64.StdEncoding.EncodeToString(p.Wasm))
}

// diagnosePolicy is the policy of the page: it may run the program and nothing else,
// and may ask for nothing. The worker is made by the page and has its policy.
func diagnosePolicy(scripts, styles string) string {
	return "default-src 'none'; script-src " + scripts + "; style-src " + styles + "; img-src data:; worker-src blob:; connect-src 'none'; base-uri 'none'; form-action 'none'"
}

// wasmAllowed is in the policy of this page alone.
const wasmAllowed = " 'wasm-unsafe-eval'"

// diagnosing is what the layout of the page sees.
type diagnosing struct {
	Diagnosis
	words words
	// Lab is nil in the page that is one file: no guide is beside it.
	Lab *Lab
	// Pages are the ids of the pages that a cause can lead to, in one line.
	Pages  string
	Policy string
	// Style and Script are inside the page that is one file.
	Style  template.HTML
	Script template.HTML
}

// Say is a text of the interface.
func (d diagnosing) Say(key string, values ...any) string { return d.words.say(key, values...) }

// Lang is the language of the page.
func (d diagnosing) Lang() string { return d.words.lang }

// diagnoseDocument is the page of a site.
func (s *Site) diagnoseDocument() diagnosing {
	d := diagnosing{Diagnosis: s.diagnosis, words: s.words, Lab: &s.Lab, Policy: diagnosePolicy(ownFiles+wasmAllowed, ownFiles)}
	var pages []string
	for _, p := range s.pages {
		if p.Kind == "cause" || p.Kind == "stage" {
			pages = append(pages, p.ID)
		}
	}
	d.Pages = strings.Join(pages, " ")
	return d
}

// DiagnosePage is the page as one file, which needs no site beside it. It is larger
// than the page of a site by the program.
func DiagnosePage(d Diagnosis) ([]byte, error) {
	styles, err := ownAssets("site.css", "diagnose.css")
	if err != nil {
		return nil, err
	}
	one := diagnosing{Diagnosis: d, words: wordsIn(sourceLanguage), Style: inside("style", styles)}
	scripts := "'none'"
	if d.Program != nil {
		script, err := ownAssets("diagnose.js")
		if err != nil {
			return nil, err
		}
		script = append(d.Program.script(), script...)
		one.Script, scripts = inside("script", script), hashOf(script)+wasmAllowed
	}
	one.Policy = diagnosePolicy(scripts, hashOf(styles))
	var b bytes.Buffer
	err = diagnoseFrame().Execute(&b, one)
	return b.Bytes(), err
}

// ownAssets are files of static as a site has them, one behind the other.
func ownAssets(names ...string) ([]byte, error) {
	var all []byte
	for _, name := range names {
		data, err := static.ReadFile(path.Join("static", name))
		if err != nil {
			return nil, err
		}
		all = append(all, asAsset(name, data)...)
	}
	return all, nil
}

// inside is a script or a style in a page. None of ours holds the end of its element.
func inside(element string, text []byte) template.HTML {
	return template.HTML("<" + element + ">" + string(text) + "</" + element + ">")
}

// hashOf is how a policy allows one text and no other.
func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
