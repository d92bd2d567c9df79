"""The stores of the oracle: a real etcd, and real time. The contract of the others is in test_leases.py."""

import asyncio
import time
from functools import partial
from pathlib import Path

import pytest

from tests.impl.parts import run
from tidemark.impl.errors import NotLeaderError, StoreError
from tidemark.impl.runtime import AsyncioClock, NoPreemption
from tidemark.impl.storage.etcd_oracle import EtcdOracleStore
from tidemark.impl.storage.etcd_server import ABSENT, EtcdServer, find_etcd
from tidemark.impl.storage.memory_oracle import MemoryOracleStore
from tidemark.impl.storage.sqlite_oracle import SqliteOracleStore
from tidemark.impl.system.clocks import SystemSteadyClock, SystemWallClock
from tidemark.impl.tso.config import OracleConfig
from tidemark.impl.tso.ports import OraclePorts, OracleStore
from tidemark.impl.tso.server import OracleServer

SHORT = 1.0
"""The least lease that etcd grants with the time-outs of the test's server."""
BIG = 1_700_000_000_000_000_000
NEEDS_ETCD = pytest.mark.skipif(find_etcd() is None, reason=ABSENT)
KINDS = ["memory", "sqlite", pytest.param("etcd", marks=NEEDS_ETCD)]


class Shop:
    """Makes stores that see the same keys: one for each process, so to speak."""

    def __init__(self, kind: str, folder: Path, server: EtcdServer | None) -> None:
        self.kind, self.folder, self.server = kind, folder, server
        self.memory = MemoryOracleStore(steady=SystemSteadyClock())
        self.made: list[OracleStore] = []

    def store(self) -> OracleStore:
        found: OracleStore = self.memory
        if self.kind == "sqlite":
            found = SqliteOracleStore(self.folder / "oracle")
        if self.kind == "etcd":
            assert self.server is not None
            found = EtcdOracleStore(self.server.endpoint, prefix=self.folder.name)
        self.made.append(found)
        return found

    async def close(self) -> None:
        for store in self.made:
            await store.close()


@pytest.fixture
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Shop:
    kind = request.param
    return Shop(kind, tmp_path, request.getfixturevalue("etcd") if kind == "etcd" else None)


@pytest.mark.parametrize("shop", KINDS, indirect=True)
async def test_a_standby_takes_over_from_a_leader_that_hangs(shop):
    """Real time, real leases: the leader is suspended with its key, and wakes up too late."""
    config = OracleConfig(
        lease=SHORT, lease_margin=0.3, renew_pause=0.2, campaign_pause=0.1, update_pause=0.01
    )
    servers = []
    for name in "ab":
        ports = OraclePorts(
            store=shop.store(),
            wall=SystemWallClock(),
            steady=SystemSteadyClock(),
            clock=AsyncioClock(),
            preemption=NoPreemption(),
        )
        servers.append(OracleServer(name=name, ports=ports, config=config))
    first, second = servers
    leading = asyncio.create_task(first.run())
    issued = await first_answer(first)
    standing = asyncio.create_task(second.run())

    async def hang(*_arguments):
        await asyncio.sleep(60)

    first._ports.store.renew = hang  # type: ignore[method-assign]
    later = await first_answer(second)
    assert later.first > issued.last
    assert "was not renewed in time" in first.stopped
    with pytest.raises(NotLeaderError):
        await first.allocate()
    standing.cancel()
    await asyncio.gather(leading, standing, return_exceptions=True)
    await shop.close()


async def first_answer(server: OracleServer):
    while True:
        try:
            return await server.allocate(10)
        except NotLeaderError:
            await asyncio.sleep(0.02)


async def test_a_missing_directory_is_a_store_error(tmp_path):
    store = SqliteOracleStore(tmp_path / "none" / "oracle")
    with pytest.raises(StoreError, match="unable to open"):
        await store.load()
    await store.close()


async def until_it_answers(work):
    """Each of the client's old connections fails once: whether the call was carried out is not known."""
    while True:
        try:
            return await work()
        except StoreError:
            await asyncio.sleep(0.02)


@NEEDS_ETCD
def test_the_window_outlives_a_crash_of_etcd(tmp_path):
    with EtcdServer(tmp_path) as server:

        async def scenario():
            store = EtcdOracleStore(server.endpoint, timeout=1)
            leadership = await store.campaign("a", lease=30)
            assert leadership is not None
            await store.save(BIG, leadership)
            server.kill()
            with pytest.raises(StoreError, match="is it running"):
                await store.save(BIG + 1, leadership)
            server.start()
            assert await until_it_answers(store.load) == BIG
            await until_it_answers(partial(store.save, BIG + 2, leadership))
            assert await until_it_answers(store.load) == BIG + 2
            await store.close()

        run(scenario())


@NEEDS_ETCD
async def test_a_watch_ends_when_the_key_goes(etcd, tmp_path):
    one, other = (EtcdOracleStore(etcd.endpoint, prefix=tmp_path.name) for _ in range(2))
    leadership = await one.campaign("a", lease=30)
    assert leadership is not None
    waiting = asyncio.create_task(other.wait_vacant())
    await asyncio.sleep(1.3)
    assert not waiting.done(), "a silent watch is made anew"
    begin = time.monotonic()
    await one.resign(leadership)
    await waiting
    assert time.monotonic() - begin < 0.9
    await one.close()
    await other.close()


async def test_nobody_at_the_endpoint_is_a_store_error():
    store = EtcdOracleStore("http://127.0.0.1:9", timeout=1)
    with pytest.raises(StoreError, match="is it running"):
        await store.load()
    await store.close()
