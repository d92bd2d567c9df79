"""Any coroutine function of asyncio in every order of its steps: for code that knows nothing of this project.

What "every order" means inside one process is the choice of two settings. *Order*: asyncio's own (the ready
callbacks of a pass run oldest first, and only timers are free), or a free one (any ready callback may be
next; no real loop does that, and what is found so is labelled). *Clock*: untimed (a sleep or a time-out takes
any time, as waiting for something real would), or kept (the timer with the earliest deadline fires first).
"""

import copy
import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypedDict, Unpack

from tidemark.checks.interleave.errors import (
    CannotBeExploredError,
    IncompleteSearchError,
    OrderError,
    UnsoundReductionError,
)
from tidemark.checks.interleave.executions.record import ExecutionRecord
from tidemark.checks.interleave.executions.shrink import shrink
from tidemark.checks.interleave.executions.story import polling_lines, tell
from tidemark.checks.interleave.limits import ExecutionLimits, Options, Reduction
from tidemark.checks.interleave.result import Exploration, Status
from tidemark.checks.interleave.result import merge as merge_results
from tidemark.checks.interleave.search_loop import ORDER_OF_SETS, Tick
from tidemark.checks.interleave.searches import explore, explore_by, replay
from tidemark.checks.interleave.strategies.bounded import DelayBounded
from tidemark.checks.interleave.strategies.random_walk import RandomWalk, strategy_of
from tidemark.checks.interleave.strategies.strategy import Strategy
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.simulation import ClockOrder, FaultBudget, Order, Settings
from tidemark.models.simulation.coroutines import CoroutineRef, Main, coroutine_ref, name_of
from tidemark.models.simulation.virtual import RANDOM, THREADS


class Orders(TypedDict, total=False):
    """What "every order" means; see ``explore_coroutine``."""

    order: Order | str
    clock: ClockOrder | str
    cancellations: int
    exempt: Sequence[str]


DEFAULT = Options(
    reduction=Reduction.NONE, limits=ExecutionLimits(executions=100_000, cut=20), stop_at_violation=True
)


_STOOD_IN = {
    RANDOM: "; random numbers of one seed",
    THREADS: "; each function in an executor as one step",
    ORDER_OF_SETS: "; sets of objects that hash by their addresses in the order in which they came",
}
"""What the bounds say of what was stood in for, and of what could not be controlled."""

_POLLING = (
    "in the longest of them timers fire again and again: a task that polls (`while ...: await sleep(...)`) "
    "may never end where a sleep takes any time, if its rounds change something, as a counter does. It polls "
    "here"
)
_MORE = (
    "make the function smaller, bound how often it polls, merge executions (merge=True), keep durations "
    "(clock='per-process'), or raise the limits (seconds=..., executions=...; without pytest "
    "options=Options(limits=...)). A sample: strategy=RandomWalk(seed=1, executions=500), after "
    "`from tidemark.checks.interleave import RandomWalk`, or strategy='random'; "
    "it can refute, never pass as every order"
)
"""What to do about a search that is not complete."""

_FIRST_STEPS = 12_000
_FIRST_EXECUTIONS = 300
"""Steps and executions of the random orders that come first, and of those with one delay: about a second, and
little for a small test."""
_PLAIN, _PLAIN_STEPS = 1_000, 200
"""Executions without merging, and steps of one, above which it takes less to merge those that meet with equal
memories."""

_SHRINKING = 200_000
"""Steps that may be spent on shrinking, about."""


def explore_coroutine(
    main: Main,
    *,
    merge: bool = False,
    strategy: Strategy | str | None = None,
    options: Options = DEFAULT,
    tick: Tick | None = None,
    **orders: Unpack[Orders],
) -> Exploration:
    """Run a coroutine function in every order of its steps.

    Found without a property: an exception, a failed assertion, a deadlock, a wake-up that never comes, an
    exception that is never retrieved, a task left behind, a loop that never waits, code that reaches for the
    real world.

    Args:
        main: an ``async def`` function without arguments. It makes what its tasks share, so that nothing
            survives from one execution to the next.
        orders: ``order``: "asyncio", or "relaxed" for a free order.
            ``clock``: "untimed", or "per-process" to keep the durations of sleeps. ``cancellations``: how
            many times some task is cancelled, at any await at which it waits. ``exempt``: names of tasks, or
            of their coroutine functions, that are never cancelled so; ``*`` and ``?`` stand for any text.
        merge: give an execution up when the same callbacks have run in the same order in an earlier one.
        strategy: a bounded or random search instead of the exhaustive one, or its name ("random",
            "priorities", "delays", "preemptions"); it can only refute.
        options: limits, and whether to go on after the first violation.
        tick: called about twice a second with the result so far.

    Returns:
        The result; ``exhausted`` only if every order within the stated bounds was run.

    Raises:
        NondeterminismError: the function is not a function of its choices.
        UnsoundReductionError: with ``merge``, a random execution shows what the search has not seen.
    """
    if merge and strategy is not None:
        raise BadInputError(
            f"executions are to be merged in a search by {strategy}",
            remedy="leave merge out: a strategy that leaves orders out has nothing to merge",
        )
    program = program_of(main, **orders)
    options = replace(options, reduction=Reduction.NONE, histories=merge)
    if strategy is not None:
        result = explore_by(program, copy.deepcopy(strategy_of(strategy)), options=options, tick=tick)
    else:
        result = explore(program, options, tick=tick)
    cut = result.status is Status.INCONCLUSIVE and (strategy is None or result.statistics.cut > 0)
    lines = polling_lines(program, result.longest, last=result.round) if cut else ""
    if lines:
        result.reasons = (*result.reasons, f"{_POLLING}: {lines}")
    result.bounds += "".join(words for name, words in _STOOD_IN.items() if name in result.covered)
    return result


def require_every_order(
    main: Main,
    *,
    merge: bool = False,
    strategy: Strategy | str | None = None,
    options: Options = DEFAULT,
    walks: bool = False,
    tick: Tick | None = None,
    **orders: Unpack[Orders],
) -> Exploration:
    """Run a coroutine function in every order, and fail unless every one is right. See ``explore_coroutine``.

    With a strategy, it fails if one of the orders that the strategy runs is wrong. The result is then
    inconclusive, and says so. ``walks``: without a strategy, run about a second of random orders and of those
    with one delay first, the same each time; they can only refute, and are not counted. If the search is then
    large, or polls, executions are merged that meet with equal memories, and the bounds say so. Raises
    OrderError: an order fails. The message holds a short one, step by step, and its replay token;
    IncompleteSearchError: a limit was reached. Nothing wrong was seen, but that is no pass;
    CannotBeExploredError: the function uses what the simulation refuses.
    """
    began = time.perf_counter()
    program = program_of(main, **orders)
    first = _first(program, options, tick) if walks and strategy is None else None
    search = functools.partial(explore_coroutine, main, merge=merge, strategy=strategy, tick=tick, **orders)
    if first is not None and first.status is Status.REFUTED:
        # What the search comes to soon is nearer to the default order than what a random order shows.
        near = search(options=_left(options, began, executions=_FIRST_EXECUTIONS))
        result = near if near.status is Status.REFUTED else first
    elif first is None or merge:
        result = search(options=options)
    else:
        result = _plain_or_merged(program, search, options, began)
    if result.status is Status.REFUTED:
        seen = result.first()
        attempts = max(_SHRINKING // max(len(seen.picks), 1), 20)
        found = shrink(program, seen, attempts=attempts).found
        raise OrderError(tell(program, found), token=found.token)
    if result.status is Status.UNEXPLORABLE:
        raise CannotBeExploredError(
            f"{name_of(main)} cannot be explored: {result.refused}",
            remedy="pass it in as an object, and a stand-in here: `asyncio.sleep` for what takes time, a "
            "value for what is read. Nothing is known of the function so far",
        )
    if result.status is Status.INCONCLUSIVE and (strategy is None or not result.statistics.executions):
        raise IncompleteSearchError(
            f"{name_of(main)} was not run in every order: {_covered(result, first)}; {result.reason}",
            remedy=_MORE,
        )
    return result


def _first(program: CoroutineRef, options: Options, tick: Tick | None) -> Exploration:
    """Run the orders that come first: random ones, then those with one delay. Their number does not depend
    on the machine.
    """
    limits = replace(options.limits, cut=None, executions=_FIRST_EXECUTIONS, total=_FIRST_STEPS)
    few = replace(options, reduction=Reduction.NONE, limits=limits, stop_at_violation=True)
    result = Exploration()
    for strategy in (RandomWalk(seed=1, executions=_FIRST_EXECUTIONS), DelayBounded(1)):
        if not result.violations:
            part = explore_by(program, strategy, options=few, tick=tick)
            result = merge_results([result, part], bounds=part.bounds)
    return result


def _left(options: Options, began: float, *, executions: int | None) -> Options:
    """The options of a part of the search: so many executions, and what is left of the time."""
    limits = options.limits
    if limits.seconds is not None:
        left = max(limits.seconds - (time.perf_counter() - began), 0.1)
        limits = replace(limits, seconds=min(left, limits.seconds))
    most = min((one for one in (executions, limits.executions) if one is not None), default=None)
    return replace(options, limits=replace(limits, executions=most))


def _plain_or_merged(
    program: CoroutineRef, search: Callable[..., Exploration], options: Options, began: float
) -> Exploration:
    """Search without merging if that is small; otherwise merge executions that meet with equal memories."""
    small = _left(options, began, executions=_PLAIN)
    steps = min(_PLAIN_STEPS, options.limits.steps)
    result = search(options=replace(small, limits=replace(small.limits, steps=steps, cut=1)))
    most = options.limits.executions
    if result.status is Status.INCONCLUSIVE and (most is None or result.done < most):
        rest = _left(options, began, executions=most)
        try:
            result = _told(program, search(options=replace(rest, memories=True)))
        except UnsoundReductionError as error:
            missed = f"nor can executions be merged that meet with equal memories: {error.message}"
            result.reasons = (*result.reasons, missed)
    words = f"the limit of {options.limits.seconds or 0:g} seconds is reached"
    result.reasons = tuple(words if one.endswith("seconds is reached") else one for one in result.reasons)
    return result


def _told(program: CoroutineRef, result: Exploration) -> Exploration:
    """Add to the bounds of a search that merges memories how often that was done, and where tasks poll."""
    lines = polling_lines(program, result.longest, last=result.round) if result.round else ""
    polls = f", among them rounds of polls: {lines}" if lines else ""
    result.earlier = (
        f"{result.statistics.merged} executions were cut where they led back to equal memory{polls}"
    )
    result.bounds += f"; {result.earlier}"
    return result


def _covered(result: Exploration, first: Exploration | None) -> str:
    """Return how many orders were run, in words."""
    counts = result.statistics
    words = f"{counts.executions} orders were run to their end, and show nothing wrong"
    if counts.merged:
        words += f"; {result.earlier or f'{counts.merged} were merged with one of them'}"
    if first is not None:
        done = first.statistics
        words += f"; nor do {done.executions + done.cut} random orders and orders with one delay, run first"
    return words


def replay_coroutine(main: Main, token: str, **orders: Unpack[Orders]) -> ExecutionRecord:
    """Run the one order of a token again, for a debugger.

    Raises CorruptTokenError, WrongProgramError: the token cannot be used; DivergenceError: the function no
    longer behaves as recorded.
    """
    return replay(program_of(main, **orders), token)


def program_of(
    main: Main,
    order: Order | str = Order.ASYNCIO,
    clock: ClockOrder | str = ClockOrder.UNTIMED,
    cancellations: int = 0,
    exempt: Sequence[str] = (),
) -> CoroutineRef:
    """Return a coroutine function as a program, within the bounds of ``explore_coroutine``.

    Raises BadInputError: there is no such order or clock, or fewer than no cancellations.
    """
    if isinstance(exempt, str):
        raise BadInputError(f"exempt is the text {exempt!r}", remedy=f"give names: exempt=[{exempt!r}]")
    if cancellations < 0:
        raise BadInputError(f"{cancellations} cancellations are asked for", remedy="give 0 or more")
    faults = FaultBudget(cancellations=cancellations)
    try:
        settings = Settings(
            order=Order(order),
            clock=ClockOrder(clock),
            faults=faults,
            virtual=True,
            histories=True,
            exempt=tuple(exempt),
        )
    except ValueError as error:
        raise BadInputError(
            f"{error}",
            remedy=f"order is one of {_names(Order)}; clock is one of {_names(ClockOrder)}",
        ) from error
    if settings.order is Order.ATOMIC:
        raise BadInputError(
            "order 'atomic' runs a process until nothing is ready in it: inside one process there is then "
            "nothing to choose but timers",
            remedy="use 'asyncio', the order of asyncio's own loop, or 'relaxed', a free one",
        )
    return coroutine_ref(main, settings)


def _names(kind: type[Order] | type[ClockOrder]) -> str:
    return ", ".join(repr(str(value)) for value in kind if value is not Order.ATOMIC)
