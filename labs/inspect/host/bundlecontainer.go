package host

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// inspected is what crictl inspect says of a container, as the installer keeps it
// beside the container's log.
//
// Source: openshift/installer installer-gather.sh, crictl inspect; kubernetes
// cri-api ContainerStatus.
type inspected struct {
	Status struct {
		ID       string `json:"id"`
		Metadata struct {
			Name    string `json:"name"`
			Attempt int    `json:"attempt"`
		} `json:"metadata"`
		State     string `json:"state"`
		CreatedAt string `json:"createdAt"`
		Reason    string `json:"reason"`
		ExitCode  int    `json:"exitCode"`
	} `json:"status"`
}

// inspect reads the file beside a container's log; nil if there is none.
func (b *Bundle) inspect(file string) *inspected {
	text, err := fs.ReadFile(b.fsys, file)
	if err != nil {
		return nil
	}
	c := &inspected{}
	if json.Unmarshal(text, c) != nil || c.Status.ID == "" {
		return nil
	}
	return c
}

// byAge puts the logs of containers into the order in which the containers were
// made: their names end in random ids. A log without its file comes first.
func (b *Bundle) byAge(names []string) {
	made := map[string]string{}
	for _, name := range names {
		if c := b.inspect(strings.TrimSuffix(name, ".log") + ".inspect"); c != nil {
			made[name] = c.Status.CreatedAt
		}
	}
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(made[x], made[y]) })
}

// headOf is the name behind which a file stands among others: of a container what
// it is, of other files their path.
func (b *Bundle) headOf(name string) string {
	if !strings.HasSuffix(name, ".log") {
		return name
	}
	if c := b.inspect(strings.TrimSuffix(name, ".log") + ".inspect"); c != nil {
		return fmt.Sprintf("%s-%s attempt %d %s", c.Status.Metadata.Name, c.Status.ID, c.Status.Metadata.Attempt, c.Status.State)
	}
	if dir, file := path.Split(name); strings.HasPrefix(dir, "serial/") {
		return strings.TrimSuffix(strings.TrimSuffix(file, ".log"), "-serial")
	}
	return name
}

// containerList is crictl ps --output=json, put together from what crictl inspect
// said of each container.
func (b *Bundle) containerList(files []string) []byte {
	list := []any{}
	for _, file := range files {
		c := b.inspect(file)
		if c == nil {
			continue
		}
		made := "0"
		if t, err := time.Parse(time.RFC3339Nano, c.Status.CreatedAt); err == nil {
			made = strconv.FormatInt(t.UnixNano(), 10)
		}
		list = append(list, map[string]any{"id": c.Status.ID, "metadata": map[string]any{"name": c.Status.Metadata.Name, "attempt": c.Status.Metadata.Attempt},
			"state": c.Status.State, "createdAt": made, "reason": c.Status.Reason, "exitCode": c.Status.ExitCode})
	}
	if len(list) == 0 {
		return nil
	}
	text, err := json.Marshal(map[string]any{"containers": list})
	if err != nil {
		return nil
	}
	return text
}
