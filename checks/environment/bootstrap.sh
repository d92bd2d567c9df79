#!/bin/sh
# Builds .venv from the pinned, hashed requirements. Needs Python 3.11 or newer, and nothing else.
#
# usage: bootstrap.sh run|check     `check` adds the linter and the type checker.
#
# A build that was cut off is repaired by the next run: .venv/.building stands from the first step to the last, and
# an environment in which it is found is thrown away. The stamp is written last and holds the directory, because an
# environment that was moved does not work.
set -eu
cd "$(dirname "$0")/../.."
what=${1:-run}
unset PYTHONHOME PYTHONPATH PIP_USER PIP_TARGET PIP_PREFIX PIP_REQUIRE_VIRTUALENV || true
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

say() { printf 'tidemark: %s\n' "$*" >&2; }

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
    seen=
    for candidate in ${PYTHON:-python3.11 python3.12 python3.13 python3.14 python3 python}; do
        command -v "$candidate" >/dev/null 2>&1 || continue
        if new_enough "$candidate"; then
            command -v "$candidate"
            return
        fi
        seen="$seen $candidate is $("$candidate" -c 'import platform; print(platform.python_version())' 2>&1 | tail -n 1);"
    done
    say "needs Python 3.11 or newer;${seen:- none of ${PYTHON:-python3.11 ... python3, python} is on the PATH;}" \
        "install one, or name it: make PYTHON=/path/to/python3.11"
    return 1
}

make_environment() {
    python=$(find_python) || exit 1
    say "building .venv with $python (some minutes the first time)"
    mkdir -p .venv
    touch .venv/.building
    if "$python" -c 'import ensurepip' 2>/dev/null; then
        "$python" -m venv .venv
    elif "$python" -m pip --version >/dev/null 2>&1; then
        # Debian splits ensurepip off; its pip can fill another environment.
        "$python" -m venv --without-pip .venv
        "$python" -m pip --python .venv/bin/python install --quiet pip
    else
        say "$python can make no environment: it has neither ensurepip nor pip;" \
            "on Debian and Ubuntu: apt-get install python3-venv"
        exit 1
    fi
}

if [ -e .venv/.building ] && [ ! -e .venv/.ready ]; then
    say "an earlier build of .venv was cut off: starting afresh"
    rm -rf .venv
elif [ -d .venv ] && ! { [ -x .venv/bin/python ] && new_enough .venv/bin/python; }; then
    say "the Python of .venv is gone or older than 3.11: starting afresh"
    rm -rf .venv
elif [ -e .venv/.ready ] && [ "$(cat .venv/.ready)" != "$PWD" ]; then
    say ".venv was made in $(cat .venv/.ready): starting afresh"
    rm -rf .venv
fi
rm -f .venv/.ready
[ -x .venv/bin/python ] && .venv/bin/python -m pip --version >/dev/null 2>&1 || make_environment
touch .venv/.building

# pyspark comes as source: its build must use the pinned setuptools, so no build isolation.
pip() { .venv/bin/python -m pip install --quiet --require-hashes "$@"; }
pip --requirement requirements/build.lock
pip --no-build-isolation --use-pep517 --requirement requirements/run.lock
.venv/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
[ "$what" = check ] && pip --requirement requirements/check.lock
.venv/bin/python -m pip check --quiet || { say "the environment is not consistent: see above"; exit 1; }
# Java starts Spark in half the time with this; nothing needs it.
.venv/bin/python -m tidemark.checks.spark.classes || say "Spark starts more slowly: see above"

rm -f .venv/.building
printf '%s' "$PWD" > .venv/.ready
# Newer than the stamp that it depends on.
[ "$what" = run ] || touch .venv/.ready-check
say "environment ready"
