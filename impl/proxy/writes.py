"""Inserts and deletes as tasks: one message for each physical channel, made when it is first sent."""

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tidemark.impl.errors import ImplementationError, SchemaMismatchError
from tidemark.impl.proxy.meta_cache import MetaCache
from tidemark.impl.proxy.values import DmlTask, Message
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName, Row, SegmentId
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.impl.values.messages import ChannelMessage, DeleteMessage, InsertMessage, encode_text, physical

Compose = Callable[[Timestamp], ChannelMessage]
"""The message of one channel, once the timestamp is known."""


class SegmentSource(Protocol):
    """The source of the segments of new rows."""

    def allocate(self, channel: ChannelName, rows: int, *, deletes: bool = False) -> SegmentId:
        """The segment of a virtual channel for so many rows of one message."""


@dataclass(eq=False)
class WriteTask(DmlTask):
    """A task with one message for each channel. Each message is made once: the sent and the settled one are
    the same.

    known: the collection as it was when the task was made. metadata: for the second lookup, by the ``name``
    that the client has used.
    """

    composers: dict[ChannelName, Compose] = field(default_factory=dict)
    made: dict[ChannelName, Message] = field(default_factory=dict)
    known: CollectionVersion | None = None
    metadata: MetaCache | None = None
    name: str = ""

    async def prepare(self) -> None:
        """Drop the task if the collection has changed before the task had its timestamp.

        Later changes take a greater timestamp: after this proxy has been invalidated.
        """
        if self.known is None or self.metadata is None:
            return
        try:
            now = await self.metadata.resolve(self.name)
        except ImplementationError as failure:
            self.drop(failure)
            return
        if now.version != self.known.version:
            self.drop(
                SchemaMismatchError(
                    f"collection {self.name!r} has version {now.version}, no longer {self.known.version};"
                    " read the schema again"
                )
            )

    def message(self, channel: ChannelName) -> Message:
        """The task's message for a physical channel."""
        if channel not in self.made:
            text = encode_text(self.composers[channel](self.ts))
            self.made[channel] = Message(channel, self.ts, text)
        return self.made[channel]


def shard_of(key: int, shards: int) -> int:
    """The shard of a primary key: all writes of a key go to one channel.

    Milvus: HashPK2Channels
    """
    return zlib.crc32(key.to_bytes(8, "little", signed=True)) % shards


def insert_task(
    channels: Sequence[ChannelName], rows: Iterable[tuple[int, str]], segments: SegmentSource
) -> WriteTask:
    """The task that inserts rows of (key, value) into a collection with these virtual channels."""
    parts: defaultdict[ChannelName, list[tuple[int, str]]] = defaultdict(list)
    for key, value in rows:
        parts[channels[shard_of(key, len(channels))]].append((key, value))

    def composer(channel: ChannelName, part: Sequence[tuple[int, str]]) -> Compose:
        def compose(ts: Timestamp) -> ChannelMessage:
            segment = segments.allocate(channel, len(part))
            return InsertMessage(ts, channel, tuple(Row(ts, segment, key, value) for key, value in part))

        return compose

    return _task({channel: composer(channel, part) for channel, part in parts.items()})


def delete_task(channels: Sequence[ChannelName], keys: Iterable[int], segments: SegmentSource) -> WriteTask:
    """The task that deletes keys."""
    parts: defaultdict[ChannelName, list[int]] = defaultdict(list)
    for key in keys:
        parts[channels[shard_of(key, len(channels))]].append(key)

    def composer(channel: ChannelName, part: Sequence[int]) -> Compose:
        def compose(ts: Timestamp) -> ChannelMessage:
            return DeleteMessage(
                ts, channel, segments.allocate(channel, len(part), deletes=True), tuple(part)
            )

        return compose

    return _task({channel: composer(channel, part) for channel, part in parts.items()})


def _task(composers: dict[ChannelName, Compose]) -> WriteTask:
    by_log = {physical(channel): compose for channel, compose in composers.items()}
    return WriteTask(tuple(by_log), composers=by_log)
