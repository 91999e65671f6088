package controlplane

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// signingRequest is as much of a CertificateSigningRequest as a signer reads.
type signingRequest struct {
	Metadata struct{ Name string }
	Spec     struct {
		Request    []byte
		SignerName string
		Usages     []string
	}
	Status struct {
		Certificate []byte
		Conditions  []Condition
	}
}

// StartSigner stands in for the controller csrsigning of the controller manager:
// it signs approved requests of kubelets with the lab's kubelet-signer. Without
// it a request stays Approved and is never Issued. Stop switches it off.
func (c *ControlPlane) StartSigner(tb testing.TB) (stop func()) {
	tb.Helper()
	signer, err := LoadAuthority(c.path("tls/kubelet-signer"))
	fatal(tb, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			// An API server that is away for a while is no reason to stop.
			c.signAll(signer)
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	var once sync.Once
	stop = func() { once.Do(func() { cancel(); <-ended }) }
	c.mu.Lock()
	c.signers = append(c.signers, stop)
	c.mu.Unlock()
	return stop
}

const requestsPath = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

// signAll signs what is approved and not signed yet.
func (c *ControlPlane) signAll(signer *Authority) error {
	status, answer, err := c.request(http.MethodGet, requestsPath, "", nil)
	if err != nil || status != http.StatusOK {
		return errors.Join(err, fmt.Errorf("%d %s", status, answer))
	}
	var list struct{ Items []signingRequest }
	if err := json.Unmarshal(answer, &list); err != nil {
		return err
	}
	var errs []error
	for _, r := range list.Items {
		if r.wanted() {
			errs = append(errs, c.signOne(signer, r))
		}
	}
	return errors.Join(errs...)
}

// kubeletSigners are the signers whose requests the controller signs with the
// lab's kubelet-signer.
var kubeletSigners = []string{"kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving"}

func (r signingRequest) wanted() bool {
	has := func(kind string) bool {
		return slices.ContainsFunc(r.Status.Conditions, func(c Condition) bool { return c.Type == kind })
	}
	return len(r.Status.Certificate) == 0 && slices.Contains(kubeletSigners, r.Spec.SignerName) &&
		has("Approved") && !has("Denied") && !has("Failed")
}

func (c *ControlPlane) signOne(signer *Authority, r signingRequest) error {
	block, _ := pem.Decode(r.Spec.Request)
	if block == nil {
		return errors.New("no PEM in the request")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return err
	}
	template := Leaf{Subject: request.Subject}.template()
	template.DNSNames, template.IPAddresses = request.DNSNames, request.IPAddresses
	if slices.Contains(r.Spec.Usages, "server auth") {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	if slices.Contains(r.Spec.Usages, "client auth") {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageClientAuth)
	}
	if template.NotAfter.After(signer.Certificate.NotAfter) {
		template.NotAfter = signer.Certificate.NotAfter
	}
	certificate, err := signer.sign(template, request.PublicKey)
	if err != nil {
		return err
	}
	return c.patchStatus(requestsPath+"/"+r.Metadata.Name, map[string]any{"certificate": certificate})
}
