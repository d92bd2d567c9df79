"""The breadth-first search itself: round after round, each one a checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from checks.spark.facts import StateFinding, StepFacts
from checks.spark.rounds import Plan
from checks.spark.run_directory import RoundFacts, RunDirectory
from checks.spark.runners import InProcess, Runner
from checks.spark.walk_back import Origin, State, culprit, predecessor, walk_back

HANDOVER = 20_000
"""Frontier from which a round is worth a Spark job: below it, the job's latency costs more than the work."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Where a search may stop before it has seen everything; the result then says so. None: no limit.

    Limits are looked at between rounds. ``handover`` is the frontier from which Spark takes a round over.
    """

    max_states: int | None = None
    max_depth: int | None = None
    max_seconds: float | None = None
    handover: int = HANDOVER


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
        self, directory: RunDirectory, *, spark: Runner | None = None, limits: Limits | None = None
    ) -> None:
        self.directory = directory
        self.limits = limits or Limits()
        self._spark = spark
        self._local = InProcess()

    def run(self, watch: Watch | None = None) -> Result:
        """Go on from the last complete round to the end, or to a limit. Raises CorruptFileError."""
        started, result = time.monotonic(), Result()
        complete = self.directory.complete_rounds()
        for number in range(complete):
            last = self.directory.facts(number)
            result.take(last)
        while last.states:
            result.stopped = self._limit(result, time.monotonic() - started)
            if result.stopped:
                return result
            last = self._next(last, result, watch)
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
        plan = replace(self.directory.plan, number=last.number + 1)
        runner = self._runner(last.states)
        started = time.monotonic()
        try:
            runner.round(plan, note=f"depth {plan.number}, from {last.states:,} states")
        except (Py4JError, PySparkException):
            # If a task met a damaged file, say which one and where to resume, instead of Spark's stack trace.
            self.directory.verify(plan.number)
            raise
        facts = self.directory.facts(plan.number)
        if facts.steps.expanded != last.states:
            raise RuntimeError(f"round {plan.number} expanded {facts.steps.expanded} of {last.states} states")
        result.take(facts)
        done = Round(
            depth=plan.number,
            frontier=facts.states,
            expanded=last.states,
            generated=sum(facts.steps.generated),
            distinct=result.distinct,
            seconds=time.monotonic() - started,
            sent_bytes=facts.steps.sent * plan.kernel.words * 8,
            on_spark=runner is not self._local,
        )
        result.rounds.append(done)
        if watch is not None:
            watch(done)
        return facts

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
