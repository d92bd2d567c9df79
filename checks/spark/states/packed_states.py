"""Sets of packed states as sorted runs: sort, remove duplicates, subtract, merge.

A state is a row of ``uint64`` words. A *run* is a block of different states in ascending order of (digest,
words). The digest is a fixed mix of the words, the same in every process and on every machine, and uniform,
which makes sorting by buckets and searching by leaps cheap. Runs are immutable, so that many processes can
read the same file.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

from tidemark.models.native.digest import mix

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile to machine code at the first call; the result is cached on disk and shared by all worker
    processes.
    """
    return cast("F", numba.njit(cache=True, nogil=True)(function))


PackedStates = npt.NDArray[np.uint64]
"""A block of packed states: shape (states, words a state), C order."""

_ROW_BUCKET = (
    4  # states in a bucket on average: few enough for insertion, many enough to keep the counters in cache
)


@compiled
def _order(  # noqa: PLR0917 - compiled code takes no keywords
    digest_a: int, a: PackedStates, i: int, digest_b: int, b: PackedStates, j: int
) -> int:  # pragma: no cover - machine code
    """-1, 0 or 1 as row ``i`` of ``a`` comes before, is, or comes after row ``j`` of ``b``."""
    if digest_a != digest_b:
        return -1 if digest_a < digest_b else 1
    for word in range(a.shape[1]):
        if a[i, word] != b[j, word]:
            return -1 if a[i, word] < b[j, word] else 1
    return 0


@compiled
def _sort(
    block: PackedStates, keys: PackedStates, rows: npt.NDArray[np.int64]
) -> None:  # pragma: no cover - machine code
    """Fill ``rows`` with the row numbers in ascending order, and put ``keys`` (the digests) into that order.

    Rows go to buckets by the top bits of the digest, and are sorted by insertion there.
    """
    size = block.shape[0]
    bits = 1
    while (_ROW_BUCKET << bits) < size:
        bits += 1
    shift = np.uint64(64 - bits)
    starts = np.zeros((1 << bits) + 1, np.int64)
    for row in range(size):
        starts[np.int64(keys[row] >> shift) + 1] += 1
    for bucket in range(1 << bits):
        starts[bucket + 1] += starts[bucket]
    ends = starts.copy()
    ordered = np.empty_like(keys)
    for row in range(size):
        key = keys[row]
        home = np.int64(key >> shift)
        at = ends[home]
        ends[home] += 1
        while at > starts[home] and _order(ordered[at - 1], block, rows[at - 1], key, block, row) > 0:
            rows[at], ordered[at] = rows[at - 1], ordered[at - 1]
            at -= 1
        rows[at], ordered[at] = row, key
    keys[:] = ordered


@compiled
def _digests(block: PackedStates) -> PackedStates:  # pragma: no cover - machine code
    words, flat = block.shape[1], block.reshape(-1)
    out = np.empty(block.shape[0], np.uint64)
    for row in range(block.shape[0]):
        out[row] = mix(flat, row * words, words)
    return out


@compiled
def sorted_run(block: PackedStates) -> PackedStates:  # pragma: no cover - machine code
    """The run of the states of a block: sorted, every state once."""
    keys = _digests(block)
    rows = np.empty(block.shape[0], np.int64)
    _sort(block, keys, rows)
    out = np.empty_like(block)
    count = 0
    for place in range(rows.size):
        row = rows[place]
        if place > 0 and _order(keys[place - 1], block, rows[place - 1], keys[place], block, row) == 0:
            continue
        for word in range(block.shape[1]):
            out[count, word] = block[row, word]
        count += 1
    return out[:count].copy()


@compiled
def mark_known(
    run: PackedStates, known: PackedStates, seen: npt.NDArray[np.bool_]
) -> None:  # pragma: no cover - machine code
    """Set ``seen`` for the rows of ``run`` that occur in the run ``known``.

    Leaps through ``known`` (galloping search), so that a small run costs little against a large one, and a
    large one no more than a merge.
    """
    words = run.shape[1]
    flat_run, flat_known = run.reshape(-1), known.reshape(-1)
    end = known.shape[0]
    low = 0
    for row in range(run.shape[0]):
        if low >= end:
            return
        key = mix(flat_run, row * words, words)
        leap, high = 1, low
        while high < end and _order(mix(flat_known, high * words, words), known, high, key, run, row) < 0:
            low = high + 1
            high += leap
            leap *= 2
        high = min(high, end)
        while low < high:
            middle = (low + high) // 2
            if _order(mix(flat_known, middle * words, words), known, middle, key, run, row) < 0:
                low = middle + 1
            else:
                high = middle
        if low < end and _order(mix(flat_known, low * words, words), known, low, key, run, row) == 0:
            seen[row] = True


@compiled
def merge(
    first: PackedStates, second: PackedStates, out: PackedStates
) -> None:  # pragma: no cover - machine code
    """Merge two disjoint runs into ``out``, whose rows are as many as both have."""
    words = out.shape[1]
    flat_first, flat_second = first.reshape(-1), second.reshape(-1)
    i = j = 0
    for row in range(out.shape[0]):
        if j >= second.shape[0]:
            take = True
        elif i >= first.shape[0]:
            take = False
        else:
            take = (
                _order(
                    mix(flat_first, i * words, words), first, i, mix(flat_second, j * words, words), second, j
                )
                < 0
            )
        if take:
            for word in range(out.shape[1]):
                out[row, word] = first[i, word]
            i += 1
        else:
            for word in range(out.shape[1]):
                out[row, word] = second[j, word]
            j += 1


def owners_of(block: PackedStates, partitions: int) -> npt.NDArray[np.int64]:
    """The owning partition of every state, by the low half of its digest."""
    low = _digests(block) & np.uint64(0xFFFFFFFF)
    return ((low * np.uint64(partitions)) >> np.uint64(32)).astype(np.int64)


def minus(run: PackedStates, known: list[PackedStates]) -> PackedStates:
    """The run without the states of any of the runs in ``known``."""
    seen = np.zeros(run.shape[0], np.bool_)
    for other in known:
        mark_known(run, other, seen)
    return run[~seen] if seen.any() else run


def least(block: PackedStates) -> PackedStates:
    """The state of a block that is least word by word: a choice which depends on no order. The block has a
    state.
    """
    keys = tuple(block[:, word] for word in reversed(range(block.shape[1])))
    chosen: PackedStates = block[np.lexsort(keys)[0]]
    return chosen
