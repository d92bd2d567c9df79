"""Partial-order reduction: from a state only a stubborn set of the enabled steps is followed, which is enough
to find every deadlock and every broken invariant.

A set of steps is stubborn if no step outside it, nor any run of these, can enable, disable or be disturbed by
a member (Valmari; Godefroid). By the footprints of the steps it is closed under dependence, for enabled
members, and under what may make one false conjunct of the guard true, for disabled ones. Two more conditions
keep invariants: the followed steps write nothing that a claim reads, and one of them leads to a state that is
expanded later (Bosnacki and Holzmann's condition for breadth-first search), so that no step is postponed for
ever. The last condition compares numbers of states, which do not depend on the workers.

Unsound, and refused: claims about steps, witnesses and liveness; an instance whose bounds are left by a step,
for the postponed step might have stayed within them.
"""

from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from tidemark.models.native.codegen.module import violation
from tidemark.models.native.errors import ReductionError
from tidemark.models.native.footprints import NOTHING, Footprint, Footprints
from tidemark.models.native.kernel import Conditions, Kernel
from tidemark.models.native.search.table import Rows, Visited
from tidemark.spec.language.expr import Expr
from tidemark.spec.language.spec import Property

MOST_STEPS = 1024
"""Steps whose dependences are compared pair by pair at most."""
DECIDED = ("invariant", "lemma")
"""Kinds of claim that a reduced search decides, beside deadlocks."""
Bits = NDArray[np.uint64]
ONE = np.uint64(1)


@numba.njit(cache=True, nogil=True)
def _closure(  # noqa: PLR0917 - a compiled loop takes plain positional arrays
    seed: Any, enabled: Any, holds: Any, depends: Any, conjuncts: Any, enables: Any, found: Any, todo: Any
) -> None:
    """The least stubborn set with the enabled step ``seed``; given up once it has all enabled steps."""
    groups = enabled.size
    found[:] = 0
    todo[:] = 0
    found[seed // 64] |= ONE << np.uint64(seed % 64)
    todo[seed // 64] |= ONE << np.uint64(seed % 64)
    going = True
    while going:
        going = False
        for group in range(groups):
            while todo[group] != 0:
                bit = 0
                while (todo[group] >> np.uint64(bit)) & ONE == 0:
                    bit += 1
                todo[group] &= ~(ONE << np.uint64(bit))
                step = group * 64 + bit
                add = depends[step]
                if (enabled[group] >> np.uint64(bit)) & ONE == 0:
                    for part in range(conjuncts[step], conjuncts[step + 1]):
                        if (holds[part // 64] >> np.uint64(part % 64)) & ONE == 0:
                            add = enables[part]  # until this conjunct holds, the step stays disabled
                            break
                for other in range(groups):
                    more = add[other] & ~found[other]
                    found[other] |= more
                    todo[other] |= more
                going = True
        whole = True
        for group in range(groups):
            whole &= enabled[group] & ~found[group] == 0
        if whole:
            return


@numba.njit(cache=True, nogil=True)
def _choose(  # noqa: PLR0917 - see above
    enabled: Any, holds: Any, depends: Any, conjuncts: Any, enables: Any, visible: Any, chosen: Any
) -> None:
    """For each row its smallest stubborn set of invisible enabled steps; all enabled ones without one."""
    groups = enabled.shape[1]
    found, todo = np.empty(groups, dtype=np.uint64), np.empty(groups, dtype=np.uint64)
    for row in range(enabled.shape[0]):
        chosen[row] = enabled[row]
        least = 0
        for step in range(groups * 64):
            least += int((enabled[row, step // 64] >> np.uint64(step % 64)) & ONE)
        for seed in range(groups * 64):
            if least == 1 or (enabled[row, seed // 64] >> np.uint64(seed % 64)) & ONE == 0:
                continue
            _closure(seed, enabled[row], holds[row], depends, conjuncts, enables, found, todo)
            size, seen = 0, False
            for group in range(groups):
                found[group] &= enabled[row, group]
                seen |= found[group] & visible[group] != 0
                for bit in range(64):
                    size += int((found[group] >> np.uint64(bit)) & ONE)
            if size < least and not seen:
                least = size
                chosen[row] = found


@numba.njit(cache=True, nogil=True)
def _mark(parent: Any, step: Any, first: Any, count: Any, enabled: Any) -> None:
    for at in range(first, first + count):
        enabled[parent[at], step[at] // 64] |= ONE << np.uint64(step[at] % 64)


@numba.njit(cache=True, nogil=True)
def _followed(  # noqa: PLR0917 - see above
    parent: Any, step: Any, first: Any, chosen: Any, numbers: Any, base: Any, goes_on: Any
) -> None:
    """Marks the rows one of whose chosen steps leads to a state that is expanded later."""
    for at in range(numbers.size):
        row, by = parent[first + at], step[first + at]
        if (chosen[row, by // 64] >> np.uint64(by % 64)) & ONE != 0 and (
            numbers[at] < 0 or numbers[at] > base + row
        ):
            goes_on[row] = True


@numba.njit(cache=True, nogil=True)
def _compact(  # noqa: PLR0917 - see above
    rows: Any, words: Any, parent: Any, step: Any, first: Any, count: Any, chosen: Any, goes_on: Any
) -> Any:
    into = first
    for at in range(first, first + count):
        row, by = parent[at], step[at]
        if not goes_on[row] or (chosen[row, by // 64] >> np.uint64(by % 64)) & ONE != 0:
            for k in range(words):
                rows[into * words + k] = rows[at * words + k]
            parent[into], step[into] = row, by
            into += 1
    return into - first


class Reduction:
    """Stubborn sets of one kernel, for deadlocks and some invariants. Raises ReductionError."""

    def __init__(self, kernel: Kernel, claims: Sequence[Property]) -> None:
        for claim in claims:
            if claim.kind not in DECIDED:
                raise ReductionError(
                    f"{kernel.instance.name}: {claim.id} is a {claim.kind.replace('_', ' ')}, which a "
                    "reduced search cannot decide; search without reduction"
                )
        if len(kernel.steps) > MOST_STEPS:
            raise ReductionError(
                f"{kernel.instance.name}: {len(kernel.steps)} steps, more than {MOST_STEPS}; lower the "
                "bounds, or search without reduction"
            )
        self.kernel, self.claims = kernel, tuple(claims)
        prints = Footprints(kernel.instance)
        steps = [prints.of(step) for step in kernel.steps]
        watched = NOTHING.union(*(prints.reads(violation(claim)) for claim in claims))
        self.groups = max(1, -(-len(steps) // 64))
        self.depends = np.zeros((len(steps), self.groups), dtype=np.uint64)
        self.visible = np.zeros(self.groups, dtype=np.uint64)
        for number, one in enumerate(steps):
            if one.writes & watched:
                _set(self.visible, number)
            for other, two in enumerate(steps):
                if number != other and (one.writes & (two.reads | two.writes) or two.writes & one.reads):
                    _set(self.depends[number], other)
        self._guards(steps)

    def _guards(self, steps: Sequence[Footprint]) -> None:
        """For each conjunct of each step's guard, the steps that may make it true; the fewest come first."""
        conjuncts, rows, parts = [0], list[Bits](), list[Expr]()
        for step in steps:
            found = []
            for part, cells in step.guard:
                row = np.zeros(self.groups, dtype=np.uint64)
                writers = [number for number, other in enumerate(steps) if other.writes & cells]
                for number in writers:
                    _set(row, number)
                found.append((len(writers), part, row))
            for _, part, row in sorted(found, key=lambda item: item[0]):
                parts.append(part)
                rows.append(row)
            conjuncts.append(len(parts))
        self.conjuncts = np.array(conjuncts, dtype=np.int64)
        self.enables = np.array(rows, dtype=np.uint64).reshape(-1, self.groups)
        self.holds = Conditions(self.kernel.instance, parts, folder=self.kernel.folder)

    def reduce(self, rows: Rows, count: int, visited: Visited, span: tuple[int, int]) -> int:
        """Drop successors of a chunk (states ``span``) that need not be followed; gives the others."""
        base, end = span
        enabled = np.zeros((end - base, self.groups), dtype=np.uint64)
        _mark(rows.parent, rows.step, 0, count, enabled)
        chosen = np.empty_like(enabled)
        holds = self.holds.evaluate(visited.states[base:end])
        _choose(enabled, holds, self.depends, self.conjuncts, self.enables, self.visible, chosen)
        goes_on = np.zeros(end - base, dtype=np.bool_)
        numbers = visited.find(rows.packed[:count])
        _followed(rows.parent, rows.step, 0, chosen, numbers, base, goes_on)
        return int(_compact(rows.flat, rows.words, rows.parent, rows.step, 0, count, chosen, goes_on))


def _set(bits: Bits, number: int) -> None:
    bits[number // 64] |= np.uint64(1 << number % 64)
