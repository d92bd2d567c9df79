"""Messages in the log of a physical channel: rows, deletes, DDL messages, ticks; and their form as JSON."""

import json
from dataclasses import dataclass
from typing import Any

from tidemark.impl.errors import CorruptDataError
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName, Row, SegmentId


@dataclass(frozen=True)
class Tick:
    """No message at or below ``ts`` follows in this channel.

    Milvus: TimeTick
    """

    ts: Timestamp


@dataclass(frozen=True)
class InsertMessage:
    """Rows of one virtual channel. Each row has the timestamp of the message.

    Milvus: InsertMsg
    """

    ts: Timestamp
    channel: ChannelName
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class DeleteMessage:
    """The rows of these keys that are older than ``ts`` are deleted.

    Milvus: DeleteMsg

    segment_id: the level-zero segment in which the deletes are stored.
    """

    ts: Timestamp
    channel: ChannelName
    segment_id: SegmentId
    keys: tuple[int, ...]


@dataclass(frozen=True)
class DdlMessage:
    """A collection came (``create``) or went (``drop``). It is for all shards of the collection.

    Milvus: CreateCollectionMsg, DropCollectionMsg
    """

    ts: Timestamp
    channel: ChannelName
    text: str


ChannelMessage = InsertMessage | DeleteMessage | DdlMessage
"""A message of one virtual channel."""
LogMessage = Tick | ChannelMessage


@dataclass(frozen=True)
class Entry:
    """A message at its place in a physical channel: 1, 2, 3, ... ``source`` has appended it."""

    place: int
    source: int
    message: LogMessage


def physical(channel: ChannelName) -> ChannelName:
    """The physical channel of a virtual one: ``dml_0`` of ``dml_0_7v1``.

    Milvus: getChannels, DmChannel
    """
    return channel.rpartition("_")[0]


def virtual(channel: ChannelName, collection: int, shard: int) -> ChannelName:
    """The name of a collection's shard in a physical channel.

    Milvus: getVChannels
    """
    return f"{channel}_{collection}v{shard}"


def collection_of(channel: ChannelName) -> str:
    """The number of the collection whose shard a virtual channel is, as text: ``7`` of ``dml_0_7v1``."""
    return channel.rpartition("_")[2].partition("v")[0]


def is_for(message: ChannelMessage, channel: ChannelName) -> bool:
    """Whether a message is for a virtual channel: its own or, without rows, one of its collection."""
    if isinstance(message, DdlMessage):
        return collection_of(message.channel) == collection_of(channel)
    return message.channel == channel


def is_level_zero(segment_id: SegmentId) -> bool:
    """Whether the segment stores deletes: its number is negative."""
    return segment_id < 0


def rows_of(message: InsertMessage | DeleteMessage) -> tuple[Row, ...]:
    """The rows that a data node stores of a message. A delete is a row of its level-zero segment."""
    if isinstance(message, InsertMessage):
        return message.rows
    return tuple(Row(message.ts, message.segment_id, key) for key in message.keys)


def encode(message: LogMessage) -> list[Any]:
    """A message as JSON."""
    match message:
        case Tick(ts):
            return ["tick", ts]
        case InsertMessage(ts, channel, rows):
            return ["insert", ts, channel, [[row.segment_id, row.key, row.value] for row in rows]]
        case DeleteMessage(ts, channel, segment_id, keys):
            return ["delete", ts, channel, segment_id, list(keys)]
        case DdlMessage(ts, channel, text):
            return ["ddl", ts, channel, text]


def decode(document: Any) -> LogMessage:
    """The message. Raises CorruptDataError for anything else."""
    match document:
        case ["tick", int(ts)]:
            return Tick(ts)
        case ["insert", int(ts), str(channel), list(rows)]:
            return InsertMessage(
                ts, channel, tuple(Row(ts, segment, key, text) for segment, key, text in rows)
            )
        case ["delete", int(ts), str(channel), int(segment), list(keys)]:
            return DeleteMessage(ts, channel, segment, tuple(keys))
        case ["ddl", int(ts), str(channel), str(text)]:
            return DdlMessage(ts, channel, text)
    raise CorruptDataError(f"{document!r} is no message of a log; restore the log")


def encode_text(message: LogMessage) -> str:
    """A message in the text form of proxies."""
    return json.dumps(encode(message), separators=(",", ":"))


def decode_text(text: str) -> LogMessage:
    """The message of a text of a proxy."""
    return decode(json.loads(text))
