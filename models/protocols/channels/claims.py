"""What must be so of the records of channels, the objects behind them, and the logs."""

from collections import Counter
from collections.abc import Mapping, Sequence

from tidemark.impl.types import ChannelName, ChannelRecord, MetaSnapshot, Row, SegmentRecord

RECORDS_ARE_STORED = "records_are_stored"
"""What the coordinator remembers, its store has: nothing else survives it."""
OBJECTS_HOLD_THEIR_ROWS = "objects_hold_their_rows"
"""A recorded binlog is an object with exactly the rows that its record names, as the log has them."""
STORED_ONCE = "stored_once"
"""No row is in two recorded binlogs."""
CHECKPOINT_IS_DURABLE = "checkpoint_is_durable"
"""Every row at or below a stored checkpoint, or one that is reported, is in a recorded binlog."""
RECORDS_ONLY_GROW = "records_only_grow"
"""Checkpoints, terms and binlogs never go back; a flush request goes when its rows are durable and its
segments are ended."""
A_ROUND_SENDS_ALL = "a_round_sends_all"
"""What is pending when the updater's timer ends is sent in its round."""
THE_BIGGEST_GOES_FIRST = "the_biggest_goes_first"
"""Memory pressure syncs the oldest buffer of the channel that holds most."""
DROPPED_IS_GONE = "dropped_is_gone"
"""No node takes up a dropped channel, and no flush of it is accepted (hazard 14)."""
THE_OWNER_IS_SERVED = "the_owner_is_served"
"""The node to which a channel is assigned can recover it, whatever incarnations others have had."""
A_DONE_FLUSH_IS_CONFIRMED = "a_done_flush_is_confirmed"
"""At the end no flush is open of which everything is done, and every open one is known to the node."""

ANSWERED_IS_STORED = "answered_is_stored"
"""What the node is told to be recorded is recorded: a call whose time is over has no answer."""

CLAIMS = (
    RECORDS_ARE_STORED,
    OBJECTS_HOLD_THEIR_ROWS,
    STORED_ONCE,
    CHECKPOINT_IS_DURABLE,
    RECORDS_ONLY_GROW,
    A_ROUND_SENDS_ALL,
    THE_BIGGEST_GOES_FIRST,
    DROPPED_IS_GONE,
    A_DONE_FLUSH_IS_CONFIRMED,
    ANSWERED_IS_STORED,
)

Objects = Mapping[str, Sequence[Row]]
Rows = Mapping[ChannelName, Sequence[Row]]


def recorded(snapshot: MetaSnapshot, channel: ChannelName) -> Counter[int]:
    """The timestamps of the rows that recorded binlogs of a channel name."""
    return Counter(
        ts
        for segment in snapshot.segments
        if segment.channel == channel
        for binlog in segment.binlogs
        for ts in binlog.row_positions
    )


def wrong_state(snapshot: MetaSnapshot, objects: Objects, rows: Rows) -> str | None:
    """What is wrong with the records and objects of one moment; None if nothing is."""
    for segment in snapshot.segments:
        found = _wrong_objects(segment, objects, rows[segment.channel])
        if found is not None:
            return found
    for record in snapshot.channels:
        counts = recorded(snapshot, record.channel)
        twice = [ts for ts, count in sorted(counts.items()) if count > 1]
        if twice:
            return f"{STORED_ONCE}: row {twice[0]} of {record.channel} is recorded {counts[twice[0]]} times"
        lost = undurable(snapshot, record.channel, record.checkpoint, rows)
        if lost is not None:
            return (
                f"{CHECKPOINT_IS_DURABLE}: {record.channel} is at {record.checkpoint}, row {lost} is nowhere"
            )
    return None


def undurable(snapshot: MetaSnapshot, channel: ChannelName, upto: int, rows: Rows) -> int | None:
    """The first row up to a timestamp that no recorded binlog has; None if there is none."""
    counts = recorded(snapshot, channel)
    return next((row.ts for row in rows[channel] if row.ts <= upto and not counts[row.ts]), None)


def _wrong_objects(segment: SegmentRecord, objects: Objects, rows: Sequence[Row]) -> str | None:
    known = {row.ts: row for row in rows}
    for binlog in segment.binlogs:
        stored = tuple(objects.get(binlog.path, ()))
        named = tuple(known.get(ts) for ts in binlog.row_positions)
        if stored != named or any(row.segment_id != segment.segment_id for row in stored):
            return (
                f"{OBJECTS_HOLD_THEIR_ROWS}: {binlog.path} of segment {segment.segment_id} holds"
                f" {[row.ts for row in stored]}, its record names {list(binlog.row_positions)}"
            )
    return None


def wrong_step(before: MetaSnapshot, after: MetaSnapshot, rows: Rows) -> str | None:
    """What a step has taken back; None if nothing."""
    now = {record.channel: record for record in after.channels}
    for old in before.channels:
        new = now.get(old.channel)
        if new is None or new.checkpoint < old.checkpoint or new.term < old.term or old.dropped > new.dropped:
            return f"{RECORDS_ONLY_GROW}: {old} became {new}"
        found = _wrong_end(old, new, after, rows)
        if found is not None:
            return found
    segments = {segment.segment_id: segment for segment in after.segments}
    for was in before.segments:
        became = segments.get(was.segment_id)
        if became is None or became.binlogs[: len(was.binlogs)] != was.binlogs:
            return f"{RECORDS_ONLY_GROW}: {was} became {became}"
        if was.flushed > became.flushed or was.dropped > became.dropped:
            return f"{RECORDS_ONLY_GROW}: {was} became {became}"
    return None


def _wrong_end(old: ChannelRecord, new: ChannelRecord, after: MetaSnapshot, rows: Rows) -> str | None:
    """A flush request is forgotten when it is done."""
    for request in old.flush_requests:
        if request in new.flush_requests:
            continue
        lost = undurable(after, old.channel, request.flush_ts, rows) is not None
        if new.checkpoint < request.flush_ts or lost or unended(after, request.segments):
            return f"{RECORDS_ONLY_GROW}: {request} of {old.channel} is forgotten before it is done"
    return None


def unended(snapshot: MetaSnapshot, segments: Sequence[int]) -> list[int]:
    """Those segments that are neither flushed nor dropped."""
    ended = {segment.segment_id for segment in snapshot.segments if segment.flushed or segment.dropped}
    return [segment for segment in segments if segment not in ended]
