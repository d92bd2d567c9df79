"""For every claim of the protocols: can evidence judge it, by what, and if not, what is missing?"""

import inspect
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from tidemark.checks.evidence.histories.claims import CLAIMS as HISTORY_CLAIMS
from tidemark.checks.evidence.monitors.run import MONITORS
from tidemark.checks.evidence.symptoms import SYMPTOMS
from tidemark.spec.language.expr import variables_read
from tidemark.spec.language.protocol import resolve
from tidemark.spec.language.spec import Property

_CLASSES = {"timetick": "TimeTick", "delete_buffers": "DeleteBuffers", "flowgraph": "FlowGraph"}
PROTOCOLS = {
    name: f"tidemark.spec.{name}:{_CLASSES.get(name, name.capitalize())}"
    for name in (
        "store", "tso", "proxy", "ddl", "timetick", "scheduler", "ids", "meta", "aliases", "retries",
        "sessions", "allocation", "ownership", "flush", "garbage", "paused", "streaming", "transactions",
        "stream", "dispatch", "segments", "reads", "parts", "queries", "deletes", "delete_buffers",
        "flowgraph",
    )
}  # fmt: skip
"""Name -> reference, in the order in which they rest on each other."""

OF_CLIENTS = {
    "tso.ordered": "history.ordered",
    "paused.acknowledged_rows_are_not_lost": "history.strong",
    "paused.rows_that_were_read_are_not_lost": "history.kept",
    "reads.strong_sees_what_was_acknowledged": "history.strong",
    "reads.session_sees_its_own_writes": "history.session",
    "reads.bounded_misses_only_what_is_recent": "history.bounded",
    "reads.answers_reach_their_guarantee": "history.customized",
}
"""Claims that what clients saw decides: claim of a protocol -> claim about histories."""

_DISK = "a power failure at a chosen moment: what a disk had not forced is seen afterwards only"
_END = "an end: evidence is finite"
_TRACE = {
    "store.what_was_answered_is_durable": _DISK + "; the consequence is judged as history.strong",
    "store.what_was_read_is_durable": _DISK + "; the consequence is judged as history.kept",
    "store.a_read_sees_what_was_answered_before": "a trace of the calls of the store: nothing logs its reads",
    "store.only_the_present_term_adds": "what is judged is its consequence, tso.saved_never_goes_back: the "
    "history of etcd does not say who has put a value",
    "store.the_durable_value_never_goes_back": "what is judged is its consequence, tso.saved_never_goes_back",
    "tso.what_ended_is_over": "a trace of `crash` and `allocate`: an answer does not name the "
    "process that gave it",
    "tso.answers_are_final": "nothing can: an answer is seen once",
    "tso.calls_end": "client histories with the oracle's own calls: inserts wait for more than the oracle",
    "timetick.ticks_are_below_all_to_come": "what is judged is its consequence, timetick.watermark_promise; "
    "the promise itself speaks about messages under way",
    "timetick.whoever_may_append_is_waited_for": "a trace of `stamp`, `append` and `forget`: "
    "messages under way "
    "are not logged; its consequence is judged as timetick.watermark_promise",
    "timetick.a_dead_coordinator_sends_nothing": "a common order of the broker and the processes: a trace of "
    "`crash_coordinator` and `send_tick`",
    "timetick.ticks_advance": "an end: evidence is finite, and nothing says how long a tick may take",
    "flush.nothing_lost": "the buffers: they are in memory. What is lost for good shows in client histories "
    "(history.strong, history.kept) and as flush.checkpoint_before_earliest_unsynced",
    "flush.a_dead_node_does_nothing": "a trace: the memory of a dead node cannot be seen",
    "proxy.reported_is_below_all_to_come": "a trace of `report` and `append`: reports are not logged; the "
    "consequence is judged as timetick.watermark_promise",
    "ddl.appends_are_above_the_report": "a trace of `report` and `append`; the consequence is judged as "
    "timetick.watermark_promise",
    "paused.nothing_follows_its_tick": "what is judged is the same rule under another name, "
    "timetick.watermark_promise",
    "scheduler.writes_are_above_the_report": "what is judged is its consequence, timetick.watermark_promise; "
    "the claim itself speaks about writes under way",
    "sessions.who_serves_is_known_or_refused": "a trace of `accept`, `fence` and `forget`; "
    "its consequence is judged as timetick.watermark_promise",
    "queries.an_answer_is_complete": "a trace of `deliver` and `reply`; its consequence is judged as "
    "history.strong",
    "queries.a_caller_is_answered_once": "nothing can: a client waits for one answer",
    "allocation.no_row_joins_an_ended_segment": "a trace of `assign` and `end`; its consequence is judged as "
    "flush.checkpoint_before_earliest_unsynced",
    "ownership.checkpoint_before_earliest_unsettled": "what is judged is the same rule under another name, "
    "flush.checkpoint_before_earliest_unsynced",
    "ownership.stored_once": "what is judged is the same rule under another name, flush.stored_once",
    "ownership.what_is_gone_has_no_checkpoint": "a trace of `store` and `collect`: the history of etcd does "
    "not say whether the channel of a key was dropped",
    "ownership.stored_never_goes_back": "what is judged is the same rule under another name, "
    "flush.stored_never_goes_back",
    "deletes.the_checkpoint_passes_no_unsynced_delete": "a trace of `take_delete`, `record` and "
    "`store_checkpoint`: the content of a level-zero segment is not logged; its consequence is judged as "
    "history.kept",
    "deletes.deleted_rows_stay_deleted": "a trace of `begin_load` and `read_segment`; its consequence is "
    "judged as history.strong",
    "deletes.only_older_rows_are_removed": "a trace of `compact`: which rows a compaction leaves out is not "
    "logged; its consequence is judged as history.strong",
    "deletes.rows_without_delete_are_shown": "a trace of `begin_load` and `read_segment`; its consequence is "
    "judged as history.strong",
    "deletes.the_checkpoint_never_goes_back": "what is judged is the same rule under another name, "
    "flush.stored_never_goes_back",
    "delete_buffers.the_checkpoint_passes_no_unsynced_delete": "a trace of `take_delete`, `record` and "
    "`move_checkpoint`: which deletes a save has is not logged; its consequence is judged as history.kept",
    "delete_buffers.a_position_passes_no_unsynced_row": "a trace of `take_row` and `record`; its consequence "
    "is judged as flush.checkpoint_before_earliest_unsynced",
    "delete_buffers.deleted_rows_stay_deleted": "a trace of `begin_load` and `read_segment`; its consequence "
    "is judged as history.strong",
    "delete_buffers.rows_without_delete_are_shown": "a trace of `begin_load` and `read_segment`; its "
    "consequence is judged as history.strong",
    "garbage.named_files_are_there": "a trace of `record` and `delete`: deletions are not logged; "
    "its consequence is judged as history.kept",
    "paused.flushed_segments_are_complete": "what is judged is its consequence: rows that are fetched for a "
    "flushed segment, and flush.checkpoint_before_earliest_unsynced",
    "stream.a_position_claims_only_what_is_stored": "a trace of `append` and `store`: its consequence "
    "is judged as flush.checkpoint_before_earliest_unsynced",
    "stream.packs_advance": "a trace of `read_tick`; on a query node its consequence is judged as "
    "reads.service_time_never_goes_back",
    "dispatch.packs_come_in_order": "a trace of `send_main` and `send_deputy`; on a query node its "
    "consequence is judged as reads.service_time_never_goes_back",
    "segments.rows_are_served": "a trace of `apply_insert`, `end_load` and `raise_safe`; its consequence is "
    "judged as history.strong",
    "segments.deletes_are_served": "a trace of `apply_delete`, `begin_load` and `end_load`; its consequence "
    "is judged as history.strong",
    "segments.reads_find_what_was_written": "a trace of all steps; what must and what may be in an answer is "
    "judged as history.strong and history.written",
    "segments.service_time_never_goes_back": "what is judged is the same rule under another name, "
    "reads.service_time_never_goes_back",
    "reads.answers_are_final": "nothing can: an answer is seen once",
    "reads.answers_are_exact": "a trace of `check` and `answer`: an answer does not carry its timestamp; "
    "what must and what may be in it is judged as history.strong and history.written",
    "parts.every_channel_reaches_the_guarantee": "a trace of `begin` and `look`; for customized reads it is "
    "judged as reads.answers_reach_their_guarantee",
    "parts.recent_reads_reach_what_was_acknowledged": "a trace of `begin` and `look`; its consequence is "
    "judged as reads.strong_sees_what_was_acknowledged",
    "parts.answers_are_final": "nothing can: an answer is seen once",
}
"""Claim -> what is missing, and why; of one that is not here, what it reads, and an end of a leads_to. The
refinement of a trace judges every claim on the states of the trace."""


@dataclass(frozen=True)
class Ability:
    """What evidence can say about a claim."""

    claim: str
    kind: str
    by: tuple[str, ...]
    """Monitors, or the claim about histories."""
    missing: str
    """Why nothing but a trace, or nothing at all, can judge it; empty if something can."""


def spec_claims(protocols: Collection[str] = PROTOCOLS) -> tuple[Property, ...]:
    """The claims of these protocols, without lemmas; other names are passed over."""
    specs = (resolve(reference).trace() for name, reference in PROTOCOLS.items() if name in protocols)
    left_out = ("lemma", "assumption")
    return tuple(prop for spec in specs for prop in spec.properties if prop.kind not in left_out)


def sentence_of(claim: str) -> str:
    """What a claim says, without a look at the rest of its protocol; empty if it is none of a protocol."""
    protocol, _, name = claim.partition(".")
    of = getattr(resolve(PROTOCOLS[protocol]), name, None) if protocol in PROTOCOLS else None
    return " ".join((inspect.getdoc(of) or "").split("\n\n")[0].split()) if of else ""


def abilities() -> Iterator[Ability]:
    """One line a claim, in the order of the protocols."""
    for claim in spec_claims():
        by = [one.name for one in MONITORS if one.property_id == claim.id]
        if claim.id in OF_CLIENTS:
            by.append(OF_CLIENTS[claim.id])
        seen = sorted(one.name for one in variables_read(claim.expr) if not one.constant)
        of_kind = _END if claim.kind == "leads_to" else f"a trace that sees `{'`, `'.join(seen)}`"
        missing = "" if by else _TRACE.get(claim.id, of_kind)
        if claim.kind == "reachable":
            missing = "a witness says that something can happen: models show it, and a trace that goes there"
        yield Ability(claim.id, claim.kind, tuple(by), missing)


def lines() -> list[str]:
    """The table as text."""
    found = [
        f"{one.claim:<50} {', '.join(one.by) if one.by else 'not judged; it needs ' + one.missing}"
        for one in abilities()
    ]
    found += [f"{claim:<50} client histories: {sentence}" for claim, sentence in HISTORY_CLAIMS.items()]
    rules = [f"  {one.name:<24} {one.rule} Needs {', '.join(one.needs or one.kinds)}." for one in MONITORS]
    known = [f"  {one.name:<24} {one.means} See {one.finding}." for one in SYMPTOMS]
    return [*found, "", "What the monitors look at:", *rules, "", "Symptoms that are explained:", *known]
