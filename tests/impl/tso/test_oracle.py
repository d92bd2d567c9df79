"""The oracle of one term: the start, the update, the handing out."""

import asyncio

import pytest

from tests.impl.oracle_parts import MS, START, Stage, jump
from tests.impl.parts import run, settle
from tidemark.impl.errors import NoTimestampError, NotLeaderError, StoreError
from tidemark.impl.timestamp import MAX_LOGICAL, Batch, Parts, compose, split
from tidemark.impl.tso.config import OracleConfig
from tidemark.impl.tso.oracle import Phase

HALF = MAX_LOGICAL // 2


@pytest.mark.parametrize(("physical", "logical"), [(0, 1), (1_700_000_000_123, 7), (5, MAX_LOGICAL - 1)])
def test_a_timestamp_is_a_millisecond_and_a_counter(physical, logical):
    assert split(compose(physical, logical)) == Parts(physical, logical)


def test_a_counter_that_is_too_great_would_carry():
    assert compose(7, MAX_LOGICAL) == compose(8, 0)


def test_the_first_start_is_at_the_clock():
    async def scenario():
        stage = Stage()
        oracle = await stage.oracle()
        await oracle.start()
        assert (oracle.phase, oracle.base, oracle.first) == (Phase.SERVING, 0, START)
        assert stage.store.saved == oracle.window == START + 3_000 * MS
        assert stage.script.seen == ["start.decide", "start.publish"]
        assert await oracle.allocate() == Batch(*[compose(1_700_000_000_000, 1)] * 2)

    run(scenario())


@pytest.mark.parametrize(
    ("ahead", "first"),
    [(-5, 0), (-0.5, 0.5), (-1, 0), (0, 1), (0.5, 1.5), (2_000, 2_001)],
    ids=["behind", "half a guard behind", "a guard behind", "at the clock", "just ahead", "far ahead"],
)
def test_a_start_is_a_guard_above_the_window_of_those_before(ahead, first):
    async def scenario():
        stage = Stage()
        stage.store.saved = START + round(ahead * MS)
        oracle = await stage.oracle()
        await oracle.start()
        assert oracle.first == START + round(first * MS)
        assert oracle.first - oracle.base >= MS

    run(scenario())


@pytest.mark.parametrize("operation", ["load", "save"])
def test_a_start_without_the_store_fails(operation):
    async def scenario():
        stage = Stage()
        stage.store.failing = [operation]
        oracle = await stage.oracle()
        with pytest.raises(StoreError, match="as planned"):
            await oracle.start()
        assert oracle.published is None
        assert stage.store.saved == 0

    run(scenario())


def test_a_start_after_the_term_publishes_nothing():
    async def scenario():
        stage = Stage()
        oracle = await stage.oracle()
        stage.clocks.hand.now += stage.config.lease
        with pytest.raises(NotLeaderError, match="was not renewed in time"):
            await oracle.start()
        assert oracle.published is None

    run(scenario())


async def started(**config):
    stage = Stage(config=OracleConfig(**config))
    oracle = await stage.oracle()
    await oracle.start()
    return stage, oracle


@pytest.mark.parametrize(
    ("later", "moves"), [(0.5, False), (1, False), (1.5, True), (40, True), (-100, False)]
)
def test_the_time_follows_the_clock_by_more_than_a_guard(later, moves):
    async def scenario():
        stage, oracle = await started()
        jump(stage.clocks, later)()
        before = oracle.published
        await oracle.update()
        assert (oracle.published is not before) == moves
        assert oracle.published.physical == START + (round(later * MS) if moves else 0)
        assert oracle.updates == {}
        assert stage.store.saves == 1

    run(scenario())


@pytest.mark.parametrize(("used", "moves"), [(HALF, False), (HALF + 1, True)])
def test_a_counter_past_its_half_moves_the_time_by_a_millisecond(used, moves):
    async def scenario():
        stage, oracle = await started()
        jump(stage.clocks, -60_000)()
        await oracle.generate(used)
        await oracle.update()
        assert oracle.published.physical == START + (MS if moves else 0)
        assert oracle.published.logical == (0 if moves else used)

    run(scenario())


@pytest.mark.parametrize(("later", "saves"), [(2_998.9, 1), (2_999, 2), (10_000, 2)])
def test_the_window_is_saved_before_the_time_comes_near_its_end(later, saves):
    async def scenario():
        stage, oracle = await started()
        jump(stage.clocks, later)()
        await oracle.update()
        assert stage.store.saves == saves
        assert oracle.published.physical == START + round(later * MS)
        assert oracle.published.physical + MS < stage.store.saved == oracle.window

    run(scenario())


def test_a_save_that_fails_moves_nothing_and_is_repeated():
    async def scenario():
        stage, oracle = await started()
        jump(stage.clocks, 5_000)()
        before, window = oracle.published, oracle.window
        for failure in ("save", "save, answer"):
            stage.store.failing = [failure]
            with pytest.raises(StoreError):
                await oracle.update()
            assert (oracle.published, oracle.window, oracle.updates) == (before, window, {})
        assert stage.store.saved > window, "the second save was applied, only its answer was lost"
        await oracle.update()
        assert oracle.published.physical == START + 5_000 * MS

    run(scenario())


def test_an_update_after_the_term_publishes_nothing():
    async def scenario():
        stage, oracle = await started()
        jump(stage.clocks, 40)()
        stage.script.plan["update.publish"] = lambda: (oracle._term.end("told so"), oracle.stop())
        with pytest.raises(NotLeaderError, match="told so"):
            await oracle.update()
        assert (oracle.phase, oracle.published) == (Phase.STOPPED, None)

    run(scenario())


def test_generate_returns_the_last_and_allocate_both_ends():
    async def scenario():
        _, oracle = await started()
        assert split(await oracle.generate(10)).logical == 10
        batch = await oracle.allocate(5)
        assert (split(batch.first).logical, split(batch.last).logical) == (11, 15)
        with pytest.raises(ValueError, match="at least 1, got 0"):
            await oracle.generate(0)

    run(scenario())


def test_a_call_waits_until_the_oracle_is_ready():
    async def scenario():
        stage = Stage()
        oracle = await stage.oracle()
        call = asyncio.create_task(oracle.generate(1))
        await settle()
        await oracle.start()
        assert not call.done()
        await stage.clocks.advance(0.2)
        assert split(await call).logical == 1

    run(scenario())


def test_a_full_counter_makes_calls_wait_for_the_next_millisecond():
    async def scenario():
        stage, oracle = await started()
        jump(stage.clocks, -1_000)()
        await oracle.generate(MAX_LOGICAL - 1)
        call = asyncio.create_task(oracle.generate(1))
        await settle()
        assert oracle.published.logical == MAX_LOGICAL, "the counter stays inflated"
        await oracle.update()
        await stage.clocks.advance(0.05)
        assert split(await call) == Parts(START // MS + 1, 1)

    run(scenario())


@pytest.mark.parametrize("count", [MAX_LOGICAL, 3 * MAX_LOGICAL])
def test_a_batch_that_fits_nowhere_fails_after_its_tries(count):
    async def scenario():
        stage, oracle = await started(tries=3)
        call = asyncio.create_task(oracle.generate(count))
        await stage.clocks.advance(1)
        with pytest.raises(NoTimestampError, match="in 3 tries"):
            await call

    run(scenario())


def test_a_slow_call_gets_a_smaller_timestamp_later():
    """They overlap: unique, and not ordered (hazard 38)."""

    async def scenario():
        stage, oracle = await started()
        gate = asyncio.Event()
        plain = oracle._point

        async def held(name):
            if asyncio.current_task() is slow:
                await gate.wait()
            await plain(name)

        oracle._point = held
        slow = asyncio.create_task(oracle.generate(1))
        await settle()
        jump(stage.clocks, 40)()
        await oracle.update()
        fast = await oracle.generate(1)
        gate.set()
        late = await slow
        assert late < fast
        assert await oracle.generate(1) > fast

    run(scenario())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"guard": 0}, "guard is 0; it must be at least 1"),
        ({"update_pause": 0}, "update_pause is 0; it must be a positive"),
        ({"max_logical": MAX_LOGICAL + 1}, "has room for 262144"),
        ({"window": MS}, "make the window longer"),
        ({"lease_margin": 15.0}, "must be a part of it"),
        ({"renew_pause": 12.0}, "renew sooner"),
    ],
)
def test_impossible_configurations_are_named(given, words):
    with pytest.raises(ValueError, match=words):
        OracleConfig(**given)
