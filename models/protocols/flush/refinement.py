"""From the live objects of the flush implementation to the state of ``tidemark.spec.flush``.

The mapping is made of views: each is a frozen picture of what one simulated process owns, so that an
explorer knows which process a component belongs to. ``abstract`` joins the views to a state of the
specification.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datanode.data_node import DataNode
from tidemark.impl.datanode.sync_task import SyncStage
from tidemark.impl.types import CallStage, ChannelName, SegmentId
from tidemark.models.refinement.origins import Environment

CallId = tuple[int, int]
"""A remote call: incarnation of the sender, number within it."""


class TaskView(NamedTuple):
    """One unfinished sync task. ``save`` is its last save call, None before the first."""

    segment: SegmentId
    end: int
    stage: str
    is_flush: bool
    rows: tuple[int, ...]
    save: CallId | None


@dataclass(frozen=True)
class NodeView:
    """One incarnation of the data node. Rows are given by their positions, segments by their ids."""

    consumed: int
    buffered: tuple[int, ...]
    tasks: tuple[TaskView, ...]
    phases: tuple[tuple[SegmentId, str], ...]
    flush_ts: int
    reading: int | None
    pending: tuple[int, bool] | None
    """(position, flush flag)."""
    signal: bool
    """The event of the updater is set."""
    rpc: tuple[str, int, int, CallId] | None
    """(stage, position, flush timestamp that the callback saw, id of the call)."""
    delivered: tuple[int, ...]
    """Flush timestamps that FlushChannel has brought to this incarnation."""
    apart: bool
    """A request of another channel has failed: it is reported apart."""


@dataclass(frozen=True)
class CoordinatorView:
    """The data coordinator's records, and what it has handled."""

    assigned: bool
    stored: int
    binlogs: tuple[int, ...]
    """Positions of recorded rows, as often as they are recorded, sorted."""
    dml: tuple[tuple[SegmentId, int], ...]
    flushed: tuple[SegmentId, ...]
    asked: tuple[int, ...]
    """Every flush timestamp that a client has asked for."""
    open: tuple[int, ...]
    """Those that are not confirmed."""
    recorded_saves: tuple[CallId, ...]
    """Save calls that were answered with success, and those overtaken by one of the same task."""
    handled_checkpoints: tuple[CallId, ...]
    """Checkpoint calls that were handled, and those overtaken by one with the same position."""


@dataclass
class NodeHistory:
    """What the explorer's adapters note of one node, all incarnations: the mapping's only history
    variables.
    """

    saves: dict[tuple[int, SegmentId, int], CallId]
    """The last save call of each task: (incarnation, segment, end)."""
    checkpoint_call: CallId | None
    """The last checkpoint call of all."""
    sent: tuple[int, ...]
    delivered: dict[int, tuple[int, ...]]
    reported: tuple[int, ...] = ()
    """The positions of the last checkpoint call."""

    def task_save(self, call: CallId, segment: SegmentId, end: int) -> CallId:
        """The last save call of the task that a call belongs to."""
        return self.saves.get((call[0], segment, end), call)

    def deliver(self, incarnation: int, flush_ts: int) -> None:
        """Note that an incarnation knows a flush."""
        self.delivered[incarnation] = tuple(sorted({*self.delivered.get(incarnation, ()), flush_ts}))

    def told(self) -> tuple[int, ...]:
        """Every flush timestamp that some incarnation knew."""
        return tuple(sorted({ts for known in self.delivered.values() for ts in known}))

    def same_report(self, call: CallId, positions: tuple[int, ...]) -> CallId:
        """The last checkpoint call if it reports the same positions, else the given one."""
        same = self.checkpoint_call is not None and self.reported == positions
        return self.checkpoint_call if same and self.checkpoint_call is not None else call


def node_view(
    node: DataNode, channel: ChannelName, incarnation: int, history: NodeHistory
) -> NodeView | None:
    """The picture of a node that has opened the channel; None before."""
    pipeline = node.pipelines.get(channel)
    if pipeline is None:
        return None
    buffer, updater = pipeline.write_buffer, node.updater
    task = updater.tasks.get(channel)
    reading = node.buffers.reading.get(channel)
    return NodeView(
        consumed=buffer.consumed.ts,
        buffered=tuple(sorted(row.ts for held in buffer.buffers.values() for row in held.rows)),
        tasks=tuple(
            sorted(
                TaskView(
                    item.segment_id,
                    item.position.ts,
                    item.stage.value,
                    item.is_flush,
                    tuple(row.ts for row in item.rows),
                    history.saves.get((incarnation, item.segment_id, item.position.ts)),
                )
                for item in buffer.tasks.values()
            )
        ),
        phases=tuple(
            sorted((info.segment_id, info.phase.value) for info in buffer.metacache.segments.values())
        ),
        flush_ts=buffer.flush_ts,
        reading=None if reading is None else reading.ts,
        pending=None if task is None else (task.position.ts, task.flush),
        signal=updater.signal.is_set(),
        rpc=_rpc_view(node, channel, history),
        delivered=history.delivered.get(incarnation, ()),
        apart=bool(updater.apart.keys() - {channel}),
    )


def _rpc_view(
    node: DataNode, channel: ChannelName, history: NodeHistory
) -> tuple[str, int, int, CallId] | None:
    call = node.updater.in_flight.get(channel)
    if call is None or history.checkpoint_call is None:
        return None
    seen = call.saw_flush_ts if call.stage is CallStage.READ else 0
    return (call.stage.value, call.position.ts, seen, history.checkpoint_call)


def coordinator_view(
    coordinator: Coordinator,
    channel: ChannelName,
    *,
    asked: Iterable[int],
    recorded_saves: Iterable[CallId],
    handled_checkpoints: Iterable[CallId],
) -> CoordinatorView:
    """The picture of the coordinator."""
    record = coordinator.channel(channel)
    segments = coordinator.segments_of(channel)
    return CoordinatorView(
        assigned=record.assigned_to is not None,
        stored=record.checkpoint,
        binlogs=tuple(sorted(p for s in segments for binlog in s.binlogs for p in binlog.row_positions)),
        dml=tuple((s.segment_id, s.dml_position.ts) for s in segments),
        flushed=tuple(s.segment_id for s in segments if s.flushed),
        asked=tuple(sorted(asked)),
        open=tuple(sorted({request.flush_ts for request in record.flush_requests})),
        recorded_saves=tuple(sorted(recorded_saves)),
        handled_checkpoints=tuple(sorted(handled_checkpoints)),
    )


_STAGES = {
    SyncStage.QUEUED.value: "queued",
    SyncStage.UPLOADED.value: "uploaded",
    SyncStage.SENDING.value: "sending",
}


def abstract(
    node: NodeView | None,
    coordinator: CoordinatorView,
    *,
    alive: bool,
    sent: Iterable[int],
    segments: tuple[SegmentId, ...],
    positions: int,
) -> dict[str, Any]:
    """The state of ``tidemark.spec.flush``, by variable name and without the fault counter.

    node: the present incarnation, or the last one while none has opened the channel (its memory is frozen
    until recovery).
    alive: whether that incarnation still runs. segments: ids in the order of the specification's elements.
    """
    every = range(positions + 1)
    place = {segment: index for index, segment in enumerate(segments)}
    memory = node if node is not None else _EMPTY
    running = memory if alive else _EMPTY
    syncing = {p for task in memory.tasks for p in task.rows}
    stages = {
        (place[task.segment], task.end): _task(task.stage, task.save, coordinator) for task in memory.tasks
    }
    flush_tasks = {(place[task.segment], task.end) for task in memory.tasks if task.is_flush}
    phases = {place[g]: phase for g, phase in memory.phases if g in place}
    dml, flushed = dict(coordinator.dml), set(coordinator.flushed)
    request = {t: _request(t, running, coordinator) for t in every}
    rpc, rpc_position, saw = _rpc(running, coordinator)
    pending_position, pending_flush = running.pending or (0, False)
    return {
        "alive": alive,
        "consumed": memory.consumed,
        "held": {
            p: "buffered" if p in memory.buffered else "syncing" if p in syncing else "none" for p in every
        },
        "task": {(g, e): stages.get((g, e), "none") for g in place.values() for e in every},
        "flush_task": {(g, e): (g, e) in flush_tasks for g in place.values() for e in every},
        "phase": {g: phases.get(g, "growing") for g in place.values()},
        "flush_ts": running.flush_ts,
        "tick": "idle" if running.reading is None else "have_checkpoint",
        "tick_position": running.reading or 0,
        "pending": running.pending is not None,
        "pending_position": pending_position,
        "pending_flush": pending_flush,
        # Without a flagged task it means nothing: the runner takes it and sends nothing.
        "signal": running.signal and pending_flush,
        "rpc": rpc,
        "rpc_position": rpc_position,
        "saw_flush_ts": saw,
        "assigned": coordinator.assigned,
        "stored": coordinator.stored,
        "copies": {p: coordinator.binlogs.count(p) for p in every},
        "dml": {index: dml.get(segment, 0) for segment, index in place.items()},
        "flushed": {index: segment in flushed for segment, index in place.items()},
        "request": request,
        "in_network": {p: p in set(sent) for p in every},
    }


_EMPTY = NodeView(
    consumed=0,
    buffered=(),
    tasks=(),
    phases=(),
    flush_ts=0,
    reading=None,
    pending=None,
    signal=False,
    rpc=None,
    delivered=(),
    apart=False,
)


def _task(stage: str, call: CallId | None, coordinator: CoordinatorView) -> str:
    """A sent save is *recorded* once the coordinator has answered this call with success; after a failure
    it is *retrying*.
    """
    if stage == SyncStage.SENDING.value and call is not None:
        return "recorded" if call in coordinator.recorded_saves else "sending"
    if stage == SyncStage.UPLOADED.value and call is not None:
        return "retrying"
    return _STAGES[stage]


def _request(ts: int, running: NodeView, coordinator: CoordinatorView) -> str:
    if ts not in coordinator.asked:
        return "none"
    if ts not in coordinator.open:
        return "confirmed"
    return "delivered" if ts in running.delivered else "asked"


def _rpc(running: NodeView, coordinator: CoordinatorView) -> tuple[str, int, int]:
    if running.rpc is None:
        return "idle", 0, 0
    stage, position, saw, call = running.rpc
    if stage == CallStage.SENT.value and call in coordinator.handled_checkpoints:
        stage = "stored"
    return stage, position, saw


ENVIRONMENT = Environment(
    "spec/flush:Flush",
    {
        "alive": "whether the process lives",
        "task": "which save call it waits for, and whether that was handled: noted on the network",
        "rpc, rpc_position, saw_flush_ts": "whether the call was handled: noted on the network",
        "request": "what clients have asked for, and FlushChannel has brought to the node: noted",
        "in_network": "a history: each position that was ever sent",
    },
)
"""What is not read from the implementation, and why."""
