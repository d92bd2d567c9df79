"""Partial-order reduction: the same verdicts as without it, fewer states, and refused where it is unsound."""

import random
from typing import Any

import numpy as np
import pytest

from tidemark.checks.crosscheck.peers import COUNTEREXAMPLES, FLUSH_CP, PEERS, TSO
from tidemark.models.instance import Instance
from tidemark.models.native.codec import State
from tidemark.models.native.errors import ReductionError
from tidemark.models.native.footprints import Cell, Footprints
from tidemark.models.native.graph import build_graph
from tidemark.models.native.kernel import Kernel, compile_kernel
from tidemark.models.native.search.breadth_first import search
from tidemark.models.native.search.path import path_to
from tidemark.models.native.search.result import Hit

SMALL = "tests.protocols.small:"
CASES: list[Instance] = [
    Instance(SMALL + "TwoPhase", {"Manager": 4}),
    Instance(SMALL + "TCommit", {"Manager": 4}),
    Instance(SMALL + "CigaretteSmokers", {"Ingredient": 3}),
    Instance(SMALL + "AsynchInterface", {"Data": 3}),
    Instance(SMALL + "HourClock", {"Hour": 12}),
    Instance(SMALL + "Lock", {"Process": 3}),
    Instance(SMALL + "LostLock", {"Process": 3}),
    Instance(SMALL + "Peterson", {"Process": 1}),
    Instance(SMALL + "DieHard", {"Litre": 5}),
    Instance("tests.protocols.loose:Rooms", {"Room": 4, "Count": 3}),
    Instance("tests.protocols.loose:Waste", {"Room": 3, "Count": 3}),
    Instance("tests.protocols.loose:Painted"),
    Instance("tests.protocols.loose:Signals"),
    Instance("tests.protocols.loose:Shed"),
    Instance("tests.protocols.loose:Drawers", {"Number": 2}),
    PEERS["tso-s"].instance,
    PEERS["flush-cp-s"].instance,
    *(
        Instance(FLUSH_CP + name, **COUNTEREXAMPLES[FLUSH_CP + name][0])
        for name in ("SplitCallback", "Unguarded")
    ),
    Instance(TSO + "UnfencedGenerate", **COUNTEREXAMPLES[TSO + "UnfencedGenerate"][0]),
]


@pytest.mark.parametrize("instance", CASES, ids=lambda instance: instance.protocol.rpartition(":")[2])
def test_verdicts_are_those_of_the_whole_search(instance: Instance) -> None:
    """For all invariants together, for each one alone, and for deadlocks alone."""
    kernel = compile_kernel(instance)
    whole = search(kernel)
    alone = [(claim,) for claim in kernel.state_claims] if whole.distinct < 5_000 else []
    for claims in (kernel.state_claims, *alone, ()):
        reduced = search(kernel, reduced_to=claims)
        assert reduced.complete
        assert reduced.distinct <= whole.distinct
        assert (reduced.totals.first_deadlock is None) == (whole.totals.first_deadlock is None)
        assert reduced.totals.deadlocks == whole.totals.deadlocks
        for claim in claims:
            one, two = whole.hit(claim), reduced.hit(claim)
            assert (one is None) == (two is None), claim.id
            if two is not None:
                run = path_to(reduced, two)
                assert not kernel.interpreter.holds(claim, run.states[-1])
        if reduced.totals.first_deadlock is not None:
            run = path_to(reduced, Hit(reduced.totals.first_deadlock))
            assert not list(kernel.interpreter.successors(run.states[-1]))
        assert set(map(tuple, reduced.states.tolist())) <= set(map(tuple, whole.states.tolist()))


@pytest.mark.parametrize(
    ("instance", "fewer"),
    [
        (Instance("tests.protocols.loose:Rooms", {"Room": 5, "Count": 3}), 10),
        (Instance(SMALL + "TwoPhase", {"Manager": 4}), 1),
    ],
    ids=["rooms", "two-phase"],
)
def test_fewer_states(instance: Instance, fewer: int) -> None:
    kernel = compile_kernel(instance)
    assert search(kernel, reduced_to=()).distinct * fewer < search(kernel).distinct


def test_a_reduced_search_is_the_same_for_any_number_of_workers() -> None:
    kernel = compile_kernel(Instance(SMALL + "TwoPhase", {"Manager": 6}))
    found: list[Any] = [search(kernel, reduced_to=(), workers=n) for n in (1, 3)]
    assert np.array_equal(found[0].states, found[1].states)
    assert np.array_equal(found[0].visited.links, found[1].visited.links)


SOME = [("TwoPhase", {"Manager": 2}), ("Lock", {"Process": 2}), ("Peterson", {"Process": 1})]


@pytest.mark.parametrize(("protocol", "bounds"), SOME)
def test_no_footprint_is_too_small(protocol: str, bounds: dict[str, int]) -> None:
    """By trying: a step changes only what it writes, and does the same whatever it does not read holds."""
    kernel = compile_kernel(Instance(SMALL + protocol, bounds))
    interpreter, prints, choices = kernel.interpreter, Footprints(kernel.instance), random.Random(1)
    steps = {step: prints.of(step) for step in interpreter.steps}
    other_values = 0
    for state in kernel.codec.unpack_all(search(kernel).states):
        for step, footprint in steps.items():
            found = interpreter.apply(state, step)
            if found is not None:
                assert changed(kernel, state, found.state).keys() <= footprint.writes
            field = choices.choice(kernel.codec.fields)
            place, value = choices.randrange(field.entries), choices.choice(field.value.values)
            cell = (field.variable.name, place)
            if cell in footprint.reads or value == cells(kernel, state)[cell]:
                continue
            other_values += 1
            again = interpreter.apply(with_cell(kernel, state, cell, value), step)
            assert (again is None) == (found is None)
            if found is None or again is None:
                continue
            for written in footprint.writes - {cell}:
                assert cells(kernel, again.state)[written] == cells(kernel, found.state)[written]
    assert other_values > 20


def cells(kernel: Kernel, state: State) -> dict[Cell, Any]:
    found: dict[Cell, Any] = {}
    for field, value in zip(kernel.codec.fields, state, strict=True):
        for place, item in enumerate(value if field.is_map else (value,)):
            found[field.variable.name, place] = item
    return found


def changed(kernel: Kernel, before: State, after: State) -> dict[Cell, Any]:
    old = cells(kernel, before)
    return {cell: value for cell, value in cells(kernel, after).items() if value != old[cell]}


def with_cell(kernel: Kernel, state: State, cell: Cell, value: Any) -> State:
    found = list(state)
    for number, field in enumerate(kernel.codec.fields):
        if field.variable.name == cell[0]:
            entries = list(state[number]) if field.is_map else [state[number]]
            entries[cell[1]] = value
            found[number] = tuple(entries) if field.is_map else value
    return tuple(found)


def test_what_is_unsound_is_refused() -> None:
    kernel = compile_kernel(Instance(SMALL + "TwoPhase", {"Manager": 3}))
    spec = kernel.instance.spec
    for kind in ("transition_invariant", "reachable"):
        with pytest.raises(ReductionError, match=kind.replace("_", " ")):
            search(kernel, reduced_to=spec.of_kind(kind))
    with pytest.raises(ReductionError, match="take one of them"):
        search(kernel, reduced_to=(), symmetry=("Manager",))
    result = search(kernel, reduced_to=())
    with pytest.raises(ValueError, match="steps were put off"):
        build_graph(result)
    with pytest.raises(KeyError, match="reduced for other claims"):
        result.hit(spec.of_kind("invariant")[0])
    cut = compile_kernel(Instance("tests.protocols.loose:Rooms", {"Room": 2, "Count": 2}))
    with pytest.raises(ReductionError, match="leaves the bounds"):
        search(cut, reduced_to=())
