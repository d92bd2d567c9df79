"""The breadth-first search itself: round after round, each one a checkpoint.

From a state back to an initial state, over the level logs: no parent is ever stored.

The logs keep states only. The parent of a state of round k is found by expanding round k - 1 again, so that
a shortest counterexample costs about as much as the search up to its depth, and no memory.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from tidemark.checks.spark.search.rounds import Plan
from tidemark.checks.spark.search.run_directory import RoundFacts, RunDirectory
from tidemark.checks.spark.search.runners import InProcess, Runner
from tidemark.checks.spark.search.search_kernel import BELOW_ZERO, StateFinding, StepFacts
from tidemark.checks.spark.states.packed_states import PackedStates
from tidemark.models.interpreted.interpreter import Interpreter, below_zero

State = tuple[int, ...]
"""A packed state as plain numbers."""


class Origin(NamedTuple):
    """A packed state and the number of a step from it."""

    state: State
    step: int


def predecessor(plan: Plan, partition: int, *, target: State) -> Origin | None:
    """The least step from this partition's states of round ``plan.number`` - 1 to ``target``, if there is
    one.
    """
    wanted = np.array(target, np.uint64)
    best: Origin | None = None
    for rows in _frontier(plan, partition):
        block = plan.kernel.expand(rows)
        for hit in np.flatnonzero((block.successors == wanted).all(axis=1)):
            found = Origin(_plain(rows, int(block.parent[hit])), int(block.step[hit]))
            best = found if best is None else min(best, found)
    return best


def culprit(plan: Plan, partition: int, *, claim: str) -> State | None:
    """The least of this partition's states of round ``plan.number`` - 1 from which ``claim`` occurs in a
    step.

    Kernels tell only that a claim occurs in a block; such a block is taken apart, state by state.
    """
    best: State | None = None
    for rows in _frontier(plan, partition):
        if claim not in plan.kernel.expand(rows).events:
            continue
        for row in range(rows.shape[0]):
            state = _plain(rows, row)
            earlier = best is None or state < best
            if earlier and claim in plan.kernel.expand(rows[row : row + 1]).events:
                best = state
    return best


def _frontier(plan: Plan, partition: int) -> Iterator[PackedStates]:
    store, size = plan.store, plan.kernel.chunk
    _, frontier = store.open(store.log_path(plan.number - 1, partition), partition)
    for at in range(0, frontier.shape[0], size):
        yield frontier[at : at + size]


def _plain(rows: PackedStates, row: int) -> State:
    return tuple(int(word) for word in rows[row])


def walk_back(
    plan: Plan, target: State, depth: int, origins: Callable[[Plan, State], list[Origin]]
) -> tuple[list[State], list[int]]:
    """A shortest run to ``target``, a state of round ``depth``: its packed states and the numbers of its
    steps.

    ``origins`` looks for steps into a state in all partitions of one round. The least one is taken, so that
    the run does not depend on partitions. Raises RuntimeError if the logs do not hold a parent.
    """
    states, steps = [target], list[int]()
    for number in range(depth, 0, -1):
        found = origins(replace(plan, number=number), states[-1])
        if not found:
            raise RuntimeError(
                f"round {number - 1} of {plan.root} holds no state with a step to {states[-1]}"
            )
        best = min(found)
        states.append(best.state)
        steps.append(best.step)
    return states[::-1], steps[::-1]


HANDOVER = 20_000
"""Frontier from which a round is worth a Spark job: below it, the job's latency costs more than the work."""
TOGETHER = 8
"""Rounds of a job: its own latency is shared by these, and so is what it keeps on disk until it ends."""
JOB_STATES = 1 << 21
"""States of a partition that a job expands at most, if its frontiers stay as they are: a large round is
shown at once.
"""


@dataclass(frozen=True, kw_only=True)
class RoundLimits:
    """Where a search may stop before it has seen everything; the result then says so. None: no limit.

    Limits are looked at between rounds. ``handover`` is the frontier from which Spark takes rounds over, and
    ``together`` how many of these one job does at most. A limit on states or seconds makes it one.
    """

    max_states: int | None = None
    max_depth: int | None = None
    max_seconds: float | None = None
    handover: int = HANDOVER
    together: int = TOGETHER


@dataclass(frozen=True, kw_only=True)
class Round:
    """A finished round as it is shown and measured. Seconds and bytes differ from run to run.

    ``frontier`` are the new states of this depth, ``expanded`` those of the depth before, from which they
    were found; ``generated`` counts their steps.
    """

    depth: int
    frontier: int
    expanded: int
    generated: int
    distinct: int
    seconds: float
    sent_bytes: int
    on_spark: bool


Watch = Callable[[Round], None]


@dataclass(kw_only=True)
class Result:
    """What the search found. Depth 0 are the initial states; ``depth`` is that of the deepest states."""

    distinct: int = 0
    depth: int = 0
    steps: StepFacts = field(default_factory=StepFacts)
    violations: dict[str, tuple[int, StateFinding]] = field(default_factory=dict)
    """By invariant: the least depth at which it fails, and what fails there."""
    events: dict[str, int] = field(default_factory=dict)
    """By claim about steps: the least depth of a state from which it occurs in a step."""
    levels: list[int] = field(default_factory=list)
    """Number of states by depth."""
    stopped: str = ""
    """Why the search ended before it had seen everything; empty if it is complete."""
    rounds: list[Round] = field(default_factory=list)
    """The rounds of this process (a resumed search has had others)."""

    @property
    def generated(self) -> int:
        """Number of steps, those out of the bounds included."""
        return sum(self.steps.generated)

    def take(self, facts: RoundFacts) -> None:
        """Add a round. Rounds come in order, each one once."""
        self.distinct += facts.states
        self.steps.merge(facts.steps)
        if facts.states:
            self.depth = facts.number
            self.levels.append(facts.states)
        for name, finding in facts.findings.items():
            self.violations.setdefault(name, (facts.number, finding))
        for name in facts.steps.events:
            self.events.setdefault(name, facts.number - 1)


class Search:
    """A search in a run directory. ``spark`` takes over the large rounds; without it everything runs in
    this process.
    """

    def __init__(
        self, directory: RunDirectory, *, spark: Runner | None = None, limits: RoundLimits | None = None
    ) -> None:
        self.directory = directory
        self.limits = limits or RoundLimits()
        self._spark = spark
        self._local = InProcess()

    def run(self, watch: Watch | None = None) -> Result:
        """Go on from the last complete round to the end, or to a limit.

        Raises CorruptFileError; BelowZeroError with a shortest run to the step.
        """
        started, result = time.monotonic(), Result()
        complete = self.directory.complete_rounds()
        for number in range(complete):
            last = self.directory.facts(number)
            self._add(result, last)
        while last.states:
            result.stopped = self._limit(result, time.monotonic() - started)
            if result.stopped:
                return result
            last = self._next(last, result, watch)
        self.directory.store.forget_from(last.number + 1, self.directory.plan.partitions)
        return result

    def _limit(self, result: Result, seconds: float) -> str:
        limits = self.limits
        if limits.max_states is not None and result.distinct >= limits.max_states:
            return f"stopped after {result.distinct} states, at the limit of {limits.max_states}"
        if limits.max_depth is not None and result.depth >= limits.max_depth:
            return f"stopped at depth {result.depth}, the limit"
        if limits.max_seconds is not None and seconds >= limits.max_seconds:
            return f"stopped after {seconds:.0f} s, at the limit of {limits.max_seconds:g} s"
        return ""

    def _next(self, last: RoundFacts, result: Result, watch: Watch | None) -> RoundFacts:
        """Do one job, and take its rounds. Gives the last one: the first without states, if there is one."""
        plan = replace(self.directory.plan, number=last.number + 1)
        runner = self._runner(last.states)
        count = 1 if runner is self._local else self._together(last)
        started = time.monotonic()
        depths = f"depth {plan.number}" + (f" to {last.number + count}" if count > 1 else "")
        try:
            runner.round(plan, note=f"{depths}, from {last.states:,} states", count=count)
        except (Py4JError, PySparkException):
            # If a task met a damaged file, say which one and where to resume, instead of Spark's stack trace.
            self.directory.verify(self.directory.complete_rounds())
            raise
        found = [self.directory.facts(plan.number + ahead) for ahead in range(count)]
        spent = durations([facts.finished for facts in found], time.monotonic() - started)
        for facts, seconds in zip(found, spent, strict=True):
            done = self._take(facts, last, result, seconds=seconds, on_spark=runner is not self._local)
            if watch is not None:
                watch(done)
            last = facts
            if not last.states:
                break
        return last

    def _take(
        self, facts: RoundFacts, before: RoundFacts, result: Result, *, seconds: float, on_spark: bool
    ) -> Round:
        if facts.steps.expanded != before.states:
            raise RuntimeError(
                f"round {facts.number} expanded {facts.steps.expanded} of {before.states} states"
            )
        self._add(result, facts)
        result.rounds.append(
            Round(
                depth=facts.number,
                frontier=facts.states,
                expanded=before.states,
                generated=sum(facts.steps.generated),
                distinct=result.distinct,
                seconds=seconds,
                sent_bytes=facts.steps.sent * self.directory.plan.kernel.words * 8,
                on_spark=on_spark,
            )
        )
        return result.rounds[-1]

    def _add(self, result: Result, facts: RoundFacts) -> None:
        result.take(facts)
        if BELOW_ZERO in facts.steps.events:
            depth = facts.number - 1
            packed, numbers = self.run_to(self.culprit(BELOW_ZERO, depth), depth)
            interpreter = Interpreter(self.directory.plan.instance)
            states = [self.directory.plan.kernel.unpack(state) for state in packed]
            raise below_zero(interpreter, states, [interpreter.steps[number] for number in numbers])

    def _together(self, last: RoundFacts) -> int:
        """Rounds that the next job does."""
        limits = self.limits
        if limits.max_states is not None or limits.max_seconds is not None:
            return 1
        most = limits.together if limits.max_depth is None else limits.max_depth - last.number
        room = JOB_STATES * self.directory.plan.partitions
        return max(1, min(limits.together, most, room // last.states))

    def _runner(self, frontier: int) -> Runner:
        return self._local if self._spark is None or frontier < self.limits.handover else self._spark

    def run_to(self, state: State, depth: int) -> tuple[list[State], list[int]]:
        """A shortest run to a state of that depth: packed states and numbers of steps."""
        sizes = [self.directory.facts(number).states for number in range(depth)]

        def origins(plan: Plan, target: State) -> list[Origin]:
            note = f"trace, depth {plan.number} to {plan.number - 1}"
            return self._runner(sizes[plan.number - 1]).ask(
                plan, partial(predecessor, target=target), note=note
            )

        return walk_back(self.directory.plan, state, depth, origins)

    def culprit(self, claim: str, depth: int) -> State:
        """The least state of that depth from which a claim about steps occurs."""
        plan = replace(self.directory.plan, number=depth + 1)
        runner = self._runner(self.directory.facts(depth).states)
        return min(runner.ask(plan, partial(culprit, claim=claim), note=f"step for {claim}"))


def durations(finished: Sequence[float], seconds: float) -> list[float]:
    """How long each round of a job took, by the times at which its files were written. They add up to the
    job's ``seconds``, which another machine's clock does not change.
    """
    later = [max(0.0, after - before) for before, after in pairwise(finished)]
    later = [min(length, seconds / len(finished)) if sum(later) > seconds else length for length in later]
    return [max(0.0, seconds - sum(later)), *later]
