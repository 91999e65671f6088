package check

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/record"
)

// begun is what tells on one machine which stages were done: the names in its
// asset directory, among them the markers, and its records.
type begun struct {
	names    []string
	services []*record.Service
	err      error
}

// sight looks at each place once.
type sight struct {
	live   *Live
	looked map[labs.Place]*begun
}

// done says of a stage what [begun.has] says.
func (s *sight) done(ctx context.Context, place labs.Place, stage *labs.Stage) (done bool, why string, err error) {
	b := s.looked[place]
	if b == nil {
		b = s.live.look(ctx, place)
		s.looked[place] = b
	}
	if b.err != nil {
		return false, "", b.err
	}
	done, why = b.has(stage)
	return done, why, nil
}

func (l *Live) look(ctx context.Context, place labs.Place) *begun {
	h, assets, root := l.Hosts.Here, path.Join(l.Out, "work", "assets"), path.Join(l.Out, "work", "host")
	if place == labs.OnNode {
		h, assets, root = l.Hosts.Bootstrap, l.Hosts.AssetDir, l.Hosts.Root
	}
	return lookAt(ctx, h, assets, root)
}

func lookAt(ctx context.Context, h host.Host, assets, root string) *begun {
	b := &begun{}
	b.names, b.err = h.List(ctx, assets)
	if errors.Is(b.err, fs.ErrNotExist) {
		b.err = nil
	}
	if b.err != nil {
		return b
	}
	b.services, b.err = record.Collect(ctx, h, root)
	if errors.Is(b.err, record.ErrNone) {
		b.err = nil
	}
	return b
}

// has says whether a stage was done, or at least begun: its marker is there, or
// a record of it. If not, why says what else there is to say.
func (b *begun) has(s *labs.Stage) (done bool, why string) {
	if s.SkipIf != "" && slices.Contains(b.names, s.SkipIf) {
		return false, s.SkipIf + " is there: what it makes came otherwise"
	}
	if marker := s.Marker(); marker != "" && slices.Contains(b.names, marker) {
		return true, ""
	}
	for _, service := range b.services {
		for _, log := range []*record.Log{service.Log, service.Older} {
			one := record.Service{Log: log}
			if log != nil && one.LastOf(s.RecordName()) != nil {
				return true, ""
			}
		}
	}
	return false, ""
}
