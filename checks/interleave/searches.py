"""The searches: the whole tree, a part of it, random walks, a replay; and cutting a tree in parts."""

import contextlib
import gc
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

from tidemark.checks.interleave.audit import check_explained, random_sample
from tidemark.checks.interleave.errors import CorruptTokenError
from tidemark.checks.interleave.executions.determinism import check_again
from tidemark.checks.interleave.executions.replay import Exact
from tidemark.checks.interleave.executions.run import Ending, ExecutionRecord, Runner, run_once
from tidemark.checks.interleave.executions.token import decode, encode
from tidemark.checks.interleave.limits import ExecutionLimits, Meter
from tidemark.checks.interleave.options import Options, Reduction
from tidemark.checks.interleave.refusals import refuse_unsound
from tidemark.checks.interleave.result import Exploration, Found, merge
from tidemark.checks.interleave.strategies.depth_first import DepthFirst
from tidemark.checks.interleave.strategies.optimal import Optimal
from tidemark.checks.interleave.strategies.random_walk import RandomWalk
from tidemark.checks.interleave.strategies.source_sets import SourceSets
from tidemark.checks.interleave.strategies.states import MergingSearch, Met
from tidemark.checks.interleave.strategies.strategy import Strategy
from tidemark.checks.interleave.trees.traces import trace_digest
from tidemark.checks.interleave.trees.tree import TreeWalk
from tidemark.checks.interleave.trees.work import WHOLE, WorkItem
from tidemark.models.simulation import Interner, Program, ProgramRef, closed_world
from tidemark.models.simulation.execution import take_asyncgens

Tick = Callable[[Exploration], None]

_COLLECT_EVERY = 1009


def explore(
    program: ProgramRef,
    options: Options | None = None,
    *,
    item: WorkItem = WHOLE,
    met: frozenset[bytes] = frozenset(),
    tick: Tick | None = None,
) -> Exploration:
    """Search every interleaving of a program within its declared bounds.

    Args:
        program: the program.
        options: how to search.
        item: the part of the tree to search; the whole by default.
        met: declared states that are covered elsewhere, when states are merged.
        tick: called about twice a second with the result so far.

    Raises:
        NondeterminismError, DivergenceError: the program is not a function of its choices.
        UnsoundReductionError: the reduction left out something that the audit saw.
        ProgramError: the program is put together wrongly.
        UnsoundCombinationError: the reduction cannot be used with the program.
    """
    options = options or Options()
    refuse_unsound(program, options)
    interner = Interner()
    strategy: MergingSearch | DepthFirst
    if options.reduction is Reduction.STATES:
        known = Met(elsewhere=met)
        strategy = MergingSearch(known, item=item)
        result = search(program, strategy, interner, options, tick)
        result.states = known.here
    else:
        strategy = _depth_first(interner, options.reduction, item)
        result = search(program, strategy, interner, options, tick)
    if result.remaining:
        result.remaining = tuple(strategy.remaining())
    elif item == WHOLE and not result.reasons:
        sample = random_sample(program, options)
        if sample is not None:
            check_explained(result, sample)
    result.bounds = bounds_text(program, options)
    return result


def _depth_first(interner: Interner, reduction: Reduction, item: WorkItem) -> DepthFirst:
    if reduction is Reduction.SOURCE_SETS:
        return SourceSets(interner, item=item)
    if reduction is Reduction.OPTIMAL:
        return Optimal(interner, item=item)
    return DepthFirst(interner, reduction=reduction is Reduction.SLEEP_SETS, item=item)


def explore_subtree(
    program: ProgramRef,
    item: WorkItem,
    *,
    budget: int,
    options: Options | None = None,
    met: frozenset[bytes] = frozenset(),
) -> Exploration:
    """Search a part of the tree for at most `budget` executions. What is left is in `remaining`.

    The result is a function of the arguments alone: running it again, elsewhere, gives the same.
    """
    options = options or Options()
    limits = ExecutionLimits(steps=options.limits.steps, executions=budget)
    part = replace(options, limits=limits, stop_at_violation=False, stop_at=frozenset(), audit=0)
    result = explore(program, part, item=item, met=met)
    result.reasons = tuple(reason for reason in result.reasons if not reason.startswith("the limit of"))
    return result


def split(
    program: ProgramRef, target: int, *, options: Options | None = None
) -> tuple[Exploration, list[WorkItem]]:
    """Cut the tree into at least `target` parts, if it is that large.

    Returns:
        The executions that were complete on the way, and the parts. Together they are the whole tree.
    """
    options = options or Options()
    items = [WHOLE]
    done = Exploration()
    while items and len(items) < target:
        met = frozenset(done.states)
        part = explore_subtree(program, items.pop(0), budget=1, options=options, met=met)
        items += part.remaining
        part.remaining, part.left = (), 0.0
        done = merge([done, part], bounds="")
    return done, items


def bounds_text(program: ProgramRef, options: Options) -> str:
    """Return within which bounds a complete search is exhaustive, in words."""
    settings = program.load()().settings.text()
    return f"{program.text()}; {settings}; every interleaving ({options.reduction.text()})"


def explore_randomly(
    program: ProgramRef,
    *,
    seed: int,
    executions: int,
    options: Options | None = None,
    tick: Tick | None = None,
) -> Exploration:
    """Run random executions. The result is `refuted` or `inconclusive`, never a pass."""
    return explore_by(program, RandomWalk(seed=seed, executions=executions), options=options, tick=tick)


def explore_by(
    program: ProgramRef, strategy: Strategy, *, options: Options | None = None, tick: Tick | None = None
) -> Exploration:
    """Run the executions of a strategy that leaves some out: bounded, random, by priorities.

    The result is `refuted` or `inconclusive`, never a pass. The reason is what the strategy says of itself
    (`__str__`), or else its name.
    """
    options = options or Options()
    result = search(program, strategy, Interner(), options, tick)
    says = type(strategy).__str__ is not object.__str__
    words = str(strategy) if says else f"{type(strategy).__name__} may leave orders out"
    result.reasons = (*result.reasons, words)
    result.remaining = ()
    result.bounds = f"{program.text()}; {program.load()().settings.text()}; {words}"
    return result


def replay(program: ProgramRef, token: str, *, steps: int = ExecutionLimits().steps) -> ExecutionRecord:
    """Run the execution of a token again.

    Raises:
        CorruptTokenError, WrongProgramError: the token cannot be used.
        DivergenceError: the program no longer behaves as recorded.
    """
    content = decode(token)
    content.check_program(program.digest(), program.text())
    if not content.picks:
        raise CorruptTokenError(
            "the replay token holds no step", remedy="use the token of a failing execution"
        )
    strategy = Exact(content.picks, fingerprints=content.fingerprints)
    with quiet():
        return run_once(program.load(), strategy, interner=Interner(), steps=steps)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Close the world, and keep the cyclic garbage collector from running finalisers inside executions."""
    was_enabled = gc.isenabled()
    gc.disable()
    # What exists now outlives the search: later collections need not look at it.
    gc.freeze()
    hooks = take_asyncgens()
    try:
        with closed_world.installed():
            yield
    finally:
        sys.set_asyncgen_hooks(*hooks)
        gc.unfreeze()
        if was_enabled:
            gc.enable()


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
            sampled = options.check_every and meter.executions % options.check_every == 1
            if sampled or run.violation is not None:
                caught = check_again(factory, run, interner=interner, strict=bool(sampled))
                result.statistics.checked_again += 1
                if caught is not None:
                    _record(result, caught, digest)
            if meter.executions % _COLLECT_EVERY == 0:
                gc.collect()
            if tick is not None and meter.is_time_to_tell():
                result.seconds = meter.seconds
                result.left = strategy.left() if isinstance(strategy, TreeWalk) else 0.0
                tick(result)
            if result.violations and options.is_enough(result.violations):
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


def _account(
    result: Exploration, run: ExecutionRecord, digest: str, interner: Interner, options: Options
) -> None:
    counters = result.statistics
    counters.steps += len(run.trace)
    counters.visible_steps += run.visible_steps
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
