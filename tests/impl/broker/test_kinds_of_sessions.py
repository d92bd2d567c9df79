"""The stores of the sessions keep one contract: in memory, in SQLite, in a real etcd."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.impl.parts import run, settle
from tidemark.impl.broker.etcd_sessions import EtcdSessions
from tidemark.impl.broker.memory_database import MemoryDatabase
from tidemark.impl.broker.sessions import SqliteSessions
from tidemark.impl.errors import SessionEndedError, WatchCompactedError
from tidemark.impl.runtime import AsyncioClock
from tidemark.impl.storage.etcd_client import EtcdClient
from tidemark.impl.storage.etcd_server import ABSENT, EtcdServer, find_etcd
from tidemark.impl.system.clocks import SystemSteadyClock

NEEDS_ETCD = pytest.mark.skipif(find_etcd() is None, reason=ABSENT)
KINDS = ["memory", "sqlite", pytest.param("etcd", marks=NEEDS_ETCD)]
SHORT = 1.0
"""The least lease that etcd grants with the time-outs of the test's server."""
LONG = 60.0
Sessions = SqliteSessions | EtcdSessions


@pytest.fixture(scope="session")
def etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EtcdServer]:
    """One server for all tests; each has keys of its own."""
    with EtcdServer(tmp_path_factory.mktemp("etcd")) as server:
        yield server


class Logs:
    """Whom they refuse."""

    def __init__(self) -> None:
        self.sources: list[int] = []

    async def fence(self, source: int) -> None:
        self.sources.append(source)


class Shop:
    """Makes stores that see the same sessions: one for each process, so to speak."""

    def __init__(self, kind: str, folder: Path, server: EtcdServer | None) -> None:
        self.kind, self.folder, self.server = kind, folder, server
        self.logs = Logs()
        self.memory = MemoryDatabase()

    def store(self) -> Sessions:
        if self.kind == "etcd":
            assert self.server is not None
            return EtcdSessions(self.server.endpoint, fences=self.logs, prefix=self.folder.name)
        return SqliteSessions(
            self.folder / "sessions",
            fences=self.logs,
            clock=AsyncioClock(),
            steady=SystemSteadyClock(),
            database=self.memory if self.kind == "memory" else None,
        )

    async def compact(self, sessions: Sessions, revision: int) -> None:
        if isinstance(sessions, SqliteSessions):
            await sessions.compact(revision)
        else:
            assert self.server is not None
            client = EtcdClient(self.server.endpoint)
            await client.call("/v3/kv/compaction", {"revision": str(revision)})
            await client.close()


@pytest.fixture(params=KINDS)
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Shop:
    server = request.getfixturevalue("etcd") if request.param == "etcd" else None
    return Shop(request.param, tmp_path, server)


def test_sessions_come_go_and_are_fenced(shop: Shop) -> None:
    async def scenario() -> None:
        sessions = shop.store()
        await sessions.start()
        a, b = [await sessions.register(name, lease=LONG) for name in "ab"]
        assert a < b
        live, revision = await sessions.take_over()
        assert live == [a, b]
        waiting = asyncio.create_task(sessions.next_event(revision))
        await settle()
        assert not waiting.done()
        await sessions.renew(a)
        await sessions.end(a)
        event = await waiting
        assert (event.source, event.alive) == (a, False)
        assert event.revision > revision
        with pytest.raises(SessionEndedError, match=f"session {a} "):
            await sessions.renew(a)
        await sessions.fence(a)
        assert (await sessions.take_over())[0] == [b]
        assert shop.logs.sources == [a], "it is refused already"
        c = await sessions.register("a", lease=LONG)
        assert c > b
        event = await sessions.next_event(event.revision)
        assert (event.source, event.alive) == (c, True)
        await sessions.end(a)
        assert (await sessions.take_over())[0] == [b, c], "what is over ends once"
        await sessions.close()

    run(scenario())


def test_a_lease_runs_out(shop: Shop) -> None:
    async def scenario() -> None:
        sessions = shop.store()
        await sessions.start()
        running = asyncio.create_task(sessions.run())
        kept, lost = await sessions.register("a", lease=LONG), await sessions.register("b", lease=SHORT)
        live, revision = await sessions.take_over()
        assert live == [kept, lost]
        event = await sessions.next_event(revision)
        assert (event.source, event.alive) == (lost, False)
        with pytest.raises(SessionEndedError, match=f"session {lost} "):
            await sessions.renew(lost)
        await sessions.renew(kept)
        running.cancel()
        await sessions.close()

    run(scenario())


def test_a_new_process_ends_what_is_left_and_refuses_it(shop: Shop) -> None:
    async def scenario() -> None:
        sessions = shop.store()
        await sessions.start()
        ended, alive = [await sessions.register(name, lease=LONG) for name in "ab"]
        await sessions.end(ended)
        await sessions.close()
        shop.logs.sources.clear()
        sessions = shop.store()
        await sessions.start()
        assert shop.logs.sources == [ended, alive]
        assert (await sessions.take_over())[0] == []
        assert await sessions.register("c", lease=LONG) > alive
        await sessions.close()

    run(scenario())


def test_a_watch_that_has_fallen_behind_is_refused(shop: Shop) -> None:
    """Also if only the very next change is forgotten, the end of a session: a watch of etcd that begins with
    that revision is told nothing of it.
    """

    async def scenario() -> None:
        sessions = shop.store()
        await sessions.start()
        source = await sessions.register("a", lease=LONG)
        begun = (await sessions.take_over())[1]
        await sessions.end(source)
        over = (await sessions.next_event(begun)).revision
        await shop.compact(sessions, over)
        with pytest.raises(WatchCompactedError, match="list again"):
            await sessions.next_event(begun)
        waiting = asyncio.create_task(sessions.next_event(over))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        again = await sessions.register("a", lease=LONG)
        event = await waiting
        assert (event.source, event.alive) == (again, True)
        assert (await sessions.take_over())[0] == [again]
        assert shop.logs.sources == [source]
        await sessions.close()

    run(scenario())


def test_two_processes_never_give_one_number(shop: Shop) -> None:
    one = shop.store()
    stores = [one, one if shop.kind == "memory" else shop.store()]  # memory is that of one process

    async def scenario() -> None:
        await stores[0].start()
        numbers = await asyncio.gather(
            *(stores[turn % 2].register(f"node-{turn}", lease=LONG) for turn in range(8))
        )
        assert len(set(numbers)) == 8
        assert sorted((await stores[0].take_over())[0]) == sorted(numbers)
        for store in dict.fromkeys(stores):
            await store.close()

    run(scenario())
