"""Strategies that leave orders out: they find planted bugs with little, and never pass."""

import random
from functools import partial

import pytest

from tests.checks.interleave.programs import shared
from tests.checks.interleave.test_coroutines import relies_on_the_queue_of_the_loop
from tidemark.checks.interleave import (
    DelayBounded,
    DepthFirst,
    ExecutionLimits,
    Options,
    PreemptionBounded,
    Priorities,
    RandomWalk,
    Reduction,
    Status,
    Strategy,
    explore,
    explore_by,
    explore_coroutine,
    explore_with_delays,
    replay,
)
from tidemark.checks.verdicts.errors import BadInputError, UnsoundCombinationError
from tidemark.models.simulation import Interner, Process, Program, ProgramRef, World

PROGRAMS = "tests.checks.interleave.programs:"
LOST = ProgramRef.of(f"{PROGRAMS}no_lost_update", size=3)
INGEST = ProgramRef.of("tidemark.models.protocols.flush.program:flush", rows=(1,), flushes=(1,))
RAW = Options(reduction=Reduction.NONE, audit=0)


@pytest.mark.parametrize(
    "strategy",
    [
        DelayBounded(1),
        PreemptionBounded(1),
        Priorities(seed=3, executions=50, depth=2),
        RandomWalk(seed=3, executions=50),
    ],
    ids=str,
)
def test_each_finds_the_lost_update(strategy: Strategy):
    result = explore_by(LOST, strategy)
    assert result.status is Status.REFUTED
    found = result.first()
    assert found.violation.claim == "no-lost-update"
    assert replay(LOST, found.token).violation == found.violation


@pytest.mark.parametrize(
    "make",
    [
        partial(DelayBounded, 100),
        partial(PreemptionBounded, 100),
        partial(Priorities, seed=1, executions=50),
        partial(RandomWalk, seed=1, executions=50),
    ],
)
def test_none_passes(make):
    result = explore_by(shared("ainc", 3), make())
    assert result.status is Status.INCONCLUSIVE
    assert str(make())[:8] in result.reason
    assert len(result.finals) == 1


def test_a_bound_that_is_large_enough_runs_every_interleaving():
    for strategy in (DelayBounded(100), PreemptionBounded(100)):
        result = explore_by(shared("lastzero", 3), strategy, options=RAW)
        assert result.statistics.executions == 920
        assert strategy.left_out == 0


def test_a_bound_of_zero_runs_the_natural_order_and_counts_what_is_left_out():
    strategy = DelayBounded(0)
    result = explore_by(shared("lastzero", 3), strategy)
    assert result.statistics.executions == 1
    assert strategy.left_out > 0
    assert f"{strategy.left_out} choices were left out" in result.reason


def test_even_an_exhaustive_strategy_passes_only_with_its_bounds_stated():
    result = explore_by(shared("ainc", 2), DepthFirst(Interner()))
    assert result.status is Status.INCONCLUSIVE
    assert "DepthFirst may leave orders out" in result.reason


def test_without_preemptions_processes_run_to_their_end_in_every_order():
    """Three processes of one or two steps, one after the other: 3! orders."""
    result = explore_by(shared("lost_update", 3), PreemptionBounded(0), options=RAW)
    assert result.statistics.executions == 6
    assert result.finals == {((3,), ())}


@pytest.mark.parametrize("kind", [DelayBounded, PreemptionBounded])
def test_a_larger_bound_sees_more(kind):
    counts = [explore_by(shared("lost_update", 3), kind(bound)).statistics.executions for bound in range(4)]
    assert counts == sorted(set(counts))
    assert counts[-1] <= explore(shared("lost_update", 3), RAW).statistics.executions == 90


class Late(Program):
    """Wrong only if a short process waits until a long one has ended."""

    def build(self, world: World) -> None:
        self.ended = self.late = False

        async def long(process: Process) -> None:
            for number in range(14):
                await process.point(f"part {number}")
            self.ended = True

        async def short(process: Process) -> None:
            await process.point("only part")
            self.late = self.ended

        world.process("long", long)
        world.process("short", short)

    def check_final(self) -> str | None:
        return "late: the short process came last" if self.late else None


def test_priorities_starve_a_process_and_a_uniform_walk_hardly_does():
    program = ProgramRef.of(f"{__name__}:Late")
    assert explore_by(program, Priorities(seed=5, executions=20, depth=1)).status is Status.REFUTED
    assert explore_by(program, RandomWalk(seed=5, executions=20)).status is Status.INCONCLUSIVE


def test_the_same_seed_gives_the_same_executions():
    random.seed(99)
    one = explore_by(LOST, Priorities(seed=11, executions=20))
    two = explore_by(LOST, Priorities(seed=11, executions=20))
    assert one.finals == two.finals
    assert {found.token for found in one.violations.values()} == {
        found.token for found in two.violations.values()
    }


def test_coroutines_take_a_strategy_and_a_free_order_has_tasks_to_preempt():
    found = explore_coroutine(relies_on_the_queue_of_the_loop, order="relaxed", strategy=PreemptionBounded(1))
    assert found.status is Status.REFUTED
    quiet = explore_coroutine(relies_on_the_queue_of_the_loop, strategy=DelayBounded(3))
    assert quiet.status is Status.INCONCLUSIVE


def test_wrong_bounds_are_refused():
    with pytest.raises(BadInputError, match="-1 delays"):
        DelayBounded(-1)
    with pytest.raises(BadInputError, match="depth of 0"):
        Priorities(seed=1, executions=1, depth=0)


@pytest.mark.parametrize("reduction", [Reduction.NONE, Reduction.STATES])
def test_a_search_with_enough_delays_is_the_whole_search(reduction):
    options = Options(reduction=reduction, audit=0)
    bounded, whole = explore_with_delays(INGEST, 1_000, options=options), explore(INGEST, options)
    assert bounded.status is whole.status is Status.EXHAUSTED
    assert bounded.finals == whole.finals
    assert bounded.states == whole.states
    assert bounded.covered == whole.covered
    assert "at most 1000 delays; 0 choices were left out" in bounded.bounds


@pytest.mark.parametrize("delays", [0, 1, 2, 3])
def test_merging_leaves_out_no_outcome_of_the_bounded_search(delays):
    plain = explore_with_delays(INGEST, delays)
    merged = explore_with_delays(INGEST, delays, options=Options(reduction=Reduction.STATES))
    assert merged.finals == plain.finals
    assert merged.covered == plain.covered
    assert merged.statistics.executions + merged.statistics.merged <= plain.statistics.executions
    assert f"at most {delays} delays" in merged.bounds
    assert "delays" not in explore(INGEST, RAW).bounds


def test_a_bound_on_delays_finds_what_is_within_it_and_nothing_else():
    """Wrong is that the second process is the first to act."""
    planted = ProgramRef.of(f"{PROGRAMS}Planted")
    assert explore_with_delays(planted, 0).status is Status.EXHAUSTED
    found = explore_with_delays(planted, 1).first()
    assert found.violation.claim == "y-before-x"
    assert sum(1 for pick in found.picks if pick) == 1


def test_a_limit_within_a_bound_on_delays_is_no_pass():
    stopped = explore_with_delays(
        shared("lastzero", 3),
        5,
        options=Options(reduction=Reduction.NONE, limits=ExecutionLimits(executions=3)),
    )
    assert stopped.status is Status.INCONCLUSIVE


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (Options(reduction=Reduction.SLEEP_SETS), "may have more delays"),
        (Options(reduction=Reduction.STATES, live=("ends",)), "endless runs"),
    ],
)
def test_what_a_bound_on_delays_cannot_be_combined_with_is_refused(options, words):
    with pytest.raises(UnsoundCombinationError, match=words):
        explore_with_delays(INGEST, 2, options=options)
