"""What each call of the data coordinator may do to its records, and what it may answer, one call at a time.

The coordinator must behave as if its calls came one after the other: each change of the stored records is
that of one call that is under way, and each answer is the one that belongs to the records of that moment.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tidemark.impl.types import (
    DROPPED_CHECKPOINT,
    LOG_BEGINNING,
    NO_CHECKPOINT,
    BinlogRecord,
    ChannelName,
    ChannelRecord,
    EndPosition,
    FlushRequest,
    MetaSnapshot,
    Owner,
    SegmentId,
    SegmentRecord,
    StartPosition,
)

DROPPED = "ChannelDroppedError"
UNKNOWN = "UnknownChannelError"
NOT_OWNER = "NotOwnerError"
LIVES = "ChannelLivesError"
MORE = "more"
"""No answer: the call has changed one record, and goes on with others before it answers."""


class Call(NamedTuple):
    """One call: its name, and its arguments as the contract below takes them."""

    name: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Records:
    """The stored records by name and id; a call replaces one of them, or the checkpoints of several."""

    channels: tuple[ChannelRecord, ...]
    segments: tuple[SegmentRecord, ...]

    @classmethod
    def of(cls, stored: MetaSnapshot) -> Records:
        """Those of a store, in order."""
        return cls(
            tuple(sorted(stored.channels, key=lambda record: record.channel)),
            tuple(sorted(stored.segments, key=lambda record: record.segment_id)),
        )

    def channel(self, name: ChannelName) -> ChannelRecord | None:
        """The record of a channel, if there is one."""
        return next((record for record in self.channels if record.channel == name), None)

    def segment(self, number: SegmentId) -> SegmentRecord | None:
        """The record of a segment, if there is one."""
        return next((record for record in self.segments if record.segment_id == number), None)

    def with_channel(self, record: ChannelRecord, **changes: Any) -> Records:
        """The same with one channel's record changed."""
        others = [one for one in self.channels if one.channel != record.channel]
        return Records.of(MetaSnapshot((*others, replace(record, **changes)), self.segments))

    def with_segment(self, record: SegmentRecord) -> Records:
        """The same with one segment's record in place."""
        others = [one for one in self.segments if one.segment_id != record.segment_id]
        return Records.of(MetaSnapshot(self.channels, (*others, record)))


Effect = tuple[Records, Hashable]
"""The records after a call, and its answer; the name of an error is an answer."""


def effect(records: Records, call: Call) -> Effect:
    """What the call does to the records, and what it answers, if nothing comes between."""
    return _RULES[call.name](records, *call.arguments)


def _assign(records: Records, name: ChannelName, node: str) -> Effect:
    """Another owner begins a new term, in which no incarnation is known. The last owner comes back in its
    own.
    """
    old = records.channel(name) or ChannelRecord(channel=name)
    if old.last_owner == node:
        return records.with_channel(old, assigned_to=node), None
    changed = {"assigned_to": node, "last_owner": node, "term": old.term + 1, "session": 0}
    return records.with_channel(old, **changed), None


def _unassign(records: Records, name: ChannelName) -> Effect:
    """No node may write; the last owner stays known."""
    old = records.channel(name)
    return (records, UNKNOWN) if old is None else (records.with_channel(old, assigned_to=None), None)


def _recover(records: Records, name: ChannelName, node: str, session: int) -> Effect:
    """A term for each incarnation, and one for each question without a number. An earlier one is refused."""
    old = records.channel(name)
    if old is None or old.dropped:
        return records, UNKNOWN if old is None else DROPPED
    if old.assigned_to is not None and old.assigned_to != node:
        return records, NOT_OWNER
    last = old.session if old.last_owner == node else 0
    if session and session < last:
        return records, NOT_OWNER
    again = bool(session) and session == last
    term = old.term if again else old.term + 1
    new = records.with_channel(old, assigned_to=node, last_owner=node, term=term, session=session)
    stored = tuple(record for record in records.segments if record.channel == name)
    without = old.checkpoint == NO_CHECKPOINT
    return new, (Owner(node, term), EndPosition(_seek(records, old)), stored, without)


def _seek(records: Records, channel: ChannelRecord) -> int:
    """The checkpoint; without one the earliest position of a segment that was not dropped: how far its rows
    are recorded, or else where it begins. Without one of these, too, the beginning of the collection.
    """
    if channel.checkpoint != NO_CHECKPOINT:
        return channel.checkpoint
    places = []
    for record in records.segments:
        if record.channel == channel.channel and not record.dropped:
            if record.dml_position != EndPosition(LOG_BEGINNING.ts):
                places.append(record.dml_position.ts)
            elif record.begins is not None:
                places.append(record.begins.ts)
    return min(places, default=channel.begins)


def _save(  # noqa: PLR0917  the fields of a request
    records: Records,
    name: ChannelName,
    node: str,
    term: int,
    number: SegmentId,
    position: int,
    rows: tuple[int, ...],
    end: str,
    starts: tuple[tuple[SegmentId, int], ...] = (),
) -> Effect:
    """Only the last incarnation writes. Rows are taken once, and never after the segment's end.

    Without a checkpoint the beginnings of which it tells are recorded before, the earliest first.
    """
    owner = records.channel(name)
    if owner is None or owner.dropped or (owner.assigned_to, owner.term) != (node, term):
        return records, "not owner"
    unknown = [(begins, other) for other, begins in starts if records.segment(other) is None]
    if owner.checkpoint == NO_CHECKPOINT and unknown:
        begins, other = min(unknown)
        return records.with_segment(SegmentRecord(other, name, begins=StartPosition(begins))), MORE
    old = records.segment(number) or SegmentRecord(segment_id=number, channel=name)
    new = old
    if position > old.dml_position.ts and not (old.flushed or old.dropped):
        added = (binlog_of(rows),) if rows else ()
        new = replace(old, dml_position=EndPosition(position), binlogs=(*old.binlogs, *added))
    new = replace(new, flushed=new.flushed or end == "flush", dropped=new.dropped or end == "drop")
    return (records, "already recorded") if new == old else (records.with_segment(new), "recorded")


def binlog_of(rows: tuple[int, ...]) -> BinlogRecord:
    """The record of a binlog with these rows."""
    return BinlogRecord(path=f"rows {rows}", row_positions=rows)


def _checkpoint(records: Records, *positions: tuple[ChannelName, str, int, int]) -> Effect:
    """The assigned node raises, in whichever term; a smaller position, or another node's, changes nothing."""
    new = records
    for name, node, _term, position in positions:
        old = records.channel(name)
        if old is not None and old.assigned_to == node and position > old.checkpoint:
            new = new.with_channel(old, checkpoint=position)
    return new, None


def _ask(records: Records, name: ChannelName, flush_ts: int, segments: tuple[SegmentId, ...]) -> Effect:
    """A flush is remembered once, with the segments that it is to end."""
    old = records.channel(name)
    if old is None or old.dropped:
        return records, UNKNOWN if old is None else DROPPED
    if flush_ts <= 0:
        return records, "ValueError"
    asked = tuple(sorted({*old.flush_requests, FlushRequest(flush_ts, tuple(sorted(segments)))}))
    return records.with_channel(old, flush_requests=asked), None


def _confirm(records: Records, name: ChannelName, flush_ts: int, segments: tuple[SegmentId, ...]) -> Effect:
    """Done when the checkpoint has come to it and each segment that is known has ended; then forgotten."""
    old = records.channel(name)
    if not _is_done(records, name, flush_ts, segments):
        return records, UNKNOWN if old is None else False
    assert old is not None
    done = FlushRequest(flush_ts, tuple(sorted(segments)))
    left = tuple(request for request in old.flush_requests if request != done)
    return records.with_channel(old, flush_requests=left), True


def _is_done(records: Records, name: ChannelName, flush_ts: int, segments: Iterable[SegmentId]) -> bool:
    old = records.channel(name)
    known = [record for record in records.segments if record.segment_id in set(segments)]
    ended = [record for record in known if record.flushed or record.dropped]
    return len(ended) == len(known) and old is not None and old.checkpoint >= flush_ts


def _drop(records: Records, name: ChannelName, node: str, term: int) -> Effect:
    """Only the last incarnation of the assigned node drops; no checkpoint comes after that."""
    old = records.channel(name)
    if old is None or (old.assigned_to, old.term) != (node, term):
        return records, UNKNOWN if old is None else NOT_OWNER
    return records.with_channel(old, checkpoint=DROPPED_CHECKPOINT, dropped=True), None


def _collect(records: Records, name: ChannelName) -> Effect:
    """A dropped channel loses its segments and all but its term, once. One that lives is left as it is."""
    old = records.channel(name)
    if old is None or not old.dropped:
        return records, UNKNOWN if old is None else LIVES
    if old.collected:
        return records, None
    others = tuple(record for record in records.segments if record.channel != name)
    gone = ChannelRecord(channel=name, term=old.term, dropped=True, collected=True)
    return Records.of(MetaSnapshot(records.channels, others)).with_channel(gone), None


def _create(records: Records, name: ChannelName, begins: int) -> Effect:
    """The first checkpoint is where the collection begins."""
    return _made(records, name, begins, begins)


def _watch(records: Records, name: ChannelName, begins: int) -> Effect:
    """There is no checkpoint yet."""
    return _made(records, name, begins, NO_CHECKPOINT)


def _made(records: Records, name: ChannelName, begins: int, checkpoint: int) -> Effect:
    """A name is free if it is new, or if what had it was collected; no term of before comes again."""
    old = records.channel(name)
    if old is not None and not old.collected:
        return records, LIVES
    term = 0 if old is None else old.term + 1
    made = ChannelRecord(channel=name, checkpoint=checkpoint, term=term, begins=begins)
    return records.with_channel(made), None


def _begin(records: Records, name: ChannelName) -> Effect:
    """The first checkpoint, unless there is one."""
    old = records.channel(name)
    if old is None or old.dropped:
        return records, UNKNOWN if old is None else DROPPED
    if old.checkpoint != NO_CHECKPOINT:
        return records, None
    return records.with_channel(old, checkpoint=old.begins), None


def _deletes(records: Records, name: ChannelName) -> Effect:
    """From where deletes are read: before each recorded one, and not behind where the channel is read."""
    old = records.channel(name)
    if old is None:
        return records, UNKNOWN
    levels = [one for one in records.segments if one.channel == name and one.segment_id < 0]
    rows = [row for level in levels for binlog in level.binlogs for row in binlog.row_positions]
    return records, min([_seek(records, old), *(row - 1 for row in rows)])


def _compact(records: Records, number: SegmentId, position: int, path: str) -> Effect:
    """A compactor that has read the segment at this position notes a level; nothing, if it is another now."""
    old = records.segment(number)
    if old is None or old.dml_position.ts != position:
        return records, None
    return records.with_segment(with_level(old, path)), None


def with_level(record: SegmentRecord, path: str) -> SegmentRecord:
    """The record of a segment to which a level-zero binlog was applied."""
    applied = (*record.compaction.applied, path)
    return replace(record, compaction=replace(record.compaction, applied=applied))


_RULES: dict[str, Callable[..., Effect]] = {
    "assign": _assign,
    "unassign": _unassign,
    "recover": _recover,
    "save": _save,
    "checkpoint": _checkpoint,
    "ask": _ask,
    "confirm": _confirm,
    "drop": _drop,
    "collect": _collect,
    "create": _create,
    "watch": _watch,
    "begin": _begin,
    "deletes": _deletes,
    "compact": _compact,
}
