# Targets: demo test check bench faults clients peers docs. Each creates .venv if it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test check bench faults faults-night clients peers durable-coverage docs lint types memory clean
.DEFAULT_GOAL := test

# Install the "dev" group of pyproject.toml, also with a pip that has no --group.
$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -c "import tomllib; \
	  print('\n'.join(tomllib.load(open('pyproject.toml', 'rb'))['dependency-groups']['dev']))" > $(VENV)/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --requirement $(VENV)/dev.txt
	@touch $(READY)

demo: $(READY)
	PATH="$(CURDIR)/$(BIN):$$PATH" bash docs/demo.sh

test: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not faults"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

memory: $(READY)
	$(BIN)/thunderus-mem index rebuild
	$(BIN)/thunderus-mem index manifest --check
	$(BIN)/thunderus-mem events verify
	$(BIN)/thunderus-mem lint --format concise

check: lint types test memory
	$(BIN)/python docs/generate.py --check

bench: $(READY)
	$(BIN)/python benchmarks/bench.py
	$(BIN)/python benchmarks/pattern_growth.py
	$(BIN)/python -m benchmarks.mcp_calls

faults: $(READY)
	$(BIN)/python tests/faults/report.py --clear
	$(BIN)/python -m pytest -n 2 -m faults
	$(BIN)/python tests/faults/report.py

# Claude Code, Codex, Gemini CLI, opencode and the MCP inspector from npm (1.2 GB) start our server.
clients: $(READY)
	.ci/clients

# mcp-memory-service from PyPI takes our export, and we take its own. Its SQLite must load extensions.
PEERS_PYTHON ?= /usr/bin/python3
peers: $(READY)
	@test -d .make/peers/mcp_memory_service || timeout 600 $(PEERS_PYTHON) -m pip install --quiet \
	  --disable-pip-version-check --target .make/peers mcp-memory-service || echo "cannot install mcp-memory-service"
	THUNDERUS_MEM_PEERS=$(CURDIR)/.make/peers THUNDERUS_MEM_PEERS_PYTHON=$(PEERS_PYTHON) \
	  $(BIN)/python -m pytest -q -rs tests/peers

faults-night: export THUNDERUS_MEM_FAULTS = night
# One test tries thousands of fault points in this tier; each point has its own time limit in the test.
faults-night: export PYTEST_ADDOPTS = --timeout 3600
faults-night: durable-coverage faults

# The modules that make writes durable: their own tests must cover every line and branch.
# A missing module would count as covered, so each file is a prerequisite.
DURABLE := store/disk store/safe_open store/files store/quarantine log/append memory/journal
DURABLE_TESTS := store/test_failpoints store/test_safe_open store/test_files log/test_append \
  memory/test_journal memory/test_git_race store/test_quarantine
DURABLE_MODULES := $(DURABLE:%=thunderus_mem/%.py)
DURABLE_FILES := $(DURABLE_MODULES) $(DURABLE_TESTS:%=tests/%.py)
comma := ,
empty :=
space := $(empty) $(empty)
durable-coverage: $(READY) $(DURABLE_FILES)
	@mkdir -p .make
	$(BIN)/python -m coverage run --branch --data-file=.make/coverage \
	  --include=$(subst $(space),$(comma),$(DURABLE_MODULES)) -m pytest -p no:xdist -q $(DURABLE_TESTS:%=tests/%.py)
	$(BIN)/python -m coverage report --data-file=.make/coverage --show-missing --fail-under=100

docs: $(READY)
	$(BIN)/python docs/generate.py

clean:
	rm -rf $(VENV) build dist
