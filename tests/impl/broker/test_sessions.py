"""The session store: leases, changes in order, and fences that outlive the process."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from tests.impl.parts import HandClock, settle
from tests.impl.storage.parts import Steady
from tidemark.impl.broker.memory_database import MemoryDatabase
from tidemark.impl.broker.sessions import SqliteSessions
from tidemark.impl.errors import RpcError, SessionEndedError, WatchCompactedError
from tidemark.impl.rootcoord.ports import SessionEvent


class Fenced:
    """The logs: whom they refuse."""

    def __init__(self):
        self.sources = []
        self.deaf = False

    async def fence(self, source):
        if self.deaf:
            raise RpcError("the logs do not answer")
        self.sources.append(source)


class Late(MemoryDatabase):
    """A file whose lock comes late: ``late`` is called at the begin of each transaction."""

    late = staticmethod(lambda: None)
    executed = closed = 0

    async def close(self):
        self.closed += 1

    async def execute(self, statement, values=()):
        self.executed += 1
        assert self.executed < 500, "the file is asked without an end"
        if statement.startswith("BEGIN"):
            self.late()
        return await super().execute(statement, values)


class File:
    """A file, its clocks and its logs. ``store``: of a process that has it."""

    def __init__(self):
        self.database, self.steady, self.logs, self.clock = Late(), Steady(), Fenced(), HandClock()
        self.store = self.open()

    def open(self):
        return SqliteSessions(
            Path("sessions"), fences=self.logs, clock=self.clock, steady=self.steady, keep=2,
            look_seconds=0.5, database=self.database,
        )  # fmt: skip

    async def look(self):
        if not self.clock.waiting:
            self.running = asyncio.create_task(self.store.run())
        await self.clock.advance(0.25)
        assert len(self.clock.waiting) == 1
        await self.clock.advance(0.25)

    async def held(self):
        """Number, length, end and state of each session, and the changes that are left."""
        sessions = await self.database.execute("SELECT source, lease, expires, state FROM sessions")
        return sessions, await self.database.execute("SELECT revision, source, alive FROM changes")


async def test_a_lease_is_over_at_its_end_and_a_look_notices_it():
    file = File()
    store, steady = file.store, file.steady
    assert [await store.register(name, lease=lease) for name, lease in (("a", 2.0), ("b", 4.0))] == [1, 2]
    steady.now += 1.5
    await store.renew(1)
    await file.look()
    found = await file.held()
    assert found == ([(1, 2.0, 1003.5, "alive"), (2, 4.0, 1004.0, "alive")], [(1, 1, 1), (2, 2, 1)])
    steady.now += 2.0
    with pytest.raises(SessionEndedError, match="session 1 has run out; register again"):
        await store.renew(1)
    assert await store.take_over() == ([1, 2], 2)
    await file.look()
    assert await store.take_over() == ([2], 3)
    assert file.logs.sources == [1]
    await store.end(2)
    await store.end(2)
    await store.end(1)
    with pytest.raises(SessionEndedError, match="session 2 "):
        await store.renew(2)
    assert await file.held() == (
        [(1, 2.0, 1003.5, "fenced"), (2, 4.0, 1004.0, "ended")],
        [(2, 2, 1), (3, 1, 0), (4, 2, 0)],
    )
    await file.look()
    assert (await file.held())[1] == [(3, 1, 0), (4, 2, 0)], "the last two are kept"
    await store.compact(3)
    assert (await file.held())[1] == [(4, 2, 0)]
    file.running.cancel()


async def test_every_change_wakes_who_waits_and_changes_are_told_in_order():
    file = File()
    store = file.store

    async def changed(change, expected):
        waiting = asyncio.create_task(store.next_event(expected.revision - 1))
        await settle()
        await store.compact(0)
        await settle()
        assert not waiting.done()
        await change
        await settle()
        assert await asyncio.wait_for(waiting, 0.1) == expected
        assert await store.next_event(expected.revision - 1) == expected

    await changed(store.register("a", lease=1.0), SessionEvent(1, 1, alive=True))
    await changed(store.register("b", lease=1.0), SessionEvent(2, 2, alive=True))
    await changed(store.end(1), SessionEvent(3, 1, alive=False))
    file.steady.now += 1.0
    await changed(file.look(), SessionEvent(4, 2, alive=False))
    file.running.cancel()
    assert await store.next_event(2) == SessionEvent(3, 1, alive=False)
    with pytest.raises(WatchCompactedError, match="change 2 of the sessions is forgotten, 3 is next"):
        await store.next_event(1)


async def test_logs_that_do_not_answer_are_asked_again():
    file = File()
    for name in "ab":
        await file.store.register(name, lease=9.0)
    await file.store.end(1)
    file.logs.deaf = True
    for call in (file.store.take_over, partial(file.store.fence, 2), file.store.start):
        with pytest.raises(RpcError):
            await call()
    assert [state for *_, state in (await file.held())[0]] == ["ended", "ended"]
    file.logs.deaf = False
    assert await file.store.take_over() == ([], 4)
    assert await file.open().take_over() == ([], 4)
    assert file.logs.sources == [1, 2]
    await file.store.start()
    assert file.logs.sources == [1, 2, 1, 2]
    await file.store.close()
    assert file.database.closed == 1


async def test_what_counts_is_the_time_when_the_file_is_free():
    file = File()

    def late():
        file.steady.now += 1.0

    file.database.late = late
    await file.store.take_over()
    begun = file.steady.now
    await file.store.register("a", lease=3.0)
    assert (await file.held())[0] == [(1, 3.0, begun + 4.0, "alive")]
    await file.store.renew(1)
    assert (await file.held())[0] == [(1, 3.0, begun + 5.0, "alive")]
    file.steady.now = begun + 4.0
    with pytest.raises(SessionEndedError):
        await file.store.renew(1)
    file.steady.now = begun + 4.0
    await file.look()
    assert (await file.held())[0] == [(1, 3.0, begun + 5.0, "ended")]
    file.running.cancel()
