"""The premise of every reduction by footprints: two steps whose footprints do not meet may change places.

A search with sleep sets runs one order of such steps and leaves the other out. That is right only if a
footprint names all that its step has touched. Here both orders are run, from places of random executions: in
either, both steps must happen, touch the same, and lead to the same state and to the same end. What a step
touches and does not say shows as a difference.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tidemark.checks.interleave.errors import UnsoundReductionError
from tidemark.checks.interleave.executions.run import Factory
from tidemark.checks.interleave.search_loop import quiet
from tidemark.models.simulation import Execution, Footprint, Interner, Program, ProgramRef, independent

_SEED = 20240229
_STEPS = 400
"""A random execution is followed for so many steps: a program that polls has no end."""
_AT_ONCE = 4
"""Pairs that are tried along one random execution."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two events of different processes that are enabled after some choices."""

    picks: tuple[int, ...]
    one: str
    other: str


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is compared after two steps: the steps' footprints by label, and the state. ``picks``: the choices
    up to here.
    """

    picks: tuple[int, ...]
    footprints: dict[str, Footprint]
    state: dict[str, Hashable]
    judged: bool


def commuting_pairs(program: ProgramRef, *, pairs: int) -> int:
    """Try pairs of steps in both orders. Return how many of them were independent, and did commute.

    Args:
        program: the program.
        pairs: how many pairs to try, over as many random executions as that takes.

    Raises:
        UnsoundReductionError: two steps that their footprints call independent do not commute.
    """
    factory, interner = program.load(), Interner()
    with quiet():
        found = itertools.islice(_pairs(factory, interner), pairs)
        return sum(_commutes(factory, interner, pair) for pair in found)


def _pairs(factory: Factory, interner: Interner) -> Iterator[Pair]:
    """Pairs of steps along random executions; no more if these have none."""
    draw = random.Random(_SEED)
    while True:
        places = _walk(factory, interner, draw)
        if not places:
            return
        for picks, labels in draw.sample(places, min(_AT_ONCE, len(places))):
            one, other = draw.choice(labels)
            yield Pair(picks, one, other)


_Place = tuple[tuple[int, ...], list[tuple[str, str]]]


def _walk(factory: Factory, interner: Interner, draw: random.Random) -> list[_Place]:
    """Run one random execution. Return the places with events of several processes, and these in pairs."""
    places: list[_Place] = []
    with _begun(factory, interner) as execution:
        picks: tuple[int, ...] = ()
        while len(picks) < _STEPS and execution.violation is None:
            events = execution.enabled()
            if not events:
                break
            apart = [
                (one.label, other.label)
                for one, other in itertools.combinations(events, 2)
                if one.lane.bit != other.lane.bit
            ]
            if apart:
                places.append((picks, apart))
            pick = draw.randrange(len(events))
            execution.step_again(events[pick])
            picks += (pick,)
    return places


@contextmanager
def _begun(factory: Factory, interner: Interner) -> Iterator[Execution]:
    execution = Execution(factory(), interner)
    try:
        execution.start(checked=True)
        yield execution
    finally:
        execution.close()


def _commutes(factory: Factory, interner: Interner, pair: Pair) -> bool:
    """Run a pair in both orders. Return whether the steps are independent."""
    first = _after(factory, interner, pair.picks, (pair.one, pair.other))
    second = _after(factory, interner, pair.picks, (pair.other, pair.one))
    if not independent(first.footprints[pair.one], second.footprints[pair.other]):
        return False
    if first.judged or second.judged:
        return False  # what breaks a claim, or the program, is the search's to report
    different = _difference(first, second, pair, interner)
    if different is None:
        return True
    raise UnsoundReductionError(
        f"after {len(pair.picks)} steps, {pair.one!r} and {pair.other!r} touch nothing in common by what "
        f"they say, and {different}",
        remedy="let each step record what it touches (World.touch), and let processes share nothing but the "
        "objects of the world",
        picks=first.picks,
    )


def _after(factory: Factory, interner: Interner, picks: tuple[int, ...], labels: Sequence[str]) -> _Seen:
    """Take choices, then events by their labels as long as they are enabled."""
    footprints: dict[str, Footprint] = {}
    with _begun(factory, interner) as execution:
        for pick in picks:
            execution.step_again(execution.enabled()[pick])
        execution.catch_up()
        for label in labels:
            enabled = [event.label for event in execution.enabled()]
            if label not in enabled or execution.violation is not None:
                break
            picks += (enabled.index(label),)
            footprints[label] = execution.step(execution.enabled()[picks[-1]])
        seen = _state(execution)
        if len(footprints) == len(labels):
            seen |= _end(execution)
        return _Seen(picks, footprints, seen, execution.violation is not None)


def _state(execution: Execution) -> dict[str, Hashable]:
    """What can be seen of a state, by what it is called in words."""
    observed = execution.program.observe() or {}
    seen: dict[str, Hashable] = {"events": tuple(sorted(event.label for event in execution.enabled()))}
    seen |= {f"the observed component {name!r}": value for name, value in observed.items()}
    if type(execution.program).declared is not Program.declared:
        seen["the declared state"] = execution.declared_state()
    return seen


def _end(execution: Execution) -> dict[str, Hashable]:
    """What follows without faults, if the event whose label is the least happens each time.

    A program that declares no state shows in this way what its processes keep for themselves.
    """
    taken: list[str] = []
    while len(taken) < _STEPS and execution.violation is None:
        events = [event for event in execution.enabled() if not event.fault]
        if not events:
            return {"what follows": tuple(taken), "the outcome": execution.program.final()}
        event = min(events, key=lambda one: one.label)
        execution.step_again(event)
        taken.append(event.label)
    return {"what follows": tuple(taken)}


def _difference(first: _Seen, second: _Seen, pair: Pair, interner: Interner) -> str | None:
    """What the two orders differ in, in words."""
    for seen, earlier, later in ((first, pair.one, pair.other), (second, pair.other, pair.one)):
        if later not in seen.footprints:
            return f"{later!r} cannot happen after {earlier!r}"
    for label in (pair.one, pair.other):
        one, other = first.footprints[label], second.footprints[label]
        if one != other:
            what = sorted({*_names(one, interner)} ^ {*_names(other, interner)})
            return f"{label!r} has in one order only: {', '.join(what)}"
    for name, value in first.state.items():
        if second.state.get(name) != value:
            ends = f"{_shown(value)} or {_shown(second.state.get(name))}"
            return f"{name} after both depends on their order: {ends}"
    return None


def _names(footprint: Footprint, interner: Interner) -> list[str]:
    reads, writes = interner.unpack(footprint)
    return [*(f"read of {name}" for name in reads), *(f"write of {name}" for name in writes)]


def _shown(value: Hashable) -> str:
    return value.hex() if isinstance(value, bytes) else repr(value)
