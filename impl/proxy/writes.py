"""Inserts and deletes as tasks: one message for each physical channel, made when it is first sent."""

import struct
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


_WORD = 0xFFFF_FFFF


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


def shard_of(key: int | str, shards: int) -> int:
    """The shard of a primary key, the same as in Milvus: all writes of a key go to one channel.

    Milvus: HashPK2Channels, Hash32Int64, HashString2Uint32

    Of a text the first 100 bytes count.
    """
    if isinstance(key, str):
        return zlib.crc32(key.encode()[:100]) % shards
    return (_murmur3(key) & 0x7FFF_FFFF) % shards


def _murmur3(key: int) -> int:
    """MurmurHash3 (x86, 32 bits, seed 0) of the 8 bytes of a signed number, the least byte first."""
    digest = 0
    for block in struct.unpack("<2I", key.to_bytes(8, "little", signed=True)):
        mixed = _rotate(block * 0xCC9E_2D51, 15) * 0x1B87_3593
        digest = _rotate(digest ^ mixed, 13) * 5 + 0xE654_6B64
    digest = (digest ^ 8) & _WORD
    digest = (digest ^ digest >> 16) * 0x85EB_CA6B & _WORD
    digest = (digest ^ digest >> 13) * 0xC2B2_AE35 & _WORD
    return digest ^ digest >> 16


def _rotate(number: int, bits: int) -> int:
    """The lowest 32 bits of a number, rotated to the left."""
    word = number & _WORD
    return (word << bits | word >> (32 - bits)) & _WORD


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
