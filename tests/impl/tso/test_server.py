"""Oracle processes: election, terms that end before the lease does, the next leader."""

import asyncio
import itertools

import pytest

from tests.impl.oracle_parts import MS, START, Stage, jump
from tests.impl.parts import run, settle
from tidemark.impl.errors import NotLeaderError
from tidemark.impl.timestamp import MAX_LOGICAL, Batch, split
from tidemark.impl.tso.oracle import Phase

MANY = 2_000


async def leader(stage, name="a"):
    server = stage.server(name)
    task = asyncio.create_task(server.run())
    await settle()
    return server, task


async def ended(*tasks):
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def test_a_leader_serves_and_a_standby_does_not():
    async def scenario():
        stage = Stage()
        first, one = await leader(stage, "a")
        second, two = await leader(stage, "b")
        assert split((await first.allocate()).last).logical == 1
        with pytest.raises(NotLeaderError, match="b does not lead: it is not elected"):
            await second.allocate()
        await ended(one, two)

    run(scenario())


def test_timestamps_grow_and_the_window_is_saved_every_three_seconds():
    async def scenario():
        stage = Stage()
        server, task = await leader(stage)
        seen = []
        for _ in range(200):
            await stage.clocks.advance(0.05)
            batch = await server.allocate(100)
            seen += [batch.first, batch.last]
        assert seen == sorted(set(seen))
        assert stage.store.saves == 4, "at the start and then about every three of ten seconds"
        assert split(seen[-1]).physical == pytest.approx(START // MS + 10_000, abs=60)
        await ended(task)

    run(scenario())


def test_a_lease_is_renewed_for_as_long_as_the_store_answers():
    async def scenario():
        stage = Stage()
        server, task = await leader(stage)
        await stage.clocks.advance(60)
        assert await server.allocate()
        assert stage.store._terms == 1
        await ended(task)

    run(scenario())


def test_a_leader_stops_before_its_lease_ends_and_the_standby_follows():
    async def scenario():
        stage = Stage()
        first, one = await leader(stage, "a")
        second, two = await leader(stage, "b")
        last = (await first.allocate(1_000)).last
        stage.store.failing = ["renew"] * MANY
        margin, lease = stage.config.lease_margin, stage.config.lease
        await stage.clocks.advance(lease - margin - 0.1)
        late = await first.allocate()
        await stage.clocks.advance(0.2)
        assert first.oracle.phase is Phase.STOPPED
        with pytest.raises(NotLeaderError, match="was not renewed in time"):
            await first.allocate()
        await one
        await stage.clocks.advance(0.2)
        assert (await second.allocate()).first > late.last > last
        assert stage.lines[-1] == f"b: serves from {second.oracle.first} ns on"
        await ended(two)

    run(scenario())


def test_an_answer_is_refused_once_the_time_has_run_out():
    """The process stood still: nothing but the clock has noticed."""

    async def scenario():
        stage = Stage()
        server, task = await leader(stage)
        stage.clocks.hand.now += stage.config.lease
        with pytest.raises(NotLeaderError, match="was not renewed in time"):
            await server.allocate()
        await ended(task)

    run(scenario())


def test_a_renewal_that_comes_too_late_revives_nothing():
    async def scenario():
        stage = Stage()
        server, task = await leader(stage)
        stage.clocks.hand.now += stage.config.lease
        with pytest.raises(NotLeaderError):
            server.term.check()
        server.term.renewed(stage.clocks.monotonic())
        with pytest.raises(NotLeaderError):
            server.term.check()
        await ended(task)

    run(scenario())


def test_the_next_leader_begins_above_the_window_whatever_its_clock_shows():
    async def scenario():
        stage = Stage()
        first, one = await leader(stage, "a")
        await first.allocate()
        window = stage.store.saved
        await ended(one)
        assert first.stopped
        await stage.clocks.advance(stage.config.lease)
        jump(stage.clocks, -3_600_000)()
        second, two = await leader(stage, "b")
        assert second.oracle.first == window + MS
        await second.allocate(MAX_LOGICAL // 2 + 1)
        await stage.clocks.advance(0.1)
        assert second.oracle.published.physical == window + 2 * MS, "the half-full rule"
        await ended(two)

    run(scenario())


def test_a_start_that_fails_gives_the_key_back():
    async def scenario():
        stage = Stage()
        stage.store.failing = ["load"]
        server, task = await leader(stage)
        await task
        assert server.oracle.phase is Phase.STOPPED
        assert "load failed as planned" in server.stopped
        other, other_task = await leader(stage, "b")
        assert await other.allocate()
        await ended(other_task)

    run(scenario())


def test_a_term_that_ends_during_the_start_publishes_nothing():
    async def scenario():
        stage = Stage()
        stage.store.gate = asyncio.Event()
        server, task = await leader(stage)
        stage.store.failing = ["renew"] * MANY
        await stage.clocks.advance(stage.config.lease)
        assert task.done()
        assert (server.oracle.phase, server.oracle.published) == (Phase.STOPPED, None)
        await ended(task)

    run(scenario())


def test_a_store_that_is_away_is_asked_again():
    async def scenario():
        stage = Stage()
        stage.store.failing = ["campaign", "campaign"]
        server, task = await leader(stage)
        await stage.clocks.advance(2 * stage.config.campaign_pause + 0.1)
        assert await server.allocate()
        stage.store.failing = ["save"] * 3
        await stage.clocks.advance(3.5)
        assert stage.store.failing == []
        assert sum("the window was not saved" in line for line in stage.lines) == 3
        assert await server.allocate()
        await ended(task)

    run(scenario())


def test_what_many_clients_get_is_unique_and_in_order():
    async def scenario():
        stage = Stage()
        server, task = await leader(stage)
        got: list[Batch] = []

        async def client(count):
            for _ in range(20):
                before = max((last for _, last in got), default=0)
                batch = await server.allocate(count)
                assert batch.last - batch.first + 1 == count
                assert batch.first > before
                got.append(batch)

        clients = [asyncio.create_task(client(count)) for count in (1, 7, 300)]
        while not all(client.done() for client in clients):
            await stage.clocks.advance(0.05)
        await asyncio.gather(*clients)
        ends = sorted(got)
        assert all(one.last < other.first for one, other in itertools.pairwise(ends))
        assert len(got) == 60
        await ended(task)

    run(scenario())
