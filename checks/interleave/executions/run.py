"""Run one execution of a program under a strategy, and write down what happened.

An execution that reaches the limit of steps: does it spin, does it starve a task, or is it merely long?

An endless execution says something only if it is fair, since nothing forces a loop or a network to leave
something out forever. It is taken to be fair if in its second half nothing was enabled all the time without
ever being picked. A task that waits for one and the same future all that time is starved. Both are bounds,
not proofs: the words say how many steps were seen.
"""

import asyncio
import functools
from collections.abc import Callable, Sequence

from tidemark.checks.interleave.executions.record import Ending, ExecutionRecord, Step
from tidemark.checks.interleave.strategies.strategy import Remembering, StateStrategy, Strategy
from tidemark.models.simulation import Execution, Footprint, Interner, Program
from tidemark.models.simulation.loop.lane import LOCKS, WAKERS, waits_in, where

ENOUGH = 500
"""Steps of the second half below which nothing is claimed."""

Waiting = dict[int, object]
"""By task: the future for which it waits."""


def waiting(execution: Execution) -> Waiting:
    """Note for what each task waits."""
    return {id(task): getattr(task, "_fut_waiter", None) for task in _pending(execution)}


def judge(execution: Execution, half: Sequence[Step], before: Waiting) -> None:
    """Blame an execution that reached the limit. ``half``: the second half of its steps."""
    if len(half) < ENOUGH or not fair(half):
        return
    after = waiting(execution)
    starved = [
        where(task)
        for task in _pending(execution)
        if waits_in(task) in LOCKS | WAKERS and before.get(id(task)) is after[id(task)]
    ]
    seen = f"in {len(half)} steps on end, in which everything that was enabled had its turn"
    if starved:
        execution.blame("starvation", f"a task was never served {seen}: {'; '.join(starved)}")
    elif all(len(step.enabled) == 1 and step.label.startswith("run ") for step in half):
        spinning = "; ".join(where(task) for task in _pending(execution))
        execution.blame("livelock", f"tasks spin without waiting for anything {seen}: {spinning}")


def fair(steps: Sequence[Step]) -> bool:
    """Tell whether nothing was enabled all the time and never picked."""
    always = set(steps[0].enabled)
    for step in steps:
        always.intersection_update(step.enabled)
        if not always:
            return True
    return always <= {step.label for step in steps}


def _pending(execution: Execution) -> list[asyncio.Task[object]]:
    lanes = [lane for lane in execution.world.every_lane if lane.alive and not lane.daemon]
    return [task for lane in lanes for task in lane.pending_tasks()]


Factory = Callable[[], Program]


_step: Callable[[tuple[tuple[str, ...], int, Footprint]], Step] = functools.partial(tuple.__new__, Step)
"""Make a step of its fields: the constructor, on the hot path."""


class Runner:
    """Runs executions of one program under one strategy, each from its start to its end.

    Args:
        factory: makes a fresh program.
        strategy: decides; the caller calls its ``new_execution`` before each run.
        interner: table of mediated objects of the search.
        steps: an execution that reaches this number of steps is cut.
    """

    def __init__(self, factory: Factory, strategy: Strategy, *, interner: Interner, steps: int) -> None:
        self._factory = factory
        self._strategy = strategy
        self._interner = interner
        self._steps = steps
        self._remembering = strategy if isinstance(strategy, Remembering) else None
        self._looking = strategy if isinstance(strategy, StateStrategy) else None

    def run(self) -> ExecutionRecord:
        """Run the next execution."""
        execution = Execution(self._factory(), self._interner)
        try:
            known = self._remembering.known() if self._remembering is not None else ()
            execution.start(checked=bool(known))
            trace: list[Step] = []
            last = self._repeat(execution, known, trace) if known else None
            ending, last = self._drive(execution, trace, last)
            self._strategy.done(last)
            final = execution.finish() if ending is Ending.COMPLETE else None
            if execution.violation is not None:
                ending = Ending.VIOLATING
            return ExecutionRecord(
                ending=ending,
                trace=trace,
                final=final,
                violation=execution.violation,
                visible_steps=execution.visible_steps,
                timers_spent=execution.world.firings_exhausted,
                covered=execution.program.covered(),
                history=execution.history(),
            )
        finally:
            execution.close()

    def _repeat(
        self, execution: Execution, known: Sequence[Footprint], trace: list[Step]
    ) -> Footprint | None:
        """Take steps that were taken before. They were checked then, and are not observed again."""
        for footprint in known:
            events = execution.enabled()
            labels = tuple([event.label for event in events])
            pick = self._strategy.pick(labels, None)
            if pick is None:
                break
            execution.step_again(events[pick])
            trace.append(_step((labels, pick, footprint)))
        return known[-1]

    def _drive(
        self, execution: Execution, trace: list[Step], last: Footprint | None
    ) -> tuple[Ending, Footprint | None]:
        choose, looking, limit = self._strategy.pick, self._looking, self._steps
        enabled = execution.world.enabled
        middle = limit // 2
        halfway: Waiting = {}
        while execution.violation is None:
            events = enabled()
            if not events:
                return Ending.COMPLETE, last
            if events[0].fault and not execution.rest():  # faults come last: there is nothing else
                break
            taken = len(trace)
            if taken >= limit:
                execution.failures()
                judge(execution, trace[middle:], halfway)
                return Ending.CUT, last
            if taken == middle:
                halfway = waiting(execution)
            if looking is not None and not looking.arrive(execution):
                return Ending.MERGED, last
            labels = (events[0].label,) if len(events) == 1 else tuple([event.label for event in events])
            pick = choose(labels, last)
            if pick is None:
                return Ending.BLOCKED, last
            last = execution.step(events[pick])
            trace.append(_step((labels, pick, last)))
        return Ending.VIOLATING, last


def run_once(factory: Factory, strategy: Strategy, *, interner: Interner, steps: int) -> ExecutionRecord:
    """Run a single execution. See ``Runner``."""
    return Runner(factory, strategy, interner=interner, steps=steps).run()
