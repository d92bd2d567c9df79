"""Run one execution of a program under a strategy, and write down what happened."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from checks.interleave.fairness import Waiting, judge, waiting
from checks.interleave.strategy import Remembering, StateStrategy, Strategy
from models.scheduled import Execution, Footprint, Interner, Program, Violation

Factory = Callable[[], Program]


class Ending(StrEnum):
    """How an execution ended."""

    COMPLETE = "complete"
    VIOLATING = "violating"
    BLOCKED = "blocked"
    CUT = "cut"
    MERGED = "merged"


class Step(NamedTuple):
    """One step of a recording."""

    enabled: tuple[str, ...]
    pick: int
    footprint: Footprint

    @property
    def label(self) -> str:
        """Label of the event that was picked."""
        return self.enabled[self.pick]


@dataclass(slots=True)
class Run:
    """One execution.

    Attributes:
        final: outcome; None unless the execution is complete.
        covered: what the program says that the execution has exercised.
        timers_spent: armed timers were left alone because the declared number of firings was used up.
    """

    ending: Ending
    trace: list[Step]
    final: Hashable
    violation: Violation | None
    visible_steps: int
    timers_spent: bool
    covered: frozenset[str] = frozenset()

    @property
    def picks(self) -> tuple[int, ...]:
        """The choices: together with the program, the whole execution."""
        return tuple(step.pick for step in self.trace)


def run_once(factory: Factory, strategy: Strategy, *, interner: Interner, steps: int) -> Run:
    """Run one execution to its end.

    Args:
        factory: makes a fresh program.
        strategy: decides; `new_execution` was called by the caller.
        interner: table of mediated objects of the search.
        steps: an execution that reaches this number of steps is cut.
    """
    execution = Execution(factory(), interner)
    try:
        known = strategy.known() if isinstance(strategy, Remembering) else ()
        execution.start(checked=bool(known))
        trace: list[Step] = []
        last = _repeat(execution, strategy, known, trace)
        ending, last = _drive(execution, strategy, trace, steps, last)
        strategy.done(last)
        final = execution.finish() if ending is Ending.COMPLETE else None
        if execution.violation is not None:
            ending = Ending.VIOLATING
        return Run(
            ending=ending,
            trace=trace,
            final=final,
            violation=execution.violation,
            visible_steps=execution.visible_steps,
            timers_spent=execution.world.firings_exhausted,
            covered=execution.program.covered(),
        )
    finally:
        execution.close()


def _repeat(
    execution: Execution, strategy: Strategy, known: Sequence[Footprint], trace: list[Step]
) -> Footprint | None:
    """Take steps that were taken before. They were checked then, and are not observed again."""
    for footprint in known:
        enabled = execution.enabled()
        labels = tuple([event.label for event in enabled])
        pick = strategy.pick(labels, None)
        if pick is None:
            break
        execution.step_again(enabled[pick])
        trace.append(Step(labels, pick, footprint))
    execution.catch_up()
    return known[-1] if known else None


def _drive(
    execution: Execution, strategy: Strategy, trace: list[Step], steps: int, last: Footprint | None
) -> tuple[Ending, Footprint | None]:
    looking = strategy if isinstance(strategy, StateStrategy) else None
    middle = steps // 2
    halfway: Waiting = {}
    while execution.violation is None:
        enabled = execution.enabled()
        if not enabled:
            return Ending.COMPLETE, last
        if len(trace) >= steps:
            judge(execution, trace[middle:], halfway)
            return Ending.CUT, last
        if len(trace) == middle:
            halfway = waiting(execution)
        if looking is not None and not looking.arrive(execution):
            return Ending.MERGED, last
        labels = tuple([event.label for event in enabled])
        pick = strategy.pick(labels, last)
        if pick is None:
            return Ending.BLOCKED, last
        last = execution.step(enabled[pick])
        trace.append(Step(labels, pick, last))
    return Ending.VIOLATING, last
