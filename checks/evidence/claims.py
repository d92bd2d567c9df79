"""For every claim of the protocols: can evidence judge it, by what, and if not, what is missing?"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from tidemark.checks.evidence.histories.claims import CLAIMS as HISTORY_CLAIMS
from tidemark.checks.evidence.monitors.run import MONITORS
from tidemark.checks.evidence.symptoms import SYMPTOMS
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

_MEMORY = "a trace: the value is in a process's memory, and no line, key or message has it"
_DISK = "a power failure at a chosen moment: what a disk had not forced is seen afterwards only"
_END = "an end: evidence is finite"
_TRACE = {
    "store.what_was_answered_is_durable": _DISK + "; the consequence is judged as history.strong",
    "store.what_was_read_is_durable": _DISK + "; the consequence is judged as history.kept",
    "store.a_read_sees_what_was_answered_before": "a trace of the calls of the store: nothing logs its reads",
    "store.what_was_refused_has_no_effect": "a trace of `refuse`: a refused save is not logged",
    "store.only_the_present_term_adds": "what is judged is its consequence, tso.saved_never_goes_back: the "
    "history of etcd does not say who has put a value",
    "store.nothing_is_invented": "a trace of `begin`: what was asked for is not logged",
    "store.the_durable_value_never_goes_back": "what is judged is its consequence, tso.saved_never_goes_back",
    "tso.logical_never_carries": "a trace of `allocate`: answers carry one number, not the counter "
    "of the object",
    "tso.a_new_object_has_a_new_millisecond": "a trace of `publish`: published objects are not logged",
    "tso.what_ended_is_over": "a trace of `crash` and `allocate`: an answer does not name the "
    "process that gave it",
    "tso.answers_are_final": "nothing can: an answer is seen once",
    "tso.an_update_goes_step_by_step": "a trace of `decide`, `save` and `publish`: renewals are not logged",
    "tso.calls_end": "client histories with the oracle's own calls: inserts wait for more than the oracle",
    "timetick.ticks_are_below_all_to_come": "what is judged is its consequence, timetick.watermark_promise; "
    "the promise itself speaks about messages under way",
    "timetick.a_round_waits_for_every_session": "a trace of `accept` and `close_round`: reports are "
    "not logged",
    "timetick.a_round_is_the_minimum": "a trace of `accept` and `close_round`: reports are not logged",
    "timetick.a_taken_round_leaves_none_behind": "a trace of `take_round`",
    "timetick.a_full_queue_keeps_its_round": "a trace of `close_round` and `drop_round`",
    "timetick.a_round_is_sent_to_its_end": "a trace of `take_round`, `send_tick` and `end_round`",
    "timetick.reports_wait_for_a_round": "a trace of `accept`, `close_round` and `drop_round`",
    "timetick.reports_are_used_once": "a trace of `accept`, `close_round` and `drop_round`",
    "timetick.whoever_may_append_is_waited_for": "a trace of `stamp`, `append` and `forget`: "
    "messages under way "
    "are not logged; its consequence is judged as timetick.watermark_promise",
    "timetick.whoever_serves_is_waited_for": "a trace of `accept` and `forget`",
    "timetick.only_known_sessions_have_entries": "a trace of `accept`: accepted reports are not logged",
    "timetick.what_counts_as_sent_is_in_the_log": "a trace of `send_tick`: what a coordinator "
    "counts as sent is "
    "in its memory",
    "timetick.a_dead_coordinator_sends_nothing": "a common order of the broker and the processes: a trace of "
    "`crash_coordinator` and `send_tick`",
    "timetick.a_message_goes_one_way": "a trace of `ask`, `stamp`, `append` and `drop`",
    "timetick.proxies_outlive_the_coordinator": "a trace of `crash_coordinator` and `append`",
    "timetick.ticks_advance": "an end: evidence is finite, and nothing says how long a tick may take",
    "timetick.ticks_come_to_count": _MEMORY,
    "flush.reset_only_by_greater_checkpoint": "a trace of `read_flush_ts` and `clear_flush_ts`: the reset is "
    "not logged",
    "flush.reset_means_durable": "a trace of `clear_flush_ts`: the reset is not logged",
    "flush.nothing_lost": "the buffers: they are in memory. What is lost for good shows in client histories "
    "(history.strong, history.kept) and as flush.checkpoint_before_earliest_unsynced",
    "flush.flush_request_not_lost": "a trace of `deliver_flush` and `clear_flush_ts`",
    "flush.flushed_is_recorded": "a trace of `finish_sync`: what a node believes is in its memory",
    "flush.a_dead_node_does_nothing": "a trace: the memory of a dead node cannot be seen",
    "flush.only_the_owner_records": "a trace of `record` and `unassign`: a save does not say who owned the "
    "channel when it was recorded",
    "flush.a_flag_means_that_a_flush_is_due": "a trace of `submit_checkpoint`: the flag is not logged",
    "flush.flush_ts_is_reset": _MEMORY,
    "proxy.reported_is_below_all_to_come": "a trace of `report` and `append`: reports are not logged; the "
    "consequence is judged as timetick.watermark_promise",
    "proxy.reported_is_given_to_nobody_else": "a trace of `report` and `stamp`",
    "proxy.appends_are_above_the_report": "a trace of `report` and `append`",
    "proxy.min_ts_never_goes_back": "a trace of `commit` and `pop`: the statistics are in memory",
    "proxy.min_ts_stays_above_its_report": "a trace of `commit` and `report`",
    "proxy.unfinished_tasks_are_tracked": "a trace of `commit` and `pop`",
    "proxy.no_ghost_is_tracked": "a trace of `commit` and `pop`",
    "proxy.least_and_greatest_are_exact": "a trace of `commit` and `pop`",
    "proxy.reports_never_go_back": "a trace of `report`",
    "proxy.the_gate_waits_for_nobody_to_come": "a trace of `take_snapshot`",
    "proxy.a_batch_that_ended_is_passed": "a trace of `publish`",
    "ddl.minimum_is_below_all_to_come": "a trace of `report` and `append`",
    "ddl.minimum_is_given_to_nobody_else": "a trace of `report` and `stamp`",
    "ddl.appends_are_above_the_report": "a trace of `report` and `append`; the consequence is judged as "
    "timetick.watermark_promise",
    "ddl.minima_never_go_back": "a trace of `finish` and `note`: the minima are in memory",
    "ddl.a_finished_task_stays_finished": "a trace of `finish`",
    "paused.nothing_follows_its_tick": "what is judged is the same rule under another name, "
    "timetick.watermark_promise",
    "streaming.ticks_cover_what_is_acknowledged": "a trace of `enter`, `acknowledge` and `write_tick`",
    "streaming.a_reader_misses_nothing_later": "a trace of `enter` and `append`",
    "streaming.a_start_leaves_out_only_what_is_passed": "a trace of `collect` and `append`",
    "streaming.no_message_is_lost": "a trace of `consume`, `store` and `move_flusher`",
    "streaming.recovery_finds_its_start": "a trace of `truncate` and `move_flusher`",
    "scheduler.a_queue_is_in_order_of_time": "a trace of `enqueue`: the place in a queue is not logged",
    "scheduler.new_timestamps_are_greatest": "a trace of `enqueue`: the place in a queue is not logged",
    "scheduler.one_ddl_is_under_way": "a trace of `issue` and `settle`: what becomes of a call that was "
    "given up is not logged",
    "scheduler.ddls_take_effect_in_order": "a trace of `carry` with the timestamps of the proxy's tasks",
    "scheduler.writes_are_above_the_report": "what is judged is its consequence, timetick.watermark_promise; "
    "the claim itself speaks about writes under way",
    "scheduler.notified_once": "a trace of `tell`: what a caller is told is in a process's memory",
    "scheduler.nobody_waits_for_a_closed_proxy": "a trace of `ask`, `tell` and `end_close`",
    "scheduler.the_active_tasks_are_known": _MEMORY,
    "ids.ids_are_unique": "a trace of `give`: which row has which id is in the binlogs, which are not read",
    "meta.what_was_replaced_is_not_served": "a trace of `begin`, `hit` and `insert`: no line says "
    "which schema a request was checked against",
    "meta.a_request_sees_the_schema_of_its_time": "a trace of `begin` and `hit`, with the times of changes",
    "meta.caches_are_not_behind": "a trace of `insert` and `invalidate`: the cache is in a process's memory",
    "aliases.an_alias_is_no_collection": "a trace of `create` and `create_alias`",
    "aliases.an_alias_points_to_a_collection": "a trace of `drop` and `create_alias`",
    "aliases.a_request_is_served_what_its_name_meant": "a trace of `begin`, `hit` and `insert`: no line says "
    "which collection an alias has named",
    "aliases.what_was_replaced_is_not_served": "a trace of `hit` and `insert`, with the times of changes",
    "aliases.caches_are_not_behind": "a trace of `insert` and `invalidate`: it is a process's memory",
    "retries.what_is_accepted_is_for_the_newest_schema": "a trace of `begin` and `accept`",
    "retries.each_attempt_is_for_a_change": "a trace of `refuse`",
    "retries.a_retry_succeeds_when_the_schema_is_settled": "a trace of `read`, `refuse` and of changes",
    "sessions.the_view_is_the_store_of_its_revision": "a trace of `learn` and `forget`, with "
    "the revisions of the store",
    "sessions.who_serves_is_known_or_refused": "a trace of `accept`, `fence` and `forget`; "
    "its consequence is judged as timetick.watermark_promise",
    "sessions.no_live_session_is_refused": "a trace of `expire` and `fence`",
    "transactions.committed_bodies_are_delivered": "a trace of `begin`, `append`, `commit` "
    "and `read`: no line says which transaction a message belongs to",
    "transactions.nothing_else_is_delivered": "a trace of `commit` and `read`, with the same",
    "transactions.a_start_covers_what_is_open": "a trace of `begin` and `read`, with the places of readers",
    "transactions.bodies_come_at_their_commit": "a trace of `commit` and `read`",
    "transactions.an_open_transaction_outlives_a_crash": "a trace of `expire` and `crash`",
    "transactions.all_that_is_over_ends_together": "a trace of `begin` and `expire`",
    "queries.an_answer_is_complete": "a trace of `deliver` and `reply`; its consequence is judged as "
    "history.strong",
    "queries.results_reach_their_own_request": "a trace of `answer` and `deliver`: results are not logged",
    "queries.a_caller_is_answered_once": "nothing can: a client waits for one answer",
    "queries.no_result_comes_too_early": "a trace of `hold`, `write` and `deliver`",
    "queries.nothing_is_kept_of_what_is_over": _MEMORY,
    "queries.nothing_is_written_to_a_closed_stream": "a trace of `write` and `close_stream`",
    "queries.nothing_is_held_after_a_release": _MEMORY,
    "queries.a_load_finds_what_was_persisted": _MEMORY,
    "queries.an_acknowledged_load_is_whole": "a trace of `load`, `hold_row` and `end_load`: rows are not "
    "logged one by one",
    "allocation.no_row_joins_an_ended_segment": "a trace of `assign` and `end`; its consequence is judged as "
    "flush.checkpoint_before_earliest_unsynced",
    "allocation.the_rows_of_an_ended_segment_were_read": "a trace of `append`, `tell` and `end`",
    "ownership.checkpoint_before_earliest_unsettled": "what is judged is the same rule under another name, "
    "flush.checkpoint_before_earliest_unsynced",
    "ownership.stored_once": "what is judged is the same rule under another name, flush.stored_once",
    "ownership.nothing_is_lost": _MEMORY,
    "ownership.one_tenure_is_taken": "a trace of `take` and `record_save`: a save does not say in which "
    "tenure it was sent",
    "ownership.only_an_open_save_brings_rows": "a trace of `record_save` and `learn`: answers are not logged",
    "ownership.what_is_gone_has_no_checkpoint": "a trace of `store` and `collect`: the history of etcd does "
    "not say whether the channel of a key was dropped",
    "ownership.what_lives_has_a_checkpoint": "a trace of `collect` and `create`: which channels live is in "
    "the coordinator's memory",
    "ownership.dropped_means_settled": "a trace of `ask_drop`: what is left in a buffer is not logged",
    "ownership.stored_never_goes_back": "what is judged is the same rule under another name, "
    "flush.stored_never_goes_back",
    "ownership.dropped_stays_dropped": "a trace of `drop`, `collect` and `create`",
    "ownership.dropped_segments_stay_dropped": "a trace of `drop_segment` and `record_save`",
    "deletes.the_checkpoint_passes_no_unsynced_delete": "a trace of `take_delete`, `record` and "
    "`store_checkpoint`: the content of a level-zero segment is not logged; its consequence is judged as "
    "history.kept",
    "deletes.no_consumed_delete_is_lost": _MEMORY,
    "deletes.dropped_means_applied": "a trace of `apply` and `drop`",
    "deletes.files_have_the_deletes_of_their_checkpoint": "a trace of `apply` and `drop`",
    "deletes.deleted_rows_stay_deleted": "a trace of `begin_load` and `read_segment`; its consequence is "
    "judged as history.strong",
    "deletes.only_older_rows_are_removed": "a trace of `compact`: which rows a compaction leaves out is not "
    "logged; its consequence is judged as history.strong",
    "deletes.rows_without_delete_are_shown": "a trace of `begin_load` and `read_segment`; its consequence is "
    "judged as history.strong",
    "deletes.the_checkpoint_never_goes_back": "what is judged is the same rule under another name, "
    "flush.stored_never_goes_back",
    "delete_buffers.no_consumed_delete_is_lost": _MEMORY,
    "delete_buffers.the_checkpoint_passes_no_unsynced_delete": "a trace of `take_delete`, `record` and "
    "`move_checkpoint`: which deletes a save has is not logged; its consequence is judged as history.kept",
    "delete_buffers.a_position_passes_no_unsynced_row": "a trace of `take_row` and `record`; its consequence "
    "is judged as flush.checkpoint_before_earliest_unsynced",
    "delete_buffers.dropped_means_applied": "a trace of `apply` and `drop_level`",
    "delete_buffers.deleted_rows_stay_deleted": "a trace of `begin_load` and `read_segment`; its consequence "
    "is judged as history.strong",
    "delete_buffers.rows_without_delete_are_shown": "a trace of `begin_load` and `read_segment`; its "
    "consequence is judged as history.strong",
    "flowgraph.no_row_is_lost": "a trace of `consume`, `upload` and `save`",
    "flowgraph.no_row_is_stored_twice": "a trace of `consume` and `save`",
    "flowgraph.a_position_says_what_is_stored": "a trace of `save`",
    "garbage.named_files_are_there": "a trace of `record` and `delete`: deletions are not logged; "
    "its consequence is judged as history.kept",
    "garbage.files_under_way_are_there": "a trace of `write` and `delete`",
    "garbage.files_that_are_read_are_there": "a trace of `begin_read`, `end_read` and `delete`",
    "garbage.no_record_outlives_its_collection": "a trace of `forget_files` and `forget`",
    "paused.flushed_segments_are_complete": "what is judged is its consequence: rows that are fetched for a "
    "flushed segment, and flush.checkpoint_before_earliest_unsynced",
    "stream.a_position_claims_only_what_is_stored": "a trace of `append` and `store`: its consequence "
    "is judged as flush.checkpoint_before_earliest_unsynced",
    "stream.nothing_is_stored_twice": "a trace of `store`",
    "stream.packs_leave_nothing_out": "a trace of `read_message` and `read_tick`: packs are not logged",
    "stream.what_was_read_is_kept": "a trace of `read_message` and `store`",
    "stream.a_drop_ends_its_pack": "a trace of `read_tick` and `store`: packs are not logged",
    "stream.packs_hold_their_interval": "a trace of `read_message` and `read_tick`: packs are not logged",
    "stream.packs_advance": "a trace of `read_tick`; on a query node its consequence is judged as "
    "reads.service_time_never_goes_back",
    "stream.positions_never_go_back": "a trace of `store`",
    "stream.a_position_has_the_place_of_what_comes_next": "a trace of `read_message`, `read_tick` and "
    "`store`: places are not logged",
    "stream.who_need_not_read_waits": "a trace of `read_message` and `read_tick`",
    "dispatch.nothing_is_left_out": "a trace of `append` and of what targets are sent: packs are not logged",
    "dispatch.nothing_else_is_sent": "a trace of `send_main` and `send_deputy`: packs are not logged",
    "dispatch.nothing_is_sent_twice": "a trace of `send_main` and `send_deputy`: packs are not logged",
    "dispatch.packs_come_in_order": "a trace of `send_main` and `send_deputy`; on a query node its "
    "consequence is judged as reads.service_time_never_goes_back",
    "dispatch.who_is_at_the_main_is_where_it_is": _MEMORY,
    "dispatch.dispatchers_are_there_for_their_targets": _MEMORY,
    "dispatch.a_target_has_room_for_one_pack": "a trace of `send_main`, `send_deputy` and `take`",
    "dispatch.who_has_room_is_not_split_off": "a trace of `take` and `split`",
    "segments.rows_are_served": "a trace of `apply_insert`, `end_load` and `raise_safe`; its consequence is "
    "judged as history.strong",
    "segments.deletes_are_served": "a trace of `apply_delete`, `begin_load` and `end_load`; its consequence "
    "is judged as history.strong",
    "segments.no_row_is_served_twice": "a trace of `apply_insert` and `end_load`: an answer names no segment",
    "segments.reads_find_what_was_written": "a trace of all steps; what must and what may be in an answer is "
    "judged as history.strong and history.written",
    "segments.sealed_segments_have_no_other_deletes": _MEMORY,
    "segments.service_time_never_goes_back": "what is judged is the same rule under another name, "
    "reads.service_time_never_goes_back",
    "reads.service_time_is_applied": "a trace of `apply_insert`, `apply_delete` and `raise_safe`",
    "reads.nothing_above_the_pack_is_applied": "a trace of `take_pack`, `apply_insert` and `apply_delete`",
    "reads.deletes_find_the_rows_of_their_pack": "a trace of `apply_insert` and `apply_delete`",
    "reads.a_stopped_replica_rests": "a trace of `stop`, `take_pack`, `apply_insert` and `apply_delete`",
    "reads.answers_are_final": "nothing can: an answer is seen once",
    "reads.answers_are_exact": "a trace of `check` and `answer`: an answer does not carry its timestamp; "
    "what must and what may be in it is judged as history.strong and history.written",
    "reads.one_replica_never_goes_back": "a trace of `check`: an answer does not name its replica",
    "reads.strong_never_goes_back": "a trace of `check`: an answer does not carry its timestamp",
    "reads.session_never_goes_back": "a trace of `check`: an answer does not carry its timestamp",
    "reads.guarantees_were_issued": "a trace of `begin_bounded` and of the oracle: guarantees are not logged",
    "reads.pages_are_of_one_moment": "a trace of `begin_page` and `check`",
    "parts.pages_show_what_the_first_has_shown": "a trace of `collect` and `serve`: histories have no pages",
    "parts.pages_of_a_channel_are_of_one_moment": "a trace of `begin_page` and `look`",
    "parts.every_channel_reaches_the_guarantee": "a trace of `begin` and `look`; for customized reads it is "
    "judged as reads.answers_reach_their_guarantee",
    "parts.every_channel_is_exact": "a trace of `look`, `collect` and `serve`",
    "parts.recent_reads_reach_what_was_acknowledged": "a trace of `begin` and `look`; its consequence is "
    "judged as reads.strong_sees_what_was_acknowledged",
    "parts.moments_were_issued": "a trace of `look` and of the oracle",
    "parts.answers_are_final": "nothing can: an answer is seen once",
}
"""Claim -> what is missing; an end, of a leads_to that is not here. The refinement of a trace judges every
claim on the states of the trace."""


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


def abilities() -> Iterator[Ability]:
    """One line a claim, in the order of the protocols."""
    for claim in spec_claims():
        by = [one.name for one in MONITORS if one.property_id == claim.id]
        if claim.id in OF_CLIENTS:
            by.append(OF_CLIENTS[claim.id])
        of_kind = _END if claim.kind == "leads_to" else ""
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
