"""Packs of one virtual channel for its data node: what lies between two ticks of the physical channel."""

from __future__ import annotations

from dataclasses import dataclass, field

from tidemark.impl.broker.messages import DeleteMessage, InsertMessage, Tick, physical, rows_of
from tidemark.impl.broker.ports import EntryLog
from tidemark.impl.errors import LateRowError
from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.impl.types import ChannelName, EndPosition, Pack, Position, Row, StartPosition


@dataclass
class Cursor:
    """How far one virtual channel is read. ``rows`` lie above ``end``, where the next pack begins."""

    end: Timestamp
    place: int = 1
    tick: Timestamp = ZERO
    """The greatest tick that was read: of the log, not of the packs."""
    rows: list[Row] = field(default_factory=list)
    ready: Pack | None = None


class PackReader:
    """A ``WriteAheadLog`` over the physical channels. A new incarnation of a node opens a new reader.

    It reads a log from its beginning: a position says what is durable, and where that ends in the file is
    not known to the data coordinator.
    """

    def __init__(self, log: EntryLog) -> None:
        self._log = log
        self._cursors: dict[ChannelName, Cursor] = {}

    async def next_pack(self, channel: ChannelName, after: Position) -> Pack:
        """See WriteAheadLog."""
        cursor = self._cursors.setdefault(channel, Cursor(after.ts))
        while cursor.ready is None or cursor.ready.end.ts <= after.ts:
            cursor.ready = None
            await self._read_on(channel, cursor)
        return cursor.ready

    async def _read_on(self, channel: ChannelName, cursor: Cursor) -> None:
        """Read to the next tick above the last one, or to the end of the log."""
        for entry in await self._log.read(physical(channel), cursor.place):
            cursor.place = entry.place + 1
            match entry.message:
                case Tick(ts):
                    cursor.tick = max(cursor.tick, ts)
                    if ts > cursor.end:
                        cursor.ready = self._pack(cursor, ts)
                        return
                case InsertMessage() | DeleteMessage() as message if message.channel == channel:
                    if message.ts <= cursor.tick:
                        raise LateRowError(
                            f"{channel} has a message at {message.ts} behind the tick {cursor.tick}, at place"
                            f" {entry.place}: a source has appended what it had promised not to"
                        )
                    cursor.rows.extend(row for row in rows_of(message) if row.ts > cursor.end)

    def _pack(self, cursor: Cursor, tick: Timestamp) -> Pack:
        inside = sorted((row for row in cursor.rows if row.ts <= tick), key=lambda row: row.ts)
        cursor.rows = [row for row in cursor.rows if row.ts > tick]
        start, cursor.end = cursor.end, tick
        return Pack(StartPosition(start), EndPosition(tick), tuple(inside))
