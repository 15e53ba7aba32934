# Needs Python 3.11 or newer with pip and venv, nothing else; `make` alone lists targets.
PYTHON ?= python3
VENV := .venv
OLDEST := .venv-oldest
SITE := docs/_build/html
BIN := $(VENV)/bin
# Modules are compiled when first imported: most files of the packages never are. That
# is kept for the next process, also where the environment says otherwise.
unexport PYTHONDONTWRITEBYTECODE
PIP := -m pip --disable-pip-version-check install --quiet --no-compile
# Small problems run faster without BLAS threads, and the workers fill the cores.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
DEMO = $(ONE_THREAD) $(BIN)/lupi compare --force
PYTEST := $(ONE_THREAD) $(BIN)/python -m pytest -q
# The tests of a file share its fixtures, and stay on one worker.
TWO_WORKERS := -n 2 --dist loadfile --no-loadscope-reorder
CODE := $(wildcard src tests benchmarks examples docs .ci)

.PHONY: help demo test test-slow test-oldest test-kernels test-fresh
.PHONY: fuzz lint format bench evidence docs clean

help:
	@echo "make demo         compare models with and without privileged information"
	@echo "make test         the ordinary tests, on two workers"
	@echo "make test-slow    every test"
	@echo "make test-oldest  the ordinary tests on the oldest supported packages"
	@echo "make test-kernels the numeric tests with the arithmetic of other processors"
	@echo "make test-fresh   every target in a new clone, each with a new environment"
	@echo "make fuzz         10 000 forged model files; FILES=1000 for fewer"
	@echo "make lint         style, formatting, types, imports, workflows and metadata"
	@echo "make bench        the benchmarks"
	@echo "make evidence     the leaderboard: all tables, all methods, and its page"
	@echo "make docs         the site in docs/_build/html: gallery run, links checked"

demo: $(VENV)/.installed
	@echo "1. A trial with 60 known outcomes."
	@$(DEMO) --train-size 60 --out demo-report/known
	@echo; echo "2. The same 60, and 1000 patients whose outcome is not known yet."
	@$(DEMO) --labelled 60 --out demo-report/not-known-yet

test: $(VENV)/.test
	$(PYTEST) $(TWO_WORKERS) --durations 25

# Some build the package.
test-slow: $(VENV)/.dev
	$(PYTEST) $(TWO_WORKERS) -m "slow or not slow"

# Old packages warn of the newer ones beside them, which is no concern of ours.
test-oldest: $(OLDEST)/.test
	$(ONE_THREAD) $(OLDEST)/bin/python -m pytest -q $(TWO_WORKERS) \
	    -W ignore::DeprecationWarning

# KERNELS="nehalem threads" runs a part of the sets: see .ci/kernels.py.
test-kernels: $(VENV)/.test
	$(BIN)/python .ci/kernels.py $(KERNELS)

# FRESH="docs lint" runs a part of the targets: see .ci/fresh.py.
test-fresh:
	$(PYTHON) .ci/fresh.py $(FRESH)

fuzz: $(VENV)/.test
	$(ONE_THREAD) $(BIN)/python -m tests.fuzz.run --files $(or $(FILES),10000)

lint: $(VENV)/.dev
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy --cache-dir /dev/null
	$(BIN)/lint-imports --no-cache
	$(PYTEST) tests/packaging/test_publishing.py

format: $(VENV)/.dev
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

# Hours; BENCH=--small takes minutes. A script that lacks a package skips what needs it.
bench: $(VENV)/.dev
	@for script in benchmarks/bench_*.py; do \
	    echo "== $$script $(BENCH)"; $(BIN)/python $$script $(BENCH) || exit 1; done

# Hours on two cores; it can be stopped, and continues. EVIDENCE="--quick" takes minutes.
evidence: $(VENV)/.dev
	$(ONE_THREAD) $(BIN)/python benchmarks/leaderboard.py $(EVIDENCE)

# A warning is an error. GALLERY_JOBS=2 runs two examples at a time, GALLERY=no none, and
# SPHINXOPTS="-D sphinx_gallery_conf.filename_pattern=plot_pima" a part of them.
docs: $(VENV)/.docs
	MPLBACKEND=Agg $(ONE_THREAD) $(BIN)/python -m sphinx -b html -n -W --keep-going \
	    $(if $(filter no,$(GALLERY)),-D plot_gallery=0) $(SPHINXOPTS) docs $(SITE)
	$(BIN)/python docs/check_links.py $(SITE)

clean:
	rm -rf $(VENV) $(OLDEST) demo-report dist build
	rm -rf docs/_build docs/auto_examples docs/api/generated docs/sg_execution_times.rst

# Each stamp says which extras its environment has; a changed pyproject.toml renews it.
# The extras contain one another, so that each is installed in one step.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "lupi needs Python 3.11 or newer; try make PYTHON=python3.11"; exit 1; }
	@echo "Setting up $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python $(PIP) --upgrade pip
	@touch $@

$(VENV)/.installed: pyproject.toml | $(VENV)/.made
	@$(BIN)/python $(PIP) --editable ".[cli]"
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/.made
	@$(BIN)/python $(PIP) --editable ".[test]"
	@touch $(VENV)/.installed $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.made
	@$(BIN)/python $(PIP) --editable ".[dev]"
	@touch $(VENV)/.installed $(VENV)/.test $@

$(VENV)/.docs: pyproject.toml | $(VENV)/.made
	@$(BIN)/python $(PIP) --editable ".[docs]"
	@touch $(VENV)/.installed $@

$(OLDEST)/.test: pyproject.toml .ci/oldest_pins.py
	@echo "Setting up $(OLDEST) ..."
	@$(PYTHON) -m venv $(OLDEST)
	@$(OLDEST)/bin/python $(PIP) --upgrade pip
	@$(PYTHON) .ci/oldest_pins.py > $(OLDEST)/pins.txt
	@$(OLDEST)/bin/python $(PIP) --constraint $(OLDEST)/pins.txt --editable ".[test]"
	@touch $@
