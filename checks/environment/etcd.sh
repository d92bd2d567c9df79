#!/bin/sh
# Puts Debian's etcd server into .venv/bin, for the tests and measurements that want a real one.
#
# usage: etcd.sh
#
# The package is fetched and unpacked, not installed: no root is needed where apt knows the packages, and no service
# is started. Where it cannot be had, this says why and succeeds: the tests in question are skipped, and say so.
set -eu
cd "$(dirname "$0")/../.."

say() { printf 'tidemark: %s\n' "$*" >&2; }
without() { say "no etcd: $*; the tests with a real one will be skipped"; exit 0; }

[ -x .venv/bin/etcd ] && exit 0
command -v etcd >/dev/null 2>&1 && exit 0
[ -x .venv/bin/python ] || without "there is no .venv yet, run  make doctor  first"
for tool in apt-get dpkg-deb mktemp; do
    command -v "$tool" >/dev/null 2>&1 || without "this machine has no $tool"
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
fetch() { (cd "$folder" && apt-get -qq download etcd-server) >"$folder/log" 2>&1; }
if ! fetch; then
    [ "$(id -u)" = 0 ] && apt-get -qq update >>"$folder/log" 2>&1 || true
    fetch || without "apt-get cannot download etcd-server: $(tail -n 1 "$folder/log")"
fi
dpkg-deb -x "$folder"/etcd-server_*.deb "$folder/package"
"$folder/package/usr/bin/etcd" --version >/dev/null || without "the program of the package does not start"
mv "$folder/package/usr/bin/etcd" .venv/bin/etcd
say "etcd is ready: $(.venv/bin/etcd --version | head -n 1)"
