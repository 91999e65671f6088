package audit

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call looks at a simple command.
func (w *walk) call(c *syntax.CallExpr, negated bool) {
	w.step()
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			w.assignment(a)
		}
		return
	}
	open := len(w.parts)
	items := w.items(c.Args)
	// A part of the template that a command opens ends with it.
	for len(w.parts) > open {
		w.open(&action{kind: actionEnd})
	}
	if len(items) == 0 {
		return
	}
	saved := w.tolerated
	w.tolerated = w.tolerated || negated
	w.execute(items)
	w.tolerated = saved
}

// execute looks at a command with its arguments.
func (w *walk) execute(items []item) {
	name := items[0].value.seenFrom(w.path).text()
	if body := w.functions[name]; body != nil {
		w.callFunction(body, items[1:])
		return
	}
	args := w.args(items)
	if len(args) == 0 {
		return
	}
	if do := builtins[args[0].text]; do != nil {
		do(w, args[1:], items[1:])
		return
	}
	w.emit(evOther, args)
}

func (w *walk) enterCall() {
	if w.depth++; w.depth > w.limits.Depth {
		w.refuse("functions that call each other more than %d deep", w.limits.Depth)
	}
}

func (w *walk) callFunction(body *syntax.Stmt, arguments []item) {
	w.enterCall()
	line := w.line
	w.framed(&frame{kind: frameFunction, arguments: arguments, line: line}, func() { w.statement(body) })
	w.line = line
	w.depth--
}

// builtins are the commands that audit knows. What stands here without an
// effect only talks, counts or waits.
var builtins map[string]func(*walk, []arg, []item)

func init() {
	nothing := func(*walk, []arg, []item) {}
	builtins = map[string]func(*walk, []arg, []item){
		"record_service_stage_start":   (*walk).begin,
		"record_service_stage_success": (*walk).end,
		"record_service_stage_failure": (*walk).end,
		"image_for":                    func(w *walk, args []arg, _ []item) { w.image(args) },
		"bootkube_podman_run":          func(w *walk, args []arg, _ []item) { w.emit(evRun, append(missingBase(), args...)) },
		"podman":                       (*walk).podman,
		"cp":                           (*walk).copyFiles,
		"mkdir":                        (*walk).makeDirectories,
		"rm":                           (*walk).remove,
		"touch":                        (*walk).touch,
		"echo":                         (*walk).log,
		"printf":                       (*walk).log,
		"set":                          func(w *walk, args []arg, _ []item) { w.emit(evSet, args) },
		"exit":                         func(w *walk, args []arg, _ []item) { w.emit(evExit, args); w.leave(frameScript) },
		"return":                       func(w *walk, _ []arg, _ []item) { w.leave(frameFunction) },
		"continue":                     func(w *walk, _ []arg, _ []item) { w.leave(frameLoop) },
		"break":                        func(w *walk, _ []arg, _ []item) { w.leave(frameLoop) },
		".":                            (*walk).sourced,
		"source":                       (*walk).sourced,
		"shift":                        (*walk).shift,
		"read":                         (*walk).readLine,
		"mapfile":                      (*walk).mapfile,
		"readarray":                    (*walk).mapfile,
		"unset":                        (*walk).unset,
		"cat":                          (*walk).cat,
		"command":                      (*walk).again,
		"env":                          (*walk).again,
		"exec":                         (*walk).again,
		"builtin":                      (*walk).again,
		"timeout":                      func(w *walk, args []arg, items []item) { w.again(nil, items[min(1, len(items)):]) },
		"[":                            nothing, "test": nothing, "true": nothing, "false": nothing, ":": nothing,
		"sleep": nothing, "local": nothing, "shopt": nothing, "wait": nothing, "date": nothing, "let": nothing,
	}
}

func (w *walk) emit(kind string, args []arg) {
	w.script.events = append(w.script.events, event{
		kind: kind, line: w.line, when: w.path, args: args, stage: w.stage, retry: w.retry,
		tolerated: w.tolerated, output: w.output,
	})
}

// name is how messages call a command.
func (e event) name() string {
	if e.kind == evRun {
		for _, o := range containerOf(e).options {
			if o.name == "--name" {
				return o.value
			}
		}
	}
	return strings.TrimSpace(e.kind + " " + e.text())
}

func (e event) text() string {
	var parts []string
	for _, a := range e.args {
		parts = append(parts, a.text)
	}
	return strings.Join(parts, " ")
}

func (w *walk) begin(args []arg, _ []item) {
	if len(args) == 0 {
		return
	}
	w.stage = args[0].text
	w.emit(evBegin, args[:1])
	// A function that begins any stage stands elsewhere than the stage itself.
	for _, f := range w.frames {
		if f.kind == frameFunction {
			w.script.events[len(w.script.events)-1].line = f.line
			return
		}
	}
}

func (w *walk) end([]arg, []item) { w.stage = "" }

func (w *walk) image(args []arg) string {
	if len(args) == 0 {
		return "image()"
	}
	name := args[len(args)-1].text
	if _, known := w.script.images[name]; !known {
		w.script.images[name] = w.line
	}
	return "image(" + name + ")"
}

func (w *walk) podman(args []arg, _ []item) {
	if len(args) == 0 {
		return
	}
	switch args[0].text {
	case "run":
		if payload := imageQuestion(args[1:]); payload != "" {
			w.image([]arg{{text: payload}})
			return
		}
		w.emit(evRun, args[1:])
	case "inspect", "image", "pull", "ps", "rm", "wait", "logs", "stop":
		if args[0].text == "pull" || args[0].text == "stop" {
			w.emit(evOther, append([]arg{{text: "podman"}}, args...))
		}
	default:
		w.emit(evOther, append([]arg{{text: "podman"}}, args...))
	}
}

// options cuts the leading and scattered options off; operands are what is left.
func options(args []arg) (flags, operands []arg) {
	for i, a := range args {
		if a.text == "--" {
			return flags, append(operands, args[i+1:]...)
		}
		if strings.HasPrefix(a.text, "-") && len(a.text) > 1 {
			flags = append(flags, a)
		} else {
			operands = append(operands, a)
		}
	}
	return flags, operands
}

// anyOf says whether one of the short letters or the long option is given.
func anyOf(flags []arg, letters, long string) bool {
	for _, f := range flags {
		if f.text == long || !strings.HasPrefix(f.text, "--") && strings.ContainsAny(f.text[1:], letters) {
			return true
		}
	}
	return false
}

func (w *walk) copyFiles(args []arg, _ []item) {
	flags, files := options(args)
	kind := "copy"
	if anyOf(flags, "rRa", "--recursive") || anyOf(flags, "", "--archive") {
		kind = "copy recursively"
	}
	to := arg{}
	if n := len(files) - 1; n >= 1 {
		to, files = files[n], files[:n]
	}
	for i, f := range flags {
		if dir, ok := strings.CutPrefix(f.text, "--target-directory="); ok {
			to.text = dir + "/"
		} else if f.text == "-t" && i >= 0 && len(files) > 0 {
			to, files = files[0], append(append([]arg{}, files[1:]...), to)
			to.text += "/"
		}
	}
	for _, from := range files {
		if from.text == "" {
			continue
		}
		dest := belowWork(to.text)
		if strings.ContainsAny(from.text, "*?") || len(files) > 1 {
			dest = strings.TrimRight(dest, "/") + "/"
		}
		when, _ := from.when.and(to.when...)
		w.emit(evCopy, []arg{{text: kind}, {text: belowWork(path.Clean(from.text)), when: when}, {text: dest}})
	}
}

func (w *walk) makeDirectories(args []arg, _ []item) {
	_, dirs := options(args)
	for _, d := range dirs {
		w.emit(evMkdir, []arg{{text: belowWork(path.Clean(d.text)), when: d.when}})
	}
}

func (w *walk) remove(args []arg, _ []item) {
	_, files := options(args)
	for _, f := range files {
		w.emit(evRemove, []arg{{text: belowWork(path.Clean(f.text)), when: f.when}})
	}
}

func (w *walk) touch(args []arg, _ []item) {
	_, files := options(args)
	for _, f := range files {
		w.emit(evTouch, []arg{{text: belowWork(path.Clean(f.text)), when: f.when}})
	}
}

func (w *walk) log(args []arg, _ []item) {
	for len(args) > 0 && (args[0].text == "-e" || args[0].text == "-n" || args[0].text == `%s\n`) {
		args = args[1:]
	}
	if w.output != "" {
		w.emit(evOther, append([]arg{{text: "echo"}}, args...))
		return
	}
	w.emit(evLog, args)
}

func (w *walk) cat(args []arg, _ []item) {
	switch {
	case w.output != "" && len(args) > 0:
		w.emit(evCopy, []arg{{text: "copy"}, {text: belowWork(args[0].text)}, {text: w.output}})
	case w.output != "":
		w.emit(evOther, []arg{{text: "cat"}})
	case w.stdin != nil:
		for _, line := range w.stdin.lines() {
			w.emit(evLog, []arg{{text: line.text()}})
		}
	}
}

func (w *walk) again(_ []arg, items []item) {
	for len(items) > 0 {
		text := items[0].value.text()
		if !strings.HasPrefix(text, "-") && !strings.Contains(strings.SplitN(text, "/", 2)[0], "=") {
			w.execute(items)
			return
		}
		items = items[1:]
	}
}

func (w *walk) sourced(args []arg, _ []item) {
	if len(args) > 0 {
		w.script.Sources = append(w.script.Sources, args[0].text)
	}
}

func (w *walk) shift(args []arg, _ []item) {
	n := 1
	if len(args) > 0 && isNumber(args[0].text) && len(args[0].text) < 5 {
		n = 0
		for _, c := range args[0].text {
			n = n*10 + int(c-'0')
		}
	}
	for i := len(w.frames) - 1; i >= 0; i-- {
		if f := w.frames[i]; f.kind == frameFunction {
			f.arguments = f.arguments[min(n, len(f.arguments)):]
			return
		}
	}
}

func (w *walk) readLine(args []arg, _ []item) {
	var names []string
	array, whole := false, false
	for i := 0; i < len(args); i++ {
		switch text := args[i].text; {
		case text == "-d":
			whole = true
			i++
		case strings.HasPrefix(text, "-"):
			array = array || strings.Contains(text, "a")
			whole = whole || strings.Contains(text, "d")
		case text != "":
			names = append(names, text)
		}
	}
	if len(names) == 0 {
		return
	}
	text := w.stdin
	if lines := text.lines(); !whole && len(lines) > 0 {
		text = lines[0]
	}
	if array {
		w.setList(names[0], text)
		return
	}
	if len(names) == 1 {
		w.assign(names[0], text)
		return
	}
	w.read(names, text)
}

// setList makes an array of the words of a text.
func (w *walk) setList(name string, text value) {
	words, _, _ := text.split()
	v := variable{array: true}
	for _, word := range words {
		it := word.asItem()
		it.quoted = true
		v.items = append(v.items, it)
	}
	w.set(name, v)
}

func (w *walk) mapfile(args []arg, _ []item) {
	_, names := options(args)
	if len(names) == 0 {
		return
	}
	v := variable{array: true}
	for _, line := range w.stdin.lines() {
		it := line.asItem()
		it.quoted = true
		v.items = append(v.items, it)
	}
	w.set(names[len(names)-1].text, v)
}

func (w *walk) unset(args []arg, _ []item) {
	_, names := options(args)
	for _, n := range names {
		if len(w.path) == 0 {
			delete(w.variables, n.text)
		} else {
			w.assign(n.text, nil)
		}
	}
}
