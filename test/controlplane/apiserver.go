package controlplane

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// startAPIServer starts kube-apiserver with the flags that the bootstrap's has,
// as far as it is upstream's, and waits until it is ready. Its etcd is the
// member on this node; once that is gone, those on the masters.
func (c *ControlPlane) startAPIServer() error {
	if err := c.signingKey(); err != nil {
		return err
	}
	p, err := c.start("kube-apiserver", nil, append([]string{filepath.Join(c.programs, "kube-apiserver")}, c.apiFlags()...)...)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.api = p
	c.mu.Unlock()
	return p.until("getting ready", c.ready)
}

// apiFlags are those of bindata/bootkube/config/bootstrap-config-overrides.yaml
// and bindata/assets/config/defaultconfig.yaml of cluster-kube-apiserver-operator.
// Left out is what only OpenShift's build knows, and the admission of service
// accounts, which waits for a controller manager.
func (c *ControlPlane) apiFlags() []string {
	key := func(name string) string { return c.path("tls/" + name) }
	named := func(name string) string {
		return "--tls-sni-cert-key=" + key("kube-apiserver-"+name+".crt") + "," + key("kube-apiserver-"+name+".key")
	}
	return []string{
		"--bind-address=0.0.0.0", "--secure-port=6443", "--advertise-address=" + c.keys.Bootstrap.Address,
		"--tls-cert-file=" + key("kube-apiserver-service-network-server.crt"),
		"--tls-private-key-file=" + key("kube-apiserver-service-network-server.key"),
		named("localhost-server"), named("service-network-server"), named("lb-server"), named("internal-lb-server"),
		"--client-ca-file=" + key("kube-apiserver-complete-client-ca-bundle.crt"),
		"--etcd-servers=" + strings.Join(c.endpoints(), ","), "--etcd-cafile=" + key("etcd-ca-bundle.crt"),
		"--etcd-certfile=" + key("etcd-client.crt"), "--etcd-keyfile=" + key("etcd-client.key"),
		"--etcd-prefix=kubernetes.io", "--storage-media-type=application/vnd.kubernetes.protobuf",
		"--kubelet-certificate-authority=" + key("kubelet-client-ca-bundle.crt"),
		"--kubelet-client-certificate=" + key("kube-apiserver-to-kubelet-client.crt"),
		"--kubelet-client-key=" + key("kube-apiserver-to-kubelet-client.key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--proxy-client-cert-file=" + key("apiserver-proxy.crt"), "--proxy-client-key-file=" + key("apiserver-proxy.key"),
		"--requestheader-client-ca-file=" + key("aggregator-signer.crt"),
		"--requestheader-allowed-names=kube-apiserver-proxy,system:kube-apiserver-proxy,system:openshift-aggregator",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-username-headers=X-Remote-User",
		"--service-account-key-file=" + key("service-account.pub"),
		"--service-account-key-file=" + key("bound-service-account-signing-key.pub"),
		"--service-account-signing-key-file=" + key("bound-service-account-signing-key.key"),
		"--service-account-issuer=https://kubernetes.default.svc", "--api-audiences=https://kubernetes.default.svc",
		"--service-cluster-ip-range=" + c.keys.ServiceNetwork, "--endpoint-reconciler-type=lease",
		"--authorization-mode=Node,RBAC", "--anonymous-auth=true", "--allow-privileged=true",
		"--enable-admission-plugins=NodeRestriction", "--disable-admission-plugins=ServiceAccount",
		"--event-ttl=3h", "--profiling=false",
	}
}

// signingKey makes up for the operator's render, which adds this key to tls/
// where the installer gave none.
func (c *ControlPlane) signingKey() error {
	for _, ext := range []string{".key", ".pub"} {
		file := c.path("tls/bound-service-account-signing-key" + ext)
		if _, err := os.Stat(file); err == nil {
			continue
		}
		data, err := os.ReadFile(c.path("tls/service-account" + ext))
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// ready asks for /readyz as the administrator.
func (c *ControlPlane) ready() error {
	status, body, err := c.request(http.MethodGet, "/readyz", "", nil)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("%w: %d %s", errNotReady, status, body)
	}
	return nil
}

// request sends a request as the administrator, through localhost.
func (c *ControlPlane) request(method, path, kind string, body []byte) (status int, answer []byte, err error) {
	request, err := http.NewRequest(method, "https://localhost:6443"+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// kubectl runs kubectl as the administrator, through localhost.
func (c *ControlPlane) kubectl(stdin string, args ...string) (string, error) {
	words := []string{filepath.Join(c.programs, "kubectl"), "--kubeconfig=" + c.path("auth/kubeconfig-loopback")}
	return c.words(stdin, nil, append(words, args...)...)
}
