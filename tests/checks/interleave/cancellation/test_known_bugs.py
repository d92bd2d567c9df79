"""Public bugs that nothing but a cancellation shows: found with it only, and not when corrected."""

from functools import partial

import pytest

from tests.checks.interleave.cancellation import bugs
from tidemark.checks.interleave import Status, explore_coroutine

BUGS = {
    bugs.semaphore: "deadlock",
    bugs.lock: "deadlock",
    bugs.condition: "deadlock",
    bugs.queue: "exception",
    bugs.hidden_cancellation: "exception",
    bugs.lost_result: "deadlock",
    bugs.reply_of_another: "exception",
    bugs.leaked_slot: "exception",
}


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_it_is_found_by_one_cancellation_only_and_not_when_fixed(bug):
    alone = explore_coroutine(partial(bug, fixed=False))
    assert alone.status is Status.EXHAUSTED, alone.violations
    found = explore_coroutine(partial(bug, fixed=False), cancellations=1)
    assert found.status is Status.REFUTED
    assert found.first().violation.kind == BUGS[bug]
    assert sum(label.startswith("cancel ") for label in found.first().labels) == 1
    fixed = explore_coroutine(partial(bug, fixed=True), cancellations=1)
    assert fixed.status is Status.EXHAUSTED, fixed.violations
    assert "1 cancellations" in fixed.bounds
    assert fixed.statistics.executions > alone.statistics.executions
