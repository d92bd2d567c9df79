"""The rule for visible steps: what a check of single steps needs, the reduction keeps."""

import pytest

from tests.checks.interleave.programs import Planted
from tests.checks.interleave.random_programs import anything
from tidemark.checks.interleave import Options, Reduction, Status, explore
from tidemark.checks.verdicts.errors import UnsoundCombinationError
from tidemark.models.simulation import Order, ProgramError, ProgramRef, Settings

PROGRAMS = "tests.checks.interleave.programs:"
REDUCED = (Reduction.SLEEP_SETS, Reduction.SOURCE_SETS, Reduction.OPTIMAL)


@pytest.mark.parametrize("reduction", list(REDUCED))
def test_independent_steps_that_are_observed_are_tried_in_both_orders(reduction):
    result = explore(ProgramRef.of(f"{PROGRAMS}planted"), Options(reduction=reduction))
    assert result.status is Status.REFUTED
    assert result.first().violation.identity == ("property", "y-before-x")


@pytest.mark.parametrize("reduction", list(REDUCED))
def test_the_same_bug_is_missed_by_a_checker_that_hides_from_the_reduction(reduction):
    """The planted example: without the rule, the reduction leaves the failing order out."""
    blind = ProgramRef.of(f"{PROGRAMS}blind")
    assert explore(blind, Options(reduction=reduction, audit=0)).status is Status.EXHAUSTED
    assert explore(blind, Options(reduction=Reduction.NONE)).status is Status.REFUTED


@pytest.mark.parametrize("reduction", list(REDUCED))
def test_the_audit_notices_such_a_checker(reduction):
    """What a random execution breaks is broken, whatever the reduction has missed: that is said as well."""
    result = explore(ProgramRef.of(f"{PROGRAMS}blind"), Options(reduction=reduction))
    assert result.status is Status.REFUTED
    assert result.first().violation.identity == ("property", "y-before-x")
    assert "which the search with reduction has missed" in result.reason


def test_a_component_that_depends_on_two_objects_is_refused():
    with pytest.raises(ProgramError, match="Split the observation"):
        explore(ProgramRef.of(f"{PROGRAMS}joint"))


class Careless(Planted):
    """Checks steps, and observes nothing."""

    def __init__(self) -> None:
        super().__init__(observed=True)

    def observe(self) -> None:  # type: ignore[override]
        return None


def test_a_check_of_steps_that_nothing_would_reach_is_refused():
    with pytest.raises(ProgramError, match="no step would be checked"):
        explore(ProgramRef.of(f"{__name__}:Careless"))


def test_states_are_merged_only_where_a_program_declares_them():
    with pytest.raises(UnsoundCombinationError, match="declares no state") as refused:
        explore(ProgramRef.of(f"{PROGRAMS}planted"), Options(reduction=Reduction.STATES))
    assert "'optimal'" in str(refused.value)


class Queued(Planted):
    """Declares its state, and has callbacks that wait for their turn."""

    settings = Settings(order=Order.FIFO)

    def __init__(self) -> None:
        super().__init__(observed=True)

    def declared(self) -> object:
        return (self.x.value, self.y.value)


def test_states_are_merged_only_where_no_callback_waits():
    with pytest.raises(UnsoundCombinationError, match="fifo order"):
        explore(ProgramRef.of(f"{__name__}:Queued"), Options(reduction=Reduction.STATES))


@pytest.mark.parametrize("seed", [4, 5, 8, 16, 17, 24, 36, 44, 58, 59])
@pytest.mark.parametrize("reduction", list(REDUCED))
def test_faults_and_their_budgets_take_part_in_the_dependency_relation(seed, reduction):
    """Random programs with crashes, losses, draws and timers: no class of any interleaving is left out."""
    everything = explore(anything(seed), Options(reduction=Reduction.NONE, classes=True))
    reduced = explore(anything(seed), Options(reduction=reduction, classes=True))
    assert reduced.classes == everything.classes
    assert reduced.finals == everything.finals
    assert reduced.statistics.executions == len(everything.classes) <= everything.statistics.executions
