"""Values of the query node: descriptions, requests, answers."""

from dataclasses import dataclass
from enum import Enum

from tidemark.impl.stream.packs import EARLIEST, StreamPosition
from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.impl.types import ChannelName, Row, SegmentRecord
from tidemark.impl.values.nearest import Nearest


@dataclass(frozen=True)
class ChannelDescription:
    """A channel for a node that takes it up, in the coordinator's view of one moment.

    channel: the virtual channel. seek: where the stream begins: all rows at or below ``seek.ts`` are in the
    binlogs of ``segments``, the deletes in those of level zero (numbers below 0).
    """

    channel: ChannelName
    seek: StreamPosition = EARLIEST
    segments: tuple[SegmentRecord, ...] = ()


@dataclass(frozen=True)
class LoadSegment:
    """Request: serve a flushed segment from its binlogs, in place of its rows of the stream.

    level_zero: records with deletes that may hit the segment. replay_from: deletes at or below it are in
    those records; those above it are taken from the delete buffer.
    """

    record: SegmentRecord
    level_zero: tuple[SegmentRecord, ...] = ()
    replay_from: Timestamp = ZERO


class ReadStage(Enum):
    """Stage of a read at its replica."""

    WAITING = "waiting"
    """It will look at the service time next."""
    ASLEEP = "asleep"
    READING = "reading"
    """It has its moment."""


@dataclass(eq=False)
class ShardRead:
    """One read of one channel.

    guarantee: it must see all rows at or below. mvcc: the moment to show; None for the service time. keys:
    whose rows; None for all. nearest: which of them, if it is a search. moment: the timestamp of the answer,
    once the read has it.
    """

    guarantee: Timestamp
    mvcc: Timestamp | None = None
    keys: tuple[int, ...] | None = None
    nearest: Nearest | None = None
    stage: ReadStage = ReadStage.WAITING
    moment: Timestamp = ZERO


@dataclass(frozen=True)
class ShardAnswer:
    """The rows of a channel visible at ``moment``, by timestamp and key; of a search nearest first."""

    moment: Timestamp
    rows: tuple[Row, ...]
