#!/bin/sh
# Installs Debian's Chromium, for the tests of the report in a browser.
#
# usage: browser.sh
#
# A browser needs some sixty libraries beside its own package, so that it is installed and not only unpacked; that
# takes root. Where it cannot be had, this says why and succeeds: the tests in question are skipped, and say so.
set -eu
cd "$(dirname "$0")/../.."

say() { printf 'tidemark: %s\n' "$*" >&2; }
without() { say "no browser: $*; the tests of the report in one will be skipped"; exit 0; }

for name in chromium chromium-browser google-chrome chrome; do
    command -v "$name" >/dev/null 2>&1 && exit 0
done
command -v apt-get >/dev/null 2>&1 || without "this machine has no apt-get"
[ "$(id -u)" = 0 ] || without "only root may install it:  apt-get install chromium"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
get() { apt-get -qq install --yes --no-install-recommends chromium >"$log" 2>&1; }
if ! get; then
    apt-get -qq update >>"$log" 2>&1 || true
    get || without "apt-get cannot install chromium: $(tail -n 1 "$log")"
fi
say "the browser is ready: $(chromium --version)"
