"""A channel that moves, is dropped, collected and created again: the coordinator under exploration.

The coordinator and its metadata are those of the implementation. The nodes are scripts: each tenure reads the
log, saves, reports and asks for the drop as ``spec.ownership`` says; some of its requests reach the
coordinator twice, the second time at any later moment. It takes checkpoints of the assigned node
in any incarnation, so that what it refines is the variant ``ReportsOfAll``, which is proved as well.
"""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.errors import ChannelLivesError, ImplementationError
from tidemark.impl.stepped_lock import SteppedLock
from tidemark.impl.types import (
    BinlogRecord,
    ChannelPosition,
    ChannelRecord,
    EndPosition,
    Owner,
    SaveBinlogPaths,
    SaveOutcome,
    SegmentId,
    UpdateCheckpoints,
)
from tidemark.models.instance import Instance
from tidemark.models.protocols.channels.ports import CHANNELS, META, SlowMeta
from tidemark.models.protocols.ownership.refinement import CHANNEL, SEGMENT, Past, Tenure, abstract
from tidemark.models.refinement.program import RefiningProgram
from tidemark.models.refinement.scenario import Scenario, mapped, program
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

CLUSTER = "cluster"
SPECIFICATION = "tidemark.spec.ownership.variants.finer_steps:ReportsOfAll"


class OwnershipScenario(Scenario):
    """What happens.

    Attributes:
        nodes: of each tenure its node, in their order.
        rows: of the collection.
        crashes: tenures whose process ends.
        copies: requests that arrive twice: "save", "report", "drop".
        gives_back: an operator takes the channel away and gives it back.
        drops: the collection is dropped, and created again.
    """

    nodes: tuple[str, ...] = ("a", "b")
    rows: int = 1
    crashes: tuple[int, ...] = ()
    copies: tuple[str, ...] = ()
    gives_back: bool = False
    drops: bool = False

    def instance(self) -> Instance:
        """The bounded instance of the specification."""
        return tenures(SPECIFICATION, self.nodes, [0] * self.rows)


def tenures(specification: str, nodes: Sequence[str], rows: Sequence[int]) -> Instance:
    """The bounded instance with these nodes of the tenures, and a row of each of these segments, in order."""
    names = sorted(set(nodes))
    return Instance(
        specification,
        bounds={
            "Node": len(names), "Tenure": len(nodes), "Segment": len(set(rows)), "Position": len(rows),
            "Epoch": len(nodes) + 1, "Copies": 2, "Faults": 1,
        },
        constants={
            "carries": [False] + [True] * len(rows),
            "segment_of": [0, *rows],
            "of": [names.index(node) for node in nodes],
        },
        name="scheduled",
    )  # fmt: skip


class _Meta(SlowMeta):
    """Its writes are steps that name the request for which they are made.

    Tells what is about to be collected: the specification remembers it.
    """

    def __init__(
        self, process: Process, world: World, told: Callable[[], None], asked: Callable[[], str]
    ) -> None:
        super().__init__(process)
        self._world, self._told, self._asked = world, told, asked

    async def collect(self, channel: ChannelRecord, segments: Sequence[SegmentId]) -> None:
        """Save the record, and in the same step the segments are gone."""
        self._told()
        await super().collect(channel, segments)

    async def _put(self, key: str, value: object) -> None:
        content = self._store.content()
        what = "segment" if key.startswith("segment") else "channels"
        await self._world.operation(f"store {what} to {self._asked()}", lambda: content.update({key: value}))


class OwnershipProgram(RefiningProgram):
    """One coordinator, the tenures of its nodes, an operator."""

    table = "ownership"
    settings = Settings(clock=ClockOrder.UNTIMED)

    def __init__(self, scenario: OwnershipScenario) -> None:
        super().__init__(mapped(scenario, _values, ignored=("faults",)))
        self.scenario = scenario
        self.coordinator: Coordinator | None = None
        self.tenures = [Tenure() for _ in scenario.nodes]
        self.past = Past()
        self.latest = 0
        self.requests: dict[str, str] = {}

    def populate(self, world: World) -> None:
        """Define the process and what is stored at the start."""
        world.store(META, remote=False).content()[CHANNELS] = (ChannelRecord(CHANNEL),)
        world.process(CLUSTER, self._run, daemon=True)

    async def _run(self, process: Process) -> None:
        coordinator = Coordinator(meta=_Meta(process, self.world, self._remember, self._request))
        coordinator.lock = SteppedLock(process)
        await coordinator.load()
        self.coordinator = coordinator
        process.spawn(self._move(process, 0), "tenure 0")
        if self.scenario.gives_back:
            process.spawn(self._take_away(process), "operator")
        if self.scenario.drops:
            process.spawn(self._drop_collection(process), "client")

    def _remember(self) -> None:
        assert self.coordinator is not None
        self.past.segment = self.coordinator.segments.get(SEGMENT)

    def _ask(self, request: str) -> Coordinator:
        """The coordinator; what this task asks of it next is noted."""
        self.requests[_task()] = request
        return self._coordinator()

    def _request(self) -> str:
        return self.requests.get(_task(), "nothing")

    # ---- operator and client ----

    async def _take_away(self, process: Process) -> None:
        """The channel is taken from its owner, and goes back to it."""
        coordinator = self._coordinator()
        await process.point("operator.unassign")
        owner = coordinator.channel(CHANNEL).assigned_to
        if owner is not None:
            await self._ask("unassign").unassign(CHANNEL)
            await process.point("operator.assign")
            if coordinator.channel(CHANNEL).assigned_to is None:
                await self._ask("give back").assign(CHANNEL, owner)

    async def _drop_collection(self, process: Process) -> None:
        await process.point("client.drop")
        self.past.ended, self.past.end = True, self.scenario.rows
        self.past.seen = max(self.past.seen, self.past.end)

    async def _collect(self, process: Process) -> None:
        """What was dropped is collected, and the name is used again; before that, it is refused."""
        coordinator = self._coordinator()
        await process.point("client.create.early")
        with suppress(ChannelLivesError):
            await self._ask("create too early").create_channel(CHANNEL, EndPosition(self.past.end))
        await process.point("gc.collect")
        await self._ask("collect").collect_channel(CHANNEL)
        await process.point("client.create")
        await self._ask("create").create_channel(CHANNEL, EndPosition(self.past.end))
        self.past.start, self.past.ended = self.past.end, False
        self._count(coordinator.channel(CHANNEL).term)

    def _count(self, term: int) -> None:
        """A new epoch, if the coordinator's term is one that was not there before."""
        self.past.epochs += int(term > self.latest)
        self.latest = max(self.latest, term)

    # ---- tenures ----

    async def _move(self, process: Process, place: int) -> None:
        """The channel comes to a node, which works, while the next is under way."""
        coordinator, node = self._coordinator(), self.scenario.nodes[place]
        await process.point("operator.move")
        if coordinator.channel(CHANNEL).dropped:
            return
        await self._ask(f"move {place}").assign(CHANNEL, node)
        try:
            answer = await self._ask(f"take {place}").recover_channel(CHANNEL, node, place + 1)
        except ImplementationError:
            return  # it was dropped, or went to another, meanwhile
        told = [answer.seek.ts, *(record.dml_position.ts for record in answer.segments)]
        self._count(answer.owner.term)
        tenure = self.tenures[place]
        tenure.begin(owner=answer.owner, epoch=self.past.epochs, seek=answer.seek.ts, told=max(told))
        if place + 1 < len(self.tenures):
            process.spawn(self._move(process, place + 1), f"tenure {place + 1}")
        await self._work(process, tenure)
        if place in self.scenario.crashes:
            await process.point("node.crash")
            tenure.alive = False

    async def _work(self, process: Process, tenure: Tenure) -> None:
        for _ in range(tenure.read, self.scenario.rows):
            await process.point("node.consume")
            tenure.read += 1
            self.past.seen = max(self.past.seen, tenure.read)
        assert tenure.owner is not None
        if tenure.high < tenure.read:
            await process.point("node.send")
            tenure.send()
            await self._twice(process, "save", functools.partial(self._save, tenure, tenure.low, tenure.high))
            if tenure.save != "taken":
                return  # it was refused: what the node holds is another's now
            await process.point("node.learn")
            tenure.save = "idle"
        await process.point("node.report")
        if tenure.read > tenure.top:
            tenure.top = tenure.read
            await self._twice(process, "report", functools.partial(self._report, tenure, tenure.top))
        await process.point("node.ask")
        if self.past.ended and tenure.read == self.past.end:
            tenure.asks = True
            await self._twice(process, "drop", functools.partial(self._drop, process, tenure))

    async def _twice(self, process: Process, kind: str, request: Callable[[], Awaitable[None]]) -> None:
        """A request, and perhaps its copy, which comes at any later time."""

        async def late() -> None:
            await process.point("network.copy")
            await request()

        if kind in self.scenario.copies:
            process.spawn(late(), f"copy of a {kind} of {_task()}")
        await request()

    async def _save(self, tenure: Tenure, low: int, high: int) -> None:
        rows = tuple(range(low + 1, high + 1))
        binlog = BinlogRecord(f"{low}-{high}", rows)
        request = SaveBinlogPaths(CHANNEL, _of(tenure), SEGMENT, EndPosition(high), binlog)
        outcome = await self._ask(f"save {self._place(tenure)}").save_binlog_paths(request)
        if outcome is not SaveOutcome.NOT_OWNER and tenure.save == "sent":
            tenure.save = "taken"

    async def _report(self, tenure: Tenure, position: int) -> None:
        reported = ChannelPosition(CHANNEL, EndPosition(position), _of(tenure))
        asked = self._ask(f"checkpoint {self._place(tenure)} {position}")
        await asked.update_channel_checkpoints(UpdateCheckpoints((reported,)))

    async def _drop(self, process: Process, tenure: Tenure) -> None:
        try:
            await self._ask(f"drop {self._place(tenure)}").drop_channel(CHANNEL, _of(tenure))
        except ImplementationError:
            return  # refused
        if not self.past.collects:
            self.past.collects = True
            process.spawn(self._collect(process), "collector")

    def _place(self, tenure: Tenure) -> int:
        return next(place for place, one in enumerate(self.tenures) if one is tenure)

    def _coordinator(self) -> Coordinator:
        assert self.coordinator is not None
        return self.coordinator

    # ---- what is looked at ----

    def observe(self) -> Observation:
        """What the coordinator has recorded, and what the tenures hold."""
        channel, segment = ChannelRecord(CHANNEL), None
        if self.coordinator is not None and self.coordinator.channels:
            channel = self.coordinator.channel(CHANNEL)
            segment = self.coordinator.segments.get(SEGMENT)
        tenures = tuple(tenure.view() for tenure in self.tenures)
        return {CLUSTER: (channel, segment, tenures, self.past.view())}

    def declared(self) -> Hashable:
        """The mutable data that influence what happens next."""
        users = () if self.coordinator is None else tuple(self.coordinator.lock.users)
        return (tuple(self._observed.values()), users, self.past.collects, self.latest)


def _task() -> str:
    task = asyncio.current_task()
    assert task is not None
    return task.get_name()


def _of(tenure: Tenure) -> Owner:
    assert tenure.owner is not None
    return tenure.owner


def _values(scenario: OwnershipScenario, known: Any) -> Mapping[str, Any]:
    return abstract(*known[CLUSTER], rows=scenario.rows)


ownership = program(OwnershipProgram, OwnershipScenario)
