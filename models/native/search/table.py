"""The set of visited states: an append-only array of packed rows, a link to each one's predecessor, and an
open-addressing table of their numbers.

A link holds the row of the predecessor within the chunk that was expanded, and the step; the begin of the
chunk is stored once for all states that were found from it.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tidemark.models.native.search.hash_table import BUCKET, find, insert, rehash
from tidemark.models.native.search.worker_pool import WorkerPool

FULL = 0.84
"""Load at which the table grows. With ``GROWTH`` a slot's share of a state stays below 12 bytes."""
GROWTH = 1.25
SMALL = 1 << 20
"""Tables up to this size are doubled."""
LEAST = 1 << 12
"""Slots of the smallest table for each worker: beyond ``FULL``, there is room for ``STRIDE`` rows of each."""
FILL = 1 << 14
"""States that a worker enters into a new table at a time."""
LARGEST = (1 << 32) - (1 << 28)
"""A slot has 32 bits for a place in the store, of which some are needed for its front part."""
Words = NDArray[np.uint64]


def _empty_table(size: int) -> Words:
    """Empty slots, the first one at the beginning of a cache line."""
    whole = np.zeros(size + BUCKET, dtype=np.uint64)
    first = -(whole.ctypes.data // 8) % BUCKET
    return whole[first : first + size]


def _larger(size: int) -> int:
    """Slots of the table after one of ``size``."""
    wanted = min(size * 2 if size < SMALL else int(size * GROWTH), int(LARGEST / FULL))
    return wanted // BUCKET * BUCKET


class Rows:
    """Successors of a chunk: at most ``room`` rows."""

    def __init__(self, words: int, room: int) -> None:
        self.words, self.room = words, room
        self.packed = np.empty((room, words), dtype=np.uint64)
        self.parent = np.empty(room, dtype=np.int64)
        self.step = np.empty(room, dtype=np.int32)

    @property
    def flat(self) -> Words:
        """The rows as one line of words."""
        return self.packed.reshape(-1)

    @staticmethod
    def bytes_each(words: int) -> int:
        """Bytes of one row."""
        return 8 * words + 8 + 4


class Visited:
    """Visited states with their parents and the steps that reached them first. ``capacity`` states are
    reserved at once; memory is taken as states come. ``front``: chunks, and rows of each, that workers enter
    together (see ``merge``). Raises MemoryError if the reservation fails.
    """

    def __init__(
        self,
        words: int,
        steps: int,
        capacity: int,
        pool: WorkerPool | None = None,
        *,
        front: tuple[int, int] = (0, 0),
    ) -> None:
        self.words, self.step_count = words, max(1, steps)
        self.pool = pool if pool is not None else WorkerPool(1)
        self.capacity = min(capacity, LARGEST)
        self.count = self.initial = 0
        self.chunks, self.room = front
        self.front = self.chunks * self.room
        self.store = np.empty((self.front + self.capacity) * words, dtype=np.uint64)
        self.store_links = np.empty(self.front + self.capacity, dtype=np.uint32)
        self.slots = np.empty(self.front, dtype=np.int64)
        self._spans: list[tuple[int, int]] = []
        self.table = _empty_table(self.pool.workers * LEAST)
        self.filled = np.zeros(1, dtype=np.int64)

    @property
    def states(self) -> Words:
        """The packed states, in order of discovery."""
        return self.rows(0, self.count)

    def rows(self, first: int, last: int) -> Words:
        """The packed states ``first`` .. ``last - 1``."""
        begin, end = (self.front + first) * self.words, (self.front + last) * self.words
        return self.store[begin:end].reshape(-1, self.words)

    @property
    def links(self) -> NDArray[np.uint32]:
        """Row of the parent within its chunk, times the number of steps, plus the step."""
        return self.store_links[self.front : self.front + self.count]

    @property
    def spans(self) -> NDArray[np.int64]:
        """For each chunk from which states were found: the number of the first one, the chunk's first row."""
        return np.array(self._spans, dtype=np.int64).reshape(-1, 2)

    @property
    def bytes_per_state(self) -> float:
        """Bytes of all arrays, by the number of states."""
        return 8 * self.words + 4 + (self.table.nbytes + 16 * len(self._spans)) / max(1, self.count)

    @staticmethod
    def bytes_bound(words: int, states: int) -> int:
        """Bytes that so many states may take at worst, while the table grows."""
        return int(states * (8 * words + 4 + (1 + GROWTH) * 8 / FULL))

    def step(self, number: int) -> int:
        """The step that reached a state first; meaningless for an initial one."""
        return int(self.links[number]) % self.step_count

    def parent(self, number: int) -> int:
        """The state from which a state was reached first. Raises IndexError for an initial one."""
        if number < self.initial:
            raise IndexError(f"state {number} is initial: it has no parent")
        low, high = 0, len(self._spans)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._spans[middle][0] <= number else (low, middle)
        return self._spans[low][1] + int(self.links[number]) // self.step_count

    def has_room(self, rows: int) -> bool:
        """Is there room for so many rows even if all of them are new?"""
        return self.count + rows <= self.capacity

    @property
    def full(self) -> int:
        """States at which the table has to grow."""
        return int(self.table.size * FULL)

    def insert(self, rows: Rows, count: int, base: int) -> None:
        """Add the first ``count`` rows, for which there must be room; their parents count from ``base``."""
        at = 0
        while True:
            at, end = insert(
                rows.flat, self.words, rows.parent, rows.step, self.step_count, at, count,
                self.table, self.filled, self.full, self.store, self.store_links, self.front + self.count,
                None, None, 1,
            )  # fmt: skip
            self.append(end - self.front, base)
            if at == count:
                break
            self.grow()

    def append(self, count: int, base: int) -> None:
        """Count the states up to ``count``, whose parents count from ``base``, as visited."""
        if count > self.count and (not self._spans or self._spans[-1][1] != base):
            self._spans.append((self.count, base))
        self.count = count

    def grow(self, used: Iterable[tuple[int, int]] = ()) -> None:
        """Enter everything into a larger table; ``used``: places of the front part that are in use, too."""
        self._refill(_larger(self.table.size), used)

    def _refill(self, size: int, used: Iterable[tuple[int, int]] = ()) -> None:
        self.table = _empty_table(size)
        end = self.front + self.count
        parts = [(at, min(at + FILL, end)) for at in range(self.front, end, FILL)] + list(used)

        def part(number: int) -> None:
            rehash(*parts[number], self.words, self.table, self.store, self.front, self.slots)

        self.pool.each(len(parts), part)

    def absorb(
        self,
        packed: Words,
        parent: NDArray[np.int64],
        step: NDArray[np.int32],
        *,
        count: int,
        base: int,
    ) -> None:
        """Add the first ``count`` rows, for which there must be room; their parents count from ``base``."""
        rows = Rows(self.words, 0)
        rows.room, rows.packed, rows.parent, rows.step = count, packed, parent, step
        self.insert(rows, count, base)

    def add_initial(self, rows: Words) -> None:
        """Add the initial states, which have no parent."""
        nothing = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int32)
        self.absorb(np.ascontiguousarray(rows), *nothing, count=len(rows), base=0)
        self.initial = self.count
        self._spans.clear()

    def find(self, rows: Words) -> NDArray[np.int64]:
        """The number of each row's state, or -1 if it was not visited."""
        found: NDArray[np.int64] = find(
            np.ascontiguousarray(rows).reshape(-1), self.words, self.table, self.store, self.front
        )
        return found

    def restore(
        self, states: Words, links: NDArray[np.uint32], spans: NDArray[np.int64], *, initial: int
    ) -> None:
        """Take over the arrays of a saved search. Raises MemoryError if they do not fit."""
        self.count, self.initial = len(states), initial
        if self.count > self.capacity:
            raise MemoryError(
                f"{self.count} saved states for a memory of {self.capacity} states; raise the memory bound"
            )
        self.states[:] = states
        self.links[:] = links
        self._spans = [(int(first), int(base)) for first, base in spans]
        size = self.table.size
        while int(size * FULL * 0.99) < self.count:
            size = _larger(size)
        self._refill(size)
        self.filled[0] = self.count
