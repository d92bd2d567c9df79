"""Wrong parts of an embedded cluster, refuted by the programs of this folder."""

from __future__ import annotations

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.node.cluster import answers, files, replicas

FILES = Host("cluster-impl-files", files.files)
ANSWERS = Host("cluster-impl-answers", answers.answers)
REPLICAS = Host("cluster-impl-replicas", replicas.replicas)

SET = "cluster/replicas.py:ReplicaSet."

MUTANTS = patches(
    __name__,
    Patch(
        "two-processes-have-one-directory",
        at="cluster/directory.py:ClusterDirectory.take",
        old="self._calls.close(lock)",
        new="self._calls.close(lock)\n            return",
        killer=files.HELD,
        on=FILES,
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
        killer=files.LEFT,
        on=FILES,
        source="facts 10.1",
        says="Evidence without the messages of a log that the disk does not give.",
    ),
    Patch(
        "lost-rows-are-not-noticed",
        at="cluster/audit.py:audit",
        old="tuple(row for row in missing if not _is_removed(row, expected, snapshot))",
        new="()",
        killer=files.AUDITED,
        on=FILES,
        source="property D",
        says="The audit of a cluster does not see that a row is not stored.",
    ),
    Patch(
        "a-write-without-an-answer-has-not-happened",
        at="cluster/promises.py:Promises._visible",
        old="there or False in unknown",
        new="there and True not in unknown",
        killer=answers.EXACT,
        on=ANSWERS,
        source="facts 6.1",
        says="A row whose insert was not acknowledged must not be seen.",
    ),
    Patch(
        "any-guarantee-will-do",
        at="cluster/promises.py:Promises.broken",
        old="if write.ts is not None and write.ts > result.guarantee",
        new="if False",
        killer=answers.OWED,
        on=ANSWERS,
        source="facts 6.1",
        says="A strong read may miss what was acknowledged before.",
    ),
    Patch(
        "deletes-are-let-go-of-first",
        at=f"{SET}load_flushed",
        old="with suppress(ReplicaClosedError):",
        new=(
            "with suppress(ReplicaClosedError):\n"
            "                    node.trim_deletes(channel, described.seek.ts)"
        ),
        killer=replicas.LOADED,
        on=REPLICAS,
        source="facts 6.3",
        says="A segment is loaded after the deletes were dropped that it needs.",
    ),
    Patch(
        "a-node-that-comes-misses-a-load",
        at=f"{SET}revive",
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
        killer=replicas.SERVED,
        on=REPLICAS,
        source="facts 6.3",
        says="A collection that is loaded while a node starts is never served by that node.",
    ),
    Patch(
        "a-killed-node-is-waited-for",
        at=f"{SET}kill",
        old="self._leave(node, collection)",
        new="pass",
        killer=replicas.READ,
        on=REPLICAS,
        source="facts 6.3",
        says="A read at a node that was killed hears of nobody that there will be no answer.",
    ),
)
