"""A channel without a checkpoint: the coordinator, real write buffers and recovery filters of its nodes.

The coordinator notes the channel, and stores its first checkpoint at any later time, or never. Nodes take the
channel up one after the other while that is under way; each reads the log, saves its segments, and reports.
A write of the coordinator may fail, so that only a part of a save is recorded. Each step must be a step of
the variant ``Seek``.
"""

from collections.abc import Hashable, Mapping
from contextlib import suppress
from typing import Any

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datanode.metacache import MetaCache
from tidemark.impl.datanode.policies import FullBuffer
from tidemark.impl.datanode.recovery import RecoveryFilter
from tidemark.impl.datanode.sync_task import SyncTask
from tidemark.impl.datanode.write_buffer import WriteBuffer
from tidemark.impl.errors import ImplementationError, StoreError
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.stepped_lock import SteppedLock
from tidemark.impl.types import (
    LOG_BEGINNING,
    ChannelPosition,
    EndPosition,
    Pack,
    RecoveryAnswer,
    Row,
    SaveBinlogPaths,
    SaveOutcome,
    SegmentId,
    StartPosition,
    UpdateCheckpoints,
)
from tidemark.models.instance import Instance
from tidemark.models.protocols.channels.ports import META, SlowMeta
from tidemark.models.protocols.ownership.program import tenures
from tidemark.models.protocols.ownership.refinement.seek import CHANNEL, SeekView, Tenure, abstract
from tidemark.models.refinement.program import RefiningProgram
from tidemark.models.refinement.scenario import Scenario, mapped, program
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import ClockOrder, FaultBudget, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

CLUSTER = "cluster"
SPECIFICATION = "tidemark.spec.ownership.variants.seek_without_checkpoint:Seek"
_NOW = FullBuffer(limit_bytes=1)


class SeekScenario(Scenario):
    """What happens.

    Attributes:
        nodes: of each tenure its node, in their order.
        rows: of each position behind the beginning, the segment of its row.
        saves: the segments that each tenure saves, in their order.
        eager: they are saved after each row, and not after all.
        checkpoint: the first checkpoint is stored, at any time.
        reports: each tenure reports its checkpoint at the end.
        partition: this segment is dropped once the first tenure has saved it; 0 for none.
        drops: the collection is dropped, and a tenure that has stored all has its channel dropped.
        failures: how many writes of the coordinator fail.
    """

    nodes: tuple[str, ...] = ("a", "b")
    rows: tuple[SegmentId, ...] = (1, 2)
    saves: tuple[SegmentId, ...] = (2, 1)
    eager: bool = False
    checkpoint: bool = False
    reports: bool = False
    partition: SegmentId = 0
    drops: bool = False
    failures: int = 0

    @property
    def segments(self) -> tuple[SegmentId, ...]:
        """All segments, in order."""
        return tuple(sorted(set(self.rows)))

    def instance(self) -> Instance:
        """The bounded instance of the specification."""
        return tenures(SPECIFICATION, self.nodes, [self.segments.index(g) for g in self.rows])


class SeekProgram(RefiningProgram):
    """One coordinator, and the tenures of its nodes."""

    def __init__(self, scenario: SeekScenario) -> None:
        super().__init__(mapped(scenario, _values, ignored=("faults",)))
        faults = FaultBudget(storage_failures=scenario.failures)
        self.settings = Settings(clock=ClockOrder.UNTIMED, faults=faults)
        self.scenario = scenario
        self.tenures = [Tenure(scenario.segments) for _ in scenario.nodes]
        self.epochs, self.seen, self.ended = 0, 0, False
        self.coordinator: Coordinator | None = None

    def populate(self, world: World) -> None:
        """Define the process."""
        world.store(META, remote=False)
        world.process(CLUSTER, self._run, daemon=True)

    async def _run(self, process: Process) -> None:
        coordinator = Coordinator(meta=SlowMeta(process))
        coordinator.lock = SteppedLock(process)
        await coordinator.load()
        self.coordinator = coordinator
        process.spawn(self._watch(process, coordinator), "root coordinator")
        if self.scenario.drops:
            process.spawn(self._end(process), "client")

    async def _watch(self, process: Process, coordinator: Coordinator) -> None:
        """The channel is made in two writes; the second one is tried once."""
        while CHANNEL not in coordinator.channels:
            with suppress(StoreError):
                await coordinator.watch_channel(CHANNEL, LOG_BEGINNING)
        process.spawn(self._move(process, coordinator, 0), "tenure 0")
        if self.scenario.checkpoint:
            await process.point("operator.begin")
            with suppress(ImplementationError):
                await coordinator.begin_checkpoint(CHANNEL)

    async def _end(self, process: Process) -> None:
        await process.point("client.drop")
        self.ended, self.seen = True, len(self.scenario.rows)

    # ---- tenures ----

    async def _move(self, process: Process, coordinator: Coordinator, place: int) -> None:
        """The channel comes to a node, which works, while the next is under way."""
        await process.point("operator.move")
        answer = None
        while answer is None:
            try:
                answer = await self._take(coordinator, place)
            except StoreError:
                continue
            except ImplementationError:
                return  # it was dropped, or went to another, meanwhile
        if place + 1 < len(self.tenures):
            process.spawn(self._move(process, coordinator, place + 1), f"tenure {place + 1}")
        await self._work(process, coordinator, place)

    async def _take(self, coordinator: Coordinator, place: int) -> RecoveryAnswer:
        node = self.scenario.nodes[place]
        await coordinator.assign(CHANNEL, node)
        answer = await coordinator.recover_channel(CHANNEL, node, place + 1)
        self.epochs += 1
        buffer = WriteBuffer(
            channel=CHANNEL,
            owner=answer.owner,
            seek=answer.seek,
            metacache=MetaCache(answer.segments),
            policies=(),
            submit=_nothing,
            preemption=NoPreemption(),
            tells_starts=answer.asks_starts,
        )
        self.tenures[place].begin(answer=answer, buffer=buffer, epoch=self.epochs)
        return answer

    async def _work(self, process: Process, coordinator: Coordinator, place: int) -> None:
        tenure = self.tenures[place]
        assert tenure.answer is not None
        assert tenure.buffer is not None
        known = RecoveryFilter(tenure.answer.recorded_positions())
        for position in range(tenure.answer.seek.ts, len(self.scenario.rows)):
            await process.point("node.consume")
            tenure.buffer.consume(known.apply(self._pack(position)))
            self.seen = max(self.seen, tenure.buffer.consumed.ts)
            is_due = self.scenario.eager or position + 1 == len(self.scenario.rows)
            if is_due and not await self._save_all(process, coordinator, place):
                return
        await self._report(process, coordinator, tenure)
        await self._drop(process, coordinator, tenure)

    async def _save_all(self, process: Process, coordinator: Coordinator, place: int) -> bool:
        """Whether all that the node holds was recorded."""
        tenure = self.tenures[place]
        assert tenure.buffer is not None
        for segment in self.scenario.saves:
            if segment not in tenure.buffer.buffers:
                continue
            if not await self._save(process, coordinator, tenure, segment):
                return False
            if place == 0 and segment == self.scenario.partition:
                await process.point("client.partition")
                owner, end = tenure.buffer.owner, EndPosition(tenure.buffer.consumed.ts)
                request = SaveBinlogPaths(CHANNEL, owner, segment, end, None, dropped=True)
                with suppress(StoreError):
                    await coordinator.save_binlog_paths(request)
        return True

    def _pack(self, position: int) -> Pack:
        row = Row(position + 1, self.scenario.rows[position], position + 1)
        return Pack(StartPosition(position), EndPosition(position + 1), (row,))

    async def _save(
        self, process: Process, coordinator: Coordinator, tenure: Tenure, segment: SegmentId
    ) -> bool:
        """Whether the save of a segment was recorded. What was not is the next tenure's."""
        assert tenure.buffer is not None
        await process.point("node.send")
        task = tenure.buffer.sync_if_picked(segment, _NOW)
        assert task is not None
        tenure.send(segment, task.position.ts)
        request = task.save_request()
        try:
            if await coordinator.save_binlog_paths(request) is SaveOutcome.NOT_OWNER:
                return False
        except StoreError:
            return False
        tenure.now(segment, "taken")
        await process.point("node.learn")
        tenure.buffer.on_synced(task)
        tenure.now(segment, "idle")
        return True

    async def _report(self, process: Process, coordinator: Coordinator, tenure: Tenure) -> None:
        assert tenure.answer is not None
        assert tenure.buffer is not None
        await process.point("node.report")
        position = tenure.buffer.get_checkpoint()
        if self.scenario.reports and position.ts > tenure.top:
            tenure.top = position.ts
            reported = ChannelPosition(CHANNEL, position, tenure.answer.owner)
            with suppress(StoreError):
                await coordinator.update_channel_checkpoints(UpdateCheckpoints((reported,)))

    async def _drop(self, process: Process, coordinator: Coordinator, tenure: Tenure) -> None:
        assert tenure.answer is not None
        assert tenure.buffer is not None
        await process.point("node.ask")
        stored = tenure.buffer.get_checkpoint().ts
        if self.ended and stored == tenure.buffer.consumed.ts == len(self.scenario.rows):
            tenure.asks = True
            with suppress(ImplementationError):
                await coordinator.drop_channel(CHANNEL, tenure.answer.owner)

    # ---- what is looked at ----

    def observe(self) -> Observation:
        """What the coordinator has recorded, and what the tenures hold."""
        channel, segments = None, {}
        if self.coordinator is not None:
            channel, segments = self.coordinator.channels.get(CHANNEL), self.coordinator.segments
        view = SeekView(
            channel=channel,
            segments=tuple(segments.get(segment) for segment in self.scenario.segments),
            tenures=tuple(tenure.view() for tenure in self.tenures),
            epochs=self.epochs,
            seen=self.seen,
            ended=self.ended,
        )
        return {CLUSTER: view}

    def declared(self) -> Hashable:
        """The mutable data that influence what happens next."""
        users = () if self.coordinator is None else tuple(self.coordinator.lock.users)
        starts = tuple(
            tuple(one.buffer.starts.items()) if one.buffer is not None else () for one in self.tenures
        )
        answers = tuple(one.answer for one in self.tenures)
        return (tuple(self._observed.values()), users, starts, answers)


def _nothing(task: SyncTask) -> None:
    """The program sends the task itself."""


def _values(scenario: SeekScenario, known: Any) -> Mapping[str, Any]:
    return abstract(known[CLUSTER], positions=len(scenario.rows))


seek = program(SeekProgram, SeekScenario)
