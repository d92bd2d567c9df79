"""Mutants of query nodes, of the proxy's read path and of sessions: hazards and real bugs.

Most are compared with the variant of the specification that makes the same mistake, so that what is refuted
is a property and not only the likeness; where there is no such variant, with the specification itself.
"""

from tidemark.models.mutation.patches import Edit, Host, Patch, patches
from tidemark.models.protocols.reads.program import reads
from tidemark.models.protocols.reads.program.handover import hand_over

MUTANTS_OF = "tidemark.models.protocols.reads.mutants"


def _against(variant: str, entry: str) -> Host:
    return Host(entry, reads).like(protocol=f"{MUTANTS_OF}.{variant}")


STRONG, PACK, LOAD = "reads-impl-strong", "reads-impl-one-pack", Host("reads-impl-load", reads)

SERVICE = "querynode/service_time.py:ServiceTime."
PIPELINE = "querynode/pipeline.py:ShardPipeline."
SEGMENT = "querynode/segments.py:Segment."
DELEGATOR = "querynode/delegator.py:ShardDelegator."
SESSION = "client/session.py:Session."
PATH = "proxy/reads.py:ReadPath."
ASK = "proxy/reads.py:Reader._ask"

EXACT = "reads.answers_are_exact"
REACHED = "reads.answers_reach_their_guarantee"
APPLIED = "reads.service_time_is_applied"

MUTANTS = patches(
    __name__,
    # Service time and waiting.
    Patch(
        "reads-do-not-wait",
        at=SERVICE + "wait",
        old="self.value >= read.guarantee",
        new="True",
        killer=REACHED,
        on=_against("specification:AnswersWhatItHas", STRONG),
        source="facts 6.1: downgradeTsafe",
        says="A read is answered at the service time that there is.",
    ),
    Patch(
        "woken-is-served",
        at=SERVICE + "_wake",
        old="read.stage = ReadStage.WAITING",
        new="read.stage, read.moment = ReadStage.READING, self.value",
        also=(
            Edit(
                SERVICE + "wait",
                "await self._sleep(read)",
                "await self._sleep(read)\n            return read.moment",
            ),
        ),
        killer=REACHED,
        on=_against("specification:WokenIsServed", STRONG),
        source="B39, H34",
        says="A read that was woken does not look again (B39).",
    ),
    Patch(
        "raise-wakes-nobody",
        at=SERVICE + "advance",
        old="self._wake()",
        new="pass",
        killer="execution",
        on=_against("specification:RaiseWakesNobody", STRONG),
        source="H34: the update without a broadcast",
        says="The service time is raised and the sleepers are not told: they sleep for ever.",
    ),
    Patch(
        "release-wakes-nobody",
        at=SERVICE + "close",
        old="self._wake()",
        new="pass",
        killer="execution",
        on=_against("specification:CloseWakesNobody", "reads-impl-release"),
        source="H34: close must broadcast too",
        says="A channel is released and the sleepers are not told.",
    ),
    Patch(
        "raised-before-the-deletes",
        at=PIPELINE + "process",
        old="for is_needed in needed:\n",
        new="for place, is_needed in enumerate(needed):\n"
        "            if place == len(pack.inserts):\n"
        '                await self._preemption.point("pipeline.tsafe")\n'
        "                self._delegator.finish_pack(pack.end)\n",
        killer=APPLIED,
        on=_against("specification:RaisedBeforeTheDeletes", PACK),
        source="facts 6.1: the delete node",
        says="The insert node raises the service time; the deletes of the pack are still to come.",
    ),
    Patch(
        "deletes-before-rows",
        at=PIPELINE + "process",
        old="[*pack.inserts, *pack.deletes]",
        new="[*pack.deletes, *pack.inserts]",
        killer="reads.deletes_find_the_rows_of_their_pack",
        on=Host(PACK, reads),
        source="seed 002, insert before delete",
        says="The deletes of a pack are applied before its rows: they hit nothing.",
    ),
    # What an answer shows.
    Patch(
        "rows-of-the-future",
        at=SEGMENT + "visible",
        old="row.ts <= moment and not",
        new="not",
        killer=EXACT,
        on=_against("specification:RowsOfTheFuture", "reads-impl-pages"),
        source="facts 6.1: rows without MVCC",
        says="All rows that are held are shown, also those above the moment of the answer.",
    ),
    Patch(
        "deletes-ignore-timestamps",
        at=SEGMENT + "is_deleted",
        old="bisect_left(deletes, row.ts + 1)",
        new="0",
        killer=EXACT,
        on=Host(PACK, reads),
        source="seed 002, insert before delete: without timestamps",
        says="A row that was inserted again after the delete, in the same pack, is deleted too.",
    ),
    # Guarantees.
    Patch(
        "part-without-its-guarantee",
        at=PATH + "execute",
        old="task.guarantee = await",
        new="await",
        killer="reads.strong_sees_what_was_acknowledged",
        on=_against("specification:PartWithoutItsGuarantee", STRONG),
        source="B40",
        says="A part of the request does not carry the guarantee (B40).",
    ),
    Patch(
        "grace-is-taken-twice",
        at=PATH + "_guarantee",
        old=" - self._config.graceful_ts",
        new=" - 2 * self._config.graceful_ts",
        killer="reads.bounded_misses_only_what_is_recent",
        on=_against("specification:TheGraceIsTakenTwice", "reads-impl-clock-behind"),
        source="facts 6.2: Bounded; H35",
        says="Client and proxy both take the grace off.",
    ),
    Patch(
        "grace-is-forgotten",
        at=PATH + "_guarantee",
        old=" - self._config.graceful_ts",
        new="",
        killer="reads.guarantees_were_issued",
        on=_against("specification:TheGraceIsForgotten", "reads-impl-bounded"),
        source="H35",
        says="A bounded read waits for the proxy's own clock.",
    ),
    Patch(
        "pages-have-their-own-time",
        at=ASK,
        old="task.moments.get(channel)",
        new="None",
        killer="reads.pages_are_of_one_moment",
        on=_against("specification:PagesHaveTheirOwnTime", "reads-impl-pages"),
        source="B40: iterators",
        says="A further page is answered at the service time that there is (B40).",
    ),
    Patch(
        "writes-are-not-kept",
        at=SESSION + "wrote",
        old="self._note(ts)",
        new="pass",
        killer="reads.session_sees_its_own_writes",
        on=_against("specification:WritesAreNotKept", "reads-impl-two-nodes"),
        source="facts 6.2: Session",
        says="A session does not keep the timestamps of its writes.",
    ),
    Patch(
        "answers-are-not-kept",
        at=SESSION + "saw",
        old="self._note(moment)",
        new="pass",
        killer="reads.session_never_goes_back",
        on=Host("reads-impl-two-readers", reads).like(
            protocol="tidemark.spec.reads.variants.other_rules:WritesAlone"
        ),
        source="facts 6.2: Session",
        says="A session keeps the timestamps of its writes alone, as Milvus's clients do.",
    ),
    # Several query nodes, one asked after the other.
    Patch(
        "asks-the-next-for-anything",
        at=ASK,
        old="task.guarantee if moment is None else moment",
        new="task.guarantee if replica is self._replicas.of(channel)[0] else ZERO",
        killer=REACHED,
        on=Host("reads-impl-hand-over", hand_over).like(
            protocol=f"{MUTANTS_OF}.specification:TheMovedDoNotWait"
        ),
        source="facts 6.1, 6.3; B40",
        says="The next node is asked without the guarantee.",
    ),
    Patch(
        "asks-one-alone",
        at=ASK,
        old="self._replicas.of(channel):",
        new="self._replicas.of(channel)[:1]:",
        on=Host("reads-impl-hand-over", hand_over),
        source="facts 6.3",
        says="A read ends with the first node, although another one serves the channel.",
    ),
    # Loads.
    Patch(
        "delete-falls-between-replay-and-service",
        at=DELEGATOR + "_replay",
        old="if not batch:\n",
        new='await self._preemption.point("load.replay")\n            if not batch:\n',
        on=LOAD,
        source="B38: a high-water mark",
        says="A delete that comes after the last look at the buffer misses the segment (B38).",
    ),
    Patch(
        "replay-from-the-present",
        at=DELEGATOR + "load",
        old="segment, request.replay_from",
        new="segment, self.service_time.value",
        killer=APPLIED,
        on=LOAD,
        source="B34",
        says="Deletes are replayed from where the channel is now, not from where the segment needs them.",
    ),
    Patch(
        "loaded-segment-grows-again",
        at=DELEGATOR + "insert",
        old="not self.excluded.excludes(row.segment_id, row.ts)",
        new="True",
        killer="a_segment_is_served_once",
        on=LOAD,
        source="facts 6.1: excluded timestamps",
        says="A segment that was loaded between filter and insert node begins to grow again.",
    ),
    Patch(
        "reads-do-not-wait",
        at="querynode/service_time.py:ServiceTime.wait",
        old="self.value >= read.guarantee",
        new="True",
        walked=Host("reads-driven", reads),
        source="facts 6.1: downgradeTsafe",
        says="A read is answered at the service time that there is.",
    ),
    Patch(
        "the-next-is-asked-for-anything",
        at="proxy/reads.py:Reader._ask",
        old="task.guarantee if moment is None else moment",
        new="task.guarantee if replica is self._replicas.of(channel)[0] else ZERO",
        walked=Host("reads-hand-over-driven", hand_over),
        tier="full",
        source="facts 6.1, 6.3; B40",
        says="The next node is asked without the guarantee.",
    ),
)

REDUCE = "proxy/reads.py:ReadPath._reduce"

PATH_SLIPS = patches(
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
