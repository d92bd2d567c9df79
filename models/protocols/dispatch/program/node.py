"""The dispatchers of a node as a program under exploration: its readers of packs are cancelled, and let go.

``NodeDispatchers`` opens the streams of virtual channels, and a ``PackReader`` takes their packs for whoever
stores them, as in a data node. Each step must be a step of ``tidemark.spec.dispatch``, or change nothing of
it.
"""

import asyncio
from collections.abc import Hashable, Sequence

from tidemark.impl.broker.packs import PackReader
from tidemark.impl.errors import TargetGoneError
from tidemark.impl.stream.config import DispatcherConfig
from tidemark.impl.stream.manager import DispatcherManager
from tidemark.impl.stream.node_dispatchers import NodeDispatchers
from tidemark.impl.stream.targets import Target
from tidemark.impl.types import ChannelName, EndPosition, Pack
from tidemark.models.protocols.dispatch.program import ALL, DROPPED, NODE, DispatchProgram, DispatchScenario
from tidemark.models.refinement.scenario import program
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.world.process import Process

PACKS_MEET = "a_pack_begins_where_the_last_one_was_stored"
"""Claim id: a pack starts at the end of the last one that is stored, whoever was cancelled meanwhile."""
LET_GO = "a_dropped_channel_is_let_go"
"""Claim id: no dispatcher serves a channel whose drop was handed over."""
READ_ONCE = "a_channel_has_one_manager"
"""Claim id: whatever virtual channels a node serves, it reads their physical one by one manager."""
STOPPED = "a_node_that_has_stopped_does_nothing"
"""Claim id: when ``NodeDispatchers.stop`` returns no channel is served, and no task of a manager works."""


class Reading:
    """What reads one target.

    Attributes:
        channel: its name.
        stored: end of the last pack that was stored; to begin with the first position.
        hand: the pack that was handed over, until it is stored.
        seen: end of the last pack that was handed over.
        dropped: one of them has dropped the collection.
        task: what reads now.
    """

    def __init__(self, channel: ChannelName, position: int) -> None:
        self.channel = channel
        self.stored = EndPosition(position)
        self.hand: Pack | None = None
        self.seen = position
        self.dropped = False
        self.task: asyncio.Task[None] | None = None

    def view(self) -> Hashable:
        """What influences what it does next."""
        return (self.stored, self.hand, self.seen, self.task is not None and self.task.done())


class NodeScenario(DispatchScenario):
    """What happens. A message about a collection drops it.

    Attributes:
        stops: the node ends its dispatchers at any time.
    """

    stops: bool = False


class NodeProgram(DispatchProgram):
    """One log with its producers, and a node that stores the packs of several virtual channels."""

    claims = (*DispatchProgram.claims, PACKS_MEET, LET_GO, READ_ONCE, STOPPED)

    def __init__(self, scenario: NodeScenario) -> None:
        super().__init__(scenario)
        self.nodes: NodeDispatchers | None = None
        self.reader: PackReader | None = None
        self.readings: dict[int, Reading] = {}
        self.stopped = False
        self._stops = scenario.stops

    async def _run_node(self, process: Process) -> None:
        nodes = self.nodes = NodeDispatchers(
            self.log, preemption=process, config=DispatcherConfig(capacity=1)
        )
        self.reader = PackReader(self.log, dispatchers=nodes)
        opening = asyncio.create_task(self._open_all(process, nodes), name="register")
        if self._stops:
            process.spawn(self._stop(process, nodes, opening), "stop")
        await nodes.supervisor.wait_failed()

    async def _open_all(self, process: Process, nodes: NodeDispatchers) -> None:
        """Targets come one after the other. One that takes nothing has no reader."""
        for number, plan in enumerate(self.scenario.targets):
            needed = plan.position if self.scenario.grows else self.scenario.ticks[-1]
            position = await self.log.position(f"register {number}", plan.position, needed=needed)
            self.begins[number] = position.ts
            if plan.takes == 0:
                self.targets[number] = nodes.register(self.scenario.channel(number), position)
                continue
            reading = self.readings[number] = Reading(self.scenario.channel(number), position.ts)
            self._begin(process, number, reading)
            if plan.cancelled:
                process.spawn(self._cancel(process, number, reading), f"cancel {number}")
            if plan.leaves:
                process.spawn(self._leave_node(process, nodes, number), f"leave {number}")

    def _begin(self, process: Process, number: int, reading: Reading) -> None:
        reading.task = asyncio.create_task(self._store(process, number, reading), name=f"target {number}")

    async def _store(self, process: Process, number: int, reading: Reading) -> None:
        """Take packs and store them, one after the other, until the collection is dropped."""
        plan = self.scenario.targets[number]
        left = ALL if plan.takes is None else plan.takes
        assert self.reader is not None
        while left:
            try:
                pack = await self.reader.next_pack(reading.channel, reading.stored)
            except TargetGoneError:
                return
            self._note(number, reading, pack)
            if plan.cancelled:
                await process.point(f"store {number}")
            reading.stored, reading.hand = pack.end, None
            if pack.drop:
                return
            left = max(left - 1, ALL)

    def _note(self, number: int, reading: Reading, pack: Pack) -> None:
        """A pack was handed over. A reader that goes on for another one gets it again."""
        reading.hand = pack
        if pack.end.ts <= reading.seen:
            return
        reading.seen = pack.end.ts
        reading.dropped = reading.dropped or pack.drop
        collection = self.scenario.targets[number].collection
        drops = [
            m
            for m, plan in enumerate(self.scenario.messages)
            if plan.about == collection and pack.start.ts < plan.ts <= pack.end.ts and pack.drop
        ]
        self.taken[number] += (*(row.key for row in pack.rows), *drops)

    async def _cancel(self, process: Process, number: int, reading: Reading) -> None:
        """Cancel the reader, wherever it waits. Another one goes on behind what is stored."""
        await process.point(f"cancel {number}")
        assert reading.task is not None
        if not reading.task.done():
            reading.task.cancel()
            reading.hand = None
            self._begin(process, number, reading)

    async def _leave_node(self, process: Process, nodes: NodeDispatchers, number: int) -> None:
        await process.point(f"leave {number}")
        nodes.deregister(self.scenario.channel(number))

    async def _stop(self, process: Process, nodes: NodeDispatchers, opening: asyncio.Task[None]) -> None:
        await process.point("stop")
        opening.cancel()
        await nodes.stop()
        self.stopped = True

    # What is looked at.

    def complaint(self) -> str | None:
        """What the node promises beyond the specification."""
        nodes = self.nodes
        if nodes is None:
            return None
        if len(nodes.managers) > 1:
            return f"{READ_ONCE}: there are managers of {', '.join(nodes.managers)}"
        served = () if self.manager is None else self.manager.channels()
        if self.stopped and (served or self._working()):
            return f"{STOPPED}: {', '.join([*served, *self._working()])}"
        return super().complaint() or self._of_readings(served)

    def _working(self) -> list[str]:
        """The tasks of managers and dispatchers that have not ended."""
        names = [task.get_name() for task in self.world.lanes[NODE].pending_tasks()]
        return [name for name in names if name.startswith(("dispatchers ", "main ", "deputy "))]

    def _of_readings(self, served: Sequence[ChannelName]) -> str | None:
        for reading in self.readings.values():
            pack = reading.hand
            if pack is not None and pack.start.ts != reading.stored.ts:
                return (
                    f"{PACKS_MEET}: stored up to {reading.stored.ts}, and the next begins at {pack.start.ts}"
                )
            if reading.dropped and reading.channel in served:
                return f"{LET_GO}: {reading.channel} is served"
        return None

    def condition(self, name: str, event: Event) -> bool:
        """Whether the target whose reader the event wakes has just been handed its drop."""
        if name == DROPPED:
            reading = self.readings.get(self.element("t", event.owner.rpartition(" ")[2]))
            return reading is not None and self._is_dropped(reading)
        return super().condition(name, event)

    def _is_dropped(self, reading: Reading) -> bool:
        assert self.reader is not None
        ready = self.reader.ready.get(reading.channel)
        return ready is not None and ready.drop

    def known_targets(self) -> Sequence[Target | None]:
        """The targets that have come, by number: the streams that the reader has opened, and the others."""
        sources = {} if self.reader is None else self.reader.sources
        found = [sources.get(self.scenario.channel(number)) for number in range(len(self.targets))]
        return [
            one if isinstance(one, Target) else other for one, other in zip(found, self.targets, strict=True)
        ]

    @property
    def manager(self) -> DispatcherManager | None:
        """The only one, unless ``READ_ONCE`` is broken."""
        return None if self.nodes is None else next(iter(self.nodes.managers.values()), None)

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        ready = () if self.reader is None else tuple(sorted(self.reader.ready.items()))
        readings = tuple((number, reading.view()) for number, reading in self.readings.items())
        return (super().declared(), repr(ready), repr(readings), self.stopped)


node = program(NodeProgram, NodeScenario)
