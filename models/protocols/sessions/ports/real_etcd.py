"""The program of the sessions over etcd: the adapter's own code, each of its calls a step of its own.

Revisions of etcd grow with every key; the specification counts the changes of sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.impl.broker.etcd_sessions import EtcdSessions
from tidemark.impl.rootcoord.ports import SessionEvent
from tidemark.impl.storage.etcd_client import Change, Json, KeyRange, decode, first_change_of, watch_of
from tidemark.impl.values.report import SourceId
from tidemark.models.protocols.common import etcd
from tidemark.models.protocols.sessions.ports import Fencing, Shared
from tidemark.models.protocols.sessions.program import SessionsProgram, SessionsScenario
from tidemark.models.protocols.sessions.refinement import StoreView
from tidemark.models.refinement.scenario import program
from tidemark.models.simulation.world.world import World

_ALIVE = "tidemark/sessions/alive/"


@dataclass(eq=False)
class _Calls:
    """``EtcdCalls`` of whoever calls. ``listed``: told of the sessions that a list has found alive."""

    shared: EtcdShared
    listed: Callable[[Sequence[SourceId]], None]

    async def call(self, path: str, request: Json) -> Json:
        """See EtcdCalls."""

        def effect() -> Json:
            found = etcd.answer(self.shared.content, path, request)
            if any("request_range" in one for one in request.get("success", ())):
                alive = found["responses"][0]["response_range"].get("kvs", ())
                self.listed([_source(decode(pair["key"]).decode()) for pair in alive])
            self.shared.changed()
            return found

        found: Json = await self.shared.world.operation(f"etcd {path.rpartition('/')[2]}", effect)
        return found

    async def wait_for_event(self, key: str, *, revision: int, seconds: float) -> None:
        """See EtcdCalls."""
        raise NotImplementedError(f"{key}: who follows the sessions asks for changes")

    async def first_change(self, keys: KeyRange, *, after: int, seconds: float) -> Change | None:
        """See EtcdCalls. The time is never over."""
        del seconds
        return await self.shared.watch(keys, after)

    async def close(self) -> None:
        """See EtcdCalls."""


def _ignored(live: Sequence[SourceId]) -> None:
    """Who lives is of no interest."""
    del live


def _source(key: str) -> SourceId:
    return int(key.rpartition("/")[2])


class EtcdShared(Fencing):
    """See Shared. One etcd, whose leases end when the program says so."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.content: dict[str, Any] = {}
        etcd.begin(self.content, watches=True)
        self._revisions: list[int] = []
        self._own = self.follow(_ignored)

    def follow(self, listed: Callable[[Sequence[SourceId]], None]) -> EtcdSessions:
        """See Shared."""
        return EtcdSessions("http://elsewhere", fences=self, client=_Calls(self, listed))

    async def register(self, name: str) -> SourceId:
        """See Shared."""
        return await self._own.register(name, lease=1.0)

    async def end(self, source: SourceId) -> None:
        """See Shared."""

        def effect() -> None:
            leases = [
                pair.lease
                for key, pair in self.content[etcd.KEYS]
                if pair.lease and _source(decode(key).decode()) == source
            ]
            etcd.end_lease(self.content, leases[0])
            self.changed()

        await self.world.operation(f"end {source}", effect)

    async def compact(self) -> None:
        """See Shared. etcd is compacted to the revision of the last change."""

        def effect() -> None:
            etcd.compact(self.content, self._revisions[-1])
            self.changed()

        await self.gate.operation("compact", lambda: bool(self.changes), effect)

    async def next_event(self, after: int) -> SessionEvent:
        """See Shared."""
        return await self._own.next_event(after)

    async def watch(self, keys: KeyRange, after: int) -> Change | None:
        """Tell the first change after a revision, when there is one or the watch is refused."""

        def told() -> Json | None:
            return etcd.watched(self.content, keys, int(watch_of(keys, after=after)["start_revision"]))

        def ready() -> bool:
            found = told()
            return found is not None and (
                "canceled" in found or first_change_of(found, after=after) is not None
            )

        def effect() -> Change | None:
            self.world.touch(reads=self._bits[0])
            return first_change_of(told() or {}, after=after)

        change: Change | None = await self.gate.operation(f"watch after {after}", ready, effect)
        return change

    def changed(self) -> None:
        """Something may be in the store that was not there before."""
        self.world.touch(writes=self._bits[0])
        last = self._revisions[-1] if self._revisions else 0
        for one in self.content[etcd.HISTORY]:
            key = decode(one.key).decode()
            if one.revision > last and key.startswith(_ALIVE):
                self._revisions.append(one.revision)
                self.changes.append(SessionEvent(len(self._revisions), _source(key), one.there))
        self.gate.look()

    def number_of(self, revision: int) -> int:
        """See Shared."""
        return sum(one <= revision for one in self._revisions)

    def view(self) -> StoreView:
        """See Shared. To be told of what follows a revision, that must not be older than the compaction."""
        return StoreView(tuple(self.changes), self.number_of(self.content[etcd.COMPACTED]))

    def rows(self) -> Hashable:
        """See Shared."""
        return tuple(sorted((name, repr(value)) for name, value in self.content.items()))


class EtcdSessionsProgram(SessionsProgram):
    """The program of the sessions over one etcd."""

    def make_shared(self, world: World) -> Shared:
        """See SessionsProgram."""
        return EtcdShared(world)


over_etcd = program(EtcdSessionsProgram, SessionsScenario)
