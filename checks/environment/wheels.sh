#!/bin/sh
# Builds the source distribution and, from it, two wheels: `tidemark`, for protocols of one's own, and `tidemark-milvus`,
# the protocols of Milvus with their implementation. No package is fetched: setuptools has to be there.
#
# usage: wheels.sh [FOLDER]     by default build/dist. PYTHON names another interpreter than that of .venv.
set -eu
cd "$(dirname "$0")/../.."
python=${PYTHON:-$PWD/.venv/bin/python}
out=${1:-build/dist}
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# In a copy: setuptools takes along what an earlier build has left in the tree.
mkdir "$work/source" "$work/dist"
tar -cf - --exclude __pycache__ pyproject.toml setup.py README.md LICENSE spec impl models checks bench | tar -xf - -C "$work/source"
cd "$work/source"
"$python" -c 'import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])' "$work/dist" >/dev/null
tar -xzf "$work"/dist/*.tar.gz -C "$work"
rm -rf "$work/source"
mv "$work"/tidemark-* "$work/own"
cp -r "$work/own" "$work/milvus"

cd "$work/own"
rm -rf impl bench models/protocols
find spec -mindepth 1 -maxdepth 1 -type d ! -name language ! -name library -exec rm -r {} +

cd "$work/milvus"
rm -rf checks spec/language spec/library spec/*.*
find models -mindepth 1 -maxdepth 1 ! -name protocols -exec rm -r {} +
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
cat >pyproject.toml <<EOF
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "tidemark-milvus"
version = "$version"
description = "The protocols of Milvus and their implementation, for Tidemark."
requires-python = ">=3.11"
license = "Apache-2.0"
license-files = ["LICENSE"]
dependencies = ["tidemark[conform,evidence,impl]==$version"]

[tool.setuptools.package-data]
"*" = ["*.toml", "*/*.toml", "*.lock"]
EOF

for part in own milvus; do
    "$python" -m pip wheel --quiet --no-index --no-deps --no-build-isolation --wheel-dir "$work/dist" "$work/$part"
done
ls -l "$work/dist" | awk 'NR > 1 { print $5, $9 }'
mv "$work"/dist/* "$out"
