# Needs python3 (3.10 or newer), a C compiler and make; everything else comes from pip into virtual environments here.
PYTHON ?= python3
DEMO := .venv
DEV := .venv-dev
TEST := .venv-test
REALDATA := .venv-realdata
LOWEST := .venv-lowest
SANITIZE ?= address,undefined
WERROR ?= $(if $(CI),true,false)
PIP := -m pip install -qq
IN_TEST := PATH="$(CURDIR)/$(TEST)/bin:$$PATH"
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.NOTPARALLEL:
.PHONY: help demo test lint format ctest instructions wheel realdata pytest slow coverage docs installed portability pythons lowest release analyze bench dev clean check-tools

help: ## list these targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | expand -t 10

demo: check-tools ## install evoke into .venv and reproduce the a^n b^n c^n experiment
	$(PYTHON) -m venv $(DEMO)
	@echo "Installing evoke into $(DEMO): a minute or two, most of it for building the wheel"
	$(DEMO)/bin/python -m pip install '.[cli]'
	$(DEMO)/bin/evoke reproduce anbncn
	@printf '%s\n' '' 'Next, type one of these:' \
	'  $(DEMO)/bin/evoke                                what to do with a table of your own' \
	'  $(DEMO)/bin/evoke reproduce sines --runs 2       the other experiment of the paper' \
	'  $(DEMO)/bin/python examples/own_sequences.py     the same in Python: sequences of your own'

test: lint ctest instructions wheel docs realdata pytest ## all checks: lint, C tests under sanitizers, instruction counts, sdist and wheel, documents, pytest

lint: $(TEST)/ready ## ruff, cython-lint, clang-format, codespell, mypy
	$(IN_TEST) ruff check
	$(IN_TEST) cython-lint src/evoke
	$(IN_TEST) clang-format --dry-run -Werror csrc/*.[ch] csrc/tests/*.[ch]
	$(IN_TEST) codespell
	$(IN_TEST) mypy

format: $(TEST)/ready ## rewrite C sources and Python imports in the project's format
	$(IN_TEST) clang-format -i csrc/*.[ch] csrc/tests/*.[ch]
	$(IN_TEST) ruff check --fix

ctest: $(TEST)/ready ## C tests, under the sanitizers of SANITIZE (none: turn them off)
	$(IN_TEST) sh tools/ctest.sh build/ctest-$(SANITIZE) $(SANITIZE) $(WERROR)

instructions: $(TEST)/ready ## instructions of three workloads beside those kept in bench/, where valgrind is installed
	$(IN_TEST) python bench/instructions.py

wheel: $(TEST)/ready ## sdist and wheel into dist/, checked and tried in an empty environment
	$(IN_TEST) sh tools/wheel.sh

realdata: wheel ## install the wheel with the packages of real data into .venv-realdata and run the tests that need them
	sh tools/realdata.sh $(PYTHON) $(REALDATA)

pytest: installed ## install evoke into .venv-test and run the Python tests (ARGS="-k svm" goes to pytest)
	$(IN_TEST) python -m pytest -n auto --dist loadgroup -m "not realdata and not slow" $(ARGS)

slow: installed ## the tests that take long and rarely fail
	$(IN_TEST) python -m pytest -n auto --dist loadgroup -m slow $(ARGS)

coverage: installed ## lines of src/evoke that the Python tests run, in subprocesses too; fails below 95 %
	$(IN_TEST) python $(PIP) 'coverage>=7.10' 'pytest-cov>=7'
	$(IN_TEST) python -m pytest -m "not distributed and not realdata" --cov --cov-report=term-missing:skip-covered --cov-fail-under=95 $(ARGS)

docs: installed ## the documentation site, into build/docs, looked at by a browser where there is one; a warning is an error
	$(IN_TEST) python -m sphinx -W --keep-going -q -b html docs build/docs
	$(IN_TEST) python tools/pages.py build/docs
	@echo "The documents: build/docs/index.html"

installed: $(TEST)/ready
	$(IN_TEST) sh tools/install.sh cli,plot,distributed,docs,test

portability: $(TEST)/ready ## the C core on ARM64 under qemu and on Windows under wine, where these are installed
	$(IN_TEST) sh tools/portability.sh

pythons: wheel ## a first use of the wheel under several Pythons (PYTHONS="python3.11 python3.12 ..."), with equal bits
	sh tools/pythons.sh $(or $(PYTHONS),$(PYTHON))

lowest: wheel ## the Python tests with the lowest versions that pyproject.toml admits, in .venv-lowest
	sh tools/lowest.sh $(PYTHON) $(LOWEST)

release: $(TEST)/ready ## sdist, wheels, checks, checksums, SBOM and notes, in dist/, of a commit with its tag (DRAFT=1: without)
	$(IN_TEST) sh tools/release.sh

# gcc 12 takes lanes of a pack that loops set for not set. What is used before it is set shows in the C tests, whose memory
# is NaN at the beginning.
analyze: ## the static analyser of gcc over the C core
	for source in csrc/*.c; do gcc -std=c17 -O1 -DEVK_ISA=scalar -fanalyzer -Wno-analyzer-use-of-uninitialized-value \
	-Werror -c -o /dev/null $$source || exit 1; done

bench: dev ## microbenchmarks and comparisons with every peer (ARGS="--json FILE --report DIR")
	$(DEV)/bin/python $(PIP) --no-build-isolation -e '.[bench]' --config-settings=build-dir=build/dev
	$(DEV)/bin/python bench/run.py $(ARGS)

dev: check-tools ## editable install with every tool into .venv-dev; it rebuilds itself on import
	$(PYTHON) -m venv $(DEV)
	$(DEV)/bin/python $(PIP) -r tools/requirements.txt
	PATH="$(CURDIR)/$(DEV)/bin:$$PATH" python $(PIP) --no-build-isolation -e '.[cli,plot,distributed,test]' --config-settings=build-dir=build/dev

clean: ## remove everything the other targets made
	rm -rf docs/api/generated docs/examples docs/sg_execution_times.rst .coverage*
	rm -rf build dist $(DEMO) $(DEV) $(TEST) $(REALDATA) $(LOWEST) .hypothesis .mypy_cache .pytest_cache .ruff_cache

check-tools:
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 10) else \
	"evoke needs Python 3.10 or newer, this is %d.%d; name another: make PYTHON=python3.12" % sys.version_info[:2])'
	@{ command -v cc || command -v gcc || command -v clang; } >/dev/null || { echo "evoke needs a C compiler: install gcc or clang" >&2; exit 1; }

$(TEST)/ready: tools/requirements.txt | check-tools
	$(PYTHON) -m venv $(TEST)
	@echo "Installing the tools of the checks into $(TEST)"
	$(TEST)/bin/python $(PIP) -r tools/requirements.txt
	@touch $@
