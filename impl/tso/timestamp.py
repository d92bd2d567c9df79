"""Hybrid timestamps: 64 bits, Unix milliseconds above, a counter below (facts 1)."""

from __future__ import annotations

from typing import NamedTuple, NewType

LOGICAL_BITS = 18
MAX_LOGICAL = 1 << LOGICAL_BITS
"""The counter stays below this."""
NANOSECONDS = 1_000_000
"""In a millisecond. The oracle's own clock is as fine as that; what it hands out is not."""

Timestamp = NewType("Timestamp", int)


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

    It is an addition: a counter of ``MAX_LOGICAL`` or more would carry into the time. The allocator stops
    before (facts 1).
    """
    return Timestamp((physical << LOGICAL_BITS) + logical)


def parse(timestamp: Timestamp) -> Parts:
    """Take a timestamp apart."""
    return Parts(timestamp >> LOGICAL_BITS, timestamp & (MAX_LOGICAL - 1))


def milliseconds(nanoseconds: int) -> int:
    """Return the millisecond in which a time lies."""
    return nanoseconds // NANOSECONDS
