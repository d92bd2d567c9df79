"""From the coordinator's records and the tenures of a program to the state of ``tidemark.spec.ownership``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tidemark.impl.types import DROPPED_CHECKPOINT, LOG_BEGINNING, ChannelRecord, Owner, SegmentRecord
from tidemark.models.refinement.origins import Environment

CHANNEL = "channel"
SEGMENT = 1


class TenureView(NamedTuple):
    """The picture of a tenure."""

    epoch: int
    alive: bool
    read: int
    save: str
    low: int
    high: int
    top: int
    asks: bool


class PastView(NamedTuple):
    """The picture of the collection, and of what is gone. ``segment``: its position and rows when it went."""

    start: int
    ended: bool
    end: int
    seen: int
    epochs: int
    segment: SegmentRecord | None


@dataclass(slots=True)
class Tenure:
    """What a node knows of the channel, from the moment when it is given the channel on."""

    owner: Owner | None = None
    epoch: int = 0
    alive: bool = False
    read: int = 0
    save: str = "idle"
    low: int = 0
    high: int = 0
    top: int = 0
    asks: bool = False

    def begin(self, *, owner: Owner, epoch: int, seek: int, told: int) -> None:
        """The coordinator's answer is there."""
        self.owner, self.epoch, self.alive = owner, epoch, True
        self.read, self.low, self.high = seek, told, told

    def send(self) -> None:
        """A save leaves the node."""
        self.save, self.low, self.high = "sent", self.high, self.read

    def view(self) -> TenureView:
        """The picture of it."""
        return TenureView(
            self.epoch, self.alive, self.read, self.save, self.low, self.high, self.top, self.asks
        )


@dataclass(slots=True)
class Past:
    """The collection's part of the log, and what the records say no more."""

    start: int = 0
    ended: bool = False
    end: int = 0
    seen: int = 0
    epochs: int = 0
    collects: bool = False
    segment: SegmentRecord | None = None

    def view(self) -> PastView:
        """The picture of it."""
        return PastView(self.start, self.ended, self.end, self.seen, self.epochs, self.segment)


def _has_checkpoint(channel: ChannelRecord) -> bool:
    if channel.collected:
        return channel.checkpoint != LOG_BEGINNING.ts
    return not channel.dropped or channel.checkpoint == DROPPED_CHECKPOINT


def abstract(
    channel: ChannelRecord,
    segment: SegmentRecord | None,
    tenures: Sequence[TenureView],
    past: PastView,
    *,
    rows: int,
) -> dict[str, Any]:
    """The state of ``spec.ownership``, by variable name and without the fault counter."""
    life = "gone" if channel.collected else "dropped" if channel.dropped else "living"
    known = segment if segment is not None else past.segment
    stored = [p for binlog in known.binlogs for p in binlog.row_positions] if known is not None else []
    numbers = range(len(tenures))
    return {
        "life": life,
        "epoch": past.epochs,
        "assigned": life == "living" and channel.assigned_to is not None and channel.session > 0,
        "has_checkpoint": _has_checkpoint(channel),
        "stored": channel.checkpoint if life == "living" else 0,
        "record": {0: _record(channel, segment, past)},
        "dml": {0: known.dml_position.ts if known is not None else 0},
        "copies": {p: stored.count(p) for p in range(rows + 1)},
        "start": past.start,
        "ended": past.ended,
        "end": past.end,
        "seen": past.seen,
        "epoch_of": {t: tenures[t].epoch for t in numbers},
        "alive": {t: tenures[t].alive for t in numbers},
        "read": {t: tenures[t].read for t in numbers},
        "save": {(t, 0): tenures[t].save for t in numbers},
        "low": {(t, 0): tenures[t].low for t in numbers},
        "high": {(t, 0): tenures[t].high for t in numbers},
        "top": {t: tenures[t].top for t in numbers},
        "asks": {t: tenures[t].asks for t in numbers},
    }


def _record(channel: ChannelRecord, segment: SegmentRecord | None, past: PastView) -> str:
    if segment is None:
        return "kept" if past.segment is None else "collected"
    return "dropped" if channel.dropped else "kept"


ENVIRONMENT = Environment(
    "spec/ownership/variants/finer_steps:ReportsOfAll",
    {
        "record, dml, copies": "what was collected is kept by the program as it was",
        "epoch, epoch_of": "terms, counted by the program without those that recovered nothing",
        "alive, read, save, low, high, top, asks": "what a node knows of its tenure: simulated",
        "start, ended, end, seen": "the log, and who collects the channel: simulated",
    },
)
"""What is not read from the implementation, and why."""
