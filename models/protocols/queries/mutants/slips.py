"""Slips in requests over channels: refusals, and further pages at a query node."""

from __future__ import annotations

from tidemark.models.mutation.patches import Patch, patches

REQUESTS = "queries/requests.py:"
CHANNELS = "queries/channels.py:"
SERVE = "queries/reads.py:NodeFollower._serve"

MAP = "seed 004, 6.6.1"

MUTANTS = patches(
    __name__,
    Patch(
        "a-node-leaves-without-a-word",
        at=CHANNELS + "QueryChannels.unsubscribe",
        old="sorted(reader.owed)",
        new="()",
        source="seed 004, 6.0: service discovery",
        says="What a node owes when it leaves is not refused: the request waits for it.",
    ),
    Patch(
        "the-first-refusal-counts",
        at=REQUESTS + "ResultCollector.ask",
        old="query.asked = nodes",
        new="query.asked = nodes and ()",
        source=MAP,
        says="A request ends with the first refusal: what the other node has is not waited for.",
    ),
    Patch(
        "who-reads-now-is-waited-for",
        at=CHANNELS + "RequestWriter.write",
        old="return tuple(self._requests.readers)",
        new="return self._requests.readers.keys()",
        source=MAP,
        says="A request waits for every node that reads when a refusal comes, also for one that came later.",
    ),
    Patch(
        "a-further-page-shows-the-greatest-moment",
        at="queries/reads.py:ChannelReads._answers",
        old="task.moments",
        new="dict.fromkeys(task.moments, task.guarantee)",
        source="B40",
        says="A further page names on every shard the greatest moment of the first one.",
    ),
    Patch(
        "a-node-forgets-the-moment",
        at=SERVE,
        old="mvcc=moment",
        new="mvcc=None",
        source="B40",
        says="A query node lets a further page wait for its moment, and answers at its service time.",
    ),
    Patch(
        "a-node-takes-the-greatest-moment",
        at=SERVE,
        old="moment = asked.moments.get(channel)",
        new="moment = max(asked.moments.values(), default=None)",
        source="B40",
        says="A query node takes the greatest of the moments that a request names for each of its shards.",
    ),
)
