# Two commands do everything on a machine that has Python 3.11+ and make: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: demo test test-long lint bench clean

demo: $(VENV)/installed
	$(BIN)/distmcts search awale --seconds 5 --audit
	$(BIN)/distmcts compare --config configs/compare_quick.yaml

test: $(VENV)/installed-dev lint
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

test-long: $(VENV)/installed-dev
	$(BIN)/python -m pytest -m long

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

bench: $(VENV)/installed-dev
	$(BIN)/python benchmarks/against_open_spiel.py
	$(BIN)/python benchmarks/scaling.py

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "distmcts needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/installed-dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache
