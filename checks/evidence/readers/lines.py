"""Evidence of one JSON object a line: the store's history, the broker, clients, traces."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from tidemark.checks.evidence.readers.broker import broker_row
from tidemark.checks.evidence.readers.client import op_row
from tidemark.checks.evidence.readers.client_columns import op_batch
from tidemark.checks.evidence.readers.etcd import etcd_row
from tidemark.checks.evidence.readers.log import Lines
from tidemark.checks.evidence.readers.trace import trace_row
from tidemark.checks.evidence.table.schema import Row

_HEAD_BYTES = 400

Reader = Callable[[str, int, Mapping[str, Any], str], Row]

READERS: dict[str, Reader] = {
    "etcd": lambda source, _line, entry, _text: etcd_row(source, entry),
    "broker": lambda source, _line, entry, _text: broker_row(source, entry),
    "op": op_row,
    "trace": lambda source, line, entry, _text: trace_row(source, line, entry),
}
"""Value of ``kind`` -> what makes a row of such a line. A step of a trace may leave ``kind`` out."""


def kind_of(entry: object) -> str | None:
    """Which kind of evidence an object is; None if it is none."""
    if not isinstance(entry, dict):
        return None
    kind = entry.get("kind")
    if isinstance(kind, str) and kind in READERS:
        return kind
    return "trace" if kind is None and {"n", "s"} <= entry.keys() else None


class JsonReader:
    """Reads one file, a block of whole lines at a time."""

    def __init__(self, source: str, *, first_line: int = 1) -> None:
        self.source = source
        self.counts = Lines()
        self.problems: list[str] = []
        """What is wrong with the first damaged lines."""
        self._line = first_line

    def batch(self, data: bytes) -> pa.RecordBatch | None:
        """The events of some whole lines at once; None if they have to be read one by one (``block``)."""
        if b'"op"' not in data[:_HEAD_BYTES]:
            return None
        made = op_batch(self.source, self._line, data)
        if made is not None:
            self.counts.lines += made.num_rows
            self.counts.entries += made.num_rows
            self._line += made.num_rows
        return made

    def block(self, data: bytes) -> Iterator[Row]:
        """The events of some whole lines."""
        for raw in data.split(b"\n"):
            row = self._read(raw) if raw and not raw.isspace() else None
            if row is not None:
                yield row
            self._line += 1

    def end(self) -> Iterator[Row]:
        """Nothing is left open."""
        return iter(())

    def _read(self, raw: bytes) -> Row | None:
        counts = self.counts
        counts.lines += 1
        try:
            text = raw.decode()
            entry = json.loads(text)
            row = _reader(entry)(self.source, self._line, entry, text)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            counts.damage(self._line)
            if len(self.problems) < 3:
                self.problems.append(f"line {self._line}: {_short(error)}")
            return None
        counts.entries += 1
        return row


def _reader(entry: object) -> Reader:
    kind = kind_of(entry)
    if kind is None:
        raise ValueError("no known kind of evidence")
    return READERS[kind]


def _short(error: Exception) -> str:
    text = f"{type(error).__name__} {error}" if isinstance(error, KeyError) else str(error)
    return text.split("\n")[0][:160]
