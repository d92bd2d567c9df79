"""The last node of a channel's pipeline: after each pack it decides whether to report the checkpoint."""

from tidemark.impl.datanode.buffer_manager import BufferManager
from tidemark.impl.datanode.checkpoint_updater import CheckpointTask, CheckpointUpdater
from tidemark.impl.ports import Preemption
from tidemark.impl.timestamp import Interval, Timestamp
from tidemark.impl.types import ChannelName, Owner, Pack


class TimeTickNode:
    """Submits checkpoints of one channel to the updater.

    Milvus: ttNode, updateChannelCP, dropMode, lastUpdateTime

    last_update: message time of the last submission; None before the first. The updater owns the retries, so
    the time is set at submission.
    drop_mode: the channel is being dropped; its checkpoint is not reported any more.
    """

    def __init__(
        self,
        *,
        channel: ChannelName,
        owner: Owner,
        buffers: BufferManager,
        updater: CheckpointUpdater,
        preemption: Preemption,
        checkpoint_interval_ts: Interval,
    ) -> None:
        self.channel = channel
        self.owner = owner
        self.last_update: Timestamp | None = None
        self.drop_mode = False
        self._buffers = buffers
        self._updater = updater
        self._preemption = preemption
        self._checkpoint_interval_ts = checkpoint_interval_ts

    async def operate(self, pack: Pack) -> None:
        """Read the checkpoint after a pack; the order of the tests is that of the original.

        When the interval has passed, the report is not marked urgent even if a flush waits for it: the mark
        comes with the next tick.
        """
        if pack.drop:
            self.drop_mode = True
        if self.drop_mode:
            return
        await self._preemption.point("tt.read_checkpoint")
        checkpoint, need_update = await self._buffers.get_checkpoint(self.channel)
        now = pack.end.ts  # in message time: when ticks stop, intervals do not pass
        passed = self.last_update is None or now - self.last_update >= self._checkpoint_interval_ts
        if not (pack.close or passed or need_update):
            return
        task = CheckpointTask(
            channel=self.channel,
            owner=self.owner,
            position=checkpoint,
            flush=not (pack.close or passed),
            callback=self._buffers.notify_checkpoint_updated,
        )
        self.last_update = now
        self._updater.add_task(task)
