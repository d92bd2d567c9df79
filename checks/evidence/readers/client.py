"""What clients saw: one operation a line, written when it is over.

Sets of keys are lists of inclusive runs ``[[lowest, highest], ...]``. Times are nanoseconds of one monotonic
clock of the machine on which all clients ran.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tidemark.checks.evidence.table.schema import LARGEST, Row, clamp

FORMAT = 1

KINDS = ("insert", "upsert", "delete", "query", "count", "flush")
"""Operations that have a kind of event of their own."""
LEVELS = ("Strong", "Session", "Bounded", "Eventually", "Customized")
OUTCOMES = ("ok", "fail", "unknown")

Runs = tuple[tuple[int, int], ...]


class Operation(BaseModel):
    """One operation of a client."""

    model_config = ConfigDict(frozen=True)

    v: Literal[1] = 1
    """Version of the format."""
    client: str = Field(min_length=1)
    process: str = Field(min_length=1)
    """The operating-system process of the client: the session of the Python client is one per process."""
    seq: int = Field(ge=0)
    """Number of the operation at its client, without gaps."""
    op: str = Field(min_length=1)
    collection: str = ""
    level: Literal["Strong", "Session", "Bounded", "Eventually", "Customized"] | None = None
    start: int
    end: int
    outcome: Literal["ok", "fail", "unknown"]
    ts: int = Field(default=0, ge=0)
    """The timestamp in the answer; 0 if there is none."""
    guarantee: int | None = None
    keys: Runs = ()
    """Keys written, deleted or asked for; of a query no runs mean every key. A write has to name them."""
    seen: Runs = ()
    count: int | None = None
    """What a count says; of a query, how many rows the answer had."""
    error: str = ""

    @model_validator(mode="after")
    def _in_order(self) -> Operation:
        if self.end < self.start:
            raise ValueError(f"the operation ends at {self.end}, before it starts at {self.start}")
        if any(low > high for low, high in (*self.keys, *self.seen)):
            raise ValueError("a run of keys ends before it begins")
        return self


def op_row(source: str, line: int, entry: Mapping[str, Any], text: str) -> Row:
    """A line as a row. Raises ValueError, KeyError or TypeError if it is no operation.

    The line is checked by hand, not by ``Operation``: there may be millions. A test compares the two.
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
