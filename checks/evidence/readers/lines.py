"""Evidence of one JSON object a line: the store's history, the broker, clients, traces.

Traces: steps that a program writes on purpose. The format is described in ``docs/traces.md``.

A file begins with a line that names the protocol; every other line is one step, numbered per node, so that
a loss shows.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from tidemark.checks.evidence.readers.broker import broker_row
from tidemark.checks.evidence.readers.client import op_batch, op_row
from tidemark.checks.evidence.readers.etcd import dumped, etcd_row
from tidemark.checks.evidence.readers.log import Lines
from tidemark.checks.evidence.table.schema import Row, clamp


class Begin(BaseModel):
    """First line: which protocol the steps belong to, and what is fixed."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    kind: Literal["trace"] = "trace"
    v: Literal[1] = 1
    protocol: str = Field(min_length=1)
    """Name of the protocol (``timetick``), or a reference ``module:Class``."""
    constants: dict[str, Any] = Field(default_factory=dict)
    bounds: dict[str, int | tuple[int, int]] = Field(default_factory=dict)
    """Sorts and numbers that the steps do not name in full; the others come from the steps."""
    ranks: tuple[str, ...] = ()
    """Numbers (``Ts``) of which only the order matters: they are replaced by their rank."""
    hidden: tuple[str, ...] = ()
    """Actions that the program does not write; any of them may happen between two steps."""


class Line(BaseModel):
    """One step of one node."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    n: str = Field(min_length=1)
    """Node."""
    s: int = Field(ge=0)
    """Number of the step at its node, without gaps."""
    a: str = ""
    """Action of the specification; empty if nothing is said but what is seen (a stutter)."""
    t: int | None = None
    """Monotonic nanoseconds, for display."""
    k: str | None = None
    """Channel, for display and partition."""
    ts: int | None = None
    args: dict[str, Any] = Field(default_factory=dict)
    """Parameter -> value. A parameter that is left out is not observed."""
    see: dict[str, Any] = Field(default_factory=dict)
    """Variable, or ``variable[key]``, -> value after the step, as far as it was observed."""
    dropped: int = Field(default=0, ge=0)
    """Steps that the writer has lost before this one."""


def trace_row(source: str, line: int, entry: Mapping[str, Any]) -> Row:
    """A line as a row. Raises ValueError if it is neither a beginning nor a step."""
    if entry.get("kind") == "trace" and "protocol" in entry:
        begin = Begin.model_validate(entry)
        return Row(
            source,
            line,
            "trace.begin",
            component="trace",
            text=begin.protocol,
            value=begin.model_dump_json(exclude={"kind", "v", "protocol"}),
        )
    step = Line.model_validate({name: value for name, value in entry.items() if name != "kind"})
    if step.dropped and not step.a:
        return Row(
            source, line, "trace.dropped", component="trace", node=step.n, seq=step.s, rows=step.dropped
        )
    return Row(
        source,
        line,
        "trace.step",
        component="trace",
        node=step.n,
        channel=step.k,
        ts=None if step.ts is None else clamp(step.ts),
        seq=step.s,
        rows=step.dropped or None,
        text=step.a,
        value=json.dumps({"args": step.args, "see": step.see}, separators=(",", ":")),
    )


_HEAD_BYTES = 400
DAMAGED = (ValueError, KeyError, TypeError, AttributeError)
"""What a line that is not as it should be raises."""

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
    if is_dump(entry) or (kind is None and {"rev", "key", "value"} <= entry.keys()):
        return "etcd"
    return "trace" if kind is None and {"n", "s"} <= entry.keys() else None


def is_dump(entry: Mapping[str, Any]) -> bool:
    """Are these all keys of an etcd, in one object?"""
    return isinstance(entry.get("kvs"), list) and "kind" not in entry


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
            if raw and not raw.isspace():
                yield from self._read(raw)
            self._line += 1

    def end(self) -> Iterator[Row]:
        """Nothing is left open."""
        return iter(())

    def _read(self, raw: bytes) -> Iterator[Row]:
        self.counts.lines += 1
        try:
            text = raw.decode()
            entry = json.loads(text)
            reader = _reader(entry)
            parts = dumped(entry) if is_dump(entry) else iter((entry,))
            yield from (row for one in parts if (row := self._made(reader, one, text)))
        except DAMAGED as error:
            self._damage(error)

    def _made(self, reader: Reader, entry: Mapping[str, Any], text: str) -> Row | None:
        try:
            row = reader(self.source, self._line, entry, text)
        except DAMAGED as error:
            self._damage(error)
            return None
        self.counts.entries += 1
        return row

    def _damage(self, error: Exception) -> None:
        self.counts.damage(self._line)
        if len(self.problems) < 3:
            self.problems.append(f"line {self._line}: {_short(error)}")


def _reader(entry: object) -> Reader:
    kind = kind_of(entry)
    if kind is None:
        raise ValueError("no known kind of evidence")
    return READERS[kind]


def _short(error: Exception) -> str:
    text = f"{type(error).__name__} {error}" if isinstance(error, KeyError) else str(error)
    return text.split("\n")[0][:160]
