"""Symmetry over opaque sorts: of all states that differ only by a renaming of elements, one is kept.

The representative is the least of the images that ``canonical`` tries. Elements of a sort can only be
compared for equality, so that a renaming maps runs to runs, unless the protocol or the instance names single
elements; ``Symmetry`` refuses these.
"""

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.native.canonical import canonical, image
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
        self._order = _orders(sizes, self.renamings) + _beside(self.codec, self._kinds, sizes)
        self._check_constants()
        self._check_steps()

    @property
    def order(self) -> int:
        """Number of renamings."""
        return len(self.renamings)

    def canonicalise(self, rows: NDArray[np.uint64], first: int, count: int) -> NDArray[np.int64]:
        """Replace rows ``first`` .. ``first + count - 1`` of a line of words by their representatives. Gives
        how many renamings leave each of them as it is.
        """
        fixing = np.empty(count, dtype=np.int64)
        canonical(rows, self.codec.words, first, fixing, *self._arrays, *self._order)
        return fixing

    def representatives(self, block: Block) -> Block:
        """The representative of each row."""
        found = np.ascontiguousarray(block).copy()
        self.canonicalise(found.reshape(-1), 0, len(found))
        return found

    def orbits(self, block: Block) -> NDArray[np.int64]:
        """How many states each row stands for."""
        found = np.ascontiguousarray(block).copy()
        return np.asarray(self.order // self.canonicalise(found.reshape(-1), 0, len(found)))

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
        image(given, 0, self.codec.words, moves, masks, span, looked_up, tables, found)
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

    @cached_property
    def _swaps(self) -> list[Renaming]:
        """Exchanges of neighbours, which generate all renamings."""
        return [self.renamings[number] for number in np.diagonal(self._order[2], 1) if number]

    def _check_constants(self) -> None:
        for variable in self.instance.spec.constants:
            kind = variable.type
            if not isinstance(kind, MapType) or not {*kind.keys, kind.value} & set(self._kinds):
                continue
            table = dict(
                zip(self.instance.entries(kind), self.instance.map_constants[variable.name], strict=True)
            )
            for swap in self._swaps:
                for keys, value in table.items():
                    moved = tuple(self._value(k, key, swap) for k, key in zip(kind.keys, keys, strict=True))
                    if table[moved] != self._value(kind.value, value, swap):
                        raise self._apart(f"the constant {variable.name} tells")

    def _check_steps(self) -> None:
        """Renamed states have renamed successors: asked of the first states, initial ones first."""
        block = np.unique(self.kernel.initial_block(), axis=0)
        initial = {tuple(row) for row in block.tolist()}
        for swap in self._swaps:
            if any(tuple(self.image(row, swap).tolist()) not in initial for row in block[:SAMPLE]):
                raise self._apart("the initial states tell")
        while 0 < len(block) < SAMPLE:
            larger = np.unique(np.concatenate([block, self.kernel.expand(block).successors]), axis=0)
            if len(larger) == len(block):
                break
            block = larger
        for row in block[:SAMPLE]:
            for swap in self._swaps:
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


def _orders(sizes: Sequence[int], renamings: Sequence[Renaming]) -> tuple[NDArray[Any], ...]:
    """The elements of all sorts in a line: begin and end of each sort, the new place of each element by each
    renaming, and the number of the renaming that exchanges two.
    """
    begins = [sum(sizes[:number]) for number in range(len(sizes))]
    places = np.array([[at + b for part, b in zip(r, begins, strict=True) for at in part] for r in renamings])
    exchanges = np.zeros((sum(sizes), sum(sizes)), dtype=np.int64)
    for number in np.flatnonzero((places != places[0]).sum(axis=1) == 2):
        one, other = np.flatnonzero(places[number] != places[0])
        exchanges[one, other] = exchanges[other, one] = number
    ends = np.array([(b, b + size) for b, size in zip(begins, sizes, strict=True)], dtype=np.int64)
    return ends.reshape(-1, 2), places, exchanges


def _beside(codec: Codec, kinds: Sequence[SortType], sizes: Sequence[int]) -> tuple[NDArray[Any], ...]:
    """For the marks of elements: the values whose keys have the element, and those that are elements (below
    zero: less one, the first of the sort). Both have a weight that depends on all but the names of elements.
    """
    begins: dict[Type, int] = {kind: sum(sizes[:number]) for number, kind in enumerate(kinds)}
    found, weights = list[tuple[int, int, int, int]](), list[int]()

    def add(element: int, place: tuple[int, int], bits: int, *what: object) -> None:
        found.append((element, *place, bits))
        weights.append(random.Random(repr(what)).getrandbits(64) | 1)

    for field in codec.fields:
        values, places = begins.get(field.value.type), field.places()
        for place, keys in zip(places, itertools.product(*(range(d.size) for d in field.keys)), strict=False):
            pairs = [(begins.get(domain.type), key) for domain, key in zip(field.keys, keys, strict=True)]
            other = field.variable.name, [key for begin, key in pairs if begin is None]
            if values is not None:
                add(-values - 1, place, field.bits, other)
                continue
            for number, (begin, key) in enumerate(pairs):
                if begin is not None:
                    add(begin + key, place, field.bits, other, number)
    return np.array(found, dtype=np.int64).reshape(-1, 4), np.array(weights, dtype=np.uint64)


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
