"""The loops of the table of visited states: insert successors, commit them to their numbers, rehash, look up.

States are in a store of packed rows. Its front part holds rows that several workers found new in the present
round, a part for each chunk; behind it are the numbered states. A slot of the table is 64 bits: a tag (half
of the digest, its last bit set) above the place in the store plus one; zero is empty. The search for a digest
begins at its own slot, cycles through the bucket (one cache line), then moves to the next bucket. Its slot is
found by multiplying, not by masking, so that the table may have any size. Rows are compared word by word: the
digest only says where to look, so that two states are never merged.

All workers write to one table. A slot changes from empty to a place, and from a place in the front part to an
earlier one that holds an equal row; so whatever the workers' speed, it ends with the first of all equal rows.
"""

from typing import Any

import numba
import numpy as np

from tidemark.models.native.atomic import add, load, prefetch, replace
from tidemark.models.native.digest import mix

GROUP = 32
"""Rows whose table slots are fetched into the cache together."""
STRIDE = 256
"""Rows between two looks at the load of the table: each worker may exceed the bound by as many."""
BUCKET = 8
"""Slots of a bucket: 64 bytes."""
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
ONE = np.uint64(1)


@numba.njit(cache=True, inline="always")
def _home(digest: Any, size: Any) -> Any:
    """The slot where the search for a digest begins: its upper half, scaled to the number of slots."""
    return np.int64(((digest >> HALF) * size) >> HALF)


@numba.njit(cache=True, inline="always")
def _tag(digest: Any) -> Any:
    """The tag in the upper half of a slot; it is never zero."""
    return (digest & LOW) | ONE


@numba.njit(cache=True, inline="always")
def _slot(tag: Any, place: Any) -> Any:
    return (tag << HALF) | np.uint64(place + 1)


@numba.njit(cache=True, inline="always")
def _place(slot: Any) -> Any:
    return np.int64(slot & LOW) - 1


@numba.njit(cache=True, inline="always")
def _same(rows: Any, first: Any, store: Any, second: Any, words: Any) -> Any:
    for k in range(words):  # noqa: SIM110 - compiled, where a loop is the fast form
        if rows[first + k] != store[second + k]:
            return False
    return True


@numba.njit(cache=True, inline="always")
def _next(slot: Any, home: Any, size: Any) -> Any:
    """The slot after this one: round the bucket, then at the same place of the next bucket."""
    slot = (slot & -BUCKET) | ((slot + 1) & (BUCKET - 1))
    if (slot ^ home) & (BUCKET - 1) == 0:
        slot += BUCKET
        if slot >= size:
            slot -= size
    return slot


@numba.njit(cache=True)
def _take(  # noqa: PLR0917 - see below
    table: Any, slot: Any, entry: Any, tag: Any, into: Any, slots: Any, lost: Any, room: Any
) -> Any:
    """Write place ``into`` to a slot that held ``entry``. Gives False if another worker has changed it."""
    if slots is None:
        table[slot] = _slot(tag, into)
        return True
    slots[into] = slot  # before others can see the place, so that they may overwrite it
    if not replace(table, slot, entry, _slot(tag, into)):
        return False
    if entry != 0:
        slots[_place(entry)] = -1
        lost[_place(entry) // room] += 1
    return True


@numba.njit(cache=True)
def _is_final(place: Any, into: Any, slots: Any) -> Any:
    """Does a place stay if an equal row is entered at ``into``? Not if it is that of a later chunk."""
    return slots is None or place <= into or place >= slots.size


@numba.njit(cache=True, nogil=True)
def insert(  # noqa: C901, PLR0917 - one compiled loop over plain positional arrays
    rows: Any, words: Any, parent: Any, step: Any, steps: Any, at: Any, stop: Any,
    table: Any, filled: Any, full: Any, store: Any, links: Any, into: Any,
    slots: Any, lost: Any, room: Any,
) -> Any:  # fmt: skip
    """Enter rows ``at`` .. ``stop - 1``; unknown ones are put into the store from place ``into`` on.

    If ``slots`` and ``lost`` are None, this worker is the only one, and the places are final. Else they are
    in the front part, with ``room`` for each chunk: ``slots`` gets the slot of each new row, and -1 when an
    equal row of an earlier chunk takes it over, which is counted in ``lost`` of the later chunk. Stops where
    ``filled[0]`` has reached ``full``. Gives (next row to enter, end of the places used).
    """
    capacity = np.uint64(table.size)
    where = np.empty(GROUP, dtype=np.int64)
    tags = np.empty(GROUP, dtype=np.uint64)
    while at < stop and load(filled, 0) < full:
        taken, pause = 0, min(at + STRIDE, stop)
        while at < pause:
            size = min(GROUP, pause - at)
            for j in range(size):
                digest = mix(rows, (at + j) * words, words)
                where[j] = _home(digest, capacity)
                tags[j] = _tag(digest)
                prefetch(table, where[j])
            for j in range(size):
                entry = table[where[j]]
                if entry >> HALF == tags[j]:
                    prefetch(store, _place(entry) * words)
            for j in range(size):
                slot, tag, first = where[j], tags[j], (at + j) * words
                while True:
                    entry = load(table, slot)
                    if entry != 0:
                        place = _place(entry)
                        if entry >> HALF != tag or not _same(rows, first, store, place * words, words):
                            slot = _next(slot, where[j], table.size)
                            continue
                        if _is_final(place, into, slots):
                            break
                    for k in range(words):
                        store[into * words + k] = rows[first + k]
                    links[into] = parent[at + j] * steps + step[at + j]
                    if _take(table, slot, entry, tag, into, slots, lost, room):
                        taken += int(entry == 0)
                        into += 1
                        break
            at += size
        add(filled, 0, taken)
    return at, into


@numba.njit(cache=True, nogil=True)
def commit(  # noqa: PLR0917 - see above
    first: Any, last: Any, words: Any, table: Any, store: Any, links: Any, slots: Any, into: Any
) -> None:
    """Move the rows of a chunk in the front part, except those taken over, to their final places."""
    for place in range(first, last):
        if place + GROUP < last:
            prefetch(table, max(0, slots[place + GROUP]))
        slot = slots[place]
        if slot < 0:
            continue
        table[slot] = _slot(table[slot] >> HALF, into)
        for k in range(words):
            store[into * words + k] = store[place * words + k]
        links[into] = links[place]
        into += 1


@numba.njit(cache=True, nogil=True)
def rehash(first: Any, last: Any, words: Any, table: Any, store: Any, front: Any, slots: Any) -> None:  # noqa: PLR0917
    """Enter the states at places ``first`` .. ``last - 1``, all different, into a new table; several workers
    may do this at a time. Rows of the front part get new ``slots``.
    """
    capacity = np.uint64(table.size)
    where = np.empty(GROUP, dtype=np.int64)
    tags = np.empty(GROUP, dtype=np.uint64)
    for at in range(first, last, GROUP):
        size = min(GROUP, last - at)
        for j in range(size):
            digest = mix(store, (at + j) * words, words)
            where[j] = _home(digest, capacity)
            tags[j] = _tag(digest)
            prefetch(table, where[j])
        for j in range(size):
            slot, place = where[j], at + j
            if place < front and slots[place] < 0:
                continue
            while load(table, slot) != 0 or not replace(table, slot, np.uint64(0), _slot(tags[j], place)):
                slot = _next(slot, where[j], table.size)
            if place < front:
                slots[place] = slot


@numba.njit(cache=True, nogil=True)
def find(rows: Any, words: Any, table: Any, store: Any, front: Any) -> Any:
    """The number of each row among the states, or -1."""
    capacity = np.uint64(table.size)
    found = np.empty(rows.size // words, dtype=np.int64)
    for row in range(found.size):
        digest = mix(rows, row * words, words)
        home, tag = _home(digest, capacity), _tag(digest)
        slot = home
        found[row] = -1
        while True:
            entry = load(table, slot)
            if entry == 0:
                break
            if entry >> HALF == tag and _same(rows, row * words, store, _place(entry) * words, words):
                found[row] = max(-1, _place(entry) - front)  # -1 for rows of the present round
                break
            slot = _next(slot, home, table.size)
    return found
