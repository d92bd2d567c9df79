"""Slips in the pages of a read over channels."""

from __future__ import annotations

from tidemark.models.mutation.patches import Patch, patches

SERVE = "queries/reads.py:NodeFollower._serve"

MUTANTS = patches(
    __name__,
    Patch(
        "a-further-page-shows-the-greatest-moment",
        at="queries/reads.py:ChannelReads._answers",
        old="task.moments",
        new="dict.fromkeys(task.moments, task.guarantee)",
        source="B40",
        says="A further page names on every shard the greatest moment of the first one.",
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
