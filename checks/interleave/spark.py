"""Spreading one search tree over Spark: rounds of subtrees with a budget each, then the rest is dealt out
again.

A work item is a node of the search tree. A task searches its items for a fixed number of executions and
returns what is left as new items. Budgets count executions, never time, so that a task is a function of its
items: one that is lost with its executor and runs again elsewhere returns the same result, and `collect`
takes one result of each task. The set of outcomes, the violations and all counts are those of the search on
one core.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from checks.interleave.audit import check_explained, random_sample
from checks.interleave.explore import bounds_text, explore_subtree, split
from checks.interleave.options import Options
from checks.interleave.result import Exploration, merge
from checks.interleave.work import WorkItem
from models.scheduled import ProgramRef

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import SparkSession

RoundTick = Callable[[int, int, Exploration], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How to deal out the work.

    Attributes:
        partitions: tasks in one round; 0 takes the default parallelism of the session.
        parts: parts into which the driver cuts the tree before the first round.
        budget: executions that a task may spend on each of its items in one round.
        rounds: largest number of rounds. What is left then makes the result inconclusive.
    """

    partitions: int = 0
    parts: int = 64
    budget: int = 500
    rounds: int = 10_000


def explore_on_spark(
    session: "SparkSession",
    program: ProgramRef,
    options: Options | None = None,
    *,
    spread: Spread | None = None,
    tick: RoundTick | None = None,
) -> Exploration:
    """Search every interleaving of a program on a Spark session.

    Args:
        session: a running session. It is neither created nor stopped here.
        program: the program, by name: workers import it.
        options: how to search. Limits of executions and seconds are read after each round.
        spread: how to deal out the work.
        tick: called after each round with its number, the number of items left, and the result so far.
    """
    options = options or Options()
    spread = spread or Spread()
    context = session.sparkContext
    tasks = spread.partitions or context.defaultParallelism
    done, items = split(program, spread.parts, options=options)
    total = done
    number = 0
    stopped: str | None = None
    while items and number < spread.rounds and stopped is None:
        number += 1
        hands = _deal(items, tasks)
        met = context.broadcast(frozenset(total.states))
        found = (
            context.parallelize(hands, len(hands))
            .map(_Task(program=program, options=options, budget=spread.budget, met=met))
            .collect()
        )
        items = sorted(item for part in found for item in part.remaining)
        for part in found:
            part.remaining = ()
        total = merge([total, *found], bounds="")
        stopped = _stopped(total, options)
        if tick is not None:
            tick(number, len(items), total)
    total.remaining = tuple(items)
    if stopped is not None:
        total.reasons = (*total.reasons, stopped)
    sample = random_sample(program, options)
    if sample is not None:
        check_explained(total, sample)
    total.bounds = bounds_text(program, options)
    return total


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """What a worker does with its share. An instance of a named class, so that it pickles by reference."""

    program: ProgramRef
    options: Options
    budget: int
    met: "Broadcast[frozenset[bytes]]"

    def __call__(self, hand: Sequence[WorkItem]) -> Exploration:
        return merge(self._parts(hand), bounds="")

    def _parts(self, hand: Sequence[WorkItem]) -> Iterator[Exploration]:
        met = set(self.met.value)
        for item in hand:
            part = explore_subtree(
                self.program, WorkItem(*item), budget=self.budget, options=self.options, met=frozenset(met)
            )
            met |= part.states
            yield part


def _deal(items: Sequence[WorkItem], tasks: int) -> list[list[WorkItem]]:
    """Deal items like cards, so that neighbours, which tend to be of like size, go to different tasks."""
    hands = [list(items[start::tasks]) for start in range(tasks)]
    return [hand for hand in hands if hand]


def _stopped(total: Exploration, options: Options) -> str | None:
    limits = options.limits
    if options.is_enough(total.violations):
        return "the search ended at a violation"
    spent = total.statistics.executions + total.statistics.blocked + total.statistics.merged
    if limits.executions is not None and spent >= limits.executions:
        return f"the limit of {limits.executions} executions is reached"
    return None
