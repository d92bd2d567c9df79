"""The audit of a reduction: random executions, run without any reduction, must be explained by the search."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace

from tidemark.checks.interleave.errors import CAUSES, UnsoundReductionError
from tidemark.checks.interleave.limits import ExecutionLimits
from tidemark.checks.interleave.options import Options, Reduction
from tidemark.checks.interleave.result import Exploration
from tidemark.checks.interleave.search_loop import search
from tidemark.checks.interleave.strategies.random_walk import RandomWalk
from tidemark.checks.interleave.strategies.strategy import StateStrategy
from tidemark.models.simulation import Execution, ProgramRef

_SEED = 20240229


class Auditor(RandomWalk, StateStrategy):
    """A random walk that looks at every declared state on its way."""

    def __init__(self, *, executions: int, state_of: Callable[[Execution], bytes]) -> None:
        super().__init__(seed=_SEED, executions=executions)
        self.states: set[bytes] = set()
        self._state_of = state_of

    def arrive(self, execution: Execution) -> bool:
        """Note the state, and go on."""
        self.states.add(self._state_of(execution))
        return True


@dataclass(frozen=True, slots=True)
class Sample:
    """Random executions: what they found, and the declared states that they passed if these are merged."""

    result: Exploration
    states: frozenset[bytes] = frozenset()
    histories: bool = False


def random_sample(program: ProgramRef, options: Options, *, timed: bool = False) -> Sample | None:
    """Run the executions of the audit. None if nothing is reduced, or no audit is wanted.

    Args:
        program: the program.
        options: how the search was done.
        timed: the clock was a part of its histories.
    """
    from tidemark.models.simulation import Interner

    merging = options.histories or options.reduction is Reduction.STATES
    if not options.audit or (options.reduction is Reduction.NONE and not merging):
        return None
    few = replace(
        options,
        limits=ExecutionLimits(steps=options.limits.steps),
        check_every=0,
        stop_at_violation=False,
        stop_at=frozenset(),
    )
    if merging:
        state_of = functools.partial(Execution.history_state, timed=timed)
        auditor = Auditor(
            executions=options.audit,
            state_of=state_of if options.histories else Execution.declared_state,
        )
        result = search(program, auditor, Interner(), few, None)
        return Sample(result, frozenset(auditor.states), options.histories)
    walk = RandomWalk(seed=_SEED, executions=options.audit)
    return Sample(search(program, walk, Interner(), few, None))


def check_explained(result: Exploration, sample: Sample) -> None:
    """Compare a complete search with random executions. A search that was cut explains nothing, and is not
    blamed.

    Raises:
        UnsoundReductionError: a random execution has an outcome, a trace, a declared state or a violation
        that
            the search did not see.
    """
    result.statistics.audited = sample.result.statistics.executions
    if result.remaining or result.reasons:
        return
    known = {violation.identity for violation in result.violations}
    for violation, found in sample.result.violations.items():
        if violation.identity not in known:
            raise _unexplained(
                f"the violation {violation.message!r} (token {found.token})", histories=sample.histories
            )
    if result.violations:
        return
    for final in sample.result.finals - result.finals:
        raise _unexplained(f"the outcome {final!r}", histories=sample.histories)
    if sample.result.classes - result.classes:
        raise _unexplained("a Mazurkiewicz trace", histories=sample.histories)
    if sample.states - result.states:
        raise _unexplained("a state" if sample.histories else "a declared state", histories=sample.histories)


def _unexplained(what: str, *, histories: bool) -> UnsoundReductionError:
    if histories:
        return UnsoundReductionError(
            f"a random execution shows {what}, which the search that merges histories has missed: what has "
            "run does not determine what comes",
            remedy=f"leave merge out, or remove the cause, which usually is one of: {CAUSES}",
        )
    return UnsoundReductionError(
        f"a random execution shows {what}, which the search with reduction has missed",
        remedy="let each step record what it touches (World.touch), let processes share nothing but the "
        "objects of the world, let a check of single steps see the world through Program.observe only, and "
        "declare in Program.declared all data that influence the future",
    )
