"""One round of a search: all workers expand some chunks of a level, and enter their successors.

The cut of a level into chunks depends on its size alone, and new states are numbered in the order of the
chunks, so that every number of workers finds the same states under the same numbers.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tidemark.models.native.kernel import CHUNK, Buffers, Kernel
from tidemark.models.native.search.merge import Merge
from tidemark.models.native.search.table import Rows, Visited
from tidemark.models.native.search.worker_pool import WorkerPool
from tidemark.models.native.symmetry import Symmetry

CHUNKS = 16
"""Chunks of a round at most."""
LEAST_ROWS = 64
"""A chunk below this costs more to hand out than to expand."""
SHARED_ROWS = 1 << 11
"""A round below this costs more to share than to do alone."""
ROUND_SUCCESSORS = 1 << 23


@dataclass
class Counters:
    """Totals over some chunks: see ``Buffers``."""

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
    """The results of a round. ``last``: the end of the rows that were entered (the first row: no room).
    ``stuck``: states without an enabled step. ``broken``: each broken invariant with the first state.
    """

    last: int
    seen: tuple[Seen, ...] = ()
    stuck: tuple[int, ...] = ()
    broken: tuple[tuple[int, int], ...] = ()


@dataclass
class Chunk:
    """States ``first`` .. ``last - 1`` of a level, and their results: ``count`` successors, of which
    ``entered`` were entered; newly decided step claims; states without a step; broken invariants.
    """

    first: int
    last: int
    count: int = 1
    entered: int = 0
    counters: Counters | None = None
    seen: list[Seen] = field(default_factory=list)
    stuck: list[int] = field(default_factory=list)
    broken: list[tuple[int, int]] = field(default_factory=list)


class Worker:
    """Room for the successors of one chunk, reused so that it stays in a core's cache."""

    def __init__(self, kernel: Kernel) -> None:
        self.rows = Rows(kernel.words, front(kernel)[1])
        self.buffers = Buffers(
            kernel, chunk_rows(kernel), (self.rows.packed, self.rows.parent, self.rows.step)
        )

    def counters(self) -> Counters:
        """The counts of the present chunk."""
        buffers = self.buffers
        return Counters(buffers.stats.copy(), buffers.flags.copy(), buffers.seen.copy())


def chunk_rows(kernel: Kernel) -> int:
    """Most rows of a chunk: fewer if a state has very many steps."""
    return max(16, min(CHUNK, ROUND_SUCCESSORS // (CHUNKS * max(1, kernel.plan.steps))))


def front(kernel: Kernel) -> tuple[int, int]:
    """Chunks of a round and successors of each: what is entered at the same time by several workers."""
    return CHUNKS, chunk_rows(kernel) * max(1, kernel.plan.steps)


def round_bytes(kernel: Kernel) -> int:
    """Bytes that the buffers of a search take at most: successors, and those of them that are new."""
    chunks, room = front(kernel)
    return chunks * (2 * room * Rows.bytes_each(kernel.words) + chunk_rows(kernel))


class Rounds:
    """Expands the states of ``visited`` with a pool of workers."""

    def __init__(
        self,
        kernel: Kernel,
        visited: Visited,
        pool: WorkerPool,
        symmetry: Symmetry | None = None,
        *,
        chunk: int | None = None,
    ) -> None:
        self.kernel, self.visited, self.pool = kernel, visited, pool
        self.symmetry = symmetry
        self.most = min(chunk_rows(kernel), chunk or CHUNK)
        self.least = LEAST_ROWS if chunk is None else self.most
        self.workers = [Worker(kernel) for _ in range(min(CHUNKS, pool.workers))]
        self.counters = self.workers[0].counters()

    def run(self, first: int, level: tuple[int, int], chunks: int = CHUNKS) -> Done:
        """Expand states from ``first`` on, which is the beginning of a chunk of the level."""
        begin, end = level
        size = min(self.most, max(self.least, -(-(end - begin) // CHUNKS)))
        parts = [Chunk(at, min(at + size, end)) for at in range(first, end, size)[:chunks]]
        if self._worth_sharing(parts):
            self._shared(parts)
        else:
            del parts[1:]
            if not self._alone(parts[0]):
                return Done(first)
        return self._done(parts)

    def _worth_sharing(self, parts: list[Chunk]) -> bool:
        """Are these enough for several workers, and is there room for all their successors?"""
        if self.pool.workers == 1 or len(parts) == 1:
            return False
        rows = parts[-1].last - parts[0].first
        return rows >= SHARED_ROWS and self.visited.has_room(rows * self.kernel.plan.steps)

    def _alone(self, part: Chunk) -> bool:
        """Expand, enter and check one chunk here. If it may lack room, enters nothing and gives False."""
        worker, known = self.workers[0], self.visited.count
        self._expand(part, worker)
        if not self.visited.has_room(part.count):
            return False
        self.visited.insert(worker.rows, part.count, part.first)
        part.broken = self.broken(known, self.visited.count)
        return True

    def _shared(self, parts: list[Chunk]) -> None:
        merge = Merge(self.visited, [part.first for part in parts])
        self._insert(parts, merge)
        merge.number()

        def commit(number: int) -> None:
            parts[number].broken = self.broken(*merge.commit(number))

        self.pool.each(len(parts), commit)
        merge.finish()

    def _insert(self, parts: list[Chunk], merge: Merge) -> None:
        """Expand and enter some chunks. When the table is full, those begun wait until it has grown."""
        idle, busy = list(self.workers), dict[int, Worker]()
        todo, full = list(range(len(parts))), False

        def insert(job: int) -> None:
            nonlocal full
            number = todo[job]
            part = parts[number]
            if full:
                return
            if number not in busy:
                worker = idle.pop()
                self._expand(part, worker)
                busy[number] = worker
            part.entered = merge.insert(number, busy[number].rows, part.entered, part.count)
            if part.entered == part.count:
                idle.append(busy.pop(number))
            else:
                full = True

        while todo:
            self.pool.each(len(todo), insert)
            todo = [number for number in todo if parts[number].entered < parts[number].count]
            if full:
                merge.grow()
                full = False

    def _expand(self, part: Chunk, worker: Worker) -> None:
        buffers, rows, span = worker.buffers, worker.rows, (part.first, part.last)
        buffers.stats[:] = 0
        buffers.flags[:] = self.counters.flags
        buffers.seen[:] = self.counters.seen
        count = self.kernel.run(self.visited.rows(*span), buffers)
        if self.symmetry is not None:
            self.symmetry.canonicalise(rows.flat, 0, count)
        part.count, part.counters = count, worker.counters()
        part.seen = self._seen(part.first, buffers)
        enabled = buffers.enabled[: part.last - part.first]
        if not enabled.all():
            part.stuck = (part.first + np.flatnonzero(enabled == 0)).tolist()

    def _seen(self, base: int, buffers: Buffers) -> list[Seen]:
        """Step claims that this chunk decided, and no earlier round."""
        if np.array_equal(buffers.seen, self.counters.seen):
            return []
        found = []
        for claim in np.flatnonzero(buffers.seen & ~self.counters.seen & 1).tolist():
            at = int(buffers.where[claim])
            target = tuple(buffers.successors[at].tolist())
            found.append(Seen(claim, base + int(buffers.parent[at]), int(buffers.step[at]), target))
        return found

    def _done(self, parts: list[Chunk]) -> Done:
        """Add up the chunks; the first one that decided a claim says where."""
        total, seen, broken = self.counters, dict[int, Seen](), dict[int, int]()
        stuck: list[int] = []
        for part in parts:
            if part.counters is not None:
                total.stats += part.counters.stats
                total.flags |= part.counters.flags
                total.seen |= part.counters.seen
            for item in part.seen:
                seen.setdefault(item.claim, item)
            for claim, state in part.broken:
                broken.setdefault(claim, state)
            stuck += part.stuck
        return Done(parts[-1].last, tuple(seen.values()), tuple(stuck), tuple(broken.items()))

    def broken(self, first: int, last: int) -> list[tuple[int, int]]:
        """Broken invariants among some states: each with the first of these that breaks it."""
        return [(claim, first + row) for claim, row in self.kernel.broken(self.visited.rows(first, last))]
