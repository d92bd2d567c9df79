"""A query node that takes a channel up and loads segments, as a program under exploration.

Each step must be a step of ``tidemark.spec.segments``, or change nothing of it. What is flushed when the
channel is taken up is listed in its description, and the node loads it as it recovers; what is flushed later
is loaded at a request. The stream goes on meanwhile. A node that crashes, or cannot read a file and gives the
channel up, takes it up anew.
"""

import asyncio
from collections.abc import Hashable, Mapping
from typing import Any

from tidemark.impl.errors import StoreError
from tidemark.impl.querynode.config import QueryNodeConfig
from tidemark.impl.querynode.delegator import ShardDelegator
from tidemark.impl.querynode.query_node import QueryNode, QueryNodePorts
from tidemark.impl.querynode.values import ChannelDescription, LoadSegment, ShardRead
from tidemark.impl.stream.consumer import ChannelConsumer
from tidemark.impl.stream.packs import StreamPosition
from tidemark.impl.values.messages import LogMessage, Tick
from tidemark.impl.values.nearest import Nearest
from tidemark.models.instance import Instance
from tidemark.models.protocols.common.growing_log import LOG
from tidemark.models.protocols.segments.ports import CHANNEL, KEY, Storage, Stored, WritePlan
from tidemark.models.protocols.segments.refinement import NodeView, abstract, node_view
from tidemark.models.refinement.program import Abstraction, RefiningProgram
from tidemark.models.refinement.scenario import FaultyScenario, mapped, program
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

SPECIFICATION = "tidemark.spec.segments:Segments"
NODE = "node"
ANSWERS = "a_read_finds_what_was_written"
"""Claim id: at each moment up to its service time a node finds the rows of the log that nothing has deleted;
a search finds the latest one of a key, and a read of no keys none."""


class SegmentsScenario(FaultyScenario):
    """What happens in a program of segments.

    Attributes:
        writes: by number ``ts``, and ``segment`` for a row. What is in the log comes in the order of time.
        ticks: the ticks.
        stored: what is stored, one after the other: ``save W`` (a row or a delete), ``store N``,
            ``store_deletes N``, ``flush N``, ``flush_later N``: once the channel was taken up.
        since: the channel is taken up once the checkpoint has come to this.
        trims: the delete buffer is trimmed once the delete checkpoint has come to this; 0: never.
        failures: so many reads of files may fail.
        attempts: how often the node tries to load a listed segment.
        protocol: the specification, or a variant of it.
    """

    writes: tuple[WritePlan, ...]
    ticks: tuple[int, ...]
    stored: tuple[str, ...]
    since: int = 0
    trims: int = 0
    failures: int = 0
    attempts: int = 1
    protocol: str = SPECIFICATION

    @property
    def flushes(self) -> tuple[int, ...]:
        """The segments that are flushed."""
        return tuple(int(step.split()[1]) for step in self.stored if step.startswith("flush"))

    def instance(self) -> Instance:
        """The bounded instance of a specification with this log."""
        return Instance(
            self.protocol,
            bounds={
                "Write": len(self.writes),
                "Key": 1,
                "Segment": 1 + max(plan.segment or 0 for plan in self.writes),
                "Ts": max(*self.ticks, *(plan.ts for plan in self.writes)),
                "Faults": 1,
            },
            constants={
                "key": [0] * len(self.writes),
                "deletes": [plan.segment is None for plan in self.writes],
                "segment": [plan.segment or 0 for plan in self.writes],
            },
            name="scheduled",
        )


class SegmentsProgram(RefiningProgram):
    """The log, a coordinator that stores and flushes, a query node."""

    claims = (ANSWERS,)
    table = "segments"
    at_rest = ("segments.service_time_follows_the_ticks",)

    def __init__(self, scenario: SegmentsScenario) -> None:
        super().__init__(self.abstraction_of(scenario))
        self.scenario = scenario
        crashable = frozenset({NODE} if scenario.crashes else ())
        self.settings = Settings(faults=scenario.faults, crashable=crashable)
        self.node: QueryNode | None = None
        self.described: Stored | None = None
        self.loads: dict[int, int] = {}
        self._living = 0

    def abstraction_of(self, scenario: SegmentsScenario) -> Abstraction:
        """The refinement mapping."""
        return mapped(scenario, _values, ignored=("faults",))

    def storage_of(self, world: World) -> Storage:
        """The log, the records and the files."""
        return Storage(world, self.scenario.writes, self.scenario.failures)

    def populate(self, world: World) -> None:
        """Define the processes."""
        self.storage = self.storage_of(world)
        world.process("producers", self._run_producers, daemon=True)
        world.process("coordinator", self._run_coordinator, daemon=True)
        world.process(NODE, self._run_node, daemon=True, restarts=self.scenario.crashes > 0)

    async def _run_producers(self, process: Process) -> None:
        del process
        scenario = self.scenario
        found: list[tuple[str, LogMessage]] = [
            *((f"tick {value}", Tick(value)) for value in scenario.ticks),
            *((f"append {number}", plan.message(number)) for number, plan in enumerate(scenario.writes)),
        ]
        for title, message in sorted(found, key=lambda one: (one[1].ts, isinstance(one[1], Tick))):
            await self.storage.log.append(title, message)

    async def _run_coordinator(self, process: Process) -> None:
        del process
        for step in self.scenario.stored:
            await self.storage.perform(step)

    async def _run_node(self, process: Process) -> None:
        storage, scenario = self.storage, self.scenario
        self._living = process.incarnation
        node = self.node = QueryNode(
            node_id=process.name,
            ports=QueryNodePorts(log=storage.log, store=storage, preemption=process),
            config=QueryNodeConfig(replay_batch=1, load_attempts=scenario.attempts),
        )
        self.look_at(node)
        while not await self._take_up(process, node):
            pass
        await node.supervisor.wait_failed()

    def look_at(self, node: QueryNode) -> None:
        """Note more of a new node than the mapping reads."""

    async def _take_up(self, process: Process, node: QueryNode) -> bool:
        """Take the channel up, with loads and a trim beside it. Return whether it is served."""
        storage = self.storage
        self.loads = {}
        stored = self.described = await storage.watch(self.scenario.since)
        records = storage.records(stored)
        position = StreamPosition(0, stored.delete_checkpoint)
        beside = [
            asyncio.create_task(self._load(node, g), name=f"load {g}")
            for g in self.scenario.flushes
            if g not in stored.flushed
        ]
        if self.scenario.trims:
            beside.append(asyncio.create_task(self._trim(node), name="trim"))
        try:
            await node.watch(ChannelDescription(CHANNEL, position, (*storage.level_zero(stored), *records)))
        except StoreError:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
            return False
        process.spawn(_all_of(beside), "beside")
        return True

    async def _load(self, node: QueryNode, segment: int) -> None:
        """Ask for a load, and ask again if it fails."""
        storage = self.storage
        while True:
            stored = await storage.when(f"load {segment}", lambda s: segment in s.flushed)
            self.loads[segment] = stored.delete_checkpoint
            level_zero = storage.level_zero(stored)
            record = storage.record(segment, stored)
            try:
                await node.load_segment(CHANNEL, LoadSegment(record, level_zero, stored.delete_checkpoint))
            except StoreError:
                del self.loads[segment]
            else:
                return

    async def _trim(self, node: QueryNode) -> None:
        stored = await self.storage.when("trim", lambda s: s.delete_checkpoint >= self.scenario.trims)
        node.trim_deletes(CHANNEL, stored.delete_checkpoint)

    # What is looked at.

    @property
    def delegator(self) -> ShardDelegator | None:
        """The node's, once the channel is taken up."""
        lane = self.world.lanes[NODE]
        if self.node is None or not lane.alive or lane.incarnation != self._living:
            return None
        return self.node.delegators.get(CHANNEL)

    def meant(self, label: str) -> str | None:
        """The recovery's own loads may be as those that are asked for."""
        return "load_listed" if label.startswith("resume recover.load") else None

    def complaint(self) -> str | None:
        """What reads and searches find at each moment up to the service time is what was written."""
        delegator = self.delegator
        if delegator is None or not delegator.serviceable:
            return None
        for moment in range(1, delegator.service_time.value + 1):
            wanted = self._visible(moment)
            seen = sorted(int(row.value) for row in delegator.collect(ShardRead(moment, moment=moment)))
            if seen != wanted:
                return f"{ANSWERS}: at {moment} the rows {wanted} are visible, and a read finds {seen}"
            if delegator.collect(ShardRead(moment, keys=(), moment=moment)):
                return f"{ANSWERS}: at {moment} a read of no keys finds rows"
            latest = [max(self.scenario.writes[w].ts for w in wanted)] if wanted else []
            nearest = delegator.collect(ShardRead(moment, nearest=Nearest(KEY, 9), moment=moment))
            if [row.ts for row in nearest] != latest:
                return f"{ANSWERS}: at {moment} a search finds {nearest}, and the latest row is at {latest}"
        return None

    def _visible(self, moment: int) -> list[int]:
        """The rows of the log that are visible at a moment."""
        writes = self.scenario.writes
        logged = [w for w in self.storage.logged() if writes[w].ts <= moment]
        last = max((writes[w].ts for w in logged if writes[w].segment is None), default=0)
        return sorted(w for w in logged if writes[w].segment is not None and writes[w].ts >= last)

    def element(self, name: str, value: Any) -> Any:
        """Return a number."""
        del name
        return int(value)

    def observe(self) -> Observation:
        """Return what each part holds, under its name."""
        view, delegator = NodeView(), self.delegator
        if self.node is not None and self.described is not None and delegator is not None:
            view = node_view(self.described, delegator, self.node.pipelines.get(CHANNEL), self.loads)
        return {LOG: (self.storage.log.view(), self.storage.stored), NODE: view}

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        delegator = self.delegator
        memory: Hashable = None
        if delegator is not None and self.node is not None:
            pipeline = self.node.pipelines.get(CHANNEL)
            segments = [
                (name, segment.segment_id, repr(segment.rows), repr(segment.deletes))
                for name, kind in (("growing", delegator.growing), ("sealed", delegator.sealed))
                for segment in kind.values()
            ]
            consumer = None if pipeline is None else pipeline.consumer
            assert consumer is None or isinstance(consumer, ChannelConsumer)
            memory = (
                tuple(segments),
                (repr(delegator.deletes.kept), delegator.deletes.floor, repr(delegator.excluded.upto)),
                (delegator.serviceable, tuple(sorted(delegator.begun))),
                None if consumer is None else (consumer.read, consumer.last, repr(consumer.buffered)),
            )
        storage = self.storage
        return (
            tuple(self._observed.values()),
            storage.log.gate.view(),
            memory,
            storage.failures,
            storage.taken,
        )


async def _all_of(tasks: list[asyncio.Task[None]]) -> None:
    """Wait for all of them. The failure of one is raised."""
    await asyncio.gather(*tasks)


def _values(scenario: SegmentsScenario, known: Any) -> Mapping[str, Any]:
    entries, stored = known[LOG]
    return abstract(entries, stored, known[NODE], scenario.writes)


segments = program(SegmentsProgram, SegmentsScenario)
