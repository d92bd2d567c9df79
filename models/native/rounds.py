"""One round of a search: some chunks of a level are expanded by all workers, and their successors entered.

How a level is cut into chunks depends on its size alone, and new states are numbered in the order of the
chunks, so that every number of workers finds the same states under the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.native.codec import Block
from models.native.crew import Crew
from models.native.kernel import CHUNK, Buffers, Kernel
from models.native.reduction import Reduction
from models.native.symmetry import Symmetry
from models.native.table import Rows, Visited

CHUNKS = 16
"""Chunks of a round at most."""
LEAST_ROWS = 64
"""A chunk below this costs more to hand out than to expand."""
ROUND_SUCCESSORS = 1 << 23


@dataclass
class Counters:
    """Totals over all chunks: see ``Buffers``."""

    stats: NDArray[np.int64]
    flags: NDArray[np.uint8]
    seen: NDArray[np.uint8]


@dataclass(frozen=True)
class Seen:
    """Where a step claim was decided first: state ``parent`` by ``step`` to the packed ``target``."""

    claim: int
    parent: int
    step: int
    target: tuple[int, ...]


@dataclass(frozen=True)
class Done:
    """What a round found. ``last``: the end of the rows that were expanded and entered (none of them if it
    equals the first row: no room). ``stuck``: states without an enabled step. ``broken``: for each broken
    invariant the first state.
    """

    last: int
    seen: tuple[Seen, ...] = ()
    stuck: tuple[int, ...] = ()
    broken: tuple[tuple[int, int], ...] = ()


def chunk_rows(kernel: Kernel) -> int:
    """Most rows of a chunk: fewer if a state has very many steps."""
    return max(16, min(CHUNK, ROUND_SUCCESSORS // (CHUNKS * max(1, kernel.plan.steps))))


def round_bytes(kernel: Kernel) -> int:
    """Bytes that the buffers of a search take at most."""
    room = chunk_rows(kernel) * max(1, kernel.plan.steps)
    return CHUNKS * (room * Rows.bytes_each(kernel.words) + chunk_rows(kernel))


class Rounds:
    """Expands the states of ``visited`` with a crew."""

    def __init__(
        self,
        kernel: Kernel,
        visited: Visited,
        crew: Crew,
        symmetry: Symmetry | None = None,
        reduction: Reduction | None = None,
    ) -> None:
        self.kernel, self.visited, self.crew = kernel, visited, crew
        self.symmetry, self.reduction = symmetry, reduction
        self.alone = crew.workers == 1
        self.most = chunk_rows(kernel)
        room = max(1, self.most * kernel.plan.steps)
        self.rows = Rows(kernel.words, CHUNKS, room)
        self.buffers = [self._buffers(chunk, room) for chunk in range(CHUNKS)]
        first = self.buffers[0]
        self.counters = Counters(
            np.zeros_like(first.stats), np.zeros_like(first.flags), np.zeros_like(first.seen)
        )

    def _buffers(self, chunk: int, room: int) -> Buffers:
        part = slice(chunk * room, (chunk + 1) * room)
        rows = self.rows
        return Buffers(self.kernel, self.most, (rows.packed[part], rows.parent[part], rows.step[part]))

    def run(self, first: int, level: tuple[int, int], chunks: int = CHUNKS) -> Done:
        """Expand states from ``first`` on, which is the beginning of a chunk of the level."""
        begin, end = level
        if self.alone:
            chunks = 1  # a buffer that is used again is in the cache
        size = min(self.most, max(LEAST_ROWS, -(-(end - begin) // CHUNKS)))
        spans = [(at, min(at + size, end)) for at in range(first, end, size)][:chunks]
        found = np.zeros(len(spans), dtype=np.int64)
        shared = spans[-1][1] - first > LEAST_ROWS

        def expand(chunk: int) -> None:
            found[chunk] = self._expand(chunk, *spans[chunk])

        self.crew.each(len(spans), expand, shared=shared)
        fits = self._fitting(found)
        if not fits:
            return Done(first)
        spans = spans[:fits]
        bases = np.array([at for at, _ in spans], dtype=np.int64)
        if self.alone:
            firsts = self.visited.enter_alone(self.rows, int(found[0]), int(bases[0]))
        else:
            firsts = self.visited.enter(self.rows, found[:fits], bases)
        seen = self._count(bases.tolist())
        stuck = self._stuck(spans)
        broken = self._broken(firsts.tolist(), shared=shared)
        return Done(spans[-1][1], seen, stuck, broken)

    def _expand(self, chunk: int, first: int, last: int) -> int:
        buffers = self.buffers[chunk]
        buffers.stats[:] = 0
        buffers.flags[:] = self.counters.flags
        buffers.seen[:] = self.counters.seen
        count = self.kernel.run(self._states(first, last), buffers)
        if self.symmetry is not None:
            self.symmetry.canonicalise(self.rows.flat, chunk * self.rows.room, count)
        if self.reduction is not None:
            count = self.reduction.reduce(self.rows, chunk, count, self.visited, (first, last))
        if not self.alone:
            self.rows.digest(chunk, count)
        return count

    def _states(self, first: int, last: int) -> Block:
        return self.visited.states[first:last]

    def _fitting(self, found: NDArray[np.int64]) -> int:
        """How many of the chunks are sure to fit into memory."""
        room = self.visited.capacity - self.visited.count
        return int(np.searchsorted(np.cumsum(found), room, side="right"))

    def _count(self, bases: list[int]) -> tuple[Seen, ...]:
        """Add up the counters of the entered chunks; the first chunk that saw a claim tells where."""
        total, news = self.counters, list[Seen]()
        for base, buffers in zip(bases, self.buffers, strict=False):
            total.stats += buffers.stats
            total.flags |= buffers.flags
            if np.array_equal(buffers.seen, total.seen):
                continue
            for claim in np.flatnonzero(buffers.seen & ~total.seen & 1).tolist():
                at = int(buffers.where[claim])
                target = tuple(buffers.successors[at].tolist())
                news.append(Seen(claim, base + int(buffers.parent[at]), int(buffers.step[at]), target))
            total.seen |= buffers.seen
        return tuple(news)

    def _stuck(self, spans: list[tuple[int, int]]) -> tuple[int, ...]:
        found: list[int] = []
        for (first, last), buffers in zip(spans, self.buffers, strict=False):
            enabled = buffers.enabled[: last - first]
            if not enabled.all():
                found += (first + np.flatnonzero(enabled == 0)).tolist()
        return tuple(found)

    def _broken(self, firsts: list[int], *, shared: bool) -> tuple[tuple[int, int], ...]:
        found: list[list[tuple[int, int]]] = [[] for _ in firsts[1:]]

        def check(chunk: int) -> None:
            found[chunk] = self.broken(firsts[chunk], firsts[chunk + 1])

        if self.kernel.state_claims:
            self.crew.each(len(found), check, shared=shared)
        least: dict[int, int] = {}
        for claim, state in (item for part in found for item in part):
            least.setdefault(claim, state)
        return tuple(least.items())

    def broken(self, first: int, last: int) -> list[tuple[int, int]]:
        """Broken invariants among some states: each with the first of these that breaks it."""
        if first == last:
            return []
        marks = self.kernel.breaks(self._states(first, last))
        if marks is None:
            return []
        found = []
        for claim in range(len(self.kernel.state_claims)):
            rows = np.flatnonzero(marks[:, claim // 64] & np.uint64(1 << claim % 64))
            if len(rows):
                found.append((claim, first + int(rows[0])))
        return found
