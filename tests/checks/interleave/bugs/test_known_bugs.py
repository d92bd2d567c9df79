"""Public bugs, each found in the small program that has it, and not in its correction.

The table of docs/interleavings.md holds what is found here. Run this file as a program to print it anew.
"""

import re
import sys
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.checks.interleave.bugs import lost_wakeups, mixed_up
from tidemark.checks.interleave import Status, explore_coroutine

PAGE = Path(__file__).parents[4] / "docs" / "interleavings.md"


class Bug(NamedTuple):
    """A program, the cancellations that it takes to see its bug, and as what it is seen."""

    program: Any
    cancellations: int
    kind: str

    @property
    def words(self) -> tuple[str, str]:
        reference, _, what = self.program.__doc__.partition(": ")
        return reference, what.rstrip(".")


BUGS = [
    Bug(lost_wakeups.semaphore, 1, "deadlock"),
    Bug(mixed_up.unfair_semaphore, 0, "exception"),
    Bug(lost_wakeups.condition, 1, "deadlock"),
    Bug(lost_wakeups.hidden_cancellation, 1, "exception"),
    Bug(lost_wakeups.lost_result, 1, "deadlock"),
    Bug(lost_wakeups.lock, 1, "deadlock"),
    Bug(lost_wakeups.queue, 1, "exception"),
    Bug(mixed_up.nested_groups, 0, "deadlock"),
    Bug(mixed_up.lock_without_owner, 1, "exception"),
    Bug(mixed_up.cleared_cache, 0, "callback-exception"),
    Bug(mixed_up.handed_to_the_cancelled, 1, "deadlock"),
    Bug(mixed_up.stranded_behind_the_cancelled, 1, "deadlock"),
    Bug(mixed_up.dropped_by_the_receiver, 1, "exception"),
    Bug(mixed_up.queue_of_futures, 1, "exception"),
    Bug(mixed_up.time_out_or_cancelled, 1, "exception"),
    Bug(lost_wakeups.leaked_slot, 1, "exception"),
    Bug(lost_wakeups.reply_of_another, 1, "exception"),
    Bug(mixed_up.moving_window, 0, "exception"),
]


def judged(bug: Bug) -> str:
    """Explore a bug and its correction, and return the row of the table."""
    found = explore_coroutine(partial(bug.program, fixed=False), cancellations=bug.cancellations)
    assert found.status is Status.REFUTED
    assert found.first().violation.kind == bug.kind
    assert sum(label.startswith("cancel ") for label in found.first().labels) == bug.cancellations
    fixed = explore_coroutine(partial(bug.program, fixed=True), cancellations=bug.cancellations)
    assert fixed.status is Status.EXHAUSTED, fixed.violations
    reference, what = bug.words
    counts = f"{found.statistics.executions} | {fixed.statistics.executions}"
    return f"| {reference} | {what} | {bug.cancellations} | {bug.kind} | {counts} |"


def without_counts(row: str) -> str:
    return re.sub(r"(\| \d+){2} \|$", "", row)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.program.__name__)
def test_it_is_found_and_not_when_fixed(bug):
    rows = PAGE.read_text(encoding="utf-8").splitlines()
    row = judged(bug)
    if sys.version_info[:2] != (3, 11):  # the numbers are those of one version of asyncio
        row, rows = without_counts(row), [without_counts(line) for line in rows]
    assert row in rows


@pytest.mark.parametrize(
    "bug", [bug for bug in BUGS if bug.cancellations], ids=lambda bug: bug.program.__name__
)
def test_without_a_cancellation_nothing_shows_it(bug):
    alone = explore_coroutine(partial(bug.program, fixed=False))
    assert alone.status is Status.EXHAUSTED, alone.violations


if __name__ == "__main__":
    print("\n".join(map(judged, BUGS)))
