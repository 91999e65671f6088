package main

import (
	"encoding/base64"
	"fmt"
	"sort"
	"strings"
)

// pod is the static pod of the member, in the operator's names and places.
func (m member) pod() string {
	return strings.NewReplacer(
		"IMAGE", m.image, "HOST", m.host, "RESOURCES/", "/etc/ssl/etcd/", "CERTS/", "/etc/ssl/etcd/etcd-all-certs/",
		"ADDRESS", bracketed(m.address), "LISTEN", m.listen,
	).Replace(memberPod)
}

const memberPod = `apiVersion: v1
kind: Pod
metadata:
  name: etcd-bootstrap-member
  namespace: openshift-etcd
  labels:
    k8s-app: etcd
spec:
  hostNetwork: true
  restartPolicy: Always
  containers:
  - name: etcdctl
    image: IMAGE
    command: [/bin/bash, -c, "trap TERM INT; sleep infinity & wait"]
    volumeMounts:
    - name: certs
      mountPath: RESOURCES/
    env:
    - name: ETCDCTL_KEY
      value: CERTS/etcd-serving-HOST.key
    - name: ETCDCTL_CERT
      value: CERTS/etcd-serving-HOST.crt
    - name: ETCDCTL_CACERT
      value: RESOURCES/ca.crt
    - name: ETCDCTL_ENDPOINTS
      value: https://localhost:2379
  - name: etcd
    image: IMAGE
    command:
    - /bin/sh
    - -c
    - |
      exec etcd \
        --logger=zap \
        --initial-advertise-peer-urls=https://ADDRESS:2380 \
        --cert-file=CERTS/etcd-serving-HOST.crt \
        --key-file=CERTS/etcd-serving-HOST.key \
        --trusted-ca-file=RESOURCES/ca.crt \
        --client-cert-auth=true \
        --peer-cert-file=CERTS/etcd-peer-HOST.crt \
        --peer-key-file=CERTS/etcd-peer-HOST.key \
        --peer-trusted-ca-file=RESOURCES/ca.crt \
        --peer-client-cert-auth=true \
        --advertise-client-urls=https://ADDRESS:2379 \
        --listen-client-urls=https://LISTEN:2379 \
        --listen-peer-urls=https://LISTEN:2380 \
        --listen-metrics-urls=https://LISTEN:9978
    env:
    - name: ETCD_DATA_DIR
      value: /var/lib/etcd
    - name: ETCD_NAME
      value: etcd-bootstrap
    - name: ETCD_SOCKET_REUSE_ADDRESS
      value: "true"
    - name: ETCD_WATCH_PROGRESS_NOTIFY_INTERVAL
      value: 5s
    - name: ETCD_HEARTBEAT_INTERVAL
      value: "100"
    - name: ETCD_ELECTION_TIMEOUT
      value: "1000"
    volumeMounts:
    - name: certs
      mountPath: RESOURCES/
    - name: data-dir
      mountPath: /var/lib/etcd/
  volumes:
  - name: certs
    hostPath:
      path: /etc/kubernetes/static-pod-resources/etcd-member
  - name: data-dir
    hostPath:
      path: /var/lib/etcd
`

func bracketed(address string) string {
	if strings.Contains(address, ":") {
		return "[" + address + "]"
	}
	return address
}

func namespace(name string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: %s\n", name)
}

const etcdNamespace = "openshift-etcd"

func (m member) endpoints() string {
	return `apiVersion: v1
kind: ConfigMap
metadata:
  name: etcd-endpoints
  namespace: openshift-etcd
  annotations:
    alpha.installer.openshift.io/etcd-bootstrap: "` + m.address + `"
`
}

const etcdService = `apiVersion: v1
kind: Service
metadata:
  name: etcd
  namespace: openshift-etcd
spec:
  selector:
    k8s-app: etcd
  ports:
  - name: etcd
    port: 2379
`

func (m member) allCertificates(c *certificates) string {
	data := map[string]string{}
	for name, pair := range c.byName(m.host) {
		if strings.HasSuffix(name, "-"+m.host) {
			data[name+".crt"], data[name+".key"] = pair.certificate, pair.key
		}
	}
	return secret(etcdNamespace, "etcd-all-certs", "Opaque", data)
}

func tlsSecret(namespace, name string, p pair) string {
	return secret(namespace, name, "kubernetes.io/tls", map[string]string{"tls.crt": p.certificate, "tls.key": p.key})
}

func secret(namespace, name, kind string, data map[string]string) string {
	out := "apiVersion: v1\ndata:\n"
	for _, key := range sortedKeys(data) {
		out += fmt.Sprintf("  %s: %s\n", key, base64.StdEncoding.EncodeToString([]byte(data[key])))
	}
	return out + fmt.Sprintf("kind: Secret\nmetadata:\n  name: %s\n  namespace: %s\ntype: %s\n", name, namespace, kind)
}

func configMap(namespace, name string, data map[string]string) string {
	out := "apiVersion: v1\ndata:\n"
	for _, key := range sortedKeys(data) {
		text := strings.ReplaceAll(strings.TrimSuffix(data[key], "\n"), "\n", "\n    ")
		out += fmt.Sprintf("  %s: |\n    %s\n", key, text)
	}
	return out + fmt.Sprintf("kind: ConfigMap\nmetadata:\n  name: %s\n  namespace: %s\n", name, namespace)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
