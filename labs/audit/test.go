package audit

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// conditions looks at the commands that a script branches on. It gives the
// conditions under which they succeed and those under which they fail; commands
// that are no tests are looked at as what they do.
func (w *walk) conditions(stmts []*syntax.Stmt) (yes, no guard) {
	for i, s := range stmts {
		if i < len(stmts)-1 {
			w.statement(s)
			continue
		}
		w.line = int(s.Pos().Line())
		yes, no = w.condition(s)
	}
	return yes, no
}

func (w *walk) condition(s *syntax.Stmt) (yes, no guard) {
	w.step()
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		yes, no = w.testCall(c, s)
	case *syntax.TestClause:
		yes, no = w.testExpr(c.X)
	case *syntax.BinaryCmd:
		yes, no = w.bothConditions(c, s)
	case *syntax.Block:
		yes, no = w.conditions(c.Stmts)
	default:
		yes, no = w.outcome(s)
	}
	if s.Negated {
		yes, no = no, yes
	}
	return yes, no
}

func (w *walk) bothConditions(c *syntax.BinaryCmd, s *syntax.Stmt) (yes, no guard) {
	if c.Op != syntax.AndStmt && c.Op != syntax.OrStmt {
		return w.outcome(s)
	}
	y1, n1 := w.condition(c.X)
	y2, n2 := w.condition(c.Y)
	if c.Op == syntax.OrStmt {
		no, yes = both(n1, n2)
		return yes, no
	}
	return both(y1, y2)
}

// both is a conjunction and its opposite.
func both(a, b guard) (yes, no guard) {
	yes, possible := a.and(b...)
	switch {
	case !possible:
		return guard{never}, nil
	case len(yes) == 0:
		return nil, guard{never}
	}
	return yes, yes.negation()
}

// outcome runs a command that is branched on.
func (w *walk) outcome(s *syntax.Stmt) (yes, no guard) {
	before := len(w.script.events)
	plainly := *s
	plainly.Negated = false
	saved := w.tolerated
	w.tolerated = true
	w.statement(&plainly)
	w.tolerated = saved
	name := w.source(s.Cmd)
	if before < len(w.script.events) {
		name = w.script.events[before].name()
	}
	a := atom{kind: succeeds, arg: name}
	return guard{a}, guard{a.negated()}
}

// testCall is a condition that is a simple command.
func (w *walk) testCall(c *syntax.CallExpr, s *syntax.Stmt) (yes, no guard) {
	if len(c.Args) == 0 {
		return w.outcome(s)
	}
	switch name := w.quotedText(c.Args[0]).text(); name {
	case "true", ":":
		return nil, guard{never}
	case "false":
		return guard{never}, nil
	case "[", "test":
		return w.testArguments(c.Args[1:])
	default:
		if body := w.functions[name]; body != nil && isTest(body) {
			args := w.items(c.Args[1:])
			w.enterCall()
			w.framed(&frame{kind: frameFunction, arguments: args, line: w.line}, func() { yes, no = w.condition(body) })
			w.depth--
			return yes, no
		}
	}
	return w.outcome(s)
}

// isTest says whether a function is nothing but a condition.
func isTest(body *syntax.Stmt) bool {
	b, ok := body.Cmd.(*syntax.Block)
	if !ok || len(b.Stmts) != 1 {
		return false
	}
	switch c := b.Stmts[0].Cmd.(type) {
	case *syntax.TestClause:
		return true
	case *syntax.CallExpr:
		return len(c.Args) > 0 && (c.Args[0].Lit() == "[" || c.Args[0].Lit() == "test")
	}
	return false
}

// testArguments is [ … ], with its -a, -o and !.
func (w *walk) testArguments(words []*syntax.Word) (yes, no guard) {
	var texts []string
	for _, word := range words {
		texts = append(texts, w.quotedText(word).seenFrom(w.path).text())
	}
	if n := len(texts); n > 0 && texts[n-1] == "]" {
		texts, words = texts[:n-1], words[:n-1]
	}
	for _, op := range []string{"-o", "-a"} {
		for i, t := range texts {
			if t != op || words[i].Lit() != op || i == 0 {
				continue
			}
			y1, n1 := w.testArguments(words[:i])
			y2, n2 := w.testArguments(words[i+1:])
			if op == "-o" {
				no, yes = both(n1, n2)
				return yes, no
			}
			return both(y1, y2)
		}
	}
	if len(texts) > 0 && texts[0] == "!" {
		yes, no = w.testArguments(words[1:])
		return no, yes
	}
	switch len(texts) {
	case 1:
		return w.unary("-n", texts[0], words[0])
	case 2:
		return w.unary(texts[0], texts[1], words[1])
	case 3:
		return compare(texts[0], texts[1], texts[2])
	}
	return of(atom{kind: otherTest, arg: strings.Join(texts, " ")})
}

func of(a atom) (yes, no guard) { return guard{a}, guard{a.negated()} }

func (w *walk) testExpr(x syntax.TestExpr) (yes, no guard) {
	w.step()
	switch x := x.(type) {
	case *syntax.ParenTest:
		return w.testExpr(x.X)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			yes, no = w.testExpr(x.X)
			return no, yes
		}
		word, _ := x.X.(*syntax.Word)
		return w.unary(x.Op.String(), w.wordText(word), word)
	case *syntax.BinaryTest:
		if x.Op == syntax.AndTest || x.Op == syntax.OrTest {
			y1, n1 := w.testExpr(x.X)
			y2, n2 := w.testExpr(x.Y)
			if x.Op == syntax.OrTest {
				no, yes = both(n1, n2)
				return yes, no
			}
			return both(y1, y2)
		}
		left, _ := x.X.(*syntax.Word)
		right, _ := x.Y.(*syntax.Word)
		return compare(w.wordText(left), x.Op.String(), w.wordText(right))
	case *syntax.Word:
		return w.unary("-n", w.wordText(x), x)
	}
	return of(atom{kind: otherTest, arg: w.source(x)})
}

func (w *walk) wordText(word *syntax.Word) string {
	if word == nil {
		return ""
	}
	return w.quotedText(word).seenFrom(w.path).text()
}

// unary is a test with one argument.
func (w *walk) unary(op, text string, word *syntax.Word) (yes, no guard) {
	switch op {
	case "-f":
		return of(atom{kind: isFile, arg: belowWork(text)})
	case "-e", "-a":
		return of(atom{kind: exists, arg: belowWork(text)})
	case "-d":
		return of(atom{kind: isDir, arg: belowWork(text)})
	case "-z":
		yes, no = w.filled(text, word)
		return no, yes
	case "-n":
		return w.filled(text, word)
	}
	return of(atom{kind: otherTest, arg: op + " " + text})
}

// filled asks whether a text has anything in it.
func (w *walk) filled(text string, word *syntax.Word) (yes, no guard) {
	if dir, ok := strings.CutPrefix(broken(text), "$(ls -A "); ok {
		return of(atom{kind: notEmpty, arg: belowWork(strings.TrimSuffix(dir, ")"))})
	}
	pieces := w.quotedText(word).seenFrom(w.path)
	switch {
	case text == "":
		return guard{never}, nil
	// The name of an image in the payload: asking for one that is not there
	// stops the script.
	case strings.HasPrefix(text, "image("):
		return nil, guard{never}
	case len(pieces) == 1 && len(pieces[0].when) > 0:
		return pieces[0].when, pieces[0].when.negation()
	case !strings.Contains(text, "$") && len(pieces) > 0 && len(pieces[0].when) == 0:
		return nil, guard{never}
	}
	return of(atom{kind: isSet, arg: text})
}

func compare(left, op, right string) (yes, no guard) {
	switch op {
	case "=", "==":
		return equal(left, right)
	case "!=":
		yes, no = equal(left, right)
		return no, yes
	}
	return of(atom{kind: otherTest, arg: left + " " + op + " " + right})
}

// equal is the condition that two texts are equal; it is decided at once when
// both are known.
func equal(left, right string) (yes, no guard) {
	if right == inPlaceVariable || left == "true" || left == "false" {
		left, right = right, left
	}
	switch {
	case left == inPlaceVariable && (right == "true" || right == "false"):
		return of(atom{kind: inPlace, not: right == "false"})
	case left == right:
		return nil, guard{never}
	case !strings.ContainsAny(left+right, "$*?[("):
		return guard{never}, nil
	}
	return of(atom{kind: otherTest, arg: left + " is " + right})
}

// inPlaceVariable is the installer's own switch for an installation that needs
// no bootstrap machine. It is asked for at run time, but set when the script is
// written, so its value is never put in its place.
const inPlaceVariable = "$BOOTSTRAP_INPLACE"

// belowWork gives a path as stage data has it: without the working directory.
func belowWork(p string) string {
	p = strings.TrimPrefix(p, workingDirectory+"/")
	for strings.HasPrefix(p, "./") {
		p = strings.TrimPrefix(p, "./")
	}
	return p
}
