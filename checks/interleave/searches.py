"""The searches: the whole tree, a part of it, random walks, a replay; and cutting a tree in parts."""

from dataclasses import replace

from tidemark.checks.interleave.audits.audit import audit
from tidemark.checks.interleave.errors import CorruptTokenError
from tidemark.checks.interleave.executions.lasso import lassos
from tidemark.checks.interleave.executions.record import ExecutionRecord
from tidemark.checks.interleave.executions.replay import Exact
from tidemark.checks.interleave.executions.run import run_once
from tidemark.checks.interleave.executions.token import decode
from tidemark.checks.interleave.limits import ExecutionLimits, Options, Reduction
from tidemark.checks.interleave.result import Exploration, merge
from tidemark.checks.interleave.search_loop import Tick, quiet, record_run, search
from tidemark.checks.interleave.strategies.bounded import DelayBounded, DelaysBetweenStates
from tidemark.checks.interleave.strategies.depth_first import DepthFirst
from tidemark.checks.interleave.strategies.graph import GraphSearch
from tidemark.checks.interleave.strategies.optimal import Optimal
from tidemark.checks.interleave.strategies.random_walk import RandomWalk
from tidemark.checks.interleave.strategies.states import HistorySearch, MemorySearch, MergingSearch, Met
from tidemark.checks.interleave.strategies.strategy import Strategy
from tidemark.checks.interleave.trees.work import WHOLE, WorkItem
from tidemark.checks.verdicts.errors import UnsoundCombinationError
from tidemark.models.simulation import Interner, Order, Program, ProgramRef


def refuse_unsound(program: ProgramRef, options: Options) -> None:
    """Refuse to merge the states of a program that does not tell them apart.

    Raises UnsoundCombinationError: the program declares no state, or keeps a queue of callbacks, which no
    declared state shows.
    """
    if options.histories or options.memories:
        settings = program.load()().settings
        if not settings.histories or settings.order is Order.ATOMIC:
            raise UnsoundCombinationError(
                f"{program.text()} does not record the histories of its processes",
                remedy="merge histories of coroutine functions only: explore_coroutine(main, merge=True)",
            )
        if options.reduction is not Reduction.NONE:
            raise UnsoundCombinationError(
                f"histories are merged, and {options.reduction.value!r} leaves out executions",
                remedy="merge histories without another reduction: Options(reduction='none', histories=True)",
            )
    fresh = program.load()()
    if options.live:
        _refuse_live(program, fresh, options)
    if options.reduction is not Reduction.STATES:
        return
    if type(fresh).declared is Program.declared:
        raise UnsoundCombinationError(
            f"{program.text()} declares no state, so that equal states cannot be told from different ones",
            remedy="override `declared` with all data that influence the future, or use another reduction: "
            f"{', '.join(repr(other.value) for other in Reduction if other is not Reduction.STATES)}",
        )
    if fresh.settings.order is not Order.ATOMIC:
        raise UnsoundCombinationError(
            f"{program.text()} runs in {fresh.settings.order.value} order, in which callbacks wait in a "
            "queue that no declared state shows",
            remedy="merge states in atomic order only, or use another reduction",
        )


def refuse_delays(program: ProgramRef, options: Options) -> None:
    """Refuse what a bound on delays cannot be combined with.

    Raises UnsoundCombinationError: a reduction by footprints, or endless runs.
    """
    if options.reduction not in (Reduction.NONE, Reduction.STATES):
        raise UnsoundCombinationError(
            f"{program.text()}: {options.reduction.value!r} runs one of several equivalent orders, and "
            "that one may have more delays than another",
            remedy="use reduction = 'none', or 'states', with delays",
        )
    if options.live:
        raise UnsoundCombinationError(
            f"{program.text()}: a bound on delays cuts the graph in which endless runs are looked for",
            remedy="leave the bound out, or the claims under 'live'",
        )


def _refuse_live(program: ProgramRef, fresh: Program, options: Options) -> None:
    if options.reduction is not Reduction.STATES or options.histories:
        raise UnsoundCombinationError(
            f"{program.text()}: endless runs are looked for in the graph of the states, and "
            f"{options.reduction.value!r} does not keep it",
            remedy="use reduction = 'states', on one core",
        )
    if fresh.settings.timer_firings is not None:
        raise UnsoundCombinationError(
            f"{program.text()} ends after {fresh.settings.timer_firings} firings of timers: it has no run "
            "without an end",
            remedy="let timers fire without a limit: Settings(timer_firings=None)",
        )


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
    timed = False
    if options.memories:
        result, merging = _by_memories(program, options, interner, tick)
        strategy, timed = merging, merging.timed
    elif options.histories:
        result, merging = _by_histories(program, options, interner, Met(elsewhere=met), item=item, tick=tick)
        strategy, timed = merging, merging.timed
    elif options.reduction is Reduction.STATES:
        known = Met(elsewhere=met)
        strategy = GraphSearch(known) if options.live else MergingSearch(known, item=item)
        result = search(program, strategy, interner, options, tick)
        result.states = known.here
        if isinstance(strategy, GraphSearch):
            _look_for_lassos(program, strategy, options, result)
    else:
        strategy = _depth_first(interner, options.reduction, item)
        result = search(program, strategy, interner, options, tick)
    if isinstance(strategy, MergingSearch):
        result.statistics.joined, result.broken = strategy.joined, strategy.broken
    if result.remaining:
        result.remaining = tuple(strategy.remaining())
    elif item == WHOLE and not result.reasons:
        audit(program, options, result, timed=timed)
    result.bounds = bounds_text(program, options)
    return result


def _look_for_lassos(
    program: ProgramRef, strategy: GraphSearch, options: Options, result: Exploration
) -> None:
    """Add what endless runs break, if nothing else is wrong and nothing was left out."""
    if result.violations or result.remaining or result.reasons:
        return
    result.endless = True
    for lasso in lassos(program, strategy, options.live, steps=options.limits.steps):
        result.record(lasso.found)
        result.loops[lasso.found.violation.claim] = lasso.loop_start


def _by_histories(
    program: ProgramRef,
    options: Options,
    interner: Interner,
    known: Met,
    *,
    item: WorkItem,
    tick: Tick | None,
) -> tuple[Exploration, HistorySearch]:
    """Search with histories as states; with the clock in them where the program looks at it.

    A part of a tree cannot know what the others look at: it has the clock in its states.
    """
    strategy = HistorySearch(known, timed=item != WHOLE or bool(known.elsewhere), item=item)
    result = search(program, strategy, interner, options, tick)
    if strategy.in_vain and not options.is_enough(result.violations):
        known = Met(elsewhere=known.elsewhere)
        strategy = HistorySearch(known, timed=True, item=item)
        result = search(program, strategy, interner, options, tick)
    result.states = known.here
    return result, strategy


def _by_memories(
    program: ProgramRef, options: Options, interner: Interner, tick: Tick | None
) -> tuple[Exploration, HistorySearch]:
    """Search with memories as states, as ``_by_histories`` does. Where no run comes to an end any more, one
    of them is run as far as the limit of steps, and judged.
    """
    for timed in (False, True):
        strategy = MemorySearch(Met(), timed=timed)
        result = search(program, strategy, interner, options, tick)
        if not strategy.in_vain or options.is_enough(result.violations):
            break
    result.states = strategy.met.here
    choices, length = strategy.round
    if length and not result.remaining and not result.reasons:
        result.longest, result.round = choices, length
    way = None if result.violations or result.remaining or result.reasons else strategy.endless()
    if way is not None:
        with quiet():
            run = run_once(program.load(), Exact(way), interner=interner, steps=options.limits.steps)
        result.longest = run.picks
        result.reasons = (f"after {len(way)} steps of one order, none of its continuations comes to an end",)
        if run.violation is not None:
            record_run(result, run, program.digest())
    if strategy.opaque and result.reasons:
        result.reasons += (f"memories are not compared that hold {', '.join(sorted(strategy.opaque))}",)
    return result, strategy


def _depth_first(interner: Interner, reduction: Reduction, item: WorkItem) -> DepthFirst:
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
    """Search a part of the tree for at most ``budget`` executions. What is left is in ``remaining``.

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
    """Cut the tree into at least ``target`` parts, if it is that large.

    Returns the executions that were complete on the way, and the parts. Together they are the whole tree.
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
    less = "equal histories of callbacks merged" if options.histories else options.reduction.text()
    less = "equal memories of its tasks merged" if options.memories else less
    return f"{program.text()}; {settings}; every interleaving ({less})"


def explore_randomly(
    program: ProgramRef, *, seed: int, executions: int, options: Options | None = None
) -> Exploration:
    """Run random executions. The result is ``refuted`` or ``inconclusive``, never a pass."""
    return explore_by(program, RandomWalk(seed=seed, executions=executions), options=options)


def explore_with_delays(
    program: ProgramRef, delays: int, *, options: Options | None = None, tick: Tick | None = None
) -> Exploration:
    """Search every interleaving with at most so many delays: an exhaustive search within one more bound.

    Passing over an enabled event is a delay. The bound, and how many choices it has left out, is among the
    bounds of the result. Equal declared states are merged if the reduction says so. Raises
    UnsoundCombinationError: a reduction by footprints, or endless runs.
    """
    options = options or Options(reduction=Reduction.NONE)
    refuse_delays(program, options)
    refuse_unsound(program, options)
    merging = options.reduction is Reduction.STATES
    strategy = DelaysBetweenStates(delays) if merging else DelayBounded(delays)
    result = search(program, strategy, Interner(), options, tick)
    if isinstance(strategy, DelaysBetweenStates):
        result.states = strategy.states
    result.remaining = ()
    result.bounds = f"{bounds_text(program, options)}, {strategy}"
    return result


def explore_by(
    program: ProgramRef, strategy: Strategy, *, options: Options | None = None, tick: Tick | None = None
) -> Exploration:
    """Run the executions of a strategy that leaves some out: bounded, random, by priorities.

    The result is ``refuted`` or ``inconclusive``, never a pass. The reason is what the strategy says of
    itself (``__str__``), or else its name.
    """
    options = options or Options()
    result = search(program, strategy, Interner(), options, tick)
    says = type(strategy).__str__ is not object.__str__
    words = str(strategy) if says else f"{type(strategy).__name__} may leave orders out"
    result.reasons = (*result.reasons, words)
    result.remaining = ()
    result.bounds = f"{program.text()}; {program.load()().settings.text()}; {words}"
    return result


def replay(program: ProgramRef, token: str) -> ExecutionRecord:
    """Run the execution of a token again.

    Raises CorruptTokenError, WrongProgramError: the token cannot be used; DivergenceError: the program no
    longer behaves as recorded.
    """
    content = decode(token)
    content.check_program(program.digest(), program.text())
    if not content.picks:
        raise CorruptTokenError(
            "the replay token holds no step", remedy="use the token of a failing execution"
        )
    strategy = Exact(content.picks, fingerprints=content.fingerprints)
    with quiet():
        return run_once(program.load(), strategy, interner=Interner(), steps=ExecutionLimits().steps)
