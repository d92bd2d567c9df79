"""The loops of the table of visited states: claim slots for successors, settle their numbers, grow, look up.

A slot of the table is 64 bits: a tag (half of the digest, its last bit set) above the number of the state
plus one; zero is empty. Slots are used in buckets of one cache line, from left to right, then in the next
bucket. A bucket is found by multiplying, not by masking, so that the table may have any size. The table is
cut into equal shards; a digest belongs to one shard at any size, and only the shard's worker writes there.

Within a round a new state has a provisional number: ``known`` plus the place of its row among the rows of the
round. Rows are compared word by word: the digest only tells where to look, so that no two states are ever
taken for one.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from models.native.digest import mix

GROUP = 32
"""Rows whose table slots are fetched into the cache together."""
BUCKET = 8
"""Slots of a bucket: 64 bytes."""
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
ONE = np.uint64(1)


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
def _scaled(digest: Any, size: Any) -> Any:
    """The upper half of a digest as a place among ``size``: its bucket, or its shard."""
    return np.int64(((digest >> HALF) * size) >> HALF)


@numba.njit(cache=True, inline="always")
def _tag(digest: Any) -> Any:
    """The tag in the upper half of a slot; it is never zero."""
    return (digest & LOW) | ONE


@numba.njit(cache=True, inline="always")
def _candidate(table: Any, bucket: Any, tag: Any) -> Any:
    """The greatest entry of a bucket with this tag, 0 if there is none. Without jumps, in vector code."""
    best = np.uint64(0)
    for k in range(BUCKET):
        entry = table[bucket + k]
        best = max(best, entry if entry >> HALF == tag else np.uint64(0))
    return best


@numba.njit(cache=True, inline="always")
def _same(rows: Any, first: Any, states: Any, second: Any, words: Any) -> Any:
    for k in range(words):  # noqa: SIM110 - compiled, where a loop is the fast form
        if rows[first + k] != states[second + k]:
            return False
    return True


@numba.njit(cache=True, inline="always")
def _known(  # noqa: PLR0917 - see below
    rows: Any, row: Any, states: Any, number: Any, known: Any, words: Any
) -> Any:
    """Is a row of the round the state of that number, which may be a provisional one?"""
    if number < known:
        return _same(rows, row * words, states, number * words, words)
    return _same(rows, row * words, rows, (number - known) * words, words)


@numba.njit(cache=True, inline="always")
def _gather(  # noqa: PLR0917 - see below
    digests: Any, shard: Any, shards: Any, at: Any, stop: Any, own: Any
) -> Any:
    """The next rows that belong to a shard. Gives how many they are, and the row after them."""
    size = 0
    while at < stop and size < GROUP:
        own[size] = at  # without a jump: whether a row belongs here cannot be foreseen
        size += int(_scaled(digests[at], shards) == shard)
        at += 1
    return size, at


@numba.njit(cache=True, nogil=True)
def digest_round(rows: Any, words: Any, first: Any, count: Any, digests: Any) -> None:
    """Digests of rows ``first`` .. ``first + count - 1``."""
    for row in range(first, first + count):
        digests[row] = mix(rows, row * words, words)


@numba.njit(cache=True, nogil=True)
def claim(  # noqa: C901, PLR0917 - one compiled loop over plain positional arrays
    rows: Any, words: Any, digests: Any, room: Any, counts: Any,
    shard: Any, shards: Any, table: Any, states: Any, known: Any,
    places: Any, fresh: Any, resume: Any, filled: Any, full: Any,
) -> Any:  # fmt: skip
    """Enter the unknown rows of a round that belong to one shard, in order, with provisional numbers.

    Rows of chunk c are ``c * room`` .. ``c * room + counts[c] - 1``. ``places`` gets the slot of each new
    row, and -1 for a known one; ``fresh[shard, c]`` counts the new ones. Goes on from ``resume[shard]``
    (chunk, row) and stops there, with the answer False, when ``filled[shard]`` reaches ``full``.
    """
    buckets, sharded = np.uint64(table.size // BUCKET), np.uint64(shards)
    begin = shard * (table.size // shards)
    end = begin + table.size // shards
    own = np.empty(GROUP + 1, dtype=np.int64)
    where = np.empty(GROUP, dtype=np.int64)
    likely = np.empty(GROUP, dtype=np.uint64)
    taken = filled[shard]  # counted here and written back: neighbours in memory belong to other workers
    for chunk in range(resume[shard, 0], counts.size):
        before = taken
        at = resume[shard, 1] if chunk == resume[shard, 0] else 0
        stop = chunk * room + counts[chunk]
        at += chunk * room
        while at < stop:
            size, at = _gather(digests, shard, sharded, at, stop, own)
            for j in range(size):
                where[j] = _scaled(digests[own[j]], buckets) * BUCKET
                prefetch(table, where[j])
            for j in range(size):
                likely[j] = _candidate(table, where[j], _tag(digests[own[j]]))
                number = np.int64(likely[j] & LOW) - 1
                if 0 <= number < known:
                    prefetch(states, number * words)
            for j in range(size):
                row, place = own[j], where[j]
                number = np.int64(likely[j] & LOW) - 1
                if number >= 0 and _known(rows, row, states, number, known, words):
                    places[row] = -1
                    continue
                tag = _tag(digests[row])
                while True:
                    entry = table[place]
                    if entry == 0:
                        if taken >= full:
                            filled[shard] = taken
                            fresh[shard, chunk] += taken - before
                            resume[shard, 0] = chunk
                            resume[shard, 1] = row - chunk * room
                            return False
                        table[place] = (tag << HALF) | np.uint64(known + row + 1)
                        places[row] = place
                        taken += 1
                        break
                    number = np.int64(entry & LOW) - 1
                    if entry >> HALF == tag and _known(rows, row, states, number, known, words):
                        places[row] = -1
                        break
                    place += 1
                    if place == end:
                        place = begin
        fresh[shard, chunk] += taken - before
    filled[shard] = taken
    resume[shard, 0] = counts.size
    return True


@numba.njit(cache=True, nogil=True)
def enter_alone(  # noqa: PLR0917 - see above
    rows: Any, words: Any, parent: Any, step: Any, steps: Any, at: Any, stop: Any,
    table: Any, states: Any, links: Any, known: Any, full: Any,
) -> Any:  # fmt: skip
    """``claim`` and ``settle`` in one, for a table of one shard: rows ``at`` .. ``stop - 1`` of one chunk.

    Stops early where ``known`` would exceed ``full``. Gives (next row to enter, number of states).
    """
    buckets = np.uint64(table.size // BUCKET)
    where = np.empty(GROUP, dtype=np.int64)
    tags = np.empty(GROUP, dtype=np.uint64)
    while at < stop:
        size = min(GROUP, stop - at)
        for j in range(size):
            digest = mix(rows, (at + j) * words, words)
            where[j] = _scaled(digest, buckets) * BUCKET
            tags[j] = _tag(digest)
            prefetch(table, where[j])
        for j in range(size):
            entry = table[where[j]]
            if entry >> HALF == tags[j]:
                prefetch(states, (np.int64(entry & LOW) - 1) * words)
        for j in range(size):
            place, tag, first = where[j], tags[j], (at + j) * words
            while True:
                entry = table[place]
                if entry == 0:
                    if known >= full:
                        return at + j, known
                    table[place] = (tag << HALF) | np.uint64(known + 1)
                    for k in range(words):
                        states[known * words + k] = rows[first + k]
                    links[known] = parent[at + j] * steps + step[at + j]
                    known += 1
                    break
                if entry >> HALF == tag and _same(
                    rows, first, states, (np.int64(entry & LOW) - 1) * words, words
                ):
                    break
                place += 1
                if place == table.size:
                    place = 0
        at += size
    return at, known


@numba.njit(cache=True, nogil=True)
def settle(  # noqa: PLR0917 - see above
    rows: Any, words: Any, first: Any, count: Any, places: Any, parent: Any, step: Any, steps: Any,
    table: Any, states: Any, links: Any, number: Any,
) -> None:  # fmt: skip
    """Give the new rows of a chunk their final numbers from ``number`` on, and append them to the states."""
    for row in range(first, first + count):
        place = places[row]
        if place < 0:
            continue
        table[place] = (table[place] & ~LOW) | np.uint64(number + 1)
        for k in range(words):
            states[number * words + k] = rows[row * words + k]
        links[number] = parent[row] * steps + step[row]
        number += 1


@numba.njit(cache=True, nogil=True)
def regrow(  # noqa: PLR0917 - see above
    old: Any, new: Any, shard: Any, shards: Any,
    states: Any, words: Any, known: Any, digests: Any, places: Any,
) -> None:  # fmt: skip
    """Move the entries of a shard into its part of a larger, empty table.

    Entries with provisional numbers are found again through ``places``.
    """
    buckets = np.uint64(new.size // BUCKET)
    begin, end = shard * (new.size // shards), (shard + 1) * (new.size // shards)
    at, stop = shard * (old.size // shards), (shard + 1) * (old.size // shards)
    held = np.empty(GROUP + 1, dtype=np.uint64)
    while at < stop:
        size = 0
        while at < stop and size < GROUP:
            held[size] = old[at]
            size += int(old[at] != 0)
            at += 1
        for j in range(size):
            number = np.int64(held[j] & LOW) - 1
            if number < known:
                prefetch(states, number * words)
        for j in range(size):
            number = np.int64(held[j] & LOW) - 1
            digest = mix(states, number * words, words) if number < known else digests[number - known]
            place = _scaled(digest, buckets) * BUCKET
            while new[place] != 0:
                place += 1
                if place == end:
                    place = begin
            new[place] = held[j]
            if number >= known:
                places[number - known] = place


@numba.njit(cache=True, nogil=True)
def fill(  # noqa: PLR0917 - see above
    table: Any, shards: Any, filled: Any, states: Any, words: Any, known: Any
) -> None:
    """Enter the first ``known`` states, all different, into an empty table."""
    buckets, sharded = np.uint64(table.size // BUCKET), np.uint64(shards)
    part = table.size // shards
    where = np.empty(GROUP, dtype=np.int64)
    digests = np.empty(GROUP, dtype=np.uint64)
    for at in range(0, known, GROUP):
        size = min(GROUP, known - at)
        for j in range(size):
            digests[j] = mix(states, (at + j) * words, words)
            where[j] = _scaled(digests[j], buckets) * BUCKET
            prefetch(table, where[j])
        for j in range(size):
            place, shard = where[j], _scaled(digests[j], sharded)
            while table[place] != 0:
                place += 1
                if place == (shard + 1) * part:
                    place = shard * part
            table[place] = (_tag(digests[j]) << HALF) | np.uint64(at + j + 1)
            filled[shard] += 1


@numba.njit(cache=True, nogil=True)
def find(rows: Any, words: Any, table: Any, shards: Any, states: Any) -> Any:
    """The number of each row among the states, or -1."""
    buckets, sharded = np.uint64(table.size // BUCKET), np.uint64(shards)
    part = table.size // shards
    found = np.empty(rows.size // words, dtype=np.int64)
    for row in range(found.size):
        digest = mix(rows, row * words, words)
        place, tag, shard = _scaled(digest, buckets) * BUCKET, _tag(digest), _scaled(digest, sharded)
        found[row] = -1
        while table[place] != 0:
            entry = table[place]
            number = np.int64(entry & LOW) - 1
            if entry >> HALF == tag and _same(rows, row * words, states, number * words, words):
                found[row] = number
                break
            place += 1
            if place == (shard + 1) * part:
                place = shard * part
    return found
