"""The oracle's window and leader key: leases to the second; etcd over connections that fail."""

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.impl.parts import run
from tests.impl.storage.etcd_gateway import HOST, PORT, Gateway
from tests.impl.storage.faults import DAMAGE, ERROR, FAIL, GARBAGE, LIST, LOSE, Faults
from tests.impl.storage.parts import Connector, Steady, each, says
from tidemark.impl.errors import CorruptDataError, NotLeaderError, StoreError, WatchCompactedError
from tidemark.impl.storage.etcd_client import Change, EtcdClient, KeyRange, decode, encode
from tidemark.impl.storage.etcd_oracle import EtcdOracleStore
from tidemark.impl.storage.memory_oracle import MemoryOracleStore
from tidemark.impl.storage.sqlite_oracle import SqliteOracleStore
from tidemark.impl.tso.ports import NEVER_SAVED
from tidemark.models.protocols.common import etcd

POLL = 0.75


class Window:
    """A store of the oracle, and the time by which its leases run out."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.steady, self.gateway, self.kind = Steady(), Gateway(Faults()), kind
        if kind == "memory":
            self.store: Any = MemoryOracleStore(steady=self.steady, poll=POLL)
        elif kind == "sqlite":
            self.store = SqliteOracleStore(folder / "oracle", steady=self.steady, poll=POLL)
        else:
            self.store = EtcdOracleStore("http://elsewhere", prefix="w", client=_client(self.gateway))

    def passes(self, seconds: float, *, ends: bool = False) -> None:
        """Time passes. ``ends``: it is the end of the lease, which etcd decides by itself."""
        self.steady.now += seconds
        if ends:
            self.gateway.end_lease(max(self.gateway.content[etcd.LEASES], default=0))


def _client(gateway: Gateway) -> EtcdClient:
    return EtcdClient(f"http://{HOST}:{PORT}", timeout=4.0, connect=gateway.connect)


@pytest.fixture(autouse=True)
def _one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client of etcd has one connection."""
    monkeypatch.setattr("tidemark.impl.storage.etcd_client._WORKERS", 1)


@pytest.fixture(params=["memory", "sqlite", "etcd"])
def window(request: pytest.FixtureRequest, tmp_path: Path) -> Window:
    return Window(request.param, tmp_path)


async def test_one_leads_as_long_as_its_lease_and_saves_what_never_falls(window: Window) -> None:
    store = window.store
    assert await store.load() == NEVER_SAVED
    first = await store.campaign("a", lease=9.5)
    assert (first.server, first.lease) == ("a", 10.0 if window.kind == "etcd" else 9.5)
    for end, kept in ((100, 100), (90, 100), (70_000, 70_000), (69_900, 70_000)):
        await store.save(end, first)
        assert await store.load() == kept
    window.passes(9.25)
    assert await store.campaign("b", lease=5.0) is None
    await store.renew(first)
    window.passes(9.25)
    await store.save(70_001, first)
    window.passes(0.25, ends=True)
    for late in (partial(store.renew, first), partial(store.save, 80_000, first)):
        with pytest.raises(NotLeaderError, match=r"a.* term"):
            await late()
    second = await store.campaign("b", lease=5.0)
    assert (second.server, second.term != first.term) == ("b", True)
    await store.resign(first)
    with pytest.raises(NotLeaderError):
        await store.renew(first)
    await store.save(70_002, second)
    window.passes(4.0)
    await store.resign(second)
    with pytest.raises(NotLeaderError, match=f"b holds no leader key in term {second.term}"):
        await store.save(80_000, second)
    third = await store.campaign("c", lease=5.0)
    terms = [first.term, second.term, third.term]
    assert len({*terms}) == 3 if window.kind == "etcd" else terms == [1, 2, 3]
    assert await store.load() == 70_002
    await store.close()


@pytest.mark.parametrize("window", ["memory", "sqlite"], indirect=True)
def test_a_waiting_server_asks_for_the_key_after_a_pause(window, monkeypatch):
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async def scenario() -> None:
        await window.store.wait_vacant()
        await window.store.campaign("a", lease=10.0)
        window.passes(9.75)
        await window.store.wait_vacant()
        window.passes(0.25)
        await window.store.wait_vacant()
        await window.store.close()

    monkeypatch.setattr(asyncio, "sleep", sleep)
    run(scenario())
    assert pauses == [POLL]


async def test_a_server_that_has_ended_is_evicted_and_a_lease_from_the_future_is_void(tmp_path: Path) -> None:
    window = Window("sqlite", tmp_path)
    store: SqliteOracleStore = window.store
    first = await store.campaign("a", lease=10.0)
    assert first is not None
    window.passes(4.0)
    await store.evict("b")
    await store.save(5, first)
    await store.evict("a")
    with pytest.raises(NotLeaderError):
        await store.save(6, first)
    second = await store.campaign("b", lease=10.0)
    assert second is not None
    await store.evict("a")
    await store.save(7, second)
    window.passes(-500.0)
    with pytest.raises(NotLeaderError):
        await store.save(8, second)
    third = await store.campaign("a", lease=10.0)
    assert third is not None
    assert (third.term, await store.load()) == (3, 7)
    await store.save(9, third)
    await store.close()


async def test_a_lease_begins_when_the_file_is_free(tmp_path: Path) -> None:
    steady, connector = Steady(), Connector()
    store = SqliteOracleStore(
        tmp_path / "oracle", steady=steady, database=connector.database(tmp_path / "oracle")
    )

    def passes(seconds: float = 5.0) -> None:
        steady.now += seconds

    await store.load()
    connector.meanwhile = passes
    leader = await store.campaign("a", lease=10.0)
    assert leader is not None
    passes(9.5)
    connector.meanwhile = lambda: passes(0.25)
    await store.renew(leader)
    passes(9.75)
    await store.save(1, leader)
    await store.close()


def _keys(gateway: Gateway) -> list[str]:
    return sorted(decode(key).decode() for key, _ in gateway.content[etcd.KEYS])


async def test_keys_and_leases_in_etcd_go_with_their_leader(tmp_path: Path) -> None:
    window = Window("etcd", tmp_path)
    store, gateway = window.store, window.gateway
    leader = await store.campaign("a", lease=10.0)
    assert await store.campaign("b", lease=10.0) is None
    assert len(gateway.content[etcd.LEASES]) == 1
    assert _keys(gateway) == ["w/leader"]
    await store.save(258, leader)
    assert dict(gateway.content[etcd.KEYS])[encode("w/window")].value == encode(bytes(6) + b"\1\2")
    await store.resign(leader)
    await store.resign(leader)
    assert (_keys(gateway), gateway.content[etcd.LEASES]) == (["w/window"], ())
    gateway.answer("/v3/kv/put", {"key": encode("w/window"), "value": encode(b"1234567")})
    with pytest.raises(CorruptDataError, match="b'1234567'; it must be 8 bytes"):
        await store.load()
    await store.close()
    assert not gateway.open


@pytest.mark.parametrize("silent", [0, 2])
async def test_a_waiting_server_watches_the_key_in_etcd(tmp_path: Path, silent: int) -> None:
    window = Window("etcd", tmp_path)
    gateway = window.gateway
    await window.store.wait_vacant()
    leader = await window.store.campaign("a", lease=10.0)
    gateway.leaves, gateway.silent = leader.term, silent
    await window.store.wait_vacant()
    assert (gateway.passed, gateway.watches) == (1.0 * silent, silent + 1)
    await window.store.close()


def test_a_call_of_etcd_that_fails_says_how_and_is_done_or_not(tmp_path: Path) -> None:
    for faults in each(FAIL, LOSE, DAMAGE, GARBAGE, LIST, ERROR):
        window = Window("etcd", tmp_path)
        window.gateway.faults = faults

        async def scenario(window: Window = window, faults: Faults = faults) -> None:
            store, saved, leader = window.store, [NEVER_SAVED, 7, 300], None
            try:
                leader = await store.campaign("a", lease=9.0)
                for end in (7, 300):
                    await store.save(end, leader)
                    saved.remove(min(saved))
                await store.renew(leader)
                window.gateway.leaves = leader.term
                await store.wait_vacant()
                await store.resign(leader)
            except StoreError as failure:
                says(failure, faults.words or "no fault")
            else:
                assert not faults.happened
            faults.kind = None
            assert len(window.gateway.open) <= 1
            assert await store.load() in saved[:2]
            await store.close()
            assert not window.gateway.open

        run(scenario())


def _told(*events: tuple[str, int]) -> bytes:
    found = [{"type": kind, "kv": {"key": encode("w/a"), "mod_revision": str(at)}} for kind, at in events]
    return json.dumps({"result": {"events": found}}).encode()


CREATED = b'{"result":{"created":true}}'
RESET = ConnectionResetError("reset")


@pytest.mark.parametrize(
    ("lines", "heard", "followed"),
    [
        ([CREATED, _told(("PUT", 7)), _told(("DELETE", 9)), RESET], 0.0, Change(9, "w/a", there=False)),
        ([_told(("PUT", 7), ("PUT", 8)), _told(("DELETE", 9)), RESET], 0.0, Change(8, "w/a", there=True)),
        ([_told(("DELETE", 6), ("DELETE", 10)), RESET], 0.0, Change(10, "w/a", there=False)),
        ([CREATED, b""], 0.0, None),
        ([], 2.5, None),
        (
            [b'{"result":{"canceled":true,"compact_revision":"8"}}', b""],
            0.0,
            "^etcd has.*up to 8; list again",
        ),
        ([CREATED, b'{"result":{"canceled":true}}', b""], 0.0, "^etcd has.*up to another; list again"),
        ([RESET], "the watch failed.*reset", "the watch failed.*reset"),
        ([b"<html>\n"], "watch: no JSON but b'<html>", "watch: no JSON"),
        ([b"[1]\n"], r"watch: status 200, \[1\]", "watch: status 200"),
        ([b'{"error":"unavailable"}\n'], "watch: .*unavailable", "watch: .*unavailable"),
    ],
)
async def test_a_watch_tells_the_first_change(lines: list[Any], heard: Any, followed: Any) -> None:
    gateway = Gateway(Faults())
    client = _client(gateway)
    for wait, wanted in (
        (lambda: client.wait_for_event("w/a", revision=7, seconds=2.5), heard),
        (lambda: client.first_change(KeyRange("w/"), after=7, seconds=2.5), followed),
    ):
        gateway.says, gateway.passed = list(lines), 0.0
        if isinstance(wanted, str):
            kind = WatchCompactedError if "list again" in wanted else StoreError
            with pytest.raises(kind, match=wanted):
                await wait()
        else:
            assert await wait() == (None if wanted is heard else wanted)
            assert wanted is not heard or gateway.passed == heard
        assert not gateway.open
    await client.close()
    assert client._workers._shutdown


@pytest.mark.parametrize(
    ("endpoint", "reached"), [("http://here:5", ("here", 5, 3.0)), ("http://here", ("here", 2379, 3.0))]
)
def test_an_endpoint_has_a_host_and_a_port(endpoint: str, reached: tuple[str, int, float]) -> None:
    found: list[tuple[str, int, float]] = []

    def connect(host: str, port: int, *, timeout: float) -> Any:
        found.append((host, port, timeout))
        raise ConnectionRefusedError("refused")

    async def scenario() -> None:
        client = EtcdClient(endpoint, timeout=3.0, connect=connect)
        with pytest.raises(ConnectionRefusedError):
            await client.call("/v3/kv/range", {})
        await client.close()

    run(scenario())
    assert found == [reached]


@pytest.mark.parametrize("endpoint", ["127.0.0.1:2379", "https://127.0.0.1", "http://"])
def test_an_endpoint_is_a_plain_address(endpoint):
    with pytest.raises(ValueError, match="write it like"):
        EtcdClient(endpoint)


def test_keys_with_a_prefix_are_a_range() -> None:
    assert KeyRange("w/a/").request() == {"key": encode("w/a/"), "range_end": encode("w/a0")}
