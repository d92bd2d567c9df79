"""Traces in the Informal Trace Format read back, and taken again by the interpreter.

A file of ours says in ``#meta`` which action was taken; a file of another tool need not: then any step that
leads from one state to the next will do. Numbers may be plain or ``#bigint``; functions are ``#map``, tuples
``#tup``. Variables that the protocol does not have are refused, but for ``beyond``, which our TLA+ export
adds.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from tidemark.checks.explore.lasso import broken_case, failing_text
from tidemark.checks.verdicts.counterexample import Counterexample, Shape
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.trace import counterexample, failing_conjunct
from tidemark.models.instance import Instance
from tidemark.models.interpreted.evaluate import State
from tidemark.models.interpreted.interpreter import Interpreter, Step
from tidemark.spec.language.types import BoolType, MapType, NumberType, SortType, Type

_EXTRA = frozenset(("beyond",))
"""Variables of our exports that are no state."""


@dataclass(frozen=True)
class Taken:
    """A trace that the interpreter has taken again, and what it breaks: property -> the part that fails."""

    trace: Counterexample
    broken: dict[str, str]


class NoRunError(BadInputError):
    """States of the instance that are no run of it: no initial state, or a step that the protocol has not.

    ``number`` is that of the first state that does not follow, ``before`` the state before it by variable
    (the state itself if it is the first one).
    """

    exit_code = ExitCode.UNEXPECTED_REFUTATION

    def __init__(self, message: str, *, number: int, before: dict[str, Any]) -> None:
        super().__init__(message, remedy=_REMEDY)
        self.number, self.before = number, before


def read_itf(path: Path) -> dict[str, Any]:
    """The document. Raises BadInputError if it is not a trace in this format."""
    try:
        loaded: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInputError(
            f"{path.as_posix()} cannot be read: {error}", remedy="give a trace in ITF (.itf.json)"
        ) from error
    states = loaded.get("states") if isinstance(loaded, dict) else None
    if not isinstance(states, list) or not states or not all(isinstance(state, dict) for state in states):
        raise BadInputError(
            f"{path.as_posix()} holds no list of states", remedy="give a trace in ITF (.itf.json)"
        )
    document: dict[str, Any] = loaded
    return document


def model_of(document: Mapping[str, Any]) -> Instance | None:
    """The instance that a file of ours names; None for a file of another tool."""
    model = document.get("#meta", {}).get("model")
    if not isinstance(model, dict):
        return None
    bounds = {name: tuple(b) if isinstance(b, list) else b for name, b in model["bounds"].items()}
    return Instance(model["protocol"], bounds, model["constants"], name="the trace's instance")


def take_again(document: Mapping[str, Any], instance: Instance) -> Taken:
    """Follow the trace with the interpreter. A counterexample to induction may begin anywhere.

    Raises NoRunError at the first state that is no initial state, or is not reached from the one before by a
    step of the protocol; BadInputError at one that is no state of the instance.
    """
    interpreter = Interpreter(instance)
    reader = _Reader(instance)
    states = [reader.state(raw, number) for number, raw in enumerate(document["states"])]
    free = document.get("#meta", {}).get("shape") == Shape.INDUCTION
    if not free and states[0] not in set(interpreter.initial()):
        raise NoRunError(
            "state 0 of the trace is not an initial state", number=0, before=_named(instance, states[0])
        )
    loop = document.get("loop")
    targets = states if loop is None else [*states, states[_place(loop, len(states))]]
    metas = [*(raw.get("#meta", {}) for raw in document["states"]), {}]
    steps = [
        _step(interpreter, targets[number - 1], targets[number], metas[number], number)
        for number in range(1, len(targets))
        if not (loop is not None and number == len(states) and _stands_still(targets, number, metas))
    ]
    shown = targets[: len(steps) + 1]
    # Invariants that some state breaks, transition invariants that some step breaks.
    found: dict[str, str] = {}
    for prop in interpreter.spec.of_kind("invariant", "lemma"):
        texts = (failing_conjunct(interpreter, prop, state) for state in shown)
        found[prop.id] = next((text for text in texts if text), "")
    for prop in interpreter.spec.of_kind("transition_invariant"):
        texts = (failing_conjunct(interpreter, prop, *pair) for pair in pairwise(shown))
        found[prop.id] = next((text for text in texts if text), "")
    broken = {name: text for name, text in found.items() if text}
    if loop is not None:
        broken |= _never(interpreter, shown, steps, loop)
    trace = counterexample(
        instance,
        states=shown,
        steps=steps,
        failing="; ".join(broken) or "nothing: no property is broken",
        shape=Shape.INDUCTION if free else Shape.RUN if loop is None else Shape.LASSO,
        loop_start=loop,
    )
    return Taken(trace, broken)


_REMEDY = "the protocol, its bounds or its constants are not those of the trace"


def _place(loop: object, length: int) -> int:
    if not isinstance(loop, int) or not 0 <= loop < length:
        raise BadInputError(
            f"the loop begins at state {loop!r}, which the trace does not have", remedy=_REMEDY
        )
    return loop


def _stands_still(targets: list[State], number: int, metas: list[dict[str, Any]]) -> bool:
    """A lasso whose last state repeats for ever takes no step there."""
    return targets[number - 1] == targets[number] and not metas[number]


def _step(
    interpreter: Interpreter, before: State, after: State, meta: Mapping[str, Any], number: int
) -> Step:
    """The step that the file names, or else the first one that leads from ``before`` to ``after``."""
    named = meta.get("action")
    found = [
        transition
        for transition in interpreter.successors(before)
        if transition.in_bounds and transition.state == after and named in (None, transition.step.action)
    ]
    given = meta.get("args")
    if named is not None and isinstance(given, dict):
        wanted = tuple(_plain(value) for value in given.values())
        found = [transition for transition in found if transition.step.args == wanted]
    if not found:
        what = "no step leads" if named is None else f"no step by {named} with these arguments leads"
        what = f"{what} from state {number - 1} of the trace to state {number}"
        nearest = _nearest(interpreter, before, after, named)
        raise NoRunError(f"{what}; {nearest}", number=number, before=_named(interpreter.instance, before))
    return found[0].step


def _named(instance: Instance, state: State) -> dict[str, Any]:
    return {variable.name: value for variable, value in zip(instance.spec.variables, state, strict=True)}


def _nearest(interpreter: Interpreter, before: State, after: State, named: str | None) -> str:
    """The step that comes closest: one with this effect whose guard fails, or else an enabled one."""
    far = (len(after) + 1, "no step is near")
    for step in interpreter.steps:
        if named not in (None, step.action):
            continue
        reached = interpreter.effect(before, step).state
        differ = [
            variable.name
            for variable, one, two in zip(interpreter.spec.variables, reached, after, strict=True)
            if one != two
        ]
        guard = interpreter.failing_guard(before, step)
        if not differ and guard is not None:
            return f"{step} would do it, and is not enabled: {guard}"
        if guard is None and len(differ) < far[0]:
            far = (len(differ), f"the nearest step is {step}, which differs in {', '.join(differ)}")
    return far[1]


def _never(
    interpreter: Interpreter, states: list[State], steps: list[Step], loop_start: int
) -> dict[str, str]:
    """Liveness properties that the cycle breaks."""
    found = {
        prop: broken_case(interpreter, prop, states=states, steps=steps, loop_start=loop_start)
        for prop in interpreter.spec.of_kind("leads_to")
    }
    return {prop.id: failing_text(prop, case) for prop, case in found.items() if case is not None}


class _Reader:
    """Values of a file as states of an instance."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance

    def state(self, raw: Mapping[str, Any], number: int) -> State:
        names = {variable.name for variable in self.instance.spec.variables}
        strange = sorted(set(raw) - names - _EXTRA - {"#meta"})
        missing = sorted(names - set(raw))
        if any(raw.get(name) for name in _EXTRA):
            raise BadInputError(f"state {number} of the trace is outside the bounds", remedy=_REMEDY)
        if strange or missing:
            what = f"has no {missing[0]!r}" if missing else f"has {strange[0]!r}, which is not a variable"
            raise BadInputError(f"state {number} of the trace {what}", remedy=_REMEDY)
        return tuple(
            self._value(variable.type, raw[variable.name], f"{variable.name} in state {number}")
            for variable in self.instance.spec.variables
        )

    def _value(self, kind: Type, raw: Any, where: str) -> Any:
        if not isinstance(kind, MapType):
            return self._scalar(kind, raw, where)
        pairs = raw.get("#map") if isinstance(raw, dict) else None
        if pairs is None:
            raise BadInputError(f"{where} is no #map: {raw!r}", remedy=_REMEDY)
        table = {_keys(key): value for key, value in pairs}
        entries = list(self.instance.entries(kind))
        if set(table) != set(entries):
            raise BadInputError(f"{where} has other keys than {kind}", remedy=_REMEDY)
        return tuple(self._scalar(kind.value, table[at], where) for at in entries)

    def _scalar(self, kind: Type, raw: Any, where: str) -> Any:
        value = _plain(raw)
        wanted = (
            bool if isinstance(kind, BoolType) else int if isinstance(kind, NumberType | SortType) else str
        )
        fits = isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))
        if not fits or value not in self.instance.domain(kind).values:
            raise BadInputError(f"{where}: {raw!r} is not a value of {kind}", remedy=_REMEDY)
        return value


def _plain(raw: Any) -> Any:
    if isinstance(raw, dict) and "#bigint" in raw:
        return int(raw["#bigint"])
    return raw


def _keys(raw: Any) -> tuple[Any, ...]:
    parts = raw["#tup"] if isinstance(raw, dict) and "#tup" in raw else [raw]
    return tuple(_plain(part) for part in parts)
