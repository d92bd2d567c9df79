"""What clients ask of one gateway, and what it asks of the components behind it.

The real gateway, queues and metadata of one proxy; the components answer as a script says. ``call_reckoning``
says what is right.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from tidemark.impl.errors import CollectionError, ImplementationError, RpcError, RpcTimeoutError
from tidemark.impl.proxy.config import ProxyConfig
from tidemark.impl.proxy.gateway import Gateway
from tidemark.impl.proxy.pages import Page
from tidemark.impl.proxy.ports import ProxyPorts
from tidemark.impl.proxy.proxy import Proxy
from tidemark.impl.proxy.reads import ReadAnswer, ReadTask
from tidemark.impl.proxy.values import AppendOutcome, Message
from tidemark.impl.timestamp import Batch
from tidemark.impl.types import Row
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.impl.values.consistency import ConsistencyLevel
from tidemark.impl.values.messages import DeleteMessage, InsertMessage, decode_text
from tidemark.impl.values.nearest import Nearest
from tidemark.models.protocols.common.scripted import OK, ScriptedProgram
from tidemark.models.protocols.proxy.edge.call_reckoning import (
    ASKED_FOR_WHAT_CLIENTS_WANT,
    CLIENTS_HEAR,
    NOTHING_WAITS,
    SEGMENTS,
    WRITTEN_AS_WANTED,
    CallReckoning,
)
from tidemark.models.protocols.proxy.edge.scripts import SCRIPTS
from tidemark.models.simulation.world.process import Process

_IDS = 2
"""How many ids are asked for at a time; no two batches are next to each other."""
_FAILURES = {
    "fail": RpcError("an edge fails"),
    "timeout": RpcTimeoutError("an edge does not answer"),
    "not possible": CollectionError("it is not possible"),
}


class GatewayLife(ScriptedProgram):
    """One gateway, its proxy, the components behind it, and clients.

    Scripts have the questions ``alloc``, ``change``, ``read``, ``flush``, ``append``, ``settle``, and
    ``describe``; and

    - ``clients``: of each client its calls, one after another, as a method with its arguments;
    - ``alters``: the collection ``things`` changes while these timestamps are given, counted from 1;
    - ``ids``: whether the proxy has a source of ids.
    """

    claims = (CLIENTS_HEAR, ASKED_FOR_WHAT_CLIENTS_WANT, WRITTEN_AS_WANTED, NOTHING_WAITS)

    async def live(self, process: Process) -> None:
        """Start the proxy, and its clients."""
        edges = _Edges(self, process)
        ports = ProxyPorts(
            oracle=edges, streams=edges, root_coord=edges, clock=edges, metadata=edges,
            ids=_Ids(self) if self.script.get("ids", True) else None,
        )  # fmt: skip
        self.proxy = Proxy(source=7, ports=ports, config=ProxyConfig(id_batch=_IDS))
        self.reckoning = CallReckoning(has_ids=self.script.get("ids", True))
        self.gateway = Gateway(
            host=_Host(self.proxy), oracle=edges, collections=edges, segments=_Segments(), reader=edges,
            flushes=edges,
        )  # fmt: skip
        self.begun = True
        self.proxy.queues.start()
        for number, calls in enumerate(self.script["clients"]):
            process.spawn(self._client(calls), f"client {number}")
        if self.gateway.name != _Host.name:
            self.reckoning.seems(CLIENTS_HEAR, f"the gateway is called {self.gateway.name!r}")

    async def _client(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        for method, arguments in calls:
            request = self.reckoning.comes(method, arguments)
            try:
                given = {name: _plain(name, value) for name, value in arguments.items()}
                answer = await getattr(self.gateway, method)(**given)
            except Exception as failure:  # noqa: BLE001  whatever it is, it is looked at
                self.reckoning.is_refused(request, type(failure).__name__, str(failure))
            else:
                self.reckoning.is_told(request, answer)

    # What is looked at.

    def look(self) -> Hashable:
        """Return what clients were told."""
        return (tuple(self.reckoning.told), self.reckoning.wrong)

    def wrong(self) -> str | None:
        """Return what the reckoning has found wrong."""
        return self.reckoning.wrong

    def wrong_after_a_step(self) -> str | None:
        """Return what the reckoning finds wrong."""
        return self.reckoning.left()

    def wrong_at_the_end(self) -> str | None:
        """Return what is not done."""
        return self.reckoning.left_at_the_end(sum(map(len, self.script["clients"])))


def _plain(name: str, value: Any) -> Any:
    """An argument as the gateway takes it."""
    match name:
        case "level":
            return ConsistencyLevel(value)
        case "nearest":
            return Nearest(*value)
        case "page":
            return Page(*value)
    return value


class _Host:
    """One proxy that serves at once."""

    name = "p"

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy
        proxy.serving.set()

    async def serving(self) -> Proxy:
        return self._proxy


class _Edges:
    """Oracle, logs, coordinators and query nodes, of which the reckoning is told."""

    def __init__(self, program: GatewayLife, process: Process) -> None:
        self._program = program
        self._process = process

    @property
    def _reckoning(self) -> CallReckoning:
        return self._program.reckoning

    async def _answer(self, question: str) -> str:
        """The script's answer, or the failure that it stands for. Meanwhile a question is open."""
        self._reckoning.open += 1
        try:
            answer = await self._program.answer(self._process, question)
        finally:
            self._reckoning.open -= 1
        if answer in _FAILURES:
            raise _FAILURES[answer]
        return answer

    async def sleep(self, seconds: float) -> None:
        """See Clock. No loop of the proxy runs here."""
        raise NotImplementedError(f"{seconds} s")

    async def update_channel_time_tick(self, report: object, *, deadline: float) -> None:
        """See RootCoordClient. Likewise."""
        raise NotImplementedError(f"{report} within {deadline} s")

    async def alloc(self, count: int) -> int:
        """See Oracle."""
        try:
            await self._answer("alloc")
        except RpcError:
            self._reckoning.gives_none()
            raise
        given = self._reckoning.gives(count)
        if given in self._program.script.get("alters", ()):
            changed = self._reckoning.alters("things")
            self._program.proxy.meta.invalidate(changed.name, changed.version)
        return given

    async def describe(self, name: str) -> CollectionVersion:
        """See MetaSource."""
        try:
            await self._answer("describe")
        except RpcError:
            self._reckoning.describes_none()
            raise
        return self._reckoning.described(name)

    # The root coordinator's catalogue.

    async def create(self, name: str, *, shards: int, schema: str = "") -> CollectionVersion:
        """See Collections."""
        return await self._change("create", collection=name, shards=shards, schema=schema)

    async def alter(self, name: str, *, schema: str) -> CollectionVersion:
        """See Collections."""
        return await self._change("alter", collection=name, schema=schema)

    async def drop(self, name: str) -> CollectionVersion:
        """See Collections."""
        return await self._change("drop", collection=name)

    async def create_alias(self, alias: str, collection: str) -> CollectionVersion:
        """See Collections."""
        return await self._change("create_alias", alias=alias, collection=collection)

    async def alter_alias(self, alias: str, collection: str) -> CollectionVersion:
        """See Collections."""
        return await self._change("alter_alias", alias=alias, collection=collection)

    async def drop_alias(self, alias: str) -> CollectionVersion:
        """See Collections."""
        return await self._change("drop_alias", alias=alias)

    async def load(self, name: str) -> CollectionVersion:
        """See Collections."""
        return await self._change("load", collection=name)

    async def release(self, name: str) -> CollectionVersion:
        """See Collections."""
        return await self._change("release", collection=name)

    async def _change(self, method: str, **arguments: Any) -> CollectionVersion:
        await self._called("change", method, arguments)
        return self._reckoning.changed(method, arguments)

    async def _called(self, question: str, method: str, arguments: Mapping[str, Any]) -> None:
        """A component is called, which succeeds or fails."""
        self._reckoning.is_asked(method, arguments)
        try:
            await self._answer(question)
        except ImplementationError as failure:
            self._reckoning.fails(method, arguments, type(failure).__name__)
            raise
        finally:
            self._reckoning.is_over(method)

    # Query nodes, data coordinator, logs.

    async def execute(self, task: ReadTask) -> ReadAnswer:
        """See Reads. The rows are in no order."""
        await self._called("read", "read", {
            "level": task.level.value, "keys": task.keys, "client_ts": task.client_ts,
            "channels": task.channels, "title": task.collection,
            "nearest": () if task.nearest is None else (task.nearest.place, task.nearest.limit),
            "shown": {} if task.page_of is None else task.page_of.moments,
        })  # fmt: skip
        task.guarantee = task.client_ts + 100
        rows = (Row(5, 1, 10, "ten"), Row(4, 1, 0, "none"), Row(6, 1, 4, "four"), Row(7, 1, 4, "again"))
        return ReadAnswer(rows, {channel: 50 + place for place, channel in enumerate(task.channels)})

    async def flush(self, channels: Sequence[str]) -> int:
        """See Flushes."""
        await self._called("flush", "flush", {"channels": tuple(channels)})
        return self._reckoning.flushed(channels)

    async def append(self, message: Message, *, deadline: float) -> None:
        """See MessageStream."""
        del deadline
        found = _message(message)
        self._reckoning.is_written(found)
        try:
            await self._answer("append")
        except RpcTimeoutError:
            self._reckoning.has_written(found, "unknown")
            raise
        except RpcError:
            self._reckoning.has_written(found, "refused")
            raise
        self._reckoning.has_written(found, "appended")

    async def settle(self, message: Message) -> AppendOutcome:
        """See MessageStream."""
        answer = await self._answer("settle")
        outcome = AppendOutcome.APPENDED if answer == OK else AppendOutcome.REFUSED
        self._reckoning.has_written(_message(message), outcome.value)
        return outcome


class _Ids:
    """See IdSource. Some ids are left out between two batches."""

    def __init__(self, program: GatewayLife) -> None:
        self._program = program
        self._last = 0

    async def allocate(self, count: int, *, deadline: float) -> Batch:
        """See IdSource."""
        del deadline
        first, self._last = self._last + 10, self._last + 9 + count
        self._program.reckoning.ids.update(range(first, first + count))
        return Batch(first, self._last)


class _Segments:
    """See SegmentSource."""

    def allocate(self, channel: str, rows: int, *, deletes: bool = False) -> int:
        """A segment; of level zero for deletes."""
        del channel, rows
        return SEGMENTS[DeleteMessage if deletes else InsertMessage]


def _message(message: Message) -> InsertMessage | DeleteMessage:
    found = decode_text(message.payload)
    assert isinstance(found, InsertMessage | DeleteMessage)
    return found


def life() -> GatewayLife:
    """Return the program of all scripts."""
    return GatewayLife(SCRIPTS, timers=0)
