"""Which query nodes serve which channels: all of them serve all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from tidemark.impl.broker.messages import is_level_zero
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.errors import ReplicaClosedError
from tidemark.impl.querynode.query_node import QueryNode
from tidemark.impl.querynode.values import ChannelDescription, LoadSegment
from tidemark.impl.stream.packs import StreamPosition
from tidemark.impl.types import ChannelName


def describe(coordinator: Coordinator, channel: ChannelName, *, levels: bool = True) -> ChannelDescription:
    """What a query node has to know of a channel, all at one moment.

    levels: with the level-zero segments; without them the stream begins at the delete checkpoint.
    """
    segments = coordinator.segments_of(channel)
    if levels:
        start = coordinator.channel(channel).checkpoint
    else:
        start = coordinator.delete_checkpoint(channel)
        segments = tuple(record for record in segments if not is_level_zero(record.segment_id))
    return ChannelDescription(channel=channel, seek=StreamPosition(0, start), segments=segments)


class ReplicaSet:
    """The query nodes of a cluster.

    nodes: the living ones, by number. channels: what each of them serves.
    """

    def __init__(self, *, coordinator: Coordinator, make: Callable[[int], QueryNode], count: int) -> None:
        self.nodes: dict[int, QueryNode] = {number: make(number) for number in range(count)}
        self.channels: list[ChannelName] = []
        self._coordinator = coordinator
        self._make = make

    async def load(self, channels: Sequence[ChannelName]) -> None:
        """Let every node serve these channels too."""
        self.channels.extend(channels)
        watches = [self._watch(node, channel) for node in self.nodes.values() for channel in channels]
        await asyncio.gather(*watches)

    async def release(self, channels: Sequence[ChannelName]) -> None:
        """Serve these channels no more: reads of them fail."""
        self.channels = [channel for channel in self.channels if channel not in channels]
        await asyncio.gather(*(node.release(channel) for node in self.nodes.values() for channel in channels))

    async def kill(self, number: int) -> None:
        """End a node in the middle of its work: what it has in memory is gone, and its reads fail."""
        await self.nodes.pop(number).stop()

    async def revive(self, number: int) -> None:
        """Start a node of this number anew: from binlogs, and from the log beyond the checkpoints."""
        node = self._make(number)
        await asyncio.gather(*(self._watch(node, channel) for channel in self.channels))
        self.nodes[number] = node

    async def load_flushed(self) -> None:
        """Let the nodes serve flushed segments from their binlogs, while the stream goes on.

        Deletes up to the checkpoint are stored in level-zero segments, which each later load brings: the
        nodes let go of them.
        """
        for channel in list(self.channels):
            described = describe(self._coordinator, channel)
            stored = [record for record in described.segments if record.binlogs]
            deletes = tuple(record for record in stored if is_level_zero(record.segment_id))
            flushed = [record for record in stored if record.flushed and record not in deletes]
            for node in list(self.nodes.values()):
                with suppress(ReplicaClosedError):
                    for record in flushed:
                        if not node.serves_sealed(channel, record.segment_id):
                            await node.load_segment(channel, LoadSegment(record, deletes, described.seek.ts))
                    node.trim_deletes(channel, described.seek.ts)

    async def stop(self) -> None:
        """End all nodes."""
        for node in self.nodes.values():
            await node.stop()

    def check(self) -> None:
        """Raise the failure of a node, if one has failed."""
        for node in self.nodes.values():
            node.supervisor.check()

    async def _watch(self, node: QueryNode, channel: ChannelName) -> None:
        await node.watch(describe(self._coordinator, channel))


class ReplicaOrder:
    """The ``Replicas`` of one proxy: those that live, its own first."""

    def __init__(self, replicas: ReplicaSet, first: int) -> None:
        self._replicas = replicas
        self._first = first

    def of(self, channel: ChannelName) -> Sequence[QueryNode]:
        """See Replicas."""
        del channel
        nodes = self._replicas.nodes
        return [nodes[number] for number in sorted(nodes, key=lambda number: (number != self._first, number))]
