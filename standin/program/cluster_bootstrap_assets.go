package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

// createInBackground creates what is in manifests/. A file that is no object
// ends everything.
func (b *bootstrapRun) createInBackground(ctx context.Context, cancel func()) *sync.WaitGroup {
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		defer done.Done()
		if err := b.createAll(ctx); err != nil && ctx.Err() == nil {
			say("Assert creation failed: %v\n", err)
			cancel()
		}
	}()
	return &done
}

// createAll tries again and again until every file is there.
func (b *bootstrapRun) createAll(ctx context.Context) error {
	left, err := readAssets(filepath.Join(b.dir, "manifests"))
	if err != nil {
		return err
	}
	round := 0
	return poll(ctx, 200*time.Millisecond, func() bool {
		round++
		types := map[string]map[string]resourceType{}
		failures := map[string]string{}
		for _, file := range slices.Sorted(maps.Keys(left)) {
			if ctx.Err() != nil {
				return false
			}
			failure, err := b.create(file, left[file], types)
			if err != nil {
				fmt.Fprintf(os.Stderr, "[#%d] failed to fetch discovery: %v\n", round, err)
				return false
			}
			if failure != "" {
				failures[file] = failure
			} else {
				delete(left, file)
			}
		}
		if len(failures) > 0 {
			fmt.Fprintf(os.Stderr, "[#%d] failed to create some manifests:\n", round)
		}
		for _, file := range slices.Sorted(maps.Keys(failures)) {
			fmt.Fprintf(os.Stderr, "%q: %s\n", file, failures[file])
		}
		return len(left) == 0
	})
}

// object is an object of any type.
type object map[string]any

func (o object) text(path ...string) string {
	var v any = map[string]any(o)
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	s, _ := v.(string)
	return s
}

// readAssets reads every file, whatever its name, as one object; of several
// documents the first counts.
func readAssets(dir string) (map[string]object, error) {
	found, failures := map[string]object{}, []string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		var all map[string]any
		err = yaml.Unmarshal(data, &all)
		o := object(all)
		switch {
		case err != nil:
			failures = append(failures, fmt.Sprintf("%q: unable to convert asset %q from YAML to JSON: %v", name, name, err))
		case o.text("kind") == "":
			data, _ := json.Marshal(o)
			failures = append(failures, fmt.Sprintf("%q: unable to decode asset %q: Object 'Kind' is missing in '%s'", name, name, data))
		case o["items"] != nil:
			failures = append(failures, fmt.Sprintf("%q: unable to convert asset %q to unstructured", name, name))
		}
		found[name] = o
		return nil
	})
	if err == nil && len(failures) > 0 {
		err = fmt.Errorf("failed to load some manifests:\n%s", strings.Join(failures, "\n"))
	}
	return found, err
}

// resourceType is how objects of a kind are addressed.
type resourceType struct {
	Name, Kind string
	Namespaced bool
}

// typesOf asks which kinds a version of a group has, once for each.
func (b *bootstrapRun) typesOf(version string, known map[string]map[string]resourceType) (map[string]resourceType, error) {
	if known[version] != nil {
		return known[version], nil
	}
	path := "/apis/" + version
	if !strings.Contains(version, "/") {
		path = "/api/" + version
	}
	var list struct{ Resources []resourceType }
	var answer *answerError
	if err := b.get(path, &list); err != nil && !(errors.As(err, &answer) && answer.status == http.StatusNotFound) {
		return nil, err
	}
	known[version] = map[string]resourceType{}
	for _, r := range list.Resources {
		if !strings.Contains(r.Name, "/") {
			known[version][r.Kind] = r
		}
	}
	return known[version], nil
}

// create creates one object unless it is there; an error means that nothing can
// be asked.
func (b *bootstrapRun) create(file string, o object, known map[string]map[string]resourceType) (failure string, err error) {
	version, kind := o.text("apiVersion"), o.text("kind")
	types, err := b.typesOf(version, known)
	if err != nil {
		return "", err
	}
	t, there := types[kind]
	if !there {
		return fmt.Sprintf("unable to get REST mapping for %q: no matches for kind %q in version %q", file, kind, version), nil
	}
	group, number, grouped := strings.Cut(version, "/")
	path := "/apis/" + version
	if !grouped {
		path, group, number = "/api/"+version, "", version
	}
	name, namespace := o.text("metadata", "name"), o.text("metadata", "namespace")
	if t.Namespaced {
		path += "/namespaces/" + namespace
	}
	path += "/" + t.Name
	what := fmt.Sprintf("%s.%s.%s/%s -n %s", t.Name, number, group, name, namespace)
	return b.createAt(path, name, file, what, o), nil
}

func (b *bootstrapRun) createAt(path, name, file, what string, o object) (failure string) {
	found := object{}
	err := b.get(path+"/"+name, &found)
	var answer *answerError
	switch {
	case err == nil:
		fmt.Fprintf(os.Stderr, "Skipped %q %s as it already exists\n", file, what)
	case !errors.As(err, &answer) || answer.status != http.StatusNotFound:
		fmt.Fprintf(os.Stderr, "Failed to get %q %s: %v\n", file, what, err)
		return fmt.Sprintf("failed to get %s: %v", what, err)
	default:
		if err := b.send(http.MethodPost, path, o, &found); err != nil {
			fmt.Fprintf(os.Stderr, "Failed to create %q %s: %v\n", file, what, err)
			return fmt.Sprintf("failed to create %s: %v", what, err)
		}
		fmt.Fprintf(os.Stderr, "Created %q %s\n", file, what)
	}
	if o["status"] == nil || found["status"] != nil {
		return ""
	}
	found["status"] = o["status"]
	switch err := b.send(http.MethodPut, path+"/"+name+"/status", found, &found); {
	case err == nil:
		fmt.Fprintf(os.Stderr, "Updated status for %q %s\n", file, what)
	case !errors.As(err, &answer) || answer.status != http.StatusNotFound:
		fmt.Fprintf(os.Stderr, "Failed to update status for the %q %s: %v\n", file, what, err)
		return fmt.Sprintf("failed to update status for %s: %v", what, err)
	}
	return ""
}
