"""Every planted bug of the implementation is shown short.

The bounds below are those that `docs/interleavings.md` states. They hold for what a random search finds,
which is far from the natural order of the steps.
"""

from dataclasses import dataclass

import pytest

from tests.manifests import manifests
from tidemark.checks.interleave import Options, Status, explore, explore_randomly, replay
from tidemark.checks.interleave.executions.record import Step
from tidemark.checks.interleave.executions.replay import ByLabel
from tidemark.checks.interleave.executions.shrink import deviations, shrink
from tidemark.checks.interleave.judge import program_of
from tidemark.checks.interleave.planted import failing_execution, planted_bugs
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.simulation import Footprint, ProgramRef


@dataclass(frozen=True)
class Short:
    """How short a failing execution must become."""

    deviations: int
    steps: int
    attempts: int
    complete: bool


LIMITS = {
    "impl": Short(3, 26, 130, complete=True),
    "flush": Short(3, 26, 130, complete=True),
    "core": Short(3, 26, 130, complete=True),
    "node": Short(3, 26, 130, complete=True),
    "cluster": Short(3, 50, 200, complete=True),
    "channels": Short(4, 60, 400, complete=False),
}
"""By the first word of a name. The programs of several channels are larger: their search may be cut."""

FLUSH = planted_bugs(manifests()["flush"])


def test_all_mutants_of_the_implementation_are_among_them():
    assert len(FLUSH) >= 16


@pytest.mark.parametrize("name", sorted(FLUSH))
def test_a_planted_bug_is_shown_short(name: str):
    entry = FLUSH[name]
    found = failing_execution(entry)
    limit = LIMITS[name.partition("-")[0]]
    short = shrink(program_of(entry), found, attempts=400)
    assert short.complete or not limit.complete
    assert short.attempts <= limit.attempts
    assert short.found.violation.identity == found.violation.identity
    assert short.deviations <= min(limit.deviations, short.before[1])
    assert len(short.found.picks) <= limit.steps


def step(enabled: str, pick: int) -> Step:
    return Step(tuple(enabled), pick, Footprint(0, 0))


@pytest.mark.parametrize(
    ("trace", "count"),
    [
        ([step("ab", 0), step("bc", 0)], 0),
        # Held back for three steps: one deviation. Two events, one after the other: two.
        ([step("abc", 1), step("acd", 1), step("ad", 1)], 1),
        ([step("abc", 1), step("acd", 2)], 2),
        ([step("abc", 1), step("ac", 0), step("cd", 1)], 2),
    ],
)
def test_an_event_that_is_held_back_is_one_deviation(trace, count):
    assert deviations(trace) == count


def test_a_program_that_never_fails_is_refused():
    sound = FLUSH["impl-upload-error-is-swallowed"].model_copy(
        update={"program": "tidemark.models.protocols.flush.program:flush"}
    )
    with pytest.raises(BadInputError, match="never fails"):
        failing_execution(sound)


def test_events_are_taken_by_name_where_they_are_enabled():
    """A name that is not enabled waits for its turn; where none is wanted, the oldest event is taken."""
    strategy = ByLabel(["c", "b", "b"])
    for _ in range(2):
        assert strategy.new_execution()
        picks = [strategy.pick(enabled, None) for enabled in ("ab", "abc", "ab", "ab")]
        assert picks == [1, 2, 1, 0]


PROGRAMS = "tests.checks.interleave.programs:"


@pytest.mark.parametrize(
    ("program", "kind", "deviations", "steps"),
    [
        (ProgramRef.of(f"{PROGRAMS}no_lost_update", size=2), "property", 1, 4),
        (ProgramRef.of(f"{PROGRAMS}no_lost_update", size=4), "property", 1, 8),
        (ProgramRef.of(f"{PROGRAMS}Deadlock"), "deadlock", 1, 4),
        (ProgramRef.of(f"{PROGRAMS}Planted"), "property", 1, 1),
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
