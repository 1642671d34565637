# `make help` lists the targets. Everything runs in .venv, which `make setup` creates.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all check bench docs dumps gpu-check clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: $(STAMP)  ## create .venv and install everything that development needs

$(STAMP): pyproject.toml constraints.txt setup.py
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo 'setup 1 of 3: pip, setuptools and wheel'
	@$(BIN)/pip install --quiet --upgrade pip setuptools wheel
	@echo 'setup 2 of 3: torch, the largest part by far; without a GPU build it is some 200 MB, with one some GB'
	@$(BIN)/pip install --quiet --constraint constraints.txt torch
	@echo 'setup 3 of 3: everything else, then the C writer and reader are built; a minute or so'
	@PYTHONWARNINGS=ignore $(BIN)/pip install --quiet --constraint constraints.txt --no-build-isolation --editable '.[serve,test,bench]'
	touch $@

demo: setup  ## serve SmolLM2, drive it, watch it crash, read the report
	$(BIN)/tracert demo

# Two workers with a thread each: more threads than cores is what slows torch down most. What pytest makes of the
# tests is kept, whatever the environment says of byte code: to make it anew takes each worker 5 seconds.
PYTEST := OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n 2 --dist loadfile

test: setup  ## the fast suite
	$(PYTEST) -m "not slow and not gpu"

test-all: setup  ## the fast suite and the slow one
	$(PYTEST) -m "not gpu"

check: setup  ## lint (SQL too), types, import contracts, generated docs up to date
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/lint.py
	$(BIN)/python docs/generate.py --check

bench: setup  ## the figures that the README quotes, measured on this machine
	$(BIN)/python -m tests.bench

docs: setup  ## regenerate the reference pages under docs/
	$(BIN)/python docs/generate.py

dumps: setup  ## record the dumps under docs/dumps/ anew, then the pages that ask them
	$(BIN)/python docs/dumps.py
	$(BIN)/python docs/generate.py

gpu-check: setup  ## the contract tests of the CUDA device and the Triton kernels, on a GPU
	$(BIN)/pytest -m gpu tests/gpu

clean:  ## remove the environment and everything built
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
