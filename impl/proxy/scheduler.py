"""Runs tasks: takes them in order, executes several at a time, answers clients, pops.

A timestamp may leave the statistics only when no message with it can be appended any more. An append whose
answer is late is therefore settled before its task is popped; the client does not wait for that.
"""

import asyncio
from functools import partial

from tidemark.impl.errors import RpcError, RpcTimeoutError
from tidemark.impl.ports import Preemption
from tidemark.impl.proxy.ports import MessageStream
from tidemark.impl.proxy.task_queue import DmlTaskQueue
from tidemark.impl.proxy.values import AppendOutcome, DmlTask, TaskPhase
from tidemark.impl.runtime import Spawn
from tidemark.impl.types import ChannelName


class TaskScheduler:
    """Executes the tasks of one queue, at most ``parallel`` at a time.

    Milvus: taskScheduler, PostExecute

    free_slots: how many more may be taken now.
    """

    def __init__(
        self,
        *,
        queue: DmlTaskQueue,
        streams: MessageStream,
        preemption: Preemption,
        spawn: Spawn,
        parallel: int,
        produce_timeout: float,
    ) -> None:
        self.queue = queue
        self._streams = streams
        self._preemption = preemption
        self._spawn = spawn
        self.free_slots = parallel
        self._freed = asyncio.Event()
        self._produce_timeout = produce_timeout

    async def run(self) -> None:
        """Take tasks and start workers. Ends by cancellation."""
        while True:
            while not self.free_slots:
                self._freed.clear()
                await self._freed.wait()
            self.free_slots -= 1
            task = await self.queue.next_task()
            self._spawn(partial(self._work, task), f"task {task.number}")

    async def _work(self, task: DmlTask) -> None:
        try:
            await self.execute(task)
        finally:
            self.free_slots += 1
            self._freed.set()

    async def execute(self, task: DmlTask) -> None:
        """Append the task's messages, answer the client, settle unknown outcomes, pop."""
        if task.error is None:
            await task.prepare()
        produces = [
            asyncio.create_task(self._produce(task, channel), name=f"produce {task.number} {channel}")
            for channel in task.channels
            if channel not in task.outcomes  # a task that was dropped has its outcomes
        ]
        await asyncio.gather(*produces)
        await self._preemption.point("task.finish")
        task.phase = TaskPhase.FINISHED
        task.answered.set()
        for channel in task.unknown():
            task.outcomes[channel] = await self._streams.settle(task.message(channel))
        await self._preemption.point("task.pop")
        await self.queue.pop(task)

    async def _produce(self, task: DmlTask, channel: ChannelName) -> None:
        task.outcomes[channel] = AppendOutcome.UNDER_WAY
        try:
            await self._streams.append(task.message(channel), deadline=self._produce_timeout)
        except RpcTimeoutError:
            task.outcomes[channel] = AppendOutcome.UNKNOWN
        except RpcError:
            task.outcomes[channel] = AppendOutcome.REFUSED
        else:
            task.outcomes[channel] = AppendOutcome.APPENDED
