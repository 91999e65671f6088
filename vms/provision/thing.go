package provision

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"bootlab/vms"
	"bootlab/vms/state"
)

// condition is how something of a lab stands on the host.
type condition string

const (
	missing  condition = "missing"
	ready    condition = "ready"
	halfMade condition = "half made" // ours, and to be made again
	inactive condition = "inactive"  // ours and whole, but not started
)

// Thing is one object that up makes and down takes away. The host is asked each
// time how it stands; nothing is trusted that was written down earlier. So up
// and down go on wherever an earlier one was killed.
type Thing struct {
	Kind, Name string
	// Kept: down leaves it, as other labs may use it.
	Kept bool

	// look says how it stands; something of that name that is not ours is an
	// error.
	look   func() (condition, error)
	make   func() error
	start  func() error // from inactive to ready
	remove func() error
}

// Progress is called before and after each step, with done false and true.
type Progress func(do string, t Thing, done bool)

// makeAll brings every thing to ready, in order.
func makeAll(ctx context.Context, s *state.Dir, things []Thing, progress Progress) error {
	for _, t := range things {
		if err := ctx.Err(); err != nil {
			return err
		}
		at, err := t.look()
		if err != nil {
			return err
		}
		if at == ready {
			continue
		}
		progress("make", t, false)
		if err := makeOne(s, t, at); err != nil {
			return fmt.Errorf("%s %s: %w", t.Kind, t.Name, err)
		}
		progress("make", t, true)
	}
	return nil
}

func makeOne(s *state.Dir, t Thing, at condition) error {
	if err := s.Note("make", t.Kind, t.Name, "begun"); err != nil {
		return err
	}
	err := bringAndLook(t, at)
	result := "done"
	if err != nil {
		result = err.Error()
	}
	if noted := s.Note("make", t.Kind, t.Name, result); err == nil {
		err = noted
	}
	return err
}

// bringAndLook looks again at what libvirt took: it takes more than it can do, and
// what did not run shows only now that it is half made.
func bringAndLook(t Thing, at condition) error {
	for range 2 {
		if err := bring(t, at); err != nil {
			return err
		}
		var err error
		if at, err = t.look(); err != nil || at == ready {
			return err
		}
		if at != halfMade {
			break
		}
	}
	return fmt.Errorf("it was made, and is %s", at)
}

// bring does the steps from how it stands to ready.
func bring(t Thing, at condition) error {
	if at == halfMade {
		if err := t.remove(); err != nil {
			return err
		}
		at = missing
	}
	if at == missing {
		if err := t.make(); err != nil {
			return err
		}
		if t.start == nil {
			return nil
		}
		var err error
		if at, err = t.look(); err != nil {
			return err
		}
	}
	if at == inactive && t.start != nil {
		return t.start()
	}
	return nil
}

// Receipt is what down found of a thing, and what there is of it now.
type Receipt struct {
	Kind, Name string
	Before     string // how it stood
	After      string // gone, kept, or why it is still there
	Left       bool   // something of ours is still there
}

// removeAll takes every thing away, last made first, and reads back that it is
// gone. It goes on after a failure: what can be removed is. After an interruption
// nothing more is removed, and the receipt says what is left.
func removeAll(ctx context.Context, s *state.Dir, things []Thing, progress Progress) []Receipt {
	var out []Receipt
	for _, t := range slices.Backward(things) {
		r := Receipt{Kind: t.Kind, Name: t.Name}
		if ctx.Err() != nil {
			r.Before, r.After, r.Left = "not looked at", "not reached", !t.Kept
			out = append(out, r)
			continue
		}
		at, err := t.look()
		switch {
		case refused(err):
			r.Before, r.After = "not ours", "left alone: "+err.Error()
		case err != nil:
			r.Before, r.After, r.Left = "not to be seen", "not known: "+err.Error(), true
		case t.Kept && at != missing:
			r.Before, r.After = string(at), "kept"
		case at == missing:
			r.Before, r.After = string(at), "gone"
		default:
			r.Before = string(at)
			progress("remove", t, false)
			r.After, r.Left = removeOne(s, t)
			progress("remove", t, true)
		}
		out = append(out, r)
	}
	return out
}

// refused says whether it was this program that does not want to touch something. Any
// other error leaves open whether something of the lab is there.
func refused(err error) bool {
	var p *vms.Problem
	return errors.As(err, &p)
}

func removeOne(s *state.Dir, t Thing) (after string, left bool) {
	err := s.Note("remove", t.Kind, t.Name, "begun")
	if err == nil {
		err = t.remove()
	}
	if err == nil {
		var at condition
		if at, err = t.look(); err == nil && at != missing {
			err = fmt.Errorf("it was removed, and is %s", at)
		}
	}
	if err != nil {
		s.Note("remove", t.Kind, t.Name, err.Error())
		return "still there: " + err.Error(), true
	}
	s.Note("remove", t.Kind, t.Name, "done")
	return "gone", false
}
