"""Mutants of the proxy's implementation: hazards and real bugs.

The functions compare their fault with the variant of the specification that makes the same mistake, so that
what is refuted is a property and not only the likeness.
"""

from __future__ import annotations

from typing import Any

from tidemark.models.mutation.declared import mutant
from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.proxy.program import ProxyProgram, proxy

QUEUE = "proxy/task_queue.py:DmlTaskQueue."
STATISTICS = "proxy/statistics.py:ScanStatistics."
TICKER = "proxy/ticker.py:ChannelsTimeTicker."
WORKERS = "proxy/scheduler.py:TaskScheduler."

ONE = Host("proxy-impl-one-task", proxy)
TWO = Host("proxy-impl-two-tasks", proxy)
CHANNELS = Host("proxy-impl-two-channels", proxy)

TRACKED = "proxy.unfinished_tasks_are_tracked"
GHOST = "proxy.no_ghost_is_tracked"
BELOW = "proxy.reported_is_below_all_to_come"

MUTANTS = patches(
    __name__,
    # Queue and statistics.
    Patch(
        "pop-deletes-the-least",
        at=STATISTICS + "_forget",
        old="discard(begin)",
        new="discard(self.least(tracked))",
        killer=TRACKED,
        on=TWO,
        source="B7",
        says="A pop takes the least timestamp out of the set, whosever it is.",
    ),
    Patch(
        "commit-inserts-the-least",
        at=STATISTICS + "_entry",
        old="del tracked\n        return begin",
        new="return min((begin, *tracked.timestamps))",
        killer=TRACKED,
        on=TWO,
        source="B7",
        says="A commit puts the least timestamp into the set instead of the task's.",
    ),
    Patch(
        "pop-looks-channels-up-again",
        at=QUEUE + "_forget",
        old="self._channels_of(task)",
        new="()",
        killer=GHOST,
        on=ONE,
        source="B8",
        says="The collection is gone by then: the pop finds no channels, and the timestamp stays.",
    ),
    Patch(
        "max-ts-stays",
        at=STATISTICS + "commit",
        old="max(tracked.max_ts, end)",
        new="tracked.max_ts",
        killer="proxy.least_and_greatest_are_exact",
        on=TWO,
        source="facts 3.1",
        says="A commit forgets to raise the greatest timestamp.",
    ),
    # The ticker.
    Patch(
        "gate-is-open",
        at=TICKER + "_publish",
        old="elif span.min_ts > self.current[channel]:",
        new="else:",
        killer="refinement",
        on=CHANNELS,
        source="hazard 28",
        says="The ticker publishes a new value at each tick, not once for a batch.",
    ),
    # Workers.
    Patch(
        "popped-before-produced",
        at=WORKERS + "execute",
        old="if task.error is None:",
        new="self.queue.statistics.pop(task.channels, task.ts)\n        if task.error is None:",
        killer=TRACKED,
        on=ONE,
        source="facts 3.1",
        says="The timestamp leaves the statistics before the messages are in the log.",
    ),
    # Work that is not done.
    Patch(
        "a-message-is-given-up-unsent",
        at=WORKERS + "_produce",
        old="task.outcomes[channel] = AppendOutcome.UNDER_WAY",
        new="""if channel != min(task.channels):
            task.outcomes[channel] = AppendOutcome.REFUSED
            return""",
        killer="refinement",
        on=CHANNELS,
        source="seed 004, 6.6.1",
        says="A task is over though one of its messages was never sent, and no log has refused it.",
    ),
    Patch(
        "scheduler-takes-one-task",
        at=WORKERS + "run",
        old="while True:",
        new="for _ in range(1):",
        killer="refinement",
        on=Host("proxy-impl-one-at-a-time", proxy),
        source="property WL",
        says="The scheduler executes one task, and then no more: the next waits for ever, without any error.",
    ),
    Patch(
        "a-silent-oracle-ends-the-ticks",
        at="proxy/proxy.py:Proxy._run_ticker",
        old="continue",
        new="await asyncio.get_running_loop().create_future()",
        killer="proxy.reports_pass_finished_tasks",
        on=Host("proxy-endless", proxy),
        source="property WL",
        tier="full",
        says="After a call of the oracle without an answer the ticker waits for one for ever.",
    ),
)

BESIDE_VARIANTS = (
    Patch(
        "lock-is-lost",
        at=QUEUE + "_exclusively",
        old="return self.stats_lock.holding(point)",
        new="from contextlib import nullcontext\n\n        return nullcontext()",
        on=TWO,
        source="hazard 26, B7; seed 002, Enqueue: event 2 commits before event 1",
        says="Timestamps are taken, and enter the statistics, in any order.",
    ),
    Patch(
        "pop-takes-no-lock",
        at=QUEUE + "pop",
        old='async with self._exclusively("queue.pop"):',
        new="if True:",
        on=ONE,
        source="hazard 27",
        says="A fast worker pops before the commit.",
    ),
    Patch(
        "now-after-the-snapshot",
        at=TICKER + "_look",
        old="""await self._take_timestamp()
        await self._preemption.point("ticker.snapshot")
        await self._take_snapshot()""",
        new="""await self._take_snapshot()
        await self._preemption.point("ticker.now")
        await self._take_timestamp()""",
        on=ONE,
        source="hazard 24",
        says="The tick takes the snapshot, then fetches its timestamp.",
    ),
    Patch(
        "no-minus-one",
        at=TICKER + "_value",
        old="min_ts - 1",
        new="min_ts",
        on=ONE,
        source="hazard 25, B6",
        says="The tick publishes minTs itself.",
    ),
    Patch(
        "unknown-outcome-is-popped",
        at=WORKERS + "execute",
        old="await self._settle_all(task)",
        new="pass",
        on=Host("proxy-impl-late-append", proxy),
        source="hazard 12",
        says="A produce that timed out is over, and its timestamp is popped.",
    ),
    Patch(
        "allocated-before-the-lock",
        at=QUEUE + "enqueue",
        old="""async with self._exclusively("queue.enqueue"):
            self._admit(task)
            task.phase = TaskPhase.ASKED
            try:
                task.ts = await self._oracle.alloc(1)
            except ImplementationError:
                task.phase = TaskPhase.NEW
                raise
            task.phase = TaskPhase.STAMPED
""",
        new="""task.phase = TaskPhase.ASKED
        task.ts = await self._oracle.alloc(1)
        task.phase = TaskPhase.STAMPED
        async with self._exclusively("queue.enqueue"):
""",
        on=ONE,
        source="hazard 26",
        says="The queue fetches the timestamp first, and takes the lock afterwards.",
    ),
)
"""Killed only beside a variant of the specification: the functions below are these mutants."""


def _beside(name: str, variant: str, scenario: dict[str, Any]) -> ProxyProgram:
    patch = next(one for one in BESIDE_VARIANTS if one.name == name)
    protocol = f"tidemark.models.protocols.proxy.mutants.specification:{variant}"
    program: ProxyProgram = patch(protocol=protocol, **scenario)
    return program


@mutant(
    killer="proxy.min_ts_never_goes_back",
    source="hazard 26, B7; seed 002, Enqueue: event 2 commits before event 1",
    instance=TWO.entry,
)
def lock_is_lost(**scenario: Any) -> ProxyProgram:
    """Timestamps are taken, and enter the statistics, in any order."""
    return _beside("lock-is-lost", "EnqueueUnlocked", scenario)


@mutant(killer=GHOST, source="hazard 27", instance=ONE.entry)
def pop_takes_no_lock(**scenario: Any) -> ProxyProgram:
    """A fast worker pops before the commit."""
    return _beside("pop-takes-no-lock", "PopWithoutLock", scenario)


@mutant(killer=BELOW, source="hazard 24", instance=ONE.entry)
def now_after_the_snapshot(**scenario: Any) -> ProxyProgram:
    """The tick takes the snapshot, then fetches its timestamp."""
    return _beside("now-after-the-snapshot", "SnapshotFirst", scenario)


@mutant(killer=BELOW, source="hazard 25, B6", instance=ONE.entry)
def no_minus_one(**scenario: Any) -> ProxyProgram:
    """The tick publishes minTs itself."""
    return _beside("no-minus-one", "NoMinusOne", scenario)


@mutant(killer=BELOW, source="hazard 12", instance="proxy-impl-late-append")
def unknown_outcome_is_popped(**scenario: Any) -> ProxyProgram:
    """A produce that timed out is over, and its timestamp is popped."""
    return _beside("unknown-outcome-is-popped", "OutcomeUnknown", scenario)


@mutant(killer="proxy.reported_is_given_to_nobody_else", source="hazard 26", instance=ONE.entry)
def allocated_before_the_lock(**scenario: Any) -> ProxyProgram:
    """The queue fetches the timestamp first, and takes the lock afterwards."""
    return _beside("allocated-before-the-lock", "EnqueueUnlocked", scenario)
