# What a developer runs. Needs make and Python >= 3.11; everything else goes into .venv.
# PYTHON=/path/to/python3 names the interpreter; ARGS="-k scan -x" is passed on to pytest; JOBS: tests at once.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?=
LOWEST_PYTHON ?= python3.11
ARGS ?=
JOBS ?= 2

CANDIDATES := $(or $(PYTHON),python3.13 python3.12 python3.11 python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt

# Exit 5 is pytest's word for "no test was collected". One thread of BLAS a job: more would stand in each other's way.
define pytest
OPENBLAS_NUM_THREADS=1 $(1)/python -m pytest -m "not slow" -n $(JOBS) --dist worksteal $(ARGS); status=$$?; \
if [ $$status -eq 5 ]; then echo "make $@: FAILED, pytest found no test to run" >&2; fi; exit $$status
endef

.PHONY: help venv demo docs test lint types layers lowest slow clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

venv: .venv/.dev ## .venv with the package, the tests' needs and the developers' tools

demo: .venv/.package ## the main job on data_samples, into demo/
	$(BIN)/goals run --bfile data_samples/mice \
	  --pheno data_samples/mice.pheno.tsv --pheno-name weight \
	  --covar data_samples/mice.covar.tsv --covar-name age --cat-covar-name sex \
	  --groups data_samples/mice.groups.tsv --group-column cage \
	  --local all --out demo/weight --overwrite
	$(BIN)/goals top demo/weight.scores.h5 --n 5
	@set -e; tell() { test -s "$$1" || { echo "make demo: $$1 is missing or empty" >&2; exit 1; }; \
	  printf '  %-28s %s\n' "$$1" "$$2"; }; \
	echo "Written:"; \
	tell demo/weight.qc.tsv        "samples and variants that each filter removed"; \
	tell demo/weight.model.h5      "the fitted Gaussian process, for goals scan and goals info"; \
	tell demo/weight.scores.h5     "every score, with the local scores of all samples"; \
	tell demo/weight.top.tsv       "the top hits as a table"; \
	tell demo/weight.manhattan.png "the genome in one picture"; \
	tell demo/weight.local.png     "local effects of the top variants, by cage"; \
	tell demo/weight.run.log       "what was done, with what settings"

docs: .venv/.dev ## the documentation, into site/; python3 -m http.server -d site shows it
	$(BIN)/interrogate --quiet goalscli
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(BIN)/python scripts/check_site.py site

test: .venv/.test ## the tests, except those marked slow
	@$(call pytest,$(BIN))

lint: .venv/.dev ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.dev ## mypy --strict
	$(BIN)/mypy

layers: .venv/.dev ## import-linter: who may import whom
	$(BIN)/lint-imports

lowest: .venv/.dev ## the tests on the lowest versions that pyproject.toml allows (Python 3.11)
	@$(LOWEST_PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null || { \
	  echo "make lowest: $(LOWEST_PYTHON) is not a Python 3.11, the one that the lowest versions have wheels for;" \
	    "install python3.11 or name one: make lowest LOWEST_PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(BIN)/uv --quiet venv --clear --no-python-downloads \
	  --python "$$($(LOWEST_PYTHON) -c 'import sys; print(sys.executable)')" .venv-lowest
	$(BIN)/uv --quiet pip install --python .venv-lowest/bin/python --resolution lowest-direct -e '.[test]'
	@$(BIN)/uv pip list --python .venv-lowest/bin/python | \
	  grep -E '^(numpy|scipy|pandas|h5py|bed-reader|pysnptools|matplotlib|click|threadpoolctl|pytest) '
	@$(call pytest,.venv-lowest/bin)

slow: ## the slow proofs and the benchmarks' smoke runs (minutes)
	bash .ci/slow

clean: ## remove the environments, demo/, builds and caches
	rm -rf .venv .venv-lowest demo site build dist *.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One environment, three amounts of it. A larger install stamps the smaller ones too, so none is done twice.
.venv/.made:
	@found=; bare=; for python in $(CANDIDATES); do \
	  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	  if "$$python" -c 'import ensurepip, venv' 2>/dev/null; then found=$$python; break; fi; \
	  bare=$${bare:-$$python}; \
	done; \
	if [ -z "$$found$$bare" ]; then \
	  echo "make: no Python >= 3.11 among: $(CANDIDATES); install one or name it: make PYTHON=/path/to/python3" >&2; exit 1; \
	elif [ -z "$$found" ]; then \
	  version=$$("$$bare" -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	  echo "make: $$bare cannot make environments (no ensurepip); on Debian and Ubuntu: apt install python$$version-venv" >&2; exit 1; \
	fi; \
	echo "$$found -m venv .venv"; "$$found" -m venv --clear .venv
	@touch $@

.venv/.package: pyproject.toml constraints.txt | .venv/.made
	$(PIP) -e .
	@touch $@

.venv/.test: pyproject.toml constraints.txt | .venv/.made
	$(PIP) -e '.[test]'
	@touch .venv/.package $@

.venv/.dev: pyproject.toml constraints.txt | .venv/.made
	$(PIP) -e '.[dev]'
	@touch .venv/.package .venv/.test $@
