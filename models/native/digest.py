"""The fixed 64-bit mix of packed states: the same in every process and on every machine."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

SEED = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xFF51AFD7ED558CCD)
SECOND = np.uint64(0xC4CEB9FE1A85EC53)
HALF = np.uint64(32)
NEARLY_HALF = np.uint64(29)


@numba.njit(cache=True, inline="always")
def mix_row(rows: Any, row: Any, words: Any) -> Any:
    """Digest of one row: each word is mixed in by a bijection of the 64 bits."""
    value = SEED
    for k in range(words):
        value = (value ^ rows[row, k]) * FIRST
        value ^= value >> HALF
    value *= SECOND
    return value ^ (value >> NEARLY_HALF)


@numba.njit(cache=True, nogil=True)
def digest_rows(rows: Any) -> Any:
    """Digest of each row of a block."""
    found = np.empty(rows.shape[0], dtype=np.uint64)
    for row in range(rows.shape[0]):
        found[row] = mix_row(rows, row, rows.shape[1])
    return found
