"""Keys that the embedded cluster makes: over several proxies and restarts."""

from tests.impl.cluster.parts import client, running
from tidemark.impl.values.consistency import ConsistencyLevel


async def test_keys_that_are_made_are_unique_over_proxies_and_restarts(tmp_path):
    keys: list[int] = []

    for life in range(2):
        async with running(tmp_path) as cluster:
            if not life:
                await client(cluster, 0).create("c", shards=2)
            for gateway in cluster.gateways[:2]:
                _, made = await gateway.insert_values("c", ["a", "b", "c"])
                keys.extend(made)
            reply = await cluster.gateways[0].read("c", ConsistencyLevel.STRONG)
            assert sorted(key for key, _ in reply.rows) == sorted(keys)
    assert len(set(keys)) == len(keys) == 12
