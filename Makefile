# make demo and make test are all a newcomer needs: each makes .venv and installs what it lacks.
# Everything else: lint, docs, dist, installs (ALL=1), paper (QUICK=1), bench, fuzz, sanitize, test-slow,
# test-all, test-oldest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LIGHT := $(VENV)/.installed-light
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

BUILDING := "setuptools>=77" "nanobind>=3.1"
# Python's own way to bring pip into an environment takes three seconds more; it is taken where the
# pip outside is missing, or older than 22.3.
FILLED_FROM_OUTSIDE := { $(PYTHON) -m venv --without-pip $(VENV) && \
    $(PYTHON) -m pip --python $(BIN)/python install --quiet --no-compile pip $(BUILDING); }

# setuptools cautions against folders named like the package, at every editable install; here that
# folder is the package.
NO_CAUTION := "ignore:Editable installation"

.PHONY: demo review test test-slow test-all test-oldest bench paper lint docs dist installs clang sanitize fuzz clean

demo: $(LIGHT)
	@$(BIN)/itk-consensus demo --output demo-output

# The application in the browser, and what its tests need; without it they are skipped.
review: $(STAMP)
	@$(BIN)/python wrapping/packaging/extras.py review test-review | xargs $(PIP)

test: $(STAMP)
	@$(BIN)/python -m pytest -q -m "not slow" -n 2

# A quarter of an hour on two cores; test-all draws more seeds, and kills eight times as often.
test-slow: $(STAMP)
	@$(BIN)/python -m pytest -q -m slow -n 2 --dist worksteal

test-all: $(STAMP)
	@ITK_CONSENSUS_AT_LENGTH=1 $(BIN)/python -m pytest -q -n 2 --hypothesis-profile=exploring

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python wrapping/writing/write_tables.py --check

# Pages of docs/_build/html; a warning is an error, and nothing is fetched.
docs: $(STAMP)
	@$(BIN)/python wrapping/writing/write_tables.py
	@$(BIN)/python -m sphinx -q -W --keep-going -j 2 docs docs/_build/html
	@$(BIN)/python -m pytest -q tests/wrapping/test_links.py
	@echo "docs/_build/html/index.html"

bench: $(STAMP)
	@$(BIN)/python -m examples.benchmarks.speed.benchmark
	@$(BIN)/python -m examples.benchmarks.deep.deep_evidence

paper: $(STAMP)
	@$(BIN)/python -m examples.paper.judge --output paper-output $(if $(QUICK),--quick)

# make fuzz SEED=7 repeats what an earlier run printed as its seed.
fuzz: $(STAMP)
	@$(BIN)/python -m tests.fuzzing --cases 5000 --commands 500 --files 1000 --stores 300 --references 400 $(if $(SEED),--seed $(SEED))

# Kernels once under address and undefined-behaviour sanitizers, in a build of their own.
sanitize: $(STAMP)
	@sh wrapping/kernels/sanitize.sh $(BIN)/python

# Kernels compiled by the other compiler too, where it is installed; nothing of it is kept.
clang: $(STAMP)
	@sh wrapping/kernels/clang.sh $(BIN)/python

# sdist and wheel, each installed into a clean environment and tried out there.
dist: $(STAMP)
	@$(BIN)/python wrapping/packaging/extras.py dist | xargs $(PIP)
	@sh wrapping/packaging/dist.sh $(BIN)/python

# Installs as users have them: base and two extras, or all (ALL=1), from WHEEL or one that is built.
installs: $(STAMP)
	@$(BIN)/python tests/installs.py $(if $(ALL),--all) $(if $(WHEEL),--wheel $(WHEEL))

# The lower bounds that pyproject.toml declares, in an environment of their own.
test-oldest:
	@sh wrapping/packaging/oldest.sh $(PYTHON)

# Two steps: what the demo needs, and then what tests, lint and documentation need. Each is taken
# again when what is compiled or declared changes; Python sources are used in place.
COMPILED := pyproject.toml setup.py constraints.txt $(wildcard wrapping/kernels/*.cpp wrapping/kernels/*.hpp wrapping/kernels/include/*.hpp)

$(LIGHT): $(COMPILED)
	@echo "Setting up $(VENV) (once; compiles for half a minute) ..."
	@test -x $(BIN)/pip || $(FILLED_FROM_OUTSIDE) 2> /dev/null || $(PYTHON) -m venv $(VENV)
	@$(PIP) --no-compile $(BUILDING)
	@PYTHONWARNINGS=$(NO_CAUTION) $(PIP) --no-build-isolation --no-deps --editable . & compiling=$$!; \
	    $(BIN)/python wrapping/packaging/extras.py plot | xargs $(PIP) --no-compile && wait $$compiling
	@touch $@

$(STAMP): $(LIGHT)
	@echo "Adding what the tests need to $(VENV) (once; a minute or two) ..."
	@$(BIN)/python wrapping/packaging/extras.py test docs | xargs $(PIP)
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info demo-output bench-output paper-output docs/_build itk_consensus/*.so
