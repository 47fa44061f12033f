# make demo and make test are all a newcomer needs: each makes .venv and installs what it lacks.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: demo test test-all bench paper lint docs sanitize fuzz clean

demo: $(STAMP)
	@$(BIN)/itk-consensus demo --output demo-output

test: $(STAMP)
	@$(BIN)/python -m pytest -q -m "not slow" -n 2

test-all: $(STAMP)
	@$(BIN)/python -m pytest -q -n 2 --hypothesis-profile=exploring

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python wrapping/write_tables.py --check

docs: $(STAMP)
	@$(BIN)/python wrapping/write_tables.py

bench: $(STAMP)
	@$(BIN)/python examples/benchmarks/benchmark.py
	@$(BIN)/python examples/benchmarks/deep_evidence.py

paper: $(STAMP)
	@for table in examples/paper/table*.py examples/paper/section45.py; do $(BIN)/python $$table || exit 1; done

# make fuzz SEED=7 repeats what an earlier run printed as its seed.
fuzz: $(STAMP)
	@$(BIN)/python -m tests.fuzzing --cases 5000 --commands 500 --files 1000 $(if $(SEED),--seed $(SEED))

# Kernels once under address and undefined-behaviour sanitizers, in a build of their own.
sanitize: $(STAMP)
	@sh wrapping/sanitize.sh $(BIN)/python

# Reinstalled when what is compiled or declared changes; Python sources are used in place.
$(STAMP): pyproject.toml setup.py constraints.txt $(wildcard wrapping/*.cpp wrapping/*.hpp wrapping/include/*.hpp)
	@echo "Setting up $(VENV) (once; about two minutes) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) "setuptools>=77" wheel "pybind11>=2.13"
	@$(PIP) --no-build-isolation --editable ".[test]"
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info demo-output bench-output itk_consensus/*.so
