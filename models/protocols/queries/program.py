"""A proxy, query nodes, their channels and coordinators as a program under exploration.

Each step must be a step of ``tidemark.spec.queries``, or change nothing of it.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidemark.impl.errors import ImplementationError, ReplicaClosedError, RpcTimeoutError
from tidemark.impl.queries.replica import CollectionReplica
from tidemark.impl.queries.requests import ChannelReader, PendingQuery, ResultCollector
from tidemark.impl.queries.streams import QueryStream, QueryStreams
from tidemark.impl.queries.values import QueryRequest, QueryResult
from tidemark.impl.runtime import Supervisor, Work
from tidemark.models.instance import Instance
from tidemark.models.protocols.queries.refinement import (
    SHARDS,
    QueriesView,
    RequestView,
    ResultView,
    Sizes,
    abstract,
    node_view,
    parts_of,
)
from tidemark.models.refinement.program import RefiningProgram
from tidemark.models.refinement.scenario import Scenario, mapped, program
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

CLUSTER = "cluster"
COLLECTION = "things"
SPECIFICATION = "tidemark.spec.queries:Queries"


class QueriesScenario(Scenario):
    """What happens.

    Attributes:
        requests: how many there are. shards: how many, each at a node of its own.
        rows: by row its shard.
        asks: how many of the requests are made; all, if not said.
        early: requests may come before the load; else after it.
        deadline: requests may run out of time.
        releases: the collection is released.
        rereads: node 0 reads the requests a second time.
        crashes: node 0 crashes, and is told to load again.
    """

    requests: int = 1
    shards: int = 1
    rows: tuple[int, ...] = (0,)
    asks: int | None = None
    early: bool = False
    deadline: bool = False
    releases: bool = False
    rereads: bool = False
    crashes: bool = False

    @property
    def sizes(self) -> Sizes:
        """The bounds of the instance."""
        again = 2 if self.rereads or self.crashes else 1
        results = [
            (r, n)
            for r in range(self.requests)
            for n in range(self.shards)
            for _ in range(again if n == 0 else 1)
        ]
        return Sizes(len(self.rows), self.shards, 1 + self.releases, tuple(results))

    def instance(self) -> Instance:
        """The bounded instance of the specification."""
        sizes = self.sizes
        return Instance(
            SPECIFICATION,
            bounds={
                "Request": self.requests, "Result": len(sizes.results), "Node": self.shards,
                "Shard": self.shards, "Row": sizes.rows, "Stream": sizes.streams, "Number": self.requests,
                "Times": 2, "Faults": int(self.crashes),
            },
            constants={
                "by": [request for request, _ in sizes.results],
                "node": [node for _, node in sizes.results],
                "shard": list(self.rows),
            },
            name="scheduled",
        )  # fmt: skip


@dataclass(slots=True)
class _Request:
    """A client's request, and what it was told."""

    stage: str = ""
    number: int = 0
    times: int = 0
    due: tuple[int, ...] = ()
    query: PendingQuery | None = None


@dataclass(slots=True)
class _Coordinators:
    """What query coordinator and data coordinator know."""

    phase: str = "released"
    stored: list[int] = field(default_factory=list)
    persisted: list[int] = field(default_factory=list)
    wanted: list[int] = field(default_factory=list)

    @property
    def serve(self) -> bool:
        """The collection is loaded, or being loaded: its channels can be asked for."""
        return self.phase in ("loading", "loaded")


class _Writer:
    """A stream of the request channel."""

    def __init__(self, program: QueriesProgram, world: World) -> None:
        self.closed = False
        self._program = program
        self._world = world

    async def write(self, request: QueryRequest) -> None:
        """Put the request in the channel."""

        def put() -> None:
            if self.closed:
                raise RuntimeError(f"request {request.number} is written to a closed stream")
            self._program.written.append(request)
            self._program.wake()

        await self._world.operation(f"write {request.number}", put)

    def close(self) -> None:
        """Nothing is written any more."""
        self.closed = True


class Ends:
    """One reader of a channel: a node of the requests, or the proxy of the results."""

    def __init__(self, program: QueriesProgram, world: World, node: int) -> None:
        self.place = 0
        self._program = program
        self._world = world
        self._node = node

    async def next_request(self) -> QueryRequest:
        """The node reads the next request."""
        while len(self._program.written) <= self.place:
            await self._program.changed.wait()
        found: QueryRequest = await self._world.operation(f"read {self._node}", self._take)
        return found

    def _take(self) -> QueryRequest:
        request = self._program.written[self.place]
        self.place += 1
        return request

    async def put(self, result: QueryResult) -> None:
        """The node's result is in the channel."""
        request = result.number - 1
        self._program.results.append(ResultView(request, self._node, parts_of(result.shards)))

        def put() -> None:
            self._program.channel.append(result)
            self._program.wake()

        await self._world.operation(f"put {self._node}", put)

    async def next_result(self) -> QueryResult:
        """The proxy reads the next result."""
        while len(self._program.channel) <= self.place:
            await self._program.changed.wait()
        found: QueryResult = await self._world.operation("result", self._take_result)
        return found

    def _take_result(self) -> QueryResult:
        result = self._program.channel[self.place]
        self.place += 1
        return result


class _Edges:
    """The coordinators as proxy and nodes see them; the files."""

    def __init__(self, program: QueriesProgram, world: World) -> None:
        self._program = program
        self._world = world

    async def channels(self, collection: str) -> _Writer:
        """The answer of the query coordinator."""
        del collection

        def find() -> _Writer:
            if not self._program.coordinators.serve:
                raise ReplicaClosedError("not loaded")
            writer = _Writer(self._program, self._world)
            self._program.writers.append(writer)
            return writer

        found: _Writer = await self._world.operation("channels", find)
        return found

    async def next_id(self) -> int:
        """A number for the request of this task."""
        task = asyncio.current_task()
        assert task is not None
        place = int(task.get_name().rpartition(" ")[2])

        def give() -> int:
            request = self._program.requests[place]
            request.number = place + 1
            request.due = tuple(self._program.coordinators.wanted)
            return request.number

        found: int = await self._world.operation("number", give)
        return found

    async def fetch(self, shard: str, row: int) -> None:
        """Read a file."""
        await self._world.operation(f"fetch {shard} {row}", lambda: None)


class QueriesProgram(RefiningProgram):
    """One collection with its proxy and query nodes, in one process."""

    table = "queries"
    settings = Settings(clock=ClockOrder.UNTIMED)

    def __init__(self, scenario: QueriesScenario) -> None:
        super().__init__(mapped(scenario, _values))
        self.scenario = scenario
        self.coordinators = _Coordinators()
        self.requests = [_Request() for _ in range(scenario.requests)]
        self.writers: list[_Writer] = []
        self.written: list[QueryRequest] = []
        self.results: list[ResultView] = []
        self.channel: list[QueryResult] = []
        self.nodes: list[CollectionReplica] = []
        self.crashed = 0
        self.changed = asyncio.Event()
        self.reader: ChannelReader | None = None
        self.readers: list[Ends] = []
        self.made: dict[str, QueryStream] = {}
        self._supervisor = Supervisor()

    def populate(self, world: World) -> None:
        """Define the process."""
        world.process(CLUSTER, self._run, daemon=True)

    def wake(self) -> None:
        """Something is in a channel, or a shard is served."""
        self.changed.set()
        self.changed = asyncio.Event()

    async def _run(self, process: Process) -> None:
        self.changed = asyncio.Event()
        self._supervisor, edges = Supervisor(), _Edges(self, self.world)
        self.nodes = [
            CollectionReplica(files=edges, spawn=self.spawn, preemption=process)
            for _ in range(self.scenario.shards)
        ]
        self.reader = ChannelReader(
            numbers=edges,
            streams=QueryStreams(coordinator=edges, spawn=self.spawn, preemption=process),
            collector=_Noting(self.requests),
            preemption=process,
            deadline=1.0 if self.scenario.deadline else None,
        )
        self.readers = [Ends(self, self.world, node) for node in range(-1, len(self.nodes))]
        self.spawn(functools.partial(self.reader.follow, self.readers[0]), "results")
        for number, (node, ends) in enumerate(zip(self.nodes, self.readers[1:], strict=True)):
            self.spawn(functools.partial(node.follow, ends, ends), f"node {number}")
        process.spawn(self._coordinate(process), "coordinator")
        if self.scenario.early:
            self._begin(process)
        await self._supervisor.wait_failed()

    def spawn(self, work: Work, name: str) -> asyncio.Task[None]:
        """Start a task of the cluster; its end may be what the coordinator waits for.

        One that makes or closes a stream has a name of its own.
        """
        if isinstance(work, functools.partial) and isinstance(work.args[-1], QueryStream):
            name = f"{name} of task {len(self.made)}"
            self.made[name] = work.args[-1]

        async def doing() -> None:
            await work()
            self.wake()

        return self._supervisor.spawn(doing, name)

    def _begin(self, process: Process) -> None:
        """What happens side by side."""
        asks = self.scenario.asks
        for number in range(self.scenario.requests if asks is None else asks):
            process.spawn(self._ask(number), f"client {number}")
        if self.scenario.releases:
            process.spawn(self._release(process), "releaser")
        if self.scenario.rereads:
            process.spawn(self._reread(process), "rereader")
        if self.scenario.crashes:
            process.spawn(self._crash(process), "crasher")

    # The coordinators.

    async def _coordinate(self, process: Process) -> None:
        known = self.coordinators
        for row in range(len(self.scenario.rows)):
            await process.point("files.store")
            known.stored.append(row)
            await process.point("files.persist")
            known.persisted.append(row)
        await process.point("coordinator.load")
        known.phase, known.wanted = "loading", list(known.persisted)
        for number in range(len(self.nodes)):
            await process.point("coordinator.tell")
            if known.phase != "loading":
                return
            self._tell(number)
        while known.phase == "loading":
            if not all(node.serving for node in self.nodes):
                await self.changed.wait()
                continue
            await process.point("coordinator.end_load")
            # A node may have crashed meanwhile: it is told again, and waited for again.
            if known.phase == "loading" and all(node.serving for node in self.nodes):
                known.phase = "loaded"
        if not self.scenario.early:
            self._begin(process)

    def _tell(self, number: int) -> None:
        rows = [row for row in self.coordinators.wanted if self.scenario.rows[row] == number]
        self.nodes[number].load(SHARDS[number], rows)

    async def _release(self, process: Process) -> None:
        known = self.coordinators
        await process.point("coordinator.release")
        if known.phase == "released":
            return
        known.phase = "releasing"
        for node in self.nodes:
            await process.point("coordinator.unload")
            node.release()
            self.wake()
        await process.point("coordinator.remove")
        assert self.reader is not None
        self.reader.release(COLLECTION)
        await process.point("coordinator.end_release")
        known.phase = "released"

    async def _crash(self, process: Process) -> None:
        await process.point("node.crash")
        if not self.nodes[0].loaded:
            return
        self.nodes[0].release()
        self.crashed += 1
        self.readers[1].place = 0
        self.wake()
        await process.point("coordinator.tell")
        if self.coordinators.phase in ("loading", "loaded"):
            self._tell(0)

    async def _reread(self, process: Process) -> None:
        await process.point("node.rewind")
        self.readers[1].place = 0
        self.wake()

    # The clients.

    async def _ask(self, number: int) -> None:
        request = self.requests[number]
        assert self.reader is not None
        shards = [SHARDS[shard] for shard in range(self.scenario.shards)]
        try:
            await self.reader.query(COLLECTION, shards)
            request.stage = "answered"
        except ImplementationError as error:
            if isinstance(error, RpcTimeoutError) and not isinstance(error.__cause__, TimeoutError):
                raise RuntimeError(f"request {number} is said to be late, and it is not") from error  # noqa: TRY004
            request.stage = "failed"
        request.times += 1

    # What is looked at.

    def condition(self, name: str, event: Event) -> bool:
        """Whether the question for channels is refused: ``not_loaded``, the one condition of the table."""
        return not self.coordinators.serve if name == "not_loaded" else super().condition(name, event)

    def undone(self, values: Mapping[str, Any]) -> str | None:
        """Each request is over, no load and no release is half-way, no removed stream is open or kept."""
        for r, stage in values["stage"].items():
            if stage not in ("new", "answered", "failed"):
                return f"request {r} is not over: {stage}"
        for u, phase in values["object"].items():
            if phase == "removed":
                return f"stream {u} is not closed"
        if self.reader is not None and self.reader.streams.removed:
            return "a stream that is closed is kept"
        return None if values["phase"] in ("released", "loaded") else f"the collection is {values['phase']}"

    def observe(self) -> Observation:
        """What coordinators, nodes, proxy and channels hold."""
        known = self.coordinators
        return {
            CLUSTER: QueriesView(
                known.phase,
                tuple(known.stored),
                tuple(known.persisted),
                tuple(known.wanted),
                tuple(node_view(node) for node in self.nodes),
                tuple(self._phase_of(writer) for writer in self.writers),
                tuple(self._view(number) for number in range(len(self.requests))),
                tuple(self.results),
                self.crashed,
            )
        }

    def _phase_of(self, writer: _Writer) -> str:
        found = [one for one in self._streams() if one.writer is writer]
        return "closed" if writer.closed else found[0].phase.value if found else "asked"

    def _view(self, number: int) -> RequestView:
        assert self.reader is not None
        request = self.requests[number]
        pending = self.reader.collector.pending.get(request.number) if request.number else None
        uses = tuple(
            self.writers.index(one.writer)  # type: ignore[arg-type]  # the writers of this program
            for one in self._streams()
            if request.number in one.writers
        )
        written = any(one.number == request.number for one in self.written)
        stage = request.stage or (
            "holding" if uses else "waiting" if written else "begun" if request.number else "new"
        )
        return RequestView(
            stage,
            request.number,
            request.times,
            pending is not None,
            () if request.query is None else parts_of(request.query.rows),
            request.due,
            written,
            uses,
        )

    def declared(self) -> Hashable:
        """The mutable data that influence what happens next."""
        return (
            tuple(self._observed.values()),
            tuple(reader.place for reader in self.readers),
            tuple((one.number, parts_of(one.shards)) for one in self.channel),
            tuple(one.number for one in self.written),
            tuple(self._state_of(one) for one in self._streams()),
            tuple(self._state_of(one) for one in self.made.values()),
        )

    def _state_of(self, stream: QueryStream) -> Hashable:
        """Its starter matters until it is open; whether it is unused, to who closes it after a release."""
        is_open = stream.over.is_set() and stream.error is None
        unused = self.scenario.releases and stream.unused.is_set()
        return is_open or stream.starter, unused, stream.phase, tuple(stream.writers)

    def _streams(self) -> list[QueryStream]:
        assert self.reader is not None
        return [*self.reader.streams.streams.values(), *self.reader.streams.removed]


class _Noting(ResultCollector):
    """A map of requests that also tells the clients what is entered."""

    def __init__(self, requests: Sequence[_Request]) -> None:
        super().__init__()
        self._requests = requests

    def enter(self, number: int, query: PendingQuery) -> None:
        super().enter(number, query)
        self._requests[number - 1].query = query


def _values(scenario: QueriesScenario, known: Any) -> Mapping[str, Any]:
    return abstract(known[CLUSTER], scenario.sizes)


queries = program(QueriesProgram, QueriesScenario)
