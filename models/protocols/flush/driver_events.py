"""Which step of ``tidemark.spec.flush`` an event of the driven world represents, by its label.

The reading follows ``actions.toml``, the table that ``impl/README.md`` shows. It says what the event is
*meant* to do, from its name and from what waits for it; whether it does that is what the machine finds out.
"""

from __future__ import annotations

import re
from typing import Any

from tidemark.impl.datanode.sync_task import SyncStage, SyncTask
from tidemark.impl.types import ChannelName, SaveBinlogPaths, SaveOutcome, SegmentId, UpdateCheckpoints
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.flush.driver_world import DrivenFlush
from tidemark.models.protocols.flush.ports import NODE
from tidemark.models.protocols.flush.scenario import CHANNEL
from tidemark.models.refinement.actions import action_table
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.world.world import World

_OBJECT = re.compile(r"put objects/.*/segment-(\d+)/term-\d+-position-(\d+) ")
_NUMBER = re.compile(r" (\d+)$")
_ACTIONS = action_table("flush")
_WITHOUT_ARGUMENTS = frozenset(
    {"read_checkpoint", "read_flush_ts", "clear_flush_ts", "clean_up", "unassign", "assign"}
)
_BY_TIMER, _BY_SIGNAL = Step("send_by_ticker"), Step("send_by_signal")
_LOSSES = ("delay", "drop", "lose reply")
_AGAIN = ".recover_channel again"


class EventReader:
    """Reads the events of one run."""

    def __init__(self, program: DrivenFlush, world: World) -> None:
        self._program = program
        self._world = world
        self._place = {segment: place for place, segment in enumerate(program.scenario.segments)}
        self._seek: int | None = None

    def step_of(self, event: Event) -> Step | None:
        """The step that the event represents; None if it represents none."""
        verb, _, rest = event.label.partition(" ")
        if verb == "resume":
            return self._resumed(rest.partition(" ")[0], event.owner)
        if verb == "consume":
            return Step("consume")
        if verb == "put":
            return self._put(event)
        if verb in ("crash", "restart"):
            return Step("crash") if verb == "crash" else self._recover(self._stored())
        if verb == "lose":
            verb, rest = "lose reply", rest.partition(" ")[2]
        return self._message(verb, rest)

    def note(self, event: Event) -> None:
        """To be called before an event is fired: the answer to a recovering node is made by then."""
        if event.label.startswith("deliver ") and event.label.endswith(".recover_channel"):
            self._seek = self._stored()

    def round_is_handed_over(self) -> bool:
        """The updater's lock is held by a round that has not begun."""
        return any(label.startswith("resume updater.next_round") for label in self._world.events)

    def _stored(self) -> int:
        assert self._program.coordinator is not None
        return self._program.coordinator.channel(CHANNEL).checkpoint

    def _recover(self, seek: int) -> Step:
        return Step("recover", (seek,))

    def _put(self, event: Event) -> Step | None:
        """An upload. What a dead node has begun may still reach the store: that is not looked at."""
        found = _OBJECT.match(event.label)
        if found is None or event.lane.name != NODE:
            return None
        return self._task_step("upload", SegmentId(found[1]), int(found[2]))

    def _task_step(self, action: str, segment: SegmentId, end: int) -> Step:
        return Step(action, (self._place[segment], end))

    # Points.

    def _resumed(self, point: str, owner: str) -> Step | None:
        action = _ACTIONS.at(point)
        if action in _WITHOUT_ARGUMENTS:
            return Step(action)
        if action is not None and point.startswith("policy."):
            picked = self._program.picked[point.removeprefix("policy.")]
            return Step(action, (self._place[picked],))
        if point.startswith("client."):
            action = "ask_flush" if point == "client.ask" else "confirm_flush"
            return Step(action, (_number(owner),))
        if point == "tt.read_flush_ts":
            return Step("submit_checkpoint", (self._due(),))
        if point in ("updater.select", "updater.next_round"):
            if point == "updater.select" and self.round_is_handed_over():
                return None
            return _BY_TIMER if owner.endswith("timer") else _BY_SIGNAL
        if owner.startswith("sync "):
            return self._of_running_task(point, _number(owner))
        return self._paused(owner) if point == "pause" else None

    def _due(self) -> bool:
        """Whether the interval has passed for the pack that is at the time-tick node."""
        pipeline = self._pipeline()
        last = pipeline.time_tick_node.last_update
        return last is None or pipeline.write_buffer.consumed.ts - last >= self._program.interval

    def _pipeline(self) -> Any:
        assert self._program.node is not None
        return self._program.node.pipelines[CHANNEL]

    def _of_running_task(self, point: str, segment: SegmentId) -> Step | None:
        """A step of the segment's oldest task. After a pause it does again what has failed."""
        assert self._program.node is not None
        queues = self._program.node.sync_manager.queues.items()
        running: list[SyncTask] = [queue[0] for _, queue in queues if queue[0].segment_id == segment]
        for task in running:
            if point == "sync.upload" and not task.rows:
                return self._task_step("upload", segment, task.position.ts)
            if point != "sync.upload" and task.stage is SyncStage.UPLOADED:
                return self._task_step("send_save", segment, task.position.ts)
        return None

    def _paused(self, owner: str) -> Step | None:
        if owner.endswith("checkpoint timer"):
            return None if self.round_is_handed_over() else _BY_TIMER
        if owner.endswith("memory check"):
            oldest = self._pipeline().write_buffer.oldest_buffered_segment()
            return None if oldest is None else Step("sync_full", (self._place[oldest],))
        return None

    # Messages.

    def _message(self, verb: str, title: str) -> Step | None:
        known = self._world.network.in_flight().get(f"message {title}")
        if known is None:
            return None
        _, method, arguments, _ = known
        if verb == "drop" and not self._world.network.awaited(title):
            return None
        if method == "save_binlog_paths":
            return self._save(verb, title, arguments[0])
        if method == "update_channel_checkpoints":
            return self._report(verb, arguments[0])
        if verb == "deliver" and title.endswith(_AGAIN):
            return self._asked_again(*arguments)
        if verb == "reply" and method == "recover_channel":
            return None if self._seek is None else self._recover(self._seek)
        if verb == "deliver" and self._program.opened:
            return self._request(method, arguments)
        return None

    def _save(self, verb: str, title: str, request: SaveBinlogPaths) -> Step | None:
        """A save of an earlier incarnation is refused: it represents no step."""
        segment, end = request.segment_id, request.position.ts
        if verb == "deliver":
            assert self._program.coordinator is not None
            term = self._program.coordinator.channel(CHANNEL).term
            return self._task_step("record", segment, end) if request.owner.term == term else None
        refused = self._world.network.answer(title) == repr(SaveOutcome.NOT_OWNER)
        if verb in _LOSSES or (verb == "reply" and refused):
            return self._task_step("lose_save", segment, end)
        return self._task_step("finish_sync", segment, end) if verb == "reply" else None

    def _asked_again(self, channel: ChannelName, node_id: str, session: int) -> Step | None:
        """A copy of the question of a recovering node gives it the channel, as the question did; that of an
        earlier incarnation is refused.
        """
        del node_id
        assert self._program.coordinator is not None
        record = self._program.coordinator.channel(channel)
        return Step("assign") if record.assigned_to is None and session >= record.session else None

    def _report(self, verb: str, request: UpdateCheckpoints) -> Step | None:
        if verb == "deliver":
            return Step("store", (request.positions[0].position.ts,))
        if verb in _LOSSES:
            return Step("fail_rpc")
        return Step("ack") if verb == "reply" else None

    def _request(self, method: str, arguments: tuple[Any, ...]) -> Step | None:
        """What the coordinator asks of the node."""
        if method == "flush_channel":
            return Step("deliver_flush", (arguments[1],))
        if method == "seal_segments":
            return Step("seal", (self._place[arguments[1][0]],))
        return None


def _number(owner: str) -> int:
    """The number at the end of a task's name."""
    found = _NUMBER.search(owner)
    if found is None:
        raise ValueError(f"the task {owner!r} has no number at its end; name it like 'client 2'")
    return int(found[1])
