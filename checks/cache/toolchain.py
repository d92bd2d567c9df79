"""Versions of Python and of the libraries, by the names under which they are imported."""

import platform
import re
import sys
from functools import cache
from importlib import metadata

_EXTRA = re.compile(r";.*\bextra\s*==")
_OWN_NAME = re.compile(r"^Name: *(\S+)", re.MULTILINE)
_TOP = re.compile(r"^[^/.,\n]+", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def python() -> dict[str, str]:
    """The interpreter and the kind of machine: what compiled code and numbers may depend on."""
    return {
        "python": sys.version,
        "implementation": sys.implementation.name,
        "asserts": str(sys.flags.optimize == 0),
        "system": platform.system(),
        "machine": platform.machine(),
        "byteorder": sys.byteorder,
    }


@cache
def distributions_of(module: str) -> tuple[str, ...]:
    """The installed distributions that provide a top-level module, and all that these require."""
    found: set[str] = set()
    pending = list(_providers().get(module, ()))
    while pending:
        name = re.sub(r"[-_.]+", "-", pending.pop()).lower()
        if name not in found and version_of(name):
            found.add(name)
            pending += _required(name)
    return tuple(sorted(found))


@cache
def version_of(distribution: str) -> str:
    """The installed version; empty if it is not installed. Looked up once: it is that of what is loaded."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


@cache
def _providers() -> dict[str, list[str]]:
    """As ``metadata.packages_distributions``, which makes a path of each file and parses all metadata."""
    found: dict[str, list[str]] = {}
    for one in metadata.distributions():
        name = _OWN_NAME.findall(one.read_text("METADATA") or "")
        top = (one.read_text("top_level.txt") or "").split() or _TOP.findall(one.read_text("RECORD") or "")
        for module in dict.fromkeys(top) if name else ():
            found.setdefault(module, []).append(name[0])
    return found


@cache
def _required(distribution: str) -> tuple[str, ...]:
    """Names of what a distribution requires, without its options; what is not installed is dropped later."""
    requires = metadata.distribution(distribution).requires or []
    chosen = [text for text in requires if not _EXTRA.search(text)]
    return tuple(match.group() for text in chosen if (match := _NAME.match(text)))
