"""The lock of verdicts beside a manifest: what each entry counted, and what it did not exercise.

A line for an entry: its section and name, its counts, behind a plus sign the witnesses that a program
reaches, and behind a bar what is not exercised: ids of vacuity verdicts, and the witnesses that an instance
does not reach::

    instance retries-tiny distinct=118 generated=249 depth=11 | retries.a_second_try
    interleave ddl-impl-dummy executions=8 blocked=0 steps=122 + ddl.a_task_appends | vacuity.action.append

A manifest may state counts itself: numbers that are known from elsewhere. They must not contradict the lock.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidemark.models.manifest.errors import ManifestError
from tidemark.models.manifest.pins import lock_file, locked_lines

FORM = "tidemark verdicts 1"
"""The first words of a lock: the version of its form."""

_IDS = r"([^ ,]+(?:, [^ ,]+)*)"
_LINE = re.compile(rf"(\w+) (\S+)((?: \w+=\d+)*)(?: \+ {_IDS})?(?: \| {_IDS})?")

LOCKED = "as the lock says"
"""The reason for what the lock lists."""

VACUITY = "vacuity."
"""How the ids of vacuity verdicts begin, other than those of witnesses."""

Place = tuple[str, str]
"""Section and name of an entry."""


@dataclass(frozen=True)
class Locked:
    """What the lock says of one entry. ``vacuous``: ids of vacuity verdicts that are refuted, compared
    exactly; of an instance also the witnesses that it does not reach. ``reached``: witnesses that a program
    reaches, beside those that its entry names.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    vacuous: tuple[str, ...] = ()
    reached: tuple[str, ...] = ()


def verdicts_file(manifest: Path) -> Path:
    """``verdicts.lock`` beside ``manifest.toml``; ``NAME.verdicts.lock`` beside ``NAME.toml``."""
    return lock_file(manifest, "verdicts.lock")


def verdicts_text(name: str, lines: Iterable[tuple[Place, Locked]]) -> str:
    """The content of the lock of the manifest ``name``."""
    text = f"# {FORM}: counts, and what is not exercised. Written by  tidemark pin {name} .\n"
    for (section, entry), locked in lines:
        counts = "".join(f" {key}={count}" for key, count in locked.counts.items())
        reached = f" + {', '.join(locked.reached)}" if locked.reached else ""
        vacuous = f" | {', '.join(locked.vacuous)}" if locked.vacuous else ""
        text += f"{section} {entry}{counts}{reached}{vacuous}\n"
    return text


def read_verdicts(path: Path) -> dict[Place, Locked]:
    """The lines of a lock; none if there is no file. Raises ManifestError for anything else than a lock."""
    found: dict[Place, Locked] = {}
    for number, line in enumerate(locked_lines(path, FORM, remedy=_REMEDY) or (), 2):
        match = _LINE.fullmatch(line)
        if match is None:
            raise _error(path, f"line {number} is no entry with counts: {line[:60]!r}")
        place = match[1], match[2]
        if place in found:
            raise _error(path, f"line {number} has {' '.join(place)!r} a second time")
        pairs = (pair.split("=") for pair in match[3].split())
        reached, vacuous = (tuple(ids.split(", ")) if ids else () for ids in (match[4], match[5]))
        found[place] = Locked({key: int(count) for key, count in pairs}, vacuous, reached)
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
    coverage = [one for one in locked.vacuous if one.startswith(VACUITY)]
    if coverage:
        found["vacuous"] = {LOCKED: coverage}
    unreached = [one for one in locked.vacuous if one not in coverage]
    if unreached:
        skip = found.get("skip", [])
        found["skip"] = [*(skip if isinstance(skip, list) else [skip]), {LOCKED: unreached}]
    if locked.reached:
        found["reached"] = list(locked.reached)
    return found


_REMEDY = "restore it; or remove it, and  tidemark pin --counts  writes it"


def _error(path: Path, message: str) -> ManifestError:
    return ManifestError(message, file=path.name, remedy=_REMEDY)
