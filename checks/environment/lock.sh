#!/bin/sh
# Pins every dependency, with the hashes of all its files, for all supported Pythons.
#
# Run with the oldest supported Python, so that back-ports for it are in the lock. No index, host or path of the
# machine that runs it gets into the files: the default index is asked, whatever the local configuration says.
set -eu
cd "$(dirname "$0")/../.."
python=${PYTHON:-python3.11}
tools=build/lock-tools
[ -x "$tools/bin/pip-compile" ] || { "$python" -m venv "$tools" && "$tools/bin/pip" install --quiet pip-tools; }

unset PIP_FIND_LINKS PIP_INDEX_URL PIP_EXTRA_INDEX_URL
export PIP_CONFIG_FILE=/dev/null CUSTOM_COMPILE_COMMAND="make lock"
compile() {
    "$tools/bin/pip-compile" --quiet --generate-hashes --allow-unsafe --strip-extras --no-emit-options \
        --no-emit-index-url --no-emit-trusted-host --no-emit-find-links "$@"
}
compile --output-file requirements/build.lock requirements/build.in
compile --output-file requirements/run.lock --extra all --extra test pyproject.toml
# An extra that names other extras makes the project require itself, by its place on this machine.
awk '/^tidemark/ { own = 1; next } own && /^ / { next }
/^# (WARNING: pip install will|Consider using a hashable)/ { next } { own = 0; print }' requirements/run.lock > build/run.lock
mv build/run.lock requirements/run.lock
for name in check docs; do
    compile --output-file "requirements/$name.lock" "requirements/$name.in"
done
for name in requirements/milvus*.in; do
    compile --output-file "${name%.in}.lock" "$name"
done
