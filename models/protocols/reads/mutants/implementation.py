"""Mutants of query nodes, of the proxy's read path and of sessions: hazards and real bugs.

Most are compared with the variant of the specification that makes the same mistake, so that what is refuted
is a property and not only the likeness; where there is no such variant, with the specification itself.
"""

from __future__ import annotations

from tidemark.models.mutation.patches import Edit, Host, Patch, patches
from tidemark.models.protocols.reads.handover import hand_over
from tidemark.models.protocols.reads.program import reads

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
        "deletes-of-the-future",
        at=SEGMENT + "is_deleted",
        old=" and deletes[first] <= moment",
        new="",
        killer=EXACT,
        on=_against("specification:DeletesOfTheFuture", "reads-impl-page-after-delete"),
        source="facts 6.1: deletes without MVCC",
        says="A delete above the moment of the answer hides its row.",
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
        on=Host("reads-impl-hand-over", hand_over).like(protocol=f"{MUTANTS_OF}.handover:TheMovedDoNotWait"),
        source="facts 6.1, 6.3; B40",
        says="The next node is asked without the guarantee.",
    ),
    Patch(
        "asks-one-alone",
        at=ASK,
        old="self._replicas.of(channel):",
        new="self._replicas.of(channel)[:1]:",
        killer="refinement",
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
        killer="refinement",
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
        "nothing-is-replayed",
        at=DELEGATOR + "load",
        old="await self._replay(segment, request.replay_from)",
        new="pass",
        killer="refinement",
        on=LOAD,
        source="B34, B35, B37, B38",
        says="A segment is served without the deletes that came before it was loaded.",
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
)
