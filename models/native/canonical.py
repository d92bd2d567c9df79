"""The loops that find the least of a state's images under renamings of opaque elements.

Trying all renamings would cost factorials. An element has a *mark*, a sum over the values beside it, which is
the same whatever the element is called; only renamings that put the elements of each sort in the order of
their marks are tried. Elements with equal marks whose exchange leaves the state as it is are *alike*: of
renamings that differ by such exchanges one is tried. Equal marks of elements that are not alike cost time and
change no result.
"""

from typing import Any

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def image(  # noqa: PLR0917 - a compiled loop takes plain positional arrays
    rows: Any, first: Any, words: Any,
    moves: Any, masks: Any, span: Any, looked_up: Any, tables: Any, out: Any,
) -> None:  # fmt: skip
    """The image of one row. A move takes masked bits from a word to a word by a rotation; a table renames
    elements.
    """
    for k in range(words):
        out[k] = 0
    for m in range(span[0], span[1]):
        bits, turn = rows[first + moves[m, 0]] & masks[m], moves[m, 2]
        out[moves[m, 1]] |= bits << np.uint64(turn) if turn >= 0 else bits >> np.uint64(-turn)
    for m in range(span[2], span[3]):
        word, shift, into, at, bits, table = looked_up[m]
        value = (rows[first + word] >> np.uint64(shift)) & ((np.uint64(1) << np.uint64(bits)) - np.uint64(1))
        out[into] |= np.uint64(tables[table + np.int64(value)]) << np.uint64(at)


@numba.njit(cache=True, nogil=True)
def _compare(rows: Any, first: Any, image: Any, words: Any) -> Any:
    """-1, 0 or 1: is the image less than the row, equal, greater?"""
    for k in range(words):
        if image[k] != rows[first + k]:
            return -1 if image[k] < rows[first + k] else 1
    return 0


@numba.njit(cache=True, nogil=True)
def _mark(rows: Any, first: Any, beside: Any, weights: Any, marks: Any) -> None:
    """The sums. Of a value that is itself an element, the sum of that element grows."""
    marks[:] = 0
    for m in range(beside.shape[0]):
        element, word, shift, bits = beside[m]
        value = (rows[first + word] >> np.uint64(shift)) & ((np.uint64(1) << np.uint64(bits)) - np.uint64(1))
        if element >= 0:
            marks[element] += value * weights[m]
        else:
            marks[np.int64(value) - element - 1] += weights[m]


@numba.njit(cache=True, nogil=True)
def _order(begin: Any, end: Any, marks: Any, order: Any) -> None:
    """Sort the elements of a sort by their marks; equal ones stay in order."""
    for at in range(begin, end):
        place = at
        while place > begin and marks[order[place - 1]] > marks[at]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = at


@numba.njit(cache=True, nogil=True)
def _in_order(sorts: Any, marks: Any) -> Any:
    """Are all marks of each sort different, and the elements in their order already?"""
    for s in range(sorts.shape[0]):
        for k in range(sorts[s, 0] + 1, sorts[s, 1]):
            if marks[k - 1] >= marks[k]:
                return False
    return True


@numba.njit(cache=True, nogil=True)
def _number(sorts: Any, order: Any, place: Any) -> Any:
    """The number of the renaming that puts the elements of each sort in this order."""
    number = 0
    for s in range(sorts.shape[0]):
        begin, end = sorts[s]
        for k in range(begin, end):
            place[order[k]] = k
        for one in range(begin, end):
            less = 0
            for other in range(one + 1, end):
                less += place[other] < place[one]
            number = number * (end - one) + less
    return number


@numba.njit(cache=True, nogil=True)
def _is_tried(sorts: Any, renaming: Any, marks: Any, like: Any) -> Any:
    """Does a renaming keep the order of the marks, and that of elements that are alike?"""
    for s in range(sorts.shape[0]):
        for one in range(sorts[s, 0], sorts[s, 1]):
            for other in range(one + 1, sorts[s, 1]):
                if marks[one] == marks[other] and like[one] != like[other]:
                    continue
                if (marks[one] <= marks[other]) != (renaming[one] < renaming[other]):
                    return False
    return True


@numba.njit(cache=True, nogil=True)
def canonical(  # noqa: PLR0917 - see above
    rows: Any, words: Any, first: Any, fixing: Any,
    spans: Any, moves: Any, masks: Any, looked_up: Any, tables: Any,
    sorts: Any, renamings: Any, exchanges: Any, beside: Any, weights: Any,
) -> None:  # fmt: skip
    """Replace each of ``fixing.size`` rows by the least of the images that are tried. ``fixing`` gets how
    many renamings leave it as it is.
    """
    elements = renamings.shape[1]
    out, best = np.empty(words, dtype=np.uint64), np.empty(words, dtype=np.uint64)
    marks, order = np.empty(elements, dtype=np.uint64), np.empty(elements, dtype=np.int64)
    like, size = np.empty(elements, dtype=np.int64), np.empty(elements, dtype=np.int64)
    for row in range(fixing.size):
        at = (first + row) * words
        _mark(rows, at, beside, weights, marks)
        fixing[row] = 1
        if _in_order(sorts, marks):
            continue
        only, exchanged = True, 1
        for s in range(sorts.shape[0]):
            _order(sorts[s, 0], sorts[s, 1], marks, order)
            for k in range(sorts[s, 0], sorts[s, 1]):
                one, j = order[k], k - 1
                like[one], size[one] = one, 1
                while j >= sorts[s, 0] and marks[order[j]] == marks[one]:
                    other, j = order[j], j - 1
                    if like[other] != other:
                        continue
                    span = spans[exchanges[other, one]]
                    image(rows, at, words, moves, masks, span, looked_up, tables, out)
                    if _compare(rows, at, out, words) == 0:
                        like[one] = other
                        size[other] += 1
                        exchanged *= size[other]
                        break
                    only = False
        begin = _number(sorts, order, size) if only else 0
        fixing[row] = 0
        for p in range(begin, begin + 1 if only else spans.shape[0]):
            if not only and not _is_tried(sorts, renamings[p], marks, like):
                continue
            image(rows, at, words, moves, masks, spans[p], looked_up, tables, out)
            side = -1 if fixing[row] == 0 else _compare(best, 0, out, words)
            if side < 0:
                best[:] = out
                fixing[row] = 0
            if side <= 0:
                fixing[row] += exchanged
        rows[at : at + words] = best
