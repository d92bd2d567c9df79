"""Which successors need not be sent to their owners, because the owners have had them.

Whatever follows from a state of a level that was expanded in an earlier round is known to its owner: every
round ends, for each owner, after all of these have reached it. So a worker may drop a successor that it
remembers from an earlier round, by whichever sender, for which partition, and in which attempt of a task. Of
the present round it may drop only what the same attempt has sent: another attempt of the same task may have
been lost with all that it sent.
"""

import numpy as np
import numpy.typing as npt

from tidemark.checks.spark.states.packed_states import PackedStates, compiled
from tidemark.models.native.atomic import prefetch
from tidemark.models.native.digest import mix

MEMORY = 1 << 26
"""Bytes that the memory of a process takes at most."""
_GROUP = 32  # rows whose slots are fetched together


@compiled
def _mark(  # noqa: PLR0917 - compiled code takes no keywords
    flat: PackedStates,
    words: int,
    table: PackedStates,
    attempt: int,
    safe: int,
    owners: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
) -> None:  # pragma: no cover - machine code
    """Give each row its owner, or -1 if it is remembered, and remember it; ``counts`` rows by owner.

    A slot is a row behind the number of the attempt that sent it; 0 is an empty slot.
    """
    size = words + 1
    mask = np.uint64(table.size // size - 1)
    partitions = np.uint64(counts.size)
    slots = np.empty(_GROUP, np.int64)
    for first in range(0, owners.size, _GROUP):
        last = min(first + _GROUP, owners.size)
        for row in range(first, last):
            key = mix(flat, row * words, words)
            # The low half chooses the owner, the high half the slot: one must not spoil the other's
            # uniformity.
            owners[row] = np.int64(((key & np.uint64(0xFFFFFFFF)) * partitions) >> np.uint64(32))
            slots[row - first] = np.int64((key >> np.uint64(32)) & mask) * size
            prefetch(table, slots[row - first])
        for row in range(first, last):
            slot, at = slots[row - first], row * words
            stamp = np.int64(table[slot])
            same = stamp == attempt or 0 < stamp <= safe
            if same:
                for word in range(words):
                    if table[slot + 1 + word] != flat[at + word]:
                        same = False
                        break
            if same:
                owners[row] = -1
                continue
            table[slot] = np.uint64(attempt)
            for word in range(words):
                table[slot + 1 + word] = flat[at + word]
            counts[owners[row]] += 1


@compiled
def _grouped(
    flat: PackedStates,
    words: int,
    owners: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    out: PackedStates,
) -> None:  # pragma: no cover - machine code
    """Put the rows that have an owner into ``out``, by owner; ``ends`` are the first places of each."""
    for row in range(owners.size):
        owner = owners[row]
        if owner >= 0:
            at = ends[owner] * words
            for word in range(words):
                out[at + word] = flat[row * words + word]
            ends[owner] += 1


class SentFilter:
    """Splits blocks of successors by owner and leaves out most of those that their owners have had.

    A direct-mapped memory: exact about what it drops, not about what it lets through; the owner removes the
    rest. One for all partitions and rounds of a run in a process; ``memory`` in bytes.
    """

    def __init__(self, *, words: int, partitions: int, memory: int = MEMORY) -> None:
        slots = 1 << max(8, (memory // (8 * (words + 1))).bit_length() - 1)
        self._words, self._partitions = words, partitions
        self._table: PackedStates = np.zeros(slots * (words + 1), np.uint64)
        self._round = self._attempt = self._safe = 0

    def begin(self, number: int) -> None:
        """Begin an attempt of a task of round ``number``."""
        if number > self._round:
            self._safe = self._attempt
        elif number < self._round:  # a round is done again: what followed is not known to anybody
            self._table.fill(0)
            self._safe = 0
        self._round = number
        self._attempt += 1

    def split(self, block: PackedStates) -> list[PackedStates]:
        """The states of the block that must be sent, by owner."""
        flat = np.ascontiguousarray(block).reshape(-1)
        owners, counts = np.empty(block.shape[0], np.int64), np.zeros(self._partitions, np.int64)
        _mark(flat, self._words, self._table, self._attempt, self._safe, owners, counts)
        ends = np.cumsum(counts)
        out = np.empty(int(ends[-1]) * self._words, np.uint64)
        _grouped(flat, self._words, owners, ends - counts, out)
        rows = out.reshape(-1, self._words)
        return [rows[end - count : end] for end, count in zip(ends, counts, strict=True)]
