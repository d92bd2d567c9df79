"""What clients saw: one operation a line, written when it is over.

Sets of keys are lists of inclusive runs ``[[lowest, highest], ...]``. Times are nanoseconds of one monotonic
clock of the machine on which all clients ran.

A block of a client history at once: the columns of all its lines, without an object a line.

What is wrong with a line is said by ``client.op_row``. Here a block is either sound, or not taken at all.
"""

from collections.abc import Mapping
from functools import reduce
from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json as arrow_json

from tidemark.checks.evidence.table.schema import LARGEST, SCHEMA, Row, clamp

_RUNS = pa.list_(pa.list_(pa.int64()))
_NUMBERS = ("v", "seq", "start", "end", "ts", "guarantee", "count")
_TEXTS = ("kind", "client", "process", "op", "collection", "level", "outcome", "error")
LINE = pa.schema(
    [(name, pa.int64()) for name in _NUMBERS]
    + [(name, pa.string()) for name in _TEXTS]
    + [("keys", _RUNS), ("seen", _RUNS)]
)
"""The fields of an operation. ``process``: the operating-system process of the client, whose session it is;
``keys``: written, deleted or asked for, of a query no runs mean every key; ``ts``: of the answer, 0 if there
is none; ``count``: what a count says, of a query how many rows the answer had.
"""


def parsed(data: bytes, schema: pa.Schema) -> pa.Table:
    """One row an object of the text, with the columns of the schema. Raises pyarrow.ArrowInvalid."""
    # One block for all of it: where blocks meet, a long line is an error.
    reading = arrow_json.ReadOptions(block_size=len(data) + 1)
    parsing = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    found = arrow_json.read_json(BytesIO(data), read_options=reading, parse_options=parsing)
    return found.select(schema.names)


def op_batch(source: str, first_line: int, data: bytes) -> pa.RecordBatch | None:
    """The events of some whole lines; None if not every line is a sound operation."""
    if not (data.startswith(b"{") and data.endswith(b"}")):
        return None
    count = data.count(b"}\n{") + 1
    if count != data.count(b"\n") + 1:
        return None
    try:
        lines = data.decode().split("\n")
        table = parsed(data, LINE)
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return None
    if table.num_rows != count or not _sound(table):
        return None
    known = pc.is_in(table.column("op"), value_set=pa.array(KINDS))
    kind = pc.binary_join_element_wise("op", pc.if_else(known, table.column("op"), "other"), ".")
    columns = {
        "source": pa.repeat(source, count),
        "line": pa.array(np.arange(first_line, first_line + count)),
        "kind": kind,
        "component": pa.repeat("client", count),
        "node": table.column("process"),
        "channel": pc.fill_null(table.column("collection"), ""),
        "key": table.column("client"),
        "ts": pc.fill_null(table.column("ts"), 0),
        "ts2": table.column("guarantee"),
        "seq": table.column("seq"),
        "rows": table.column("count"),
        "level": table.column("level"),
        "text": pc.if_else(known, pa.scalar(None, pa.string()), table.column("op")),
        "value": pa.array(lines),
    }
    empty = pa.nulls(count)
    arrays = [columns.get(field.name, empty) for field in SCHEMA]
    return pa.RecordBatch.from_arrays(
        [_whole(one).cast(field.type) for one, field in zip(arrays, SCHEMA, strict=True)], schema=SCHEMA
    )


def _whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _sound(table: pa.Table) -> bool:
    """Is every line what ``client.op_row`` accepts, as it is?"""

    def column(name: str) -> pa.ChunkedArray:
        return table.column(name)

    def named(name: str) -> pa.ChunkedArray:
        return pc.greater(pc.binary_length(column(name)), 0)

    wanted = [
        pc.equal(column("kind"), "op"),
        pc.equal(pc.fill_null(column("v"), FORMAT), FORMAT),
        pc.greater_equal(column("end"), column("start")),
        pc.is_in(column("outcome"), value_set=pa.array(OUTCOMES)),
        pc.or_(pc.is_null(column("level")), pc.is_in(column("level"), value_set=pa.array(LEVELS))),
        pc.greater_equal(column("seq"), 0),
        pc.greater_equal(pc.fill_null(column("ts"), 0), 0),
        *map(named, ("client", "process", "op")),
    ]
    all_sound = reduce(pc.and_, (pc.fill_null(one, fill_value=False) for one in wanted))
    return bool(pc.all(all_sound).as_py()) and all(_sound_runs(column(name)) for name in ("keys", "seen"))


def _sound_runs(column: pa.ChunkedArray) -> bool:
    lists = _whole(column).flatten()
    if lists.null_count or not pc.all(pc.equal(pc.list_value_length(lists), 2)).as_py():
        return not len(lists)
    keys = lists.flatten()
    if keys.null_count:
        return False
    pairs = keys.to_numpy().reshape(-1, 2)
    return bool((pairs[:, 0] <= pairs[:, 1]).all())


FORMAT = 1

KINDS = ("insert", "upsert", "delete", "query", "count", "flush")
"""Operations that have a kind of event of their own."""
LEVELS = ("Strong", "Session", "Bounded", "Eventually", "Customized")
OUTCOMES = ("ok", "fail", "unknown")


def op_row(source: str, line: int, entry: Mapping[str, Any], text: str) -> Row:
    """A line as a row. Raises ValueError, KeyError or TypeError if it is no operation.

    ``op_batch`` accepts the same, many lines at once; a test compares the two.
    """
    start, end, outcome = entry["start"], entry["end"], entry["outcome"]
    op, level, count, guarantee = entry["op"], entry.get("level"), entry.get("count"), entry.get("guarantee")
    if entry.get("v", FORMAT) != FORMAT:
        raise ValueError(f"version {entry['v']!r} of the history format is not known; {FORMAT} is")
    if not (_is_whole(start) and _is_whole(end)) or end < start:
        raise ValueError(f"an operation from {start!r} to {end!r}: times are whole nanoseconds, in order")
    if outcome not in OUTCOMES:
        raise ValueError(f"outcome {outcome!r} is none of {', '.join(OUTCOMES)}")
    if level is not None and level not in LEVELS:
        raise ValueError(f"level {level!r} is none of {', '.join(LEVELS)}")
    if not (entry["client"] and entry["process"] and op):
        raise ValueError("an operation without a client, a process or a name")
    if int(entry.get("ts") or 0) < 0 or int(entry["seq"]) < 0:
        raise ValueError("a negative timestamp or number")
    for runs in (entry.get("keys"), entry.get("seen")):
        for low, high in runs or ():
            if not (_is_whole(low) and _is_whole(high)) or low > high:
                raise ValueError("a run of keys that is no [lowest, highest]")
    return Row(
        source,
        line,
        f"op.{op}" if op in KINDS else "op.other",
        component="client",
        node=str(entry["process"]),
        channel=str(entry.get("collection") or ""),
        key=str(entry["client"]),
        ts=clamp(int(entry.get("ts") or 0)),
        ts2=None if guarantee is None else clamp(int(guarantee)),
        seq=int(entry["seq"]),
        rows=None if count is None else int(count),
        level=level,
        text=None if op in KINDS else str(op),
        value=text,
    )


def _is_whole(number: object) -> bool:
    """A number that a column holds."""
    return isinstance(number, int) and -LARGEST <= number <= LARGEST
