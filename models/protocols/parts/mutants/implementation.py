"""Mutants of the read path of a cluster.

Some are compared with the variant of the specification that makes the same mistake: so a property is refuted,
and not only the likeness.
"""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.parts.program import parts

VARIANTS = "tidemark.models.protocols.parts.mutants.specification"
READ = Host("parts-impl-read", parts)

SERVE = "queries/reads.py:NodeFollower._serve"
REDUCE = "proxy/reads.py:ReadPath._reduce"
COLLECTOR = "queries/requests.py:ResultCollector."

MUTANTS = patches(
    __name__,
    Patch(
        "a-node-forgets-the-moment",
        at=SERVE,
        old="mvcc=moment",
        new="mvcc=None",
        killer="parts.pages_show_what_the_first_has_shown",
        on=Host("parts-impl-page-of-one", parts).like(protocol=f"{VARIANTS}:PagesNameNoMoment"),
        source="B40",
        says="A node lets a further page wait for the moment of the first, and answers at the service time.",
    ),
    Patch(
        "one-channel-reaches-the-guarantee",
        at=SERVE,
        old="try:\n",
        new="if channel != asked.channels[0]:\n"
        "            await self._node.serve(asked.channels[0], ShardRead(asked.guarantee))\n"
        "            read.guarantee = 0\n"
        "        try:\n",
        killer="parts.every_channel_reaches_the_guarantee",
        on=Host("parts-impl-read", parts).like(protocol=f"{VARIANTS}:OneChannelReachesTheGuarantee"),
        source="facts 6.1",
        says="A node waits for the guarantee on the first channel; the others are answered as they are.",
    ),
    Patch(
        "the-rows-of-one-channel-are-shown",
        at=REDUCE,
        old="answers.values() for",
        new="[answers[task.channels[-1]]] for",
        killer="parts.every_channel_is_exact",
        on=READ,
        source="facts 6.1",
        says="Of the answers of all channels the rows of the last one are kept.",
    ),
    Patch(
        "an-answer-has-a-later-moment",
        at=REDUCE,
        old="answer.moment for",
        new="answer.moment + 1 for",
        killer="parts.moments_were_issued",
        on=READ,
        source="facts 6.2; B40",
        says="The proxy notes a moment above the one that the channels have answered at.",
    ),
    Patch(
        "who-waits-is-not-told",
        at=COLLECTOR + "_end_if_told",
        old="query.over.set()",
        new="pass",
        killer="work_is_done",
        on=READ,
        source="facts 6.1",
        says="All channels have answered, and the request that waits is not told.",
    ),
    Patch(
        "the-first-channel-is-enough",
        at=COLLECTOR + "take",
        old="query.rows.update(result.shards)",
        new="from tidemark.impl.querynode.values import ShardAnswer\n\n"
        "        empty = dict.fromkeys(query.shards, ShardAnswer(0, ()))\n"
        "        query.rows.update({**empty, **result.shards} if result.shards else {})",
        killer="parts.every_channel_reaches_the_guarantee",
        on=Host("parts-impl-two-nodes", parts),
        source="seed 004, 6.2",
        says="The first answer ends the read; that of another channel is due, and is taken for empty.",
    ),
)
