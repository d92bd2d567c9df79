#!/bin/sh
# Lays links to the rooms under the name by which they are imported, for the type checker: build/typing/tidemark.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p build/typing/tidemark
for room in spec impl models checks bench; do
    ln -sfn "$PWD/$room" "build/typing/tidemark/$room"
done
ln -sfn "$PWD/checks/package/__init__.py" build/typing/tidemark/__init__.py
