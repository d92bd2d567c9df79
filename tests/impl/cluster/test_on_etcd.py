"""A cluster whose proxies have their sessions in a real etcd."""

from dataclasses import replace

import pytest

from tests.impl.cluster.parts import QUICK, client, running, until
from tidemark.impl.broker.etcd_sessions import EtcdSessions
from tidemark.impl.errors import StoreError
from tidemark.impl.storage.etcd_client import EtcdClient, KeyRange, decode
from tidemark.impl.storage.etcd_server import ABSENT, EtcdServer, find_etcd
from tidemark.impl.values.consistency import ConsistencyLevel

STRONG = ConsistencyLevel.STRONG


async def names(server):
    """Who is registered."""
    etcd = EtcdClient(server.endpoint)
    found = await etcd.call("/v3/kv/range", KeyRange("tidemark/").request())
    await etcd.close()
    pairs = [(decode(pair["key"]).decode(), decode(pair.get("value", ""))) for pair in found.get("kvs", [])]
    return sorted(value.decode() for key, value in pairs if "/alive/" in key)


@pytest.mark.skipif(find_etcd() is None, reason=ABSENT)
async def test_a_proxy_whose_session_ends_comes_back_and_a_restart_loses_nothing(tmp_path):
    with EtcdServer(tmp_path / "etcd") as server:
        config = replace(QUICK, etcd=server.endpoint)

        async with running(tmp_path / "cluster", config) as cluster:
            assert isinstance(cluster.foundation.sessions, EtcdSessions)
            user = client(cluster, 0)
            await user.create("c")
            await user.insert("c", {1: "a"})
            assert await names(server) == ["proxy-1", "proxy-2"]
            host = cluster.hosts[0]
            before = (await host.serving()).source
            await cluster.foundation.sessions.end(before)
            await until(lambda: host.proxy is not None and host.proxy.source != before)
            await user.insert("c", {2: "b"})
            assert (await user.query("c", level=STRONG)).rows == {1: "a", 2: "b"}
        async with running(tmp_path / "cluster", config) as cluster:
            user = client(cluster, 1)
            await user.insert("c", {3: "c"})
            assert (await user.query("c", level=STRONG)).rows == {1: "a", 2: "b", 3: "c"}


async def test_an_etcd_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StoreError, match=r"http://127\.0\.0\.1:1,"):
        async with running(tmp_path, replace(QUICK, etcd="http://127.0.0.1:1")):
            pass
