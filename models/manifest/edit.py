"""Changing the text of a manifest: one key of one table, with all else as it was, comments included.

Each function compares what the new text says with what it should say, so that a form of TOML that is not
understood here is an error and never a wrong file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tidemark.models.manifest.errors import ManifestError

_HEADER = re.compile(r"^\[\[?([\w.-]+)\]\]?\s*(?:#.*)?$")
_COUNTS = re.compile(r"^counts\s*=\s*\{[^}]*\}(.*)$")


def with_counts(text: str, *, section: str, name: str, counts: Mapping[str, int], file: str) -> str:
    """The text with these counts in the entry ``name`` of ``[[section]]``. Raises ManifestError."""
    lines = text.splitlines()
    place, begin, end = _entry(lines, section=section, name=name, file=file)
    line = f"counts = {{ {', '.join(f'{key} = {value}' for key, value in counts.items())} }}"
    there = [at for at in range(begin + 1, end) if _COUNTS.match(lines[at])]
    if there:
        tail = _COUNTS.match(lines[there[0]])
        lines[there[0]] = line + (tail[1] if tail else "")
    else:
        written = [at for at in range(begin, end) if lines[at].strip() and not lines[at].startswith("#")]
        lines.insert(written[-1] + 1, line)
    wanted = tomllib.loads(text)
    wanted[section][place]["counts"] = dict(counts)
    return _compared("\n".join(lines) + "\n", wanted, file=file, remedy=f"write into {name!r}:  {line}")


def has_entry(text: str, *, section: str, name: str) -> bool:
    """Does this file write the entry ``name`` of ``[[section]]``?"""
    return any(entry.get("name") == name for entry in tomllib.loads(text).get(section, []))


def with_properties(text: str, properties: Mapping[str, Sequence[str]], *, file: str) -> str:
    """The text with these properties, by kind, in ``[properties]``. Lists that are right are not touched.

    Raises ManifestError.
    """
    wanted = tomllib.loads(text)
    now: dict[str, Any] = wanted.get("properties", {})
    lines = text.splitlines()
    if "properties" not in wanted:
        first = next((at for at, line in enumerate(lines) if _HEADER.match(line)), len(lines))
        lines[first:first] = ["[properties]", ""]
    for kind in dict.fromkeys([*now, *properties]):
        ids = list(properties.get(kind, ()))
        if ids != list(now.get(kind, ())):
            _replace_list(lines, kind, ids)
    wanted["properties"] = {kind: list(ids) for kind, ids in properties.items() if ids}
    remedy = "write the lists of [properties] by hand"
    return _compared("\n".join(lines) + "\n", wanted, file=file, remedy=remedy)


def with_pins_entry(text: str, *, name: str) -> str:
    """The text with an entry at its end that compares the pins."""
    entry = (
        "# Each claim and each step says what it said when it was reviewed.\n"
        f'[[pins]]\nname = "{name}-pins"\nexpect = {{ every = "holds" }}\n'
    )
    return f"{text.rstrip()}\n\n{entry}"


def _entry(lines: Sequence[str], *, section: str, name: str, file: str) -> tuple[int, int, int]:
    """The number of an entry among those of its section, its first line and the one after its last."""
    place = -1
    for header, begin, end in _tables(lines):
        if header != section:
            continue
        place += 1
        try:
            found = tomllib.loads("\n".join(lines[begin + 1 : end])).get("name")
        except tomllib.TOMLDecodeError:
            continue
        if found == name:
            return place, begin, end
    raise ManifestError(
        f"the entry {name!r} of [[{section}]] is not understood", file=file, remedy="write its counts by hand"
    )


def _tables(lines: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Name, first line and end of each table."""
    heads = [(found[1], at) for at, line in enumerate(lines) if (found := _HEADER.match(line))]
    ends = [at for _, at in heads[1:]] + [len(lines)]
    for (name, begin), end in zip(heads, ends, strict=True):
        yield name, begin, end


def _replace_list(lines: list[str], kind: str, ids: Sequence[str]) -> None:
    """The list ``kind`` of ``[properties]`` with these ids; without ids, the list is removed."""
    begin, end = next((begin, end) for name, begin, end in _tables(lines) if name == "properties")
    first = next((at for at in range(begin + 1, end) if re.match(rf"{kind}\s*=", lines[at])), None)
    if first is None:
        last = max(at for at in range(begin, end) if lines[at].strip())
        first, after = last + 1, last + 1
    else:
        after = next(at for at in range(first, end) if "]" in lines[at].partition("#")[0]) + 1
    lines[first:after] = _list(kind, ids)


def _list(kind: str, ids: Sequence[str]) -> list[str]:
    if not ids:
        return []
    quoted = [f'"{one}"' for one in ids]
    line = f"{kind} = [{', '.join(quoted)}]"
    return [line] if len(line) <= 110 else [f"{kind} = [", *(f"  {one}," for one in quoted), "]"]


def _compared(text: str, wanted: Mapping[str, Any], *, file: str, remedy: str) -> str:
    """The text, if it says what is wanted and nothing else. Raises ManifestError."""
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        said = {}
    if said != dict(wanted):
        raise ManifestError("its form is not understood, so that it is not changed", file=file, remedy=remedy)
    return text
