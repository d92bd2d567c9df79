"""Is a step of the implementation a step of the specification?

A refinement mapping gives the abstract state before and after. The pair must be a stutter or one
transition of the interpreter, and every invariant must hold of the state after it. Variables that only
count for bounds (``ignored``) are left out of the comparison.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter, Step, Transition
from tidemark.spec.language.expr import Variable
from tidemark.spec.language.spec import Property
from tidemark.spec.language.types import MapType

State = tuple[Any, ...]


@dataclass(frozen=True)
class Stutter:
    """The abstract state did not change."""


@dataclass(frozen=True)
class Matched:
    """The pair is this step of the specification."""

    step: Step


@dataclass(frozen=True)
class Refuted:
    """The pair is no step of the specification, or breaks a property. ``text`` says what and how near it
    came.
    """

    claim: str
    text: str


Answer = Stutter | Matched | Refuted


class StepChecker:
    """Checks pairs of abstract states against an instance. Answers are cached: a search meets the same
    pairs again and again.

    Args:
        ignored: variables that are left out of the comparison.
        sound: the specification keeps its own properties. A variant that does not has no use for lemmas, and
            its steps may break transition invariants.
    """

    def __init__(self, instance: Instance, *, ignored: tuple[str, ...] = (), sound: bool = True) -> None:
        self.interpreter = Interpreter(instance)
        self.spec = self.interpreter.spec
        names = [variable.name for variable in self.spec.variables]
        unknown = [name for name in ignored if name not in names]
        if unknown:
            raise ValueError(f"no variable {unknown[0]!r} in {self.spec.name}; it has {', '.join(names)}")
        self._ignored = {names.index(name): self.spec.initial[name] for name in ignored}
        self._sound = sound
        self._answers: dict[tuple[State, State], Answer] = {}
        self._successors: dict[State, list[Transition]] = {}
        self._broken: dict[tuple[State, bool], Property | None] = {}
        self.matched: dict[str, int] = {}

    def normal(self, state: State) -> State:
        """The state with ignored variables at their initial values."""
        if not self._ignored:
            return state
        return tuple(self._ignored.get(place, value) for place, value in enumerate(state))

    def encode(self, values: Mapping[str, Any]) -> State:
        """A state from values by variable name; ignored variables may be left out."""
        filled = {self.spec.variables[place].name: value for place, value in self._ignored.items()}
        return self.normal(self.interpreter.encode({**filled, **values}))

    def start(self, state: State) -> Refuted | None:
        """The first abstract state must be an initial state of the specification."""
        starts = [self.normal(start) for start in self.interpreter.initial()]
        if state in starts:
            return None
        return Refuted("refinement", f"the first state is not initial: {self.changes(starts[0], state)}")

    def check(self, before: State, after: State) -> Answer:
        """The answer for one step."""
        if before == after:
            return Stutter()
        key = (before, after)
        if key not in self._answers:
            self._answers[key] = self._decide(before, after)
        answer = self._answers[key]
        if isinstance(answer, Matched):
            self.matched[answer.step.action] = self.matched.get(answer.step.action, 0) + 1
        return answer

    def successors(self, state: State) -> list[Transition]:
        """Transitions of the specification from a state, ignored variables put back."""
        if state not in self._successors:
            self._successors[state] = [
                Transition(found.step, self.normal(found.state), found.in_bounds)
                for found in self.interpreter.successors(state)
            ]
        return self._successors[state]

    def broken(self, state: State, *, lemmas: bool = True) -> Property | None:
        """The first invariant (or lemma) that does not hold of a state; None if all do."""
        key = (state, lemmas)
        if key not in self._broken:
            kinds = ("invariant", "lemma") if lemmas else ("invariant",)
            claims = self.spec.of_kind(*kinds)
            self._broken[key] = next((p for p in claims if not self.interpreter.holds(p, state)), None)
        return self._broken[key]

    def unmet(self, claim: str, state: State) -> str | None:
        """Return for which values a leads_to waits for its conclusion in a state, in words; None if for none.

        Where nothing can happen any more, such a wait lasts for ever.
        """
        prop = next(p for p in self.spec.of_kind("leads_to") if p.id == claim)
        instance, evaluate = self.interpreter.instance, self.interpreter.evaluate
        for values in itertools.product(*(instance.domain(param.type).values for param in prop.params)):
            local: dict[str, Any] = {p.name: value for p, value in zip(prop.params, values, strict=True)}
            if evaluate(prop.premise, state, **local) and not evaluate(prop.expr, state, **local):
                return ", ".join(f"{name}={value}" for name, value in local.items()) or "as it is"
        return None

    def _decide(self, before: State, after: State) -> Answer:
        broken = self.broken(after, lemmas=self._sound)
        if broken is None and not self._sound:
            broken = self._broken_by(before, after)
        if broken is not None:
            return Refuted(broken.id, f"{broken.description} Changed: {self.changes(before, after)}")
        for found in self.successors(before):
            if found.state == after:
                return Matched(found.step)
        broken = self._broken_by(before, after)
        if broken is not None:
            return Refuted(broken.id, f"{broken.description} Changed: {self.changes(before, after)}")
        return Refuted(
            "refinement",
            f"no step of {self.spec.name} makes {self.changes(before, after)}; "
            f"{self._nearest(before, after)}",
        )

    def _broken_by(self, before: State, after: State) -> Property | None:
        """The first transition invariant that does not hold of the step."""
        claims = self.spec.of_kind("transition_invariant")
        return next((p for p in claims if not self.interpreter.holds(p, before, after)), None)

    def _nearest(self, before: State, after: State) -> str:
        """The disabled steps that would do it, else the enabled one with the fewest differences."""
        disabled = [
            f"{step} would, but is not enabled: {self.interpreter.failing_guard(before, step)}"
            for step in self.interpreter.steps
            if self.normal(self.interpreter.effect(before, step).state) == after
        ]
        if disabled:
            return "; ".join(disabled)
        enabled = self.successors(before)
        if not enabled:
            return "nothing is enabled"
        best = min(enabled, key=lambda found: self._distance(found.state, after))
        return f"nearest is {best.step}, which would instead make {self.changes(before, best.state)}"

    def _distance(self, one: State, two: State) -> int:
        return sum(
            sum(a != b for a, b in zip(x, y, strict=True)) if isinstance(x, tuple) else int(x != y)
            for x, y in zip(one, two, strict=True)
        )

    def changes(self, before: State, after: State) -> str:
        """Changed variables in words, entry by entry."""
        parts: list[str] = []
        for variable, old, new in zip(self.spec.variables, before, after, strict=True):
            parts += self._differences(variable, old, new)
        return ", ".join(parts) or "nothing"

    def _differences(self, variable: Variable, old: Any, new: Any) -> list[str]:
        if not isinstance(variable.type, MapType):
            return [f"{variable.name}: {old} -> {new}"] if old != new else []
        keys = self.interpreter.instance.entries(variable.type)
        return [
            f"{variable.name}[{', '.join(map(str, key))}]: {a} -> {b}"
            for key, a, b in zip(keys, old, new, strict=True)
            if a != b
        ]
