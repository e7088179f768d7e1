# Every way to work on Capsid. `make` alone explains them.
# Always the whole workspace with the same flags: another feature set would build the dependencies again.

.DEFAULT_GOAL := help
.PHONY: help up install web test soak bench lint fmt dist packages

CARGO ?= cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)

help: ## Explain the goals
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

up: ## Build the program and start a hub at http://127.0.0.1:4000
	@scripts/setup up
	@scripts/pages build
	@$(CARGO) build --release --workspace --locked
	@echo "The program is $(TARGET)/release/capsid; \`make install\` puts it on your PATH."
	@$(TARGET)/release/capsid up

install: ## Build the program and put it on your PATH, into the folder of cargo
	@scripts/setup up
	@scripts/pages build
	@$(CARGO) install --locked --path crates/capsid

web: ## Build the web pages alone
	@scripts/setup web
	@scripts/pages build

test: ## Check format, lints and docs, and run every test
	@scripts/setup test
	@scripts/test

soak: ## Run the long trials of PART=name; without it, list the parts
	@scripts/soak $(PART)

bench: ## Measure against the peers, side by side
	@scripts/setup test
	@scripts/pages build
	@$(CARGO) build --release --workspace --locked
	@$(TARGET)/release/capsid-bench

lint: ## Check lints, names, dependencies and docs alone
	@scripts/setup lint
	@scripts/test lints docs

fmt: ## Format the sources
	@$(CARGO) fmt --all
	@scripts/pages run npm run --silent format

dist: ## Pack the sources with the built pages: no Node is needed to build from that
	@scripts/setup up
	@scripts/pages build
	@scripts/dist

packages: ## Make the packages for this machine's processor, and try each in a bare system
	@scripts/setup packages
	@scripts/pages build
	@rm -rf $(TARGET)/packages
	@program=$$(scripts/build-dist) && scripts/pack archive "$$program" "$$(basename "$${program%/dist/capsid}")"
	@scripts/pack all
	@scripts/try-packages
