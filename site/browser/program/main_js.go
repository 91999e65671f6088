// Command program is the diagnosis in a worker of a browser. It gives the worker two
// functions, each with a file that is read in parts: bootlab.diagnose and bootlab.mask.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"syscall/js"

	"bootlab/labs"
	"bootlab/labs/inspect/mask"
	"bootlab/site/browser/answer"
)

// WebAssembly has 4 GiB of memory at most: near them, what is not needed any more goes
// early.
const memory = 3 << 30

func main() {
	debug.SetMemoryLimit(memory)
	labs.BuiltinDiagnosis() // so that it is there before a file is chosen
	js.Global().Set("bootlab", map[string]any{
		"diagnose": js.FuncOf(answered(judge)),
		"mask":     js.FuncOf(answered(masked)),
	})
	js.Global().Get("ready").Invoke()
	select {}
}

// answered gives the page a text of JSON: {"answer": …} or {"error": "…"}.
func answered(work func(args []js.Value) (any, error)) func(js.Value, []js.Value) any {
	return func(_ js.Value, args []js.Value) (text any) {
		said := map[string]any{}
		defer func() {
			if trouble := recover(); trouble != nil {
				said = map[string]any{"error": fmt.Sprint(trouble)}
			}
			data, err := json.Marshal(said)
			if err != nil {
				data = []byte(`{"error": "the answer cannot be written"}`)
			}
			text = string(data)
		}()
		got, err := work(args)
		if err != nil {
			said["error"] = err.Error()
		} else {
			said["answer"] = got
		}
		return nil
	}
}

// judge takes name, size, and read(offset, length), which gives a Uint8Array.
func judge(args []js.Value) (any, error) {
	in := newFile(args)
	return answer.Of(yielding{context.Background()}, args[0].String(), in)
}

// masked takes write(Uint8Array) too.
func masked(args []js.Value) (any, error) {
	out := bufio.NewWriterSize(parts{args[3]}, 1<<20)
	report, err := mask.New().Stream(yielding{context.Background()}, args[0].String(), newFile(args), out)
	if err != nil {
		return nil, err
	}
	return report, out.Flush()
}

// yielding is a context that is asked at each read, and lets the collector of garbage
// go on: on one thread nothing else would.
type yielding struct{ context.Context }

func (y yielding) Err() error {
	runtime.Gosched()
	return y.Context.Err()
}

// file is one that the browser reads.
type file struct {
	read js.Value
	at   int
	size int
}

// part is how much of a file is read at once, in bytes.
const part = 1 << 20

func newFile(args []js.Value) io.Reader {
	return bufio.NewReaderSize(&file{read: args[2], size: args[1].Int()}, part)
}

func (f *file) Read(p []byte) (int, error) {
	want := min(len(p), f.size-f.at)
	if want == 0 {
		return 0, io.EOF
	}
	got := f.read.Invoke(f.at, want)
	if got.IsNull() {
		return 0, fmt.Errorf("the browser cannot read the file any more: was it changed or removed?")
	}
	n := js.CopyBytesToGo(p, got)
	f.at += n
	if n == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	return n, nil
}

// parts hands on what is written.
type parts struct{ write js.Value }

func (w parts) Write(p []byte) (int, error) {
	array := js.Global().Get("Uint8Array").New(len(p))
	js.CopyBytesToJS(array, p)
	w.write.Invoke(array)
	return len(p), nil
}
