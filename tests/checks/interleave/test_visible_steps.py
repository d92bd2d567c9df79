"""The rule for visible steps, and which endless runs are fair."""

import pytest

from tests.checks.interleave.programs import Planted
from tests.checks.interleave.random_programs import anything
from tidemark.checks.interleave import Options, Reduction, Status, explore
from tidemark.checks.interleave.executions.lasso import _wait
from tidemark.checks.interleave.strategies.graph import GraphSearch
from tidemark.checks.interleave.strategies.states import Met
from tidemark.checks.verdicts.errors import UnsoundCombinationError
from tidemark.models.simulation import Order, ProgramError, ProgramRef, Settings

PROGRAMS = "tests.checks.interleave.programs:"
REDUCED = (Reduction.SLEEP_SETS, Reduction.OPTIMAL)


@pytest.mark.parametrize("reduction", list(REDUCED))
def test_independent_steps_that_are_observed_are_tried_in_both_orders(reduction):
    result = explore(ProgramRef.of(f"{PROGRAMS}Planted"), Options(reduction=reduction))
    assert result.status is Status.REFUTED
    assert result.first().violation.identity == ("property", "y-before-x")


@pytest.mark.parametrize("reduction", list(REDUCED))
def test_the_audit_notices_a_checker_that_hides_from_the_reduction(reduction):
    """The planted example: without the rule, the reduction leaves the failing order out. What a random
    execution breaks is broken, whatever the reduction has missed: that is said as well.
    """
    blind = ProgramRef.of(f"{PROGRAMS}Blind")
    assert explore(blind, Options(reduction=reduction, audit=0)).status is Status.EXHAUSTED
    assert explore(blind, Options(reduction=Reduction.NONE)).status is Status.REFUTED
    result = explore(blind, Options(reduction=reduction))
    assert result.status is Status.REFUTED
    assert result.first().violation.identity == ("property", "y-before-x")
    assert "which the search with reduction has missed" in result.reason


def test_a_component_that_depends_on_two_objects_is_refused():
    with pytest.raises(ProgramError, match="Split the observation"):
        explore(ProgramRef.of(f"{PROGRAMS}Joint"))


class Careless(Planted):
    """Checks steps, and observes nothing."""

    def observe(self) -> None:  # type: ignore[override]
        return None


def test_a_check_of_steps_that_nothing_would_reach_is_refused():
    with pytest.raises(ProgramError, match="no step would be checked"):
        explore(ProgramRef.of(f"{__name__}:Careless"))


def test_states_are_merged_only_where_a_program_declares_them():
    with pytest.raises(UnsoundCombinationError, match="declares no state") as refused:
        explore(ProgramRef.of(f"{PROGRAMS}Planted"), Options(reduction=Reduction.STATES))
    assert "'optimal'" in str(refused.value)


class Queued(Planted):
    """Declares its state, and has callbacks that wait for their turn."""

    settings = Settings(order=Order.FIFO)

    def declared(self) -> object:
        return (self.x.value, self.y.value)


def test_states_are_merged_only_where_no_callback_waits():
    with pytest.raises(UnsoundCombinationError, match="fifo order"):
        explore(ProgramRef.of(f"{__name__}:Queued"), Options(reduction=Reduction.STATES))


@pytest.mark.parametrize("seed", [2, 3, 13, 16, 31, 36, 38, 55, 66, 205])
@pytest.mark.parametrize("reduction", list(REDUCED))
def test_faults_and_their_budgets_take_part_in_the_dependency_relation(seed, reduction):
    """Random programs with crashes, losses, draws and timers: no class of any interleaving is left out."""
    everything = explore(anything(seed), Options(reduction=Reduction.NONE, classes=True))
    reduced = explore(anything(seed), Options(reduction=reduction, classes=True))
    assert reduced.classes == everything.classes
    assert reduced.finals == everything.finals
    assert reduced.statistics.executions == len(everything.classes) <= everything.statistics.executions


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
