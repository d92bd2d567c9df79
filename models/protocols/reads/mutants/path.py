"""Slips in the read path of a proxy."""

from __future__ import annotations

from tidemark.models.mutation.patches import Patch, patches

ASK = "proxy/reads.py:Reader._ask"
REDUCE = "proxy/reads.py:ReadPath._reduce"

MUTANTS = patches(
    __name__,
    Patch(
        "a-second-round-has-no-guarantee",
        at=ASK,
        old="raise failure",
        new="for replica in self._replicas.of(channel):\n"
        "            try:\n"
        '                asked = {"keys": task.keys, "deadline": self._config.deadline}\n'
        "                return await replica.query(channel, guarantee=0, mvcc=moment, **asked)\n"
        "            except RpcError as refused:\n"
        "                failure = refused\n"
        "        raise failure",
        source="facts 6.2",
        says="When every replica of a channel has refused, all are asked again without the guarantee.",
    ),
    Patch(
        "a-further-page-shows-the-greatest-moment",
        at="proxy/reads.py:ReadTask.moments",
        old="{channel: shown[channel] for",
        new="{channel: self.page_of.moment for",
        source="B40",
        says="A further page shows every channel at the greatest moment of the first one.",
    ),
    Patch(
        "a-further-page-needs-less-than-the-first",
        at=ASK,
        old="is None else moment",
        new="is None else min(task.moments.values())",
        source="B40",
        says="A further page has the least moment of the first one's channels as its guarantee.",
    ),
    Patch(
        "a-channel-that-fails-is-left-out",
        at="proxy/reads.py:Reader._answers",
        old="task.channels))\n        return dict(zip(task.channels, answers, strict=True))",
        new="task.channels), return_exceptions=True)\n"
        "        found = zip(task.channels, answers, strict=True)\n"
        "        return {channel: answer for channel, answer in found if isinstance(answer, ShardAnswer)}",
        source="facts 6.2",
        says="An answer lacks the rows of a channel that nobody serves.",
    ),
    Patch(
        "the-channels-of-a-search-are-joined-end-to-end",
        at=REDUCE,
        old="task.nearest.cut(rows)",
        new="tuple(rows)[: task.nearest.limit]",
        source="facts 6.2",
        says="The rows of the first channel come before nearer ones of the second.",
    ),
    Patch(
        "rows-are-told-apart-by-their-keys",
        at=REDUCE,
        old="sorted(rows,",
        new="sorted({row.key: row for row in rows}.values(),",
        source="facts 6.2: reduce",
        says="Of two rows of one key the later one is answered alone.",
    ),
    Patch(
        "keys-are-ordered-as-text",
        at=REDUCE,
        old="(row.ts, row.key)",
        new="(row.ts, str(row.key))",
        source="facts 6.2: reduce",
        says="Rows of one timestamp are in the order of their keys as text.",
    ),
    Patch(
        "the-answers-of-shards-are-not-cut",
        at=REDUCE,
        old="task.nearest.cut(rows)",
        new="tuple(rows)",
        source="seed 004, 6.6.1: results of searches",
        says="What the shards have found is handed on one after the other.",
    ),
    Patch(
        "the-first-shard-is-enough",
        at=REDUCE,
        old="for answer in answers.values() for",
        new="for answer in list(answers.values())[:1] for",
        source="seed 004, 6.6.1: results of searches",
        says="Only what the first shard has found counts.",
    ),
    Patch(
        "the-earliest-rows-are-kept",
        at=REDUCE,
        old="task.nearest.cut(rows)",
        new="tuple(sorted(rows, key=lambda row: row.ts))[: task.nearest.limit]",
        source="seed 004, 6.6.1: results of searches",
        says="The rows are put in the order of time, as those of a query, and then cut.",
    ),
)
