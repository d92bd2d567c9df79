"""Requests that nodes refuse, and nodes that leave or come meanwhile: the real channels, and on both sides of
them the real code. What a node serves is a plan.

No specification is followed here: what is looked at is how each request ends. Requests have no deadline, so
that one that waits for nobody is seen. What nodes and proxy do while nobody refuses is judged step by step in
``program``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import partial

from tidemark.impl.errors import ImplementationError, ReplicaClosedError
from tidemark.impl.queries.channels import QueryChannels, RequestReader, RequestWriter, ResultReader
from tidemark.impl.queries.reads import AskedRead, HostNumbers, NodeFollower
from tidemark.impl.queries.requests import ChannelReader, PendingQuery, ResultCollector
from tidemark.impl.queries.streams import QueryStreams
from tidemark.impl.queries.values import QueryRequest, QueryResult
from tidemark.impl.querynode.values import ShardRead
from tidemark.impl.runtime import Supervisor, Work
from tidemark.models.simulation.program import Observation, Program
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

CLUSTER = "cluster"
COLLECTION = "things"
SHARDS = ("a", "b")
ENDS = "a_request_ends_when_its_nodes_have_answered"
"""Claim id: a request waits for no node that has answered, refused, or left, nor for one that came later."""
IN_VAIN = "no_request_is_refused_in_vain"
"""Claim id: a request is refused only if each of its nodes has answered or has left, and what they answered
before they left does not hold each channel.
"""
WHOLE = "an_answer_holds_each_channel"
"""Claim id: what the client gets is of each channel, from a node that serves it."""


class Node:
    """A query node as the follower sees it. ``serves``: the channels that it answers for."""

    def __init__(self, program: RefusedProgram, number: int, serves: str) -> None:
        self.node_id = str(number)
        self.serves = serves
        self.reader: RequestReader | None = None
        self.supervisor = self
        self.tasks: list[asyncio.Task[None]] = []
        self.left = False
        self._program = program

    def spawn(self, work: Work, name: str) -> asyncio.Task[None]:
        """Start a task of the node."""
        self.tasks.append(self._program.spawn(work, name))
        return self.tasks[-1]

    async def serve(self, channel: str, read: ShardRead, *, deadline: float | None) -> object:
        """See QueryNode: the answer of a channel is the node's name."""
        del read, deadline
        if channel not in self.serves:
            raise ReplicaClosedError(f"node {self.node_id} does not serve {channel}")
        return self.node_id


class _Results:
    """The result channel with a step for each result that is written, and for each that is read."""

    def __init__(self, program: RefusedProgram, reader: ResultReader | None = None) -> None:
        self._program = program
        self._reader = reader

    async def put(self, result: QueryResult) -> None:
        """See ResultChannel."""
        await self._program.world.operation(f"answer {result.node}", lambda: None)
        self._program.note(result)
        await self._program.channels.put(result)

    async def next_result(self) -> QueryResult:
        """See Results."""
        assert self._reader is not None
        result = await self._reader.next_result()
        await self._program.world.operation("result", lambda: None)
        return result


class RefusedProgram(Program):
    """One collection of two channels.

    Args:
        nodes: by node the channels that it serves; it refuses the others.
        leaves: a node that leaves. comes: a node that begins to read later than the others.
        releases: the collection is released. requests: how many clients ask.
    """

    claims: tuple[str, ...] = (ENDS, IN_VAIN, WHOLE)
    settings = Settings(clock=ClockOrder.UNTIMED)
    node_class = Node
    """Class of the nodes."""

    def __init__(
        self,
        *,
        nodes: Sequence[str],
        leaves: int | None,
        comes: int | None,
        releases: bool,
        requests: int,
    ) -> None:
        self.nodes = [self.node_class(self, number, serves) for number, serves in enumerate(nodes)]
        self.leaves, self.comes, self.releases = leaves, comes, releases
        self.released = False
        self.asked: dict[int, tuple[str, ...]] = {}
        self.heard: list[tuple[int, str, str]] = []
        self.entered: dict[int, PendingQuery] = {}
        self.left_after = 0
        self.outcomes: list[str] = [""] * requests
        self.wrong: str | None = None

    def build(self, world: World) -> None:
        """Define the process."""
        self.world = world
        world.process(CLUSTER, self._run, daemon=True)

    async def _run(self, process: Process) -> None:
        self._supervisor = Supervisor()
        self.channels = QueryChannels()
        self.channels.load(COLLECTION)
        self.results = self.channels.results()
        self.reader = ChannelReader(
            numbers=HostNumbers(self),  # type: ignore[arg-type]  # a host that serves, and has ids
            streams=QueryStreams(coordinator=_Coordinator(self), spawn=self.spawn, preemption=process),
            collector=_Noting(self.entered),
            preemption=process,
            deadline=None,
        )
        self.spawn(partial(self.reader.follow, _Results(self, self.results)), "results")
        for number, node in enumerate(self.nodes):
            if number != self.comes:
                self._come(node)
        if self.comes is not None:
            process.spawn(self._come_late(process, self.nodes[self.comes]), "comer")
        if self.leaves is not None:
            process.spawn(self._leave(process, self.nodes[self.leaves]), "leaver")
        if self.releases:
            process.spawn(self._release(process), "releaser")
        for number in range(len(self.outcomes)):
            process.spawn(self._ask(process, number), f"client {number}")
        await self._supervisor.wait_failed()

    def spawn(self, work: Work, name: str) -> asyncio.Task[None]:
        """Start a task of proxy or node."""
        return self._supervisor.spawn(work, name)

    async def serving(self) -> _Ids:
        """See Host."""
        return _Ids()

    def note(self, result: QueryResult) -> None:
        """A result is in the channel."""
        self.heard.append((result.number, result.node, "".join(sorted(result.shards))))

    # Nodes that come and go.

    def _come(self, node: Node) -> None:
        node.reader = self.channels.subscribe(COLLECTION, node.node_id)
        follower = NodeFollower(node, _Results(self))  # type: ignore[arg-type]  # what a follower needs of a node
        node.spawn(partial(follower.follow, node.reader), f"requests of {node.node_id}")

    async def _come_late(self, process: Process, node: Node) -> None:
        await process.point("node.come")
        self._come(node)

    async def _leave(self, process: Process, node: Node) -> None:
        """The node crashes: it is known at once that it reads no more, and then its tasks end."""
        await process.point("node.leave")
        node.left = True
        self.left_after = len(self.heard)
        self.channels.unsubscribe(COLLECTION, node.node_id)
        for task in node.tasks:
            task.cancel()

    async def _release(self, process: Process) -> None:
        """The collection is released, as the query coordinator of the cluster does it."""
        await process.point("coordinator.release")
        self.released = True
        self.channels.release(COLLECTION)
        for node in self.nodes:
            self.channels.unsubscribe(COLLECTION, node.node_id)
            for task in node.tasks:
                task.cancel()
        await process.point("coordinator.tell")
        self.reader.release(COLLECTION)

    # The clients.

    async def _ask(self, process: Process, client: int) -> None:
        await process.point("client.come")
        asked = AskedRead(SHARDS, 0, {}, None, 0.0)
        try:
            found = await self.reader.query(COLLECTION, SHARDS, asked)
        except ImplementationError as error:
            self.outcomes[client] = "refused"
            self._look_at_refusal(client + 1, str(error))
        else:
            self.outcomes[client] = " ".join(found[shard] for shard in SHARDS)
            self._look_at_answer(found)

    def _look_at_refusal(self, number: int, says: str) -> None:
        if self.released:
            return
        of = {node: shards for heard, node, shards in self.heard if heard == number}
        gone = {node.node_id for node in self.nodes if node.left}
        silent = sorted({*self.asked.get(number, ())} - {*of} - gone)
        if "released" in says:
            self.wrong = f"{IN_VAIN}: request {number} hears of a release, and there is none"
        elif number not in self.asked:
            self.wrong = f"{IN_VAIN}: request {number} is refused before it is written"
        elif silent:
            self.wrong = f"{IN_VAIN}: request {number} is refused, and node {silent[0]} has not answered"
        elif {*"".join(of.values())} == {*SHARDS}:
            self.wrong = f"{IN_VAIN}: request {number} is refused, and each channel is in a result"

    def _look_at_answer(self, found: Mapping[str, str]) -> None:
        serves = {node.node_id: node.serves for node in self.nodes}
        for shard in SHARDS:
            if shard not in serves[found[shard]]:
                self.wrong = f"{WHOLE}: channel {shard} is answered by node {found[shard]}"

    # What is looked at.

    def observe(self) -> Observation:
        """Return how the requests have ended."""
        return {CLUSTER: (tuple(self.outcomes), tuple(self.heard), self.wrong)}

    def on_step(self, before: Observation, after: Observation, label: str) -> str | None:
        """Return what was found wrong."""
        del before, after, label
        return self.wrong

    def check_final(self) -> str | None:
        """Each request has ended."""
        waits = [client for client, outcome in enumerate(self.outcomes) if not outcome]
        if self.wrong is None and waits:
            return f"{ENDS}: request {1 + waits[0]} waits; its nodes: {self.asked.get(1 + waits[0])}"
        for node in self.nodes:
            if (
                self.wrong is None
                and not (node.left or self.released)
                and node.reader is not None
                and node.reader.owed
            ):
                return f"{ENDS}: node {node.node_id} is held to owe {sorted(node.reader.owed)}"
        return self.wrong

    def covered(self) -> frozenset[str]:
        """Return what has happened."""
        gone = {node.node_id for node in self.nodes if node.left}
        found = {"a request is refused"} if "refused" in self.outcomes else set()
        if any(outcome not in ("", "refused") for outcome in self.outcomes):
            found.add("a request is answered")
        if any(gone.intersection(nodes) for nodes in self.asked.values()):
            found.add("a node leaves that was asked")
        return frozenset(found)

    def final(self) -> Hashable:
        """Return how they have ended."""
        return tuple(self.outcomes)

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        streams = self.reader.streams if hasattr(self, "reader") else None
        known = (*streams.streams.values(), *streams.removed) if streams is not None else ()
        return (
            (tuple(self.outcomes), tuple(self.heard), self.wrong, tuple(sorted(self.asked.items()))),
            tuple(
                (number, tuple(sorted(one.rows.items())), one.asked and tuple(one.asked),
                 tuple(sorted(one.heard)), one.refusal is None, one.over.is_set())
                for number, one in sorted(self.entered.items())
            ),
            tuple(
                (one.phase.value, one.starter, tuple(one.writers), one.over.is_set(), one.unused.is_set(),
                 one.error is None)
                for one in known
            ),
            tuple(
                (node.left, node.reader and (node.reader.left.qsize(), tuple(sorted(node.reader.owed))))
                for node in self.nodes
            ),
            (self.left_after, self.released),
            self.results.left.qsize() if hasattr(self, "results") else 0,
        )  # fmt: skip


class _Noting(ResultCollector):
    """A map of requests that also notes what is entered."""

    def __init__(self, entered: dict[int, PendingQuery]) -> None:
        super().__init__()
        self._entered = entered

    def enter(self, number: int, query: PendingQuery) -> None:
        super().enter(number, query)
        self._entered[number] = query


class _Coordinator:
    """The query coordinator as the proxy sees it."""

    def __init__(self, program: RefusedProgram) -> None:
        self._program = program

    async def channels(self, collection: str) -> _Writer:
        """See QueryCoordinatorClient."""
        return _Writer(self._program, await self._program.channels.channels(collection))


class _Ids:
    """The proxy that serves, and its ids: a client gets its place, from 1."""

    @property
    def ids(self) -> _Ids:
        """See Proxy."""
        return self

    async def take(self, count: int) -> list[tuple[int, int]]:
        """See IdBatches."""
        task = asyncio.current_task()
        assert task is not None
        first = 1 + int(task.get_name().rpartition(" ")[2])
        return [(first, first + count)] if count else []


class _Writer:
    """A stream into the request channel, with a step for each write."""

    def __init__(self, program: RefusedProgram, writer: RequestWriter) -> None:
        self._program = program
        self._writer = writer

    async def write(self, request: QueryRequest) -> Collection[str]:
        """See Writer. Results may come before it returns."""
        await self._program.world.operation(f"write {request.number}", lambda: None)
        nodes = self._program.nodes
        here = tuple(node.node_id for node in nodes if node.reader is not None and not node.left)
        self._program.asked[request.number] = here
        found = await self._writer.write(request)
        await self._program.world.operation(f"written {request.number}", lambda: None)
        return found

    def close(self) -> None:
        """See Writer."""
        self._writer.close()


def refused(
    *,
    nodes: Sequence[str],
    leaves: int | None = None,
    comes: int | None = None,
    releases: bool = False,
    requests: int = 1,
) -> RefusedProgram:
    """A program by plain arguments: see ``RefusedProgram``."""
    return RefusedProgram(nodes=nodes, leaves=leaves, comes=comes, releases=releases, requests=requests)
