"""The explorer finds planted bugs, and shows them short."""

import pytest

from tidemark.checks.interleave import Options, Status, explore, explore_randomly, replay
from tidemark.checks.interleave.executions.shrink import shrink
from tidemark.models.simulation import ProgramRef

PROGRAMS = "tests.checks.interleave.programs:"


@pytest.mark.parametrize(
    ("program", "kind", "deviations", "steps"),
    [
        (ProgramRef.of(f"{PROGRAMS}no_lost_update", size=2), "property", 1, 4),
        (ProgramRef.of(f"{PROGRAMS}no_lost_update", size=4), "property", 1, 8),
        (ProgramRef.of(f"{PROGRAMS}deadlock"), "deadlock", 1, 4),
        (ProgramRef.of(f"{PROGRAMS}planted"), "property", 1, 1),
    ],
)
def test_a_planted_bug_is_found_and_shrunk(program, kind, deviations, steps):
    result = explore(program)
    assert result.status is Status.REFUTED
    worst = max(result.violations.values(), key=lambda found: found.rank())
    assert worst.violation.kind == kind
    short = shrink(program, worst)
    assert short.complete
    assert sum(1 for pick in short.found.picks if pick) <= deviations
    assert len(short.found.picks) <= steps
    assert replay(program, short.found.token).violation == short.found.violation


def test_random_search_finds_the_lost_update_and_shrinks_it_to_the_same():
    program = ProgramRef.of(f"{PROGRAMS}no_lost_update", size=4)
    result = explore_randomly(program, seed=7, executions=200)
    assert result.status is Status.REFUTED
    worst = max(result.violations.values(), key=lambda found: found.rank())
    exhaustive = shrink(program, explore(program, Options(stop_at_violation=True)).first())
    assert shrink(program, worst).found.picks == exhaustive.found.picks


def test_random_search_that_finds_nothing_is_no_pass():
    result = explore_randomly(
        ProgramRef.of("tidemark.checks.crosscheck.peers.shared_memory:shared", kind="ainc", size=3),
        seed=1,
        executions=20,
    )
    assert result.status is Status.INCONCLUSIVE
    assert "sample" in result.reason


def test_the_search_stops_at_the_first_violation_when_asked():
    program = ProgramRef.of(f"{PROGRAMS}no_lost_update", size=4)
    all_of_it = explore(program)
    first = explore(program, Options(stop_at_violation=True))
    assert first.status is Status.REFUTED
    assert first.statistics.executions < all_of_it.statistics.executions
