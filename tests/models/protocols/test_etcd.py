"""The simulated etcd answers as a real one does, call by call."""

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest

from tidemark.impl.errors import StoreError, WatchCompactedError
from tidemark.impl.storage.etcd_client import EtcdCalls, EtcdClient, KeyRange, encode
from tidemark.impl.storage.etcd_server import ABSENT, EtcdServer, find_etcd
from tidemark.models.protocols.common import etcd

KEYS = ("a", "b")
Found = TypeVar("Found")


def calls(seed: int, count: int) -> list[tuple[str, dict[str, Any]]]:
    """Random calls of the kinds that the implementation makes. Leases are numbered by their grants."""
    rng = random.Random(seed)
    made: list[tuple[str, dict[str, Any]]] = [("/v3/lease/grant", {"TTL": "60", "ID": "0"})]
    for _ in range(count):
        key, value = encode(rng.choice(KEYS)), encode(bytes([rng.randrange(3)]))
        lease = f"lease {rng.randrange(3)}"
        put = {"request_put": {"key": key, "value": value} | ({"lease": lease} if rng.random() < 0.5 else {})}
        compare = rng.choice(
            [
                {"key": key, "target": "VERSION", "result": "EQUAL", "version": str(rng.randrange(2))},
                {"key": key, "target": "LEASE", "result": "EQUAL", "lease": lease},
                {"key": key, "target": "VALUE", "result": "GREATER", "value": value},
            ]
        )
        nested = {"request_txn": {"compare": [compare], "success": [], "failure": [put]}}
        kinds: list[tuple[str, dict[str, Any]]] = [
            ("/v3/lease/grant", {"TTL": "60", "ID": "0"}),
            ("/v3/lease/keepalive", {"ID": lease}),
            ("/v3/lease/revoke", {"ID": lease}),
            ("/v3/kv/range", {"key": key}),
            ("/v3/kv/range", KeyRange("a").request()),
            ("/v3/kv/txn", {"success": [put, {"request_range": {"key": key}}], "compare": []}),
            ("/v3/kv/txn", {"compare": [compare], "success": [put], "failure": []}),
            ("/v3/kv/txn", {"compare": [compare], "success": [nested], "failure": []}),
        ]
        made.append(rng.choice(kinds))
    return made


def named(value: Any, leases: list[str]) -> Any:
    if isinstance(value, dict):
        return {key: named(inner, leases) for key, inner in value.items()}
    if isinstance(value, list):
        return [named(inner, leases) for inner in value]
    if isinstance(value, str) and value.startswith("lease "):
        place = int(value.removeprefix("lease "))
        return leases[place] if place < len(leases) else "12345"
    return value


def told(answer: dict[str, Any], leases: list[str]) -> dict[str, Any]:
    """What of an answer the implementation looks at."""
    pairs = [
        {**{key: pair.get(key) for key in ("key", "value", "version")}, "lease": _place(pair, leases)}
        for pair in answer.get("kvs", [])
    ]
    alive = int(answer.get("result", {}).get("TTL", "0")) > 0
    inner = [told(one, leases) for each in answer.get("responses", []) for one in each.values()]
    revision = answer.get("header", {}).get("revision") if "responses" in answer else None
    found = {"succeeded": answer.get("succeeded", False), "kvs": pairs, "alive": alive}
    return found | {"inner": inner, "revision": revision}


def _place(pair: dict[str, Any], leases: list[str]) -> int:
    return leases.index(pair["lease"]) if pair.get("lease", "0") != "0" else -1


async def closed(endpoint: str, scenario: Callable[[EtcdClient], Coroutine[Any, Any, Found]]) -> Found:
    """Run a scenario with a client that is closed at its end, also if it fails."""
    client = EtcdClient(endpoint)
    try:
        return await scenario(client)
    finally:
        await client.close()


@pytest.mark.skipif(find_etcd() is None, reason=ABSENT)
def test_the_simulated_etcd_answers_as_a_real_one(tmp_path):
    async def scenario(client: EtcdClient) -> int:
        content: dict[str, Any] = {}
        etcd.begin(content)
        real_leases: list[str] = []
        leases: list[str] = []
        compared = 0
        for path, request in calls(seed=7, count=400):
            try:
                real = await client.call(path, named(request, real_leases))
                expected: Any = told(real, real_leases)
            except StoreError:
                expected = "error"
            try:
                simulated = etcd.answer(content, path, named(request, leases))
                found: Any = told(simulated, leases)
            except StoreError:
                found = "error"
            assert found == expected, (path, request)
            if path == "/v3/lease/grant" and expected != "error":
                real_leases.append(real["ID"])
                leases.append(simulated["ID"])
            compared += 1
        return compared

    with EtcdServer(tmp_path) as server:
        assert asyncio.run(closed(server.endpoint, scenario)) == 401


@pytest.mark.skipif(find_etcd() is None, reason=ABSENT)
def test_a_watch_is_told_the_same_by_both_or_refused_by_both(tmp_path):
    """From each revision on, with etcd compacted to each: of the deletion in that one nothing is told."""
    keys = KeyRange("a")

    async def first(client: EtcdCalls, after: int, *, seconds: float) -> Any:
        try:
            return await client.first_change(keys, after=after, seconds=seconds)
        except WatchCompactedError:
            return "refused"

    async def scenario(client: EtcdClient) -> list[Any]:
        content: dict[str, Any] = {}
        etcd.begin(content, watches=True)

        async def both(path: str, request: dict[str, Any]) -> None:
            await client.call(path, request)
            etcd.answer(content, path, request)

        found: list[Any] = []
        lease = (await client.call("/v3/lease/grant", {"TTL": "60", "ID": "0"}))["ID"]
        content[etcd.LEASES] = (int(lease),)
        for key, of in (("a/1", lease), ("b", "0"), ("a/2", "0"), ("b", "0")):
            await both("/v3/kv/put", {"key": encode(key), "value": encode(b"v"), "lease": of})
        await both("/v3/lease/revoke", {"ID": lease})
        await both("/v3/kv/put", {"key": encode("a/3"), "value": encode(b"v")})
        last = content[etcd.REVISION]
        for compacted in range(2, last + 1):
            await client.call("/v3/kv/compaction", {"revision": str(compacted)})
            etcd.compact(content, compacted)
            for after in range(1, last + 1):
                expected = await first(etcd.DirectCalls(content), after, seconds=0.1)
                # Only silence is waited for in vain: an answer may take its time on a busy machine.
                real = await first(client, after, seconds=0.1 if expected is None else 10)
                assert real == expected, (compacted, after)
                found.append(real)
        return found

    with EtcdServer(tmp_path) as server:
        found = asyncio.run(closed(server.endpoint, scenario))
    assert {one if isinstance(one, str) or one is None else one.there for one in found} == {
        "refused", None, True, False
    }  # fmt: skip


def test_a_call_that_is_not_simulated_is_refused():
    content: dict[str, Any] = {}
    etcd.begin(content)
    with pytest.raises(StoreError, match="404"):
        etcd.answer(content, "/v3/auth/enable", {})
