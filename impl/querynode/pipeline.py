"""The pipeline of one channel at a query node: filter, insert, delete, service time, pack after pack."""

from tidemark.impl.logs import DEBUG, log_of
from tidemark.impl.ports import Preemption
from tidemark.impl.querynode.delegator import ShardDelegator
from tidemark.impl.stream.packs import PackSource, StreamPack
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.values.messages import DeleteMessage, InsertMessage, collection_of

_log = log_of(__package__)

Work = InsertMessage | DeleteMessage


class ShardPipeline:
    """Applies the packs of a stream to one delegator: all rows of a pack, then its deletes (facts 6.1).

    Milvus: deleteNode, NewPipeLine

    A message that is left out takes its turn as well: a loaded segment holds its rows.

    Attributes:
        pack: the end of the pack that it works on, or of the last one.
        waiting: the unprocessed messages of the pack, in order.
    """

    def __init__(self, *, consumer: PackSource, delegator: ShardDelegator, preemption: Preemption) -> None:
        self.pack: Timestamp = delegator.service_time.value
        self.waiting: list[Work] = []
        self.consumer = consumer
        self._delegator = delegator
        self._preemption = preemption

    async def run(self) -> None:
        """Apply packs. Ends by cancellation."""
        while True:
            await self.process((await self.consumer.next_pack()).of(self._delegator.channel))

    async def process(self, pack: StreamPack) -> None:
        """Apply one pack, then raise the service time."""
        self.pack, self.waiting = pack.end, [*pack.inserts, *pack.deletes]
        needed = tuple(self._delegator.needs(message) for message in self.waiting)
        for is_needed in needed:
            await self._apply(is_needed=is_needed)
        await self._preemption.point("pipeline.tsafe")
        self._delegator.finish_pack(pack.end)
        _log("start to process delete", DEBUG, channel=self._delegator.channel, ts=pack.end)

    def publish(self) -> None:
        """Raise the service time to the end of an applied pack, once the listed segments are loaded."""
        if not self.waiting:
            self._delegator.finish_pack(self.pack)

    async def _apply(self, *, is_needed: bool) -> None:
        """Apply the next message, unless the filter left it out."""
        message = self.waiting[0]
        if isinstance(message, InsertMessage):
            await self._preemption.point("pipeline.insert")
            if is_needed:
                self._delegator.insert(message.rows)
                _log(
                    "pipeline fetch insert msg",
                    collectionID=collection_of(message.channel),
                    segmentID=message.rows[0].segment_id,
                    insertRowNum=len(message.rows),
                    timestampMin=message.rows[0].ts,
                    timestampMax=message.rows[-1].ts,
                )
        else:
            await self._preemption.point("pipeline.delete")
            self._delegator.delete(message)
        del self.waiting[0]
