#!/bin/sh
# Puts Debian's Go compiler into .venv/go, for the test of docs/tmtrace.go.
#
# usage: go.sh
#
# The packages (80 MB) are fetched and unpacked, not installed. Where they cannot be had, this says why and succeeds:
# the test is skipped, and says so.
set -eu
cd "$(dirname "$0")/../.."

say() { printf 'tidemark: %s\n' "$*" >&2; }
without() { say "no Go: $*; the test of docs/tmtrace.go will be skipped"; exit 0; }

[ -x .venv/go/bin/go ] && exit 0
command -v go >/dev/null 2>&1 && exit 0
[ -x .venv/bin/python ] || without "there is no .venv yet, run  make doctor  first"
for tool in apt-get apt-cache dpkg-deb mktemp; do
    command -v "$tool" >/dev/null 2>&1 || without "this machine has no $tool"
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
version() { apt-cache show golang-go 2>/dev/null | sed -n 's/.*golang-\([0-9.]*\)-go.*/\1/p' | head -n 1; }
fetch() { (cd "$folder" && apt-get -qq download "golang-$(version)-go" "golang-$(version)-src") >"$folder/log" 2>&1; }
if ! fetch; then
    [ "$(id -u)" = 0 ] && apt-get -qq update >>"$folder/log" 2>&1 || true
    fetch || without "apt-get cannot download golang-go: $(tail -n 1 "$folder/log")"
fi
for package in "$folder"/*.deb; do dpkg-deb -x "$package" "$folder/package"; done
"$folder"/package/usr/lib/go-*/bin/go version >/dev/null || without "the program of the package does not start"
rm -rf .venv/go .venv/go-packages
mv "$folder/package" .venv/go-packages
(cd .venv && ln -s go-packages/usr/lib/go-* go)
say "Go is ready: $(.venv/go/bin/go version)"
