"""Endless runs: which part of a graph a fair run can stay in, by hand-made graphs; what is refused."""

from __future__ import annotations

import pytest

from tidemark.checks.interleave.executions.lasso import _wait
from tidemark.checks.interleave.limits import Options, Reduction
from tidemark.checks.interleave.searches import explore
from tidemark.checks.interleave.strategies.graph import GraphSearch
from tidemark.checks.interleave.strategies.states import Met
from tidemark.checks.verdicts.errors import UnsoundCombinationError
from tidemark.models.simulation import ProgramRef

FLUSH = "tidemark.models.protocols.flush.program:flush"
Edge = tuple[int, str, int]


def searched(*edges: Edge, faults: tuple[str, ...] = ()) -> GraphSearch:
    search = GraphSearch(Met())
    for a, label, b in edges:
        search.graph.add_edge(a, b, key=label)
    search.ways = [(number,) for number in range(10)]
    search.faults = set(faults)
    return search


def test_a_loop_that_passes_over_what_is_always_possible_is_not_fair():
    search = searched((0, "timer", 1), (1, "timer", 0), (0, "deliver", 2), (1, "deliver", 2))
    assert _wait(search, {0, 1}, [0]) is None


def test_a_loop_in_which_it_is_possible_now_and_then_is_fair_and_goes_there():
    search = searched((0, "timer", 0), (0, "retry", 1), (1, "timer", 0), (0, "deliver", 2))
    way = _wait(search, {0, 1}, [0])
    assert way is not None
    assert way.choices == (0,)
    assert [label for label, _ in way.loop] == ["retry", "timer"]


def test_what_happens_outside_of_the_wait_does_no_justice():
    search = searched((0, "timer", 0), (0, "deliver", 1), (1, "deliver", 1))
    assert _wait(search, {0}, [0]) is None
    assert _wait(search, {0, 1}, [0]) is not None


def test_a_fault_need_not_come():
    search = searched((0, "timer", 0), (0, "crash", 1), faults=("crash",))
    way = _wait(search, {0}, [0])
    assert way is not None
    assert way.loop == (("timer", 0),)


def test_a_wait_with_nothing_but_faults_ahead_is_for_ever():
    search = searched((0, "send", 1), (1, "crash", 2), faults=("crash",))
    way = _wait(search, {0, 1}, [0])
    assert way is not None
    assert (way.moves, way.loop) == ((("send", 1),), ())
    assert way.words() == "nothing can happen any more"


def test_a_loop_that_no_premise_leads_to_is_none():
    search = searched((0, "timer", 0), (1, "step", 1))
    assert _wait(search, {0, 1}, []) is None
    way = _wait(search, {0, 1}, [1])
    assert way is not None
    assert way.loop == (("step", 1),)


def test_a_program_that_ends_is_refused():
    program = ProgramRef.of(FLUSH, rows=(1,), flushes=(1,))
    live = ("flush.flush_completes",)
    with pytest.raises(UnsoundCombinationError, match="ends after 0 firings"):
        explore(program, Options(reduction=Reduction.STATES, live=live))
    with pytest.raises(UnsoundCombinationError, match="does not keep it"):
        explore(ProgramRef.of(FLUSH, rows=(1,), flushes=(1,), endless=True), Options(live=live))
