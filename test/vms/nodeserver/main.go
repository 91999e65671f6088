// Command nodeserver stands in for a Machine Config Server: it hands out the
// Ignition file of masters over TLS on 22623, and notes who asked. It runs on a
// guest that has nothing but its kernel to offer, so it is linked statically.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
)

// Files on the guest; Ignition has put them there, and the log comes to be.
const (
	certificate = "/etc/nodeserver/tls.crt"
	key         = "/etc/nodeserver/tls.key"
	config      = "/etc/nodeserver/master.ign"
	requests    = "/var/log/nodeserver.log"
)

func main() {
	file, err := os.OpenFile(requests, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /config/master", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(file, "%s %s host=%s agent=%s\n", r.Method, r.URL.Path, r.Host, r.UserAgent())
		w.Header().Set("Content-Type", "application/json")
		http.ServeFile(w, r, config)
	})
	log.Fatal(http.ListenAndServeTLS(":22623", certificate, key, mux))
}
