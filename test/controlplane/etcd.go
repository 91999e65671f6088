package controlplane

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// bootstrapMember is the name of the member that a bootstrap node runs.
const bootstrapMember = "etcd-bootstrap"

// Member is one of etcd's members, as etcdctl lists it.
type Member struct {
	ID      uint64   `json:"ID"`
	Name    string   `json:"name"`
	Learner bool     `json:"isLearner"`
	Peers   []string `json:"peerURLs"`
	Clients []string `json:"clientURLs"`
}

// pod is as much of a static pod as its member is started by.
type pod struct {
	Spec struct {
		Containers []struct {
			Name         string
			Command      []string
			Env          []struct{ Name, Value string }
			VolumeMounts []struct {
				Name      string
				MountPath string `yaml:"mountPath"`
			} `yaml:"volumeMounts"`
		}
	}
}

// memberEnvironment lets members share port 2379 in one network (the kernel
// prefers the one that listens at the very address) and speak from their own
// addresses, which their peers compare with the certificate; and it leaves out
// waiting for the disk.
var memberEnvironment = []string{
	"ETCD_SOCKET_REUSE_PORT=true", "ETCD_FEATURE_GATES=" + memberGate,
	"ETCD_UNSAFE_NO_FSYNC=true", "ETCD_LOG_LEVEL=warn",
}

const memberGate = "SetMemberLocalAddr=true"

// startBootstrapMember does what a kubelet does for container etcd of the static
// pod: it runs the pod's own command in the pod's own environment, with the
// pod's directories in the places that they have here.
func (c *ControlPlane) startBootstrapMember() error {
	data, err := os.ReadFile(c.keys.MemberPod)
	if err != nil {
		return err
	}
	var p pod
	if err := yaml.Unmarshal(data, &p); err != nil {
		return err
	}
	for _, container := range p.Spec.Containers {
		if container.Name != "etcd" {
			continue
		}
		here := strings.NewReplacer(
			"/etc/ssl/etcd/", c.path("etcd")+"/", "/var/lib/etcd", c.path("data/"+bootstrapMember),
			// A flag would hide what memberEnvironment says of it.
			"--feature-gates=", "--feature-gates="+memberGate+",",
		)
		environment := slices.Clone(memberEnvironment)
		for _, e := range container.Env {
			environment = append(environment, e.Name+"="+here.Replace(e.Value))
		}
		words := slices.Clone(container.Command)
		for i := range words {
			words[i] = here.Replace(words[i])
		}
		for _, address := range addressesIn(strings.Join(words, " ")) {
			if err := c.give(address); err != nil {
				return err
			}
		}
		p, err := c.startMember(bootstrapMember, environment, words...)
		if err != nil {
			return err
		}
		return p.until("getting healthy", func() error {
			_, err := c.etcdctl("endpoint", "health")
			return err
		})
	}
	return fmt.Errorf("%s has no container etcd", c.keys.MemberPod)
}

// addressesIn are those that a member's flags advertise.
func addressesIn(flags string) []string {
	var found []string
	for _, word := range strings.Fields(flags) {
		if strings.HasPrefix(word, "--advertise-client-urls=") || strings.HasPrefix(word, "--initial-advertise-peer-urls=") {
			_, rest, _ := strings.Cut(word, "://")
			address, _, _ := strings.Cut(rest, ":")
			found = append(found, address)
		}
	}
	return found
}

func (c *ControlPlane) startMember(name string, environment []string, words ...string) (*process, error) {
	p, err := c.start(name, environment, words...)
	if err == nil {
		c.mu.Lock()
		c.members[name] = p
		c.mu.Unlock()
	}
	return p, err
}

// etcdctl runs etcdctl with the API server's client certificate, against the
// members that are running unless a flag says which.
func (c *ControlPlane) etcdctl(args ...string) (string, error) {
	environment := []string{
		"ETCDCTL_CACERT=" + c.path("tls/etcd-ca-bundle.crt"),
		"ETCDCTL_CERT=" + c.path("tls/etcd-client.crt"), "ETCDCTL_KEY=" + c.path("tls/etcd-client.key"),
	}
	if !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--endpoints=") }) {
		environment = append(environment, "ETCDCTL_ENDPOINTS="+strings.Join(c.endpoints(), ","))
	}
	return c.words("", environment, append([]string{filepath.Join(c.programs, "etcdctl")}, args...)...)
}

// endpoints are the client URLs of the running members; before any is, that of
// the bootstrap node.
func (c *ControlPlane) endpoints() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var urls []string
	if p := c.members[bootstrapMember]; p == nil || p.atWork() {
		urls = []string{"https://localhost:2379"}
	}
	for _, m := range c.keys.Masters {
		if p := c.members[m.Name]; p != nil && p.atWork() {
			urls = append(urls, "https://"+m.Address+":2379")
		}
	}
	return urls
}

// memberList asks etcd for its members.
func (c *ControlPlane) memberList() ([]Member, error) {
	out, err := c.etcdctl("member", "list", "--write-out=json")
	if err != nil {
		return nil, err
	}
	var list struct{ Members []Member }
	return list.Members, json.Unmarshal([]byte(out), &list)
}

func (c *ControlPlane) memberNamed(name string) (Member, error) {
	list, err := c.memberList()
	for _, m := range list {
		if m.Name == name {
			return m, nil
		}
	}
	return Member{}, errors.Join(err, fmt.Errorf("etcd has no member %s", name))
}

// addMember does what the etcd operator does for one master: certificates of the
// lab's signer, a learner, its process, and a vote once it is in sync; and it
// waits until the member answers.
func (c *ControlPlane) addMember(name string) error {
	return errorOfFirst(
		func() error { return c.addLearner(name) },
		func() error { return c.startLearner(name) },
		func() error { return c.promote(name) },
		func() error { return c.healthy(name) },
	)
}

// healthy waits until a master's own member answers: it opens its port to clients
// a moment after it got its vote.
func (c *ControlPlane) healthy(name string) error {
	master, err := c.master(name)
	if err != nil {
		return err
	}
	return eventually(name+" healthy", func() error {
		_, err := c.etcdctl("--endpoints=https://"+master.Address+":2379", "--command-timeout=2s", "endpoint", "health")
		return err
	})
}

// memberWords are the flags of a master's member, which stands beside others in
// this network and so listens at its own address alone.
func (c *ControlPlane) memberWords(m Machine, cluster []string) []string {
	certificates := c.path("etcd/etcd-all-certs/etcd-")
	client, peer := "https://"+m.Address+":2379", "https://"+m.Address+":2380"
	return []string{
		filepath.Join(c.programs, "etcd"), "--name=" + m.Name, "--data-dir=" + c.path("data/"+m.Name),
		"--initial-cluster=" + strings.Join(cluster, ","), "--initial-cluster-state=existing",
		"--trusted-ca-file=" + c.path("etcd/ca.crt"), "--client-cert-auth=true",
		"--cert-file=" + certificates + "serving-" + m.Name + ".crt", "--key-file=" + certificates + "serving-" + m.Name + ".key",
		"--peer-trusted-ca-file=" + c.path("etcd/ca.crt"), "--peer-client-cert-auth=true",
		"--peer-cert-file=" + certificates + "peer-" + m.Name + ".crt", "--peer-key-file=" + certificates + "peer-" + m.Name + ".key",
		"--advertise-client-urls=" + client, "--listen-client-urls=" + client,
		"--initial-advertise-peer-urls=" + peer, "--listen-peer-urls=" + peer,
	}
}

// signMember makes a master's certificates with the lab's signer, in the names
// and usages that the etcd operator gives them.
func (c *ControlPlane) signMember(m Machine) error {
	signer, err := LoadAuthority(c.path("etcd/etcd-all-certs/etcd-signer"))
	if err != nil {
		return err
	}
	for _, kind := range []string{"serving", "peer"} {
		pair, err := signer.Issue(Leaf{
			Subject: pkix.Name{CommonName: m.Address},
			Usage:   []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
			Names: []string{
				"localhost", "127.0.0.1", "::1", m.Address,
				"etcd.kube-system.svc", "etcd.kube-system.svc.cluster.local",
				"etcd.openshift-etcd.svc", "etcd.openshift-etcd.svc.cluster.local",
			},
		})
		if err != nil {
			return err
		}
		if err := pair.write(c.path("etcd/etcd-all-certs/etcd-" + kind + "-" + m.Name)); err != nil {
			return err
		}
	}
	return nil
}

// removeMember takes a member out, which then ends by itself.
func (c *ControlPlane) removeMember(name string) error {
	m, err := c.memberNamed(name)
	if err != nil {
		return err
	}
	if err := eventually("removing "+name, func() error {
		_, err := c.etcdctl("member", "remove", fmt.Sprintf("%x", m.ID))
		return err
	}); err != nil {
		return err
	}
	c.mu.Lock()
	p := c.members[name]
	c.mu.Unlock()
	p.kill()
	return nil
}
