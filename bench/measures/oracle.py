"""The oracle itself: timestamps a second, one by one and in batches, and how often the window is saved."""

import asyncio
import itertools
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

from tidemark.bench.process import in_fresh_process
from tidemark.bench.sample import Clock, NotMeasured, Sample, Side, value
from tidemark.bench.series import Goal, Measure, Plan, Row
from tidemark.impl.errors import NotLeaderError
from tidemark.impl.runtime import AsyncioClock, NoPreemption
from tidemark.impl.storage.etcd_oracle import EtcdOracleStore
from tidemark.impl.storage.etcd_server import ABSENT, EtcdServer, find_etcd
from tidemark.impl.storage.memory_oracle import MemoryOracleStore
from tidemark.impl.storage.sqlite_oracle import SqliteOracleStore
from tidemark.impl.system.clocks import SystemSteadyClock, SystemWallClock
from tidemark.impl.tso.config import OracleConfig
from tidemark.impl.tso.ports import Leadership, OraclePorts, OracleStore
from tidemark.impl.tso.server import OracleServer

MEMORY, SQLITE, ETCD = "memory", "sqlite", "etcd"
_EACH = 200
"""Calls between two turns of the event loop: requests come in bundles."""


def counter(*, seconds: float) -> Sample:
    """The bare cost of an atomic counter."""
    numbers = itertools.count(1)
    done = 0
    clock = Clock()
    while clock.seconds < seconds:
        for _ in range(10_000):
            last = next(numbers)
        done = last
    return Sample(seconds=clock.seconds, cpu_seconds=clock.cpu_seconds, values={"rate": done / clock.seconds})


def allocations(*, store: str, batch: int, seconds: float) -> Sample:
    """A leader hands out as fast as it can; the timestamps are checked to grow."""
    return asyncio.run(_allocations(store, batch, seconds))


async def _allocations(kind: str, batch: int, seconds: float) -> Sample:
    async with _leader(kind) as (server, _):
        calls, before = 0, 0
        clock = Clock()
        while clock.seconds < seconds:
            for _ in range(_EACH):
                first, last = await server.allocate(batch)
                if first <= before:
                    raise RuntimeError(f"{first} was handed out after {before}")
                before = last
            calls += _EACH
            await asyncio.sleep(0)
        taken, cpu = clock.seconds, clock.cpu_seconds
    values = {"rate": calls * batch / taken, "calls": calls / taken}
    return Sample(seconds=taken, cpu_seconds=cpu, values=values)


def window(*, pause: float, seconds: float) -> Sample:
    """A leader of which a batch is asked again and again, with a pause: how often does it save?"""
    return asyncio.run(_time_window(pause, seconds))


async def _time_window(pause: float, seconds: float) -> Sample:
    async with _leader(SQLITE) as (server, saved):
        calls = 0
        begin, at_start = time.perf_counter(), saved()
        while time.perf_counter() - begin < seconds:
            for _ in range(1 if pause else _EACH):
                await server.allocate()
                calls += 1
            await asyncio.sleep(pause)
        taken = time.perf_counter() - begin
    values = {"saves": (saved() - at_start) / taken, "calls": calls / taken}
    return Sample(seconds=taken, values=values)


def saves(*, store: str, seconds: float) -> Sample:
    """What a save costs: one after the other."""
    return asyncio.run(_time_saves(store, seconds))


async def _time_saves(kind: str, seconds: float) -> Sample:
    async with _store(kind) as store:
        leadership = await store.campaign("bench", lease=60.0)
        assert leadership is not None
        done = 0
        clock = Clock()
        while clock.seconds < seconds:
            done += 1
            await store.save(done, leadership)
        return Sample(seconds=clock.seconds, values={"rate": done / clock.seconds})


class _Counting:
    """A store that counts the saves of another."""

    def __init__(self, store: OracleStore) -> None:
        self.store = store
        self.saves = 0
        self.campaign, self.renew, self.resign = store.campaign, store.renew, store.resign
        self.wait_vacant, self.load, self.close = store.wait_vacant, store.load, store.close

    async def save(self, end: int, leadership: Leadership) -> None:
        """Save and count."""
        self.saves += 1
        await self.store.save(end, leadership)


@asynccontextmanager
async def _leader(kind: str) -> AsyncIterator[tuple[OracleServer, Callable[[], int]]]:
    async with _store(kind) as store:
        counting = _Counting(store)
        ports = OraclePorts(
            store=counting,
            wall=SystemWallClock(),
            steady=SystemSteadyClock(),
            clock=AsyncioClock(),
            preemption=NoPreemption(),
        )
        server = OracleServer(name="bench", ports=ports, config=OracleConfig())
        task = asyncio.create_task(server.run())
        while True:
            try:
                await server.allocate()
                break
            except NotLeaderError:
                await asyncio.sleep(0.01)
        yield server, lambda: counting.saves
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def _store(kind: str) -> AsyncIterator[OracleStore]:
    with tempfile.TemporaryDirectory(prefix="tidemark-oracle-") as name:
        folder = Path(name)
        if kind == ETCD:
            with EtcdServer(folder) as server:
                store: OracleStore = EtcdOracleStore(server.endpoint)
                yield store
                await store.close()
            return
        store = (
            SqliteOracleStore(folder / "oracle")
            if kind == SQLITE
            else MemoryOracleStore(steady=SystemSteadyClock())
        )
        yield store
        await store.close()


NAME = "oracle"
COUNTER = "itertools.count"
SINGLE, BATCH = 1, 16
IDLE, BUSY = "10 calls a second", "as many calls as possible"
SELDOM = Goal(at_most=0.5, unit="saves a second")
"""The window is three seconds long: about one save in three seconds, whatever the load."""


def run(plan: Plan) -> Iterator[Row]:
    """Rates against a bare counter; saves, idle and busy; what a save costs."""
    yield from _rates(plan)
    yield from _window(plan)
    yield from _saves(plan)


def _rates(plan: Plan) -> list[Row]:
    seconds = 0.5 if plan.quick else 3.0
    names = {
        (store, batch): f"{store}, {'one at a time' if batch == SINGLE else f'batches of {batch}'}"
        for store in (SQLITE, ETCD)
        for batch in (SINGLE, BATCH)
    }
    sides = [Side(COUNTER, partial(in_fresh_process, counter, seconds=seconds))]
    sides += [
        Side(
            name,
            _with(store, partial(in_fresh_process, allocations, store=store, batch=batch, seconds=seconds)),
        )
        for (store, batch), name in names.items()
    ]
    series = plan.series(sides, measure=NAME, size="one client beside the leader")
    rate = value("rate")
    rows = [series.row(COUNTER, f"{COUNTER}: numbers a second", rate, unit="/s")]
    for (store, batch), name in names.items():
        what = f"{name}: timestamps a second"
        rows.append(series.row(name, what, rate, unit="/s", against=COUNTER))
        if store == ETCD:
            same = names[SQLITE, batch]
            rows.append(
                series.row(name, f"{name}: the same, against {SQLITE}", rate, unit="/s", against=same)
            )
    return rows


def _window(plan: Plan) -> list[Row]:
    seconds = 4.0 if plan.quick else 10.0
    sides = [
        Side(IDLE, partial(in_fresh_process, window, pause=0.1, seconds=seconds)),
        Side(BUSY, partial(in_fresh_process, window, pause=0.0, seconds=seconds)),
    ]
    series = plan.series(sides, measure=NAME, size=f"{seconds:g} s, {SQLITE}")
    return [
        series.row(load, f"{load}: saves of the window a second", value("saves"), unit="/s", goal=SELDOM)
        for load in (IDLE, BUSY)
    ]


def _saves(plan: Plan) -> list[Row]:
    seconds = 0.5 if plan.quick else 3.0
    sides = [
        Side(store, _with(store, partial(in_fresh_process, saves, store=store, seconds=seconds)))
        for store in (SQLITE, ETCD)
    ]
    series = plan.series(sides, measure=NAME, size="saves one after the other")
    what = "saves a second: what a timestamp would cost without a window"
    return [series.row(store, f"{store}: {what}", value("rate"), unit="/s") for store in (SQLITE, ETCD)]


def _with(store: str, work: Callable[[], Sample]) -> Callable[[], Sample]:
    """Measure nothing where the store's program is missing."""

    def measured() -> Sample:
        if store == ETCD and find_etcd() is None:
            raise NotMeasured(ABSENT)
        return work()

    return measured


MEASURE = Measure(NAME, "Timestamps a second against a bare counter; saves of the window a second.", run)
