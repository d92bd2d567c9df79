"""Is a step of the implementation a step of the specification?

A refinement mapping gives the abstract state before and after. The pair must be a stutter or one
transition of the interpreter, and every invariant must hold of the state after it. Variables that only
count for bounds (``ignored``) are left out of the comparison.
"""

from __future__ import annotations

import inspect
import itertools
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter, Step, Transition
from tidemark.models.refinement.queries import Asked, Queries, Texts
from tidemark.models.simulation.errors import ProgramError
from tidemark.spec.language.expr import Variable
from tidemark.spec.language.spec import Property
from tidemark.spec.language.types import BoolType, EnumType, MapType, Type

State = tuple[Any, ...]

_ALL: weakref.WeakSet[StepChecker] = weakref.WeakSet()
_NOTED: list[list[StepChecker]] = []
"""Where to note new ones while it is noted what is asked: they may be gone before it is looked at."""


@dataclass(frozen=True)
class Stutter:
    """The abstract state did not change."""


@dataclass(frozen=True)
class Matched:
    """The pair is this step of the specification."""

    step: Step


@dataclass(frozen=True)
class Refuted:
    """The pair is no step of the specification, or breaks a property. ``text`` says how near it came."""

    claim: str
    text: str


Answer = Stutter | Matched | Refuted


class NoCounterpartError(ValueError):
    """The implementation has something, named by the message, that the specification never has. Mappings
    raise it.
    """


def _is_plain(state: State) -> bool:
    kinds = (set(map(type, part)) if type(part) is tuple else {type(part)} for part in state)
    return all(kind <= _PLAIN for kind in kinds)


class MappingError(ProgramError):
    """A refinement mapping gives no state of the specification. The message names variable and key."""


_PLAIN = frozenset({bool, int, str})


def _wrong_scalar(kind: Type, value: object) -> str:
    """What to give in place of a value that is none of this type; empty if it may be one."""
    if isinstance(kind, EnumType):
        return "" if isinstance(value, str) else f"give one of {', '.join(kind.members)}"
    if hasattr(value, "__index__"):
        return ""
    awaited = ", the result of an await" * inspect.isawaitable(value)
    return f"give {'a truth value' if isinstance(kind, BoolType) else 'a whole number'}{awaited}"


class StepChecker:
    """Checks pairs of abstract states against an instance. Replies are kept: a search meets the same pairs
    again, and what was asked may be asked of another text (``tidemark.models.refinement.queries``). So
    whoever judges an implementation asks the actions and claims of a specification here only.

    ``ignored``: variables that are left out of the comparison. ``sound``: the specification keeps its own
    properties; for one that does not, lemmas are left out and transition invariants are compared.
    """

    def __init__(self, instance: Instance, *, ignored: tuple[str, ...] = (), sound: bool = True) -> None:
        self.interpreter = Interpreter(instance)
        self.spec = self.interpreter.spec
        names = [variable.name for variable in self.spec.variables]
        unknown = [name for name in ignored if name not in names]
        if unknown:
            raise ValueError(f"no variable {unknown[0]!r} in {self.spec.name}; it has {', '.join(names)}")
        self._ignored = {names.index(name): self.spec.initial[name] for name in ignored}
        self.ignored = ignored
        self._sound = sound
        self._answers: dict[tuple[State, State], Answer] = {}
        self._transitions: dict[State, list[Transition]] = {}
        self._queries = Queries()
        self._used = False
        self._read_one = False
        self.matched: dict[str, int] = {}
        _ALL.add(self)
        for noted in _NOTED:
            noted.append(self)

    def normal(self, state: State) -> State:
        """The state with ignored variables at their initial values."""
        if not self._ignored:
            return state
        return tuple(self._ignored.get(place, value) for place, value in enumerate(state))

    def encode(self, values: Mapping[str, Any]) -> State:
        """A state from values by variable name; ignored variables may be left out. Raises MappingError."""
        self._used = True  # a state that is none of the specification is refused here
        filled = {self.spec.variables[place].name: value for place, value in self._ignored.items()}
        try:
            state = self.normal(self.interpreter.encode({**filled, **values}))
            hash(state)
        except (KeyError, IndexError, TypeError) as error:
            words = self._what_is_wrong(values, filled) or "a value is none of the specification"
            raise MappingError(words) from error
        if not (self._read_one and _is_plain(state)) and (wrong := self._what_is_wrong(values, filled)):
            raise MappingError(wrong)
        self._read_one = True  # the first state is looked at value by value
        return state

    def _what_is_wrong(self, values: Any, filled: Mapping[str, Any]) -> str:
        """Return why values are no state, in words; nothing if they may be one."""
        if not isinstance(values, Mapping):
            return f"the mapping returns {values!r:.60}: give a dictionary with a value of each variable"
        for variable in self.spec.variables:
            name = variable.name
            if name not in values and name not in filled:
                return f"the variable `{name}` is left out: give a value of each variable of {self.spec.name}"
            wrong = self._wrong_value(variable, values.get(name, filled.get(name)))
            if wrong:
                return wrong
        return ""

    def _wrong_value(self, variable: Variable, value: Any) -> str:
        name, kind = variable.name, variable.type
        if not isinstance(kind, MapType):
            wrong = _wrong_scalar(kind, value)
            return wrong and f"`{name}` is {value!r:.60}: {wrong}"
        if not hasattr(value, "__getitem__"):
            return f"`{name}` is {value!r:.60}: give a dictionary with {self._keys(kind)}"
        for key in self.interpreter.instance.entries(kind):
            at = key[0] if len(key) == 1 else key
            try:
                entry = value[at]
            except (KeyError, IndexError, TypeError):
                return f"`{name}` lacks the key {at!r}: give all of {self._keys(kind)}"
            if wrong := _wrong_scalar(kind.value, entry):
                return f"`{name}[{at}]` is {entry!r:.60}: {wrong}"
        return ""

    def _keys(self, kind: MapType) -> str:
        """The keys of a map in words, axis by axis."""
        domains = [domain.values for domain in self.interpreter.instance.domains(kind.keys)]
        return " x ".join(
            f"{each[0]}..{each[-1]}" if type(each[0]) is int and len(each) > 1 else ", ".join(map(str, each))
            for each in domains
        )

    def start(self, state: State) -> Refuted | None:
        """The first abstract state must be an initial state of the specification."""
        self._used = True
        starts = [self.normal(start) for start in self.interpreter.initial()]
        if state in starts:
            return None
        return Refuted("refinement", f"the first state is not initial: {self.changes(starts[0], state)}")

    def mistakes_a_start(self) -> bool:
        """Self-test of ``start``: is a later state taken for a first one?"""
        firsts = [self.normal(state) for state in self.interpreter.initial()]
        later = [found.state for found in self.successors(firsts[0]) if found.state not in firsts]
        return bool(later) and self.start(later[0]) is None

    def check(self, before: State, after: State) -> Answer:
        """The answer for one step."""
        if before == after:
            return Stutter()
        answer = self._answers.get(key := (before, after))
        if answer is None:
            answer = self._answers[key] = self._decide(before, after)
        if isinstance(answer, Matched):
            self.matched[answer.step.action] = self.matched.get(answer.step.action, 0) + 1
        return answer

    def successors(self, state: State) -> list[Transition]:
        """Transitions of the specification from a state, ignored variables put back."""
        found = self._from(state)
        self._queries.successors[state] = found
        return found

    def apply(self, state: State, step: Step) -> Transition | None:
        """The transition by a step, ignored variables put back; None if it is not enabled."""
        key, known = (state, step), self._queries.applied
        if key not in known:
            found = self.interpreter.apply(state, step)
            known[key] = found and Transition(step, self.normal(found.state), found.in_bounds)
        return known[key]

    def between(self, before: State, after: State) -> tuple[Step, ...]:
        """All steps of the specification from one state to another, in its order."""
        key, known = (before, after), self._queries.between
        steps = known.get(key)
        if steps is None:
            steps = known[key] = tuple(found.step for found in self._from(before) if found.state == after)
        return steps

    def broken(self, state: State, *, lemmas: bool = True) -> Property | None:
        """The first invariant (or lemma) that does not hold of a state; None if all do."""
        key, known = (state, lemmas), self._queries.broken
        if key not in known:
            kinds = ("invariant", "lemma") if lemmas else ("invariant",)
            claims = self.spec.of_kind(*kinds)
            known[key] = next((p.id for p in claims if not self.interpreter.holds(p, state)), None)
        claim = known[key]
        return None if claim is None else self.spec.property(claim)

    def witnessed(self, before: State, after: State, step: Step) -> frozenset[str]:
        """Return the reachability properties that a step satisfies."""
        key, known = (before, after, step), self._queries.witnessed
        found = known.get(key)
        if found is None:
            claims = self.spec.of_kind("reachable")
            found = frozenset(p.id for p in claims if self.interpreter.holds(p, before, after, step))
            known[key] = found
        return found

    def unmet(self, claim: str, state: State) -> str | None:
        """Return for which values a leads_to waits for its conclusion, in words; None if for none."""
        key, known = (claim, state), self._queries.unmet
        if key not in known:
            known[key] = self._waits_for(claim, state)
        return known[key]

    def _from(self, state: State) -> list[Transition]:
        if state not in self._transitions:
            self._transitions[state] = [
                Transition(found.step, self.normal(found.state), found.in_bounds)
                for found in self.interpreter.successors(state)
            ]
        return self._transitions[state]

    def _waits_for(self, claim: str, state: State) -> str | None:
        prop = next(p for p in self.spec.of_kind("leads_to") if p.id == claim)
        instance, evaluate = self.interpreter.instance, self.interpreter.evaluate
        for values in itertools.product(*(instance.domain(param.type).values for param in prop.params)):
            local: dict[str, Any] = {p.name: value for p, value in zip(prop.params, values, strict=True)}
            if evaluate(prop.premise, state, **local) and not evaluate(prop.expr, state, **local):
                return ", ".join(f"{name}={value}" for name, value in local.items()) or "as it is"
        return None

    # What was asked, and whether it would be answered so again.

    def forget(self) -> None:
        """Forget what was asked."""
        self._used = False
        self._answers.clear()
        self._transitions.clear()
        self._queries.clear()
        self.matched.clear()

    @property
    def was_used(self) -> bool:
        """Whether anything was asked since it was forgotten last, if only for the form of a state."""
        return self._used or len(self._queries) > 0

    def asked(self) -> Asked:
        """All that was asked since it was forgotten last."""
        queries = self._queries
        for (before, after), answer in self._answers.items():
            if isinstance(answer, Refuted):
                queries.refuted[before, after] = (answer.claim, answer.text)
        texts = Texts.of(self.spec)
        return Asked(self.interpreter.instance, self.ignored, self._sound, texts, queries)

    def replies_alike(self, asked: Asked, *, shown: bool = False) -> bool:
        """Whether the present specification gives the same replies: changed actions and claims are asked.
        ``shown``: a counterexample shows parts of claims.
        """
        texts = Texts.of(self.spec)
        if texts.signature != asked.texts.signature:
            return False
        actions, claims = texts.changed(asked.texts)
        if shown and claims:
            return False
        return self._same_steps(asked.queries, actions) and self._same_claims(asked.queries, claims)

    def _same_steps(self, asked: Queries, changed: frozenset[str]) -> bool:
        if not changed:
            return True
        if asked.refuted and any(self.check(*pair) != Refuted(*said) for pair, said in asked.refuted.items()):
            return False  # the words say how near each action came
        steps = [step for step in self.interpreter.steps if step.action in changed]
        found = {
            state: [t for step in steps if (t := self.apply(state, step)) is not None]
            for state in {*(before for before, _ in asked.between), *asked.successors}
        }
        return (
            all(
                [t.step for t in found[before] if t.state == after]
                == [s for s in said if s.action in changed]
                for (before, after), said in asked.between.items()
            )
            and all(
                found[state] == [t for t in said if t.step.action in changed]
                for state, said in asked.successors.items()
            )
            and all(
                self.apply(state, step) == said
                for (state, step), said in asked.applied.items()
                if step.action in changed
            )
        )

    def _same_claims(self, asked: Queries, changed: frozenset[str]) -> bool:
        if not changed:
            return True
        if asked.refuted or any(asked.broken.values()):
            return False  # a counterexample shows parts of the claim
        claims = [p for p in self.spec.properties if p.id in changed]
        invariants = [p for p in claims if p.kind == "invariant"]
        lemmas = [p for p in claims if p.kind == "lemma"]
        stepwise = [p for p in claims if p.kind == "transition_invariant" and not self._sound]
        witnesses = [p for p in claims if p.kind == "reachable"]
        holds = self.interpreter.holds
        return (
            all(
                holds(p, state)
                for state, with_lemmas in asked.broken
                for p in (*invariants, *(lemmas if with_lemmas else ()))
            )
            and all(holds(p, *pair) for pair in asked.between for p in stepwise)
            and all(
                holds(p, before, after, step) == (p.id in said)
                for (before, after, step), said in asked.witnessed.items()
                for p in witnesses
            )
            and all(
                self._waits_for(claim, state) == said
                for (claim, state), said in asked.unmet.items()
                if claim in changed
            )
        )

    def _decide(self, before: State, after: State) -> Answer:
        broken = self.broken(after, lemmas=self._sound)
        if broken is None and not self._sound:
            broken = self._broken_by(before, after)
        found = self.between(before, after) if broken is None else ()
        if found:
            return Matched(found[0])
        broken = broken or self._broken_by(before, after)
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
        enabled = self._from(before)
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


@contextmanager
def asking() -> Iterator[list[Asked]]:
    """Note what is asked of specifications meanwhile, in this process; it is there at the end."""
    for checker in list(_ALL):
        checker.forget()
    found: list[Asked] = []
    begun: list[StepChecker] = []
    _NOTED.append(begun)
    try:
        yield found
    finally:
        _NOTED.remove(begun)
    asked = [checker.asked() for checker in {*_ALL, *begun} if checker.was_used]
    found += sorted(asked, key=lambda one: repr((one.instance, one.ignored, one.sound)))
