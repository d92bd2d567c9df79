"""From the coordinator's records and real write buffers to the state of ``Seek``, a variant of ownership."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tidemark.impl.datanode.write_buffer import WriteBuffer
from tidemark.impl.types import NO_CHECKPOINT, ChannelRecord, RecoveryAnswer, SegmentId, SegmentRecord
from tidemark.models.refinement.origins import Environment

CHANNEL = "channel"


class SaveView(NamedTuple):
    """The picture of a tenure's last save of a segment."""

    stage: str
    low: int
    high: int


class TenureView(NamedTuple):
    """The picture of a tenure; ``saves`` by segment."""

    epoch: int
    read: int
    sought: int
    top: int
    asks: bool
    saves: tuple[SaveView, ...]


@dataclass(slots=True)
class Tenure:
    """A node's write buffer, and what it was told. ``saves``: by segment, stage, low and high."""

    segments: Sequence[SegmentId]
    epoch: int = 0
    answer: RecoveryAnswer | None = None
    buffer: WriteBuffer | None = None
    top: int = 0
    asks: bool = False
    saves: dict[SegmentId, SaveView] = field(default_factory=dict)

    def begin(self, *, answer: RecoveryAnswer, buffer: WriteBuffer, epoch: int) -> None:
        """The coordinator's answer is there."""
        self.answer, self.buffer, self.epoch = answer, buffer, epoch
        for segment in self.segments:
            recorded = answer.recorded_positions().get(segment)
            told = max(answer.seek.ts, recorded.ts if recorded is not None else 0)
            self.saves[segment] = SaveView("idle", told, told)

    def send(self, segment: SegmentId, high: int) -> None:
        """A save leaves the node."""
        self.saves[segment] = SaveView("sent", self.saves[segment].high, high)

    def now(self, segment: SegmentId, stage: str) -> None:
        """The save has come so far."""
        self.saves[segment] = self.saves[segment]._replace(stage=stage)

    def view(self) -> TenureView:
        """The picture of it."""
        idle = SaveView("idle", 0, 0)
        return TenureView(
            epoch=self.epoch,
            read=self.buffer.consumed.ts if self.buffer is not None else 0,
            sought=self.answer.seek.ts if self.answer is not None else 0,
            top=self.top,
            asks=self.asks,
            saves=tuple(self.saves.get(segment, idle) for segment in self.segments),
        )


class SeekView(NamedTuple):
    """What is compared: the records, the tenures, and the collection. ``epochs``: those that recovered it."""

    channel: ChannelRecord | None
    segments: tuple[SegmentRecord | None, ...]
    tenures: tuple[TenureView, ...]
    epochs: int
    seen: int
    ended: bool


def abstract(view: SeekView, *, positions: int) -> dict[str, Any]:
    """The state of ``Seek``, by variable name and without the fault counter."""
    noted = view.channel is not None
    channel = view.channel if view.channel is not None else ChannelRecord(CHANNEL, checkpoint=NO_CHECKPOINT)
    living, has_checkpoint = not channel.dropped, channel.checkpoint != NO_CHECKPOINT
    claimed = channel.checkpoint if has_checkpoint else channel.begins
    stored = [p for one in view.segments if one is not None for log in one.binlogs for p in log.row_positions]
    return {
        "life": "living" if living else "dropped",
        "noted": noted,
        "epoch": view.epochs,
        "assigned": living and channel.assigned_to is not None and channel.session > 0,
        "has_checkpoint": has_checkpoint,
        "stored": claimed if living else 0,
        "begins": channel.begins,
        "copies": {p: stored.count(p) for p in range(positions + 1)},
        "start": 0,
        "ended": view.ended,
        "end": view.seen if view.ended else 0,
        "seen": view.seen,
        **_of_segments(view.segments, living=living),
        **_of_tenures(view.tenures),
    }


def _of_segments(segments: Sequence[SegmentRecord | None], *, living: bool) -> Mapping[str, Any]:
    records = dict(enumerate(segments))
    return {
        "record": {g: _kept(one, living=living) for g, one in records.items()},
        "dml": {g: one.dml_position.ts if one is not None else 0 for g, one in records.items()},
        "begun": {g: one is not None and one.begins is not None for g, one in records.items()},
        "first": {
            g: one.begins.ts if one is not None and one.begins is not None else 0
            for g, one in records.items()
        },
        "imported": dict.fromkeys(records, False),
        "import_at": dict.fromkeys(records, 0),
    }


def _kept(record: SegmentRecord | None, *, living: bool) -> str:
    return "kept" if living and (record is None or not record.dropped) else "dropped"


def _of_tenures(tenures: Sequence[TenureView]) -> Mapping[str, Any]:
    known = dict(enumerate(tenures))
    saves = {(t, g): save for t, one in known.items() for g, save in enumerate(one.saves)}
    return {
        "epoch_of": {t: one.epoch for t, one in known.items()},
        "alive": {t: one.epoch > 0 for t, one in known.items()},
        "read": {t: one.read for t, one in known.items()},
        "sought": {t: one.sought for t, one in known.items()},
        "top": {t: one.top for t, one in known.items()},
        "asks": {t: one.asks for t, one in known.items()},
        "save": {place: save.stage for place, save in saves.items()},
        "low": {place: save.low for place, save in saves.items()},
        "high": {place: save.high for place, save in saves.items()},
    }


ENVIRONMENT = Environment(
    "tidemark.spec.ownership.variants.seek_without_checkpoint:Seek",
    {
        "noted": "whether the coordinator has a record of the channel",
        "epoch, epoch_of, alive": "takes, counted by the program; no process ends",
        "save, low, high, top, asks": "what is on the way: simulated",
        "start, ended, end, seen": "the log, and its collection: simulated",
        "imported, import_at": "nothing is imported",
    },
)
"""What is not read from the implementation, and why."""
