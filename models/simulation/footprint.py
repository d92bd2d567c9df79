"""Footprints: which mediated objects a step read and wrote, and when two steps are independent.

A mediated object is a lane, a cell, a message, a store key, a budget counter or anything else that the world
hands out. Each has a name that is a function of the history of its own process (a lane and a counter inside
that lane), so that the name is the same in every execution of one Mazurkiewicz trace. Names are interned to
bits, and a footprint is two integers: the whole dependency check costs three bitwise operations.
"""

import functools
from collections.abc import Callable, Iterable
from typing import NamedTuple

OBSERVATION = "observation"
"""Written by every step that changes the observed abstract state. It makes such steps mutually dependent."""


class Footprint(NamedTuple):
    """The objects read and the objects written by one step, as bit sets of an ``Interner``."""

    reads: int
    writes: int


as_footprint: Callable[[tuple[int, int]], Footprint] = functools.partial(tuple.__new__, Footprint)
"""Make a footprint of (reads, writes): the constructor, on the hot path."""


class NamedFootprint(NamedTuple):
    """A footprint by names. This is the form that travels between processes."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]


def independent(one: Footprint, other: Footprint) -> bool:
    """Tell whether neither step writes what the other reads or writes."""
    return not (one.writes & (other.reads | other.writes) or one.reads & other.writes)


class Interner:
    """A growing, one to one table of object names and bits. One explorer owns one table."""

    def __init__(self) -> None:
        self._bits: dict[str, int] = {}
        self._names: list[str] = []

    def bit(self, name: str) -> int:
        """Return the bit of a name. The first call for a name reserves the next free bit."""
        known = self._bits.get(name)
        if known is None:
            known = self._bits[name] = 1 << len(self._names)
            self._names.append(name)
        return known

    def names(self, mask: int) -> tuple[str, ...]:
        """Return the names in a bit set, sorted, so that the answer does not depend on who came first."""
        found = []
        while mask:
            lowest = mask & -mask
            found.append(self._names[lowest.bit_length() - 1])
            mask ^= lowest
        return tuple(sorted(found))

    def mask(self, names: Iterable[str]) -> int:
        """Return the bit set of some names."""
        total = 0
        for name in names:
            total |= self.bit(name)
        return total

    def pack(self, footprint: NamedFootprint) -> Footprint:
        """Turn names into bits."""
        return Footprint(self.mask(footprint.reads), self.mask(footprint.writes))

    def unpack(self, footprint: Footprint) -> NamedFootprint:
        """Turn bits into names."""
        return NamedFootprint(self.names(footprint.reads), self.names(footprint.writes))
