"""Reports channel checkpoints to the coordinator: merged by channel, batched, retried until acknowledged.

Two loops feed one runner. The timer sends every pending task; the signal sends those marked by a flush. The
lock ``_round`` makes their rounds exclude each other, like the single goroutine of the original: so no round
deletes a task that another one is sending.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from tidemark.impl.config import DataNodeConfig
from tidemark.impl.errors import RpcError
from tidemark.impl.logs import DEBUG, WARNING, log_of
from tidemark.impl.ports import Clock, CoordinatorClient, Preemption
from tidemark.impl.types import (
    CallStage,
    ChannelName,
    ChannelPosition,
    CheckpointCall,
    Owner,
    Position,
    UpdateCheckpoints,
)

_log = log_of(__package__)

Callback = Callable[[CheckpointCall], Awaitable[None]]


@dataclass(frozen=True)
class CheckpointTask:
    """A checkpoint that waits to be reported. ``flush``: a flush waits for it, so the timer is too slow.

    Milvus: channelCPUpdateTask
    """

    channel: ChannelName
    owner: Owner
    position: Position
    flush: bool
    callback: Callback


class CheckpointUpdater:
    """Pending checkpoints by channel and the calls in progress.

    Milvus: ChannelCheckpointUpdater, AddTask, updateCheckpoints, notifyChan

    tasks: pending reports; a task stays until its position or a greater one was acknowledged.
    signal: filled when a flush asks for a prompt report. It holds one signal: filling it twice is the same.
    in_flight: calls between their sending and the clean-up.
    apart: channels whose last request failed. Each has a request of its own until one succeeds, so that a
        checkpoint that cannot be stored holds up no other channel.
    """

    def __init__(
        self, *, coordinator: CoordinatorClient, clock: Clock, preemption: Preemption, config: DataNodeConfig
    ) -> None:
        self.tasks: dict[ChannelName, CheckpointTask] = {}
        self.in_flight: dict[ChannelName, CheckpointCall] = {}
        self.apart: dict[ChannelName, None] = {}
        self.signal = asyncio.Event()
        self._round = asyncio.Lock()
        self._coordinator = coordinator
        self._clock = clock
        self._preemption = preemption
        self._config = config

    def add_task(self, task: CheckpointTask) -> None:
        """Queue a checkpoint, merged with the pending one of its channel."""
        pending = self.tasks.get(task.channel, task)
        position = max(task.position, pending.position, key=lambda position: position.ts)
        self.tasks[task.channel] = replace(task, position=position, flush=task.flush or pending.flush)
        if task.flush:
            self.signal.set()

    def forget(self, channel: ChannelName) -> None:
        """The channel was dropped: its pending checkpoint must not be reported any more."""
        self.tasks.pop(channel, None)

    async def run_timer(self) -> None:
        """Send all pending tasks, each ``checkpoint_tick_seconds``. Ends by cancellation."""
        while True:
            await self._clock.sleep(self._config.checkpoint_tick_seconds)
            await self._run_round(lambda: list(self.tasks.values()))

    async def run_signal(self) -> None:
        """Send the tasks of flushes, at each signal. Ends by cancellation."""
        while True:
            await self.signal.wait()
            await self._preemption.point("updater.select")
            await self._run_round(self._take_flagged)

    async def _run_round(self, take: Callable[[], list[CheckpointTask]]) -> None:
        """Take tasks and report them, alone. A round that had to wait begins in a step of its own."""
        waits = self._round.locked()
        async with self._round:
            if waits:
                await self._preemption.point("updater.next_round")
            await self._update(take())

    def _take_flagged(self) -> list[CheckpointTask]:
        """Answer the signal: the urgent tasks lose their mark. If the call fails, the timer repeats it."""
        self.signal.clear()
        taken = []
        for channel, task in list(self.tasks.items()):
            if task.flush:
                self.tasks[channel] = replace(task, flush=False)
                taken.append(self.tasks[channel])
        return taken

    async def _update(self, tasks: Sequence[CheckpointTask]) -> None:
        """Report the tasks in batches, a limited number of batches at a time; then clean up."""
        parallel, size = self._config.max_parallel_rpcs, self._config.max_positions_per_rpc
        whole = [task for task in tasks if task.channel not in self.apart]
        batches = [whole[at : at + size] for at in range(0, len(whole), size)]
        batches += [[task] for task in tasks if task.channel in self.apart]
        finished: list[CheckpointCall] = []
        for at in range(0, len(batches), parallel):
            finished += await self._send_parallel(batches[at : at + parallel])
        if finished:
            await self._preemption.point("updater.clean_up")
        for call in finished:
            self._clean_up(call)

    async def _send_parallel(self, batches: Sequence[Sequence[CheckpointTask]]) -> list[CheckpointCall]:
        """Send the batches at the same time. A single one is sent at once, without a task of its own."""
        if len(batches) == 1:
            return await self._send(batches[0])
        sent = await asyncio.gather(*(self._send(batch) for batch in batches))
        return [call for calls in sent for call in calls]

    async def _send(self, batch: Sequence[CheckpointTask]) -> list[CheckpointCall]:
        """One call. Returns the acknowledged tasks; none after a failure, and the tasks stay."""
        calls = [CheckpointCall(task.channel, task.position, task.owner) for task in batch]
        for call in calls:
            self.in_flight[call.channel] = call
        try:
            await self._coordinator.update_channel_checkpoints(
                UpdateCheckpoints(
                    tuple(ChannelPosition(call.channel, call.position, call.owner) for call in calls)
                ),
                deadline=self._config.checkpoint_rpc_timeout,
            )
        except RpcError as failure:
            _log("update channel checkpoint failed", WARNING, error=failure)
            for call in calls:
                self.apart[self.in_flight.pop(call.channel).channel] = None
            return []
        for call in calls:
            self.apart.pop(call.channel, None)
            call.stage = CallStage.ACKED
        for task, call in zip(batch, calls, strict=True):
            await task.callback(call)
            _log("UpdateChannelCheckpoint success", DEBUG, channel=call.channel, cpTs=call.position.ts)
        return calls

    def _clean_up(self, call: CheckpointCall) -> None:
        """Drop the pending task unless it has moved beyond the acknowledged position."""
        pending = self.tasks.get(call.channel)
        if pending is not None and pending.position.ts <= call.position.ts:
            del self.tasks[call.channel]
        del self.in_flight[call.channel]
