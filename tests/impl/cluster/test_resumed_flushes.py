"""A process dies between a flush and its confirmation: the next one carries on, though no client asks again.

That a resumed flush does what it has to is judged in the gate; here is seen that the processes resume it.
"""

from tests.impl.cluster.parts import client, running, until


async def test_a_cluster_confirms_the_flush_of_the_process_before_it(tmp_path):
    async with running(tmp_path) as cluster:
        user = client(cluster, 0)
        await user.create("c")
        await user.insert("c", {1: "a"})
        storage = cluster.storage
        [channel] = storage.coordinator.channels
        segments = storage.allocator.end_all(channel)
        flush_ts = await cluster.foundation.oracle.alloc(1)
        await storage.coordinator.request_flush(channel, flush_ts, segments)
    async with running(tmp_path) as cluster:
        coordinator = cluster.storage.coordinator
        await until(lambda: not coordinator.channel(channel).flush_requests)
        assert coordinator.channel(channel).checkpoint >= flush_ts
        assert [coordinator.segments[segment].flushed for segment in segments] == [True]
