"""The set of visited states: an append-only array of packed rows, and an open-addressing table of their
numbers.

A slot of the table is 64 bits: a tag (half of the digest) above the number of the row plus one; zero is
empty. A slot is found by multiplying, not by masking, so that the table may have any size. Rows are
compared word by word: the digest only tells where to look, so that no two states are ever taken for one.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from models.native.digest import mix

GROUP = 32
"""Rows whose table slots are fetched into the cache together."""
FULL = 0.75
"""Load at which the table grows."""
LARGEST = (1 << 32) - 2
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def _prefetch(_context: Any, array: Any, _index: Any) -> Any:
    """Ask the processor to bring an element of a one-dimensional array into its cache."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[0]
        built = context.make_array(kind)(context, builder, args[0])
        tools: Any = cgutils
        pointer = tools.get_item_pointer(context, builder, kind, built, [args[1]], wraparound=False)
        place, flag = ir.PointerType(), ir.IntType(32)
        function = tools.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [place, flag, flag, flag]), "llvm.prefetch.p0"
        )
        builder.call(function, [pointer, flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


prefetch: Any = intrinsic(_prefetch)


@numba.njit(cache=True, inline="always")
def _slot(digest: Any, slots: Any) -> Any:
    return np.int64(((digest >> _HALF) * slots) >> _HALF)


@numba.njit(cache=True, inline="always")
def _same(rows: Any, first: Any, states: Any, second: Any, words: Any) -> Any:
    for k in range(words):  # noqa: SIM110 - compiled, where a loop is the fast form
        if rows[first + k] != states[second + k]:
            return False
    return True


@numba.njit(cache=True, nogil=True)
def absorb(  # noqa: PLR0917 - a compiled loop takes plain positional arrays
    rows: Any, words: Any, parent: Any, step: Any, span: Any, base: Any,
    table: Any, states: Any, parents: Any, steps: Any, known: Any, room: Any, fresh_by_step: Any,
) -> Any:  # fmt: skip
    """Append the unknown ones of ``rows[span[0]:span[1]]`` to ``states``; parents are ``base`` plus the
    row's parent.

    Stops early where ``known`` would exceed ``room``. Gives (next row to absorb, number of states).
    """
    at, end = span
    slots = np.uint64(table.size)
    where = np.empty(GROUP, dtype=np.int64)
    tags = np.empty(GROUP, dtype=np.uint64)
    while at < end:
        size = min(GROUP, end - at)
        for j in range(size):
            digest = mix(rows, (at + j) * words, words)
            where[j] = _slot(digest, slots)
            tags[j] = digest & _LOW
            prefetch(table, where[j])
        for j in range(size):
            entry = table[where[j]]
            if entry != 0 and entry >> _HALF == tags[j]:
                prefetch(states, np.int64((entry & _LOW) - np.uint64(1)) * words)
        for j in range(size):
            place, tag, first = where[j], tags[j], (at + j) * words
            while True:
                entry = table[place]
                if entry == 0:
                    if known >= room:
                        return at + j, known
                    table[place] = (tag << _HALF) | np.uint64(known + 1)
                    for k in range(words):
                        states[known * words + k] = rows[first + k]
                    parents[known] = base + parent[at + j]
                    steps[known] = step[at + j]
                    fresh_by_step[step[at + j]] += 1
                    known += 1
                    break
                if entry >> _HALF == tag and _same(
                    rows, first, states, np.int64((entry & _LOW) - np.uint64(1)) * words, words
                ):
                    break
                place += 1
                if place == table.size:
                    place = 0
        at += size
    return at, known


@numba.njit(cache=True, nogil=True)
def fill(table: Any, states: Any, words: Any, known: Any) -> None:
    """Enter the first ``known`` states, all different, into an empty table."""
    slots = np.uint64(table.size)
    where = np.empty(GROUP, dtype=np.int64)
    tags = np.empty(GROUP, dtype=np.uint64)
    for at in range(0, known, GROUP):
        size = min(GROUP, known - at)
        for j in range(size):
            digest = mix(states, (at + j) * words, words)
            where[j] = _slot(digest, slots)
            tags[j] = digest & _LOW
            prefetch(table, where[j])
        for j in range(size):
            place = where[j]
            while table[place] != 0:
                place += 1
                if place == table.size:
                    place = 0
            table[place] = (tags[j] << _HALF) | np.uint64(at + j + 1)


@numba.njit(cache=True, nogil=True)
def find(rows: Any, words: Any, table: Any, states: Any) -> Any:
    """The number of each row among the states, or -1."""
    slots = np.uint64(table.size)
    found = np.empty(rows.size // words, dtype=np.int64)
    for row in range(found.size):
        digest = mix(rows, row * words, words)
        place, tag = _slot(digest, slots), digest & _LOW
        found[row] = -1
        while table[place] != 0:
            entry = table[place]
            number = np.int64((entry & _LOW) - np.uint64(1))
            if entry >> _HALF == tag and _same(rows, row * words, states, number * words, words):
                found[row] = number
                break
            place += 1
            if place == table.size:
                place = 0
    return found


class Visited:
    """Visited states with their parents and the steps that reached them first.

    ``capacity`` states are reserved at once; memory is taken only as states come. Errors: MemoryError if
    not even the reservation succeeds.
    """

    def __init__(self, words: int, steps: int, capacity: int) -> None:
        self.words = words
        self.capacity = min(capacity, LARGEST)
        self.count = 0
        self._states = np.empty(self.capacity * words, dtype=np.uint64)
        self.parents = np.empty(self.capacity, dtype=np.uint32)
        self.steps = np.empty(self.capacity, dtype=np.uint16 if steps < 1 << 16 else np.int32)
        self.fresh_by_step = np.zeros(max(1, steps), dtype=np.int64)
        self.table = np.zeros(1 << 12, dtype=np.uint64)

    @property
    def states(self) -> NDArray[np.uint64]:
        """The packed states, in order of discovery."""
        return self._states[: self.count * self.words].reshape(self.count, self.words)

    @property
    def bytes_per_state(self) -> float:
        """Bytes of all arrays, by the number of states."""
        row = 8 * self.words + self.parents.itemsize + self.steps.itemsize
        return row + self.table.nbytes / max(1, self.count)

    @staticmethod
    def bytes_bound(words: int, states: int) -> int:
        """Bytes that so many states may take at worst, while the table grows."""
        return int(states * (8 * words + 4 + 4 + (1 + 1.5) * 8 / FULL))

    def grow(self) -> None:
        """A larger table: twice as large, or half as large again for large ones."""
        size = self.table.size
        larger = size * 2 if size < 1 << 22 else size + size // 2
        table = np.zeros(min(larger, int(LARGEST / FULL)), dtype=np.uint64)
        fill(table, self._states, self.words, self.count)
        self.table = table

    def has_room(self, rows: int) -> bool:
        """Is there room for so many rows even if all of them are new?"""
        return self.count + rows <= self.capacity

    def absorb(
        self,
        rows: NDArray[np.uint64],
        parent: NDArray[np.int64],
        step: NDArray[np.int32],
        *,
        count: int,
        base: int,
    ) -> None:
        """Add the first ``count`` rows, for which there must be room."""
        at = 0
        while at < count:
            room = int(self.table.size * FULL)
            at, self.count = absorb(
                rows.reshape(-1), self.words, parent, step, (at, count), base,
                self.table, self._states, self.parents, self.steps, self.count, room, self.fresh_by_step,
            )  # fmt: skip
            if at < count:
                self.grow()

    def add_initial(self, rows: NDArray[np.uint64]) -> None:
        """Add the initial states, which have no parent."""
        nothing = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int32)
        self.absorb(np.ascontiguousarray(rows), *nothing, count=len(rows), base=0)
        self.fresh_by_step[:] = 0

    def find(self, rows: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The number of each row's state, or -1 if it was not visited."""
        found: NDArray[np.int64] = find(
            np.ascontiguousarray(rows).reshape(-1), self.words, self.table, self._states
        )
        return found

    def restore(
        self, states: NDArray[np.uint64], parents: NDArray[Any], steps: NDArray[Any], fresh: NDArray[Any]
    ) -> None:
        """Take over the arrays of a saved search."""
        self.count = len(states)
        if self.count > self.capacity:
            raise MemoryError(
                f"{self.count} saved states for a memory of {self.capacity} states; raise the memory bound"
            )
        self._states[: states.size] = states.reshape(-1)
        self.parents[: self.count] = parents
        self.steps[: self.count] = steps
        self.fresh_by_step[:] = fresh
        while self.table.size * FULL < self.count:
            self.table = np.zeros(self.table.size * 2, dtype=np.uint64)
        fill(self.table, self._states, self.words, self.count)
