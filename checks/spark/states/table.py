"""A set of packed states in one flat array, so that it may lie in memory that several processes share.

Open addressing; a row of zeros is an empty slot, and the state of zeros is remembered apart. Slots follow the
order of the digests, so that a run is entered, and a table filled from another, from one end to the other.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tidemark.checks.spark.states.packed_states import PackedStates, compiled
from tidemark.models.native.atomic import prefetch
from tidemark.models.native.digest import mix

FULL = 0.65
"""Load at which a table grows."""
LEAST = 1 << 10
"""Slots of the smallest table."""
STATE = 8
"""Words in front of the slots."""
_COUNT, _ZERO, _ROUNDS, _OPEN = range(4)
_GROUP = 32  # rows whose slots are fetched together; FULL leaves room for more


@compiled
def _home(
    flat: PackedStates, at: int, words: int, slots: PackedStates
) -> int:  # pragma: no cover - machine code
    """Where the search for a row begins."""
    key = mix(flat, at, words)
    capacity = np.uint64(slots.size // words)
    return np.int64(((key >> np.uint64(32)) * capacity) >> np.uint64(32)) * words  # type: ignore[return-value]


@compiled
def _is_zero(flat: PackedStates, at: int, words: int) -> bool:  # pragma: no cover - machine code
    for k in range(words):  # noqa: SIM110 - compiled, where a loop is the fast form
        if flat[at + k] != 0:
            return False
    return True


@compiled
def _put(
    flat: PackedStates, at: int, words: int, slots: PackedStates, slot: int
) -> bool:  # pragma: no cover - machine code
    """Enter a row that is not zero, beginning the search at ``slot``. Was it new?"""
    while True:
        empty, same = True, True
        for k in range(words):
            empty = empty and slots[slot + k] == 0
            same = same and slots[slot + k] == flat[at + k]
        if same:
            return False
        if empty:
            for k in range(words):
                slots[slot + k] = flat[at + k]
            return True
        slot += words
        if slot == slots.size:
            slot = 0


@compiled
def _insert(  # noqa: PLR0917 - compiled code takes no keywords
    rows: PackedStates,
    words: int,
    at: int,
    limit: int,
    state: PackedStates,
    slots: PackedStates,
    out: PackedStates,
) -> tuple[int, int]:  # pragma: no cover - machine code
    """Enter rows from ``at`` on until ``limit`` states are in; put those that are new into ``out``.

    Gives the next row and the number of new ones.
    """
    stop, fresh = rows.size // words, 0
    where = np.empty(_GROUP, np.int64)
    while at < stop and np.int64(state[_COUNT]) < limit:
        size = min(_GROUP, stop - at)
        for j in range(size):
            where[j] = _home(rows, (at + j) * words, words, slots)
            prefetch(slots, where[j])
        for j in range(size):
            row = (at + j) * words
            if _is_zero(rows, row, words):
                new = state[_ZERO] == 0
                state[_ZERO] = 1
            else:
                new = _put(rows, row, words, slots, where[j])
            if new:
                for k in range(words):
                    out[fresh * words + k] = rows[row + k]
                fresh += 1
                state[_COUNT] += np.uint64(1)
        at += size
    return at, fresh


@compiled
def _refill(old: PackedStates, words: int, slots: PackedStates) -> None:  # pragma: no cover - machine code
    """Enter all states of the slots ``old``."""
    for first in range(0, old.size, words):
        if not _is_zero(old, first, words):
            _put(old, first, words, slots, _home(old, first, words, slots))


class Table:
    """The states of the first ``rounds`` rounds. ``flat`` holds nothing but zeros, or a table.

    ``larger`` gives a larger place: so many zeros. Its errors leave the table as it was, but open.
    """

    def __init__(self, flat: PackedStates, *, words: int, larger: Callable[[int], PackedStates]) -> None:
        self._words, self._larger = words, larger
        self._place(flat)

    def _place(self, flat: PackedStates) -> None:
        self._state, self._slots = flat[:STATE], flat[STATE:]

    @staticmethod
    def size(words: int, slots: int = LEAST) -> int:
        """Length of the flat array of a table."""
        return STATE + slots * words

    def __len__(self) -> int:
        return int(self._state[_COUNT])

    @property
    def rounds(self) -> int:
        """All states of this many rounds are in, and no others, unless it is open."""
        return int(self._state[_ROUNDS])

    @property
    def is_open(self) -> bool:
        """Is a process entering states, or was one when it was stopped?"""
        return bool(self._state[_OPEN])

    def open(self) -> None:
        """Begin to enter states."""
        self._state[_OPEN] = 1

    def close(self, rounds: int) -> None:
        """All states of so many rounds are in."""
        self._state[_ROUNDS] = rounds
        self._state[_OPEN] = 0

    def insert(self, block: PackedStates) -> PackedStates:
        """Enter the rows of a block; gives the new ones, in any order. Raises what ``larger`` raises."""
        rows = block.reshape(-1).view()
        rows.flags.writeable = False  # the same compiled form for what was received and what was read
        out = np.empty(rows.size, np.uint64)
        at = done = 0
        while True:
            limit = int(self._slots.size // self._words * FULL)
            at, fresh = _insert(
                rows, self._words, at, limit, self._state, self._slots, out[done * self._words :]
            )
            done += fresh
            if at * self._words == rows.size:
                return out[: done * self._words].reshape(-1, self._words)
            flat = self._larger(self.size(self._words, 2 * (self._slots.size // self._words)))
            flat[_OPEN] = (
                1  # first: a process that finds the place with the rest of this must not take it for whole
            )
            flat[:STATE] = self._state
            _refill(self._slots, self._words, flat[STATE:])
            self._place(flat)


def empty_place(size: int) -> npt.NDArray[np.uint64]:
    """A place in the memory of this process."""
    return np.zeros(size, np.uint64)
