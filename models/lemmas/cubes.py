"""Candidates: small combinations of cases that no sampled state shows ("never this and that together")."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tidemark.models.instance import Instance
from tidemark.models.lemmas.features import Feature, Group, features
from tidemark.models.lemmas.samples import Batch
from tidemark.models.native.digest import digest_rows
from tidemark.spec.language.expr import Apply, Expr, Local, Quantified, Value, Variable, variables_read
from tidemark.spec.language.fold import conjunction, negation
from tidemark.spec.language.types import BOOL, NumberType

Bits = NDArray[np.bool_]
Cube = tuple[int, ...]
"""Places of literals that no sample shows together."""

PART = 500
"""States whose rows are made at once, to save memory."""

MOST = 3
"""Literals of a candidate, at most."""


@dataclass(frozen=True)
class Literal:
    """One case of a feature."""

    feature: Feature
    case: int

    @property
    def expr(self) -> Expr:
        """The formula that the case holds."""
        return self.feature.cases()[self.case]


class Family:
    """All literals over one group of bound variables, and their combinations in the samples."""

    def __init__(self, group: Group, samples: Batch) -> None:
        instance = samples.instance
        self.group = group
        self.features = tuple(features(instance.spec, group))
        self.literals = tuple(Literal(f, case) for f in self.features for case in range(len(f.cases())))
        self._samples = samples
        self._weights: dict[int, int] = {}

    @cached_property
    def _bound(self) -> NDArray[np.int64]:
        """For each literal the bound variables in it, as a set of bits."""
        names = [local.name for local in self.group]
        return np.array(
            [sum(1 << names.index(name) for name in item.feature.locals) for item in self.literals],
            dtype=np.int64,
        )

    @cached_property
    def _seen(self) -> NDArray[np.uint64]:
        """For each literal the different sampled rows in which it holds, as a set of bits in words."""
        parts = []
        for part in self._samples.parts(PART):
            truth = self.truth(part)
            parts.append(_different(np.packbits(truth.reshape(-1, truth.shape[-1]), axis=1)))
        rows = np.unpackbits(_different(np.concatenate(parts)), axis=1, count=len(self.literals))
        padded = np.zeros((-len(rows) % 64 + len(rows), rows.shape[1]), dtype=np.uint8)
        padded[: len(rows)] = rows
        return np.ascontiguousarray(np.packbits(padded.T, axis=1)).view(np.uint64)

    def truth(self, states: Batch) -> Bits:
        """For each state, assignment of the bound variables, and literal: does it hold? Bound variables of
        one type stand for different values: where they are equal, fewer suffice.
        """
        sizes = [states.instance.domain(local.type).size for local in self.group]
        shape = (states.size, int(np.prod(sizes, dtype=np.int64)))
        columns: list[Bits] = []
        for feature in self.features:
            codes = np.broadcast_to(feature.codes(states, self.group), shape)
            columns += [codes == case for case in range(len(feature.cases()))]
        truth = np.stack(columns, axis=-1) if columns else np.zeros((*shape, 0), dtype=np.bool_)
        return truth[:, self._apart(states.instance)]

    def _apart(self, instance: Instance) -> Bits:
        """Assignments in which bound variables of one type differ; numbers in ascending order."""
        grid = itertools.product(*(instance.domain(local.type).values for local in self.group))
        pairs = same_type(self.group)
        return np.array(
            [all(_ordered(values[i], values[j], self.group[i]) for i, j in pairs) for values in grid],
            dtype=np.bool_,
        )

    def excluding(self, state: Batch, *, literals: int) -> set[Cube]:
        """Smallest candidates with so many literals, and all bound variables, that are false in a state and
        true in all samples.
        """
        found: set[Cube] = set()
        whole = (1 << len(self.group)) - 1
        for row in np.unique(self.truth(state)[0], axis=0):
            places = np.nonzero(row)[0]
            for unseen in self._unseen(places, literals):
                cube = tuple(int(places[place]) for place in unseen)
                if np.bitwise_or.reduce(self._bound[list(cube)]) == whole:
                    found.add(cube)
        return found

    def _unseen(self, places: NDArray[np.int64], literals: int) -> list[Cube]:
        rows = self._seen[places]
        shown = np.array([(rows & row).any(axis=1) for row in rows], dtype=np.bool_).reshape(
            len(rows), len(rows)
        )
        alone = np.diagonal(shown)
        if literals == 1:
            return [(int(place),) for place in np.nonzero(~alone)[0]]
        if literals == 2:
            missing = np.triu(~shown & alone[:, None] & alone[None, :])
            return [(int(one), int(two)) for one, two in zip(*np.nonzero(missing), strict=True)]
        found: list[Cube] = []
        for i, j in zip(*np.nonzero(np.triu(shown, 1)), strict=True):
            third = j + 1 + np.flatnonzero((shown[i] & shown[j])[j + 1 :])
            never = third[~(rows[third] & rows[i] & rows[j]).any(axis=1)]
            found += [(int(i), int(j), int(k)) for k in never]
        return found

    def broken(self, cubes: Sequence[Cube], state: Batch) -> list[Cube]:
        """Those of some candidates that are false in a state."""
        truth = self.truth(state)[0]
        return [cube for cube in cubes if truth[:, list(cube)].all(axis=1).any()]

    def expr(self, cube: Cube) -> Expr:
        """The claim that the literals never hold together."""
        body = negation(conjunction(*apart(self.group), *(self.literals[place].expr for place in cube)))
        return Quantified(BOOL, "forall", self.group, body) if self.group else body

    def variables(self, cube: Cube) -> frozenset[Variable]:
        """The variables of a candidate."""
        read = variables_read(conjunction(*(self.literals[place].expr for place in cube)))
        return frozenset(variable for variable in read if not variable.constant)

    def weight(self, cube: Cube) -> int:
        """Its length for a reader."""
        return sum(self._weight(place) for place in cube)

    def _weight(self, place: int) -> int:
        if place not in self._weights:
            self._weights[place] = self.literals[place].feature.weight
        return self._weights[place]


def _different(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The rows without repetitions, found by a 64-bit digest: a collision costs a sample, nothing else."""
    words = np.zeros((len(rows), -(-rows.shape[1] // 8) * 8), dtype=np.uint8)
    words[:, : rows.shape[1]] = rows
    digests = digest_rows(words.view(np.uint64))
    _, first = np.unique(digests, return_index=True)
    return rows[np.sort(first)]


def same_type(group: Group) -> list[tuple[int, int]]:
    """Places of two bound variables of the same type."""
    pairs = itertools.combinations(range(len(group)), 2)
    return [(i, j) for i, j in pairs if group[i].type == group[j].type]


def _ordered(one: Value, two: Value, local: Local) -> bool:
    return int(one) < int(two) if isinstance(local.type, NumberType) else one != two


def apart(group: Group) -> list[Expr]:
    """Conditions that bound variables of one type differ; numbers are in ascending order."""
    return [_apart_expr(group[i], group[j]) for i, j in same_type(group)]


def _apart_expr(one: Local, two: Local) -> Expr:
    if isinstance(one.type, NumberType):
        return Apply(BOOL, "lt", (one, two))
    return negation(Apply(BOOL, "eq", (one, two)))
