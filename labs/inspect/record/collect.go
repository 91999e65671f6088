package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"bootlab/labs/inspect/host"
)

// beside is the directory, below that of the records, where scripts that run
// beside bootkube.sh keep theirs. tornEnd stands behind the name of an older
// record that was set aside.
const (
	beside  = "bootlab"
	ending  = ".json"
	tornEnd = ".json.torn"
)

// ErrNone says that there are no records.
var ErrNone = errors.New("there are no progress records")

// Collect reads the records of a machine, below a root directory that is empty
// on a node.
func Collect(ctx context.Context, h host.Host, root string) ([]*Service, error) {
	dir := path.Join("/", root, Dir)
	return collect(func(below string) ([]string, error) {
		names, err := h.List(ctx, path.Join(dir, below))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return names, err
	}, func(name string) (*Log, error) {
		// A byte more tells whether the file is longer.
		data, err := h.ReadFile(ctx, path.Join(dir, name), Limit+1)
		switch {
		case err != nil:
			return nil, err
		case len(data) > Limit:
			return ReadEnd(data), nil
		}
		return parse(data), nil
	})
}

// Open reads the records in a log bundle, or in a directory that holds nothing
// but them.
func Open(fsys fs.FS) ([]*Service, error) {
	for _, dir := range []string{"bootstrap/services", "*/bootstrap/services", "log-bundle-bootstrap/bootstrap/services", "*/log-bundle-bootstrap/bootstrap/services", "."} {
		dirs, err := fs.Glob(fsys, dir)
		if err != nil {
			return nil, err
		}
		for _, found := range dirs {
			sub, err := fs.Sub(fsys, found)
			if err != nil {
				return nil, err
			}
			if services, err := openDir(sub); !errors.Is(err, ErrNone) {
				return services, err
			}
		}
	}
	return nil, ErrNone
}

func openDir(fsys fs.FS) ([]*Service, error) {
	return collect(func(below string) ([]string, error) {
		entries, err := fs.ReadDir(fsys, path.Clean(below))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		var names []string
		for _, e := range entries {
			if e.Type().IsRegular() {
				names = append(names, e.Name())
			}
		}
		return names, err
	}, func(name string) (*Log, error) {
		file, err := fsys.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return Read(file), nil
	})
}

// collect reads the records of a directory and of the one beside. A file that is
// gone meanwhile, or cannot be read, is a service with a problem.
func collect(list func(string) ([]string, error), read func(string) (*Log, error)) ([]*Service, error) {
	var services []*Service
	for _, below := range []string{"", beside} {
		names, err := list(below)
		if err != nil {
			return nil, err
		}
		slices.Sort(names)
		for _, name := range names {
			service, isRecord := strings.CutSuffix(name, ending)
			if !isRecord || service == "" {
				continue
			}
			s := &Service{Name: service, Log: readOne(read, path.Join(below, name))}
			if older := service + tornEnd; slices.Contains(names, older) {
				s.Older = readOne(read, path.Join(below, older))
			}
			services = append(services, s)
		}
	}
	if len(services) == 0 {
		return nil, ErrNone
	}
	return services, nil
}

func readOne(read func(string) (*Log, error), name string) *Log {
	log, err := read(name)
	if err != nil {
		return &Log{Problem: fmt.Sprintf("it cannot be read: %v", err)}
	}
	return log
}
