"""Every planted bug of the implementation is shown short.

The bounds below are those that `docs/interleavings.md` states. They hold for what a random search finds,
which is far from the natural order of the steps.
"""

from dataclasses import dataclass

import pytest

from tidemark.checks.interleave.executions.record import Step
from tidemark.checks.interleave.executions.replay import ByLabel
from tidemark.checks.interleave.executions.shrink import deviations, shrink
from tidemark.checks.interleave.judge import program_of
from tidemark.checks.interleave.planted import failing_execution, planted_bugs
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.manifest import load, manifest_files
from tidemark.models.simulation import Footprint


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

FLUSH = planted_bugs(next(m for m in map(load, manifest_files()) if m.name == "flush"))


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
