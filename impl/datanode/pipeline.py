"""The pipeline of one virtual channel: filter, buffer, sync, time tick, one pack after the other."""

from tidemark.impl.datanode.recovery import RecoveryFilter
from tidemark.impl.datanode.time_tick_node import TimeTickNode
from tidemark.impl.datanode.write_buffer import WriteBuffer
from tidemark.impl.logs import log_of
from tidemark.impl.ports import WriteAheadLog
from tidemark.impl.types import ChannelName, Pack

_log = log_of(__package__)


class ChannelPipeline:
    """Consumes a channel until a close or a drop message. ``ended`` says which one came.

    Milvus: FlowGraph, ddNode, MsgHandler, HandleManualFlush
    """

    def __init__(
        self,
        *,
        channel: ChannelName,
        log: WriteAheadLog,
        recovery_filter: RecoveryFilter,
        write_buffer: WriteBuffer,
        time_tick_node: TimeTickNode,
    ) -> None:
        self.channel = channel
        self.recovery_filter = recovery_filter
        self.write_buffer = write_buffer
        self.time_tick_node = time_tick_node
        self.ended: str | None = None
        self._log = log

    async def run(self) -> None:
        """Consume packs until the channel ends here."""
        while self.ended is None:
            pack = await self._log.next_pack(self.channel, self.write_buffer.consumed)
            await self.process(pack)

    async def process(self, pack: Pack) -> None:
        """Pass one pack through all nodes. Buffered rows stay unsynced when the channel is closed."""
        self.write_buffer.consume(self.recovery_filter.apply(pack))
        if pack.flush:
            self.write_buffer.flush_up_to(pack.end.ts)
            _log("receive manual flush message", channel=self.channel, flushTs=pack.end.ts)
        if pack.drop:
            await self._drop()
        elif not pack.close:
            await self.write_buffer.apply_policies()
        await self.time_tick_node.operate(pack)
        if pack.drop or pack.close:
            self.ended = "drop" if pack.drop else "close"

    async def _drop(self) -> None:
        """Sync the buffers as the last of each segment, and wait for these and earlier syncs."""
        self.time_tick_node.drop_mode = True
        self.write_buffer.drop_all()
        for task in list(self.write_buffer.tasks.values()):
            await task.finished.wait()
