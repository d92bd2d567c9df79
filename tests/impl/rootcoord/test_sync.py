"""Rounds: who is waited for, what is dropped, what is ticked."""

import asyncio

import pytest

from tests.impl.parts import run, settle
from tests.impl.time_tick_parts import SessionsStub, Ticks
from tidemark.impl.errors import UnknownSessionError, WatchCompactedError
from tidemark.impl.rootcoord.round_queue import RoundQueue
from tidemark.impl.rootcoord.session_watch import SessionWatch
from tidemark.impl.rootcoord.tick_sender import TickSender
from tidemark.impl.rootcoord.time_tick_sync import TimeTickSync
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.values.report import DDL_SOURCE, TimeTickReport


def _sync(*sources, capacity=1):
    sync = TimeTickSync(rounds=RoundQueue(capacity), preemption=NoPreemption())
    sync.init_sessions(sources)
    return sync


def _report(source, default, **channels):
    return TimeTickReport(source, tuple(sorted(channels.items())), default)


def _sender(ticks, rounds=None, *, channels=("a", "b")):
    return TickSender(
        channels=channels,
        rounds=RoundQueue(1) if rounds is None else rounds,
        streams=ticks,
        preemption=NoPreemption(),
    )


def test_a_round_waits_for_every_session_and_the_ddl_source():
    async def work():
        sync = _sync(1, 2)
        for report in (_report(1, 5), _report(DDL_SOURCE, 7)):
            await sync.update(report)
        assert not sync.rounds.waiting
        await sync.update(_report(2, 6))
        assert {source: r.default for source, r in sync.rounds.take().items()} == {1: 5, -1: 7, 2: 6}
        assert set(sync.entries.values()) == {None}
        assert set(sync.accepted) == {1, 2, DDL_SOURCE}

    run(work())


def test_a_report_of_nobody_is_refused():
    async def work():
        sync = _sync(1)
        with pytest.raises(UnknownSessionError, match="source 2 reports"):
            await sync.update(_report(2, 5))
        assert 2 not in sync.accepted

    run(work())


def test_a_full_queue_drops_the_new_round_and_everybody_reports_again():
    async def work():
        sync = _sync()
        await sync.update(_report(DDL_SOURCE, 1))
        await sync.update(_report(DDL_SOURCE, 2))
        assert sync.rounds.dropped == 1
        assert sync.entries == {DDL_SOURCE: None}
        assert [complete[DDL_SOURCE].default for complete in sync.rounds.waiting] == [1]

    run(work())


def test_a_session_that_comes_is_waited_for():
    async def work():
        sync = _sync()
        await sync.add_session(1)
        await sync.update(_report(DDL_SOURCE, 3))
        assert not sync.rounds.waiting
        await sync.update(_report(1, 2))
        assert len(sync.rounds.waiting) == 1

    run(work())


def test_a_session_that_goes_is_fenced_and_no_longer_waited_for():
    async def work():
        sync, sessions = _sync(1), SessionsStub()
        await sync.update(_report(DDL_SOURCE, 3))
        assert not sync.rounds.waiting
        await sync.del_session(1, sessions.fence)
        assert sessions.fenced == [1]
        assert [sorted(complete) for complete in sync.rounds.waiting] == [[DDL_SOURCE]]

    run(work())


def test_a_watch_that_is_refused_lists_again_while_reports_wait():
    class Compacted(SessionsStub):
        refused = False

        async def next_event(self, after):
            if not self.refused:
                self.refused = True
                raise WatchCompactedError("list again")
            return await super().next_event(after)

    async def work():
        sessions, sync = Compacted(live=[1, 2]), _sync()
        watch = SessionWatch(sessions=sessions, sync=sync)
        await watch.load()
        await sync.update(_report(2, 5))
        sessions.change(1, alive=False)
        sessions.change(3, alive=True)
        task = asyncio.create_task(watch.run())
        await settle()
        assert sync.entries == {DDL_SOURCE: None, 2: _report(2, 5), 3: None}
        assert watch.revision == 2
        sessions.change(3, alive=False)
        await settle()
        assert 3 not in sync.entries
        assert sessions.fenced == [3]
        task.cancel()

    run(work())


def test_nothing_is_complete_before_the_sessions_are_known():
    async def work():
        sync = TimeTickSync(rounds=RoundQueue(1), preemption=NoPreemption())
        await sync.del_session(1, SessionsStub().fence)
        assert not sync.rounds.waiting

    run(work())


def test_the_tick_is_the_least_value_of_each_channel():
    async def work():
        ticks, sender_rounds = Ticks(), RoundQueue(1)
        sender = _sender(ticks, sender_rounds)
        task = asyncio.create_task(sender.run())
        sender_rounds.put({1: _report(1, 9, a=4), DDL_SOURCE: _report(DDL_SOURCE, 7)})
        await settle()
        assert sorted(ticks.sent) == [("a", 4), ("b", 7)]
        assert (sender.last, sender.synced) == ({"a": 4, "b": 7}, {"a": 4, "b": 7})
        task.cancel()

    run(work())


def test_a_tick_that_would_go_back_is_left_out():
    async def work():
        ticks, rounds = Ticks(), RoundQueue(5)
        sender = _sender(ticks, rounds, channels=("a",))
        task = asyncio.create_task(sender.run())
        for value in (5, 3, 5, 6):
            rounds.put({DDL_SOURCE: _report(DDL_SOURCE, value)})
        await settle()
        assert ticks.sent == [("a", 5), ("a", 6)]
        task.cancel()

    run(work())


def test_a_failed_tick_is_not_counted_and_an_equal_one_is_tried_again():
    async def work():
        ticks, rounds = Ticks(fails={"a"}), RoundQueue(5)
        sender = _sender(ticks, rounds)
        task = asyncio.create_task(sender.run())
        rounds.put({DDL_SOURCE: _report(DDL_SOURCE, 5)})
        await settle()
        assert (sender.last, sender.synced) == ({"a": 5, "b": 5}, {"a": 0, "b": 5})
        rounds.put({DDL_SOURCE: _report(DDL_SOURCE, 4)})
        rounds.put({DDL_SOURCE: _report(DDL_SOURCE, 5)})
        await settle()
        assert ticks.sent == [("b", 5), ("a", 5)]
        assert not sender.to_send
        task.cancel()

    run(work())


def test_a_sender_that_starts_knows_the_last_ticks():
    async def work():
        ticks = Ticks(sent=[("a", 4), ("a", 6)])
        sender = _sender(ticks)
        await sender.load()
        assert sender.last == {"a": 6, "b": 0}

    run(work())


def test_a_round_ends_when_all_its_sends_have():
    async def work():
        ticks, rounds = Ticks(gate=asyncio.Event()), RoundQueue(1)
        sender = _sender(ticks, rounds)
        task = asyncio.create_task(sender.run())
        rounds.put({DDL_SOURCE: _report(DDL_SOURCE, 5)})
        await settle()
        assert sender.to_send == ("a", "b")
        rounds.put({DDL_SOURCE: _report(DDL_SOURCE, 6)})
        rounds.put({DDL_SOURCE: _report(DDL_SOURCE, 7)})
        await settle()
        assert (len(rounds.waiting), rounds.dropped) == (1, 1)
        ticks.gate.set()
        await settle()
        assert sorted(ticks.sent) == [("a", 5), ("a", 6), ("b", 5), ("b", 6)]
        task.cancel()

    run(work())
