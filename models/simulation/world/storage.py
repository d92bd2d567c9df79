"""Simulated storage: a store that processes share, and the local disk of one process.

A ``Store`` is an object store or a metadata store: each operation is one event, atomic and durable when it
takes effect, unless it is torn: then it fails and a part of the value is left. A ``Disk`` is a local file:
writes are immediate but volatile until ``sync``; a crash keeps a prefix of what was not synced, and the last
kept write may be torn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, TypeVar

from tidemark.models.simulation.errors import StorageFailedError, StorageUnknownError
from tidemark.models.simulation.loop.freezing import isolate
from tidemark.models.simulation.loop.futures import settle
from tidemark.models.simulation.loop.lane import Event, Lane
from tidemark.models.simulation.settings import FaultKind
from tidemark.models.simulation.world.environment import Environment

T = TypeVar("T")

TORN = "<torn>"
"""What is read back from a write that was torn."""


class Orphan(NamedTuple):
    """An operation under way: what becomes of it when its caller dies. ``does``: what no label says of it."""

    lane: Lane
    label: str
    effect: Callable[[], object]
    tear: Callable[[], object] | None
    remote: bool
    does: object


class Store:
    """A durable map that several processes share. ``remote``: an operation under way takes effect even if the
    process that began it crashes meanwhile.
    """

    def __init__(self, world: Environment, name: str, *, remote: bool) -> None:
        self._world = world
        self._name = name
        self._remote = remote
        self._content: dict[str, Any] = {}
        self._orphans: list[Orphan] = []
        self._keys_bit = world.interner.bit(f"store {name} keys")

    def content(self) -> dict[str, Any]:
        """Return what is stored now. For observers, not for processes."""
        return self._content

    def dismantle(self) -> None:
        """Forget the operations under way."""
        self._orphans.clear()

    def state(self) -> Hashable:
        """Return the content in a form that can be compared."""
        return tuple(sorted((key, repr(value)) for key, value in self._content.items()))

    def owner(self, key: str) -> str:
        """Return the name of the mediated object behind a key, for observations."""
        return f"store {self._name}/{key}"

    async def put(self, key: str, value: Any) -> None:
        """Store a value under a key. Raises StorageFailedError: it had no effect, or left a part of the
        value; StorageUnknownError: it took effect, but that is not known.
        """
        kept = isolate(value)

        def write(what: Any) -> None:
            self._world.touch(writes=self._bit(key) | (0 if key in self._content else self._keys_bit))
            self._content[key] = what

        await self._perform(
            f"put {self._name}/{key}", lambda: write(kept), tear=lambda: write(TORN), does=kept
        )

    async def get(self, key: str) -> Any:
        """Return the value under a key, or None."""

        def effect() -> Any:
            self._world.touch(reads=self._bit(key))
            return isolate(self._content.get(key))

        return await self._perform(f"get {self._name}/{key}", effect)

    async def delete(self, key: str) -> None:
        """Remove a key. Removing what is not there is no error."""

        def effect() -> None:
            self._world.touch(writes=self._bit(key) | (self._keys_bit if key in self._content else 0))
            self._content.pop(key, None)

        await self._perform(f"delete {self._name}/{key}", effect)

    async def keys(self, prefix: str = "") -> list[str]:
        """Return the keys with a prefix, sorted."""

        def effect() -> list[str]:
            self._world.touch(reads=self._keys_bit)
            return sorted(key for key in self._content if key.startswith(prefix))

        return await self._perform(f"list {self._name}/{prefix}", effect)

    async def transact(
        self,
        title: str,
        change: Callable[[dict[str, Any]], T],
        *,
        keys: Sequence[str],
        remote: bool | None = None,
    ) -> T:
        """Read and write some ``keys`` in one step, as a compare-and-swap does. Return what ``change``
        returns: it is given the content, and puts immutable values into it. ``remote``: as for the store.
        """
        bits = self._keys_bit
        for key in keys:
            bits |= self._bit(key)

        def effect() -> T:
            self._world.touch(writes=bits)
            return change(self._content)

        return await self._perform(f"{title} {self._name}", effect, remote=remote, does=change)

    def _bit(self, key: str) -> int:
        return self._world.interner.bit(f"store {self._name}/{key}")

    async def _perform(
        self,
        title: str,
        effect: Callable[[], T],
        *,
        tear: Callable[[], object] | None = None,
        remote: bool | None = None,
        does: object = None,
    ) -> T:
        """Wait for one of the outcomes of an operation. ``tear``: leaves a part of what it writes."""
        world = self._world
        lane = world.caller
        future: asyncio.Future[T] = world.loop.create_future()
        label = f"{title} {lane.title}#{lane.next_number()}"
        outlives = self._remote if remote is None else remote
        orphan = Orphan(lane, label, effect, tear, outlives, does)

        def clear() -> None:
            world.events.pop(label, None)
            for fault in offered:
                world.faults.pop(fault, None)
            self._orphans.remove(orphan)

        def done() -> None:
            clear()
            settle(future, effect)

        def offer(kind: FaultKind, verb: str, words: str, part: Callable[[], object] | None) -> None:
            def fire() -> None:
                self._spend(kind)
                clear()
                if part is not None:
                    part()
                if not future.done():
                    unknown = kind is FaultKind.STORAGE_LOST_ACK
                    future.set_exception((StorageUnknownError if unknown else StorageFailedError)(words))

            if world.budget[kind]:
                offered.append(f"{verb} {label}")
                self._offer_fault(kind, offered[-1], lane, fire)

        offered: list[str] = []
        self._orphans.append(orphan)
        world.events[label] = Event(label, lane, done)
        offer(FaultKind.STORAGE_FAILURE, "fail", f"{title} failed", None)
        offer(FaultKind.STORAGE_LOST_ACK, "unknown", f"the outcome of {title} is unknown", effect)
        if tear is not None:
            offer(FaultKind.STORAGE_TORN, "tear", f"{title} failed half-way", tear)
        return await future

    def _offer_fault(self, kind: FaultKind, label: str, lane: Lane, action: Callable[[], None]) -> None:
        if self._world.budget[kind]:
            self._world.faults[label] = (kind, Event(label, lane, action, fault=True))

    def _spend(self, kind: FaultKind) -> None:
        """Take a fault from its budget. What is no longer possible is forgotten: it tells no states apart."""
        world = self._world
        world.spend(kind)
        if not world.budget[kind]:
            for label in [label for label, (other, _) in world.faults.items() if other is kind]:
                del world.faults[label]

    def caller_died(self, lane: Lane) -> None:
        """Let what a dead process began in a remote store take effect later; forget it otherwise."""
        orphans = [orphan for orphan in self._orphans if orphan.lane is lane]
        self._orphans = [orphan for orphan in self._orphans if orphan.lane is not lane]
        for _, label, effect, tear, _, does in (orphan for orphan in orphans if orphan.remote):
            late = self._late(label, effect)
            self._world.events[label] = Event(label, self._world.environment, late, does=does)
            if tear is not None:
                torn = self._late(label, tear, FaultKind.STORAGE_TORN)
                self._offer_fault(FaultKind.STORAGE_TORN, f"tear {label}", self._world.environment, torn)

    def _late(
        self, label: str, effect: Callable[[], object], fault: FaultKind | None = None
    ) -> Callable[[], None]:
        """What becomes of an operation whose caller is dead."""

        def fire() -> None:
            if fault is not None:
                self._spend(fault)
            del self._world.events[label]
            self._world.faults.pop(f"tear {label}", None)
            effect()

        return fire


class Disk:
    """The local disk of one process: an append-only list of records with a durable prefix."""

    def __init__(self, world: Environment, process: str) -> None:
        self._world = world
        self._process = process
        self._bit = world.interner.bit(self.owner)
        self._records: list[Any] = []
        self._synced = 0

    @property
    def owner(self) -> str:
        """The name of the mediated object behind the disk, for observations."""
        return f"disk {self._process}"

    def state(self) -> Hashable:
        """Return the content in a form that can be compared."""
        return repr(self._records), self._synced

    def records(self) -> list[Any]:
        """Return all records, synced or not. Reading is local and immediate."""
        return list(self._records)

    @property
    def synced(self) -> int:
        """How many records are durable."""
        return self._synced

    def caller_died(self, lane: Lane) -> None:
        """Do nothing: what was under way ends with its process."""
        del lane

    def dismantle(self) -> None:
        """Do nothing: nothing of the real machine is held."""

    def append(self, record: Any) -> None:
        """Write a record. It is volatile until ``sync`` returns."""
        self._world.touch(writes=self._bit)
        self._records.append(isolate(record))

    async def sync(self) -> None:
        """Make what was written before the call durable."""
        target = len(self._records)

        def effect() -> None:
            self._world.touch(writes=self._bit)
            self._synced = max(self._synced, min(target, len(self._records)))

        await self._world.operation("sync", effect)

    def crash_outcomes(self) -> list[tuple[str, Callable[[], None]]]:
        """Return what a crash may leave: every prefix of the unsynced records, the last one torn or whole."""
        volatile = len(self._records) - self._synced
        if not volatile:
            return []

        def leave(kept: int, *, torn: bool) -> Callable[[], None]:
            def act() -> None:
                self._world.touch(writes=self._bit)
                del self._records[self._synced + kept :]
                if torn:
                    self._records[-1] = TORN
                self._synced = len(self._records)

            return act

        outcomes = [
            (f"{kept} of {volatile} unsynced kept", leave(kept, torn=False)) for kept in range(volatile + 1)
        ]
        outcomes += [
            (f"{kept} of {volatile} unsynced kept, last torn", leave(kept, torn=True))
            for kept in range(1, volatile + 1)
        ]
        return outcomes
