package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"syscall"
	"time"
)

// waitForEtcd is the subcommand wait-for-ceo of the etcd operator: it lists and
// watches one object through the kubeconfig that it is given, says that it waits
// at each change, and ends when a condition is true. Like the real one it never
// gives up: what is wrong with the API it tells, and asks again; where nothing
// listens, or there is no such object, it is silent.
func waitForEtcd(inv *invocation) {
	server, client, err := loadKubeconfig(inv.flags["kubeconfig"])
	if err != nil {
		klogLine("E", "error loading kubeconfig: %#v", err)
		klogFatal("%v", err)
	}
	w := &etcdWatch{url: server + "/apis/operator.openshift.io/v1/etcds", client: client}
	for pause := 800 * time.Millisecond; ; pause = min(2*pause, 30*time.Second) {
		done, err := w.listAndWatch()
		if done {
			klogInfo("cluster-etcd-operator bootstrap etcd")
			return
		}
		switch {
		case err == nil:
			pause = 400 * time.Millisecond // a watch that merely ended
		case !errors.Is(err, syscall.ECONNREFUSED): // of that it says nothing
			klogLine("E", "%q err=%q", "Failed to watch", "failed to list *v1.Etcd: "+err.Error())
		}
		time.Sleep(pause)
	}
}

// etcdWatch is a look at etcds.operator.openshift.io/cluster that goes on.
type etcdWatch struct {
	url    string
	client *http.Client
}

// etcdObject is as much of the object as is looked at.
type etcdObject struct {
	Metadata struct{ Name, Namespace, ResourceVersion string }
	Status   struct {
		Conditions []struct{ Type, Status string }
	}
}

// listAndWatch is true when the condition is; without an error it may be asked
// again at once.
func (w *etcdWatch) listAndWatch() (done bool, err error) {
	var list struct {
		Metadata struct{ ResourceVersion string }
		Items    []etcdObject
	}
	body, err := w.get(url.Values{"limit": {"500"}})
	if err != nil {
		return false, err
	}
	err = json.NewDecoder(body).Decode(&list)
	body.Close()
	if err != nil {
		return false, err
	}
	for _, e := range list.Items {
		if e.runningInCluster() {
			return true, nil
		}
	}
	return w.watch(list.Metadata.ResourceVersion)
}

func (w *etcdWatch) watch(from string) (done bool, err error) {
	body, err := w.get(url.Values{"watch": {"true"}, "resourceVersion": {from}, "timeoutSeconds": {"300"}})
	if err != nil {
		return false, err
	}
	defer body.Close()
	for events := json.NewDecoder(body); ; {
		var event struct {
			Type   string
			Object json.RawMessage
		}
		if events.Decode(&event) != nil {
			return false, nil
		}
		var e etcdObject
		switch event.Type {
		case "ADDED", "MODIFIED":
			if err := json.Unmarshal(event.Object, &e); err != nil {
				return false, err
			}
			if e.runningInCluster() {
				return true, nil
			}
		case "ERROR":
			return false, nil
		default:
			klogInfo("Still waiting for the cluster-etcd-operator to bootstrap...")
		}
	}
}

// runningInCluster looks at the condition and says what it saw.
func (e etcdObject) runningInCluster() bool {
	for _, c := range e.Status.Conditions {
		if c.Type == "EtcdRunningInCluster" && c.Status == "True" {
			klogInfo("Cluster etcd operator bootstrapped successfully")
			return true
		}
	}
	klogInfo("waiting on condition %s in etcd CR %s/%s to be True.", "EtcdRunningInCluster", e.Metadata.Namespace, e.Metadata.Name)
	return false
}

// get asks for the one object by its name; an answer that is no success is an
// error with the words of the API server.
func (w *etcdWatch) get(query url.Values) (io.ReadCloser, error) {
	query.Set("fieldSelector", "metadata.name=cluster")
	answer, err := w.client.Get(w.url + "?" + query.Encode())
	if err != nil {
		return nil, err
	}
	if answer.StatusCode == http.StatusOK {
		return answer.Body, nil
	}
	defer answer.Body.Close()
	var status struct{ Message string }
	if json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&status) == nil && status.Message != "" {
		return nil, errors.New(status.Message)
	}
	return nil, fmt.Errorf("the server answered %s", answer.Status)
}
