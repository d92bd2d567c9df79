"""The write buffers of a node by channel, and the calls for them: flush, checkpoint, acknowledgement."""

from tidemark.impl.datanode.policies import MemoryPressure
from tidemark.impl.datanode.sync_task import SyncTask
from tidemark.impl.datanode.write_buffer import WriteBuffer
from tidemark.impl.errors import UnknownChannelError
from tidemark.impl.logs import log_of
from tidemark.impl.ports import Preemption
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import NO_FLUSH, CallStage, ChannelName, CheckpointCall, Position, SegmentId

_log = log_of(__package__)


class BufferManager:
    """Write buffers by channel.

    Milvus: needUpdate, BufferManager, NotifyCheckpointUpdated, FlushChannel, flushTs, nonFlushTS,
    MemoryForceSyncWatermark

    reading: checkpoints that were read and whose reader has not yet seen the flush timestamp.
    """

    def __init__(self, *, preemption: Preemption, memory_watermark_bytes: int) -> None:
        self.buffers: dict[ChannelName, WriteBuffer] = {}
        self.reading: dict[ChannelName, Position] = {}
        self._preemption = preemption
        self._memory_watermark_bytes = memory_watermark_bytes

    def register(self, buffer: WriteBuffer) -> None:
        """Serve the buffer's channel. A channel is served by one buffer at a time."""
        if buffer.channel in self.buffers:
            raise ValueError(f"channel {buffer.channel!r} has a write buffer already; close it first")
        self.buffers[buffer.channel] = buffer

    def remove(self, channel: ChannelName) -> None:
        """Stop serving the channel."""
        self.buffers.pop(channel, None)
        self.reading.pop(channel, None)

    def get(self, channel: ChannelName) -> WriteBuffer:
        """The channel's buffer. Raises UnknownChannelError."""
        buffer = self.buffers.get(channel)
        if buffer is None:
            served = ", ".join(sorted(self.buffers)) or "none"
            raise UnknownChannelError(f"channel {channel!r} has no write buffer here; served: {served}")
        return buffer

    def flush_channel(self, channel: ChannelName, flush_ts: Timestamp) -> None:
        """Ask that every row up to ``flush_ts`` becomes durable soon. Requests may arrive out of order."""
        self.get(channel).flush_up_to(flush_ts)

    def seal_segment(self, channel: ChannelName, segment_id: SegmentId, *, expires: Timestamp) -> bool:
        """Let the segment be flushed. No row after ``expires`` is ever allocated to it.

        False when the channel has not been consumed up to ``expires``: ask again later.
        """
        buffer = self.get(channel)
        if buffer.consumed.ts < expires:
            return False
        buffer.metacache.seal(segment_id)
        return True

    async def get_checkpoint(self, channel: ChannelName) -> tuple[Position, bool]:
        """The channel's checkpoint, and whether a pending flush waits for it to be reported.

        The two reads have no common lock: a flush may arrive in between.
        """
        buffer = self.get(channel)
        checkpoint = buffer.get_checkpoint()
        self.reading[channel] = checkpoint
        await self._preemption.point("tt.read_flush_ts")
        self.reading.pop(channel, None)
        # A checkpoint equal to the flush timestamp covers it already.
        return checkpoint, buffer.flush_ts != NO_FLUSH and checkpoint.ts >= buffer.flush_ts

    async def notify_checkpoint_updated(self, call: CheckpointCall) -> None:
        """The coordinator has answered a checkpoint call: clear a flush timestamp strictly below it."""
        buffer = self.buffers.get(call.channel)
        if buffer is None:
            return
        await self._preemption.point("notify.read_flush_ts")
        call.saw_flush_ts = buffer.flush_ts
        call.stage = CallStage.READ
        await self._preemption.point("notify.clear")
        # Unless another request has replaced it since.
        if call.position.ts > call.saw_flush_ts and buffer.flush_ts == call.saw_flush_ts:
            buffer.flush_ts = NO_FLUSH
            _log("reset channel flushTs", channel=call.channel)
        call.stage = CallStage.CLEARED

    def check_memory(self) -> SyncTask | None:
        """Above the watermark, sync the oldest buffer of the channel that holds most."""
        held = {channel: buffer.memory_bytes() for channel, buffer in self.buffers.items()}
        if sum(held.values()) <= self._memory_watermark_bytes:
            return None
        buffer = self.buffers[max(sorted(held), key=lambda channel: held[channel])]
        segment_id = buffer.oldest_buffered_segment()
        if segment_id is None:
            return None
        return buffer.sync_if_picked(segment_id, MemoryPressure())
