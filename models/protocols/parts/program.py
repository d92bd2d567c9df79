"""Proxies, request and result channels, and query nodes as a program under exploration: the read path of a
cluster. A read goes through ``ChannelReads`` and the real channels to the followers of real query nodes.

Each step must be a step of ``tidemark.spec.parts``, or change nothing of it. A read is sent when its request
is in the channel. Each channel is served by one node: which of several answers is known only later.
"""

import asyncio
import functools
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.impl.client.session import Session
from tidemark.impl.errors import ImplementationError
from tidemark.impl.proxy.reads import ReadAnswer, ReaderConfig, ReadPhase, ReadTask
from tidemark.impl.queries.reads import ChannelReads, NodeFollower
from tidemark.impl.queries.requests import ChannelReader, ResultCollector
from tidemark.impl.querynode.config import QueryNodeConfig
from tidemark.impl.querynode.delegator import ShardDelegator
from tidemark.impl.querynode.query_node import QueryNode, QueryNodePorts
from tidemark.impl.querynode.values import ChannelDescription, ReadStage, ShardAnswer, ShardRead
from tidemark.impl.runtime import Supervisor
from tidemark.impl.types import ChannelName
from tidemark.impl.values.consistency import ConsistencyLevel
from tidemark.models.instance import Instance
from tidemark.models.protocols.common.requests import COLLECTION, NUMBER, reader_over
from tidemark.models.protocols.parts.ports import CHANNELS, LOGS, TRANSIT, Logs, NoObjects, Transit
from tidemark.models.protocols.parts.refinement import NEW, NO_NODE, NodeView, ReadView, Whole, abstract
from tidemark.models.protocols.reads.program.memory import memory_of_shard
from tidemark.models.refinement.program import WORK_IS_DONE, RefiningProgram
from tidemark.models.refinement.scenario import Scenario, mapped, program
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

SPECIFICATION = "tidemark.spec.parts:Parts"


class PartsScenario(Scenario):
    """What happens in a program of reads of several channels.

    Attributes:
        keys: by key the number of its channel.
        writes: by write its key, and whether it deletes.
        reads: by read its level, the numbers of its channels, and the number of its first page: its own, if
            it is no further page.
        clients: by client its script of ``write N`` and ``read N``.
        nodes: by node the numbers of the channels that it serves.
        ticks: how many ticks each channel gets, before the last one above everything.
        leaves: a node that leaves.
        protocol: the specification, or a variant of it.
    """

    keys: tuple[int, ...]
    writes: tuple[tuple[int, bool], ...]
    reads: tuple[tuple[str, tuple[int, ...], int], ...]
    clients: tuple[tuple[str, ...], ...]
    nodes: tuple[tuple[int, ...], ...]
    ticks: int = 0
    leaves: int | None = None
    protocol: str = SPECIFICATION

    def instance(self) -> Instance:
        """The bounded instance of a specification with these writes and reads."""
        return Instance(
            self.protocol,
            bounds={
                "Channel": len(CHANNELS),
                "Key": len(self.keys),
                "Write": len(self.writes),
                "Read": len(self.reads),
                "Ts": len(self.writes),
            },
            constants={
                "channel": list(self.keys),
                "key": [key for key, _ in self.writes],
                "deletes": [deletes for _, deletes in self.writes],
                "first": [first for _, _, first in self.reads],
                "asks": [[c in asks for c in range(len(CHANNELS))] for _, asks, _ in self.reads],
            },
            name="scheduled",
        )


@dataclass(eq=False)
class Read:
    """A read of a client, and what was noted when its request was written."""

    task: ReadTask | None = None
    sent: bool = False
    recent: bool = False
    known: tuple[int, ...] = ()

    def view(self) -> ReadView:
        """What the proxy knows."""
        task = self.task
        if task is None or not self.sent:
            return NEW
        if task.phase is ReadPhase.FAILED:
            return NEW._replace(progress="failed")
        answer = task.answer
        return ReadView(
            "sent" if answer is None else "answered",
            task.page_of is not None,
            task.guarantee,
            self.recent,
            self.known,
            () if answer is None else _numbered(answer.moments),
            () if answer is None else tuple(row.ts for row in answer.rows),
        )


def _numbered(moments: Mapping[ChannelName, int]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((CHANNELS.index(channel), moment) for channel, moment in moments.items()))


class _Node(QueryNode):
    """A query node whose reads can be looked at. ``reads``: by request and channel. ``taken_up``: what it has
    served, by channel, also when it has left.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.taken_up: dict[ChannelName, ShardDelegator] = {}
        self.reads: dict[tuple[int, ChannelName], ShardRead] = {}

    async def serve(
        self, channel: ChannelName, read: ShardRead, *, deadline: float | None = None
    ) -> ShardAnswer:
        """See QueryNode. The task is named after its part. No deadline passes: spec/queries has them."""
        del deadline
        number = NUMBER.get()
        task = asyncio.current_task()
        assert task is not None
        task.set_name(f"part {number} {CHANNELS.index(channel)}")
        if channel in self.delegators:
            self.reads[number, channel] = read
        return await super().serve(channel, read)


class PartsProgram(RefiningProgram):
    """Clients with their proxies, query nodes, the logs, and what lies between."""

    claims = (WORK_IS_DONE,)
    table = "parts"
    at_rest = ("parts.a_read_ends",)

    def __init__(self, scenario: PartsScenario) -> None:
        super().__init__(mapped(scenario, _values))
        self.scenario = scenario
        self.settings = Settings(clock=ClockOrder.UNTIMED)
        self.reads = [Read() for _ in scenario.reads]
        self.nodes: dict[int, _Node] = {}
        self.readers: dict[int, ChannelReader] = {}

    def populate(self, world: World) -> None:
        """Define the processes."""
        self.logs = Logs(world, writes=len(self.scenario.writes))
        self.transit = Transit(world, self._written)
        for number in range(len(self.scenario.nodes)):
            world.process(f"node {number}", functools.partial(self._run_node, number), daemon=True)
        for number in range(len(self.scenario.clients)):
            world.process(f"client {number}", functools.partial(self._run_client, number), daemon=True)
        for number in range(len(CHANNELS)):
            world.process(f"ticker {number}", functools.partial(self._run_ticker, number), daemon=True)

    async def _run_ticker(self, number: int, process: Process) -> None:
        del process
        for _ in range(self.scenario.ticks):
            await self.logs.send_tick(CHANNELS[number])
        await self.logs.send_last_tick(CHANNELS[number])

    async def _run_node(self, number: int, process: Process) -> None:
        ports = QueryNodePorts(log=self.logs, store=NoObjects(), preemption=process)
        node = _Node(node_id=process.name, ports=ports, config=QueryNodeConfig(stall_seconds=None))
        for channel in self.scenario.nodes[number]:
            await node.watch(ChannelDescription(CHANNELS[channel]))
        self.nodes[number] = node
        node.taken_up.update(node.delegators)
        following = NodeFollower(node, self.transit)
        requests = self.transit.come(process.name)
        node.supervisor.spawn(functools.partial(following.follow, requests), "requests")
        if self.scenario.leaves == number:
            process.spawn(self._leave(process, node), "leave")
        await node.supervisor.wait_failed()

    async def _leave(self, process: Process, node: _Node) -> None:
        """The node ends in the middle of its work, as ``ReplicaSet.kill`` does it."""
        await process.point("leave")
        self.transit.leave(process.name)
        await node.stop()

    # The clients.

    async def _run_client(self, number: int, process: Process) -> None:
        supervisor, session = Supervisor(), Session()
        requests = reader_over(self.transit, process, supervisor.spawn, ResultCollector())
        self.readers[number] = requests
        unused: Any = None  # no read here asks oracle or clock
        reads = ChannelReads(oracle=unused, clock=unused, requests=requests, config=ReaderConfig())
        await self.transit.gate.operation("come", self._all_are_here, lambda: None)
        for step in self.scenario.clients[number]:
            kind, _, what = step.partition(" ")
            if kind == "write":
                await self._write(int(what), session)
            else:
                work = self._read(int(what), session, reads)
                await asyncio.create_task(work, name=step)
        supervisor.check()

    def _all_are_here(self) -> bool:
        return len(self.transit.readers) == len(self.scenario.nodes)

    async def _write(self, number: int, session: Session) -> None:
        key, deletes = self.scenario.writes[number]
        channel = CHANNELS[self.scenario.keys[key]]
        session.wrote(await self.logs.append(number, channel, key, deletes=deletes))

    async def _read(self, number: int, session: Session, reads: ChannelReads) -> None:
        level, asks, first = self.scenario.reads[number]
        page = self._answer_of(first) if first != number else None
        if first != number and page is None:
            return
        task = self.reads[number].task = ReadTask(
            ConsistencyLevel(level),
            tuple(CHANNELS[channel] for channel in asks),
            client_ts=session.timestamp,
            page_of=page,
            collection=COLLECTION,
        )
        try:
            session.saw((await reads.execute(task)).moment)
        except ImplementationError:
            return

    def _answer_of(self, number: int) -> ReadAnswer | None:
        task = self.reads[number].task
        return None if task is None else task.answer

    def _written(self, number: int) -> None:
        """The request of a read is in the channel: the read has begun."""
        read = self.reads[number]
        assert read.task is not None
        read.sent = True
        read.known = tuple(sorted(self.logs.placed))
        further = read.task.page_of is not None
        read.recent = not further and read.task.guarantee == self.logs.issued

    # What is looked at.

    def undone(self, values: Mapping[str, Any]) -> str | None:
        """Each write is in its log, each read that was sent is answered or has failed."""
        for w, logged in values["logged"].items():
            if not logged:
                return f"write {w} is not in its log"
        for q, progress in values["progress"].items():
            if progress == "sent":
                return f"read {q} is not over"
        return None

    def observe(self) -> Observation:
        """Return what each part holds, under its name."""
        found: dict[str, Hashable] = {LOGS: self.logs.view(), TRANSIT: self.transit.view()}
        for number in range(len(self.scenario.nodes)):
            found[f"node {number}"] = self._node_view(number)
        for client, script in enumerate(self.scenario.clients):
            mine = [int(step.removeprefix("read ")) for step in script if step.startswith("read ")]
            found[f"client {client}"] = tuple((q, self.reads[q].view()) for q in mine)
        return found

    def _node_view(self, number: int) -> NodeView:
        node = self.nodes.get(number)
        if node is None:
            return NO_NODE
        safe = [(CHANNELS.index(c), one.service_time.value) for c, one in node.taken_up.items()]
        looked = [
            ((q, CHANNELS.index(c)), one.moment)
            for (q, c), one in node.reads.items()
            if one.stage is ReadStage.READING
        ]
        return NodeView(tuple(sorted(safe)), tuple(sorted(looked)))

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        return (
            tuple(self._observed.values()),
            tuple(self._memory_of(self.nodes[number]) for number in sorted(self.nodes)),
            (repr(self.logs.entries), tuple(self.logs.ticks.items()), self.logs.gate.view()),
            self.transit.memory(),
            tuple(
                (number, repr(sorted(one.collector.pending)), tuple(
                    (q, tuple(sorted(waits.rows)), waits.asked and tuple(waits.asked),
                     tuple(sorted(waits.heard)), waits.refusal is None)
                    for q, waits in sorted(one.collector.pending.items())
                ))
                for number, one in sorted(self.readers.items())
            ),
        )  # fmt: skip

    def _memory_of(self, node: _Node) -> Hashable:
        parts = [
            (q, c, one.guarantee, one.mvcc, one.stage.value, one.moment)
            for (q, c), one in sorted(node.reads.items())
        ]
        shards = [
            memory_of_shard(node.delegators[c], node.pipelines[c])
            for c in sorted(node.delegators)
            if c in node.pipelines
        ]
        return tuple(parts), tuple(shards), tuple(sorted(node.delegators))


def _values(scenario: PartsScenario, known: Any) -> Mapping[str, Any]:
    reads = dict(each for c in range(len(scenario.clients)) for each in known[f"client {c}"])
    shown, rows = known[TRANSIT]
    whole = Whole(
        issued=known[LOGS][0],
        placed=known[LOGS][1],
        shown=tuple(((q, CHANNELS.index(c)), moment) for (q, c), moment in shown),
        rows=tuple((q, ts) for (q, _), ts in rows),
        nodes=tuple(known[f"node {r}"] for r in range(len(scenario.nodes))),
        reads=tuple(reads[q] for q in range(len(scenario.reads))),
        channels=len(CHANNELS),
        writes=len(scenario.writes),
    )
    return abstract(whole)


parts = program(PartsProgram, PartsScenario)
