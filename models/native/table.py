"""The set of visited states: an append-only array of packed rows, a link to each one's predecessor, and an
open-addressing table of their numbers.

A link holds the row of the predecessor within the chunk that was expanded, and the step; where the chunk
began is remembered once for all states that were found from it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.native.crew import Crew
from models.native.slots import BUCKET, claim, digest_round, enter_alone, fill, find, regrow, settle

FULL = 0.84
"""Load at which the table grows. With ``GROWTH`` a slot's share of a state stays below 12 bytes."""
GROWTH = 1.25
SMALL = 1 << 20
"""Tables up to this size are doubled."""
LEAST_SHARD = 1 << 10
LARGEST = (1 << 32) - (1 << 28)
"""Numbers of states have 32 bits; the rows of a round have provisional numbers above them."""
Words = NDArray[np.uint64]


def _empty_table(size: int) -> Words:
    """Empty slots, the first one at the beginning of a cache line."""
    whole = np.zeros(size + BUCKET, dtype=np.uint64)
    first = -(whole.ctypes.data // 8) % BUCKET
    return whole[first : first + size]


class Rows:
    """Successors that are entered together: ``chunks`` parts of at most ``room`` rows."""

    def __init__(self, words: int, chunks: int, room: int) -> None:
        self.words, self.room = words, room
        self.packed = np.empty((chunks * room, words), dtype=np.uint64)
        self.parent = np.empty(chunks * room, dtype=np.int64)
        self.step = np.empty(chunks * room, dtype=np.int32)
        self.digests = np.empty(chunks * room, dtype=np.uint64)
        self.places = np.empty(chunks * room, dtype=np.int64)

    @property
    def flat(self) -> Words:
        """The rows as one line of words."""
        return self.packed.reshape(-1)

    def digest(self, chunk: int, count: int) -> None:
        """Digests of the first ``count`` rows of a chunk."""
        digest_round(self.flat, self.words, chunk * self.room, count, self.digests)

    @staticmethod
    def bytes_each(words: int) -> int:
        """Bytes of one row."""
        return 8 * words + 8 + 4 + 8 + 8


class Visited:
    """Visited states with their parents and the steps that reached them first.

    ``capacity`` states are reserved at once; memory is taken only as states come. Each worker of the crew
    owns one shard of the table. Numbers of states are given in the order of the rows, whatever the crew.
    Errors: MemoryError if not even the reservation succeeds.
    """

    def __init__(self, words: int, steps: int, capacity: int, crew: Crew | None = None) -> None:
        self.words, self.step_count = words, max(1, steps)
        self.crew = crew if crew is not None else Crew(1)
        self.capacity = min(capacity, LARGEST)
        self.count = self.initial = 0
        self._states = np.empty(self.capacity * words, dtype=np.uint64)
        self._links = np.empty(self.capacity, dtype=np.uint32)
        self._spans: list[tuple[int, int]] = []
        self.table = _empty_table(self._shards * LEAST_SHARD * 4)
        self._filled = np.zeros(self._shards, dtype=np.int64)

    @property
    def _shards(self) -> int:
        return self.crew.workers

    @property
    def states(self) -> Words:
        """The packed states, in order of discovery."""
        return self._states[: self.count * self.words].reshape(self.count, self.words)

    @property
    def links(self) -> NDArray[np.uint32]:
        """Row of the parent within its chunk, times the number of steps, plus the step."""
        return self._links[: self.count]

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
        return int(self._links[number]) % self.step_count

    def parent(self, number: int) -> int:
        """The state from which a state was reached first. Errors: IndexError for an initial one."""
        if number < self.initial:
            raise IndexError(f"state {number} is initial: it has no parent")
        low, high = 0, len(self._spans)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._spans[middle][0] <= number else (low, middle)
        return self._spans[low][1] + int(self._links[number]) // self.step_count

    @property
    def fresh_by_step(self) -> NDArray[np.int64]:
        """States that each step was the first to reach."""
        total = np.zeros(self.step_count, dtype=np.int64)
        block = 1 << 20
        for first in range(self.initial, self.count, block):
            part = self._links[first : min(first + block, self.count)] % np.uint32(self.step_count)
            total += np.bincount(part, minlength=self.step_count)
        return total

    def has_room(self, rows: int) -> bool:
        """Is there room for so many rows even if all of them are new?"""
        return self.count + rows <= self.capacity

    def enter(self, rows: Rows, counts: NDArray[np.int64], bases: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add the rows of some chunks, which have digests and for which there must be room.

        ``counts``: rows of each chunk; ``bases``: first state that each chunk expanded. Gives the number of
        the first new state of each chunk, and the number of states at the end.
        """
        resume = np.zeros((self._shards, 2), dtype=np.int64)
        fresh = np.zeros((self._shards, len(counts)), dtype=np.int64)
        shared = int(counts.sum()) >= LEAST_SHARD
        while True:
            full = int(self.table.size // self._shards * FULL)

            def enter_shard(shard: int, full: int = full) -> None:
                claim(
                    rows.flat, self.words, rows.digests, rows.room, counts,
                    shard, self._shards, self.table, self._states, self.count,
                    rows.places, fresh, resume, self._filled, full,
                )  # fmt: skip

            self.crew.each(self._shards, enter_shard, shared=shared)
            if (resume[:, 0] == len(counts)).all():
                break
            self._grow(rows)
        firsts = self.count + np.concatenate(([0], np.cumsum(fresh.sum(axis=0))))

        def number(chunk: int) -> None:
            settle(
                rows.flat, self.words, chunk * rows.room, counts[chunk], rows.places, rows.parent, rows.step,
                self.step_count, self.table, self._states, self._links, firsts[chunk],
            )  # fmt: skip

        self.crew.each(len(counts), number, shared=shared)
        for chunk, base in enumerate(bases.tolist()):
            if firsts[chunk] < firsts[chunk + 1]:
                self._spans.append((int(firsts[chunk]), base))
        self.count = int(firsts[-1])
        return firsts

    def enter_alone(self, rows: Rows, count: int, base: int) -> NDArray[np.int64]:
        """``enter`` for the first chunk of ``rows`` and one worker: each row is looked at once."""
        first, at = self.count, 0
        while True:
            at, self.count = enter_alone(
                rows.flat, self.words, rows.parent, rows.step, self.step_count, at, count,
                self.table, self._states, self._links, self.count, int(self.table.size * FULL),
            )  # fmt: skip
            self._filled[0] = self.count
            if at == count:
                break
            self.table = _empty_table(self._larger())
            self._filled[0] = 0
            fill(self.table, 1, self._filled, self._states, self.words, self.count)
        if self.count > first:
            self._spans.append((first, base))
        return np.array([first, self.count], dtype=np.int64)

    def _larger(self) -> int:
        size, unit = self.table.size, self._shards * BUCKET
        wanted = min(size * 2 if size < SMALL else int(size * GROWTH), int(LARGEST / FULL))
        return wanted // unit * unit

    def _grow(self, rows: Rows) -> None:
        old, new = self.table, _empty_table(self._larger())

        def move(shard: int) -> None:
            regrow(
                old, new, shard, self._shards, self._states, self.words, self.count, rows.digests, rows.places
            )

        self.crew.each(self._shards, move)
        self.table = new

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
        rows = Rows(self.words, 1, 0)
        rows.room, rows.packed, rows.parent, rows.step = count, packed, parent, step
        rows.digests = np.empty(count, dtype=np.uint64)
        rows.places = np.empty(count, dtype=np.int64)
        rows.digest(0, count)
        self.enter(rows, np.array([count], dtype=np.int64), np.array([base], dtype=np.int64))

    def add_initial(self, rows: Words) -> None:
        """Add the initial states, which have no parent."""
        nothing = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int32)
        self.absorb(np.ascontiguousarray(rows), *nothing, count=len(rows), base=0)
        self.initial = self.count
        self._spans.clear()

    def find(self, rows: Words) -> NDArray[np.int64]:
        """The number of each row's state, or -1 if it was not visited."""
        found: NDArray[np.int64] = find(
            np.ascontiguousarray(rows).reshape(-1), self.words, self.table, self._shards, self._states
        )
        return found

    def restore(
        self, states: Words, links: NDArray[np.uint32], spans: NDArray[np.int64], *, initial: int
    ) -> None:
        """Take over the arrays of a saved search. Errors: MemoryError if they do not fit."""
        self.count, self.initial = len(states), initial
        if self.count > self.capacity:
            raise MemoryError(
                f"{self.count} saved states for a memory of {self.capacity} states; raise the memory bound"
            )
        self._states[: states.size] = states.reshape(-1)
        self._links[: self.count] = links
        self._spans = [(int(first), int(base)) for first, base in spans]
        while self.table.size * FULL * 0.99 < self.count:
            self.table = _empty_table(self._larger())
        self._filled[:] = 0
        fill(self.table, self._shards, self._filled, self._states, self.words, self.count)
