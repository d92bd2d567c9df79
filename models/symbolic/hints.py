"""Hints from a bounded instance, where answers take milliseconds: the lemmas that an obligation needs, and
small counterexamples to it.

A hint never decides a proof. The first-order proof tries a core of lemmas first; a counterexample is shown to
the reader if that proof does not succeed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import z3

from tidemark.models.instance import Bound, Instance
from tidemark.models.interpreted.evaluate import State
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.symbolic import bits
from tidemark.models.symbolic.bits import Bit
from tidemark.models.symbolic.finite import Move, SymbolicInstance, SymbolicState
from tidemark.models.symbolic.obligations import Obligation, closed
from tidemark.spec.language.protocol import initial_literal
from tidemark.spec.language.spec import Property, Spec
from tidemark.spec.language.types import MapType, NumberType, SortType

USUAL = 3
"""Greatest bound under which counters are kept even smaller, so that most queries take milliseconds."""

_SWITCH = "assume "
"""Prefix of the variable that switches a claim on."""


@dataclass(frozen=True)
class SmallModel:
    """A state of a small instance, and a step from it after which the claim fails; without a step an initial
    state in which it fails. ``after`` is None if the state after is no state of the type.
    """

    instance: Instance
    before: State
    step: Step | None = None
    after: State | None = None


@dataclass(frozen=True)
class Hint:
    """Lemmas that suffice within the instance, or a counterexample in it, or neither."""

    core: frozenset[str] | None = None
    model: SmallModel | None = None


def small_bounds(spec: Spec, *, elements: int, greatest: int) -> dict[str, Bound]:
    """Bounds for every sort and number; of counters (no key, no parameter) at most 2 if bounds are small."""
    keys = {
        key
        for variable in (*spec.variables, *spec.constants)
        if isinstance(variable.type, MapType)
        for key in variable.type.keys
    }
    keys |= {param.type for action in spec.actions for param in action.params}
    bounds: dict[str, Bound] = {}
    for kind in spec.types:
        if isinstance(kind, SortType):
            bounds[kind.name] = elements
        elif isinstance(kind, NumberType):
            high = greatest if kind in keys or greatest > USUAL else min(greatest, 2)
            bounds[kind.name] = (-high, high) if kind.signed else high
    return bounds


def new_solver(conditions: Sequence[Bit]) -> Any:
    """A propositional solver with a fixed seed."""
    solver = z3.SolverFor("QF_FD")
    solver.set("random_seed", 0)
    solver.add(*(item for item in conditions if item is not True))
    return solver


def is_true(model: Any, bit: Bit) -> bool:
    """Value of a condition in a model; what the model leaves open is completed."""
    return bit is True or (bit is not False and z3.is_true(model.eval(bit, model_completion=True)))


def plain_model(solver: Any, assumed: Sequence[Any], wishes: Iterable[Sequence[Bit]]) -> Any:
    """The model that grants each entry in turn the first of its wishes that is still possible. It depends on
    the formulas alone. The last check must have been ``sat``.
    """
    model, fixed = solver.model(), list[Bit]()
    for entry in wishes:
        for wish in entry:
            if wish is True:
                break
            if wish is False:
                continue
            if not is_true(model, wish):
                if solver.check(*assumed, *fixed, wish) != z3.sat:
                    continue
                model = solver.model()
            fixed.append(wish)
            break
    return model


def usual_values(space: SymbolicInstance, state: SymbolicState) -> Iterator[Sequence[Bit]]:
    """Wishes for ``plain_model``: each entry of a state has its initial value, each constant its first."""
    for variable in space.spec.variables:
        usual = initial_literal(space.spec, variable)
        for cases in state[variable.name].values():
            yield [bit for _, bit in sorted(cases.items(), key=lambda case: case[0] != usual)]
    for table in space.finite.constants.values():
        for cases in table.values():
            yield list(cases.values())


def instance_in(space: SymbolicInstance, model: Any) -> Instance:
    """The instance with the constants that a model gives it."""
    constants = {**space.instance.constants, **space.decode_constants(model)}
    return replace(space.instance, constants=constants)


class Hints:
    """Hints for the obligations of a protocol from one small instance. Raises BadInstance."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.space = SymbolicInstance(instance)
        self.spec = self.space.spec
        self.state = self.space.state()
        self._moves: dict[str, tuple[Move, ...]] = {}

    @cached_property
    def _switches(self) -> Mapping[str, Any]:
        return {p.id: z3.Bool(f"{_SWITCH}{p.id}") for p in self.spec.of_kind("invariant", "lemma")}

    @cached_property
    def _solver(self) -> Any:
        solver = new_solver(self.space.conditions)
        for name, switch in self._switches.items():
            solver.add(z3.Implies(switch, self.space.holds(closed(self.spec.property(name)), self.state)))
        return solver

    @cached_property
    def possible(self) -> bool:
        """Whether some constants within the bounds satisfy the assumptions. Else every claim follows here,
        and proves nothing.
        """
        return bool(self._check(()) == z3.sat)

    def moves(self, action: str) -> tuple[Move, ...]:
        """The steps of an action from an arbitrary state."""
        if action not in self._moves:
            self._moves[action] = tuple(self.space.moves(self.state, (action,)))
        return self._moves[action]

    def of(self, obligation: Obligation, *, without: frozenset[str] = frozenset()) -> Hint:
        """A hint for an obligation. ``without``: lemmas that may not be used."""
        if obligation.kind == "initiation":
            return self._initiation(self.spec.property(obligation.claim))
        if obligation.kind in ("implied", "reason"):
            return self._implied(obligation, without=without)
        broken = self._broken(obligation, afterwards=False)
        usable = [name for name in self._switches if name not in without]
        hint = self._ask(obligation, broken, usable)
        if hint.model is None or obligation.kind != "step":
            return hint
        # A claim about a step may use invariants of the state after.
        later = self._ask(obligation, self._broken(obligation, afterwards=True, without=without), usable)
        return later if later.model is not None else Hint()

    def _broken(
        self, obligation: Obligation, *, afterwards: bool, without: frozenset[str] = frozenset()
    ) -> list[tuple[Move, Bit]]:
        found = []
        for move in self.moves(obligation.action):
            parts = [move.enabled, self._breaks(obligation, move)]
            if afterwards:
                after = move.after(self.state)
                parts += [
                    self.space.holds(closed(self.spec.property(name)), after)
                    for name in self._switches
                    if name not in without
                ]
            bit = bits.every(parts)
            if bit is not False:
                found.append((move, bit))
        return found

    def _breaks(self, obligation: Obligation, move: Move) -> Bit:
        if obligation.kind == "type":
            return move.below[obligation.claim.partition(":")[2]]
        prop = self.spec.property(obligation.claim)
        after = move.after(self.state)
        if obligation.kind == "step":
            holds = self.space.holds(closed(prop), self.state, after)
        else:
            holds = self.space.holds(closed(prop), after)
        return bits.both(move.in_bounds, bits.invert(holds))

    def _ask(self, obligation: Obligation, broken: list[tuple[Move, Bit]], usable: Sequence[str]) -> Hint:
        if not broken:
            return Hint(core=frozenset())
        with self._assuming(bits.some(bit for _, bit in broken)):
            if self._check(usable) == z3.sat:
                return Hint(model=self._decode(broken, usable, in_type=obligation.kind != "type"))
            return Hint(core=self._core(usable, obligation))

    @contextmanager
    def _assuming(self, bit: Bit) -> Iterator[None]:
        self._solver.push()
        try:
            self._solver.add(bit)
            yield
        finally:
            self._solver.pop()

    def _check(self, names: Sequence[str], *further: Bit) -> Any:
        return self._solver.check(*(self._switches[name] for name in names), *further)

    def _core(self, usable: Sequence[str], obligation: Obligation) -> frozenset[str]:
        """Lemmas that suffice and of which none can be left out; the claim itself is tried last. Those that
        the last answer did not need are left out without a query, with the same result.
        """
        kept = [name for name in usable if name != obligation.claim]
        kept += [obligation.claim] if obligation.claim in usable else []
        needed = self._needed()
        for name in list(kept):
            fewer = [other for other in kept if other != name]
            if name not in needed:
                kept = fewer
            elif self._check(fewer) == z3.unsat:
                kept, needed = fewer, self._needed()
        return frozenset(kept)

    def _needed(self) -> frozenset[str]:
        return frozenset(switch.decl().name().removeprefix(_SWITCH) for switch in self._solver.unsat_core())

    def _decode(
        self, broken: Sequence[tuple[Move, Bit]], usable: Sequence[str], *, in_type: bool
    ) -> SmallModel:
        model = self._plain_model(usable)
        move = next(m for m, bit in broken if is_true(model, bit))
        after = self.space.decode(model, move.after(self.state)) if in_type else None
        return SmallModel(
            instance_in(self.space, model), self.space.decode(model, self.state), move.step, after
        )

    def _plain_model(self, usable: Sequence[str]) -> Any:
        """A model in which as many entries as possible, in declared order, have their initial value."""
        switches = [self._switches[name] for name in usable]
        return plain_model(self._solver, switches, usual_values(self.space, self.state))

    def _initiation(self, prop: Property) -> Hint:
        model = self._at_start(lambda state: bits.invert(self.space.holds(closed(prop), state)))
        return Hint(core=frozenset()) if model is None else Hint(model=model)

    def _at_start(self, wanted: Callable[[SymbolicState], Bit]) -> SmallModel | None:
        """An initial state that satisfies a condition, if the instance has one."""
        state, condition = self.space.initial()
        bit = bits.every([condition, wanted(state)])
        solver = new_solver([*self.space.conditions, bit]) if bit is not False else None
        if solver is None or solver.check() != z3.sat:
            return None
        model = plain_model(solver, (), usual_values(self.space, state))
        return SmallModel(instance_in(self.space, model), self.space.decode(model, state))

    def _implied(self, obligation: Obligation, *, without: frozenset[str]) -> Hint:
        names = {fact.source for fact in obligation.lemmas}
        usable = [name for name in self._switches if name in names and name not in without]
        broken = bits.invert(self.space.holds(closed(self.spec.property(obligation.claim)), self.state))
        if broken is False:
            return Hint(core=frozenset())
        with self._assuming(broken):
            if self._check(usable) != z3.sat:
                return Hint(core=self._core(usable, obligation))
            model = self._plain_model(usable)
            return Hint(
                model=SmallModel(instance_in(self.space, model), self.space.decode(model, self.state))
            )

    def a_step_of(self, action: str) -> SmallModel | None:
        """A state in which all invariants hold and the action is enabled, if the instance has one."""
        enabled = [(move, bits.both(move.enabled, move.in_bounds)) for move in self.moves(action)]
        possible = [(move, bit) for move, bit in enabled if bit is not False]
        if not possible:
            return None
        with self._assuming(bits.some(bit for _, bit in possible)):
            if self._check(list(self._switches)) != z3.sat:
                return None
            return self._decode(possible, list(self._switches), in_type=True)

    def an_initial_state(self) -> SmallModel | None:
        """An initial state that satisfies the assumptions, if the instance has one."""
        return self._at_start(lambda _state: True)
