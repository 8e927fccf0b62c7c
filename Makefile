# The newcomer's two: make demo, make test. Both install into a virtual environment of their own.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Of the tests, one of which mostly waits.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
KERNELS := $(wildcard cython_ext/*/*.pyx cython_ext/*/*.pxd cython_ext/*/*.h)

.PHONY: build demo test lint bench bench-all calls annotate debug fuzz fuzz-commands soak docs gallery clean help

build: $(VENV)/installed $(VENV)/built  ## install into .venv, with kernels up to date (the default)

$(VENV)/ready: pyproject.toml .ci/requirements
	$(PYTHON) -m venv $(VENV)
	sh .ci/requirements $(BIN)/python build-system.requires
	@touch $@

$(VENV)/built: $(VENV)/ready setup.py $(KERNELS)
	@touch $@.begun
	$(BIN)/python setup.py --quiet build_ext --inplace
	@mv $@.begun $@

# Without isolation, and once the kernels are compiled: it takes them as they are.
$(VENV)/installed: $(VENV)/ready | $(VENV)/built
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable .
	@touch $@

$(VENV)/tools: $(VENV)/installed
	sh .ci/requirements $(BIN)/python project.optional-dependencies.dev
	@touch $@

demo: build  ## learn which package a line of Python comes from
	@PYTHON=$(BIN)/python sh examples/demo.sh demo-out

test: build $(VENV)/tools  ## run the tests; ARGS='-k parser -x' goes to pytest
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

lint: build $(VENV)/tools  ## check style, imports and the types of the public modules
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: build $(if $(VW),,$(VENV)-vw/installed)  ## speed beside vw (VW=COMMAND, or PyPI's); ARGS='FOLDER --rounds 9'
	VW="$(or $(VW),$(abspath $(VENV)-vw)/bin/python -m vowpalwabbit)" $(BIN)/python tests/bench/speed.py $(ARGS)

bench-all: build $(if $(VW),,$(VENV)-vw/installed)  ## every learner, option, format and command; ARGS='FOLDER --only oaa'
	VW="$(or $(VW),$(abspath $(VENV)-vw)/bin/python -m vowpalwabbit)" $(BIN)/python tests/bench/every_row.py $(ARGS)

calls: build  ## what calls from Python take; ARGS='TEXT --rounds 30'
	$(BIN)/python tests/bench/python_api.py $(ARGS)

$(VENV)-vw/installed:
	$(PYTHON) -m venv $(VENV)-vw
	$(VENV)-vw/bin/pip install --quiet vowpalwabbit
	@touch $@

annotate: build  ## Cython's HTML: which lines of the kernels touch Python
	VWLITE_ANNOTATE=1 $(BIN)/python setup.py --quiet build_ext --inplace
	@find build/annotate-* -name '*.html'

debug:  ## the same tests on kernels with bounds checks, in a build of their own
	@sh .ci/debug

fuzz: build  ## fuzz kernels built with sanitizers; ARGS='--seconds 3600'
	@PYTHON=$(abspath $(BIN))/python ARGS='$(ARGS)' sh .ci/fuzz

fuzz-commands: build  ## run whole commands on mutated input; ARGS='--inputs 3000 arrow csv'
	PYTHONPATH=tests $(BIN)/python -m fuzz.commands $(ARGS)

soak: build  ## train on 20 GB from a pipe and watch the memory; ARGS='--gb 5'
	$(BIN)/python tests/bench/soak.py $(ARGS)

docs: build $(VENV)/docs  ## build the site of all pages in build/site/html; ARGS='-b linkcheck' looks at links elsewhere
	$(BIN)/python docs/site/sources.py build/site/source
	$(BIN)/python -m sphinx -q -W --keep-going -c docs/site -b html $(ARGS) build/site/source build/site/html

gallery: build  ## run the tasks of the gallery and write docs/gallery.md; ARGS='--data DATA prices'
	PYTHON=$(BIN)/python sh examples/gallery.sh --out docs/site/gallery.json $(ARGS)
	PYTHON=$(BIN)/python sh examples/gallery.sh --out docs/site/gallery.json --page docs/gallery.md

$(VENV)/docs: $(VENV)/installed
	sh .ci/requirements $(BIN)/python project.optional-dependencies.docs
	@touch $@

clean:  ## remove everything that make made
	rm -rf build dist demo-out $(VENV) $(VENV)-vw *.egg-info .pytest_cache .hypothesis .mypy_cache .ruff_cache vwlite/_native/*.so
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help:  ## print this list; PYTHON=python3.12 and VENV=folder choose the interpreter and where it installs
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(firstword $(MAKEFILE_LIST)) | expand -t 12
