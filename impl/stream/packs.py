"""Packs between two ticks, and the positions at their ends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.impl.types import ChannelName
from tidemark.impl.values.messages import ChannelMessage, DdlMessage, DeleteMessage, InsertMessage, is_for


@dataclass(frozen=True)
class StreamPosition:
    """Where a consumer continues; it has all messages at or below ``ts``.

    Milvus: MsgPosition

    place: the first place of the log that it reads again, which is included; 0 for the beginning of the log.
    """

    place: int
    ts: Timestamp


EARLIEST = StreamPosition(0, ZERO)
"""The beginning of the log: nothing is skipped."""


@dataclass(frozen=True)
class StreamPack:
    """The messages between two ticks: in the order of the log, each with a timestamp above ``begin`` and at
    most ``end``. A late message, after its tick, is below ``begin``.

    Milvus: groupingMsgs
    """

    start: StreamPosition
    finish: StreamPosition
    messages: tuple[ChannelMessage, ...] = ()

    @property
    def begin(self) -> Timestamp:
        """The end of the pack before."""
        return self.start.ts

    @property
    def end(self) -> Timestamp:
        """The tick."""
        return self.finish.ts

    @property
    def inserts(self) -> tuple[InsertMessage, ...]:
        """The messages that carry rows."""
        return tuple(message for message in self.messages if isinstance(message, InsertMessage))

    @property
    def deletes(self) -> tuple[DeleteMessage, ...]:
        """The messages that delete keys."""
        return tuple(message for message in self.messages if isinstance(message, DeleteMessage))

    @property
    def ddl(self) -> tuple[DdlMessage, ...]:
        """The messages that create or drop."""
        return tuple(message for message in self.messages if isinstance(message, DdlMessage))

    def of(self, channel: ChannelName) -> StreamPack:
        """The part of the pack for one virtual channel. The tick is the same for all of them."""
        return replace(self, messages=tuple(m for m in self.messages if is_for(m, channel)))


class PackSource(Protocol):
    """The source of a channel's packs: a consumer of its own, or a dispatcher."""

    async def next_pack(self) -> StreamPack:
        """The next pack. Waits for one."""
