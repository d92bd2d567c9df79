"""The three queues of a proxy: changes of metadata one at a time, writes and reads side by side.

The work of a task belongs to the proxy, not to its caller: a cancelled caller leaves, and its task ends like
any other. Each caller is answered once: with the outcome, or with the reason why the task was not begun.
"""

import asyncio
from collections.abc import Mapping
from enum import Enum
from functools import partial

from tidemark.impl.errors import ProxyClosedError, ProxyEndedError
from tidemark.impl.ports import Preemption
from tidemark.impl.proxy.ports import MessageStream
from tidemark.impl.proxy.scheduler import TaskScheduler
from tidemark.impl.proxy.task_queue import DmlTaskQueue, QueryTaskQueue
from tidemark.impl.proxy.values import AppendOutcome, CallMessage, DmlTask, Message
from tidemark.impl.runtime import Spawn
from tidemark.impl.values.oracle import Oracle


class QueueKind(Enum):
    """The requests of a queue.

    Milvus: ddQueue, dqQueue
    """

    DDL = "ddl"
    DML = "dml"
    QUERY = "query"


class QueuesMode(Enum):
    """What a proxy does with requests."""

    OPEN = "open"
    CLOSING = "closing"
    CLOSED = "closed"
    ENDED = "ended"
    """Without a close: its callers got the answer that the outcome is unknown."""


class CalledComponents:
    """Carries out the calls of other components, in this process. See ``MessageStream``."""

    async def append(self, message: Message, *, deadline: float) -> None:
        """Call, and wait for the end of the call: each component has a deadline of its own."""
        del deadline
        assert isinstance(message, CallMessage)
        await message.task.carry_out()

    async def settle(self, message: Message) -> AppendOutcome:
        """A call that has returned has ended: the root coordinator returns from a change when it has
        completed it, and raises only if it has changed nothing.
        """
        del message
        return AppendOutcome.REFUSED


class ProxyQueues:
    """Queues with their workers.

    Milvus: dmTaskQueue, utEmpty

    mode: closed is a proxy whose tasks are all over.
    pending: tasks whose callers have not been answered, by number.
    """

    def __init__(
        self,
        *,
        oracle: Oracle,
        streams: Mapping[QueueKind, MessageStream],
        preemption: Preemption,
        spawn: Spawn,
        parallel: int,
        capacity: int,
        deadline: float,
    ) -> None:
        """``streams``: where the tasks of a queue are carried out. ``deadline``: of a call, in seconds."""
        self.mode = QueuesMode.OPEN
        self.pending: dict[int, DmlTask] = {}
        self._preemption = preemption
        self._spawn = spawn
        self._submitted = 0
        self._entering = 0
        self._progress = asyncio.Event()
        self.queues = {
            kind: (QueryTaskQueue if kind is QueueKind.QUERY else DmlTaskQueue)(
                oracle=oracle, preemption=preemption, capacity=capacity, progress=self._progress
            )
            for kind in streams
        }
        self.schedulers = {
            kind: TaskScheduler(
                queue=self.queues[kind],
                streams=stream,
                preemption=preemption,
                spawn=spawn,
                parallel=1 if kind is QueueKind.DDL else parallel,
                produce_timeout=deadline,
            )
            for kind, stream in streams.items()
        }

    def start(self) -> None:
        """Start the loops that take tasks."""
        for kind, scheduler in self.schedulers.items():
            self._spawn(scheduler.run, f"scheduler {kind.value}")

    async def submit(self, kind: QueueKind, task: DmlTask) -> None:
        """Execute a task; returns when the caller may be answered.

        Raise QueueFullError, RpcError when the oracle does not answer, ProxyClosedError when it was not begun
        because the proxy closes, ProxyEndedError when the proxy has ended meanwhile, and the errors of the
        oracle. A cancelled caller leaves; a begun task runs to its end.
        """
        if self.mode is QueuesMode.ENDED:
            raise ProxyClosedError("the proxy has ended; nothing was done; ask another one")
        self._submitted += 1
        task.number = self._submitted
        self.pending[task.number] = task
        self._spawn(partial(self._enter, kind, task), f"enter {task.number}")
        try:
            await task.answered.wait()
        except asyncio.CancelledError:
            task.left = True
            raise
        finally:
            self.pending.pop(task.number, None)
        if task.error is not None:
            raise task.error

    async def _enter(self, kind: QueueKind, task: DmlTask) -> None:
        """Queue a task, or answer its caller with the refusal."""
        self._entering += 1
        try:
            await self.queues[kind].enqueue(task)
        except Exception as error:  # noqa: BLE001 - any error is the caller's
            task.error = error
            task.answered.set()
        finally:
            self._entering -= 1
            self._progress.set()

    async def close(self) -> None:
        """Begin no further task, and return when each has ended and each caller is answered.

        Returns, too, when the proxy ends meanwhile: its tasks will never end.
        """
        if self.mode in (QueuesMode.CLOSED, QueuesMode.ENDED):
            return
        self._refuse_all()
        while self.mode is QueuesMode.CLOSING and self._is_busy():
            self._progress.clear()
            await self._progress.wait()
        await self._preemption.point("queues.closed")
        if self.mode is QueuesMode.CLOSING:
            self.mode = QueuesMode.CLOSED

    def _refuse_all(self) -> None:
        self.mode = QueuesMode.CLOSING
        for queue in self.queues.values():
            queue.closing = True

    def _is_busy(self) -> bool:
        waiting = any(queue.unissued or queue.active for queue in self.queues.values())
        return waiting or self._entering > 0

    def cut(self) -> None:
        """The proxy ends without a close: answer the remaining callers. Begun tasks may still take effect."""
        if self.mode is QueuesMode.CLOSED:
            return
        self._refuse_all()
        self.mode = QueuesMode.ENDED
        self._progress.set()
        for task in list(self.pending.values()):
            if not task.answered.is_set():
                task.error = ProxyEndedError("the proxy has ended; the outcome is unknown, look for it")
                task.answered.set()
