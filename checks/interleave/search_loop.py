"""The loop of every search: executions under a strategy, one after the other, within limits."""

import contextlib
import gc
import sys
from collections.abc import Callable, Iterator

from tidemark.checks.interleave.errors import NondeterminismError
from tidemark.checks.interleave.executions.determinism import check_again
from tidemark.checks.interleave.executions.record import Ending, ExecutionRecord
from tidemark.checks.interleave.executions.run import Runner
from tidemark.checks.interleave.executions.token import encode
from tidemark.checks.interleave.limits import Meter, Options
from tidemark.checks.interleave.result import Exploration, Found
from tidemark.checks.interleave.strategies.strategy import Strategy
from tidemark.checks.interleave.trees.tree import TreeWalk
from tidemark.checks.interleave.trees.work import WHOLE, trace_digest
from tidemark.models.simulation import Interner, Program, ProgramRef, closed_world
from tidemark.models.simulation.execution import take_asyncgens
from tidemark.models.simulation.spinning import SPIN

Tick = Callable[[Exploration], None]

ORDER_OF_SETS = "order of sets"
"""Among what an exploration has covered: a set was iterated whose order depends on addresses."""

_COLLECT_EVERY = 1009


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Close the world, and keep the cyclic garbage collector from running finalisers inside executions."""
    was_enabled = gc.isenabled()
    gc.disable()
    # What exists now outlives the search: later collections need not look at it.
    if not _set_aside:
        gc.freeze()
    hooks = take_asyncgens()
    try:
        with closed_world.installed():
            yield
    finally:
        sys.set_asyncgen_hooks(*hooks)
        if not _set_aside:
            gc.unfreeze()
        if was_enabled:
            gc.enable()


def set_aside() -> None:
    """Keep what exists now out of the sight of the collector, for as long as this process lives.

    For processes that run many short searches and collect between them: imported modules are a large part of
    what a collection looks through.
    """
    global _set_aside  # noqa: PLW0603 - of this process
    gc.collect()
    gc.freeze()
    _set_aside = True


_set_aside = False


def search(
    program: ProgramRef, strategy: Strategy, interner: Interner, options: Options, tick: Tick | None
) -> Exploration:
    """Run executions of a strategy until it is done, or a limit is reached."""
    factory: Callable[[], Program] = program.load()
    result = Exploration()
    meter = Meter(options.limits)
    digest = program.digest()
    runner = Runner(factory, strategy, interner=interner, steps=options.limits.steps)
    with quiet():
        while strategy.new_execution():
            run = runner.run()
            meter.executions += 1
            _account(result, run, digest, interner, options)
            every = options.check_every
            sampled = every > 0 and meter.executions % every == 1 % every
            spun = run.violation is not None and run.violation.kind == SPIN  # ended at no certain place
            if (sampled or run.violation is not None) and not spun:
                again = check_again(factory, run, interner=interner, strict=sampled)
                result.statistics.checked_again += 1
                if again.caught is not None:
                    _record(result, again.caught, digest)
                if not again.same_callbacks:
                    _note_order_of_sets(result, options)
            if meter.executions % _COLLECT_EVERY == 0:
                gc.collect()
            if tick is not None and meter.is_time_to_tell():
                result.seconds = meter.seconds
                result.left = strategy.left() if isinstance(strategy, TreeWalk) else 0.0
                tick(result)
            if spun:  # each one takes seconds
                result.remaining = (WHOLE,)
                result.reasons = (*result.reasons, "the search ended at a step that does not end")
                break
            if result.violations and options.is_enough(result.violations):
                result.remaining = (WHOLE,)
                break
            if options.limits.cut is not None and result.statistics.cut >= options.limits.cut:
                result.remaining = (WHOLE,)
                break
            reached = meter.reached()
            if reached is not None:
                result.remaining = (WHOLE,)
                result.reasons = (*result.reasons, reached)
                break
    result.seconds = meter.seconds
    result.left = strategy.left() if result.remaining and isinstance(strategy, TreeWalk) else 0.0
    if result.statistics.cut:
        words = f"{result.statistics.cut} executions were cut after {options.limits.steps} steps"
        result.reasons = (*result.reasons, words)
    return result


def _note_order_of_sets(result: Exploration, options: Options) -> None:
    """Say that a repeated run has woken tasks in another order; histories that differ so cannot be merged."""
    if options.histories:
        raise NondeterminismError(
            "the program is not deterministic: the same steps ran callbacks in another order, so that equal "
            "histories cannot be merged (merge=True)"
        )
    result.covered.add(ORDER_OF_SETS)


def _account(
    result: Exploration, run: ExecutionRecord, digest: str, interner: Interner, options: Options
) -> None:
    counters = result.statistics
    counters.steps += len(run.trace)
    counters.visible_steps += run.visible_steps
    if len(run.trace) > counters.deepest:
        result.longest = run.picks
    counters.deepest = max(counters.deepest, len(run.trace))
    if run.covered:
        result.covered |= run.covered
    if run.ending is Ending.BLOCKED:
        counters.blocked += 1
        return
    if run.ending is Ending.MERGED:
        counters.merged += 1
        return
    if run.ending is Ending.CUT:
        counters.cut += 1
        return
    counters.executions += 1
    counters.timer_bounded += run.timers_spent
    if options.classes:
        result.classes.add(trace_digest(run.trace, interner))
    if run.violation is None:
        result.finals.add(run.final)
        return
    _record(result, run, digest)


def _record(result: Exploration, run: ExecutionRecord, digest: str) -> None:
    assert run.violation is not None
    known = result.violations.get(run.violation)
    labels = tuple(step.label for step in run.trace)
    candidate = Found(run.violation, run.picks, labels, "")
    if known is None or candidate.rank() < known.rank():
        result.record(Found(run.violation, run.picks, labels, encode(digest, run.trace)))
