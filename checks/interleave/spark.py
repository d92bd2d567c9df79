"""Spreading one search tree over Spark: rounds of subtrees with a budget each, then the rest is dealt out
again. Two rounds are under way at a time, so that no core waits for the last task of one, nor for the driver.

A work item is a node of the search tree. A task searches the items of its hand until they are done or its
budget of executions is spent, and returns what is left as new items. Budgets count executions, never time, so
that a task is a function of its hand: one that is lost with its executor and runs again elsewhere returns the
same result, and ``collect`` takes one result of each task. The set of outcomes, the violations and all counts
are those of the search on one core, however the tree is cut. Where equal states are merged, the number of
executions depends on the cut, since tasks of one round do not see each other's states; and with wakeup
trees that of the abandoned ones, since the parts of a tree are searched in full at their roots.

Rounds are merged in the order in which they were dealt, and a round is dealt from what the rounds before the
one that is still under way have left, never from what happens to be ready: two runs deal the same hands.
Where equal states are merged there is one round at a time, since the next one must know the states of all
that came before.

Budgets follow the forecast of what is left: small at first, so that large parts are cut and dealt out again;
then so large that a round might finish the search, or multiply what was done: a forecast may be far too low,
and each round costs a part of a second.

How many executions the parts of a search tree take that wait to be searched.

Within one part that is being searched, ``tidemark.checks.interleave.trees.tree`` knows more. Of parts
that are not begun only the depth of the root is known: a deeper one is smaller. The mean size of the
finished parts with a root at a depth represents those that wait at this depth; between known depths it is
interpolated, as a power. Parts that ran out of their budget count with what they have spent and the forecast
of what they have left. Nothing rests on this: it sizes the rounds of a search and tells a user how long it
may take.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from tidemark.checks.interleave.audits.audit import audit
from tidemark.checks.interleave.limits import Options, Reduction
from tidemark.checks.interleave.result import Exploration, merge
from tidemark.checks.interleave.search_loop import set_aside
from tidemark.checks.interleave.searches import bounds_text, explore_subtree, split
from tidemark.checks.interleave.trees.work import WorkItem
from tidemark.checks.verdicts.errors import CheckError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.explain import explain
from tidemark.models.simulation import ProgramRef

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import SparkSession


class Searched(NamedTuple):
    """What became of a part of the tree.

    Attributes:
        depth: how deep its root lies.
        spent: executions that were spent on it.
        left: how deep the roots of what is left of it lie.
    """

    depth: int
    spent: int
    left: tuple[int, ...] = ()


class Forecast:
    """Mean sizes of parts by the depth of their roots, in executions."""

    def __init__(self) -> None:
        self._sizes: dict[int, float] = {}
        self._counts: dict[int, int] = {}

    def learn(self, parts: Iterable[Searched]) -> None:
        """Take note of parts; the finished ones first, since the others are judged by them."""
        for part in sorted(parts, key=lambda part: (bool(part.left), -part.depth, part)):
            rest = self.of(part.left)
            if rest is not None:
                self._sizes[part.depth] = self._sizes.get(part.depth, 0.0) + part.spent + rest
                self._counts[part.depth] = self._counts.get(part.depth, 0) + 1

    def of(self, depths: Iterable[int]) -> float | None:
        """Return how many executions parts with these depths take in all. None: nothing is known yet."""
        depths = tuple(depths)
        if not depths:
            return 0.0
        if not self._sizes:
            return None
        return sum(map(self._size, depths))

    def _size(self, depth: int) -> float:
        known = self._mean(depth)
        if known is not None:
            return known
        above = max((other for other in self._sizes if other < depth), default=None)
        below = min((other for other in self._sizes if other > depth), default=None)
        if above is None or below is None:
            nearest = below if above is None else above
            assert nearest is not None
            return self._mean(nearest) or 1.0
        share = (depth - above) / (below - above)
        one, other = self._mean(above) or 1.0, self._mean(below) or 1.0
        return math.exp((1 - share) * math.log(one) + share * math.log(other))

    def _mean(self, depth: int) -> float | None:
        count = self._counts.get(depth, 0)
        return max(1.0, self._sizes[depth] / count) if count else None


TASKS_A_WORKER = 3
"""More tasks than workers: who is done early takes another one, of this round or of the next."""
AHEAD = 2
"""Rounds that are under way at a time."""
LEAST = 50
"""Executions that are worth a task."""
GROWTH = 2
"""So many times what was done may be spent by the rounds under way: few of them, if forecasts are too low."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How to deal out the work.

    Attributes:
        partitions: tasks in one round; 0 takes three for each core of the session.
        parts: parts into which the driver cuts the tree before the first round.
        budget: most executions that a task may spend in one round.
        rounds: largest number of rounds. What is left then makes the result inconclusive.
    """

    partitions: int = 0
    parts: int = 64
    budget: int = 4_000
    rounds: int = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """The search after a round. Times are in seconds, since its start.

    Attributes:
        number: 0 after the driver has cut the tree.
        left: parts of the tree that are left.
        forecast: about how many executions they take; None before anything is known.
        workers: cores of the session.
        wall: time that has passed.
        busy: time that all tasks together have searched.
    """

    number: int
    left: int
    forecast: float | None
    workers: int
    wall: float
    busy: float

    @property
    def overhead(self) -> float:
        """The share of the time of all cores in which they did not search: Spark's own, and waiting."""
        return 1.0 - self.busy / (self.wall * self.workers) if self.wall else 0.0

    def text(self) -> str:
        """Return how far the search is, in words."""
        about = "" if not self.forecast else f" with about {self.forecast:,.0f} executions"
        return f"round {self.number}, {self.left:,} parts left{about}"


RoundTick = Callable[[Round, Exploration], None]


def explore_on_spark(
    session: "SparkSession",
    program: ProgramRef,
    options: Options | None = None,
    *,
    spread: Spread | None = None,
    tick: RoundTick | None = None,
) -> Exploration:
    """Search every interleaving of a program on a Spark session.

    ``session``: a running session. It is neither created nor stopped here. ``options``: how to search. Limits
    of executions and seconds are read after each round. ``tick``: called after the tree is cut and after each
    round, with the result so far.
    """
    options = options or Options()
    search = _Search(session, program, options, spread or Spread())
    total = search.run(tick or _silent)
    audit(program, options, total)
    total.bounds = bounds_text(program, options)
    return total


def _silent(done: Round, total: Exploration) -> None:
    """Tell nothing."""


class _UnderWay(NamedTuple):
    """A round that is being searched: its items, and what will come of it."""

    items: Sequence[WorkItem]
    found: "Future[list[Done]]"


class _Search:
    """The rounds of one search, as the driver sees them."""

    def __init__(
        self, session: "SparkSession", program: ProgramRef, options: Options, spread: Spread
    ) -> None:
        self._context = session.sparkContext
        self._program = program
        self._options = options
        self._spread = spread
        self._workers = max(1, self._context.defaultParallelism)
        self._tasks = spread.partitions or TASKS_A_WORKER * self._workers
        self._merging = options.reduction is Reduction.STATES
        self._forecast = Forecast()
        self._busy = 0.0
        self._waiting: list[WorkItem] = []
        self._under_way: deque[_UnderWay] = deque()
        self._dealt = 0

    def run(self, tick: RoundTick) -> Exploration:
        """Cut the tree, then run rounds until nothing is left or a limit is reached."""
        began = time.perf_counter()
        once = replace(self._options, check_every=0)
        total, self._waiting = split(self._program, self._spread.parts, options=once)
        number, stopped = 0, None
        with ThreadPoolExecutor(AHEAD) as threads:
            while True:
                left = self._left()
                total.seconds = time.perf_counter() - began
                forecast = self._forecast.of([len(item.picks) for item in left])
                done = Round(
                    number=number,
                    left=len(left),
                    forecast=forecast,
                    workers=self._workers,
                    wall=total.seconds,
                    busy=self._busy,
                )
                tick(done, total)
                stopped = _stopped(total, self._options)
                if stopped is not None:
                    break
                self._deal(threads, total, self._budget(forecast, total.done))
                if not self._under_way:
                    break
                number += 1
                total = self._take(total)
        total.remaining = tuple(left)
        if stopped is not None:
            total.reasons = (*total.reasons, stopped)
        return total

    def _left(self) -> list[WorkItem]:
        """What is not searched, or not known to be."""
        return sorted([*self._waiting, *(item for a_round in self._under_way for item in a_round.items)])

    def _budget(self, forecast: float | None, spent: int) -> int:
        """The executions of a task: what is left and a half, or a multiple of what was spent, shared out."""
        ahead = 1 if self._merging else AHEAD
        share = max(1.5 * (forecast or 0.0), GROWTH * spent) / (self._tasks * ahead)
        return min(max(LEAST, int(share)), self._spread.budget)

    def _deal(self, threads: ThreadPoolExecutor, total: Exploration, budget: int) -> None:
        """Begin as many rounds as may be under way: all that waits is shared out among them."""
        free = (1 if self._merging else AHEAD) - len(self._under_way)
        free = min(free, self._spread.rounds - self._dealt)
        for items in deal(self._waiting, free) if free > 0 else []:
            met = self._context.broadcast(frozenset(total.states)) if self._merging else None
            work = Work(program=self._program, options=self._options, budget=budget, met=met)
            found = threads.submit(self._round, deal(items, self._tasks), work)
            self._under_way.append(_UnderWay(items, found))
            self._dealt += 1
            self._waiting = []

    def _round(self, hands: Sequence[Sequence[WorkItem]], work: "Work") -> list["Done"]:
        found = self._context.parallelize(hands, len(hands)).map(work).collect()
        if work.met is not None:
            work.met.destroy()
        return found

    def _take(self, total: Exploration) -> Exploration:
        """Wait for the round that was dealt first, and add what it has found."""
        found = self._under_way.popleft().found.result()
        for task in found:
            if task.trouble is not None:
                raise TaskError(task.trouble)
        self._busy += sum(task.seconds for task in found)
        self._forecast.learn(part for task in found for part in task.searched)
        parts = [task.result for task in found]
        self._waiting = sorted([*self._waiting, *(item for part in parts for item in part.remaining)])
        for part in parts:
            part.remaining, part.left = (), 0.0  # the forecast of the rounds speaks of the whole
        return merge([total, *parts], bounds="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a task returns. Its seconds are those that it has searched.

    Attributes:
        trouble: message, remedy and exit code of the error that has ended the task. An exception would be
            wrapped by Spark, and lose its words.
    """

    result: Exploration
    searched: tuple[Searched, ...] = ()
    seconds: float = 0.0
    trouble: tuple[str, str, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a worker does with its hand. An instance of a named class, so that it pickles by reference."""

    program: ProgramRef
    options: Options
    budget: int
    met: "Broadcast[frozenset[bytes]] | None"

    def __call__(self, hand: Sequence[WorkItem]) -> Done:
        """Search the items of a hand, one after the other, until the budget is spent."""
        try:
            return self._search([WorkItem(*fields) for fields in hand])
        except Exception as error:
            code, message, remedy = explain(error)
            if code is ExitCode.INTERNAL_ERROR and not isinstance(error, CheckError):
                raise
            return Done(result=Exploration(), trouble=(message, remedy, code))

    def _search(self, hand: Sequence[WorkItem]) -> Done:
        _load(self.program)
        began = time.perf_counter()
        met = set(self.met.value) if self.met is not None else set()
        parts, searched, untouched = [], [], []
        budget, options = self.budget, self.options
        for item in hand:
            if budget <= 0:
                untouched.append(item)
                continue
            part = explore_subtree(self.program, item, budget=budget, options=options, met=frozenset(met))
            # Each part begins with an execution that is run twice. One in a hand is enough.
            options = replace(options, check_every=0)
            met |= part.states
            budget -= part.done
            left = tuple(len(other.picks) for other in part.remaining)
            searched.append(Searched(len(item.picks), part.done, left))
            parts.append(part)
        result = merge(parts, bounds="")
        result.remaining = (*result.remaining, *untouched)
        return Done(result=result, searched=tuple(searched), seconds=time.perf_counter() - began)


@cache
def _load(program: ProgramRef) -> None:
    """Import the program, once in a worker. Spark's workers collect garbage after each task."""
    program.load()
    set_aside()


class TaskError(CheckError):
    """A task has ended with an error: its words, its remedy and its exit code."""

    def __init__(self, trouble: tuple[str, str, int]) -> None:
        message, remedy, code = trouble
        super().__init__(message, remedy=remedy)
        self.exit_code = ExitCode(code)


def deal(items: Sequence[WorkItem], tasks: int) -> list[list[WorkItem]]:
    """Deal items like cards, the shallow ones first: these are large, and come to different hands."""
    ordered = sorted(items, key=lambda item: (len(item.picks), item))
    hands = [ordered[start::tasks] for start in range(tasks)]
    return [hand for hand in hands if hand]


def _stopped(total: Exploration, options: Options) -> str | None:
    limits = options.limits
    if options.is_enough(total.violations):
        return "the search ended at a violation"
    if limits.executions is not None and total.done >= limits.executions:
        return f"the limit of {limits.executions} executions is reached"
    if limits.seconds is not None and total.seconds >= limits.seconds:
        return f"the limit of {limits.seconds:g} seconds is reached"
    return None
