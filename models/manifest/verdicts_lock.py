"""The lock of verdicts beside a manifest: what each entry counted, and what it did not exercise.

A line for an entry: its section and name, its counts, and behind a bar the ids of what is not exercised::

    instance retries-tiny distinct=118 generated=249 depth=11
    interleave ddl-impl-dummy executions=8 blocked=0 steps=122 | vacuity.action.append

A manifest may state counts itself: numbers that are known from elsewhere. They must not contradict the lock.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidemark.models.manifest.errors import ManifestError

FORM = "tidemark verdicts 1"
"""The first words of a lock: the version of its form."""

_LINE = re.compile(r"(\w+) (\S+)((?: \w+=\d+)*)(?: \| ([^ ,]+(?:, [^ ,]+)*))?")

Place = tuple[str, str]
"""Section and name of an entry."""


@dataclass(frozen=True)
class Locked:
    """What the lock says of one entry.

    Attributes:
        counts: by name.
        vacuous: ids of vacuity verdicts that are refuted, compared exactly.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    vacuous: tuple[str, ...] = ()


def verdicts_file(manifest: Path) -> Path:
    """``verdicts.lock`` beside ``manifest.toml``; ``NAME.verdicts.lock`` beside ``NAME.toml``."""
    return manifest.with_name(
        "verdicts.lock" if manifest.stem == "manifest" else f"{manifest.stem}.verdicts.lock"
    )


def verdicts_text(name: str, lines: Iterable[tuple[Place, Locked]]) -> str:
    """The content of the lock of the manifest ``name``."""
    text = f"# {FORM}: counts, and what is not exercised. Written by  tidemark pin {name} .\n"
    for (section, entry), locked in lines:
        counts = "".join(f" {key}={count}" for key, count in locked.counts.items())
        vacuous = f" | {', '.join(locked.vacuous)}" if locked.vacuous else ""
        text += f"{section} {entry}{counts}{vacuous}\n"
    return text


def read_verdicts(path: Path) -> dict[Place, Locked]:
    """The lines of a lock; none if there is no file. Raises ManifestError for anything else than a lock."""
    try:
        head, *lines = path.read_text(encoding="utf-8").splitlines() or [""]
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise _error(path, f"cannot be read: {error}") from error
    if not head.startswith(f"# {FORM}:"):
        raise _error(path, f"begins with {head[:40]!r}, not with '# {FORM}:': it has another version's form")
    found: dict[Place, Locked] = {}
    for number, line in enumerate(lines, 2):
        match = _LINE.fullmatch(line)
        if match is None:
            raise _error(path, f"line {number} is no entry with counts: {line[:60]!r}")
        place = match[1], match[2]
        if place in found:
            raise _error(path, f"line {number} has {' '.join(place)!r} a second time")
        pairs = (pair.split("=") for pair in match[3].split())
        vacuous = tuple(match[4].split(", ")) if match[4] else ()
        found[place] = Locked({key: int(count) for key, count in pairs}, vacuous)
    return found


def with_verdicts(data: Mapping[str, Any], locked: Mapping[Place, Locked], *, file: str) -> dict[str, Any]:
    """The content of a manifest with what its lock says of its entries.

    Raises ManifestError if the lock has an entry that the manifest does not have, or contradicts it.
    """
    content, left = dict(data), dict(locked)
    for section in dict.fromkeys(section for section, _ in locked):
        entries = content.get(section, [])
        if isinstance(entries, list):
            content[section] = [
                _with(entry, left.pop((section, entry["name"])), file=file)
                if isinstance(entry, dict) and (section, entry.get("name")) in left
                else entry
                for entry in entries
            ]
    if left:
        section, name = next(iter(left))
        raise ManifestError(
            f"the lock has the {section} {name!r}, which the manifest does not have",
            file=file,
            remedy="correct the name of the entry; or remove the line of the lock",
        )
    return content


def _with(entry: Mapping[str, Any], locked: Locked, *, file: str) -> dict[str, Any]:
    stated = entry.get("counts", {})
    for key, count in stated.items() if isinstance(stated, dict) else ():
        if locked.counts.get(key, count) != count:
            raise ManifestError(
                f"{entry['name']!r}: {key} = {count} in the manifest, and {locked.counts[key]} in its lock",
                file=file,
                remedy=f"remove it from the manifest, or  tidemark pin --counts --only {entry['name']}",
            )
    found = dict(entry)
    if locked.counts:
        found["counts"] = {**stated, **locked.counts}
    if locked.vacuous:
        found["vacuous"] = {"as the lock says": list(locked.vacuous)}
    return found


def _error(path: Path, message: str) -> ManifestError:
    remedy = "restore it; or remove it, and  tidemark pin --counts  writes it"
    return ManifestError(message, file=path.name, remedy=remedy)
