"""The cells (entries of state variables) that each step of an instance may read and write.

Computed from the expressions with the step's parameters substituted. Where a key is not known, every entry
counts: footprints are never too small.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.spec.language.expr import (
    Apply,
    Const,
    Expr,
    Local,
    MapComprehension,
    Read,
    Select,
    Store,
    Variable,
    children,
    map_type,
    substitute,
)
from tidemark.spec.language.fold import fold
from tidemark.spec.language.types import MapType

Cell = tuple[str, int]
"""A variable and the place of the entry in key order (0 for a scalar)."""
Cells = frozenset[Cell]
NOTHING: Cells = frozenset()


@dataclass(frozen=True)
class Footprint:
    """Cells that a step may read and may write, and the conjuncts of its guard with the cells of each."""

    guard: tuple[tuple[Expr, Cells], ...]
    reads: Cells
    writes: Cells


class Footprints:
    """Footprints of the steps and claims of one instance."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance

    def of(self, step: Step) -> Footprint:
        """The footprint of a step."""
        action = self.instance.spec.action(step.action)
        values = {p.name: Const(p.type, v) for p, v in zip(action.params, step.args, strict=True)}
        conjuncts = [part for guard in action.guards for part in _parts(_put_in(guard.expr, values))]
        guard = tuple((part, self.reads(part)) for part in conjuncts)
        reads, writes = self._union(iter([cells for _, cells in guard])), NOTHING
        for variable, expr in action.updates:
            more, changed = self._update(variable, _put_in(expr, values))
            reads, writes = reads | more, writes | changed
        return Footprint(guard, reads, writes)

    def reads(self, expr: Expr) -> Cells:
        """Cells whose value the expression may depend on."""
        match expr:
            case Read(variable=variable):
                return NOTHING if variable.constant else self._all(variable)
            case Select(map=Read(variable=variable), keys=keys):
                own = NOTHING if variable.constant else self._at(variable, keys)
                return own | self._union(map(self.reads, keys))
        return self._union(map(self.reads, children(expr)))

    @staticmethod
    def _union(parts: Iterator[Cells] | map[Cells]) -> Cells:
        return NOTHING.union(*parts)

    def _all(self, variable: Variable) -> Cells:
        if not isinstance(variable.type, MapType):
            return frozenset(((variable.name, 0),))
        size = sum(1 for _ in self.instance.entries(variable.type))
        return frozenset((variable.name, place) for place in range(size))

    def _at(self, variable: Variable, keys: Sequence[Expr]) -> Cells:
        """Entries that the keys may mean; a known key outside the bounds means none."""
        kind = variable.type
        assert isinstance(kind, MapType)
        domains = self.instance.domains(kind.keys)
        choices: list[Sequence[int]] = []
        for key, domain in zip(keys, domains, strict=True):
            if isinstance(key, Const):
                place = domain.index(key.value)
                choices.append(() if place is None else (place,))
            else:
                choices.append(range(domain.size))
        found = []
        for places in itertools.product(*choices):
            flat = 0
            for domain, place in zip(domains, places, strict=True):
                flat = flat * domain.size + place
            found.append((variable.name, flat))
        return frozenset(found)

    def _update(self, variable: Variable, expr: Expr) -> tuple[Cells, Cells]:
        """The cells that an assignment reads, and those that it may change."""
        if not isinstance(variable.type, MapType):
            return self.reads(expr), self._all(variable)
        match expr:
            case Read(variable=same) if same == variable:
                return NOTHING, NOTHING
            case Store(map=source, keys=keys, value=value):
                reads, writes = self._update(variable, source)
                return (
                    reads | self.reads(value) | self._union(map(self.reads, keys)),
                    writes | self._at(variable, keys),
                )
            case MapComprehension(binders=binders, body=body):
                return self._each(variable, binders, body)
            case Apply(op="ite", args=(condition, then, other)):
                one, two = self._update(variable, then), self._update(variable, other)
                return self.reads(condition) | one[0] | two[0], one[1] | two[1]
        return self.reads(expr), self._all(variable)

    def _each(self, variable: Variable, binders: Sequence[Local], body: Expr) -> tuple[Cells, Cells]:
        kind = map_type(Read(variable.type, variable))
        reads, writes = NOTHING, NOTHING
        for keys in self.instance.keys(kind):
            value = _put_in(body, {b.name: key for b, key in zip(binders, keys, strict=True)})
            if value == Select(kind.value, Read(variable.type, variable), keys):
                continue
            reads |= self.reads(value)
            writes |= self._at(variable, keys)
        return reads, writes


def _parts(expr: Expr) -> Iterator[Expr]:
    if isinstance(expr, Apply) and expr.op == "and":
        for part in expr.args:
            yield from _parts(part)
    else:
        yield expr


def _put_in(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    return fold(substitute(expr, locals_=values))
