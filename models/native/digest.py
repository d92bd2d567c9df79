"""The fixed 64-bit mix of packed states: the same in every process and on every machine.

It must not change: compiled functions on disk contain it, and saved blocks of the distributed search were
divided by it.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

SEED = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xFF51AFD7ED558CCD)
SECOND = np.uint64(0xC4CEB9FE1A85EC53)
HALF = np.uint64(32)
NEARLY_HALF = np.uint64(29)


@numba.njit(cache=True, inline="always")
def mix(flat: Any, first: Any, words: Any) -> Any:
    """Digest of the ``words`` words from ``first`` on; a bijection of the 64 bits mixes in each."""
    value = SEED
    for k in range(words):
        value = (value ^ flat[first + k]) * FIRST
        value ^= value >> HALF
    value *= SECOND
    return value ^ (value >> NEARLY_HALF)


@numba.njit(cache=True, nogil=True)
def _digests(flat: Any, words: Any) -> Any:
    found = np.empty(flat.size // words, dtype=np.uint64)
    for row in range(found.size):
        found[row] = mix(flat, row * words, words)
    return found


def digest_rows(block: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Digest of each row of a block."""
    found: NDArray[np.uint64] = _digests(np.ascontiguousarray(block).reshape(-1), block.shape[1])
    return found
