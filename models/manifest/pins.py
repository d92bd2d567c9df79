"""The lock of claims beside a manifest: digests of what each claim and step said when it was reviewed."""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

from tidemark.models.manifest.errors import ManifestError
from tidemark.models.manifest.strict import Strict

READING = "reading "
"""What the id of a reading begins with."""

KINDS = ("invariant", "transition_invariant", "leads_to", "reachable", "lemma")
"""Kinds of property: a line of the lock says it before the id of a property."""

FORM = "tidemark claims 1"
"""The first words of a lock: the version of its form."""


class Pin(Strict):
    """One line of the lock. ``digest``: of the tree. ``wording``: digest of the tree in the words of the
    language; of a variant, of what differs from its base; empty in the form before locks. ``id``: a
    property's or an assumption's id, ``action NAME``, ``state``, the reference of a variant, or ``reading``
    and a reference. ``adds``: kind and id of the properties that a variant declares beyond those of its base.
    """

    digest: str
    wording: str
    id: str
    kind: str = ""
    adds: tuple[tuple[str, str], ...] = ()

    @property
    def of_variant(self) -> bool:
        """Is it about a variant (``module:Class``) as a whole?"""
        return ":" in self.id and not self.of_reading

    @property
    def of_reading(self) -> bool:
        """Does it say how another protocol is read?"""
        return self.id.startswith(READING)

    @property
    def of_protocol(self) -> bool:
        """Is it about the protocol itself?"""
        return not (self.of_variant or self.of_reading)


def lock_file(manifest: Path, lock: str = "claims.lock") -> Path:
    """``claims.lock`` beside ``manifest.toml``; ``NAME.claims.lock`` beside ``NAME.toml``."""
    return manifest.with_name(lock if manifest.stem == "manifest" else f"{manifest.stem}.{lock}")


def locked_lines(path: Path, form: str, *, remedy: str) -> list[str] | None:
    """The lines of a lock below the first, which says its form; None if there is no file.

    Raises ManifestError for anything else than a lock.
    """
    try:
        head, *lines = path.read_text(encoding="utf-8").splitlines() or [""]
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ManifestError(f"cannot be read: {error}", file=path.name, remedy=remedy) from error
    if not head.startswith(f"# {form}:"):
        problem = f"begins with {head[:40]!r}, not with '# {form}:': it has another version's form"
        raise ManifestError(problem, file=path.name, remedy=remedy)
    return lines


def lock_text(name: str, pins: Iterable[Pin]) -> str:
    """The content of the lock of the protocol ``name``."""
    head = f"# {FORM}: digest of the tree, digest of its text, what. Written by  tidemark pin {name} .\n"
    return head + "".join(f"{pin.digest} {pin.wording} {_shown(pin)}\n" for pin in pins)


def _shown(pin: Pin) -> str:
    more = ", ".join(map(" ".join, pin.adds))
    return f"{pin.kind} {pin.id}".strip() + (f" + {more}" if more else "")


def read_lock(path: Path) -> tuple[Pin, ...]:
    """The pins of a lock; none if there is no file. Raises ManifestError for anything else than a lock."""
    lines = locked_lines(path, FORM, remedy=_REMEDY)
    if lines is None:
        return _read_old(path.with_name(path.name.replace("claims.lock", "pins.toml")))
    pins: dict[str, Pin] = {}
    for number, line in enumerate(lines, 2):
        match = _LINE.fullmatch(line)
        if match is None:
            raise _error(path, f"line {number} is not two digests and an id: {line[:60]!r}")
        said, _, more = match[3].partition(" + ")
        word, _, rest = said.partition(" ")
        kind, name = (word, rest) if word in KINDS and rest else ("", said)
        adds = tuple((one.partition(" ")[0], one.partition(" ")[2]) for one in more.split(", ") if more)
        pin = Pin(digest=match[1], wording=match[2], id=name, kind=kind, adds=adds)
        if pin.id in pins:
            raise _error(path, f"line {number} pins {pin.id!r} a second time")
        pins[pin.id] = pin
    return tuple(pins.values())


def _read_old(path: Path) -> tuple[Pin, ...]:
    """The pins of a file in the form before locks, which has texts in place of their digests."""
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("pin", [])
        return tuple(Pin(digest=one["digest"], wording="", id=one["id"]) for one in entries)
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise _error(path, f"cannot be read: {error}") from error


def added_by(pins: Iterable[Pin]) -> dict[str, dict[str, list[str]]]:
    """The properties that each pinned variant declares beyond those of its base, ids by kind."""
    return {pin.id: ids_by_kind(pin.adds) for pin in pins if pin.of_variant}


def ids_by_kind(properties: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Kind and id of properties, by kind."""
    found: dict[str, list[str]] = {}
    for kind, claim in properties:
        found.setdefault(kind, []).append(claim)
    return found


def properties_of(pins: Iterable[Pin]) -> dict[str, list[str]]:
    """The ids of the pinned properties, by kind."""
    known = list(pins)
    found = {kind: [pin.id for pin in known if pin.kind == kind] for kind in KINDS}
    return {kind: ids for kind, ids in found.items() if ids}


_LINE = re.compile(r"([0-9a-f]{16}) ([0-9a-f]{16}) (\S.*\S|\S)")


_REMEDY = "restore it; or remove it, and  tidemark pin  writes the lock"


def _error(path: Path, message: str) -> ManifestError:
    return ManifestError(message, file=path.name, remedy=_REMEDY)
