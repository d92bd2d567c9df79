"""Writers, readers with their proxies, and query nodes as a program under exploration.

Each step must be a step of ``tidemark.spec.reads``, or change nothing of it.
"""

import asyncio
import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.impl.client.session import Session
from tidemark.impl.errors import ImplementationError, RpcError, RpcTimeoutError
from tidemark.impl.proxy.reads import ReadAnswer, Reader, ReaderConfig, ReadPath, ReadTask, Replicas
from tidemark.impl.querynode.config import QueryNodeConfig
from tidemark.impl.querynode.delegator import ShardDelegator
from tidemark.impl.querynode.pipeline import ShardPipeline
from tidemark.impl.querynode.query_node import QueryNode, QueryNodePorts
from tidemark.impl.querynode.values import ChannelDescription, LoadSegment, ShardAnswer, ShardRead
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import BinlogRecord, EndPosition, Row, SegmentRecord
from tidemark.impl.values.consistency import ConsistencyLevel
from tidemark.impl.values.messages import DeleteMessage, InsertMessage, LogMessage
from tidemark.models.instance import Instance
from tidemark.models.protocols.common.calls import remote
from tidemark.models.protocols.common.oracle import ANSWERS, Answers, OracleCalls, OracleProcess, ask_alone
from tidemark.models.protocols.common.requests import COLLECTION
from tidemark.models.protocols.flush.ports import OBJECTS, Objects
from tidemark.models.protocols.reads.ports import (
    CHANNEL,
    HISTORY,
    LOG,
    History,
    Log,
    NodeCalls,
    OffClock,
    OneReplica,
)
from tidemark.models.protocols.reads.program.memory import memory_of_shard
from tidemark.models.protocols.reads.refinement import (
    NO_NODE,
    ClientView,
    NodeView,
    ReadView,
    Whole,
    WriteView,
    abstract,
    node_view,
)
from tidemark.models.refinement.program import Abstraction, RefiningProgram
from tidemark.models.refinement.scenario import FaultyScenario, mapped, program
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

SPECIFICATION = "tidemark.spec.reads:Reads"
TICKER = "ticker"
OTHERS = "others"
LOADER = "loader"
PAGE = "page"
NAMED = 1
"""What a client names at CUSTOMIZED."""
SERVED_ONCE = "a_segment_is_served_once"
"""Claim id: no segment of a query node is both growing and sealed."""


class ReadsScenario(FaultyScenario):
    """What happens in a program of reads.

    Attributes:
        writes: by write its key, and whether it deletes.
        reads: by read its level (or ``page``), and the number of its node. A page is one of the read before.
        clients: by client its scripts, each of ``write N`` and ``read N``. They run side by side.
        nodes: how many query nodes there are.
        ticks: how many ticks are sent, before the last one above everything.
        graceful, off: what a bounded read may miss; the error of the proxies' clocks.
        load: the first write's row is loaded as a flushed segment.
        release: node 0 releases the channel.
        stalls: reads that wait may fail for a standstill.
        unanswered: writes whose question for a timestamp the oracle does not answer.
        others: how many timestamps other clients of the oracle are given.
        protocol: the specification, or a variant of it.
    """

    writes: tuple[tuple[int, bool], ...]
    reads: tuple[tuple[str, int], ...]
    clients: tuple[tuple[tuple[str, ...], ...], ...]
    nodes: int = 1
    ticks: int = 1
    graceful: int = 1
    off: int = 0
    load: bool = False
    release: bool = False
    stalls: bool = False
    unanswered: tuple[int, ...] = ()
    others: int = 0
    protocol: str = SPECIFICATION

    @property
    def timestamps(self) -> int:
        """How many timestamps are given."""
        strong = sum(level == "strong" for level, _ in self.reads)
        return len(self.writes) - len(self.unanswered) + strong + self.others

    def whose(self, kind: str, count: int) -> list[int]:
        """By write or read the number of its client."""
        return [
            next(
                c
                for c, scripts in enumerate(self.clients)
                if any(f"{kind} {n}" in script for script in scripts)
            )
            for n in range(count)
        ]

    def settings(self) -> Settings:
        """The bounds of the world."""
        return Settings(
            faults=self.faults,
            crashable=frozenset({"node 0"} if self.crashes else ()),
            cancellable=frozenset({f"client {len(self.clients) - 1}"}),
            clock=ClockOrder.UNTIMED,
            timer_firings=1 if self.stalls else None,
        )

    def instance(self) -> Instance:
        """The bounded instance of a specification with these clients, writes and reads."""
        reads = range(len(self.reads))
        first = [q - 1 if self.reads[q][0] == PAGE else q for q in reads]
        return Instance(
            self.protocol,
            bounds={
                "Write": len(self.writes),
                "Key": 1 + max(key for key, _ in self.writes),
                "Client": len(self.clients),
                "Replica": self.nodes,
                "Read": len(self.reads),
                "Ts": self.timestamps + max(self.off, 0),
            },
            constants={
                "key": [key for key, _ in self.writes],
                "deletes": [deletes for _, deletes in self.writes],
                "writer": self.whose("write", len(self.writes)),
                "reader": self.whose("read", len(self.reads)),
                "replica": [node for _, node in self.reads],
                "first": first,
                "graceful": self.graceful,
                "skew": max(self.off, -self.off, 1),
            },
            name="scheduled",
        )


@dataclass(eq=False)
class Write:
    """A client's write and what it knows of it."""

    key: int
    deletes: bool
    segment: int
    stage: str = "new"
    ts: int = 0

    def message(self) -> LogMessage:
        """Its message."""
        if self.deletes:
            return DeleteMessage(self.ts, CHANNEL, -1, (self.key,))
        return InsertMessage(self.ts, CHANNEL, (Row(self.ts, self.segment, self.key),))


@dataclass(eq=False)
class Read:
    """A client's read: the proxy's task, and what was noted when it began."""

    level: str
    task: ReadTask | None = None
    began: int = 0
    known: tuple[int, ...] = ()
    precedes: tuple[int, ...] = ()

    def view(self) -> ReadView:
        """What the client and its proxy know."""
        task = self.task
        if task is None:
            return ReadView("new", "none", 0, 0, 0, (), (), ())
        answer = task.answer
        rows = () if answer is None else tuple((row.ts, row.key) for row in answer.rows)
        moment = 0 if answer is None else answer.moment
        phase = task.phase.value
        return ReadView(
            phase, self.level, self.began, task.guarantee, moment, rows, self.known, self.precedes
        )


class _WatchedOracle(OracleCalls):
    """Tells of each answer: the last tick waits for all of them."""

    def __init__(self, *args: Any, told: Callable[[], None], **options: Any) -> None:
        super().__init__(*args, **options)
        self._told = told

    async def alloc(self, count: int) -> int:
        """Return the last of so many new timestamps."""
        ts = await super().alloc(count)
        self._told()
        return ts


class _Oracle(OracleProcess):
    """A counter that does not answer some callers."""

    def __init__(self, unanswered: frozenset[str]) -> None:
        super().__init__()
        self._unanswered = unanswered

    def give(self, count: int, caller: str = "") -> Timestamp:
        """Return the last of so many new timestamps."""
        if caller in self._unanswered:
            raise RpcTimeoutError("the oracle does not answer")
        return super().give(count, caller)


class Node:
    """One query node, and the reads that have come to it; what is left of it when its process is dead."""

    def __init__(self, node: QueryNode, delegator: ShardDelegator, pipeline: ShardPipeline) -> None:
        self.node = node
        self.delegator = delegator
        self.pipeline = pipeline
        self.reads: dict[int, ShardRead | None] = {}

    async def query(self, read: int, guarantee: int, mvcc: int | None) -> ShardAnswer:
        """Answer a read."""
        task = asyncio.current_task()
        assert task is not None
        task.set_name(f"read {read}")
        mine = self.reads[read] = ShardRead(guarantee, mvcc=mvcc)
        try:
            return await self.node.serve(CHANNEL, mine)
        except ImplementationError:
            self.reads[read] = None
            raise


class ReadsProgram(RefiningProgram):
    """Clients with their proxies, query nodes, the log, an oracle."""

    claims = (SERVED_ONCE,)
    table = "reads"
    at_rest = ("reads.a_waiting_read_ends", "reads.service_time_follows_the_oracle")

    def __init__(self, scenario: ReadsScenario) -> None:
        super().__init__(self.abstraction_of(scenario))
        self.scenario = scenario
        self.settings = scenario.settings()
        self.oracle = _Oracle(frozenset(f"write {number}" for number in scenario.unanswered))
        # What is loaded is a segment of its own.
        self.writes = [
            Write(key, deletes, segment=1 if scenario.load and number == 0 else 2)
            for number, (key, deletes) in enumerate(scenario.writes)
        ]
        self.reads = [Read(level) for level, _ in scenario.reads]
        self.sessions = [Session() for _ in scenario.clients]
        self.calls: list[OracleCalls] = []
        self.nodes: dict[int, Node] = {}

    @staticmethod
    def abstraction_of(scenario: ReadsScenario) -> Abstraction:
        """The refinement mapping."""
        return mapped(scenario, _values)

    def populate(self, world: World) -> None:
        """Define the processes."""
        self.answers = Answers(world)
        self.log = Log(world, self.answers, timestamps=self.scenario.timestamps)
        self.history = History(world)
        for number in range(self.scenario.nodes):
            run = functools.partial(self._run_node, number)
            world.process(f"node {number}", run, daemon=True, restarts=False)
        for number in range(len(self.scenario.clients)):
            world.process(f"client {number}", functools.partial(self._run_client, number))
        if self.scenario.others:
            world.process(OTHERS, self._run_others)
        world.process(TICKER, self._run_ticker, daemon=True)
        if self.scenario.load:
            world.process(LOADER, self._run_loader)

    # The log and the nodes.

    async def _run_ticker(self, process: Process) -> None:
        del process
        for _ in range(self.scenario.ticks):
            await self.log.send_tick()
        await self.log.send_last_tick()

    async def _run_node(self, number: int, process: Process) -> None:
        ports = QueryNodePorts(log=self.log, store=Objects(process), preemption=process)
        config = QueryNodeConfig(stall_seconds=1.0 if self.scenario.stalls else None, replay_batch=1)
        node = QueryNode(node_id=process.name, ports=ports, config=config)
        await node.watch(ChannelDescription(CHANNEL))
        mine = self.nodes[number] = Node(node, node.delegators[CHANNEL], node.pipelines[CHANNEL])
        process.serve("query", mine.query)
        process.serve("load", functools.partial(node.load_segment, CHANNEL))
        if self.scenario.release and number == 0:
            process.spawn(self._release(process, node), "release")
        await node.supervisor.wait_failed()

    async def _release(self, process: Process, node: QueryNode) -> None:
        await process.point("release")
        await node.release(CHANNEL)

    async def _run_loader(self, process: Process) -> None:
        """Once a tick has passed the first write: its segment is flushed, and node 0 loads it."""

        def is_flushed() -> bool:
            ts = self.writes[0].ts
            return 0 < ts <= self.log.tick and 0 not in self.log.begun

        ts = await self.log.gate.operation("flush", is_flushed, lambda: self.writes[0].ts)
        row = Row(ts, 1, self.writes[0].key)
        await process.store(OBJECTS).put("segment-1", (row,))
        record = SegmentRecord(
            1, CHANNEL, EndPosition(ts), flushed=True, binlogs=(BinlogRecord("segment-1", (ts,)),)
        )
        try:
            await remote(process, "node 0", "load", LoadSegment(record))
        except RpcError:
            return

    # The clients.

    def _oracle_of(self, process: Process) -> OracleCalls:
        return _WatchedOracle(process, self.world, self.answers, near=self.oracle, told=self.log.gate.look)

    async def _run_others(self, process: Process) -> None:
        await ask_alone(process, self._oracle_of(process), self.scenario.others, "others.ask")

    async def _run_client(self, number: int, process: Process) -> None:
        oracle = self._oracle_of(process)
        self.calls.append(oracle)
        scripts = [
            asyncio.create_task(self._run_script(process, number, oracle, script), name=f"script {place}")
            for place, script in enumerate(self.scenario.clients[number])
        ]
        await asyncio.gather(*scripts)

    async def _run_script(
        self, process: Process, client: int, oracle: OracleCalls, script: Sequence[str]
    ) -> None:
        for step in script:
            kind, _, number = step.partition(" ")
            work = self._write if kind == "write" else self._read
            task = asyncio.create_task(work(process, client, oracle, int(number)), name=step)
            await asyncio.gather(task, return_exceptions=True)
            if not task.cancelled() and task.exception() is not None:
                raise task.exception()  # type: ignore[misc]  # it is not None

    async def _write(self, process: Process, client: int, oracle: OracleCalls, number: int) -> None:
        write = self.writes[number]
        await process.point(f"write {number}")
        write.stage = "asked"
        self.log.begin(number, self.answers.latest())
        try:
            write.ts = await oracle.alloc(1)
        except RpcError:
            write.stage = "failed"
            self.log.give_up(number)
            return
        write.stage = "stamped"
        self.log.begin(number, write.ts - 1)
        await self.log.append(number, write.message())
        await process.point(f"acknowledge {number}")
        self.history.acknowledge(number)
        self.sessions[client].wrote(write.ts)

    async def _read(self, process: Process, client: int, oracle: OracleCalls, number: int) -> None:
        read = self.reads[number]
        try:
            await self._begin_read(process, client, oracle, number)
        except ImplementationError:
            return
        finally:
            if read.level == "strong" and (read.task is None or not read.task.guarantee):
                self.log.expect_one_less()

    def _first_page(self, number: int) -> ReadAnswer | None:
        """The answer of which a read is a further page, once it is there."""
        task = self.reads[number - 1].task if number else None
        return None if task is None else task.answer

    async def _begin_read(self, process: Process, client: int, oracle: OracleCalls, number: int) -> None:
        read = self.reads[number]
        if read.level == PAGE and self._first_page(number) is None:
            return
        await process.point(f"begin {number}")
        level = read.level
        read.known, read.precedes = self.history.look()
        if level in ("strong", "bounded"):
            read.began = self.answers.latest()
        read.task = ReadTask(
            ConsistencyLevel.CUSTOMIZED if level == PAGE else ConsistencyLevel(level),
            (CHANNEL,),
            client_ts=self.sessions[client].timestamp if level == "session" else NAMED,
            page_of=self._first_page(number) if level == PAGE else None,
            collection=COLLECTION,
        )
        answer = await self.reader_of(process, client, oracle, number).execute(read.task)
        self.history.answer(number)
        self.sessions[client].saw(answer.moment)

    def reader_of(self, process: Process, client: int, oracle: OracleCalls, number: int) -> ReadPath:
        """The proxy's read path for a read."""
        del client
        return Reader(
            oracle=oracle,
            clock=OffClock(self.answers, self.scenario.off),
            replicas=self.replicas_of(process, number),
            config=ReaderConfig(graceful_ts=self.scenario.graceful),
        )

    def replicas_of(self, process: Process, number: int) -> Replicas:
        """Whom the proxy asks for a read."""
        node = self.scenario.reads[number][1]
        return OneReplica(NodeCalls(process, f"node {node}", number))

    # What is looked at.

    def complaint(self) -> str | None:
        """A segment that was loaded must not grow again."""
        for number, mine in self.nodes.items():
            twice = [name for name in mine.delegator.growing if name in mine.delegator.sealed]
            if twice:
                return f"{SERVED_ONCE}: node {number} serves segment {twice[0]} as growing and as sealed"
        return None

    def undone(self, values: Mapping[str, Any]) -> str | None:
        """Each write is in the log, each read is answered or has failed."""
        for n, stage in values["stage"].items():
            if stage not in ("logged", "failed"):
                return f"write {n} is not over: {stage}"
        for q, progress in values["progress"].items():
            if progress not in ("new", "answered", "failed"):
                return f"read {q} is not over: {progress}"
        return None

    def element(self, name: str, value: Any) -> Any:
        """Return a node's number by its name, or a number."""
        del name
        return int(str(value).removeprefix("node ")) if isinstance(value, str) else value

    def observe(self) -> Observation:
        """Return what each part holds, under its name."""
        found: dict[str, Hashable] = {
            ANSWERS: self.answers.answered,
            LOG: self.log.view(),
            HISTORY: self.history.acknowledged,
        }
        for number in range(self.scenario.nodes):
            found[f"node {number}"] = self._node_view(number)
        writers = self.scenario.whose("write", len(self.writes))
        readers = self.scenario.whose("read", len(self.reads))
        for client, session in enumerate(self.sessions):
            writes = [(n, self._write_view(n, client)) for n, c in enumerate(writers) if c == client]
            reads = [(q, self.reads[q].view()) for q, c in enumerate(readers) if c == client]
            found[f"client {client}"] = ClientView(session.timestamp, tuple(writes), tuple(reads))
        return found

    def _write_view(self, number: int, client: int) -> WriteView:
        floors = self.calls[client].floors if client < len(self.calls) else {}
        write = self.writes[number]
        return WriteView(write.stage, floors.get(f"write {number}", 0), write.ts)

    def _node_view(self, number: int) -> NodeView:
        mine = self.nodes.get(number)
        if mine is None:
            return NO_NODE
        alive = self.world.lanes[f"node {number}"].alive
        return node_view(mine.delegator, mine.pipeline, mine.reads, alive=alive)

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        return (
            tuple(self._observed.values()),
            tuple(memory_of(self.nodes[number]) for number in sorted(self.nodes)),
            repr(self.log.entries),
            tuple(sorted(self.log.begun.items())),
            self.log.gate.view(),
            (self.oracle.given, self.log.timestamps),
            self.history.answered,
        )


def memory_of(mine: Node) -> Hashable:
    """Return what influences the future of a node, beyond its view."""
    return (
        memory_of_shard(mine.delegator, mine.pipeline),
        tuple((q, None if r is None else (r.guarantee, r.mvcc)) for q, r in sorted(mine.reads.items())),
    )


def whole_of(scenario: ReadsScenario, observation: Observation) -> Whole:
    """Everything that is observed, part by part."""
    known: Any = observation
    return Whole(
        issued=max(known[ANSWERS], default=0),
        log=known[LOG],
        acknowledged=known[HISTORY],
        clients=tuple(known[f"client {c}"] for c in range(len(scenario.clients)) if f"client {c}" in known),
        nodes=tuple(known[f"node {r}"] for r in range(scenario.nodes)),
        replica_of=tuple(node for _, node in scenario.reads),
        writes=len(scenario.writes),
    )


def _values(scenario: ReadsScenario, observation: Any) -> Mapping[str, Any]:
    return abstract(whole_of(scenario, observation))


reads = program(ReadsProgram, ReadsScenario)
