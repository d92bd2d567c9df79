"""Reads whose proxy asks all query nodes at once, over the channels of requests and results, as a program
under exploration: ``ChannelReads`` and ``NodeFollower``.

Each step must be a step of ``AsksAll``, or change nothing of it.
"""

import asyncio
import functools
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from tidemark.impl.proxy.reads import ReaderConfig, ReadPath
from tidemark.impl.queries.reads import ChannelReads, NodeFollower
from tidemark.impl.queries.requests import ChannelReader, PendingQuery, ResultCollector
from tidemark.impl.queries.values import QueryResult
from tidemark.impl.querynode.config import QueryNodeConfig
from tidemark.impl.querynode.query_node import QueryNode, QueryNodePorts
from tidemark.impl.querynode.values import ChannelDescription, ShardAnswer, ShardRead
from tidemark.impl.runtime import Supervisor
from tidemark.impl.types import ChannelName
from tidemark.models.protocols.common.oracle import OracleCalls
from tidemark.models.protocols.common.requests import NUMBER, Between, reader_over
from tidemark.models.protocols.flush.ports import Objects
from tidemark.models.protocols.reads.ports import CHANNEL, OffClock
from tidemark.models.protocols.reads.program import Node, ReadsProgram, ReadsScenario, whole_of
from tidemark.models.protocols.reads.refinement.asking_all import (
    ASKS_ALL,
    Choice,
    ChoosingView,
    abstract_choosing,
    looks_at,
)
from tidemark.models.refinement.program import Abstraction
from tidemark.models.refinement.scenario import mapped, program
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World


class NotingCollector(ResultCollector):
    """The map of the requests of a proxy, which tells of each first answer."""

    told: Callable[[QueryResult, PendingQuery], None]

    def take(self, result: QueryResult) -> None:
        """See ResultCollector."""
        query = self.pending.get(result.number)
        super().take(result)
        if query is not None and query.over.is_set() and query.complete:
            self.told(result, query)


class AskedNode(QueryNode):
    """A query node whose reads can be looked at. ``reads``: by request."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.reads: dict[int, ShardRead | None] = {}

    async def serve(
        self, channel: ChannelName, read: ShardRead, *, deadline: float | None = None
    ) -> ShardAnswer:
        """See QueryNode. The task is named after its read. No deadline passes: spec/queries has them."""
        del deadline
        number = NUMBER.get()
        task = asyncio.current_task()
        assert task is not None
        task.set_name(f"part {number}")
        if channel in self.delegators:
            self.reads[number] = read
        return await super().serve(channel, read)


class AsksAllScenario(ReadsScenario):
    """What happens; see ``ReadsScenario``.

    Attributes:
        leave: the nodes that leave.
    """

    leave: tuple[int, ...] = ()
    protocol: str = ASKS_ALL


class AsksAllProgram(ReadsProgram):
    """Each read asks all nodes."""

    def __init__(self, scenario: AsksAllScenario) -> None:
        super().__init__(scenario)
        self.leave = scenario.leave
        self.chosen: dict[int, Choice] = {}
        self.requests: dict[int, ChannelReader] = {}

    @staticmethod
    def abstraction_of(scenario: ReadsScenario) -> Abstraction:
        """The refinement mapping."""
        return mapped(scenario, _values)

    def populate(self, world: World) -> None:
        """Define the processes."""
        super().populate(world)
        self.between = Between(world)

    async def _run_node(self, number: int, process: Process) -> None:
        ports = QueryNodePorts(log=self.log, store=Objects(process), preemption=process)
        node = AskedNode(node_id=process.name, ports=ports, config=QueryNodeConfig(stall_seconds=None))
        await node.watch(ChannelDescription(CHANNEL))
        mine = self.nodes[number] = Node(node, node.delegators[CHANNEL], node.pipelines[CHANNEL])
        mine.reads = node.reads
        following = NodeFollower(node, self.between)
        requests = self.between.come(process.name)
        node.supervisor.spawn(functools.partial(following.follow, requests), "requests")
        if number in self.leave:
            process.spawn(self._release(process, node), "release")
        await node.supervisor.wait_failed()

    async def _release(self, process: Process, node: QueryNode) -> None:
        """The node ends in the middle of its work, as ``ReplicaSet.kill`` does it."""
        await process.point("release")
        self.between.leave(process.name)
        await node.stop()

    async def _run_client(self, number: int, process: Process) -> None:
        supervisor, collector = Supervisor(), NotingCollector()
        collector.told = self._note
        self.requests[number] = reader_over(self.between, process, supervisor.spawn, collector)
        await self.between.gate.operation("come", self._all_are_here, lambda: None)
        await super()._run_client(number, process)
        await supervisor.stop()
        supervisor.check()

    def _all_are_here(self) -> bool:
        return len(self.between.readers) == self.scenario.nodes

    def _note(self, result: QueryResult, query: PendingQuery) -> None:
        """An answer has come, and it is the first one."""
        whole = whole_of(self.scenario, super().observe())
        node = int(result.node.removeprefix("node "))
        looks = looks_at(whole, result.number)
        self.chosen[result.number] = Choice(node, query.rows[CHANNEL].moment, looks)

    def reader_of(self, process: Process, client: int, oracle: OracleCalls, number: int) -> ReadPath:
        """All nodes."""
        del process, number
        config = ReaderConfig(graceful_ts=self.scenario.graceful)
        clock = OffClock(self.answers, self.scenario.off)
        return ChannelReads(oracle=oracle, clock=clock, requests=self.requests[client], config=config)

    def observe(self) -> Observation:
        """Return what each part holds, under its name."""
        found: dict[str, Hashable] = dict(super().observe())
        for number in range(len(self.sessions)):
            client: Any = found[f"client {number}"]
            chosen = tuple((q, self.chosen[q]) for q, _ in client.reads if q in self.chosen)
            found[f"client {number}"] = ChoosingView(client, chosen)
        return found

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        pending = tuple(
            (number, q, repr(sorted(waits.rows.items())), waits.asked and tuple(waits.asked),
             tuple(sorted(waits.heard)), waits.refusal is None)
            for number, one in sorted(self.requests.items())
            for q, waits in sorted(one.collector.pending.items())
        )  # fmt: skip
        return super().declared(), self.between.memory(), pending


def _values(scenario: ReadsScenario, observation: Any) -> Mapping[str, Any]:
    known: Any = dict(observation)
    chosen: dict[int, Choice] = {}
    for client in range(len(scenario.clients)):
        view: ChoosingView = known[f"client {client}"]
        known[f"client {client}"] = view.client
        chosen |= dict(view.chosen)
    return abstract_choosing(whole_of(scenario, known), chosen)


asks_all = program(AsksAllProgram, AsksAllScenario)
