"""A part of the search tree as plain data: what Spark moves and what a stopped search leaves behind.

The Mazurkiewicz trace of an execution, in a canonical form.

Two executions are equivalent if one becomes the other by swapping neighbouring independent steps. The Foata
normal form decides that: each step goes into the first layer after all earlier steps that it depends on, and
a layer is a set.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from tidemark.checks.interleave.executions.record import Step
from tidemark.models.simulation import Footprint, Interner, NamedFootprint


def layers(trace: Sequence[Step]) -> list[list[tuple[str, Footprint]]]:
    """Return the Foata normal form: layers of (label, footprint), each sorted by label."""
    written: dict[int, int] = {}
    read: dict[int, int] = {}
    found: list[list[tuple[str, Footprint]]] = []
    for step in trace:
        reads, writes = step.footprint
        level = 0
        for bit in _bits(writes):
            level = max(level, written.get(bit, 0), read.get(bit, 0))
        for bit in _bits(reads):
            level = max(level, written.get(bit, 0))
        if level == len(found):
            found.append([])
        found[level].append((step.label, step.footprint))
        for bit in _bits(writes):
            written[bit] = level + 1
        for bit in _bits(reads):
            read[bit] = max(read.get(bit, 0), level + 1)
    for layer in found:
        layer.sort()
    return found


def trace_digest(trace: Sequence[Step], interner: Interner) -> bytes:
    """Return 16 bytes that are equal for equivalent executions, in any process."""
    digest = hashlib.blake2b(digest_size=16)
    for layer in layers(trace):
        for label, footprint in layer:
            named = interner.unpack(footprint)
            digest.update(repr((label, named.reads, named.writes)).encode())
        digest.update(b"|")
    return digest.digest()


def _bits(mask: int) -> list[int]:
    found = []
    while mask:
        lowest = mask & -mask
        found.append(lowest)
        mask ^= lowest
    return found


class WorkItem(NamedTuple):
    """A node of the search tree, and which of its children are covered elsewhere.

    Attributes:
        picks: the choices that lead to the node.
        sleep: events that need not be tried from here, each with its footprint. Sorted by label.
    """

    picks: tuple[int, ...]
    sleep: tuple[tuple[str, NamedFootprint], ...]


WHOLE = WorkItem((), ())
"""The root: the whole tree."""
