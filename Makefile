# Every way to work on Capsid. `make` alone explains them.
# Always the whole workspace with the same flags: another feature set would build the dependencies again.

.DEFAULT_GOAL := help
.PHONY: help up test soak bench lint fmt

CARGO ?= cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)

help: ## Explain the goals
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

up: ## Build the program and start a hub at http://127.0.0.1:4000
	@scripts/setup up
	@$(CARGO) build --release --workspace --locked
	@$(TARGET)/release/capsid up

test: ## Check format, lints and docs, and run every test
	@scripts/setup test
	@scripts/test

soak: ## The same tests with many more rounds
	@scripts/setup test
	@CAPSID_SOAK=1 scripts/test

bench: ## Measure against the peers, side by side
	@scripts/setup test
	@$(CARGO) build --release --workspace --locked
	@$(TARGET)/release/capsid-bench

lint: ## Check lints and docs alone
	@scripts/test lints docs

fmt: ## Format the sources
	@$(CARGO) fmt --all
