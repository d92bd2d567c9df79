"""Reachable states of a small instance, as columns of small numbers.

They only filter: a candidate that one of them breaks is false; the others still have to be proved.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidemark.models.instance import BadInstance, Instance
from tidemark.models.interpreted.evaluate import State
from tidemark.models.interpreted.interpreter import Interpreter, Step, Transition
from tidemark.spec.language.expr import Value, Variable
from tidemark.spec.language.types import EnumType, MapType, Type

STARTS = 1_000
"""Initial states that random runs begin in, at most."""

LENGTH = 80
"""Steps of a random run, at most."""

VARIANTS = 12
"""Constants that are drawn, at most."""

Column = NDArray[np.int64]


def code(kind: Type, value: Value) -> int:
    """A value of a scalar type as a number."""
    return kind.index(str(value)) if isinstance(kind, EnumType) else int(value)


@dataclass(frozen=True)
class Batch:
    """Many states: for each variable and constant an array with a row for each state, a column per entry."""

    instance: Instance
    columns: Mapping[str, Column]
    size: int

    def parts(self, size: int) -> Iterator[Batch]:
        """The same states, so many at a time."""
        for first in range(0, self.size, size):
            columns = {name: column[first : first + size] for name, column in self.columns.items()}
            yield Batch(self.instance, columns, min(size, self.size - first))


def batch(instance: Instance, states: Sequence[tuple[Mapping[str, Any], State]]) -> Batch:
    """Pairs of constants (nested lists, as an ``Instance`` has them) and state as columns."""
    spec = instance.spec
    columns: dict[str, Column] = {}
    for place, variable in enumerate(spec.variables):
        columns[variable.name] = _column(variable, [state[place] for _, state in states])
    for variable in spec.constants:
        columns[variable.name] = _column(variable, [_flat(values[variable.name]) for values, _ in states])
    return Batch(instance, columns, len(states))


def _flat(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return value
    return tuple(cell for item in value for cell in _cells(item))


def _cells(item: Any) -> tuple[Any, ...]:
    flat = _flat(item)
    return flat if isinstance(flat, tuple) else (flat,)


def _column(variable: Variable, values: Sequence[Any]) -> Column:
    kind = variable.type
    scalar = kind.value if isinstance(kind, MapType) else kind
    rows = [value if isinstance(value, tuple) else (value,) for value in values]
    return np.array([[code(scalar, cell) for cell in row] for row in rows], dtype=np.int64)


@dataclass(frozen=True)
class Sample:
    """Reachable states with their constants; ``never``: actions that led to none of them."""

    states: list[tuple[Mapping[str, Any], State]]
    never: tuple[str, ...] = ()
    complete: bool = False
    """All reachable states were met, for each of the constants that were drawn."""


def sample(instance: Instance, *, states: int, seconds: float, seed: int) -> Sample:
    """Reachable states of the instance; constants without a value are drawn. Breadth-first, to meet states
    that need many parties; beyond ``states``, random runs, which go deeper, give the rest. Raises BadInstance
    if no constants fit.
    """
    draw = random.Random(seed)
    ends = time.perf_counter() + seconds
    makers, first = _makers(instance, draw)
    taken: set[str] = set()
    seen, complete = _breadth_first(makers, first, states=states, ends=ends, taken=taken)
    if not complete:
        # Shallow states alone are poor samples, and random runs miss rare states: half each.
        kept = dict(itertools.islice(seen.items(), states // 2))
        known = [[state for number, state in kept if number == place] for place in range(len(makers))]
        _walk(makers, first, known, seen=kept, states=states, ends=ends, draw=draw, taken=taken)
        for item in seen:
            if len(kept) >= states:
                break
            kept.setdefault(item)  # where random runs found too little
        seen = kept
    never = tuple(action.name for action in instance.spec.actions if action.name not in taken)
    return Sample([(makers[number].instance.constants, state) for number, state in seen], never, complete)


def _makers(instance: Instance, draw: random.Random) -> tuple[list[Interpreter], list[list[State]]]:
    makers = list(itertools.islice(_interpreters(instance, draw), VARIANTS))
    first = [list(itertools.islice(interpreter.initial(), STARTS)) for interpreter in makers]
    if not any(first):
        raise BadInstance(f"{instance.name}: no constants with an initial state were found; widen the bounds")
    return makers, first


_Seen = dict[tuple[int, State], None]
"""States by order of discovery, each with the number of its constants."""


def _breadth_first(
    makers: Sequence[Interpreter],
    first: Sequence[Sequence[State]],
    *,
    states: int,
    ends: float,
    taken: set[str],
) -> tuple[_Seen, bool]:
    """States level by level, all constants side by side, and whether these are all."""
    seen: _Seen = dict.fromkeys((number, state) for number, found in enumerate(first) for state in found)
    level = list(seen)
    half = time.perf_counter() + (ends - time.perf_counter()) / 2
    while level:
        following: _Seen = {}
        for number, state in level:
            if len(seen) >= states or time.perf_counter() > half:
                return seen, False
            for found in makers[number].successors(state):
                if not found.in_bounds:
                    continue
                if found.state != state:
                    taken.add(found.step.action)
                if (number, found.state) not in seen:
                    seen[number, found.state] = None
                    following[number, found.state] = None
        level = list(following)
    return seen, True


def _walk(
    makers: Sequence[Interpreter],
    first: Sequence[Sequence[State]],
    known_of: Sequence[list[State]],
    *,
    seen: _Seen,
    states: int,
    ends: float,
    draw: random.Random,
    taken: set[str],
) -> None:
    while len(seen) < states and time.perf_counter() < ends:
        known = len(seen)
        for number, interpreter in enumerate(makers):
            if not first[number]:
                continue
            # Half of the runs start from a known state: rare states have successors too.
            fresh = draw.random() < 0.5 or not known_of[number]
            state = draw.choice(first[number] if fresh else known_of[number])
            seen.setdefault((number, state))
            for _ in range(LENGTH):
                following = _next(interpreter, state, draw)
                if following is None:
                    break
                state = following.state
                taken.add(following.step.action)
                if (number, state) not in seen:
                    seen[number, state] = None
                    known_of[number].append(state)
        if len(seen) == known and draw.random() < 0.05:
            break


def _next(interpreter: Interpreter, state: State, draw: random.Random) -> Transition | None:
    """A step by an action drawn first, so that actions with many parameters are not preferred."""
    by_action: dict[str, list[Step]] = {}
    for step in interpreter.steps:
        by_action.setdefault(step.action, []).append(step)
    for action in draw.sample(sorted(by_action), len(by_action)):
        for step in draw.sample(by_action[action], len(by_action[action])):
            found = interpreter.apply(state, step)
            if found is not None and found.in_bounds and found.state != state:
                return found
    return None


def _interpreters(instance: Instance, draw: random.Random) -> Iterator[Interpreter]:
    tried: set[str] = set()
    for _ in range(VARIANTS * 8):
        constants = dict(instance.constants)
        for variable in instance.spec.constants:
            if variable.name not in constants:
                constants[variable.name] = _drawn(instance, variable, draw)
        if str(constants) in tried:
            continue
        tried.add(str(constants))
        try:
            yield Interpreter(replace(instance, constants=constants))
        except BadInstance:
            continue


def _drawn(instance: Instance, variable: Variable, draw: random.Random) -> Any:
    kind = variable.type
    if not isinstance(kind, MapType):
        return draw.choice(instance.domain(kind).values)
    values = instance.domain(kind.value).values

    def level(keys: tuple[Type, ...]) -> Any:
        if not keys:
            return draw.choice(values)
        return [level(keys[1:]) for _ in instance.domain(keys[0]).values]

    return level(kind.keys)
