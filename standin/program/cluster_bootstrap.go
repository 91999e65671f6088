package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

// clusterBootstrap is cluster-bootstrap. It does what the real one does with the
// files of the node and the API server on localhost, in its order and with its
// words; the kubelet's part is not its own.
var clusterBootstrap = program{
	commands: map[string]command{"start": {
		required: []string{"asset-dir"},
		missing: func(flag string) {
			fmt.Fprintln(os.Stderr, "Error: missing required flag: --"+flag)
			os.Exit(1)
		},
		do: startControlPlane,
	}},
}

// The paths that it has built in.
const (
	bootstrapSecrets = "/etc/kubernetes/bootstrap-secrets"
	podManifests     = "/etc/kubernetes/manifests"
	localAPI         = "https://localhost:6443"
)

// timeLimits are its own, unless a test shortens them: they stand in the asset
// directory then, in the file .stand-in-limits, each as Go writes a duration.
type timeLimits struct {
	API, Pods, Poll, Available, Delay, Assets time.Duration
}

func readTimeLimits() timeLimits {
	l := timeLimits{20 * time.Minute, 20 * time.Minute, 5 * time.Second, 30 * time.Minute, 30 * time.Second, time.Hour}
	data, err := os.ReadFile("/assets/.stand-in-limits")
	if errors.Is(err, fs.ErrNotExist) {
		return l
	}
	must(err)
	words := map[string]string{}
	must(yaml.Unmarshal(data, &words))
	places := map[string]*time.Duration{"api": &l.API, "pods": &l.Pods, "poll": &l.Poll, "available": &l.Available, "delay": &l.Delay, "assets": &l.Assets}
	for name, word := range words {
		if places[name] == nil {
			refuse(".stand-in-limits knows no %s", name)
		}
		*places[name], err = time.ParseDuration(word)
		must(err)
	}
	return l
}

// bootstrapRun is one start.
type bootstrapRun struct {
	release string
	dir     string // of the assets
	limits  timeLimits
	pods    []string // namespace/beginning of a name
	many    bool     // more than one master is waited for
	client  *http.Client
	host    string   // as the kubeconfig has it
	owned   []string // static pods that it copied
	down    bool     // torn down
}

func startControlPlane(inv *invocation) {
	b := &bootstrapRun{release: inv.role.Release, dir: inv.flags["asset-dir"], limits: readTimeLimits()}
	b.pods = strings.Split(inv.flags["required-pods"], ",")
	if err := b.run(); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// since says whether the release is this one or a later one.
func (b *bootstrapRun) since(minor int) bool {
	number, err := strconv.Atoi(strings.TrimPrefix(b.release, "4."))
	return err != nil || number >= minor // main has no number
}

func say(format string, args ...any) { fmt.Printf(format, args...) }

func (b *bootstrapRun) run() (err error) {
	if err := b.connect(); err != nil {
		return err
	}
	if b.since(18) {
		if b.many, err = b.manyMasters(); err != nil {
			return err
		}
		say("rest.Config.Host=%s, cloning to create local loopback\n", b.host)
	}
	finishing := false // what fails then it tells on stderr alone
	defer func() {
		if err != nil && !finishing {
			say("Error: %v\n", err)
		}
		b.tearDown()
	}()
	if err := b.seed(); err != nil {
		return err
	}
	if err := b.awaitAPI(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), b.limits.Pods)
	defer cancel()
	created := b.createInBackground(ctx, cancel)
	if err := b.awaitMasters(ctx); err != nil {
		return err
	}
	cancel()
	created.Wait()
	finishing = true
	return b.finish()
}

// finish is what it does once the masters carry the cluster.
func (b *bootstrapRun) finish() error {
	end := map[bool]string{true: "\n"}[b.since(18)]
	say("Sending bootstrap-success event.%s", end)
	if err := b.event("bootstrap-success"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), b.limits.Assets)
	defer cancel()
	created := b.createInBackground(ctx, cancel)
	say("Waiting for remaining assets to be created.\n")
	created.Wait()
	if !b.since(18) {
		b.tearDown()
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errors.New("timed out creating manifests")
	}
	say("Sending bootstrap-finished event.%s", end)
	return b.event("bootstrap-finished")
}

// connect reads the kubeconfig: the API server is known by its CA there, and
// gets the client's certificate.
func (b *bootstrapRun) connect() (err error) {
	if b.host, b.client, err = loadKubeconfig(filepath.Join(b.dir, "auth/kubeconfig-loopback")); err == nil {
		b.client.Timeout = 32 * time.Second
	}
	return err
}

// manyMasters reads the number of replicas.
func (b *bootstrapRun) manyMasters() (bool, error) {
	const failed = "failed to get install config from cluster configmap: %w"
	data, err := os.ReadFile(filepath.Join(b.dir, "manifests/cluster-config.yaml"))
	if err != nil {
		return false, fmt.Errorf(failed, err)
	}
	var configMap struct{ Data map[string]string }
	if err := yaml.Unmarshal(data, &configMap); err != nil {
		return false, fmt.Errorf(failed, err)
	}
	var config struct {
		ControlPlane struct{ Replicas *int } `yaml:"controlPlane"`
	}
	if err := yaml.Unmarshal([]byte(configMap.Data["install-config"]), &config); err != nil {
		return false, fmt.Errorf(failed, err)
	}
	replicas := *config.ControlPlane.Replicas // it does not ask whether it is there
	if b.since(19) {
		return replicas >= 3, nil
	}
	return replicas != 1, nil
}

// seed gives the kubelet the static pods and what they mount.
func (b *bootstrapRun) seed() error {
	say("Starting temporary bootstrap control plane...\n")
	if err := os.RemoveAll(bootstrapSecrets); err != nil {
		return err
	}
	if _, err := copyFiles(filepath.Join(b.dir, "tls"), bootstrapSecrets, 0); err != nil {
		return err
	}
	if err := copyFile(filepath.Join(b.dir, "auth/kubeconfig-loopback"), bootstrapSecrets+"/kubeconfig", 0); err != nil {
		return err
	}
	from := filepath.Join(b.dir, "bootstrap-manifests")
	if b.since(18) {
		say("Copying static manifests from: %s to: %s\n", from, podManifests)
	}
	var err error
	if b.owned, err = copyFiles(from, podManifests, os.O_EXCL); err != nil {
		return err
	}
	if b.since(18) {
		say("Successfully copied static pod manifests: %v\n", b.owned)
	}
	return nil
}

// copyFiles copies a directory in lexical order and gives what it made.
func copyFiles(from, to string, flags int) (copied []string, err error) {
	err = filepath.Walk(from, func(path string, info fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		target := to + strings.TrimPrefix(path, from)
		if info.IsDir() {
			if err := os.Mkdir(target, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			return nil
		}
		if err := copyFile(path, target, flags); err != nil {
			return err
		}
		copied = append(copied, target)
		return nil
	})
	return copied, err
}

func copyFile(from, to string, flags int) error {
	f, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|flags, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return err
}

func (b *bootstrapRun) tearDown() {
	if b.down {
		return
	}
	b.down = true
	say("Tearing down temporary bootstrap control plane...\n")
	err := os.RemoveAll(bootstrapSecrets)
	for _, file := range b.owned {
		if failed := os.Remove(file); failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			err = failed
		}
	}
	if err != nil {
		say("Error tearing down temporary bootstrap control plane: %v\n", err)
	}
}

// awaitAPI takes any answer, of anybody.
func (b *bootstrapRun) awaitAPI() error {
	say("Waiting up to 20m0s for the Kubernetes API\n")
	anybody := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	before := ""
	for end := time.Now().Add(b.limits.API); time.Now().Before(end); time.Sleep(min(time.Second, b.limits.Poll)) {
		response, err := anybody.Get(localAPI + "/readyz")
		if err == nil {
			response.Body.Close()
			say("API is up\n")
			return nil
		}
		if err.Error() != before {
			before = err.Error()
			say("Still waiting for the Kubernetes API: %v \n", err)
		}
	}
	return errors.New("time out waiting for Kubernetes API")
}

// poll asks at intervals, at once first, until the context ends.
func poll(ctx context.Context, interval time.Duration, reached func() bool) error {
	for !reached() {
		select {
		case <-ctx.Done():
			return errors.New("timed out waiting for the condition")
		case <-time.After(interval):
		}
	}
	return nil
}

// awaitMasters waits until they carry the cluster, in the way of the release.
func (b *bootstrapRun) awaitMasters(ctx context.Context) error {
	if err := b.awaitPods(ctx); err != nil {
		return err
	}
	if b.since(18) {
		if !b.many {
			return nil
		}
		say("Waiting for self hosted control plane to be available\n")
		if err := b.awaitRevisions(); err != nil {
			return err
		}
		say("Waiting 30s to give load-balancers time to observe the self-hosted control-plane\n")
		time.Sleep(b.limits.Delay)
		return nil
	}
	many, err := b.manyMasters()
	if err != nil || !many {
		return err
	}
	say("Waiting for 2 masters to join")
	joined := map[string]bool{}
	if err := poll(ctx, b.limits.Poll, func() bool { return b.mastersJoined(joined) }); err != nil {
		return fmt.Errorf("error while checking for nodes status: %w", err)
	}
	say("All self-hosted control plane components successfully started\n")
	return nil
}

// named is the part of an object that is looked at.
type named struct {
	Metadata struct{ Name, Namespace string }
	Status   struct {
		Phase        string
		Conditions   []struct{ Type, Status string }
		NodeStatuses []struct {
			NodeName                        string
			CurrentRevision, TargetRevision int
		}
	}
}

func (b *bootstrapRun) awaitPods(ctx context.Context) error {
	var before map[string]string
	err := poll(ctx, b.limits.Poll, func() bool {
		var list struct{ Items []named }
		if err := b.get("/api/v1/pods", &list); err != nil {
			klogInfo("Error retrieving pod statuses: %v", err)
			return false
		}
		now := map[string]string{}
		for _, pod := range b.pods {
			now[pod] = stateOf(pod, list.Items)
		}
		ready := true
		for pod, state := range now { // in no order, as it does
			if before != nil && !maps.Equal(before, now) {
				say("\tPod Status:%24s\t%s\n", pod, state)
			}
			ready = ready && state == "Ready"
		}
		before = now
		return ready
	})
	if err != nil {
		return fmt.Errorf("error while checking pod status: %w", err)
	}
	say("All self-hosted control plane components successfully started\n")
	return nil
}

// stateOf is the state of the first pod whose name begins so.
func stateOf(prefix string, pods []named) string {
	for _, p := range pods {
		if !strings.HasPrefix(p.Metadata.Namespace+"/"+p.Metadata.Name, prefix) {
			continue
		}
		for _, c := range p.Status.Conditions {
			if p.Status.Phase == "Running" && c.Type == "Ready" && c.Status == "True" {
				return "Ready"
			}
		}
		if p.Status.Phase == "Running" {
			return "RunningNotReady"
		}
		return p.Status.Phase
	}
	return "DoesNotExist"
}

func (b *bootstrapRun) mastersJoined(joined map[string]bool) bool {
	var list struct{ Items []named }
	if err := b.get("/api/v1/nodes?labelSelector=node-role.kubernetes.io%2Fmaster", &list); err != nil {
		return false
	}
	for _, node := range list.Items {
		if !joined[node.Metadata.Name] {
			say("\tMaster %s joined the cluster\n", node.Metadata.Name)
			joined[node.Metadata.Name] = true
		}
	}
	say("\t%d masters joined the cluster\n", len(joined))
	return len(joined) >= 2
}

// awaitRevisions waits for all three operators at the same time.
func (b *bootstrapRun) awaitRevisions() error {
	var mu sync.Mutex
	var wait sync.WaitGroup
	var failures []string
	for what, plural := range map[string]string{"API": "kubeapiservers", "scheduler": "kubeschedulers", "kcm": "kubecontrollermanagers"} {
		wait.Add(1)
		go func() {
			defer wait.Done()
			if err := b.awaitRevision(what+" should be available on at least two master nodes", plural); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failures = append(failures, err.Error())
			}
		}()
	}
	wait.Wait()
	switch len(failures) {
	case 0:
		return nil
	case 1:
		return errors.New(failures[0])
	}
	return fmt.Errorf("[%s]", strings.Join(failures, ", "))
}

func (b *bootstrapRun) awaitRevision(what, plural string) error {
	say("Waiting up to 30m0s for condition: %s\n", what)
	ctx, cancel := context.WithTimeout(context.Background(), b.limits.Available)
	defer cancel()
	before := ""
	err := poll(ctx, min(2*time.Second, b.limits.Poll), func() bool {
		reason, enough := b.revisions(plural)
		if enough {
			say("condition %q has been satisfied, reason: %s\n", what, reason)
		} else if reason != before {
			say("polling will continue, last status: %s\n", reason)
		}
		before = reason
		return enough
	})
	if err != nil {
		return fmt.Errorf("time out waiting for condition: %q, err: %w", what, err)
	}
	return nil
}

// revisions tells on which nodes a component is, in the words of the real one,
// misspelt as they are.
func (b *bootstrapRun) revisions(plural string) (reason string, enough bool) {
	var object named
	if err := b.get("/apis/operator.openshift.io/v1/"+plural+"/cluster", &object); err != nil {
		return fmt.Sprintf("error getting %s/cluster - %v", plural, err), false
	}
	if len(object.Status.NodeStatuses) == 0 {
		return "NodeStatuses for " + plural + "/cluster is empty", false
	}
	available, nodes := 0, ""
	for _, s := range object.Status.NodeStatuses {
		nodes += fmt.Sprintf(" [%s at Current: %d, Traget: %d]", s.NodeName, s.CurrentRevision, s.TargetRevision)
		if s.CurrentRevision >= 1 {
			available++
		}
	}
	return plural + "/cluster NodeStatuses: " + nodes, available >= 2
}

// event creates one of the two events; that it is there is no error.
func (b *bootstrapRun) event(name string) error {
	now := time.Now().UTC().Format(time.RFC3339)
	var answer *answerError
	err := b.send(http.MethodPost, "/api/v1/namespaces/kube-system/events", object{
		"apiVersion": "v1", "kind": "Event", "metadata": map[string]any{"name": name, "namespace": "kube-system"},
		"involvedObject": map[string]any{"namespace": "kube-system"},
		"message":        "Required control plane pods have been created", "count": 1, "firstTimestamp": now, "lastTimestamp": now,
	}, nil)
	if errors.As(err, &answer) && answer.status == http.StatusConflict {
		return nil
	}
	return err
}
