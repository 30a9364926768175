# `make` alone explains the targets.

PYTHON ?= python3
PORT ?= 8000
SECONDS ?= 600
CORPUS ?=
RULES ?= 10000
UV := uv==0.13.9
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help run test soak lint bench differential fuzz

# uv installs in seconds what takes pip half a minute; where it cannot be had, pip does it.
install = if [ -x $(BIN)/uv ]; then $(BIN)/uv pip install --quiet --python $(BIN)/python -r $(1); \
	else $(BIN)/pip install --quiet -r $(1); fi

help:  ## Explain the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

run: .venv/runtime  ## Serve the dashboard with its demo at http://127.0.0.1:8000/ (PORT=8001 for another port); Ctrl-C ends it
	@exec $(BIN)/python manage.py serve --port $(PORT)

test: .venv/dev  ## Run all tests; what needs a missing program is skipped and says so
	$(BIN)/python -m pytest -n 2 --dist loadfile

soak: .venv/dev  ## Run the tests that take too long for every change
	$(BIN)/python -m pytest -n 2 --dist loadfile -m soak

lint: .venv/dev  ## Check style, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/dev  ## Measure speed and memory on generated data
	$(BIN)/python -m leaks.tests.bench_reading
	$(BIN)/python -m leaks.tests.bench_plain
	$(BIN)/python -m leaks.tests.bench_hostile
	$(BIN)/python -m leaks.tests.bench_signatures $(CORPUS)
	$(BIN)/python -m dashboard.tests.bench_pages
	$(BIN)/python -m dashboard.tests.bench_hooks
	$(BIN)/python -m workers.tests.bench_lane

differential: .venv/dev  ## Try 10,000 suppression rules on the runtimes themselves (RULES=1000 for fewer)
	$(BIN)/python -m leaks.tests.differential --rules $(RULES)

fuzz: .venv/dev  ## Fuzz the readers, SECONDS=600 for each way in
	$(BIN)/uv pip install --quiet --python $(BIN)/python -r requirements-fuzz.txt || $(BIN)/pip install --quiet -r requirements-fuzz.txt
	for entry in `$(BIN)/python -m leaks.tests.fuzz --list`; do $(BIN)/python -m leaks.tests.fuzz $$entry --seconds $(SECONDS) || exit 1; done

.venv/made:
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet $(UV) || echo "uv cannot be installed: pip will do"
	touch $@

.venv/runtime: .venv/made requirements.txt
	$(call install,requirements.txt)
	touch $@

.venv/dev: .venv/runtime requirements-dev.txt
	$(call install,requirements-dev.txt)
	touch $@
