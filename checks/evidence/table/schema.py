"""The columns of the event table. They are the same for every kind of evidence, and fixed.

``docs/evidence.md`` describes them. A row is made as a tuple in this order (``Row``); rows become Arrow
batches a block at a time.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

FORMAT = 1
"""Raised when a column changes its meaning."""

LARGEST = (1 << 63) - 1
"""What represents a larger number: 2^64 - 1 marks the checkpoint of a dropped channel."""

LOGICAL_BITS = 18
"""Lower bits of a hybrid timestamp; the others are Unix milliseconds."""


class Row(NamedTuple):
    """One event. ``None`` where the evidence does not say."""

    source: str
    """The file, relative to the folder that was given."""
    line: int
    """Line number from 1; store revision; message id: whatever numbers the events of this source."""
    kind: str
    """What happened, for example ``checkpoint.store``; see ``tidemark.checks.evidence.table.kinds``."""
    component: str | None = None
    """Who says so: ``dir/file.go`` of a log line, ``etcd``, ``broker``, ``client``, ``trace``."""
    node: str | None = None
    channel: str | None = None
    key: str | None = None
    segment: int | None = None
    ts: int | None = None
    """A hybrid timestamp: milliseconds << 18, plus a counter. Times of log lines have the counter 0."""
    ts2: int | None = None
    """A second one: the end of a range, of a window, the guarantee of a read."""
    seq: int | None = None
    rows: int | None = None
    msg_id: int | None = None
    level: str | None = None
    """Level of a log line, consistency level of a client's read."""
    text: str | None = None
    value: str | None = None
    """The rest, as JSON."""
    at: int | None = None
    """Wall clock of the writer in Unix milliseconds: for display, never for order between nodes."""


_TYPES = {
    "line": pa.int64(),
    "segment": pa.int64(),
    "ts": pa.int64(),
    "ts2": pa.int64(),
    "seq": pa.int64(),
    "rows": pa.int64(),
    "msg_id": pa.int64(),
    "at": pa.int64(),
}

SCHEMA = pa.schema(
    [
        pa.field(name, _TYPES.get(name, pa.string()), nullable=name not in ("source", "line", "kind"))
        for name in Row._fields
    ]
)
"""The Arrow schema of the table."""

SPARK_SCHEMA = ", ".join(
    f"{name} {'long' if name in _TYPES else 'string'}{'' if field.nullable else ' NOT NULL'}"
    for name, field in zip(Row._fields, SCHEMA, strict=True)
)
"""The same for Spark."""

COLUMNS = {name: place for place, name in enumerate(Row._fields)}


def batch(rows: Sequence[Row]) -> pa.RecordBatch:
    """Rows as one Arrow batch."""
    if not rows:
        return pa.RecordBatch.from_pylist([], schema=SCHEMA)
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def table(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Batches as one table; empty if there are none."""
    return pa.Table.from_batches(list(batches), schema=SCHEMA)


def rows_of(events: pa.Table) -> list[Row]:
    """The rows of a (small) table."""
    columns: list[list[Any]] = [column.to_pylist() for column in events.columns]
    return [Row(*values) for values in zip(*columns, strict=True)]


def hybrid(milliseconds: int) -> int:
    """The least hybrid timestamp of a Unix millisecond."""
    return milliseconds << LOGICAL_BITS


def physical(ts: int) -> int:
    """Unix milliseconds of a hybrid timestamp."""
    return ts >> LOGICAL_BITS


def clamp(number: int) -> int:
    """An unsigned number as it fits into a column."""
    return min(number, LARGEST)
