# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# The tests start commands by the thousand. Where this is set, each would first compile some 250
# modules of ours: a second and more.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup pin audit-deps demo test test-all lint kernels bench docs browser fuzz proofs spark clean

setup: $(STAMP)

# python3-venv is split off from python3 on Debian; as root we can mend that ourselves.
$(STAMP): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "pathveil needs python3 >= 3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "installing python3-venv"; apt-get update -qq && apt-get install -y -qq python3-venv; }
	@echo "setting up $(VENV): a few minutes, once"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# Reads name==version from requirements.txt and writes the hashes beside them. Not after setup,
# which would refuse a pin without hashes.
pin:
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python tools/pin.py

audit-deps: setup
	$(BIN)/python tools/audit_dependencies.py

demo: setup
	$(BIN)/pathveil demo
	@echo "To type pathveil yourself: source $(BIN)/activate"

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Beside the linters, which leave a core idle; what goes wrong here, a test will say.
kernels: setup
	-@$(BIN)/python tools/compile_kernels.py > /dev/null 2>&1

# Spark is large: if it can't be installed, its tests are skipped with a reason.
SPARK_STAMP := $(VENV)/.spark-installed

spark: setup
	@test -f $(SPARK_STAMP) || { $(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-spark.txt && touch $(SPARK_STAMP); } || echo "Spark can't be installed; its tests are skipped."

# The browser of the tests. As root on Debian we install it ourselves; elsewhere, without one, its
# tests are skipped with a reason.
browser:
	@command -v chromium >/dev/null 2>&1 || { echo "installing chromium"; apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; } >/dev/null 2>&1 || echo "chromium can't be installed; the browser tests are skipped."

test: setup browser
	@$(MAKE) --no-print-directory --jobs 2 lint kernels
	$(BIN)/pytest -n auto -m "not long"

test-all: setup browser spark
	@$(MAKE) --no-print-directory --jobs 2 lint kernels
	$(BIN)/pytest -n auto --noise real

bench: setup
	$(BIN)/python bench/run.py

# The documentation as a site in build/site; a warning is an error, and nothing uses the network.
docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --clean
	@echo "Open build/site/index.html (its search needs: python3 -m http.server -d build/site)"

# Every parser, FUZZ_SECONDS in all; only the first run, which installs the fuzzer, uses the network.
FUZZ_SECONDS ?= 600
FUZZ_STAMP := $(VENV)/.fuzz-installed

$(FUZZ_STAMP): $(STAMP) requirements-fuzz.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-fuzz.txt
	@touch $@

fuzz: $(FUZZ_STAMP)
	$(BIN)/python -m fuzz.all $(FUZZ_SECONDS)

# The proofs that Coq checks (docs/sampler-proof.md); the tests check them too, where there is coqc.
proofs:
	@if command -v coqc >/dev/null 2>&1; then $(MAKE) --no-print-directory -C proofs; \
	else echo "coqc is not installed (Debian: apt-get install coq): the proofs are not checked."; fi

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
