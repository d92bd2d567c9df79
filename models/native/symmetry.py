"""Symmetry over opaque sorts: of all states that differ only by a renaming of elements, one is kept.

The representative is the least image in the order of the packed words, over all permutations. Elements of a
sort can only be compared for equality, so that a renaming maps runs to runs, unless the protocol or the
instance names single elements; ``Symmetry`` refuses these.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.native.codec import Block, Codec, Field, State
from tidemark.models.native.errors import SymmetryError
from tidemark.models.native.kernel import Kernel
from tidemark.spec.language.expr import Const, Expr, Value, walk
from tidemark.spec.language.spec import Spec
from tidemark.spec.language.types import MapType, NumberType, SortType, Type

MOST = 5040
"""Permutations that are tried on each successor at most (seven elements of one sort)."""
SAMPLE = 256
"""States at which the protocol is checked to treat all elements alike."""
Renaming = tuple[tuple[int, ...], ...]
"""For each sort, in the order of the sorts, the new element of each element."""


@numba.njit(cache=True, nogil=True)
def _image(  # noqa: PLR0917 - a compiled loop takes plain positional arrays
    rows: Any,
    first: Any,
    words: Any,
    moves: Any,
    masks: Any,
    span: Any,
    looked_up: Any,
    tables: Any,
    out: Any,
) -> None:
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
def _canonical(  # noqa: PLR0917 - see above
    rows: Any, words: Any, first: Any, count: Any,
    spans: Any, moves: Any, masks: Any, looked_up: Any, tables: Any,
) -> None:  # fmt: skip
    """Replace each row by the least of its images."""
    image, best = np.empty(words, dtype=np.uint64), np.empty(words, dtype=np.uint64)
    for row in range(first, first + count):
        for k in range(words):
            best[k] = rows[row * words + k]
        for p in range(spans.shape[0]):
            _image(rows, row * words, words, moves, masks, spans[p], looked_up, tables, image)
            for k in range(words):
                if image[k] != best[k]:
                    if image[k] < best[k]:
                        best[:] = image
                    break
        for k in range(words):
            rows[row * words + k] = best[k]


@numba.njit(cache=True, nogil=True)
def _fixing(  # noqa: PLR0917 - see above
    rows: Any, words: Any, spans: Any, moves: Any, masks: Any, looked_up: Any, tables: Any
) -> Any:
    """For each row, how many permutations leave it as it is."""
    found = np.zeros(rows.size // words, dtype=np.int64)
    image = np.empty(words, dtype=np.uint64)
    for row in range(found.size):
        for p in range(spans.shape[0]):
            _image(rows, row * words, words, moves, masks, spans[p], looked_up, tables, image)
            same = True
            for k in range(words):
                same &= image[k] == rows[row * words + k]
            found[row] += same
    return found


class Symmetry:
    """All renamings of the elements of some sorts of an instance. Raises SymmetryError if the sorts are not
    opaque there, or have too many permutations.
    """

    def __init__(self, kernel: Kernel, sorts: Sequence[str]) -> None:
        self.kernel, self.codec = kernel, kernel.codec
        self.instance: Instance = kernel.instance
        self.sorts = tuple(dict.fromkeys(sorts))
        self._kinds = [_sort(self.instance, name) for name in self.sorts]
        sizes = [self.instance.domain(kind).size for kind in self._kinds]
        order = math.prod(math.factorial(size) for size in sizes)
        if order > MOST:
            raise SymmetryError(
                f"{self.instance.name}: {', '.join(self.sorts)} have {order} permutations, more than {MOST}; "
                "lower the bounds, or leave a sort out of the symmetry"
            )
        _check_opaque(self.instance, self._kinds)
        self.renamings: list[Renaming] = list(
            itertools.product(*(itertools.permutations(range(size)) for size in sizes))
        )
        self._numbers = {renaming: number for number, renaming in enumerate(self.renamings)}
        self._arrays = _tables(self.codec, self._kinds, self.renamings)
        self._check_constants()
        self._check_steps()

    @property
    def order(self) -> int:
        """Number of renamings."""
        return len(self.renamings)

    def canonicalise(self, rows: NDArray[np.uint64], first: int, count: int) -> None:
        """Replace rows ``first`` .. ``first + count - 1`` of a line of words by their representatives."""
        _canonical(rows, self.codec.words, first, count, *self._arrays)

    def representatives(self, block: Block) -> Block:
        """The representative of each row."""
        found = np.ascontiguousarray(block).copy()
        self.canonicalise(found.reshape(-1), 0, len(found))
        return found

    def orbits(self, block: Block) -> NDArray[np.int64]:
        """How many states each row stands for."""
        fixing = _fixing(np.ascontiguousarray(block).reshape(-1), self.codec.words, *self._arrays)
        return np.asarray(self.order // fixing)

    def unreduced(self, block: Block, size: int = 1 << 16) -> int:
        """Number of states that all rows together stand for."""
        return sum(int(self.orbits(block[at : at + size]).sum()) for at in range(0, len(block), size))

    def image(self, row: Sequence[int] | NDArray[np.uint64], renaming: Renaming) -> NDArray[np.uint64]:
        """A packed state with its elements renamed."""
        spans, *rest = self._arrays
        given = np.array([int(word) for word in row], dtype=np.uint64)
        found = np.empty_like(given)
        moves, masks, looked_up, tables = rest
        span = spans[self._numbers[renaming]]
        _image(given, 0, self.codec.words, moves, masks, span, looked_up, tables, found)
        return found

    def state(self, state: State, renaming: Renaming) -> State:
        """An interpreter's state with its elements renamed."""
        return self.codec.unpack(self.image(self.codec.pack(state), renaming))

    def step(self, step: Step, renaming: Renaming) -> Step:
        """A step with its parameters renamed."""
        params = self.instance.spec.action(step.action).params
        args = (self._value(p.type, value, renaming) for p, value in zip(params, step.args, strict=True))
        return Step(step.action, tuple(args))

    def _value(self, kind: Type, value: Value, renaming: Renaming) -> Value:
        return renaming[self._kinds.index(kind)][int(value)] if kind in self._kinds else value

    def to_representative(self, state: State) -> Renaming:
        """A renaming that makes a state its representative."""
        row = self.codec.pack(state)
        wanted = self.representatives(np.array([row], dtype=np.uint64))[0]
        return next(r for r in self.renamings if np.array_equal(self.image(row, r), wanted))

    def _swaps(self) -> Iterator[Renaming]:
        """Exchanges of neighbours, which generate all renamings."""
        for renaming in self.renamings:
            moved = sum(value != at for part in renaming for at, value in enumerate(part))
            near = all(abs(value - at) <= 1 for part in renaming for at, value in enumerate(part))
            if moved == 2 and near:
                yield renaming

    def _check_constants(self) -> None:
        for variable in self.instance.spec.constants:
            kind = variable.type
            if not isinstance(kind, MapType) or not {*kind.keys, kind.value} & set(self._kinds):
                continue
            table = dict(
                zip(self.instance.entries(kind), self.instance.map_constants[variable.name], strict=True)
            )
            for swap in self._swaps():
                for keys, value in table.items():
                    moved = tuple(self._value(k, key, swap) for k, key in zip(kind.keys, keys, strict=True))
                    if table[moved] != self._value(kind.value, value, swap):
                        raise self._apart(f"the constant {variable.name} tells")

    def _check_steps(self) -> None:
        """Renamed states have renamed successors: asked of the first states, initial ones first."""
        block = np.unique(self.kernel.initial_block(), axis=0)
        initial = {tuple(row) for row in block.tolist()}
        for swap in self._swaps():
            if any(tuple(self.image(row, swap).tolist()) not in initial for row in block[:SAMPLE]):
                raise self._apart("the initial states tell")
        while 0 < len(block) < SAMPLE:
            larger = np.unique(np.concatenate([block, self.kernel.expand(block).successors]), axis=0)
            if len(larger) == len(block):
                break
            block = larger
        for row in block[:SAMPLE]:
            for swap in self._swaps():
                self._compare(row, swap)

    def _compare(self, row: NDArray[np.uint64], swap: Renaming) -> None:
        here = self.kernel.expand(row.reshape(1, -1)).successors
        there = self.kernel.expand(self.image(row, swap).reshape(1, -1)).successors
        if sorted(tuple(self.image(one, swap).tolist()) for one in here) != sorted(
            map(tuple, there.tolist())
        ):
            raise self._apart(f"the steps from {self.codec.unpack(row)} tell")

    def _apart(self, what: str) -> SymmetryError:
        return SymmetryError(
            f"{self.instance.name}: {what} the elements of {', '.join(self.sorts)} apart; leave the sort out "
            "of the symmetry"
        )


def _sort(instance: Instance, name: str) -> SortType:
    for kind in instance.spec.types:
        if kind.name == name and isinstance(kind, SortType):
            return kind
    known = ", ".join(kind.name for kind in instance.spec.types if isinstance(kind, SortType)) or "none"
    raise SymmetryError(
        f"{instance.name}: {name!r} is not an opaque sort of {instance.protocol}; its sorts: {known}"
    )


def _expressions(spec: Spec) -> Iterator[tuple[str, Expr]]:
    for action in spec.actions:
        for guard in action.guards:
            yield f"the guard of {action.name}", guard.expr
        for variable, expr in action.updates:
            yield f"the assignment of {variable.name} in {action.name}", expr
    for prop in spec.properties:
        yield prop.id, prop.expr
        yield prop.id, prop.premise
    for condition in spec.initially:
        yield "a condition on initial states", condition


def _check_opaque(instance: Instance, kinds: Sequence[SortType]) -> None:
    """No text may name an element, as a scalar constant does; none may be the value out of bounds."""
    for where, expr in _expressions(instance.spec):
        for part in walk(expr):
            if isinstance(part, Const) and part.type in kinds:
                raise SymmetryError(
                    f"{instance.name}: {where} names the element {part.value} of {part.type}; leave "
                    f"{part.type} out of the symmetry"
                )
    for variable in (*instance.spec.variables, *instance.spec.constants):
        kind = variable.type
        if (
            isinstance(kind, MapType)
            and kind.value in kinds
            and any(isinstance(key, NumberType) for key in kind.keys)
        ):
            raise SymmetryError(
                f"{instance.name}: outside the bounds every entry of {variable.name} is one element of "
                f"{kind.value}; leave {kind.value} out of the symmetry"
            )


def _tables(
    codec: Codec, kinds: Sequence[SortType], renamings: Sequence[Renaming]
) -> tuple[NDArray[Any], ...]:
    """Moves of all renamings, one after another, with the begin and end of each."""
    spans, moves, masks, looked_up = [], list[tuple[int, ...]](), list[int](), list[tuple[int, ...]]()
    tables: list[int] = []
    for renaming in renamings:
        starts = [len(tables)]
        for part in renaming:
            tables += part
            starts.append(len(tables))
        begin = (len(moves), len(looked_up))
        merged: dict[tuple[int, int, int], int] = {}
        for field in codec.fields:
            for (word, shift), (into, at) in _places(field, kinds, renaming):
                if field.value.type in kinds:
                    table = starts[kinds.index(field.value.type)]
                    looked_up.append((word, shift, into, at, field.bits, table))
                else:
                    key = (word, into, at - shift)
                    merged[key] = merged.get(key, 0) | ((1 << field.bits) - 1) << shift
        for key, mask in merged.items():
            moves.append(key)
            masks.append(mask)
        spans.append((begin[0], len(moves), begin[1], len(looked_up)))
    return (
        np.array(spans, dtype=np.int64).reshape(-1, 4),
        np.array(moves, dtype=np.int64).reshape(-1, 3),
        np.array(masks, dtype=np.uint64),
        np.array(looked_up, dtype=np.int64).reshape(-1, 6),
        np.array(tables, dtype=np.int64),
    )


def _places(
    field: Field, kinds: Sequence[Type], renaming: Renaming
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """The place of each entry, and its new place."""
    places = field.places()
    if not places:
        return
    sizes = [domain.size for domain in field.keys]
    for number, keys in enumerate(itertools.product(*map(range, sizes))):
        moved = 0
        for domain, key in zip(field.keys, keys, strict=True):
            new = renaming[kinds.index(domain.type)][key] if domain.type in kinds else key
            moved = moved * domain.size + new
        yield places[number], places[moved]
