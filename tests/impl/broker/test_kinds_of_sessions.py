"""The stores of the sessions keep one contract: in memory, in SQLite, in a real and in a simulated etcd."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from tests.impl.parts import settle
from tidemark.impl.broker.etcd_sessions import EtcdSessions
from tidemark.impl.broker.memory_database import MemoryDatabase
from tidemark.impl.broker.sessions import SqliteSessions
from tidemark.impl.errors import SessionEndedError, StoreError, WatchCompactedError
from tidemark.impl.runtime import AsyncioClock
from tidemark.impl.storage.etcd_client import Change, EtcdClient, Json, KeyRange, decode
from tidemark.impl.storage.etcd_server import ABSENT, EtcdServer, find_etcd
from tidemark.impl.system.clocks import SystemSteadyClock
from tidemark.models.protocols.common import etcd

NEEDS_ETCD = pytest.mark.skipif(find_etcd() is None, reason=ABSENT)
KINDS = ["memory", "sqlite", "simulated", pytest.param("etcd", marks=NEEDS_ETCD)]
SHORT = 1.0
"""The least lease that etcd grants with the time-outs of the test's server."""
LONG = 60.0
Sessions = SqliteSessions | EtcdSessions


class Logs:
    def __init__(self) -> None:
        self.sources: list[int] = []

    async def fence(self, source: int) -> None:
        self.sources.append(source)


class Simulated(etcd.DirectCalls):
    """The simulated etcd, whose leases run out. ``lengths``: of each lease, in seconds."""

    def __init__(self) -> None:
        self.content: etcd.Content = {}
        etcd.begin(self.content, watches=True)
        super().__init__(self.content)
        self.lengths: dict[int, int] = {}
        self.broken = False
        self.closed = 0
        self._timers: dict[str, asyncio.TimerHandle] = {}

    async def call(self, path: str, request: Json) -> Json:
        await asyncio.sleep(0)
        if self.broken:
            raise StoreError("etcd at nowhere: unavailable")
        found = await super().call(path, request)
        if path == "/v3/lease/grant":
            self.lengths[int(found["ID"])] = int(found["TTL"])
        if lease := found.get("ID", found.get("result", {}).get("ID")):
            if timer := self._timers.get(lease):
                timer.cancel()
            end = partial(etcd.end_lease, self.content, int(lease))
            self._timers[lease] = asyncio.get_running_loop().call_later(self.lengths[int(lease)], end)
        return found

    async def first_change(self, keys: KeyRange, *, after: int, seconds: float) -> Change | None:
        assert seconds == 1.0
        await asyncio.sleep(0.01)
        return await super().first_change(keys, after=after, seconds=seconds)

    async def close(self) -> None:
        self.closed += 1


class Shop:
    """Makes stores that see the same sessions: one for each process, so to speak."""

    def __init__(self, kind: str, folder: Path, server: EtcdServer | None) -> None:
        self.kind, self.folder, self.server = kind, folder, server
        self.logs = Logs()
        self.memory = MemoryDatabase()
        self.etcd = Simulated()

    def store(self) -> Sessions:
        if self.kind == "etcd":
            assert self.server is not None
            return EtcdSessions(self.server.endpoint, fences=self.logs, prefix=self.folder.name)
        if self.kind == "simulated":
            return EtcdSessions("http://nowhere", fences=self.logs, client=self.etcd)
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
        elif self.kind == "simulated":
            etcd.compact(self.etcd.content, revision)
        else:
            assert self.server is not None
            client = EtcdClient(self.server.endpoint)
            await client.call("/v3/kv/compaction", {"revision": str(revision)})
            await client.close()


@pytest.fixture(params=KINDS)
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Shop:
    server = request.getfixturevalue("etcd") if request.param == "etcd" else None
    return Shop(request.param, tmp_path, server)


async def test_sessions_come_go_and_are_fenced(shop: Shop) -> None:
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


async def test_a_lease_runs_out(shop: Shop) -> None:
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


async def test_a_new_process_ends_what_is_left_and_refuses_it(shop: Shop) -> None:
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


async def test_a_watch_that_has_fallen_behind_is_refused(shop: Shop) -> None:
    """Also if only the very next change is forgotten, the end of a session: a watch of etcd that begins with
    that revision is told nothing of it.
    """
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


def _keys(content: etcd.Content, lengths: dict[int, int]) -> set[tuple[str, str, int]]:
    """Key, value, and the length of the lease."""
    return {
        (decode(key).decode(), decode(pair.value).decode(), lengths.get(pair.lease, 0))
        for key, pair in content[etcd.KEYS]
    }


async def test_etcd_holds_the_sessions_and_no_more() -> None:
    client, logs = Simulated(), Logs()
    sessions, other = (
        EtcdSessions("http://nowhere", fences=logs, prefix=prefix, client=client)
        for prefix in ("s", "s/alive0")
    )
    assert await other.register("z", lease=LONG) == 1
    others = _keys(client.content, client.lengths)
    for number, (name, lease, length) in enumerate((("a", 1.5, 2), ("b", 9.0, 9), ("c", 9.0, 9)), 1):
        assert await sessions.register(name, lease=lease) == number
        assert ("s/last", f"{number}", 0) in _keys(client.content, client.lengths)
        assert (f"s/alive/{number:020}", name, length) in _keys(client.content, client.lengths)
    live, revision = await sessions.take_over()
    assert (live, revision) == ([1, 2, 3], client.content[etcd.REVISION])
    etcd.end_lease(client.content, 2)
    await sessions.end(1)
    await sessions.end(2)
    await sessions.end(2)
    assert await sessions.take_over() == ([3], revision + 2)
    assert logs.sources == [1, 2]
    await sessions.fence(3)
    known = {(f"s/known/{number:020}", "refused", 0) for number in (1, 2, 3)}
    held = {*others, ("s/last", "3", 0), (f"s/alive/{3:020}", "c", 9), *known}
    assert _keys(client.content, client.lengths) == held
    events = [await sessions.next_event(at) for at in (revision, revision + 1)]
    found = [(one.revision, one.source, one.alive) for one in events]
    assert found == [(revision + 1, 1, False), (revision + 2, 2, False)]
    new = EtcdSessions("http://nowhere", fences=logs, prefix="s", client=client)
    with pytest.raises(SessionEndedError, match="session 3 "):
        await new.renew(3)
    await sessions.renew(3)
    await new.start()
    assert logs.sources == [1, 2, 3, 1, 2, 3]
    assert await new.register("d", lease=0.2) == 4
    assert await other.take_over() == ([1], client.content[etcd.REVISION])
    await new.close()
    assert client.closed == 1


async def test_etcd_that_fails_is_told_and_a_lease_that_is_gone_is_not() -> None:
    client, logs = Simulated(), Logs()
    sessions = EtcdSessions("http://nowhere", fences=logs, client=client)
    for name in "abc":
        await sessions.register(name, lease=LONG)
    client.broken = True
    calls = {"renew": 1, "end": 2, "take_over": None, "fence": 3, "start": None, "register": "d"}
    for name, given in calls.items():
        lease = {"lease": LONG} if name == "register" else {}
        with pytest.raises(StoreError, match="unavailable"):
            await getattr(sessions, name)(*[given] * (given is not None), **lease)
    assert logs.sources == [3], "the logs refuse it before that is noted"
    with pytest.raises(SessionEndedError):
        await sessions.renew(2)
    client.broken = False
    assert (await sessions.take_over())[0] == [1, 2, 3]
    running = asyncio.create_task(sessions.run())
    await asyncio.sleep(0.01)
    assert not running.done()
    running.cancel()
