# Every line below also works when it is typed by hand.

# A Go that setup fetched stands in bin/ and comes before any other.
export PATH := $(CURDIR)/bin:$(PATH)

# With the tag libvirt_dlopen libvirt's library is opened when it is needed: no
# headers are wanted to build it, and a machine without libvirt runs all but the
# machines of a lab. Where there is no C compiler Go leaves cgo out, and libvirt
# with it.

.DEFAULT_GOAL := help
.PHONY: help prepare release build compile generate test test-podman test-guests lint deadcode golden reading compare check test-all outdated bench clean

# The module of a package, and of a list of modules those that are behind. Some
# proxies have a module without the list of its versions.
module_of = -f '{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}'
behind = echo '$1:'; go -C $1 list -e -m -u -f '{{if .Update}}  {{.Path}} {{.Version}}, the newest is {{.Update.Version}}{{else if .Error}}  {{.Path}} {{.Version}}, the proxy does not list its versions{{end}}' $2 | grep . || echo '  nothing is behind'

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

# Without the data a command reads the YAML itself; without the stand-ins there is
# no bootlab demo, and without the browser's program the page diagnose says so.
prepare: ## read labs/data once, so that each start of bin/bootlab need not, and build what bootlab carries: stand-ins, the diagnosis for browsers
	go generate ./labs ./standin ./site/browser

build: prepare ## build bin/bootlab
	go build -tags=libvirt_dlopen -o bin/bootlab ./cmd/bootlab

generate: build ## write scripts and guide of the lab in mylab/, made if it is not there
	test -e mylab/lab.yaml || bin/bootlab init mylab
	bin/bootlab generate mylab

test: ## test the module bootlab: needs no more than bash
	go generate ./standin
	go test ./...

# One package of the complete run may take hours. Scripts wait more than they
# compute: two at once, as Go would run them here, leave both processors idle half
# of the time.
LIMIT := $(if $(filter all,$(BOOTLAB_TEST)),6h,85m)

# The longest package begins first, the others beside it.
test-podman: ## run the scripts with podman, machines with libvirt, and look at the site with chromium
	go -C test test -tags=libvirt_dlopen -count=1 -parallel=5 -timeout=$(LIMIT) ./scripts ./...

test-guests: ## boot machines that read Ignition, end to end
	go -C test test -tags=libvirt_dlopen,guests -run='^TestGuestsReadIgnition$$' -v -count=1 -timeout=30m ./vms

lint: ## look at format and usual mistakes
	@unformatted="$$("$$(go env GOROOT)/bin/gofmt" -l */)"; echo "gofmt: $${unformatted:-all files are formatted}"; test -z "$$unformatted"
	go vet ./...
	go vet -tags=libvirt_dlopen ./...
	go -C test vet -tags=libvirt_dlopen,guests ./...
	shellcheck setup .ci/run .ci/parts .ci/release test/vms/guest/build test/vms/guest/customize

# Both read the module proxy and leave go.mod as it is. Only tests call labs/sample
# and labs/labtest, and ask a stand-in release for a call of bootkube.sh.
deadcode: ## list functions that nothing calls, and what staticcheck finds beside tests
	@found="$$(go run golang.org/x/tools/cmd/deadcode@v0.52.0 -tags=libvirt_dlopen ./...)" && { echo "$$found" | grep -v '^labs/\(sample\|labtest\)/\|^standin/call.go:.*: Release.Call$$' || true; }
	@go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 -tags=libvirt_dlopen -tests=false ./...

compile: ## compile everything, with cgo and libvirt and without
	go build ./...
	CGO_ENABLED=1 go build -tags=libvirt_dlopen ./...
	CGO_ENABLED=0 go build -tags=libvirt_dlopen ./...
	go -C test build ./...

golden: ## accept what is generated now as right: read the difference with git diff
	go test ./generator ./generator/diagram ./vms -update

reading: ## print how many lines a person reads to understand each script
	@go test ./generator -run='^TestReadingTable$$' -reading -count=1 -v | grep -v '^\(ok\|PASS\|===\|---\)'


# The guests are a part of their own: in emulation two of them need both
# processors, or they miss the limits that systemd sets in them.
PARTS := lint compile test test-guests test-podman

compare: ## run a real bootkube.sh beside the scripts: TEMPLATE=DIR holds the installer's bootkube.sh.template, RELEASE is its release
	@test -e '$(TEMPLATE)/bootkube.sh.template' || { echo 'make compare TEMPLATE=data/data/bootstrap/files/usr/local/bin of the installer, and RELEASE=4.20'; exit 2; }
	go -C test test -tags=libvirt_dlopen ./scripts -run='^TestScriptsLeaveWhatTheRealBootkubeLeaves$$' -v -count=1 -timeout=60m -template='$(abspath $(TEMPLATE))' $(if $(RELEASE),-release='$(RELEASE)')

check: ## all of these, as ./setup test does, with a sample where cases are many and alike
	@.ci/parts $(PARTS)

test-all: ## the complete run: as make check, but with every case
	@BOOTLAB_TEST=all .ci/parts $(PARTS)

outdated: ## list the Go and the modules that are behind: asks the module proxy
	@$(call behind,.,toolchain $$(go list -deps -test -tags=libvirt_dlopen $(module_of) ./... | sort -u))
	@$(call behind,test,$$(go -C test list -deps -test -tags=libvirt_dlopen,guests $(module_of) ./... | sort -u))
	@$(call behind,test/controlplane/programs,k8s.io/kubernetes go.etcd.io/etcd/server/v3)

release: ## build what a release consists of into dist/: needs a tag, or VERSION=1.2.3
	@.ci/release

# Hugo measures the site: what it takes for the same markdown. It is built here
# and nowhere else.
HUGO := $(CURDIR)/.cache/hugo

$(HUGO):
	GOBIN=$(CURDIR)/.cache CGO_ENABLED=0 go install github.com/gohugoio/hugo@v0.152.2

bench: $(HUGO) ## measure how long generating and the site take, beside Hugo, and what the scripts add to podman
	BENCH_HUGO=$(HUGO) go test -run=- -bench=. -benchmem ./...
	go -C test test -tags=libvirt_dlopen -run=- -bench=. ./...

clean: ## remove what was built; labs stay
	rm -rf bin dist
