"""Mutants of a proxy's queues.

The first two functions compare their fault with the variant of the specification that makes the same mistake,
so that what is refuted is a property and not only the likeness.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tidemark.impl.ports import Preemption
from tidemark.impl.stepped_lock import SteppedLock
from tidemark.models.mutation.patches import Edit, Host, Patch, patches
from tidemark.models.protocols.scheduler.program import scheduler

_VARIANTS = "tidemark.spec.scheduler.variants.other_rules"
QUEUES = "proxy/queues.py:ProxyQueues."
QUEUE = "proxy/task_queue.py:DmlTaskQueue."
WORKERS = "proxy/scheduler.py:TaskScheduler."

LEAVES = Host("scheduler-impl-leaves", scheduler)
CLOSE = Host("scheduler-impl-close", scheduler)
LATE = Host("scheduler-impl-late-call", scheduler)
READS = Host("scheduler-impl-reads", scheduler)
CRASH = Host("scheduler-impl-crash", scheduler)

NOTIFY = "seed 004, 6.6.1: Notify"
ACTIVE = "scheduler.the_active_tasks_are_known"

MUTANTS = patches(
    __name__,
    Patch(
        "a-pop-notifies-again",
        at=QUEUE + "pop",
        old="self._progress.set()",
        new="self._progress.set()\n            task.answered.set()",
        killer="scheduler.notified_once",
        on=LEAVES,
        source=NOTIFY,
        says="The caller is notified when the task ends, and when it leaves.",
    ),
    Patch(
        "taken-tasks-are-not-active",
        at=QUEUE + "next_task",
        old="self.active[task.place] = task",
        new="pass",
        also=(Edit(QUEUE + "pop", "del self.active[task.place]", "pass"),),
        killer=ACTIVE,
        on=LEAVES,
        source="seed 004, 6.6.1",
        says="A task that a worker has taken is in no list.",
    ),
    Patch(
        "a-task-without-caller-stays-active",
        at=QUEUE + "pop",
        old="del self.active[task.place]",
        new="if not task.left:\n                del self.active[task.place]",
        killer=ACTIVE,
        on=LEAVES,
        walked=Host("scheduler-driven", scheduler),
        source="seed 004, 6.6.1",
        says="A task whose caller has left stays in the map of active tasks.",
    ),
    Patch(
        "the-last-is-taken-first",
        at=QUEUE + "next_task",
        old="popleft()",
        new="pop()",
        on=LATE,
        source="seed 004, 6.0: sequentially",
        says="A worker takes the task that has entered last.",
    ),
    Patch(
        "a-close-forgets-what-is-queued",
        at=QUEUES + "close",
        old="self._refuse_all()",
        new="""self._refuse_all()
        for queue in self.queues.values():
            queue.unissued.clear()""",
        on=CLOSE,
        source="seed 004, 6.6.1",
        says="The queued tasks are thrown away, and their callers wait.",
    ),
    Patch(
        "the-caller-enters-by-itself",
        at=QUEUES + "submit",
        old='self._spawn(partial(self._enter, kind, task), f"enter {task.number}")',
        new="""asyncio.current_task().set_name(f"enter {task.number}")
        await self._enter(kind, task)""",
        on=LEAVES,
        source="seed 004, 6.6.1: OnEnqueue",
        says="A caller that is cancelled in the middle of the entry leaves it half done.",
    ),
    Patch(
        "what-is-dropped-is-not-told",
        at=WORKERS + "execute",
        old="if task.error is None:",
        new="""if task.error is not None:
            task.phase = TaskPhase.FINISHED
            await self._preemption.point("task.pop")
            await self.queue.pop(task)
            return
        if True:""",
        killer="scheduler.notified_once",
        on=CLOSE,
        source=NOTIFY,
        says="The caller of a task that a closing proxy does not begin is not told.",
    ),
    Patch(
        "the-end-of-the-proxy-is-not-told",
        at=QUEUES + "cut",
        old="in list(self.pending.values()):",
        new="in ():",
        killer="scheduler.nobody_waits_for_a_closed_proxy",
        on=CRASH,
        source="seed 004, 6.6.1: WaitToFinish",
        says="Whoever waits for a proxy that ends without a close waits for ever.",
    ),
    Patch(
        "the-end-of-the-proxy-is-told-twice",
        at=QUEUES + "cut",
        old="task.answered.set()",
        new="""task.answered.set()
                task.answered.set()""",
        on=CRASH,
        source=NOTIFY,
        says="Whoever waits when the proxy ends is told so, and told again.",
    ),
    Patch(
        "ddls-run-side-by-side",
        at=QUEUES + "__init__",
        old="1 if kind is QueueKind.DDL else parallel",
        new="parallel",
        killer="scheduler.one_ddl_is_under_way",
        on=LATE.like(protocol=f"{_VARIANTS}:SideBySide"),
        source="facts 3.1",
        says="The ddl queue has as many workers as the others.",
    ),
    Patch(
        "the-next-does-not-wait-for-what-was-given-up",
        at=WORKERS + "execute",
        old="in task.unknown()",
        new="in ()",
        killer="scheduler.one_ddl_is_under_way",
        on=LATE.like(protocol=f"{_VARIANTS}:NotSettled"),
        source="hazard 12",
        says="A call that has timed out is over.",
    ),
    Patch(
        "reads-ask-as-writes-do",
        at=QUEUES + "__init__",
        old="QueryTaskQueue if kind is QueueKind.QUERY else DmlTaskQueue",
        new="DmlTaskQueue",
        killer="scheduler.no_read_waits_to_enter",
        on=READS,
        source="seed 002, Enqueue: CanSkipAllocTimestamp",
        says="A read takes a timestamp under the lock of its queue, and waits for the oracle.",
    ),
    Patch(
        "the-lock-is-unfair",
        at=QUEUE + "__init__",
        old="self.stats_lock = SteppedLock(preemption)",
        new=f"""from {__name__} import UnfairLock

        self.stats_lock = UnfairLock(preemption)""",
        killer="scheduler.a_caller_hears",
        on=Host("scheduler-endless", scheduler),
        source="seed 004, 6.6.1: WaitToFinish",
        tier="full",
        says="A task that is over never gets the lock: others take it again and again. The next one waits.",
    ),
)


class UnfairLock(SteppedLock):
    """Of those who wait for the lock, the last one has it next."""

    def __init__(self, preemption: Preemption) -> None:
        super().__init__(preemption)
        self._points = preemption
        self._waiting: list[asyncio.Event] = []

    @asynccontextmanager
    async def holding(self, point: str) -> AsyncIterator[None]:
        task = asyncio.current_task()
        self.users.append("" if task is None else task.get_name())
        if len(self.users) > 1:
            turn = asyncio.Event()
            self._waiting.append(turn)
            await turn.wait()
            self.users.insert(0, self.users.pop())
            await self._points.point(point)
        try:
            yield
        finally:
            del self.users[0]
            if self._waiting:
                self._waiting.pop().set()
