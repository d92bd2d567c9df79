"""One channel of a data node as it should be: its rows in memory, its segments, its checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from tidemark.impl.config import DataNodeConfig
from tidemark.impl.types import Pack

ROW_BYTES = 24
_LATER = 3
"""The segment that is stale a little later than the others."""
Buffer = tuple[int, list[int]]
"""The start of the first pack that contributed, and the rows."""


def jitter(segment: int) -> int:
    """How much later than others a segment is stale."""
    return 1 if segment == _LATER else 0


@dataclass(eq=False)
class Task:
    """A sync. start: of its buffer; None without rows. ends: "flush" or "drop" of the segment, or empty.

    written: its object is there. stage: what it says of itself.
    """

    channel: str
    segment: int
    term: int
    position: int
    rows: tuple[int, ...]
    ends: str
    start: int | None
    attempts: int = 0
    written: bool = False
    stage: str = "queued"
    path: str = ""


@dataclass
class Channel:
    """A channel.

    Attributes:
        recorded: by segment the position up to which its rows were stored when the channel was taken up.
        phases: by segment how far its life has come.
        tasks: those that are not finished.
        flush_ts: a flush is asked for up to here; 0 for none.
        last_report: message time of the last report of the checkpoint.
        ends: "drop" once that message has come.
    """

    name: str
    term: int
    consumed: int
    recorded: dict[int, int]
    phases: dict[int, str]
    buffers: dict[int, Buffer] = field(default_factory=dict)
    tasks: list[Task] = field(default_factory=list)
    flush_ts: int = 0
    last_report: int | None = None
    ends: str = ""

    def takes(self, pack: Pack) -> bool:
        """Buffer the rows that are not stored. Return whether one came too late for its segment."""
        for row in pack.rows:
            if row.ts <= self.recorded.get(row.segment_id, 0):
                continue
            phase = self.phases.setdefault(row.segment_id, "growing")
            if phase in ("flushing", "flushed"):
                return True
            if phase != "dropped":
                self.buffers.setdefault(row.segment_id, (pack.start.ts, []))[1].append(row.ts)
        self.consumed = pack.end.ts
        return False

    def takes_out(self, segment: int, *, ends: bool) -> Task:
        """The buffer goes to a new task. ``ends``: a sealed segment is flushed by it."""
        if ends:
            self.phases[segment] = "flushing"
        start, rows = self.buffers.pop(segment, (None, []))
        phase = self.phases[segment]
        end = {"flushing": "flush", "dropped": "drop"}.get(phase, "")
        task = Task(self.name, segment, self.term, self.consumed, tuple(rows), end, start)
        self.tasks.append(task)
        return task

    def candidates(self) -> list[int]:
        """The segments that are looked at, in order."""
        return sorted(self.phases)

    def policies(self, config: DataNodeConfig) -> tuple[Callable[[int], bool], ...]:
        """Whether a segment is to be synced, by each of the reasons in order."""

        def is_full(segment: int) -> bool:
            held = self.buffers.get(segment)
            return held is not None and len(held[1]) * ROW_BYTES >= config.full_buffer_bytes

        def is_stale(segment: int) -> bool:
            held = self.buffers.get(segment)
            return held is not None and self.consumed - held[0] > config.stale_after_ts + jitter(segment)

        return (is_full, is_stale, self.is_sealed, self.is_dropped, self.is_before_the_flush)

    def is_sealed(self, segment: int) -> bool:
        """Sealed, and no task of the segment is under way at this position."""
        here = any((task.segment, task.position) == (segment, self.consumed) for task in self.tasks)
        return self.phases[segment] == "sealed" and not here

    def is_dropped(self, segment: int) -> bool:
        """Dropped, and something is buffered."""
        return self.phases[segment] == "dropped" and segment in self.buffers

    def is_before_the_flush(self, segment: int) -> bool:
        """The buffer began before the flush that is asked for, which was passed."""
        held = self.buffers.get(segment)
        return held is not None and 0 < self.flush_ts <= self.consumed and held[0] < self.flush_ts

    def checkpoint(self) -> int:
        """Everything at or below it is stored."""
        starts = [start for start, _ in self.buffers.values()]
        starts += [task.start for task in self.tasks if task.start is not None]
        return min(starts, default=self.consumed)

    def memory(self) -> int:
        """Bytes of what is buffered."""
        return sum(len(rows) for _, rows in self.buffers.values()) * ROW_BYTES

    def seen(self) -> Hashable:
        """What the node must say of it."""
        return (
            self.consumed,
            self.flush_ts,
            tuple(sorted(self.buffers)),
            self.checkpoint(),
            tuple(sorted((task.segment, task.position, task.stage) for task in self.tasks)),
            tuple(sorted(self.phases.items())),
        )
