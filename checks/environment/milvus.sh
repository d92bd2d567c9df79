#!/bin/sh
# Puts a real Milvus server and its clients into .venv/milvus, for `tidemark observe` and the tests that want one.
#
# usage: milvus.sh [VERSION]     default 2.3.5; every version with a file requirements/milvus-VERSION.lock
#
# The clients get an environment of their own: their pins do not fit those of the suite. The server is unpacked, not
# installed: no service is started. Where it cannot be had, this says why and succeeds: the tests in question are
# skipped, and say so.
set -eu
cd "$(dirname "$0")/../.."
version=${1:-2.3.5}
place=.venv/milvus
unset PYTHONHOME PYTHONPATH PIP_USER PIP_TARGET PIP_PREFIX PIP_REQUIRE_VIRTUALENV || true
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

say() { printf 'tidemark: %s\n' "$*" >&2; }
without() { say "no Milvus $version: $*; what needs a real server will be skipped"; exit 0; }

lock=requirements/milvus-$version.lock
if [ ! -f "$lock" ]; then
    say "no version $version is pinned; there are: $(ls requirements/milvus-*.lock | sed 's/.*milvus-\(.*\)\.lock/\1/' | tr '\n' ' ')"
    exit 5
fi
[ "$(uname -s) $(uname -m)" = "Linux x86_64" ] || without "the package is for Linux on x86_64, this is $(uname -s) on $(uname -m)"
[ -x .venv/bin/python ] || without "there is no .venv yet, run  make doctor  first"

# grpcio as the client wants it has files for Python up to 3.12.
fits() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 13))' 2>/dev/null; }
python=
for candidate in .venv/bin/python python3.11 python3.12; do
    command -v "$candidate" >/dev/null 2>&1 && fits "$candidate" && { python=$candidate; break; }
done
[ -n "$python" ] || without "its client needs Python 3.11 or 3.12, and neither is on the PATH"

mkdir -p "$place"
log=$place/log
# The stamps are written last and hold the lock: what was cut off, or pinned otherwise, is built anew.
if [ ! -e "$place/clients/.ready" ] || ! cmp -s requirements/milvus.lock "$place/clients/.ready"; then
    rm -rf "$place/clients"
    "$python" -m venv "$place/clients" >"$log" 2>&1 || without "no environment can be made: $(tail -n 1 "$log")"
    "$place/clients/bin/python" -m pip install --quiet --require-hashes --only-binary :all: \
        --requirement requirements/milvus.lock >"$log" 2>&1 ||
        without "its clients cannot be had: $(grep -i error "$log" | tail -n 1)"
    cp requirements/milvus.lock "$place/clients/.ready"
fi
if [ ! -e "$place/$version/.ready" ] || ! cmp -s "$lock" "$place/$version/.ready"; then
    rm -rf "$place/$version" "$place/wheel"
    say "fetching Milvus $version (60 to 100 MB)"
    "$place/clients/bin/python" -m pip install --quiet --require-hashes --no-deps --no-compile --target "$place/wheel" \
        --requirement "$lock" >"$log" 2>&1 ||
        without "the package cannot be had: $(grep -i error "$log" | tail -n 1)"
    "$place/clients/bin/python" checks/observe/inside/unpack.py "$place/wheel/milvus/data" "$place/$version" ||
        without "the package cannot be unpacked"
    rm -rf "$place/wheel"
    cp "$lock" "$place/$version/.ready"
fi
LD_LIBRARY_PATH=$place/$version/bin "$place/$version/bin/milvus" >"$log" 2>&1 ||
    grep -qi usage "$log" || without "its program does not start: $(head -n 1 "$log")"
say "Milvus $version is ready in $place/$version"
