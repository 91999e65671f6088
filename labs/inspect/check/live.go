package check

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
)

// Live verifies the stages of a lab by their scripts.
type Live struct {
	Plan  *labs.Plan
	Hosts *host.Hosts
	// Out is the absolute directory that bootlab generate wrote: its scripts are
	// run here, and what they made is below its work.
	Out string
	// NodeScripts is where the scripts are on the bootstrap node.
	NodeScripts string
	Advice      Advice
	// Timeout is how long one script may take.
	Timeout time.Duration
}

// saidLimit is how much a script may print, in bytes. The longest prints some
// kilobytes.
const saidLimit = 4 << 20

// Here says whether "all" means a stage: whether it has a script where the lab
// is. A stage of the local run alone is none of a lab with machines, and what the
// workstation does with machines none of a local run.
func (l *Live) Here(s *labs.Stage) bool {
	if l.Hosts.Local {
		return s.In(labs.Local) || s.In(labs.Workstation) && s.Kind == "prepare"
	}
	return s.In(labs.OnNode) || s.In(labs.Workstation)
}

// Run verifies the chosen stages, one after the other and each to its end. progress,
// which may be nil, hears of each stage as it is done. A context that ends cuts
// the report short.
func (l *Live) Run(ctx context.Context, chosen []Choice, progress func(Stage)) *Report {
	r := newReport(l.Plan, "")
	seen := &sight{live: l, looked: map[labs.Place]*begun{}}
	for _, c := range chosen {
		stage := l.stage(ctx, c, seen)
		if ctx.Err() != nil {
			break
		}
		r.Stages = append(r.Stages, stage)
		if progress != nil {
			progress(stage)
		}
	}
	r.sum()
	return r
}

// place is where a stage's script runs; false when the lab has no such place.
func (l *Live) place(s *labs.Stage) (labs.Place, bool) {
	switch {
	case !l.Hosts.Local && s.In(labs.OnNode):
		return labs.OnNode, true
	case s.In(labs.Workstation):
		return labs.Workstation, true
	}
	return labs.Local, s.In(labs.Local)
}

// host is the machine of a place, and the script's path there.
func (l *Live) host(place labs.Place, s *labs.Stage) (host.Host, string) {
	if place == labs.OnNode {
		return l.Hosts.Bootstrap, path.Join(l.NodeScripts, s.ScriptName())
	}
	return l.Hosts.Here, path.Join(l.Out, "scripts", s.ScriptName())
}

func (l *Live) stage(ctx context.Context, c Choice, seen *sight) Stage {
	place, there := l.place(c.Stage)
	if !there {
		return broken(newStage(c.Stage, "bootstrap node"), "it is a stage of the bootstrap node, and this is a local run",
			"bootlab vms up makes the machines of a lab")
	}
	h, script := l.host(place, c.Stage)
	stage := newStage(c.Stage, h.Name())
	if Asks(c.Stage) {
		return broken(stage, "its script must be told a "+strings.Fields(c.Arguments)[0],
			"call it yourself: "+path.Dir(script)+"/"+c.Call()+" --verify")
	}
	if !c.Named {
		done, why, err := seen.done(ctx, place, c.Stage)
		if err != nil {
			return broken(stage, err.Error(), "look whether the machine runs and answers: bootlab vms status")
		}
		if !done {
			stage.State, stage.Problem = NotDone, why
			return stage
		}
	}
	return l.ask(ctx, stage, c.Stage, place, h, script)
}

func broken(stage Stage, problem, hint string) Stage {
	stage.State, stage.Problem, stage.Hint = Broken, problem, hint
	return stage
}

// ask runs the script.
func (l *Live) ask(ctx context.Context, stage Stage, s *labs.Stage, place labs.Place, h host.Host, script string) Stage {
	ctx, cancel := context.WithTimeout(ctx, l.Timeout)
	defer cancel()
	words := []string{"exec", word(script)}
	for _, argument := range strings.Fields(s.Arguments) {
		words = append(words, word(argument))
	}
	// The script gets no standard input: what runs it reads this line from there.
	said, err := h.Run(ctx, strings.Join(append(words, "--verify", "<", "/dev/null"), " "), saidLimit)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return broken(stage, fmt.Sprintf("%s --verify gave no verdict within %s", s.Call(), l.Timeout),
			"run it yourself to see where it waits; --timeout gives it longer")
	case err != nil:
		return broken(stage, err.Error(), "look whether the machine runs and answers: bootlab vms status")
	}
	return Judge(stage, s, place, said, l.Advice)
}

// Judge makes a stage of what its script said and ended with.
func Judge(stage Stage, s *labs.Stage, place labs.Place, said host.Result, advice Advice) Stage {
	tap, err := &TAP{}, fmt.Errorf("it printed more than %d MiB", saidLimit>>20)
	if !said.Cut {
		tap, err = ParseTAP(string(said.Out))
	}
	problem := contradiction(tap, err, said)
	if err == nil && tap.NotRun != "" && said.Status == 4 {
		return broken(stage, "it has not run yet", tap.NotRun)
	}
	for i := range s.Checks {
		c := &s.Checks[i]
		result, inOutput := newResult(c, place, advice), false
		for _, p := range tap.Points {
			if p.ID == c.ID {
				inOutput = true
				result.Outcome, result.Found = Passed, ""
				if !p.OK {
					result.Outcome, result.Found = Failed, p.Found
				}
			}
		}
		if !inOutput && problem == "" && ofFiles(c.When) {
			continue // it does not count here, says the script
		}
		if !inOutput {
			result.Outcome, result.Problem = CouldNotRun, "its script did not tell of it"
			if problem == "" {
				problem = "its script does not tell of check " + c.ID
			}
		}
		stage.Checks = append(stage.Checks, result)
	}
	for _, p := range tap.Points {
		if find(stage.Checks, p.ID) < 0 && problem == "" {
			problem = "its script tells of " + p.ID + ", which is no check of the stage"
		}
	}
	if problem != "" {
		hint := brokenHint(said)
		if tap.Bailed != "" {
			hint = "the stage was never begun here: run " + s.Call() + ", or what comes before it"
		}
		return broken(stage, problem, hint)
	}
	return stage
}

// contradiction says why a script's word is not trusted; empty when it is.
func contradiction(tap *TAP, err error, said host.Result) string {
	failed := 0
	for _, p := range tap.Points {
		if !p.OK {
			failed++
		}
	}
	switch {
	case said.Status != 0 && said.Status != 3:
		return fmt.Sprintf("it ended with status %d%s", said.Status, complaint(said))
	case err != nil:
		return "its TAP is not to be read: " + err.Error()
	case tap.Bailed != "":
		return "it gave up: " + tap.Bailed
	case failed > 0 && said.Status == 0:
		return fmt.Sprintf("it ended with status 0, and %d of its checks fail", failed)
	case failed == 0 && said.Status == 3:
		return "it ended with status 3, and none of its checks fails"
	case len(tap.Points) == 0:
		return "it ran no check"
	}
	return ""
}

// complaint is what a script printed as errors, on one line.
func complaint(said host.Result) string {
	lines := strings.Split(strings.TrimSpace(string(said.Err)), "\n")
	for _, line := range lines {
		if strings.HasPrefix(line, "error: ") {
			return ": " + strings.TrimPrefix(line, "error: ")
		}
	}
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return ": " + last
	}
	return ""
}

// notThere and notToBeRun are how bash ends when a script cannot be started.
const (
	notToBeRun = 126
	notThere   = 127
)

func brokenHint(said host.Result) string {
	for _, line := range strings.Split(string(said.Err), "\n") {
		if hint, ok := strings.CutPrefix(strings.TrimSpace(line), "hint: "); ok {
			return hint
		}
	}
	if said.Status == notThere || said.Status == notToBeRun {
		return "bootlab generate writes the scripts; those of a node come with its bootstrap.ign"
	}
	return "run the script with --verify yourself; if it is of another bootlab, bootlab generate writes it again"
}

// word makes one word of the shell out of a value.
func word(value string) string { return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'" }
