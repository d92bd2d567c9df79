"""Runs sync tasks: in order within a segment, in parallel across segments, each until it has succeeded, or
until its save has failed as often as the node tries.

A task's place in its segment's queue is taken when it is submitted, not when it starts. A later task of the
same segment thus never records its position before an earlier one has recorded its rows.
"""

from collections import deque
from collections.abc import Hashable
from functools import partial

from tidemark.impl.config import DataNodeConfig
from tidemark.impl.datanode.sync_task import SyncStage, SyncTask
from tidemark.impl.errors import RpcError, SaveFailedError, StoreError
from tidemark.impl.ports import Clock, CoordinatorClient, ObjectStore, Preemption
from tidemark.impl.runtime import Spawn
from tidemark.impl.types import SaveOutcome


class SyncManager:
    """Executes sync tasks. ``queues`` holds unfinished tasks; the first of each queue is running."""

    def __init__(
        self,
        *,
        store: ObjectStore,
        coordinator: CoordinatorClient,
        clock: Clock,
        preemption: Preemption,
        spawn: Spawn,
        config: DataNodeConfig,
    ) -> None:
        self.queues: dict[Hashable, deque[SyncTask]] = {}
        self._store = store
        self._coordinator = coordinator
        self._clock = clock
        self._preemption = preemption
        self._spawn = spawn
        self._config = config

    def submit(self, task: SyncTask) -> None:
        """Queue the task behind the earlier ones of its segment. Never waits."""
        key = (task.channel, task.segment_id)
        queue = self.queues.setdefault(key, deque())
        queue.append(task)
        if len(queue) == 1:
            self._spawn(partial(self._drain, key), f"sync {task.channel} segment {task.segment_id}")

    async def _drain(self, key: Hashable) -> None:
        queue = self.queues[key]
        while queue:
            await self._run(queue[0])
            queue.popleft()
        del self.queues[key]

    async def _run(self, task: SyncTask) -> None:
        """Upload, record, call back. Failures are retried until the node ends; too many saves end it."""
        if task.rows:
            await self._upload(task)
        else:
            await self._preemption.point("sync.upload")
        task.stage = SyncStage.UPLOADED
        await self._preemption.point("sync.send_save")
        failed = 0
        while not await self._save(task):
            failed += 1
            if failed == self._config.save_tries:
                raise SaveFailedError(
                    f"{task.path}: its save has failed {failed} times; the rows are in the log, recover"
                    f" {task.channel} with another incarnation"
                )
            await self._back_off(task)
        task.stage = SyncStage.FINISHED
        task.sink.on_synced(task)
        task.finished.set()

    async def _upload(self, task: SyncTask) -> None:
        while not await self._upload_once(task):
            await self._back_off(task)

    async def _upload_once(self, task: SyncTask) -> bool:
        """Write the binlog. False when it may be missing."""
        try:
            await self._store.put(task.path, task.rows)
        except StoreError:
            return False
        return True

    async def _save(self, task: SyncTask) -> bool:
        """Ask the coordinator to record the upload once. False when the call must be repeated."""
        task.stage = SyncStage.SENDING
        try:
            outcome = await self._coordinator.save_binlog_paths(
                task.save_request(), deadline=self._config.save_rpc_timeout
            )
        except RpcError:
            task.stage = SyncStage.UPLOADED
            return False
        # A refusal is no success: the channel may come back to this node.
        if outcome not in (SaveOutcome.RECORDED, SaveOutcome.ALREADY_RECORDED):
            task.stage = SyncStage.UPLOADED
            return False
        return True

    async def _back_off(self, task: SyncTask) -> None:
        """Pause before the next attempt, twice as long each time up to the limit."""
        longest = self._config.retry_max_seconds
        pause = self._config.retry_initial_seconds * 2 ** min(task.attempts, 16)
        task.attempts += 1
        await self._clock.sleep(min(pause, longest))
