"""What an exploration has asked of a specification, and whether another text of it gives the same replies.

An exploration of an implementation sees the specification through a ``StepChecker`` alone. So it is a
function of its own code and of the replies: where a changed specification replies the same to all that was
asked, the exploration would be the same, step by step. What the specification must have in common with the
earlier one to be asked at all (state, initial condition, names and parameters) is the *signature*. A reply
is put together from those of single actions and claims, so that only changed ones are asked again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from tidemark.models.digest import content_digest
from tidemark.models.frozen import frozen
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step, Transition
from tidemark.spec.language.spec import Spec

State = tuple[Any, ...]
Pair = tuple[State, State]


@dataclass
class Queries:
    """Queries with their replies.

    Attributes:
        between: two states -> all steps from the one to the other, in order.
        broken: a state, and whether lemmas count -> id of the first broken invariant, or None.
        refuted: two states -> claim and text, where the pair is no step or breaks a property.
        witnessed: two states and the step between them -> ids of the witnesses that it satisfies.
        unmet: id of a leads_to and a state -> for which values it waits, or None.
        successors: a state -> all transitions.
        applied: a state and a step -> the transition, or None.
    """

    between: dict[Pair, tuple[Step, ...]] = field(default_factory=dict)
    broken: dict[tuple[State, bool], str | None] = field(default_factory=dict)
    refuted: dict[Pair, tuple[str, str]] = field(default_factory=dict)
    witnessed: dict[tuple[State, State, Step], frozenset[str]] = field(default_factory=dict)
    unmet: dict[tuple[str, State], str | None] = field(default_factory=dict)
    successors: dict[State, list[Transition]] = field(default_factory=dict)
    applied: dict[tuple[State, Step], Transition | None] = field(default_factory=dict)

    def clear(self) -> None:
        """Forget all."""
        for item in fields(self):
            getattr(self, item.name).clear()

    def update(self, other: Queries) -> None:
        """Add those of another exploration of the same specification: the same query has the same reply."""
        for item in fields(self):
            getattr(self, item.name).update(getattr(other, item.name))

    def __len__(self) -> int:
        return sum(len(getattr(self, item.name)) for item in fields(self))


@dataclass(frozen=True)
class Texts:
    """A specification by digests: the signature; and each action and each claim by name."""

    signature: str
    actions: Mapping[str, str]
    claims: Mapping[str, str]

    @classmethod
    def of(cls, spec: Spec) -> Texts:
        """Those of a specification with its options put in."""
        signature = (
            spec.name,
            spec.types,
            spec.constants,
            tuple(sorted(spec.options.items())),
            spec.variables,
            tuple(sorted(spec.initial.items())),
            spec.initially,
            tuple((prop.expr, prop.params) for prop in spec.assumptions),
            tuple((action.name, action.params, action.fairness) for action in spec.actions),
            tuple((p.id, p.kind, p.params, p.after, p.without) for p in spec.properties),
        )
        return cls(
            content_digest(signature),
            {
                action.name: content_digest((tuple((g.expr, g.text) for g in action.guards), action.updates))
                for action in spec.actions
            },
            {p.id: content_digest((p.expr, p.premise, p.description)) for p in spec.properties},
        )

    def changed(self, other: Texts) -> tuple[frozenset[str], frozenset[str]]:
        """Names of the actions and ids of the claims that differ, of two specifications of one signature."""
        return (
            frozenset(name for name, text in self.actions.items() if other.actions[name] != text),
            frozenset(name for name, text in self.claims.items() if other.claims[name] != text),
        )


@dataclass(frozen=True)
class Asked:
    """The queries to one instance, without ``ignored`` variables, and the specification that replied.
    ``sound``: see ``tidemark.models.refinement.step.StepChecker``.
    """

    instance: Instance
    ignored: tuple[str, ...]
    sound: bool
    texts: Texts
    queries: Queries

    def plain(self) -> dict[str, Any]:
        """It as plain data. Raises TypeError for an instance that its four parts do not stand for."""
        if type(self.instance) is not Instance:
            raise TypeError(f"{self.instance!r} is no plain instance")
        table, asked = _Table(), self.queries
        body = {
            "between": [[table.of(a), table.of(b), _plain(s)] for (a, b), s in asked.between.items()],
            "broken": [[table.of(s), lemmas, claim] for (s, lemmas), claim in asked.broken.items()],
            "refuted": [[table.of(a), table.of(b), *said] for (a, b), said in asked.refuted.items()],
            "witnessed": [
                [table.of(a), table.of(b), [step.action, step.args], sorted(ids)]
                for (a, b, step), ids in asked.witnessed.items()
            ],
            "unmet": [[claim, table.of(s), text] for (claim, s), text in asked.unmet.items()],
            "successors": [[table.of(s), table.transitions(all_)] for s, all_ in asked.successors.items()],
            "applied": [
                [table.of(s), [step.action, step.args], table.transitions([one] if one else [])]
                for (s, step), one in asked.applied.items()
            ],
        }
        one = self.instance
        return {
            "instance": [one.protocol, dict(one.bounds), _unfrozen(one.constants), one.name],
            "ignored": self.ignored,
            "sound": self.sound,
            "texts": [self.texts.signature, self.texts.actions, self.texts.claims],
            "values": table.values,
            "states": table.states,
            "queries": body,
        }

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> Asked:
        """The inverse of ``plain``, whose output may have been JSON in between.

        Raises ValueError, KeyError, TypeError, IndexError if it is no such output.
        """
        values = [frozen(value) for value in plain["values"]]
        states = [tuple([values[place] for place in state]) for state in plain["states"]]
        body = plain["queries"]
        asked = Queries(
            between={(states[a], states[b]): tuple(map(_step, s)) for a, b, s in body["between"]},
            broken={(states[s], lemmas): claim for s, lemmas, claim in body["broken"]},
            refuted={(states[a], states[b]): (claim, text) for a, b, claim, text in body["refuted"]},
            witnessed={
                (states[a], states[b], _step(step)): frozenset(ids) for a, b, step, ids in body["witnessed"]
            },
            unmet={(claim, states[s]): text for claim, s, text in body["unmet"]},
            successors={states[s]: list(_transitions(all_, states)) for s, all_ in body["successors"]},
            applied={
                (states[s], _step(step)): next(_transitions(one, states), None)
                for s, step, one in body["applied"]
            },
        )
        protocol, bounds, constants, name = plain["instance"]
        limits = {kind: tuple(bound) if isinstance(bound, list) else bound for kind, bound in bounds.items()}
        instance = Instance(protocol, limits, constants, name)
        return cls(instance, tuple(plain["ignored"]), plain["sound"], Texts(*plain["texts"]), asked)


def merged(several: Iterable[Asked]) -> list[Asked]:
    """What several explorations have asked of the same specifications: of each instance once."""
    found: dict[Hashable, Asked] = {}
    for one in several:
        name = (one.instance, one.ignored, one.sound)
        if name in found:
            found[name].queries.update(one.queries)
        else:
            found[name] = replace(one, queries=Queries())
            found[name].queries.update(one.queries)
    return sorted(found.values(), key=lambda one: repr((one.instance, one.ignored, one.sound)))


class _Table:
    """States by number. Values of variables are numbered too: most states have most of them in common."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.states: list[list[int]] = []
        self._values: dict[tuple[type, Hashable], int] = {}
        self._states: dict[State, int] = {}

    def of(self, state: State) -> int:
        known = self._states.get(state)
        if known is None:
            known = self._states[state] = len(self.states)
            self.states.append([self._value(value) for value in state])
        return known

    def _value(self, value: Hashable) -> int:
        key = (type(value), value)  # True is no 1 here; inside of one variable's map all are of one type
        known = self._values.get(key)
        if known is None:
            known = self._values[key] = len(self.values)
            self.values.append(value)
        return known

    def transitions(self, found: Sequence[Transition]) -> list[list[Any]]:
        return [[one.step.action, one.step.args, self.of(one.state), one.in_bounds] for one in found]


def _plain(steps: Sequence[Step]) -> list[list[Any]]:
    return [[step.action, step.args] for step in steps]


def _unfrozen(value: Any) -> Any:
    return {name: _unfrozen(item) for name, item in value.items()} if isinstance(value, Mapping) else value


def _step(plain: Sequence[Any]) -> Step:
    action, args = plain
    return Step(action, frozen(args))


def _transitions(plain: Sequence[Any], states: Sequence[State]) -> Iterator[Transition]:
    for action, args, state, in_bounds in plain:
        yield Transition(Step(action, frozen(args)), states[state], in_bounds)
