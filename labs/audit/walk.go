package audit

import (
	"fmt"

	"mvdan.cc/sh/v3/syntax"

	"bootlab/labs"
)

// walk follows a script on paper.
type walk struct {
	script    *Script
	limits    Limits
	steps     int
	depth     int
	line      int
	variables map[string]variable
	functions map[string]*syntax.Stmt
	// path holds the conditions around the command that is looked at.
	path   guard
	frames []*frame
	stage  string
	retry  string
	// tolerated and silent belong to the command that is looked at: its failure
	// does not stop the script, its output is not shown.
	tolerated bool
	output    string
	// parts are the parts of the template that are open, each with the path
	// outside of it.
	parts []part
	// leaving is the frame that is being left, by number.
	leaving int
	// stdin is what a command reads from a heredoc.
	stdin value
}

type part struct {
	atom    atom
	outside guard
}

// frame is a function, a loop or the script itself: what return, continue and
// exit leave.
type frame struct {
	kind string
	// base is the path on entry; what leaves the frame under a condition adds
	// that condition's opposite to the rest of it.
	base      guard
	left      []guard
	arguments []item
	line      int // of the call
	local     map[string]*variable
}

const (
	frameScript   = "exit"
	frameFunction = "return"
	frameLoop     = "continue"
)

func newWalk(s *Script, limits Limits) *walk {
	return &walk{script: s, limits: limits, leaving: stays, variables: map[string]variable{
		"PWD": {value: plain(workingDirectory)},
	}, functions: map[string]*syntax.Stmt{}}
}

// workingDirectory is bootkube.service's, which stage data leaves away.
const workingDirectory = labs.AssetDir

// follow walks the whole script. Refusals deep inside come up as panics, so
// that no walker has to hand an error through.
func (w *walk) follow(stmts []*syntax.Stmt) (err error) {
	defer func() {
		if r, ok := recover().(*Refusal); ok {
			err = r
		}
	}()
	w.frames = []*frame{{kind: frameScript}}
	w.statements(stmts)
	return nil
}

func (w *walk) refuse(format string, args ...any) {
	panic(&Refusal{Line: w.line, Message: fmt.Sprintf(format, args...), Hint: "no bootkube.sh needs as much; is this one?"})
}

func (w *walk) step() {
	if w.steps++; w.steps > w.limits.Steps {
		w.refuse("more than %d steps to follow", w.limits.Steps)
	}
}

func (w *walk) statements(stmts []*syntax.Stmt) {
	for _, s := range stmts {
		if w.leaving != stays {
			return
		}
		w.statement(s)
	}
}

func (w *walk) statement(s *syntax.Stmt) {
	w.step()
	w.line = int(s.Pos().Line())
	if w.control(s) {
		return
	}
	output, stdin := w.output, w.stdin
	w.redirects(s)
	w.command(s)
	w.output, w.stdin = output, stdin
}

// control opens and closes the parts of the template.
func (w *walk) control(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 {
		return false
	}
	if w.script.actions.control1(call.Args[0].Lit()) == nil {
		return false
	}
	// On one line stand commands between the parts' beginnings and ends.
	var command []*syntax.Word
	flush := func() {
		if len(command) > 0 {
			w.call(&syntax.CallExpr{Args: command}, s.Negated)
		}
		command = nil
	}
	for _, word := range call.Args {
		if x := w.script.actions.control1(word.Lit()); x != nil {
			flush()
			w.open(x)
			continue
		}
		command = append(command, word)
	}
	flush()
	return true
}

func (w *walk) open(x *action) {
	switch x.kind {
	case actionIf:
		w.parts = append(w.parts, part{atom: x.atom(), outside: w.path})
		w.enter(guard{x.atom()})
	case actionElse:
		if n := len(w.parts) - 1; n >= 0 {
			w.path = w.parts[n].outside
			w.enter(guard{w.parts[n].atom.negated()})
		}
	case actionEnd:
		if n := len(w.parts) - 1; n >= 0 {
			w.path = w.parts[n].outside
			w.parts = w.parts[:n]
		}
	}
}

// enter adds conditions to the path; false when they cannot hold.
func (w *walk) enter(g guard) bool {
	path, possible := w.path.and(g...)
	if possible {
		w.path = path
	}
	return possible
}

func (w *walk) redirects(s *syntax.Stmt) {
	for _, r := range s.Redirs {
		switch {
		case r.Hdoc != nil:
			w.stdin = w.heredoc(r)
		case r.Op == syntax.WordHdoc:
			w.stdin = w.quotedText(r.Word)
		case (r.Op == syntax.RdrOut || r.Op == syntax.AppOut || r.Op == syntax.RdrClob) && (r.N == nil || r.N.Value == "1"):
			if file := w.onePath(r.Word); file != "/dev/null" && file != "/dev/stdout" && file != "/dev/stderr" {
				w.output = file
			}
		}
	}
}

func (w *walk) command(s *syntax.Stmt) {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		w.call(c, s.Negated)
	case *syntax.DeclClause:
		w.declare(c)
	case *syntax.FuncDecl:
		w.functions[c.Name.Value] = c.Body
	case *syntax.Block:
		w.statements(c.Stmts)
	case *syntax.Subshell:
		w.subshell(c)
	case *syntax.IfClause:
		w.ifClause(c)
	case *syntax.WhileClause:
		w.whileClause(c)
	case *syntax.ForClause:
		w.forClause(c)
	case *syntax.CaseClause:
		w.caseClause(c)
	case *syntax.BinaryCmd:
		w.binary(c)
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause, nil:
	case *syntax.TimeClause:
		if c.Stmt != nil {
			w.statement(c.Stmt)
		}
	default:
		w.emit(evOther, []arg{{text: w.source(c)}})
	}
}

func (w *walk) subshell(c *syntax.Subshell) {
	saved := w.copyVariables()
	w.framed(&frame{kind: frameScript}, func() { w.statements(c.Stmts) })
	w.variables = saved
}

func (w *walk) copyVariables() map[string]variable {
	saved := make(map[string]variable, len(w.variables))
	for name, v := range w.variables {
		saved[name] = v
	}
	return saved
}

// framed runs a body that return, continue or exit may leave, and puts the
// path back as it was.
func (w *walk) framed(f *frame, body func()) {
	path := w.path
	f.base = path
	w.frames = append(w.frames, f)
	body()
	for name, v := range f.local {
		if v == nil {
			delete(w.variables, name)
			continue
		}
		w.variables[name] = *v
	}
	w.frames = w.frames[:len(w.frames)-1]
	if w.leaving == len(w.frames) {
		w.leaving = stays
	}
	w.outside(path)
}

// stays is the value of leaving while the commands go on.
const stays = -1

// leave notes that the rest of the innermost frame of a kind does not run under
// the present conditions.
func (w *walk) leave(kind string) {
	for i := len(w.frames) - 1; i >= 0; i-- {
		if f := w.frames[i]; f.kind == kind || i == 0 {
			when, _ := w.path.without(f.base)
			f.left = append(f.left, when)
			w.leaving = i
			return
		}
	}
}

// branch runs a body under conditions. When the body leaves a frame, the rest
// of that frame runs under their opposite.
func (w *walk) branch(g guard, body func()) {
	w.step()
	path := w.path
	if !w.enter(g) {
		return
	}
	body()
	if len(g) > 0 {
		w.leaving = stays
	}
	w.outside(path)
}

// outside goes back to a path, and adds what leaving a frame early means for
// the rest of it.
func (w *walk) outside(path guard) {
	w.path = path
	for _, f := range w.frames {
		for _, left := range f.left {
			w.step()
			// A script stops when a command fails; that it also says so is no
			// condition.
			failed := func(a atom) bool { return a.kind == succeeds && a.not }
			if len(left) > 0 && len(left.drop(failed)) == len(left) {
				w.enter(left.negation())
			}
		}
	}
}

func (w *walk) ifClause(c *syntax.IfClause) {
	var before guard
	for ; c != nil; c = c.Else {
		if len(c.Cond) == 0 {
			w.branch(before, func() { w.statements(c.Then) })
			break
		}
		w.line = int(c.Pos().Line())
		yes, no := w.conditions(c.Cond)
		g, possible := before.and(yes...)
		if possible {
			w.branch(g, func() { w.statements(c.Then) })
		}
		if before, possible = before.and(no...); !possible {
			break
		}
	}
}

func (w *walk) binary(c *syntax.BinaryCmd) {
	switch c.Op {
	case syntax.AndStmt, syntax.OrStmt:
		yes, no := w.conditions([]*syntax.Stmt{c.X})
		if c.Op == syntax.OrStmt {
			yes = no
		}
		w.branch(yes, func() { w.statement(c.Y) })
	default:
		w.statement(c.X)
		stdin := w.stdin
		w.stdin = nil
		w.filter(c.Y)
		w.stdin = stdin
	}
}

// filter looks at what stands behind a pipe: what only passes lines on or
// writes them down is left out.
func (w *walk) filter(s *syntax.Stmt) {
	if call, ok := s.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
		switch call.Args[0].Lit() {
		case "tee", "cat", "sed", "awk", "grep", "tr", "cut", "head", "tail", "sort", "logger", "systemd-cat":
			return
		}
	}
	w.statement(s)
}

func (w *walk) caseClause(c *syntax.CaseClause) {
	subject := w.quotedText(c.Word).seenFrom(w.path).text()
	var before guard
	for _, item := range c.Items {
		var patterns []string
		for _, p := range item.Patterns {
			patterns = append(patterns, w.quotedText(p).text())
		}
		yes, no := isOneOf(subject, patterns)
		g, possible := before.and(yes...)
		if possible {
			w.branch(g, func() { w.statements(item.Stmts) })
		}
		if before, possible = before.and(no...); !possible {
			return
		}
	}
}

// isOneOf is the condition of a case.
func isOneOf(subject string, patterns []string) (yes, no guard) {
	no = nil
	yes = guard{never}
	for _, p := range patterns {
		y, n := compare(subject, "=", p)
		if p == "*" {
			y, n = nil, guard{never}
		}
		no, yes = both(no, n)
		_ = y
	}
	return yes, no
}

func (w *walk) whileClause(c *syntax.WhileClause) {
	if w.readLoop(c) {
		return
	}
	saved := w.retry
	if every := w.rhythm(c); every != "" {
		w.retry = every
	}
	yes, no := w.conditions(c.Cond)
	if !endless(c) {
		w.retry = saved
	}
	if c.Until {
		yes = no
	}
	w.framed(&frame{kind: frameLoop}, func() {
		silent := &Script{actions: w.script.actions, images: map[string]int{}, computed: map[string]computation{}}
		if w.onlyWaits(c.Do) {
			silent, w.script = w.script, silent
			w.branch(yes, func() { w.statements(c.Do) })
			w.script = silent
			return
		}
		w.branch(yes, func() { w.statements(c.Do) })
	})
	w.retry = saved
}

// endless says whether a loop ends from within only.
func endless(c *syntax.WhileClause) bool {
	if len(c.Cond) != 1 {
		return false
	}
	call, ok := c.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) != 1 {
		return false
	}
	word := call.Args[0].Lit()
	return word == "true" && !c.Until || word == ":" && !c.Until || word == "false" && c.Until
}

// onlyWaits says whether the body of a loop does nothing but sleep, count and
// talk.
func (w *walk) onlyWaits(body []*syntax.Stmt) bool {
	only := true
	for _, s := range body {
		syntax.Walk(s, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
				switch call.Args[0].Lit() {
				case "sleep", "echo", "printf", "true", ":", "[", "test", "let", "break", "continue", "exit", "return":
				default:
					only = false
				}
			}
			return only
		})
	}
	return only
}

// rhythm tells how a loop waits, in the words of stage data; empty when it does
// not sleep.
func (w *walk) rhythm(c *syntax.WhileClause) string {
	every, bounded := "", false
	look := func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		switch call.Args[0].Lit() {
		case "sleep":
			if len(call.Args) > 1 {
				every = w.quotedText(call.Args[1]).text()
			}
		case "break":
			bounded = bounded || !endless(c)
		case "exit", "return", "timeout":
			bounded = true
		}
		return true
	}
	for _, s := range c.Do {
		syntax.Walk(s, look)
	}
	for _, s := range c.Cond {
		syntax.Walk(s, func(n syntax.Node) bool {
			if b, ok := n.(*syntax.BinaryCmd); ok && (b.Op == syntax.AndStmt || b.Op == syntax.OrStmt) {
				bounded = true
			}
			return look(n)
		})
	}
	if every == "" {
		return ""
	}
	every = "every " + seconds(every)
	if bounded {
		return every + ", with a limit"
	}
	return every + ", without limit"
}

func seconds(n string) string {
	if len(n) > 1 && n[len(n)-1] == 's' {
		n = n[:len(n)-1]
	}
	if n == "1" {
		return "second"
	}
	return n + " seconds"
}

// readLoop unrolls a loop that reads its lines from a heredoc.
func (w *walk) readLoop(c *syntax.WhileClause) bool {
	if len(c.Cond) != 1 || c.Until || w.stdin == nil {
		return false
	}
	call, ok := c.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || call.Args[0].Lit() != "read" {
		return false
	}
	var names []string
	for _, word := range call.Args[1:] {
		if lit := word.Lit(); lit != "" && lit[0] != '-' {
			names = append(names, lit)
		}
	}
	lines := w.stdin.lines()
	w.stdin = nil
	for _, line := range lines {
		w.read(names, line)
		w.iterate(c.Do)
	}
	return true
}

func (w *walk) iterate(body []*syntax.Stmt) {
	w.step()
	w.framed(&frame{kind: frameLoop}, func() { w.statements(body) })
}

// read cuts a line into variables as the shell's read does.
func (w *walk) read(names []string, line value) {
	words, _, _ := line.split()
	for i, name := range names {
		switch {
		case i >= len(words):
			w.assign(name, nil)
		case i == len(names)-1:
			var rest value
			for j, word := range words[i:] {
				if j > 0 {
					rest = append(rest, piece{text: " "})
				}
				rest = append(rest, word...)
			}
			w.assign(name, rest)
		default:
			w.assign(name, words[i])
		}
	}
}

func (w *walk) forClause(c *syntax.ForClause) {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		w.framed(&frame{kind: frameLoop}, func() {
			w.branch(guard{{kind: eachEntry, arg: w.source(c.Loop)}}, func() { w.statements(c.Do) })
		})
		return
	}
	items := w.items(iter.Items)
	if !iter.InPos.IsValid() {
		items = w.positional()
	}
	for _, it := range items {
		w.framed(&frame{kind: frameLoop}, func() {
			w.step()
			w.set(iter.Name.Value, variable{value: it.value})
			w.branch(it.when, func() { w.statements(c.Do) })
		})
	}
}
