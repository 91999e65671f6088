package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"

	"go.yaml.in/yaml/v3"
)

// kubeconfig is as much of such a file as the installer writes.
type kubeconfig struct {
	Clusters []struct {
		Cluster struct {
			Server string
			CA     string `yaml:"certificate-authority-data"`
		}
	}
	Users []struct {
		User struct {
			Certificate string `yaml:"client-certificate-data"`
			Key         string `yaml:"client-key-data"`
		}
	}
}

// loadKubeconfig gives the server and a client that trusts no other, and shows
// it the certificate of the file's one user.
func loadKubeconfig(file string) (server string, client *http.Client, err error) {
	if _, err := os.Stat(file); err != nil {
		return "", nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", nil, err
	}
	var k kubeconfig
	if err := yaml.Unmarshal(data, &k); err != nil {
		return "", nil, fmt.Errorf("error loading config file %q: %w", file, err)
	}
	if len(k.Clusters) != 1 || len(k.Users) != 1 || k.Clusters[0].Cluster.Server == "" {
		return "", nil, errors.New("invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable")
	}
	var texts [3][]byte
	for i, encoded := range []string{k.Clusters[0].Cluster.CA, k.Users[0].User.Certificate, k.Users[0].User.Key} {
		if texts[i], err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return "", nil, fmt.Errorf("error loading config file %q: %w", file, err)
		}
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(texts[0]) {
		return "", nil, errors.New("unable to load root certificates: unable to parse bytes as PEM block")
	}
	pair, err := tls.X509KeyPair(texts[1], texts[2])
	if err != nil {
		return "", nil, err
	}
	return k.Clusters[0].Cluster.Server, &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}},
	}}, nil
}
