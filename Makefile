# One word per job. Needs make and Python >= 3.11; everything else is built into .venv by the first job.
.DEFAULT_GOAL := help
.PHONY: help verify test etcd milvus go browser cross-check bench size wheels docs report check doctor format lock clean distclean FORCE

# An environment that was moved, or whose Python went away, is built again.
READY := .venv/.ready
ifneq ($(shell [ -x .venv/bin/python ] && cat $(READY) 2>/dev/null),$(CURDIR))
$(READY): FORCE
endif

# Gate and tests start hundreds of processes: none of them compiles our sources anew. `make clean` removes it.
unexport PYTHONDONTWRITEBYTECODE

# Options for the command behind a job: make verify ARGS="--help"; make test ARGS="-k flush"
ARGS ?=

help: ## show these jobs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

verify: $(READY) ## run every check on every protocol; the verdicts go to build/
	@.venv/bin/tidemark verify $(ARGS)

test: $(READY) ## test the suite itself, on all cores (one process: ARGS=-n0)
	@.venv/bin/python -m pytest --numprocesses=logical --dist=loadgroup --no-loadscope-reorder $(ARGS)

etcd: $(READY) ## fetch Debian's etcd for the tests that want a real one; says why where it cannot be had
	@sh checks/environment/etcd.sh

milvus: $(READY) ## fetch a real Milvus for `tidemark observe` (VERSION=2.3.5); says why where it cannot be had
	@sh checks/environment/milvus.sh $(VERSION)

go: $(READY) ## fetch Debian's Go for the test of docs/tmtrace.go; says why where it cannot be had
	@sh checks/environment/go.sh

browser: ## install Debian's Chromium for the tests of the report; says why where it cannot be had
	@sh checks/environment/browser.sh

cross-check: $(READY) ## compare with other model checkers: Spin, and TLC where TLA2TOOLS names its jar
	@.venv/bin/tidemark cross-check $(ARGS)

bench: $(READY) ## measure rates and memory, as ratios within one run; the table goes to build/
	@.venv/bin/python -m tidemark.bench $(ARGS)

size: $(READY) ## count lines by room and by protocol, and what binds a protocol to the judges
	@.venv/bin/python -m tidemark.bench.size

wheels: $(READY) ## build the distributions into build/dist: tidemark, and tidemark-milvus with the protocols
	@sh checks/environment/wheels.sh

docs: .venv/.ready-docs ## build these documents as a site, build/site, with the findings and the reference; check it
	@.venv/bin/python -m tidemark.checks.report.site

report: $(READY) ## write build/report/index.html from the last verdicts
	@.venv/bin/tidemark report $(ARGS)

check: .venv/.ready-check ## formatting, lint and types
	@sh checks/environment/typing.sh
	@.venv/bin/ruff format --check .
	@.venv/bin/ruff check .
	@.venv/bin/mypy

doctor: $(READY) ## say what is missing on this machine and how to get it
	@.venv/bin/tidemark doctor $(ARGS)

format: .venv/.ready-check ## rewrite the sources in the common format
	@.venv/bin/ruff format .
	@.venv/bin/ruff check --fix .

lock: ## pin and hash the requirements anew
	@checks/environment/lock.sh

clean: ## remove what the jobs made, but not the environment
	rm -rf build .hypothesis .pytest_cache .ruff_cache spark-warehouse metastore_db derby.log
	find spec impl models checks bench tests -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## remove the environment too
	rm -rf .venv tidemark.egg-info

$(READY): requirements/build.lock requirements/run.lock pyproject.toml checks/environment/bootstrap.sh
	@sh checks/environment/bootstrap.sh run

.venv/.ready-check: $(READY) requirements/check.lock
	@sh checks/environment/bootstrap.sh check

.venv/.ready-docs: $(READY) requirements/docs.lock
	@.venv/bin/python -m pip install --quiet --require-hashes --requirement requirements/docs.lock
	@touch $@

FORCE:
