// Package browser carries the diagnosis as a program for browsers: packages answer
// and program as WebAssembly, and what Go needs around it.
package browser

import (
	"embed"

	"bootlab/site"
)

// The program has some 13 MB, and 3 packed. bootlab carries it packed: so every site
// has the page, and a machine without network needs no second file. The data of labs
// is to be prepared before, as make prepare does it, or each start reads the YAML.
//
//go:generate env GOOS=js GOARCH=wasm CGO_ENABLED=0 go build -trimpath -buildvcs=false "-ldflags=-s -w" -o built/diagnose.wasm ./program
//go:generate gzip --best --no-name --force built/diagnose.wasm
//go:generate install -m 0644 $GOROOT/lib/wasm/wasm_exec.js built/wasm_exec.js

// built holds the program once go generate has run.
//
//go:embed built
var built embed.FS

// Program is the program that this bootlab carries; nil if it was built without.
func Program() *site.Program {
	wasm, err := built.ReadFile("built/diagnose.wasm.gz")
	if err != nil {
		return nil
	}
	support, err := built.ReadFile("built/wasm_exec.js")
	if err != nil {
		return nil
	}
	return &site.Program{Wasm: wasm, Support: support}
}
