"""The query nodes of a cluster: all of them serve all collections."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.errors import ReplicaClosedError
from tidemark.impl.queries.channels import QueryChannels
from tidemark.impl.queries.reads import NodeFollower
from tidemark.impl.querynode.query_node import QueryNode
from tidemark.impl.querynode.values import ChannelDescription, LoadSegment
from tidemark.impl.stream.packs import StreamPosition
from tidemark.impl.types import ChannelName
from tidemark.impl.values.messages import is_level_zero


def describe(coordinator: Coordinator, channel: ChannelName, *, levels: bool = True) -> ChannelDescription:
    """The description of a channel for a query node, all of one moment.

    levels: with the level-zero segments; without them the stream begins at the delete checkpoint.
    """
    segments = coordinator.segments_of(channel)
    if levels:
        start = coordinator.seek_position(channel).ts
    else:
        start = coordinator.delete_checkpoint(channel)
        segments = tuple(record for record in segments if not is_level_zero(record.segment_id))
    return ChannelDescription(channel=channel, seek=StreamPosition(0, start), segments=segments)


class ReplicaSet:
    """The query nodes of a cluster, and the query coordinator's loaded collections.

    nodes: the running ones, by number. collections: by title, the channels that each of them serves.
    queries: the channels of their requests.
    """

    def __init__(self, *, coordinator: Coordinator, make: Callable[[int], QueryNode], count: int) -> None:
        self.nodes: dict[int, QueryNode] = {number: make(number) for number in range(count)}
        self.collections: dict[str, tuple[ChannelName, ...]] = {}
        self.queries = QueryChannels()
        self._coordinator = coordinator
        self._make = make
        self._followers: dict[tuple[str, str], asyncio.Task[None]] = {}

    @property
    def channels(self) -> list[ChannelName]:
        """The channels of each node."""
        return [channel for channels in self.collections.values() for channel in channels]

    async def load(self, collection: str, channels: Sequence[ChannelName]) -> None:
        """Every node serves the channels of a collection. Does nothing if it is loaded."""
        if collection in self.collections:
            return
        self.collections[collection] = tuple(channels)
        self.queries.load(collection)
        await asyncio.gather(*(self._serve(node, collection) for node in list(self.nodes.values())))

    async def release(self, collection: str) -> None:
        """Stop serving a collection: its reads fail. Does nothing if it is not loaded."""
        self.queries.release(collection)
        for node in self.nodes.values():
            self._leave(node, collection)
        channels = self.collections.pop(collection, ())
        await asyncio.gather(*(node.release(channel) for node in self.nodes.values() for channel in channels))

    async def kill(self, number: int) -> None:
        """End a node in the middle of its work: its memory is lost, and its reads fail."""
        node = self.nodes.pop(number)
        for collection in self.collections:
            self._leave(node, collection)
        await node.stop()

    async def revive(self, number: int) -> None:
        """Start a node of this number anew, from binlogs and log. Later loads and releases apply to it."""
        node = self.nodes[number] = self._make(number)
        await asyncio.gather(*(self._serve(node, collection) for collection in self.collections))

    async def load_flushed(self) -> None:
        """The nodes serve flushed segments from their binlogs, while the stream advances.

        Deletes up to the checkpoint are stored in level-zero segments, which each later load brings: the
        nodes drop them.
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

    async def _serve(self, node: QueryNode, collection: str) -> None:
        """Take up the channels of a collection, and answer its requests from then on."""
        channels = self.collections[collection]
        await asyncio.gather(*(node.watch(describe(self._coordinator, channel)) for channel in channels))
        if collection not in self.collections:  # it was released meanwhile, by this node too
            return
        requests = self.queries.subscribe(collection, node.node_id)
        follow = partial(NodeFollower(node, self.queries).follow, requests)
        name = f"requests of {collection}"
        self._followers[collection, node.node_id] = node.supervisor.spawn(follow, name)

    def _leave(self, node: QueryNode, collection: str) -> None:
        self.queries.unsubscribe(collection, node.node_id)
        follower = self._followers.pop((collection, node.node_id), None)
        if follower is not None:
            follower.cancel()
