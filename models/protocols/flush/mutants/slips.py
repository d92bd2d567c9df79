"""Mistakes that people make in code which tests try: see ``slips`` in docs/mutation.md."""

from __future__ import annotations

from tidemark.models.mutation.patches import Patch

DATA_NODE = (
    Patch(
        "channels-share-an-interval",
        at="datanode/time_tick_node.py:TimeTickNode.operate",
        old="self.last_update is None or now - self.last_update >=",
        new="now - max((one.position.ts for one in self._updater.tasks.values()), default=-(2**64)) >=",
        source="facts 8",
        says="A checkpoint of one channel counts as a report of all: the others wait.",
    ),
    Patch(
        "memory-is-taken-from-the-first-channel",
        at="datanode/buffer_manager.py:BufferManager.check_memory",
        old="max(sorted(held), key=lambda channel: held[channel])",
        new="min(held)",
        source="facts 7.3: memory check",
        says="When memory is short the first channel by name is synced, whatever it holds.",
    ),
)
CORE = (
    Patch(
        "a-drop-is-not-sent",
        at="datacoord/direct.py:DirectCoordinatorClient.drop_channel",
        old='await self._calls.call(handler, name="DropChannel", deadline=deadline)',
        new="handler.close()",
        source="seed 000",
        says="A caller hears that its channel is dropped, and nobody was asked.",
    ),
    Patch(
        "who-gives-up-stops-the-callee",
        at="rpc.py:Calls.call",
        old="asyncio.shield(task)",
        new="task",
        source="seed 000",
        says="A call whose caller has left ends half-way.",
    ),
    Patch(
        "a-failure-is-told-once",
        at="runtime.py:Supervisor.check",
        old="raise self.failure",
        new="told, self.failure = self.failure, None\n            raise told",
        source="seed 000",
        says="A failure that was raised once is forgotten.",
    ),
    Patch(
        "everybody-passes-a-point",
        at="stepped_lock.py:SteppedLock.holding",
        old="if waits:",
        new="if True:",
        source="facts 1",
        says="Who has not waited passes the point of those who have.",
    ),
    Patch(
        "requests-wait-for-each-other",
        at="system/line_server.py:LineServer._take_requests",
        old="task.add_done_callback(self._requests.discard)",
        new="task.add_done_callback(self._requests.discard)\n            await asyncio.wait([task])",
        source="seed 002",
        says="A slow request holds back those behind it.",
    ),
    Patch(
        "a-server-that-stops-goes-on-taking",
        at="system/line_server.py:LineServer.stop",
        old="self._stopped = True",
        new="self._stopped = False",
        source="seed 002",
        says="A request that arrives while a server stops is begun.",
    ),
    Patch(
        "an-interval-of-nothing-is-refused",
        at="proxy/config.py:ProxyConfig.__post_init__",
        old='("tick_interval_ts", 0)',
        new='("tick_interval_ts", 1)',
        source="hazard 28",
        says="A proxy cannot be told to give each tick its own timestamp.",
    ),
)

CLUSTER = (
    Patch(
        "two-processes-have-one-directory",
        at="cluster/directory.py:ClusterDirectory.take",
        old="self._calls.close(lock)",
        new="self._calls.close(lock)\n            return",
        source="facts 2.2",
        says="A second cluster writes into the files of the first.",
    ),
    Patch(
        "a-log-that-cannot-be-read-is-empty",
        at="cluster/leave.py:leave_messages",
        old="""    lines = [
        json.dumps(line_of(channel, entry), separators=(",", ":"))
        for channel in config.channel_names
        for entry in await read_entries(directory.logs, channel, files=files)
    ]
""",
        new="""    from tidemark.impl.errors import StoreError

    try:
        lines = [
            json.dumps(line_of(channel, entry), separators=(",", ":"))
            for channel in config.channel_names
            for entry in await read_entries(directory.logs, channel, files=files)
        ]
    except StoreError:
        return 6
""",
        source="facts 10.1",
        says="Evidence without the messages of a log that the disk does not give.",
    ),
    Patch(
        "a-write-without-an-answer-has-not-happened",
        at="cluster/promises.py:Promises._visible",
        old="there or False in unknown",
        new="there and True not in unknown",
        source="facts 6.1",
        says="A row whose insert was not acknowledged must not be seen.",
    ),
    Patch(
        "any-guarantee-will-do",
        at="cluster/promises.py:Promises.broken",
        old="if write.ts is not None and write.ts > result.guarantee",
        new="if False",
        source="facts 6.1",
        says="A strong read may miss what was acknowledged before.",
    ),
)

REPLICAS = (
    Patch(
        "deletes-are-let-go-of-first",
        at="cluster/replicas.py:ReplicaSet.load_flushed",
        old="with suppress(ReplicaClosedError):",
        new=(
            "with suppress(ReplicaClosedError):\n"
            "                    node.trim_deletes(channel, described.seek.ts)"
        ),
        source="facts 6.3",
        says="A segment is loaded after the deletes were dropped that it needs.",
    ),
    Patch(
        "a-node-that-comes-misses-a-load",
        at="cluster/replicas.py:ReplicaSet.revive",
        old=(
            "node = self.nodes[number] = self._make(number)\n"
            "        await asyncio.gather(*("
            "self._serve(node, collection) for collection in self.collections))"
        ),
        new=(
            "node = self._make(number)\n"
            "        await asyncio.gather(*("
            "self._serve(node, collection) for collection in self.collections))\n"
            "        self.nodes[number] = node"
        ),
        source="facts 6.3",
        says="A collection that is loaded while a node starts is never served by that node.",
    ),
    Patch(
        "a-killed-node-is-waited-for",
        at="cluster/replicas.py:ReplicaSet.kill",
        old="self._leave(node, collection)",
        new="pass",
        source="facts 6.3",
        says="A read at a node that was killed hears of nobody that there will be no answer.",
    ),
)

SERVICE = (
    Patch(
        "a-node-that-comes-again-is-not-told",
        at="datacoord/flush_service.py:FlushService._until_confirmed",
        old="term != told_term",
        new="told_term is None",
        source="seed 004, 6.3",
        says="A node that has forgotten the flush, since it died, is not told again.",
    ),
    Patch(
        "one-request-of-a-channel-is-resumed",
        at="datacoord/flush_service.py:FlushService.resume",
        old=".flush_requests:",
        new=".flush_requests[:1]:",
        source="facts 7.8: after a restart",
        says="Of several requests of a channel that were recorded only the first one is resumed.",
    ),
    Patch(
        "a-resumed-flush-forgets-its-segments",
        at="datacoord/flush_service.py:FlushService.resume",
        old="request.segments",
        new="()",
        source="seed 004, 6.3",
        says="After a restart of the coordinator a flush is for its timestamp alone.",
    ),
)
