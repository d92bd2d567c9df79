"""The query nodes of a cluster as a whole: who serves what, who answers whom, and what is loaded when.

Real are the set of nodes, the coordinator that describes channels, the channels of requests and what follows
them. The nodes themselves are stand-ins that take up channels as fast as a script says, and note their calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import Any, cast

from tidemark.impl.cluster.replicas import ReplicaSet, describe
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.errors import ReplicaClosedError
from tidemark.impl.queries.reads import AskedRead
from tidemark.impl.queries.values import QueryRequest
from tidemark.impl.querynode.query_node import QueryNode
from tidemark.impl.querynode.values import ChannelDescription, LoadSegment, ShardAnswer
from tidemark.impl.runtime import Supervisor
from tidemark.impl.storage.memory import MemoryMetaStore
from tidemark.impl.stream.packs import StreamPosition
from tidemark.impl.types import BinlogRecord, ChannelRecord, EndPosition, SegmentRecord
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

SERVED = "each_living_node_serves_what_is_loaded"
"""Claim id: all channels of the loaded collections, and no other, whatever came while it took them up; with
one task for each collection that follows its requests."""
READ = "a_request_is_answered_by_who_serves"
"""Claim id: a request is refused if its collection is not loaded; otherwise each living node answers it, and
in the name of one that is killed its reads are refused."""
LOADED = "a_flushed_segment_is_loaded_once_with_its_deletes"
"""Claim id: segments that are flushed and have binlogs, with all level-zero segments and the checkpoint; then
deletes up to the checkpoint are let go of. A node that does not serve a channel holds up no other."""
DESCRIBED = "a_channel_is_described_as_it_is_recorded"
"""Claim id: from its checkpoint on with all segments, or from its delete checkpoint without level zero."""
FAILED = "the_failure_of_a_node_is_told"
"""Claim id: a check raises it; a stop ends every node."""

_CHANNELS = {"a": ("a0", "a1"), "b": ("b0",)}
_NOT_LOADED = "not loaded"
_CHECKPOINTS = {"a0": 40, "a1": 41, "b0": 42}


def _segment(number: int, channel: str, *, flushed: bool, positions: tuple[int, ...] = (3,)) -> SegmentRecord:
    binlogs = (BinlogRecord(f"{channel}/{number}", positions),) if positions else ()
    return SegmentRecord(number, channel, EndPosition(9), flushed=flushed, binlogs=binlogs)


_SEGMENTS = (
    _segment(-2, "a0", flushed=True, positions=(30, 33)),
    _segment(-1, "a0", flushed=False, positions=(35,)),
    _segment(1, "a0", flushed=True),
    _segment(2, "a0", flushed=False),
    _segment(3, "a0", flushed=True, positions=()),
    _segment(4, "a0", flushed=True),
    _segment(5, "b0", flushed=True),
)
_FLUSHED = {"a0": (1, 4), "a1": (), "b0": (5,)}
_LEVELS = {"a0": (-2, -1), "a1": (), "b0": ()}
SCRIPTS: tuple[Script, ...] = (
    {"events": [("read", "a", None), ("load", "a"), ("read", "a", (0, 1)), ("load", "a"), ("load", "b"),
                ("read", "b", (0, 1)), ("release", "a"), ("read", "a", None), ("read", "b", (0, 1)),
                ("release", "a"), ("load", "a"), ("read", "a", (0, 1)), ("stop",)]},
    # Nodes that are killed, and come again.
    {"events": [("load", "a"), ("load", "b"), ("kill", 0), ("read", "a", (1,)), ("revive", 0),
                ("read", "a", (0, 1)), ("read", "b", (0, 1)), ("kill", 1), ("release", "b"), ("revive", 1),
                ("read", "a", (0, 1)), ("read", "b", None)]},
    {"events": [("load", "a"), ("hold",), ("waits", "a"), ("kill", 1), ("refused", 1)]},
    # What comes while nodes take channels up.
    {"events": [("slow", 2), ("begin", "load", "a"), ("wait", 1), ("read", "a", ()), ("wait", 2),
                ("read", "a", (0, 1))]},
    {"events": [("slow", 2), ("begin", "load", "a"), ("wait", 1), ("release", "a"), ("wait", 2),
                ("read", "a", None), ("load", "a"), ("read", "a", (0, 1))], "fails": ["load a"]},
    {"events": [("load", "a"), ("kill", 0), ("slow", 2), ("begin", "revive", 0), ("wait", 1), ("load", "b"),
                ("wait", 2), ("read", "a", (0, 1)), ("read", "b", (0, 1))]},
    {"events": [("load", "a"), ("load", "b"), ("kill", 0), ("slow", 2), ("begin", "revive", 0), ("wait", 1),
                ("slow", 0), ("release", "b"), ("wait", 2), ("read", "b", None)], "fails": ["revive 0"]},
    {"events": [("last act", "b"), ("load", "b"), ("wait", 1), ("read", "b", None), ("load", "b"),
                ("read", "b", (0, 1))]},
    # Flushed segments.
    {"events": [("load", "a"), ("load", "b"), ("forget", 0), ("forget", 1), ("flushed", 0, 1),
                ("flushed", 0, 1)]},
    {"events": [("load", "a"), ("flushed", 0, 1), ("forget", 1), ("flushed", 0, 1)]},
    {"events": [("load", "a"), ("load", "b"), ("forget", 0), ("forget", 1), ("loses", 0, "a0"),
                ("flushed", 0, 1)]},
    {"events": [("describe",)]},
    {"events": [("load", "a"), ("check", False), ("breaks", 1), ("check", True)]},
)  # fmt: skip


class Node:
    """Stands for a query node. ``taken``: the channels that it has taken up, or is about to."""

    def __init__(self, program: ReplicasProgram, number: int) -> None:
        self.node_id = f"node {number}"
        self.supervisor = Supervisor()
        self.taken: dict[str, bool] = {}
        self.sealed: set[tuple[str, int]] = set()
        self.calls: list[Hashable] = []
        self.stopped = False
        self._program = program

    async def watch(self, description: ChannelDescription) -> None:
        """See QueryNode."""
        channel = description.channel
        if channel in self.taken:
            raise ValueError(f"{self.node_id} serves {channel} already")
        self.taken[channel] = False
        if self._program.slow:
            await asyncio.sleep(self._program.pause())
            self._check(channel)
        self.taken[channel] = True
        self.sealed.update(
            (channel, one.segment_id) for one in description.segments if one.flushed and one.binlogs
        )
        self._program.last_act()

    async def release(self, channel: str) -> None:
        """See QueryNode."""
        self.taken.pop(channel, None)

    async def stop(self) -> None:
        """See QueryNode."""
        self.taken.clear()
        self.stopped = True
        await self.supervisor.stop()

    def serves_sealed(self, channel: str, segment_id: int) -> bool:
        """See QueryNode."""
        self._check(channel)
        return (channel, segment_id) in self.sealed

    async def load_segment(self, channel: str, request: LoadSegment) -> None:
        """See QueryNode."""
        self._check(channel)
        self.calls.append(("load", channel, request))
        self.sealed.add((channel, request.record.segment_id))

    def trim_deletes(self, channel: str, upto: int) -> None:
        """See QueryNode."""
        self._check(channel)
        self.calls.append(("trim", channel, upto))

    async def serve(self, channel: str, read: object, *, deadline: float | None) -> ShardAnswer:
        """See QueryNode."""
        del read, deadline
        self._check(channel)
        if self._program.holds:
            await asyncio.get_running_loop().create_future()
        return ShardAnswer(7, ())

    def _check(self, channel: str) -> None:
        if channel not in self.taken:
            raise ReplicaClosedError(f"{self.node_id} does not serve {channel}")


class ReplicasProgram(ComparedProgram):
    """A set of query nodes."""

    async def live(self, process: Process) -> None:
        """Let happen what the script says."""
        del process
        self.slow = 0.0
        self._pauses = 0
        self.holds = False
        self._last: str | None = None
        self._number = 0
        self._loaded: set[str] = set()
        self._living = {0, 1}
        self._fails: list[str] = []
        self._under_way = 0
        self._seen: list[Hashable] = []
        self._made: list[Node] = []
        meta = MemoryMetaStore()
        await meta.save_channels([ChannelRecord(c, checkpoint=at) for c, at in _CHECKPOINTS.items()])
        for segment in _SEGMENTS:
            await meta.save_segment(segment)
        self._coordinator = Coordinator(meta=meta)
        await self._coordinator.load()
        self._set = ReplicaSet(coordinator=self._coordinator, make=self._make, count=2)
        self._results = self._set.queries.results()
        self.begun = True
        for event in self.script["events"]:
            await self._happen(event)
            await asyncio.sleep(0.01)
            self._compare(event)
            await self.halt_if_wrong()
        self.compare(SERVED, "what fails", self._fails, list(self.script.get("fails", ())))

    def _make(self, number: int) -> QueryNode:
        self._made.append(Node(self, number))
        return cast("QueryNode", self._made[-1])

    def _node(self, number: int) -> Node:
        return cast("Node", self._set.nodes[number])

    def pause(self) -> float:
        """How long a node takes: each time a little longer, so that no two moments are the same."""
        self._pauses += 1
        return self.slow + 0.013 * self._pauses

    def last_act(self) -> None:
        """A node has just taken a channel up: the collection is released in the very same moment."""
        if self._last is not None:
            collection, self._last = self._last, None
            self._begin("release", collection)

    # What happens.

    async def _happen(self, event: tuple[Any, ...]) -> None:
        match event:
            case ("load" | "release" | "kill" | "revive" as what, whom):
                self._begin(what, whom)
                await asyncio.sleep(1.25 * self.slow)
            case ("begin", what, whom):
                self._begin(what, whom)
            case ("wait", seconds):
                await asyncio.sleep(seconds)
            case ("slow", seconds):
                self.slow = seconds
            case ("hold",):
                self.holds = True
            case ("last act", collection):
                self._last = collection
            case ("stop",):
                await self._set.stop()
                self.compare(FAILED, "who has stopped", [one.stopped for one in self._made], [True, True])
            case _:
                await self._look_at(event)

    async def _look_at(self, event: tuple[Any, ...]) -> None:
        match event:
            case ("read", collection, answered):
                due = [f"node {n}" for n in answered] if answered is not None else [_NOT_LOADED]
                found = await self._read(collection)
                self.compare(READ, f"who answers for {collection}", found, dict.fromkeys(due, True))
            case ("waits", collection):
                await self._read(collection)
            case ("refused", number):
                self.compare(READ, "who refuses", self._heard(), {f"node {number}": False})
            case ("forget", number):
                self._node(number).sealed.clear()
            case ("loses", number, channel):
                await self._node(number).release(channel)
            case ("flushed", *numbers):
                await self._load_flushed(*numbers)
            case ("describe",):
                self._describe()
            case ("breaks", number):
                self._node(number).supervisor.spawn(_fails, "a task")
            case ("check", fails):
                self._check(fails)

    def _begin(self, what: str, whom: Any) -> None:
        if what in ("load", "release"):
            (self._loaded.add if what == "load" else self._loaded.discard)(whom)
            work = self._set.load(whom, _CHANNELS[whom]) if what == "load" else self._set.release(whom)
        else:
            (self._living.add if what == "revive" else self._living.discard)(whom)
            work = self._set.revive(whom) if what == "revive" else self._set.kill(whom)
        asyncio.get_running_loop().create_task(self._tried(work, f"{what} {whom}"), name=f"{what} {whom}")

    async def _tried(self, work: Any, what: str) -> None:
        self._under_way += 1
        try:
            await work
        except ReplicaClosedError:
            self._fails.append(what)
        finally:
            self._under_way -= 1

    # Reads.

    async def _read(self, collection: str) -> dict[str, bool]:
        self._number += 1
        asked = AskedRead(
            channels=_CHANNELS[collection], guarantee=3, moments={}, keys=None, nearest=None, deadline=9
        )
        try:
            writer = await self._set.queries.channels(collection)
        except ReplicaClosedError:
            return {_NOT_LOADED: True}
        try:
            await writer.write(QueryRequest(self._number, collection, asked))
        except ReplicaClosedError:
            return {}
        await asyncio.sleep(0.01)
        found = self._heard()
        self._seen.append((collection, tuple(found)))
        return found

    def _heard(self) -> dict[str, bool]:
        """Who has answered the last request; False: it refuses."""
        found: dict[str, bool] = {}
        while not self._results.left.empty():
            one = self._results.left.get_nowait()
            if one.number == self._number:
                found[one.node] = one.refusal is None
        return dict(sorted(found.items()))

    # Segments.

    async def _load_flushed(self, *numbers: int) -> None:
        due: dict[int, list[Hashable]] = {}
        for number, node in enumerate(map(self._node, sorted(self._set.nodes))):
            node.calls.clear()
            due[number] = [call for channel in node.taken for call in self._due_calls(node, channel)]
        await self._set.load_flushed()
        for number in numbers:
            node = self._node(number)
            self.compare(
                LOADED,
                f"the calls of {number}",
                sorted(map(repr, node.calls)),
                sorted(map(repr, due[number])),
            )
            for channel in node.taken:
                mine = [call for call in node.calls if cast("Any", call)[1] == channel]
                self.compare(LOADED, "the last call", mine[-1:], [("trim", channel, _CHECKPOINTS[channel])])

    def _due_calls(self, node: Node, channel: str) -> list[Hashable]:
        records = {one.segment_id: one for one in _SEGMENTS}
        deletes = tuple(records[number] for number in _LEVELS[channel])
        loads: list[Hashable] = [
            ("load", channel, LoadSegment(records[number], deletes, _CHECKPOINTS[channel]))
            for number in _FLUSHED[channel]
            if (channel, number) not in node.sealed
        ]
        return [*loads, ("trim", channel, _CHECKPOINTS[channel])]

    def _describe(self) -> None:
        mine = tuple(one for one in _SEGMENTS if one.channel == "a0")
        whole = ChannelDescription("a0", StreamPosition(0, 40), mine)
        rows = ChannelDescription("a0", StreamPosition(0, 29), mine[2:])
        self.compare(DESCRIBED, "the channel", describe(self._coordinator, "a0"), whole)
        self.compare(DESCRIBED, "without level zero", describe(self._coordinator, "a0", levels=False), rows)

    def _check(self, fails: bool) -> None:  # noqa: FBT001  # a fact of the script
        try:
            self._set.check()
        except RuntimeError:
            told = True
        else:
            told = False
        self.compare(FAILED, "a failure", told, fails)

    # What is compared.

    def _compare(self, event: tuple[Any, ...]) -> None:
        if self._under_way or self.holds or event[0] in ("loses", "flushed", "breaks", "check", "stop"):
            return
        channels = sorted(channel for one in self._loaded for channel in _CHANNELS[one])
        self.compare(SERVED, f"{event}: what is loaded", sorted(self._set.channels), channels)
        self.compare(SERVED, f"{event}: who lives", set(self._set.nodes), self._living)
        living = {id(self._node(number)) for number in self._set.nodes}
        for node in self._made:
            due = channels if id(node) in living else []
            self.compare(SERVED, f"{event}: {node.node_id} serves", sorted(node.taken), due)
            self.compare(SERVED, f"{event}: {node.node_id} is stopped", node.stopped, id(node) not in living)
            tasks = len(node.supervisor._tasks)  # noqa: SLF001
            self.compare(SERVED, f"{event}: {node.node_id} follows", tasks, len(self._loaded) if due else 0)

    def look(self) -> Hashable:
        """Who has answered."""
        return tuple(self._seen)


async def _fails() -> None:
    raise RuntimeError("broken")


def replicas() -> ReplicasProgram:
    """Return the program of all scripts."""
    return ReplicasProgram(SCRIPTS, timers=60)
