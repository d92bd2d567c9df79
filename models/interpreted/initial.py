"""The initial states of an instance: each open variable with each value that the conditions allow.

A condition is split into conjuncts, and each is decided as soon as its entries are chosen, so that a map with
one possible value is not tried with all.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tidemark.models.instance import Instance
from tidemark.models.interpreted.evaluate import Compiler, Env, State
from tidemark.spec.language.expr import (
    Apply,
    Const,
    Expr,
    Quantified,
    Read,
    Select,
    Value,
    Variable,
    children,
    substitute,
)
from tidemark.spec.language.fold import fold
from tidemark.spec.language.types import MapType

Check = Callable[[Env], bool]


@dataclass
class _Cell:
    """One entry of a map, or a scalar: its possible values, and the conjuncts that it completes."""

    slot: int
    values: tuple[Value, ...]
    checks: list[Check] = field(default_factory=list)


class InitialStates:
    """Enumerates the initial states, in the order of the variables and of the values of their types."""

    def __init__(self, instance: Instance, compiler: Compiler) -> None:
        self._instance, self._compiler = instance, compiler
        self._is_map = [isinstance(v.type, MapType) for v in instance.spec.variables]
        self._cells: list[_Cell] = []
        self._first: list[int] = []
        self._place()
        self._never = False
        for condition in instance.spec.initially:
            for part in self._conjuncts(fold(condition)):
                self._attach(part)

    def _place(self) -> None:
        spec = self._instance.spec
        for slot, variable in enumerate(spec.variables):
            self._first.append(len(self._cells))
            kind, value = variable.type, spec.initial[variable.name]
            scalar = kind.value if isinstance(kind, MapType) else kind
            values = self._instance.domain(scalar).values if value is None else (value,)
            entries = sum(1 for _ in self._instance.entries(kind)) if isinstance(kind, MapType) else 1
            self._cells += [_Cell(slot, values) for _ in range(entries)]
        self._first.append(len(self._cells))

    def _conjuncts(self, expr: Expr) -> Iterator[Expr]:
        match expr:
            case Apply(op="and", args=args):
                for part in args:
                    yield from self._conjuncts(part)
            case Quantified(kind="forall", binders=binders, body=body):
                domains = (self._instance.domain(binder.type).values for binder in binders)
                for values in itertools.product(*domains):
                    known = {b.name: Const(b.type, v) for b, v in zip(binders, values, strict=True)}
                    yield from self._conjuncts(fold(substitute(body, locals_=known)))
            case _:
                yield expr

    def _attach(self, part: Expr) -> None:
        """Decide a conjunct at the last cell that it reads."""
        check = self._compiler.scalar(part)
        cells = self._cells_read(part)
        if cells:
            self._cells[max(cells)].checks.append(check)
        elif not check(Env(())):
            self._never = True

    def _cells_read(self, expr: Expr) -> set[int]:
        match expr:
            case Read(variable=variable):
                if variable.constant:
                    return set()
                slot = self._compiler.slots[variable.name]
                return set(range(self._first[slot], self._first[slot + 1]))
            case Select(map=Read(variable=variable), keys=keys) if not variable.constant and all(
                isinstance(key, Const) for key in keys
            ):
                slot = self._compiler.slots[variable.name]
                index = self._index(variable, keys)
                return set() if index is None else {self._first[slot] + index}
        return set[int]().union(*(self._cells_read(part) for part in children(expr)))

    def _index(self, variable: Variable, keys: Sequence[Expr]) -> int | None:
        """Place of a map's entry; None outside the instance, where the entry has its fixed initial value."""
        assert isinstance(variable.type, MapType)
        index = 0
        for key, domain in zip(keys, self._instance.domains(variable.type.keys), strict=True):
            assert isinstance(key, Const)
            at = domain.index(key.value)
            if at is None:
                return None
            index = index * domain.size + at
        return index

    def __iter__(self) -> Iterator[State]:
        chosen = [cell.values[0] for cell in self._cells]
        order = [n for n, cell in enumerate(self._cells) if len(cell.values) > 1 or cell.checks]
        if self._never:
            return
        if not order:
            yield self._state(chosen)
            return
        left = [iter(self._cells[order[0]].values)]
        while left:
            number = order[len(left) - 1]
            if not self._choose(chosen, number, left[-1]):
                left.pop()
            elif len(left) == len(order):
                yield self._state(chosen)
            else:
                left.append(iter(self._cells[order[len(left)]].values))

    def _choose(self, chosen: list[Value], number: int, values: Iterator[Value]) -> bool:
        checks = self._cells[number].checks
        for value in values:
            chosen[number] = value
            if not checks or self._holds(checks, chosen):
                return True
        return False

    def _holds(self, checks: list[Check], chosen: list[Value]) -> bool:
        env = Env(self._state(chosen))
        return all(check(env) for check in checks)

    def _state(self, chosen: list[Value]) -> State:
        first = self._first
        return tuple(
            tuple(chosen[first[slot] : first[slot + 1]]) if is_map else chosen[first[slot]]
            for slot, is_map in enumerate(self._is_map)
        )
