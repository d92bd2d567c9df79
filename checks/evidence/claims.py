"""For every claim of the protocols: can evidence judge it, by what, and if not, what is missing?"""

import inspect
from collections.abc import Iterator
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

_END = "an end: evidence is finite"
_JUDGED_AS = {
    "history.strong": """store.what_was_answered_is_durable queries.an_answer_is_complete
        deletes.deleted_rows_stay_deleted deletes.only_older_rows_are_removed
        deletes.rows_without_delete_are_shown delete_buffers.deleted_rows_stay_deleted
        delete_buffers.rows_without_delete_are_shown segments.rows_are_served segments.deletes_are_served""",
    "history.strong and history.written": "segments.reads_find_what_was_written reads.answers_are_exact",
    "history.kept": """store.what_was_read_is_durable deletes.the_checkpoint_passes_no_unsynced_delete
        delete_buffers.the_checkpoint_passes_no_unsynced_delete garbage.named_files_are_there""",
    "history.strong and history.kept": "flush.nothing_lost",
    "tso.saved_never_goes_back": """store.only_the_present_term_adds
        store.the_durable_value_never_goes_back""",
    "timetick.watermark_promise": """timetick.ticks_are_below_all_to_come
        timetick.whoever_may_append_is_waited_for proxy.reported_is_below_all_to_come
        ddl.appends_are_above_the_report paused.nothing_follows_its_tick scheduler.writes_are_above_the_report
        sessions.who_serves_is_known_or_refused""",
    "flush.checkpoint_before_earliest_unsynced": """allocation.no_row_joins_an_ended_segment
        ownership.checkpoint_before_earliest_unsettled delete_buffers.a_position_passes_no_unsynced_row
        paused.flushed_segments_are_complete stream.a_position_claims_only_what_is_stored""",
    "flush.stored_once": "ownership.stored_once",
    "flush.stored_never_goes_back": "ownership.stored_never_goes_back deletes.the_checkpoint_never_goes_back",
    "reads.service_time_never_goes_back": """segments.service_time_never_goes_back stream.packs_advance
        dispatch.packs_come_in_order""",
    "reads.answers_reach_their_guarantee": "parts.every_channel_reaches_the_guarantee",
    "reads.strong_sees_what_was_acknowledged": "parts.recent_reads_reach_what_was_acknowledged",
}
"""What is judged, under this id -> the claims that show in it: it follows from them, or is the same rule."""

CONSEQUENCE = {claim: judged for judged, claims in _JUDGED_AS.items() for claim in claims.split()}
_ONCE = "nothing can: an answer is seen once"
_WHY = {
    "store.a_read_sees_what_was_answered_before": "a trace of the calls of the store: nothing logs its reads",
    "tso.answers_are_final": _ONCE,
    "tso.calls_end": "client histories with the oracle's own calls: inserts wait for more than the oracle",
    "timetick.ticks_advance": f"{_END}, and nothing says how long a tick may take",
    "queries.a_caller_is_answered_once": "nothing can: a client waits for one answer",
    "reads.answers_are_final": _ONCE,
    "parts.answers_are_final": _ONCE,
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


def spec_claims() -> tuple[Property, ...]:
    """The claims of the protocols, without lemmas."""
    specs = (resolve(reference).trace() for reference in PROTOCOLS.values())
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
        if claim.id in CONSEQUENCE:
            of_kind += f"; its consequence is judged as {CONSEQUENCE[claim.id]}"
        missing = "" if by else _WHY.get(claim.id, of_kind)
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
