# Every line below also works when it is typed by hand.

# A Go that setup fetched stands in bin/ and comes before any other.
export PATH := $(CURDIR)/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help build compile generate test test-podman lint golden check bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

build: ## build bin/bootlab
	go build -o bin/bootlab ./cmd/bootlab

generate: build ## write scripts and guide of the lab in mylab/, made if it is not there
	test -e mylab/lab.yaml || bin/bootlab init mylab
	bin/bootlab generate mylab

test: ## test the module bootlab: needs no more than bash
	go test ./...

test-podman: ## run the generated scripts with podman, and look at the site with chromium
	go -C test test -count=1 -timeout=60m ./...

lint: ## look at format and usual mistakes
	@unformatted="$$("$$(go env GOROOT)/bin/gofmt" -l */)"; echo "gofmt: $${unformatted:-all files are formatted}"; test -z "$$unformatted"
	go vet ./...
	go -C test vet ./...
	shellcheck setup .ci/run

compile: ## compile everything, with cgo and without
	go build ./...
	CGO_ENABLED=0 go build ./...
	go -C test build ./...

golden: ## accept what is generated now as right: read the difference with git diff
	go test ./generator -update

check: lint compile test test-podman ## all of these, as ./setup test does

bench: ## measure how long generating and the site take, and what the scripts add to podman
	go test -run=- -bench=. -benchmem ./...
	go -C test test -run=- -bench=. ./...

clean: ## remove what was built; labs stay
	rm -rf bin
