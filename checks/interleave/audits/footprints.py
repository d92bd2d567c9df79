"""The audit of a reduction as a verdict: for programs that must not pass it.

Elsewhere a search that the audit objects to ends with an error, and judges nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from tidemark.checks.interleave.errors import UnsoundReductionError
from tidemark.checks.interleave.executions.recorded_execution import counterexample_of, witness
from tidemark.checks.interleave.executions.replay import Exact
from tidemark.checks.interleave.executions.run import run_once
from tidemark.checks.interleave.executions.token import encode
from tidemark.checks.interleave.limits import ExecutionLimits
from tidemark.checks.interleave.result import Exploration
from tidemark.checks.interleave.search_loop import quiet
from tidemark.checks.verdicts.counterexample import Counterexample
from tidemark.checks.verdicts.verdict import Subject, Verdict, holds, inconclusive, refuted
from tidemark.models.simulation import Interner, ProgramRef

FOOTPRINTS = "footprints"
"""Claim id: each step says what it touches, as far as the audit of the search sees."""


def judged(
    program: ProgramRef, search: Callable[[], Exploration], subject: Subject, *, replay: str
) -> Verdict:
    """Search, and say what the audit has seen. What else is wrong with the program leaves it undecided."""
    try:
        result = search()
    except UnsoundReductionError as error:
        return refuted(
            subject,
            counts={"executions": 1},
            counterexample=_shown(program, error),
            reason=error.message,
            bounds=program.text(),
            replay=replay,
        )
    commuting = result.statistics.commuting
    if result.violations or result.reason or not commuting:
        reason = result.reason or "the search ended at a violation, or no two of its steps are independent"
        return inconclusive(subject, reason=reason, counts={}, bounds=result.bounds, replay=replay)
    counts = {"executions": result.statistics.executions, "commuting": commuting}
    return holds(subject, counts=counts, bounds=result.bounds, replay=replay)


def _shown(program: ProgramRef, error: UnsoundReductionError) -> Counterexample:
    """The run that shows it, up to there."""
    with quiet():
        run = run_once(program.load(), Exact(error.picks), interner=Interner(), steps=ExecutionLimits().steps)
    shown = counterexample_of(witness(program, encode(program.digest(), run.trace)))
    return shown.model_copy(update={"steps": shown.steps[: len(error.picks)], "failing": error.message})
