r"""The fields of one Milvus log line: ``[key=value]`` groups, quoted where they have to be.

Source of the format: the zap text encoder of Milvus. A name or value is quoted if it holds a blank or one of
``\ " [ ] =``, and then escaped as in JSON; times and durations are written raw although they hold blanks.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from functools import lru_cache

from tidemark.checks.evidence.table.schema import clamp, hybrid

_GROUP = re.compile(rb'\[(?:"((?:[^"\\]|\\.)*)"|([^\]="]*))=(?:"((?:[^"\\]|\\.)*)"|([^\]]*))\]')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_NUMBER = re.compile(rb"-?\d+\Z")

Fields = dict[bytes, bytes]


def fields(rest: bytes) -> Fields:
    """Name -> value as it is written, without its quotes; of a name that comes twice the first value."""
    groups = _GROUP.findall(rest)
    groups.reverse()  # the last one that is put in stays
    return {quoted_name or name: quoted or value for quoted_name, name, quoted, value in groups}


def unescape(value: bytes) -> str:
    """A quoted value as text. Bytes that are no UTF-8 become the replacement character."""
    text = value.decode("utf-8", "replace")
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(found: re.Match[str]) -> str:
    code, plain = found.groups()
    return chr(int(code, 16)) if code else _PLAIN.get(plain, plain)


def integer(value: bytes | None) -> int | None:
    """A whole number, at most the largest that a column holds; None if it is none."""
    if value is None or not (value.isdigit() or _NUMBER.match(value)):
        return None
    return clamp(int(value))


def timestamp(value: bytes | None) -> int | None:
    """A hybrid timestamp, from a number or from a time (whose counter is not known and given as 0)."""
    if value is None:
        return None
    number = integer(value)
    if number is not None:
        return number
    at = milliseconds(value)
    return None if at is None else hybrid(at)


def milliseconds(value: bytes) -> int | None:
    """Unix milliseconds of ``2006/01/02 15:04:05.000 -07:00``; None if it is no such time, 0 before 1970."""
    if len(value) < 23 or value[4:5] != b"/":
        return None
    minute = _minute(value[:17], value[23:].strip())
    if minute is None:
        return None
    try:
        return max(0, minute + int(float(value[17:23]) * 1000 + 0.5))
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def _minute(value: bytes, zone: bytes) -> int | None:
    """Unix milliseconds of a minute: lines of one minute follow each other."""
    if value.startswith(b"0001"):
        return -(1 << 40)
    text = value.decode("ascii", "replace") + "00 " + (zone.decode("ascii", "replace") or "+00:00")
    try:
        return int(datetime.strptime(text, "%Y/%m/%d %H:%M:%S %z").timestamp()) * 1000
    except ValueError:
        return None


def listed(value: bytes | None) -> list[str]:
    """The items of ``[a,b]`` or ``[a b]``."""
    if value is None:
        return []
    text = unescape(value).strip("[] ")
    return [part for part in re.split(r"[ ,]+", text) if part]


def parsed(value: bytes | None) -> object:
    """A quoted JSON value; None if it is none."""
    if value is None:
        return None
    try:
        loaded: object = json.loads(unescape(value))
    except ValueError:
        return None
    return loaded
