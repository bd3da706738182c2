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

.PHONY: demo test test-all lint types tests reference coverage docs picture bench bench-docs clean

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

# The peers of the benchmarks.
PEERS := $(VENV)/.installed-peers
BENCH := $(BIN)/python benchmarks

$(PEERS): $(DEVELOPER)
	$(INSTALL) -e ".[bench]"
	$(BIN)/python -c "open('$(PEERS)', 'w').close()"

# The table of README.md. TREC_EVAL: the path of a trec_eval to include.
bench: $(PEERS)
	$(BENCH)/evaluate.py

# The tables of docs/, which take many hours; each line can be run alone, with smaller numbers.
# DATA: a folder with cranfield/cranfield, med, cacm, scifact (collections), trec_matrices (topics x
# systems of TREC ad hoc 5 and 6), llmjudge, trec_covid_r1; without it, what needs no such data.
bench-docs: $(PEERS)
	$(BENCH)/significance.py
	$(BENCH)/retrieval.py pydocs 1000000 $(if $(DATA),$(DATA)/scifact)
	$(BENCH)/retrieval.py 8841823 --peers tantivy
	$(BENCH)/scaling.py --sizes 100000 1000000 8841823
	$(BENCH)/workers.py --queries 100 --repeats 16
	$(BENCH)/report_page.py
	$(BENCH)/corpus_tests.py
	$(BENCH)/near_duplicates.py
	$(BENCH)/near_duplicates.py --size 1000000
	$(BENCH)/random_kills.py --kills 60
	$(BENCH)/hybrid.py pydocs
	$(BENCH)/many_units_coverage.py
	$(BENCH)/several_systems.py --order 400
	$(BENCH)/bias_study.py pydocs --queries 400
	$(BENCH)/fold_coverage.py pydocs
ifdef DATA
	$(BENCH)/error_rates.py --matrices $(DATA)/trec_matrices
	$(BENCH)/several_systems.py --matrices $(DATA)/trec_matrices
	$(BENCH)/several_systems.py --matrices $(DATA)/trec_matrices --gain 0.05 --draws 2000
	$(BENCH)/several_systems.py --matrices $(DATA)/trec_matrices --systems 20 30 61 --units 50 --measures ap --nulls centred permutation --draws 2000
	$(BENCH)/bounded_intervals.py $(DATA)/trec_matrices
	$(BENCH)/agreement_coverage.py --matrices $(DATA)/trec_matrices --judgements $(DATA)/llmjudge
	$(BENCH)/machine_judgements.py --data $(DATA) --judgements $(DATA)/llmjudge
	$(BENCH)/bias_study.py $(COLLECTIONS)
	$(BENCH)/interval_coverage.py $(COLLECTIONS)
	$(BENCH)/fold_coverage.py $(COLLECTIONS)
endif

COLLECTIONS := $(addprefix $(DATA)/,cranfield/cranfield med cacm scifact)

clean:
	$(PYTHON) -c "import shutil; [shutil.rmtree(d, ignore_errors=True) for d in ('$(VENV)', 'build', 'dist', 'demo-report', 'docs/_build')]"
