"""From the live objects of data node and coordinator to the state of ``tidemark.spec.deletes``."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datanode.sync_task import SyncStage
from tidemark.impl.datanode.write_buffer import WriteBuffer
from tidemark.impl.types import ChannelName, SegmentId
from tidemark.impl.values.messages import is_level_zero
from tidemark.models.protocols.flush.refinement import CallId, NodeHistory
from tidemark.models.refinement.origins import Environment

Levels = Mapping[str, tuple[int, ...]]
"""Syncs of level-zero segments: path of the object -> positions of its deletes."""


class TaskView(NamedTuple):
    """One unfinished sync task. ``save`` is its last save call, None before the first."""

    path: str
    segment: SegmentId
    stage: str
    positions: tuple[int, ...]
    save: CallId | None


@dataclass(frozen=True)
class MemoryView:
    """What a data node holds, by positions."""

    consumed: int
    rows: tuple[int, ...]
    deletes: tuple[int, ...]
    tasks: tuple[TaskView, ...]


@dataclass(frozen=True)
class RecordsView:
    """What the coordinator has recorded, and the saves that it has answered with success."""

    checkpoint: int
    rows: tuple[int, ...]
    levels: tuple[tuple[str, tuple[int, ...]], ...]
    saves: tuple[CallId, ...]


def memory_view(buffer: WriteBuffer, incarnation: int, history: NodeHistory) -> MemoryView:
    """The picture of a node's memory."""
    held = {segment: tuple(row.ts for row in one.rows) for segment, one in buffer.buffers.items()}
    return MemoryView(
        consumed=buffer.consumed.ts,
        rows=tuple(sorted(p for segment, found in held.items() if not is_level_zero(segment) for p in found)),
        deletes=tuple(sorted(p for segment, found in held.items() if is_level_zero(segment) for p in found)),
        tasks=tuple(
            TaskView(
                task.path,
                task.segment_id,
                task.stage.value,
                tuple(row.ts for row in task.rows),
                history.saves.get((incarnation, task.segment_id, task.position.ts)),
            )
            for task in buffer.tasks.values()
        ),
    )


def records_view(coordinator: Coordinator, channel: ChannelName, saves: Iterable[CallId]) -> RecordsView:
    """The picture of the coordinator."""
    binlogs = [(s.segment_id, one) for s in coordinator.segments_of(channel) for one in s.binlogs]
    return RecordsView(
        checkpoint=coordinator.channel(channel).checkpoint,
        rows=tuple(sorted(p for g, one in binlogs if not is_level_zero(g) for p in one.row_positions)),
        levels=tuple(sorted((one.path, one.row_positions) for g, one in binlogs if is_level_zero(g))),
        saves=tuple(sorted(saves)),
    )


def abstract(
    memory: MemoryView,
    records: RecordsView,
    syncs: Levels,
    *,
    sent: Iterable[int],
    segments: int,
    levels: int,
    positions: int,
) -> dict[str, Any]:
    """The state of ``tidemark.spec.deletes``, by variable name and without the fault counter.

    syncs: every sync of a level-zero segment, in the order in which they began.
    """
    every = range(positions + 1)
    recorded = dict(records.levels)
    place = {path: index for index, path in enumerate(syncs)}
    content = {(place[path], p) for path, found in syncs.items() for p in recorded.get(path, found)}
    content |= {(len(place), p) for p in memory.deletes}
    buffers = {place[task.path]: _buffer(task, records) for task in memory.tasks if task.path in place}
    if memory.deletes:
        buffers[len(place)] = "open"
    zeros = range(levels)
    syncing = {p for task in memory.tasks if not is_level_zero(task.segment) for p in task.positions}
    return {
        "consumed": memory.consumed,
        "row": {p: _row(p, memory, records, syncing) for p in every},
        "buffer": {z: buffers.get(z, "none") for z in zeros},
        "content": {(z, p): (z, p) in content for z in zeros for p in every},
        "sent": {z: z < len(place) for z in zeros},
        "checkpoint": records.checkpoint,
        "report": max(sent, default=0),
        "level": {z: "live" if any(place.get(path) == z for path in recorded) else "unknown" for z in zeros},
        "flushed": dict.fromkeys(range(segments), False),
        "applied": {(z, g): False for z in zeros for g in range(segments)},
        "delta": {(g, p): False for g in range(segments) for p in every},
        "start": 0,
        "lifted": dict.fromkeys(every, False),
        "read": dict.fromkeys(range(segments), False),
        "shown": dict.fromkeys(every, False),
    }


def _buffer(task: TaskView, records: RecordsView) -> str:
    answered = task.stage == SyncStage.SENDING.value and task.save in records.saves
    return "answered" if answered else "syncing"


def _row(position: int, memory: MemoryView, records: RecordsView, syncing: set[int]) -> str:
    if position in records.rows:
        return "stored"
    if position in memory.rows:
        return "buffered"
    return "syncing" if position in syncing else "none"


ENVIRONMENT = Environment(
    "spec/deletes:Deletes",
    {
        "buffer": "whether the last save of a task was handled: noted on the network",
        "content": "the order of the syncs, and their deletes before they are recorded: noted by the program",
        "sent": "a history: the syncs of level-zero segments that were begun",
        "report": "a history: the greatest checkpoint that was ever sent",
        "flushed, applied, delta, start, lifted, read, shown": (
            "compaction and query nodes: not in these programs"
        ),
    },
)
"""What is not read from the implementation, and why."""
