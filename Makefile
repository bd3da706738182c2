# The two commands: make demo, make test. Both need Python >= 3.11 and nothing else.
# To choose the interpreter: make demo PYTHON=python3.12
PYTHON ?= python3
VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
# Each file says that a set of packages is installed: what heldout needs, and the tools of developers.
INSTALLED := $(VENV)/.installed
DEVELOPER := $(VENV)/.installed-dev
# Modules are compiled when they are first imported: most never are, and it would double the time.
# Each process would compile all it imports again if Python were not let to keep the result.
unexport PYTHONDONTWRITEBYTECODE
INSTALL := $(BIN)/python -m pip install --no-compile --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-all lint types tests reference coverage docs picture bench clean

demo: $(INSTALLED)
	$(BIN)/heldout demo

test: lint types tests

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'heldout needs Python 3.11 or newer: make PYTHON=python3.11')"
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) -e .
	$(BIN)/python -c "open('$(INSTALLED)', 'w').close()"

$(DEVELOPER): $(INSTALLED)
	$(INSTALL) -e ".[dev]"
	$(BIN)/python -c "open('$(DEVELOPER)', 'w').close()"

lint: $(DEVELOPER)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(DEVELOPER)
	$(BIN)/mypy --num-workers 2

# In the order of collection: what is last, doctests, is short, so that no worker is long alone.
tests: $(DEVELOPER)
	$(BIN)/python -m pytest -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder

# What is long and rarely fails, too: before a release.
test-all: lint types reference
	$(BIN)/python -m pytest -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder --long --hypothesis-profile thorough

# Numbers of the whole product, as they were frozen in tests/reference.
reference: $(DEVELOPER)
	$(BIN)/python benchmarks/reference.py check

coverage: $(DEVELOPER)
	$(BIN)/python -m pytest --cov --cov-report=term-missing

docs: $(DEVELOPER)
	$(BIN)/python -m sphinx -W --keep-going -n -b html docs docs/_build/html

# The picture of README.md.
picture: $(INSTALLED)
	$(BIN)/heldout demo --files docs/_build/example
	$(BIN)/heldout run docs/_build/example/qrels.txt --system baseline=docs/_build/example/baseline.run --system improved=docs/_build/example/improved.run -o docs/_build/picture --force --quiet
	$(BIN)/heldout chart docs/_build/picture query-differences -o docs/_static/differences.svg

bench: $(DEVELOPER)
	$(INSTALL) -e ".[bench]"
	$(BIN)/python benchmarks/evaluate_files.py
	$(BIN)/python benchmarks/evaluate_memory.py
	$(BIN)/python benchmarks/significance.py
	$(BIN)/python benchmarks/error_rates.py
	$(BIN)/python benchmarks/retrieval.py
	$(BIN)/python benchmarks/fusion.py

clean:
	$(PYTHON) -c "import shutil; [shutil.rmtree(d, ignore_errors=True) for d in ('$(VENV)', 'build', 'dist', 'demo-report', 'docs/_build')]"
