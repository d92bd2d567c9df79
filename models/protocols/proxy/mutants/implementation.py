"""Mutants of the proxy's implementation: hazards and real bugs.

The functions compare their fault with the variant of the specification that makes the same mistake, so that
what is refuted is a property and not only the likeness.
"""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.proxy.program import proxy

QUEUE = "proxy/task_queue.py:DmlTaskQueue."
STATISTICS = "proxy/statistics.py:ChannelStatistics."
TICKER = "proxy/ticker.py:ChannelsTimeTicker."
WORKERS = "proxy/scheduler.py:TaskScheduler."

DRIVEN = Host("proxy-driven", proxy)
ONE = Host("proxy-impl-one-task", proxy)
TWO = Host("proxy-impl-two-tasks", proxy)
TICKS = Host("proxy-impl-two-ticks", proxy)
CHANNELS = Host("proxy-impl-two-channels", proxy)

TRACKED = "proxy.unfinished_tasks_are_tracked"
GHOST = "proxy.no_ghost_is_tracked"
BELOW = "proxy.reported_is_below_all_to_come"

VARIANTS = "tidemark.models.protocols.proxy.mutants.specification:"

MUTANTS = patches(
    __name__,
    # Queue and statistics.
    Patch(
        "pop-deletes-the-least",
        at=STATISTICS + "pop",
        old="discard(ts)",
        new="discard(self.least(tracked))",
        killer=TRACKED,
        on=TWO,
        source="B7",
        says="A pop takes the least timestamp out of the set, whosever it is.",
    ),
    Patch(
        "commit-inserts-the-least",
        at=STATISTICS + "commit",
        old="timestamps.add(ts)",
        new="timestamps.add(min((ts, *tracked.timestamps)))",
        killer=TRACKED,
        on=TICKS,
        walked=DRIVEN,
        source="B7",
        says="A commit puts the least timestamp into the set instead of the task's.",
    ),
    Patch(
        "pop-looks-channels-up-again",
        at=QUEUE + "pop",
        old="task.channels",
        new="()",
        killer=GHOST,
        on=TICKS,
        source="B8",
        says="The collection is gone by then: the pop finds no channels, and the timestamp stays.",
    ),
    Patch(
        "max-ts-stays",
        at=STATISTICS + "commit",
        old="max(tracked.max_ts, ts)",
        new="tracked.max_ts",
        killer="proxy.least_and_greatest_are_exact",
        on=TWO,
        walked=DRIVEN,
        source="facts 3.1",
        says="A commit forgets to raise the greatest timestamp.",
    ),
    # The ticker.
    Patch(
        "gate-is-open",
        at=TICKER + "_publish",
        old="gate is None or span.min_ts > gate",
        new="True",
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
        walked=DRIVEN,
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
        on=CHANNELS,
        source="seed 004, 6.6.1",
        says="A task is over though one of its messages was never sent, and no log has refused it.",
    ),
    Patch(
        "scheduler-takes-one-task",
        at=WORKERS + "run",
        old="while True:",
        new="for _ in range(1):",
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
    Patch(
        "lock-is-lost",
        at=QUEUE + "__init__",
        old="self.stats_lock = SteppedLock(preemption)",
        new="""from contextlib import nullcontext

        self.stats_lock = SteppedLock(preemption)
        self.stats_lock.holding = lambda point: nullcontext()""",
        killer="proxy.min_ts_never_goes_back",
        on=TWO.like(protocol=VARIANTS + "EnqueueUnlocked"),
        walked=DRIVEN,
        source="hazard 26, B7; seed 002, Enqueue: event 2 commits before event 1",
        says="Timestamps are taken, and enter the statistics, in any order.",
    ),
    Patch(
        "pop-takes-no-lock",
        at=QUEUE + "pop",
        old='async with self.stats_lock.holding("queue.pop"):',
        new="if True:",
        killer=GHOST,
        on=ONE.like(protocol=VARIANTS + "PopWithoutLock"),
        source="hazard 27",
        says="A fast worker pops before the commit.",
    ),
    Patch(
        "now-after-the-snapshot",
        at=TICKER + "tick",
        old="""self.stage = TickStage.ASKED
            self.now = await self._oracle.alloc(1)
            self.stage = TickStage.STAMPED
            await self._preemption.point("ticker.snapshot")
            self.snapshot = await self._queue.snapshot()
            self.stage = TickStage.TAKEN""",
        new="""self.snapshot = await self._queue.snapshot()
            self.stage = TickStage.TAKEN
            await self._preemption.point("ticker.now")
            self.stage = TickStage.ASKED
            self.now = await self._oracle.alloc(1)
            self.stage = TickStage.STAMPED""",
        killer=BELOW,
        on=ONE.like(protocol=VARIANTS + "SnapshotFirst"),
        source="hazard 24",
        says="The tick takes the snapshot, then fetches its timestamp.",
    ),
    Patch(
        "no-minus-one",
        at=TICKER + "_publish",
        old="span.min_ts - 1",
        new="span.min_ts",
        killer=BELOW,
        on=ONE.like(protocol=VARIANTS + "NoMinusOne"),
        walked=DRIVEN,
        source="hazard 25, B6",
        says="The tick publishes minTs itself.",
    ),
    Patch(
        "unknown-outcome-is-popped",
        at=WORKERS + "execute",
        old="in task.unknown()",
        new="in ()",
        killer=BELOW,
        on=Host("proxy-impl-late-append", proxy).like(protocol=VARIANTS + "OutcomeUnknown"),
        walked=DRIVEN,
        source="hazard 12",
        says="A produce that timed out is over, and its timestamp is popped.",
    ),
    Patch(
        "allocated-before-the-lock",
        at=QUEUE + "enqueue",
        old="""async with self.stats_lock.holding("queue.enqueue"):
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
        async with self.stats_lock.holding("queue.enqueue"):
""",
        killer="proxy.reported_is_given_to_nobody_else",
        on=ONE.like(protocol=VARIANTS + "EnqueueUnlocked"),
        source="hazard 26",
        says="The queue fetches the timestamp first, and takes the lock afterwards.",
    ),
)

"""Killed only beside a variant of the specification: the functions below are these mutants."""

WORKER_SLIPS = patches(
    __name__,
    Patch(
        "a-write-ends-with-its-first-refusal",
        at="proxy/scheduler.py:TaskScheduler.execute",
        old="await asyncio.gather(*produces)",
        new="""for produce in produces:
            await produce
            if AppendOutcome.REFUSED in task.outcomes.values():
                break""",
        source="facts 3.1",
        says="A client is answered when one log has refused, while others may still take the rows.",
    ),
)

GATEWAY = patches(
    __name__,
    Patch(
        "reads-wait-for-changes",
        at="proxy/gateway.py:Gateway._call",
        old="submit(task, kind)",
        new="submit(task, QueueKind.DDL)",
        source="seed 004, 6.6.1: three queues",
        says="Reads are tasks of the queue of changes.",
    ),
    Patch(
        "a-description-does-not-wait",
        at="proxy/gateway.py:Gateway.describe",
        old="self._in_turn(lambda proxy: _present(proxy, collection))",
        new="_present(await self._host.serving(), collection)",
        source="seed 004, 6.0",
        says="A description is answered while the creation that was asked for before is under way.",
    ),
    Patch(
        "keys-run-on-behind-a-batch",
        at="proxy/gateway.py:Gateway.insert_values",
        old="range(first, last + 1) for first, last in await ids.take(len(values))",
        new="range(first, first + len(values)) for first, _ in (await ids.take(len(values)))[:1]",
        source="seed 004, 6.0",
        says="Rows get the ids that follow the first one, whoever has those.",
    ),
    Patch(
        "pages-are-cut-by-keys-as-text",
        at="proxy/pages.py:Page.cut",
        old="sorted(dict(rest))",
        new="sorted(dict(rest), key=str)",
        source="facts 6.2",
        says="A page has the first keys in the order of texts: 10 comes before 2.",
    ),
    Patch(
        "a-page-ends-within-a-key",
        at="proxy/pages.py:Page.cut",
        old="in keys)",
        new="in keys)[: self.limit]",
        source="facts 6.2: iterators",
        says="The limit of a page counts rows: the other rows of its last key are on no page.",
    ),
    Patch(
        "a-page-after-zero-is-the-first",
        at="proxy/pages.py:Page.cut",
        old="self.after is None",
        new="not self.after",
        source="facts 6.2",
        says="The key 0 counts as none.",
    ),
    Patch(
        "a-key-goes-elsewhere-with-another-release",
        at="proxy/writes.py:shard_of",
        old="(_murmur3(key) & 0x7FFF_FFFF)",
        new="key",
        source="seed 004, 6.3",
        says="The shard is the key modulo the number of shards: deletes miss the rows that lie elsewhere.",
    ),
    Patch(
        "a-task-is-not-looked-at-again",
        at="proxy/writes.py:WriteTask.prepare",
        old="if self.known is None or self.metadata is None:",
        new="if True:",
        source="hazard 37",
        says="A collection that has changed before the timestamp is written by its old schema.",
    ),
    Patch(
        "a-message-is-made-whenever-it-is-sent",
        at="proxy/writes.py:WriteTask.message",
        old="if channel not in self.made:",
        new="if True:",
        source="hazard 12",
        says="A message that is settled has another segment than the one that was sent.",
    ),
)
