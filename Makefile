# The two commands: make demo, make test. Both need Python >= 3.11 and nothing else.
PYTHON ?= python3
VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
STAMP := $(VENV)/.installed

.PHONY: demo test lint types tests coverage docs bench clean

demo: $(STAMP)
	$(BIN)/heldout demo

test: lint types tests

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'heldout needs Python 3.11 or newer: make PYTHON=python3.11')"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	$(BIN)/python -c "open('$(STAMP)', 'w').close()"

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMP)
	$(BIN)/mypy

tests: $(STAMP)
	$(BIN)/python -m pytest -n logical --maxprocesses 4 --dist loadfile

coverage: $(STAMP)
	$(BIN)/python -m pytest --cov --cov-report=term-missing

docs: $(STAMP)
	$(BIN)/python -m sphinx -W --keep-going -n -b html docs docs/_build/html

bench: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[bench]"
	$(BIN)/python benchmarks/evaluate_files.py
	$(BIN)/python benchmarks/evaluate_memory.py
	$(BIN)/python benchmarks/significance.py
	$(BIN)/python benchmarks/tukey.py
	$(BIN)/python benchmarks/error_rates.py
	$(BIN)/python benchmarks/retrieval.py

clean:
	$(PYTHON) -c "import shutil; [shutil.rmtree(d, ignore_errors=True) for d in ('$(VENV)', 'build', 'dist', 'demo-report', 'docs/_build')]"
