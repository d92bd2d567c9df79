"""What happens in a program of ``compaction.py``, and its state in the words of ``tidemark.spec.deletes``.

======================  ====================================================================================
specification           implementation
======================  ====================================================================================
a level-zero segment    one binlog of level zero, as in ``refinement.py``
flushed, checkpoint     the coordinator's records
applied, delta          ``SegmentRecord.compaction``; a dropped level is one that its segment names as such
row removed             a position of a flushed segment that none of its binlogs has
start, lifted           the description that the query node was given
read, shown             the record that the query node was given for a segment, by positions and keys
======================  ====================================================================================
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tidemark.impl.types import Row, SegmentId, SegmentRecord
from tidemark.impl.values.messages import is_level_zero
from tidemark.models.instance import Instance
from tidemark.models.protocols.deletes.program import SPECIFICATION
from tidemark.models.refinement.scenario import FaultyScenario


class CompactionScenario(FaultyScenario):
    """What happens.

    Attributes:
        log: at each position the segment of a row, the level-zero segment (below 0) of a delete, or 0.
        keys: of each position; all the same if there are none.
        compactions, rewrites: tasks that try once each, at any time; one more of both follows when all have
            ended.
        loads: of the channel, with level-zero segments or without, one after another.
        late: everything is taken before it is written out: first all deletes together, and then the rows,
            with a report in between.
        suspends: the answer to a save of a record comes in a later step, so that others wait for the
            coordinator's lock.
        ends: the position at which the segments end; 0 if it is the last one.
    """

    log: tuple[int, ...]
    keys: tuple[int, ...] = ()
    compactions: int = 1
    rewrites: int = 0
    loads: tuple[bool, ...] = ()
    late: bool = False
    suspends: bool = False
    ends: int = 0

    def key(self, position: int) -> int:
        """The key at a position, from 1 on."""
        return self.keys[position - 1] if self.keys else 0

    @property
    def segments(self) -> tuple[SegmentId, ...]:
        """The segments that have rows."""
        return tuple(sorted({segment for segment in self.log if segment > 0}))

    @property
    def levels(self) -> int:
        """Each delete may be written out once in each life; all of them together if it is late."""
        if self.late:
            return 1 + self.crashes
        return sum(map(is_level_zero, self.log)) * (1 + self.crashes)

    def row(self, position: int) -> Row:
        """What the log has at a position, as it is stored."""
        return Row(position, self.log[position - 1], self.key(position))

    def every(self) -> list[Row]:
        """All that the log has."""
        return [self.row(position + 1) for position, segment in enumerate(self.log) if segment]

    def left(self) -> list[int]:
        """The positions of the rows that no newer delete removes."""
        deletes = [row for row in self.every() if is_level_zero(row.segment_id)]
        rows = [row for row in self.every() if row not in deletes]
        return [row.ts for row in rows if not any(d.key == row.key and d.ts > row.ts for d in deletes)]

    def instance(self, protocol: str = SPECIFICATION) -> Instance:
        """Return the bounded instance of a specification with this log."""
        place = {segment: index for index, segment in enumerate(self.segments)}
        count, keys = len(place), max(self.keys, default=0) + 1
        return Instance(
            protocol,
            bounds={
                "Segment": count, "Level": self.levels, "Key": keys, "Position": len(self.log), "Faults": 0,
            },
            constants={
                "inserts": [False, *(segment > 0 for segment in self.log)],
                "deletes": [False, *map(is_level_zero, self.log)],
                "key": [0, *(self.key(position) for position in range(1, len(self.log) + 1))],
                "segment_of": [0, *(place.get(segment, 0) for segment in self.log)],
                "imported": [False] * count,
                "extra": [[False] * keys] * count,
            },
            name="scheduled",
        )  # fmt: skip


class Sync(NamedTuple):
    """One level-zero binlog: its object, its deletes, and "syncing", "answered" or "none" at the node."""

    path: str
    positions: tuple[int, ...]
    state: str


@dataclass
class NodeState:
    """The data node: what it has consumed, holds and has sent."""

    consumed: int = 0
    rows: tuple[int, ...] = ()
    writing: tuple[int, ...] = ()
    deletes: tuple[int, ...] = ()
    syncs: list[Sync] = field(default_factory=list)
    report: int = 0

    def view(self, recorded: Collection[str] = ()) -> tuple[Any, ...]:
        """Return it as a value. What is recorded is answered: no answer is lost, however late it comes."""
        syncs = tuple(
            sync._replace(state="answered") if sync.state == "syncing" and sync.path in recorded else sync
            for sync in self.syncs
        )
        return (self.consumed, self.rows, self.writing, self.deletes, syncs, self.report)


class LoadView(NamedTuple):
    """What a query node was given."""

    start: int = 0
    lifted: tuple[int, ...] = ()
    read: tuple[SegmentId, ...] = ()
    shown: tuple[int, ...] = ()

    def with_segment(self, segment: SegmentId, found: Sequence[int]) -> LoadView:
        """The same with one segment more, in which these rows were found."""
        shown = tuple(sorted({*self.shown, *found}))
        return self._replace(read=(*self.read, segment), shown=shown)


def is_hit(scenario: CompactionScenario, position: int, deletes: Sequence[int]) -> bool:
    """Whether one of the deletes is of the row, by their positions."""
    key = scenario.row(position).key
    return any(scenario.row(delete).key == key and delete > position for delete in deletes)


def found_in(scenario: CompactionScenario, record: SegmentRecord) -> list[int]:
    """The rows in the files that a record names, without those that the files say are deleted."""
    deleted = [position for one in record.compaction.deltas for position in one.row_positions]
    rows = [position for one in record.binlogs for position in one.row_positions]
    return sorted(position for position in rows if not is_hit(scenario, position, deleted))


def abstract(
    scenario: CompactionScenario,
    checkpoint: int,
    records: Sequence[SegmentRecord],
    node: tuple[Any, ...],
    load: LoadView,
    *,
    levels: int,
) -> dict[str, Any]:
    """The state of ``tidemark.spec.deletes``, by variable name and without the fault counter."""
    consumed, rows, writing, deletes, syncs, report = node
    every, zeros = range(len(scenario.log) + 1), range(levels)
    known = {record.segment_id: record for record in records}
    place = {sync.path: z for z, sync in enumerate(syncs)}
    content = {(place[sync.path], p) for sync in syncs for p in sync.positions}
    content |= {(len(syncs), p) for p in deletes}
    buffers = {z: sync.state for z, sync in enumerate(syncs)} | ({len(syncs): "open"} if deletes else {})
    stored = {p for record in records for one in record.binlogs for p in one.row_positions}
    live = {place[one.path] for r in records if is_level_zero(r.segment_id) for one in r.binlogs}
    dropped = {place[path] for r in records if is_level_zero(r.segment_id) for path in r.compaction.applied}
    segments = {g: known.get(segment) for g, segment in enumerate(scenario.segments)}
    kept = {g: record for g, record in segments.items() if record is not None}

    def row(p: int) -> str:
        if p == 0 or scenario.log[p - 1] <= 0:
            return "none"
        if p in stored:
            return "stored"
        record = known.get(scenario.log[p - 1])
        if record is not None and p <= record.dml_position.ts:
            return "removed"
        return "buffered" if p in rows else "syncing" if p in writing else "none"

    applied = {(place[path], g) for g, record in kept.items() for path in record.compaction.applied}
    delta = {(g, p) for g, r in kept.items() for one in r.compaction.deltas for p in one.row_positions}
    return {
        "consumed": consumed,
        "row": {p: row(p) for p in every},
        "buffer": {z: buffers.get(z, "none") for z in zeros},
        "content": {(z, p): (z, p) in content for z in zeros for p in every},
        "sent": {z: z < len(syncs) for z in zeros},
        "checkpoint": checkpoint,
        "report": report,
        "level": {z: "live" if z in live else "dropped" if z in dropped else "unknown" for z in zeros},
        "flushed": {g: record is not None and record.flushed for g, record in segments.items()},
        "applied": {(z, g): (z, g) in applied for z in zeros for g in segments},
        "delta": {(g, p): (g, p) in delta for g in segments for p in every},
        "start": load.start,
        "lifted": {p: p in load.lifted for p in every},
        "read": {g: segment in load.read for g, segment in enumerate(scenario.segments)},
        "shown": {p: p in load.shown for p in every},
    }
