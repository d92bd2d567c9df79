"""The loop of every search: executions under a strategy, one after the other, within limits."""

import contextlib
import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from tidemark.checks.interleave.errors import DivergenceError, NondeterminismError
from tidemark.checks.interleave.executions.record import Ending, ExecutionRecord
from tidemark.checks.interleave.executions.replay import Exact
from tidemark.checks.interleave.executions.run import Factory, Runner, run_once
from tidemark.checks.interleave.executions.token import encode
from tidemark.checks.interleave.limits import Meter, Options
from tidemark.checks.interleave.result import Exploration, Found
from tidemark.checks.interleave.strategies.strategy import Strategy
from tidemark.checks.interleave.trees.tree import TreeWalk
from tidemark.checks.interleave.trees.work import WHOLE, trace_digest
from tidemark.models.simulation import Footprint, Interner, Program, ProgramRef, closed_world
from tidemark.models.simulation.execution import take_asyncgens
from tidemark.models.simulation.spinning import SPIN


class Again(NamedTuple):
    """What the second run of an execution shows.

    Attributes:
        caught: the second run, if the strict watch caught it reaching for the real world.
        same_callbacks: the steps ran the same callbacks in the same order. If not, a set was iterated whose
            order depends on addresses.
    """

    caught: ExecutionRecord | None
    same_callbacks: bool


def check_again(factory: Factory, run: ExecutionRecord, *, interner: Interner, strict: bool) -> Again:
    """Repeat an execution.

    ``strict``: also watch each C function that is called, so that a wall clock is seen however it is reached.
    Raises NondeterminismError: the second time differs.
    """
    guard = closed_world.strict() if strict else contextlib.nullcontext()
    picks = run.picks
    strategy = _Stop(picks, run)
    try:
        with guard:
            again = run_once(factory, strategy, interner=interner, steps=max(len(picks), 1))
    except DivergenceError as error:
        raise NondeterminismError(f"the program is not deterministic: {error.message}") from error
    caught = again.violation
    if caught is not None and caught.kind == "closed-world" and run.violation is None:
        return Again(again, same_callbacks=True)
    for number, (one, two) in enumerate(zip_longest(run.trace, again.trace)):
        if one != two:
            what = "footprint" if one and two and one.label == two.label else "course"
            label = one.label if one else "(end)"
            raise NondeterminismError(
                f"the program is not deterministic: step {number} ({label}) changed its {what}"
            )
    if run.violation != again.violation or run.final != again.final:
        raise NondeterminismError(
            f"the program is not deterministic: the same steps ended in {run.violation or run.final!r} "
            f"and then in {again.violation or again.final!r}"
        )
    return Again(None, same_callbacks=run.history == again.history)


class _Stop(Exact):
    """Replays a run and gives up where the run gave up."""

    def __init__(self, picks: tuple[int, ...], run: ExecutionRecord) -> None:
        super().__init__(picks, trace=run.trace)
        self._length = len(picks)
        self._taken = 0

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int | None:
        """Return the recorded pick; None past the end, where a blocked run stopped."""
        if self._taken >= self._length:
            return None
        self._taken += 1
        return super().pick(enabled, last)


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


def set_aside(*, collect: bool = True) -> None:
    """Keep what exists now out of the sight of the collector, for as long as this process lives.

    For processes that run many short searches and collect between them: imported modules, and what a process
    has from the one that it was forked from, are a large part of what a collection looks through.
    """
    global _set_aside  # noqa: PLW0603 - of this process
    if collect:
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
                    record_run(result, again.caught, digest)
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
            reached = meter.reached(result.statistics.steps)
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
    record_run(result, run, digest)


def record_run(result: Exploration, run: ExecutionRecord, digest: str) -> None:
    """Keep the violation of an execution, unless a better example of it is known."""
    assert run.violation is not None
    known = result.violations.get(run.violation)
    labels = tuple(step.label for step in run.trace)
    candidate = Found(run.violation, run.picks, labels, "")
    if known is None or candidate.rank() < known.rank():
        result.record(Found(run.violation, run.picks, labels, encode(digest, run.trace)))
