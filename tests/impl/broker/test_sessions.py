"""The session store: leases, changes in order, and fences that outlive the process."""

import asyncio

import pytest

from tests.impl.parts import HandClock, run, settle
from tidemark.impl.broker.sessions import SqliteSessions
from tidemark.impl.errors import SessionEndedError, WatchCompactedError
from tidemark.impl.rootcoord.ports import SessionEvent


class Hand:
    """A steady clock that is moved by hand."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


class Fenced:
    """The logs: whom they refuse."""

    def __init__(self):
        self.sources = []

    async def fence(self, source):
        self.sources.append(source)


def store(tmp_path, fences, steady, clock=None):
    return SqliteSessions(
        tmp_path / "sessions", fences=fences, clock=clock if clock is not None else HandClock(), steady=steady
    )


def test_sessions_come_go_and_are_fenced(tmp_path):
    async def scenario():
        steady, fences = Hand(), Fenced()
        sessions = store(tmp_path, fences, steady)
        await sessions.start()
        a, b = [await sessions.register(name, lease=2.0) for name in "ab"]
        assert a < b
        assert await sessions.take_over() == ([a, b], 2)
        waiting = asyncio.create_task(sessions.next_event(2))
        await settle()
        assert not waiting.done()
        await sessions.end(a)
        assert await waiting == SessionEvent(3, a, alive=False)
        await sessions.fence(a)
        assert fences.sources == [a]
        assert (await sessions.take_over())[0] == [b]
        assert fences.sources == [a], "it is refused already"
        await sessions.close()

    run(scenario())


def test_a_lease_runs_out_unless_it_is_renewed(tmp_path):
    async def scenario():
        steady, clock = Hand(), HandClock()
        sessions = store(tmp_path, Fenced(), steady, clock)
        await sessions.start()
        looking = asyncio.create_task(sessions.run())
        kept, lost = [await sessions.register(name, lease=2.0) for name in "ab"]
        steady.now += 1.5
        await sessions.renew(kept)
        steady.now += 1.0
        with pytest.raises(SessionEndedError, match=f"session {lost} "):
            await sessions.renew(lost)
        waiting = asyncio.create_task(sessions.next_event(2))
        while not waiting.done():
            await clock.advance(0.1)
            await asyncio.sleep(0.001)
        assert await waiting == SessionEvent(3, lost, alive=False)
        looking.cancel()
        await sessions.close()

    run(scenario())


def test_what_a_dead_process_leaves_is_over_and_refused(tmp_path):
    async def scenario():
        steady, before, after = Hand(), Fenced(), Fenced()
        sessions = store(tmp_path, before, steady)
        await sessions.start()
        ended, alive = [await sessions.register(name, lease=60.0) for name in "ab"]
        await sessions.end(ended)
        await sessions.close()
        sessions = store(tmp_path, after, steady)
        await sessions.start()
        assert after.sources == [ended, alive]
        assert (await sessions.take_over())[0] == []
        assert await sessions.register("c", lease=1.0) > alive
        await sessions.close()

    run(scenario())


def test_a_watch_that_has_fallen_behind_is_refused(tmp_path):
    async def scenario():
        sessions = store(tmp_path, Fenced(), Hand())
        await sessions.start()
        a, b = [await sessions.register(name, lease=2.0) for name in "ab"]
        await sessions.compact(1)
        assert await sessions.next_event(1) == SessionEvent(2, b, alive=True)
        with pytest.raises(WatchCompactedError, match="change 1 of the sessions is forgotten, 2 is next"):
            await sessions.next_event(0)
        await sessions.compact(2)
        with pytest.raises(WatchCompactedError, match="change 2"):
            await sessions.next_event(1)
        assert await sessions.take_over() == ([a, b], 2), "the revision outlives the changes"
        waiting = asyncio.create_task(sessions.next_event(2))
        await sessions.end(a)
        assert await waiting == SessionEvent(3, a, alive=False)
        await sessions.close()

    run(scenario())


def test_who_takes_over_after_a_fence_that_was_not_finished_fences_again(tmp_path):
    class Hangs(Fenced):
        async def fence(self, source):
            await super().fence(source)
            if len(self.sources) == 1:
                begun.set()
                await asyncio.Event().wait()

    begun = asyncio.Event()

    async def scenario():
        fences = Hangs()
        sessions = store(tmp_path, fences, Hand())
        await sessions.start()
        source = await sessions.register("a", lease=2.0)
        await sessions.end(source)
        first = asyncio.create_task(sessions.take_over())
        await begun.wait()
        first.cancel()
        await sessions.take_over()
        assert fences.sources == [source, source]
        await sessions.close()

    run(scenario())
