"""What becomes of recorded deletes as a program under exploration: coordinator, compactor of level zero, and
a query node that loads the channel; each step must be a step of ``tidemark.spec.deletes``.

The data node is a short plan: it takes what the log has, writes it out, reports, and ends its segments. Its
own code is judged by ``program.py``. The metadata suspend if the scenario says so: then tasks wait for the
coordinator's lock, and a record may change while the compactor has it.
"""

from collections.abc import Awaitable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tidemark.impl.cluster.replicas import describe
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.level_zero import LevelZeroCompactor
from tidemark.impl.querynode.config import QueryNodeConfig
from tidemark.impl.querynode.delegator import ShardDelegator
from tidemark.impl.querynode.values import LoadSegment, ShardRead
from tidemark.impl.stepped_lock import SteppedLock
from tidemark.impl.storage.memory import MemoryMetaStore
from tidemark.impl.types import (
    BinlogRecord,
    ChannelPosition,
    ChannelRecord,
    EndPosition,
    Owner,
    SaveBinlogPaths,
    SegmentRecord,
    UpdateCheckpoints,
)
from tidemark.impl.values.messages import DeleteMessage, is_level_zero
from tidemark.models.protocols.deletes.program.levels import (
    CompactionScenario,
    LoadView,
    NodeState,
    Sync,
    abstract,
    found_in,
)
from tidemark.models.protocols.flush.ports import CHANNEL, NODE, OBJECTS, Objects
from tidemark.models.refinement.program import RefiningProgram
from tidemark.models.refinement.scenario import mapped, program
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

MACHINE = "machine"
VISIBLE = "loaded_rows_are_right"
"""Claim id: once the stream was read, the query node shows the rows of the log that are not deleted."""
DELETES_ARE_GONE = "deletes_are_gone"
"""Claim id: at the end no level-zero binlog is left, and segments hold the rows that are not deleted."""


class LateAnswers(MemoryMetaStore):
    """Metadata whose answer to a save of segments comes in a later step than the save."""

    process: Process | None = None

    async def save_segment(self, record: SegmentRecord) -> None:
        """Save the record."""
        await super().save_segment(record)
        await self._answer()

    async def replace_segment(self, record: SegmentRecord) -> None:
        """Save the record."""
        await super().replace_segment(record)
        await self._answer()

    async def _answer(self) -> None:
        assert self.process is not None
        await self.process.point("meta.answer")


class CompactionProgram(RefiningProgram):
    """One machine with coordinator, compactor, a query node and the plan of a data node."""

    table = "deletes"
    claims = (VISIBLE, DELETES_ARE_GONE)

    def __init__(self, scenario: CompactionScenario) -> None:
        super().__init__(mapped(scenario, _values, ignored=("faults",)))
        self.scenario = scenario
        self.settings = Settings(
            clock=ClockOrder.UNTIMED,
            faults=scenario.faults,
            crashable=frozenset({MACHINE}) if scenario.crashes else frozenset(),
        )
        self.meta = LateAnswers() if scenario.suspends else MemoryMetaStore()
        self.node = NodeState()
        self.load = LoadView()
        self.wrong: str | None = None
        self.coordinator: Coordinator | None = None
        self.compactor: LevelZeroCompactor | None = None
        self.delegator: ShardDelegator | None = None
        self.busy = 0

    def populate(self, world: World) -> None:
        """Define the process and what is stored at the start."""
        self.meta.channels[CHANNEL] = ChannelRecord(
            CHANNEL, assigned_to=NODE, last_owner=NODE, term=1, session=1
        )
        world.process(MACHINE, self._run, daemon=True)

    async def _run(self, process: Process) -> None:
        coordinator = self.coordinator = Coordinator(meta=self.meta)
        await coordinator.load()
        if isinstance(self.meta, LateAnswers):
            self.meta.process, coordinator.lock = process, SteppedLock(process)
        self.compactor = LevelZeroCompactor(
            coordinator=coordinator, store=Objects(process), preemption=process
        )
        self.delegator = None
        owner, known = Owner(NODE, 1), coordinator.segments_of(CHANNEL)
        if process.incarnation > 1:
            await process.point("plan.recover")
            answer = await coordinator.recover_channel(CHANNEL, NODE, process.incarnation)
            owner, known = answer.owner, answer.segments
            self.node = replace(
                self.node, consumed=answer.seek.ts, rows=(), writing=(), deletes=(),
                syncs=[sync._replace(state="none") for sync in self.node.syncs],
            )  # fmt: skip
        work = {
            "plan": self._consume(process, owner, known),
            **{f"compactor {n}": self._compact(process) for n in range(self.scenario.compactions)},
            **{f"rewriter {n}": self._rewrite(process) for n in range(self.scenario.rewrites)},
        }
        self.busy = len(work)
        for name, task in work.items():
            process.spawn(self._then(task), name)

    async def _then(self, work: Awaitable[None]) -> None:
        """The last to end compacts once more: what is left then stays."""
        await work
        self.busy -= 1
        if not self.busy:
            assert self.compactor is not None
            await self.compactor.compact(CHANNEL)
            await self.compactor.rewrite(CHANNEL)

    # The data node.

    async def _consume(self, process: Process, owner: Owner, known: Sequence[SegmentRecord]) -> None:
        node, recorded = self.node, {record.segment_id: record.dml_position.ts for record in known}
        waiting: dict[int, list[int]] = {}
        for position in range(node.consumed + 1, len(self.scenario.log) + 1):
            await process.point("plan.take")
            node.consumed, segment = position, self.scenario.log[position - 1]
            if segment == 0 or position <= recorded.get(segment, 0):
                continue
            if is_level_zero(segment):
                node.deletes = (*node.deletes, position)
            else:
                node.rows = (*node.rows, position)
            waiting.setdefault(segment, []).append(position)
            if not self.scenario.late:
                await self._write(process, owner, segment, waiting.pop(segment))
            if position == self.scenario.ends:
                await self._report(process, owner)
                await self._end(process, owner)
        for segment in sorted(waiting):
            if not is_level_zero(segment):
                await self._report(process, owner)
            await self._write(process, owner, segment, waiting[segment])
        await self._report(process, owner)
        if not self.scenario.ends:
            await self._end(process, owner)
        await self._load(process)

    async def _end(self, process: Process, owner: Owner) -> None:
        """The segments end where the log was read to."""
        for segment in self.scenario.segments:
            await process.point("plan.end")
            await self._save(owner, segment, self.node.consumed, None, flushed=True)

    async def _write(self, process: Process, owner: Owner, segment: int, positions: list[int]) -> None:
        """Write out what is held of a segment, and have it recorded."""
        node, found = self.node, tuple(positions)
        path = f"{CHANNEL}/segment-{segment}/{owner.term}-{positions[-1]}"
        await process.point("plan.sync")
        if is_level_zero(segment):
            node.deletes = ()
            node.syncs.append(Sync(path, found, "syncing"))
        else:
            node.rows = tuple(position for position in node.rows if position not in found)
            node.writing = found
        # The object is there when it is named.
        self.world.store(OBJECTS).content()[path] = tuple(map(self.scenario.row, positions))
        await process.point("plan.save")
        await self._save(owner, segment, positions[-1], BinlogRecord(path, found))
        node.writing = ()
        if is_level_zero(segment):
            node.syncs[-1] = node.syncs[-1]._replace(state="answered")
            await process.point("plan.finish")
            node.syncs[-1] = node.syncs[-1]._replace(state="none")

    async def _save(
        self, owner: Owner, segment: int, position: int, binlog: BinlogRecord | None, *, flushed: bool = False
    ) -> None:
        assert self.coordinator is not None
        request = SaveBinlogPaths(CHANNEL, owner, segment, EndPosition(position), binlog, flushed=flushed)
        await self.coordinator.save_binlog_paths(request)

    async def _report(self, process: Process, owner: Owner) -> None:
        assert self.coordinator is not None
        await process.point("plan.report")
        held = (*self.node.rows, *self.node.deletes)
        self.node.report = max(self.node.report, min(held, default=self.node.consumed + 1) - 1)
        await process.point("plan.update")
        position = ChannelPosition(CHANNEL, EndPosition(self.node.report), owner)
        await self.coordinator.update_channel_checkpoints(UpdateCheckpoints((position,)))

    # Compactor and query node.

    async def _compact(self, process: Process) -> None:
        assert self.compactor is not None
        await process.point("compactor.begin")
        await self.compactor.compact(CHANNEL)

    async def _rewrite(self, process: Process) -> None:
        assert self.compactor is not None
        await process.point("rewriter.begin")
        await self.compactor.rewrite(CHANNEL)

    async def _load(self, process: Process) -> None:
        for levels in self.scenario.loads:
            await process.point("load.begin")
            assert self.coordinator is not None
            given = describe(self.coordinator, CHANNEL, levels=levels)
            stored = [record for record in given.segments if is_level_zero(record.segment_id)]
            lifted = tuple(p for record in stored for one in record.binlogs for p in one.row_positions)
            self.load = LoadView(given.seek.ts, lifted)
            delegator = self.delegator = ShardDelegator(
                replace(given, segments=tuple(stored)),
                store=Objects(process),
                preemption=process,
                config=QueryNodeConfig(),
            )
            await delegator.recover()
            for segment in self.scenario.segments:
                await process.point("load.segment")
                record = self.coordinator.segments[segment]
                # The files of the segment are what its record names at this moment.
                self.load = self.load.with_segment(segment, found_in(self.scenario, record))
                await delegator.load(LoadSegment(record, replay_from=0))
            self._follow(delegator)

    def _follow(self, delegator: ShardDelegator) -> None:
        """The stream from the start on, and then a look at everything."""
        end = len(self.scenario.log)
        for row in self.scenario.every():
            if row.ts <= self.load.start:
                continue
            if is_level_zero(row.segment_id):
                delegator.delete(DeleteMessage(row.ts, CHANNEL, row.segment_id, (row.key,)))
            else:
                delegator.insert((row,))
        seen = sorted(row.ts for row in delegator.collect(ShardRead(end, moment=end)))
        if seen != self.scenario.left():
            self.wrong = f"{VISIBLE}: the rows {self.scenario.left()} are there, and the node has {seen}"

    # What is looked at.

    def complaint(self) -> str | None:
        """What the query node shows is what the log says."""
        return self.wrong

    def check_final(self) -> str | None:
        """Return what is left of deletes, or missing, when all is done."""
        segments = self.meta.segments.values()
        levels = [one.path for r in segments if is_level_zero(r.segment_id) for one in r.binlogs]
        files = self.world.store(OBJECTS).content()
        stored = {row.ts for r in segments for one in r.binlogs for row in files.get(one.path, ())}
        if levels or stored != set(self.scenario.left()):
            return f"{DELETES_ARE_GONE}: the binlogs {levels} and the positions {sorted(stored)} are left"
        return None

    def element(self, name: str, value: Any) -> Any:
        """Return a number."""
        del name
        return int(value)

    def observe(self) -> Observation:
        """Return the records, and what node and query node hold."""
        channel = self.meta.channels.get(CHANNEL, ChannelRecord(CHANNEL))
        records = tuple(self.meta.segments[one] for one in sorted(self.meta.segments))
        levels = [record for record in records if is_level_zero(record.segment_id)]
        recorded = {one.path for record in levels for one in record.binlogs}
        recorded |= {path for record in levels for path in record.compaction.applied}
        return {MACHINE: (channel.checkpoint, records, self.node.view(recorded), self.load)}

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        users: Hashable = None
        if self.compactor is not None:
            assert self.coordinator is not None
            users = (
                tuple(sorted((one, tuple(lock.users)) for one, lock in self.compactor.locks.items())),
                tuple(self.coordinator.lock.users),
                tuple((one, r, r.compaction) for one, r in sorted(self.coordinator.segments.items())),
            )
        memory: Hashable = None
        if self.delegator is not None:
            memory = (
                repr([(one.segment_id, one.rows, one.deletes) for one in self.delegator.segments()]),
                repr(self.delegator.deletes.kept),
                self.delegator.serviceable,
            )
        records = [self.meta.segments[one] for one in sorted(self.meta.segments)]
        extra = tuple((record, record.compaction) for record in records)
        term = self.meta.channels[CHANNEL].term if self.meta.channels else 0
        return (tuple(self._observed.values()), extra, term, users, memory, self.wrong, self.busy)


def _values(scenario: CompactionScenario, known: Any) -> Mapping[str, Any]:
    return abstract(scenario, *known[MACHINE], levels=scenario.levels)


compaction = program(CompactionProgram, CompactionScenario)
