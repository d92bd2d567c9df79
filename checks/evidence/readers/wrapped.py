"""Lines that a collector has wrapped: JSON of Docker, journald, fluentd or Loki, CSV, and zap's own JSON.

Each becomes the line of Milvus that it holds. Who wrote it stands before it, as ``kubectl logs --prefix`` has
it, if the wrapping names a pod, a container, a host or a process.

What collectors put before a log line: does it name who wrote the line?

Docker compose, kubectl and stern name a container, ``grep -H`` a file, journald a unit and its process.
Times, line numbers and the names of output streams differ from line to line of one writer, and name nobody.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

_NOBODY = re.compile(
    r"\x1b\[[0-9;]*m"
    r"|\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?Z| ?[+-]\d\d:?\d\d| UTC)?"
    r"|\b[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?"
    r"|\b\d\d:\d\d:\d\d(?:[.,]\d+)?"
    r"|\b\d{10,19}\b"
    r"|\b(?:stdout|stderr) [FP]\b"
    r"|(?<![\w-])\d+[:\s]+$|[:-]\d+[:-]$"
)
"""Times, colours, output streams, and the number of a line at the end."""
_LONGEST = 160


@lru_cache(maxsize=4096)
def writer(prefix: bytes) -> str:
    """Who wrote a line that begins with this prefix; empty if the prefix does not say."""
    if prefix.lstrip().startswith((b'{"', b"{'")):
        return ""  # the names of a JSON object, not of a writer
    name = _NOBODY.sub("", prefix.decode("utf-8", "replace")).strip(" \t|:,;\"'")
    return name.strip("[]")[:_LONGEST] if any(letter.isalnum() for letter in name) else ""


def stream(source: str, who: str) -> str:
    """The lines of one writer in a file."""
    return f"{source} ({who})" if who else source


def files_of(source: str) -> list[str]:
    """The files of which this may be a stream."""
    return [source, *(source[: found.start()] for found in re.finditer(r" \(", source))]


START = re.compile(rb"\[\d{4}/\d\d/\d\d \d\d:")
"""How a line of Milvus begins."""

TEXTS = ("log", "MESSAGE", "message", "line", "Line", "content", "body", "msg")
"""Names under which collectors keep the line."""
_WRITERS = frozenset((
    "namespace", "namespace_name", "pod", "pod_name", "container", "container_name", "container_id",
    "host", "hostname", "node_name", "instance", "filename", "_HOSTNAME", "_SYSTEMD_UNIT", "_PID",
    "CONTAINER_NAME",
))  # fmt: skip
_ZAP = ("time", "level", "caller", "message")
_TIME = re.compile(r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3} [+-]\d\d:\d\d\Z")
_AGAIN = "\0"
_DEEPEST = 4
"""So many objects in each other are looked through for who writes."""


def csv_header(lines: list[bytes]) -> str:
    """The first line of a table in CSV whose second line holds one of Milvus; empty if there is no table."""
    if len(lines) < 2 or START.search(lines[0]) or not re.search(rb'(?:^|[,;])"[^"]*\[\d{4}/', lines[1]):
        return ""
    return lines[0].decode("utf-8-sig", "replace")


def unwrapped(raw: bytes, header: str = "") -> bytes:
    """The line that a wrapped line holds; any other line as it is. ``header`` names the columns of CSV."""
    if header:
        between = ";" if ";" in header else ","
        (names,) = csv.reader([header], delimiter=between)
        rows = list(csv.reader([raw.decode("utf-8", "replace")], delimiter=between))
        text = _text(dict(zip(names, rows[0], strict=False))) if rows else None
        return raw if text is None else text.encode("utf-8", "replace")
    begin = raw.find(b"{")
    if begin < 0 or START.search(raw, 0, begin):
        return raw
    try:
        text = _text(json.loads(raw[begin:], object_pairs_hook=_apart))
    except (ValueError, RecursionError):
        return raw
    return raw if text is None else raw[:begin] + text.encode("utf-8", "replace")


def _apart(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object in which a name may come twice: the second one has a mark."""
    found: dict[str, object] = {}
    for name, value in pairs:
        found[f"{name}{_AGAIN}" if name in found else name] = value
    return found


def _text(entry: object) -> str | None:
    """The line in an object, with its writer; None if there is none."""
    if not isinstance(entry, Mapping):
        return None
    if all(name in entry for name in _ZAP):
        return _of_zap(entry)
    for name in TEXTS:
        text = entry.get(name)
        if isinstance(text, list) and all(isinstance(code, int) and 0 <= code < 256 for code in text):
            text = bytes(text).decode("utf-8", "replace")  # journald's form of what it takes for binary
        if isinstance(text, str):
            inner = unwrapped(text.strip().encode("utf-8", "replace")).decode().replace("\n", "\\n")
            who = "/".join(dict.fromkeys(_writers(entry)))
            return f"[{who}] {inner}" if who else inner
    return None


def _writers(entry: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    """The values that name who wrote a line, of an object and the objects in it."""
    for name, value in entry.items():
        inner = value
        if isinstance(value, str) and value.startswith("{") and name not in TEXTS:
            with suppress(ValueError):
                inner = json.loads(value)
        if isinstance(inner, Mapping):
            if depth < _DEEPEST:
                yield from _writers(inner, depth + 1)
        elif name in _WRITERS:
            yield str(value).strip("/")


def _of_zap(entry: Mapping[str, Any]) -> str | None:
    stamp = _stamp(entry["time"])
    if stamp is None:
        return None
    head = f"[{stamp}] [{str(entry['level']).upper()}] [{entry['caller']}] [{_quoted(entry['message'])}]"
    rest = {name.rstrip(_AGAIN): value for name, value in entry.items() if name not in _ZAP}
    return head + "".join(f" [{_quoted(name)}={_quoted(value)}]" for name, value in rest.items())


def _stamp(value: object) -> str | None:
    """A time as Milvus' text has it."""
    if isinstance(value, str) and _TIME.match(value):
        return value
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else datetime.fromtimestamp(value, UTC)  # type: ignore[arg-type] # what is no number is a TypeError
    except (ValueError, TypeError, OverflowError, OSError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    zone = f"{at:%z}"
    return f"{at:%Y/%m/%d %H:%M:%S}.{at.microsecond // 1000:03d} {zone[:3]}:{zone[3:5]}"


def _quoted(value: object) -> str:
    """A name or value as zap's text encoder of Milvus writes it."""
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    if not _TIME.match(text) and any(letter <= " " or letter in '\\"[]=' for letter in text):
        return json.dumps(text, ensure_ascii=False)
    return text
