## make demo    the main job on the sample: nothing is needed but Python 3.11 or later and the package index
## make serve   the proofreader's desk in the browser, on the sample (after make demo)
## make test    all tests; sets up what they need
## make test-fast  what needs no browser, no recogniser and no server, in a minute
## make test-consumers  the exports, read by kraken's own parser, in Mirador and in LibreOffice; fetches them (some gigabytes; needs npm)
## make screenshots  every page in both themes and three languages, and the report, into out/screenshots
## make coverage  all tests, which lines of the program none of them reaches, and which modules not their own
## make lint    what CI checks before the tests
## make bench   the measurements, in one table
## make fuzz    a million damaged inputs for whatever reads other people's files; an hour or so
## make docs    the documentation, into build/docs/index.html; every link in it is checked
## make lock    the locked versions of all that is installed (requirements/), written anew
## make licences  docs/licences.md: under what terms all that is installed stands, written anew
## make audit   whether something that is installed has a known vulnerability, where an index of these can be reached
## make clean   removes what make made; results (out/, proof.sqlite) stay

VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check -qq

# The first Python that is new enough; `make PYTHON=...` names another.
PYTHON ?= $(shell for each in python3 python3.13 python3.12 python3.11 python; do \
	$$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$each && break; done)

ESLINT   = build/eslint/node_modules/.bin/eslint
SHELL_OF_CHROMIUM = command -v chromium-headless-shell
CHROMIUM = $(SHELL_OF_CHROMIUM) || command -v chromium || command -v chromium-browser || command -v google-chrome
KAI      = fc-list 2>/dev/null | grep -q TW-Kai
PDF      = command -v qpdf && command -v pdftotext && command -v pdfinfo
POSTGRES = ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null || command -v initdb

.DEFAULT_GOAL := help
# The tests start the program by the hundred: what it is compiled to is kept, whatever the surroundings say.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: help demo serve test test-fast coverage screenshots test-consumers test-system lint bench fuzz docs lock licences audit clean

help:
	@sed -n 's/^## //p' Makefile

demo: $(VENV)/installed
	@$(BIN)/proof demo

serve: $(VENV)/installed
	@test -f proof.sqlite || $(BIN)/proof check -q
	@$(BIN)/proof serve

# Each worker takes whole modules, whose fixtures check, serve and open a browser once, and at the end some of what the
# other has left. A worker that died is not replaced: the new one would begin with the very test that it died of.
PYTEST = -m pytest -n auto --dist worksteal --max-worker-restart=0

test: test-system $(VENV)/installed-dev
	$(BIN)/python $(PYTEST) -rs

test-fast: $(VENV)/installed-dev
	$(BIN)/python $(PYTEST) -m 'not (browser or engine or postgres or slow)'

coverage: test-system $(VENV)/installed-dev
	@rm -rf build/coverage && mkdir -p build/coverage
	$(BIN)/python -m coverage run $(PYTEST) -rs
	@$(BIN)/python -m coverage combine -q
	$(BIN)/python -m coverage report
	$(BIN)/python -m tests.coverage_by_file

screenshots: test-system $(VENV)/installed-dev
	SCREENSHOTS=out/screenshots $(BIN)/python -m pytest -q -rs --hypothesis-profile=wide tests/web -k photographed
	@ls out/screenshots

# Programs that the exports are for; neither is needed to run or to test the rest.
test-consumers: test-system $(VENV)/installed-dev
	@command -v soffice >/dev/null || apt-get install -y -qq --no-install-recommends libreoffice-writer-nogui >/dev/null 2>&1 || \
		echo "LibreOffice is missing and could not be installed: its test is skipped"
	@test -x $(VENV)-kraken/bin/kraken || { $(PYTHON) -m venv $(VENV)-kraken && $(VENV)-kraken/bin/pip install -qq kraken; }
	@test -f build/package/dist/mirador.min.js || \
		{ mkdir -p build && cd build && npm pack --silent mirador@4 >/dev/null && tar xzf mirador-4*.tgz; }
	KRAKEN_PYTHON=$(VENV)-kraken/bin/python MIRADOR=build/package/dist/mirador.min.js \
		$(BIN)/python -m pytest -rs tests/exports -k 'kraken or mirador or libreoffice'

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@if [ -x $(ESLINT) ] || { command -v npm && npm install --silent --no-audit --no-fund --prefix build/eslint eslint@9; } \
			>/dev/null 2>&1; then \
		$(ESLINT) . && echo "The scripts are sound."; \
	else \
		echo "npm is missing or cannot fetch eslint: the scripts in proof/web/static are not linted"; \
	fi

bench: $(VENV)/installed-dev
	$(BIN)/python -m scripts.bench planted
	$(BIN)/python -m scripts.bench texts

docs: $(VENV)/installed-dev
	$(BIN)/python -m mkdocs build --strict

fuzz: $(VENV)/installed-dev
	nice -n 15 $(BIN)/python -m tests.soak.fuzz_readers --found build/fuzz

# What is installed, down to the last byte, is what requirements/ names; `make lock` writes it anew.
# paddleocr comes first: it brings another OpenCV along, over which the one without windows is then installed. That one is
# missing from its list, so nothing beside the list is looked for.
$(VENV)/installed: pyproject.toml hatch_build.py requirements/paddleocr.txt requirements/run.txt | $(VENV)/made
	@echo "installing into $(VENV): a minute or so"
	@$(PIP) install --no-deps --require-hashes -r requirements/paddleocr.txt
	@$(PIP) install --require-hashes -r requirements/run.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed requirements/dev.txt
	@$(PIP) install --require-hashes -r requirements/dev.txt
	@touch $@

LOCK = $(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-annotate --no-header \
	pyproject.toml requirements/build.in

lock: $(VENV)/installed-dev
	@$(PIP) install uv
	@$(LOCK) --extra dev -o requirements/dev.txt >/dev/null
	@$(LOCK) -c requirements/dev.txt -o requirements/run.txt >/dev/null
	@$(LOCK) --extra paddleocr --extra git --no-emit-package opencv-python-headless -c requirements/dev.txt \
		-o requirements/paddleocr.txt >/dev/null
	@$(LOCK) --extra cluster --extra postgresql --extra git -c requirements/dev.txt -o requirements/cluster.txt >/dev/null

licences: $(VENV)/installed-dev
	$(BIN)/python scripts/licences.py

audit: $(VENV)/installed-dev
	@$(PIP) install pip-audit
	$(BIN)/python scripts/audit.py

$(VENV)/made:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later is needed; found: $$(python3 --version 2>&1)" >&2; exit 1; }
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 \
		|| { $(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install -q pip; } \
		|| { echo "$(PYTHON) cannot make a virtual environment: install its venv module (Debian: python3-venv)" >&2; exit 1; }
	@touch $@

# What no package index has: a browser (Chromium's engine alone where that is packaged, which costs a third of the
# processor time), the font of the sample, a database server, what judges PDFs. Where they cannot be installed from here,
# the tests that need them are skipped and say so.
test-system:
	@if { $(SHELL_OF_CHROMIUM); } >/dev/null && { $(KAI); } && { $(POSTGRES); } >/dev/null && { $(PDF); } >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing Chromium, a regular-script font, PostgreSQL, qpdf and poppler for the tests"; \
		export DEBIAN_FRONTEND=noninteractive; install="apt-get install -y -qq --no-install-recommends"; \
		{ apt-get update -qq; $$install fontconfig fonts-cns11643-kai postgresql; $$install qpdf poppler-utils; \
			$$install chromium-headless-shell || { $(CHROMIUM); } || $$install chromium; } >/dev/null 2>&1; \
	fi
	@if { $(CHROMIUM); } >/dev/null && { $(KAI); } && { $(POSTGRES); } >/dev/null && { $(PDF); } >/dev/null; then :; \
	else echo "Chromium, TW-Kai, PostgreSQL, qpdf or poppler cannot be installed: the tests that need them are skipped"; fi

clean:
	rm -rf $(VENV) $(VENV)-kraken build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +
