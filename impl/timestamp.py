"""The clock of the whole system: hybrid timestamps, handed out by the oracle and carried by every log.

A timestamp has 64 bits: Unix milliseconds above, a counter below (facts 1). It is a plain integer in records,
rows and messages; only this module knows its layout. The type of a position says what a place in a log
*means*: see ``tidemark.impl.types.Position``.
"""

from typing import NamedTuple

LOGICAL_BITS = 18
MAX_LOGICAL = 1 << LOGICAL_BITS
"""The counter stays below this."""
NANOSECONDS = 1_000_000
"""In a millisecond. The oracle's own clock is as fine as that; its timestamps are not."""

Timestamp = int
"""A hybrid timestamp. 0 is before everything that the oracle hands out."""

Interval = int
"""The difference of two timestamps: a multiple of ``MILLISECOND`` where a configuration names it."""

ZERO: Timestamp = 0
"""Before every timestamp."""

MILLISECOND: Interval = 1 << LOGICAL_BITS
"""The distance of timestamps that are a millisecond apart."""


class Parts(NamedTuple):
    """A timestamp taken apart."""

    physical: int
    """Unix milliseconds."""
    logical: int


class Batch(NamedTuple):
    """Timestamps that were handed out together: all from ``first`` to ``last``, both included."""

    first: Timestamp
    last: Timestamp


def compose(physical: int, logical: int) -> Timestamp:
    """Return the timestamp of a time in milliseconds and a counter.

    Milvus: ComposeTS

    It is an addition: a counter of ``MAX_LOGICAL`` or more would carry into the time. The allocator stops
    before (facts 1).
    """
    return (physical << LOGICAL_BITS) + logical


def split(timestamp: Timestamp) -> Parts:
    """Take a timestamp apart.

    Milvus: ParseTS
    """
    return Parts(timestamp >> LOGICAL_BITS, timestamp & (MAX_LOGICAL - 1))


def milliseconds(nanoseconds: int) -> int:
    """Return the millisecond of a time."""
    return nanoseconds // NANOSECONDS
