"""Claims about the root coordinator's time tick: safety, liveness and witnesses.

The watermark promise rests on the oracle's order, on the reports of the sources, and on the assumptions named
by the options; the oracle's uniqueness is not needed.
"""

from tidemark.spec.language import (
    Bool,
    Self,
    all_of,
    any_of,
    exists,
    forall,
    implies,
    invariant,
    leads_to,
    reachable,
    transition_invariant,
)
from tidemark.spec.timetick.actions import TimeTickActions


class TimeTickClaims(TimeTickActions):
    """Sessions, reports, rounds and ticks of one root coordinator; the log refuses removed sources."""

    # ---- helpers ----

    def may_append(s, m: TimeTickActions.Message) -> Bool:
        return (s.is_begun(m) | (s.message[m] == "lost")) & ~s.refused(s.sender[m])

    def is_begun(s, m: TimeTickActions.Message) -> Bool:
        return (s.message[m] == "asked") | (s.message[m] == "open")

    def lies_above(s, m: TimeTickActions.Message, value: TimeTickActions.Ts) -> Bool:
        return any_of(
            (s.message[m] == "asked") & (s.floor[m] >= value),
            ((s.message[m] == "open") | (s.message[m] == "lost")) & (s.ts[m] > value),
        )

    def is_quiet(s, c: TimeTickActions.Channel, ts: TimeTickActions.Ts) -> Bool:
        """No message at or below ``ts`` is still to come on the channel."""
        return ~exists(
            s.Message,
            lambda m: (s.channel_of[m] == c) & s.may_append(m) & ~s.lies_above(m, ts),
        )

    # ---- safety ----

    @transition_invariant(source="seed 002, watermark; property W")
    def watermark_promise(before, after: Self) -> Bool:
        """Every message is appended above all earlier ticks of its channel."""
        return forall(
            after.Message,
            lambda m: implies(
                (before.message[m] != "appended") & (after.message[m] == "appended"),
                after.ts[m] > before.highest[before.channel_of[m]],
            ),
        )

    @invariant(source="facts 4; property W")
    def ticks_are_below_all_to_come(s) -> Bool:
        """Every message that the log would still take on a channel is above all ticks in it."""
        return forall(
            s.Message, lambda m: implies(s.may_append(m), s.lies_above(m, s.highest[s.channel_of[m]]))
        )

    @transition_invariant(source="facts 4; hazard 30")
    def ticks_never_go_back(before, after: Self) -> Bool:
        """The ticks of a channel never go back."""
        return forall(after.Channel, lambda c: after.tick[c] >= before.tick[c])

    @transition_invariant(source="seed 002, coordinator: no tick before everybody has reported", frame=True)
    def a_round_waits_for_every_session(before, after: Self) -> Bool:
        """When a round is queued, every known session has reported, and no value is above any report."""
        return implies(
            ~before.queued & after.queued,
            forall(
                after.Source,
                after.Channel,
                lambda p, c: implies(
                    before.known[p], before.entry[p] & (after.queued_ts[c] <= before.entry_ts[p, c])
                ),
            ),
        )

    @transition_invariant(source="facts 4: per-channel minimum")
    def a_round_is_the_minimum(before, after: Self) -> Bool:
        """Each value of a queued round is what some session reported for that channel."""
        return implies(
            ~before.queued & after.queued,
            forall(
                after.Channel,
                lambda c: exists(
                    after.Source,
                    lambda p: before.known[p] & (after.queued_ts[c] == before.entry_ts[p, c]),
                ),
            ),
        )

    @transition_invariant(source="facts 4: a full queue drops the new round; B9", frame=True)
    def a_taken_round_leaves_none_behind(before, after: Self) -> Bool:
        """When the sender takes a round, no other waits behind it."""
        return implies(~before.sending & after.sending, ~after.queued)

    @transition_invariant(source="facts 4: if the queue is full the new round is dropped", frame=True)
    def a_full_queue_keeps_its_round(before, after: Self) -> Bool:
        """The round that waits for the sender is not replaced."""
        return implies(
            before.queued & after.queued,
            forall(after.Channel, lambda c: after.queued_ts[c] == before.queued_ts[c]),
        )

    @transition_invariant(source="facts 4: joined before the next round", frame=True)
    def a_round_is_sent_to_its_end(before, after: Self) -> Bool:
        """The sender takes a whole round from the queue, and no other until it is done."""
        return all_of(
            implies(
                before.sending & after.sending,
                forall(
                    after.Channel,
                    lambda c: (
                        (after.round_ts[c] == before.round_ts[c])
                        & implies(after.to_send[c], before.to_send[c])
                    ),
                ),
            ),
            implies(
                ~before.sending & after.sending,
                before.queued & forall(after.Channel, lambda c: after.round_ts[c] == before.queued_ts[c]),
            ),
        )

    @transition_invariant(source="facts 4", frame=True)
    def reports_wait_for_a_round(before, after: Self) -> Bool:
        """The report of a session that stays is dropped only when all have reported."""
        return implies(
            exists(after.Source, lambda p: before.entry[p] & ~after.entry[p] & after.known[p]),
            before.round_is_complete(),
        )

    @transition_invariant(source="facts 4: an entry is nil after each round", frame=True)
    def reports_are_used_once(before, after: Self) -> Bool:
        """After a round every session has to report again."""
        return implies(~before.queued & after.queued, forall(after.Source, lambda p: ~after.entry[p]))

    @invariant(source="facts 4; hazards 10, 11; B46")
    def whoever_may_append_is_waited_for(s) -> Bool:
        """While a coordinator runs, rounds wait for every source with a message that the log would take."""
        return forall(s.Message, lambda m: implies(s.up & s.may_append(m), s.known[s.sender[m]]))

    @invariant(source="facts 4; hazard 10")
    def whoever_serves_is_waited_for(s) -> Bool:
        """While a coordinator runs, rounds wait for every proxy that takes writes, until it is fenced."""
        return forall(s.Source, lambda p: implies(s.up & s.takes_writes(p) & ~s.refused(p), s.known[p]))

    @invariant(source="facts 4: reports of others are refused")
    def only_known_sessions_have_entries(s) -> Bool:
        """The coordinator holds reports of sessions that it knows, and of no others."""
        return forall(s.Source, lambda p: implies(s.entry[p], s.known[p]))

    @invariant(source="facts 4; B10", frame=True)
    def what_counts_as_sent_is_in_the_log(s) -> Bool:
        """The greatest tick that the coordinator counts as sent is in the channel's log."""
        return forall(s.Channel, lambda c: s.synced[c] <= s.highest[c])

    @invariant(source="facts 2, 4")
    def ticks_were_issued(s) -> Bool:
        """No tick is above what the oracle has issued."""
        return forall(s.Channel, lambda c: s.highest[c] <= s.issued)

    @transition_invariant(source="hazard 11", frame="sessions_are_in_step")
    def fenced_is_final(before, after: Self) -> Bool:
        """A source that the log refuses is refused for ever, and never becomes known again."""
        return forall(
            after.Source,
            lambda p: implies(before.fenced[p], after.fenced[p] & ~after.known[p]),
        )

    @transition_invariant(source="facts 4; hazard 29", frame=True)
    def a_dead_coordinator_sends_nothing(before, after: Self) -> Bool:
        """While no coordinator runs, only messages are added to the logs."""
        return implies(~before.up, forall(after.Channel, lambda c: after.highest[c] == before.highest[c]))

    @transition_invariant(source="facts 3.1", frame=True)
    def a_message_goes_one_way(before, after: Self) -> Bool:
        """A message is asked for, stamped once, and appended or given up."""
        return forall(
            after.Message,
            lambda m: any_of(
                (after.message[m] == before.message[m]) & (after.ts[m] == before.ts[m]),
                (before.message[m] == "new") & (after.message[m] == "asked"),
                (before.message[m] == "asked")
                & (after.message[m] == "open")
                & (after.ts[m] > before.floor[m]),
                before.is_begun(m) & (after.message[m] == "dropped"),
                (before.message[m] == "open") & (after.message[m] == "lost") & (after.ts[m] == before.ts[m]),
                ((before.message[m] == "open") | (before.message[m] == "lost"))
                & (after.message[m] == "appended")
                & (after.ts[m] == before.ts[m]),
            ),
        )

    @transition_invariant(source="facts 4; B46", frame=True)
    def proxies_outlive_the_coordinator(before, after: Self) -> Bool:
        """The end of a coordinator ends no message of a proxy."""
        return implies(
            before.up & ~after.up,
            forall(
                after.Message,
                lambda m: (before.sender[m] == before.ddl) | (after.message[m] == before.message[m]),
            ),
        )

    # ---- liveness ----

    @leads_to(source="seed 002, coordinator; facts 4; property WL", without=("append", "stamp"))
    def ticks_advance(s, c: TimeTickActions.Channel, ts: TimeTickActions.Ts) -> tuple[Bool, Bool]:
        """Once all messages up to an issued timestamp are in a channel, a tick of the channel reaches it,
        whatever other channels wait for.

        Judged within bounds, which limit faults. Without a limit it is false (``timetick-faults-for-ever``):
        each coordinator crashes before it has accepted a report.
        """
        quiet = s.is_quiet(c, ts)
        return (s.issued >= ts) & quiet, (s.highest[c] >= ts) | ~quiet

    @leads_to(source="facts 4; B10")
    def ticks_come_to_count(s, c: TimeTickActions.Channel, ts: TimeTickActions.Ts) -> tuple[Bool, Bool]:
        """A tick that is in the log counts as sent in the end, even if its send failed.

        Judged within bounds, which limit faults. Without a limit it is false (``timetick-faults-for-ever``):
        every send fails (``fail_send``).
        """
        return s.highest[c] >= ts, s.synced[c] >= ts

    @leads_to(source="facts 3.4; hazard 10")
    def a_proxy_comes_to_serve(s, p: TimeTickActions.Source) -> tuple[Bool, Bool]:
        """A proxy that keeps its lease comes to serve.

        Judged within bounds, which limit faults. Without a limit it is false (``timetick-faults-for-ever``):
        each coordinator crashes before it has accepted a report.
        """
        live = s.session[p] == "registered"
        return live & (s.issued > 0), s.serves[p] | ~live

    @leads_to(source="facts 3.1")
    def an_open_message_ends(s, m: TimeTickActions.Message) -> tuple[Bool, Bool]:
        """A message with its timestamp is in the log, or given up, or refused."""
        begun = s.message[m] == "open"
        return begun, ~begun | s.refused(s.sender[m])

    # ---- witnesses ----

    @reachable(after="append", source="seed 002")
    def a_message_follows_a_tick(before, after: Self, m: TimeTickActions.Message) -> Bool:
        """A message is appended after a tick of its channel."""
        return before.highest[before.channel_of[m]] > 0

    @reachable(after="send_tick", source="seed 002")
    def a_tick_passes_a_message(before, after: Self, c: TimeTickActions.Channel) -> Bool:
        """A tick reaches a message when that and all before it are in the log."""
        return (after.tick[c] > before.tick[c]) & exists(
            after.Message,
            lambda m: (
                (after.message[m] == "appended")
                & (after.channel_of[m] == c)
                & (before.highest[c] < after.ts[m])
                & (after.ts[m] <= after.tick[c])
            ),
        )

    @reachable(after="send_tick", source="hazard 30")
    def a_tick_would_go_back(before, after: Self, c: TimeTickActions.Channel) -> Bool:
        """A round brings a smaller value than the channel's last tick, and is skipped there."""
        return (before.round_ts[c] < before.tick[c]) & (after.tick[c] == before.tick[c])

    @reachable(after="restart", source="hazard 30")
    def a_coordinator_follows_another(before, after: Self) -> Bool:
        """A coordinator starts where ticks were sent before."""
        return exists(before.Channel, lambda c: before.highest[c] > 0)

    @reachable(after="drop_round", source="hazard 29")
    def a_newer_round_is_dropped(before, after: Self) -> Bool:
        """The dropped round has a greater value than the one in the queue."""
        return exists(before.Channel, lambda c: before.round_value(c) > before.queued_ts[c])

    @reachable(after="forget", source="hazard 11")
    def a_session_is_removed_with_a_message_in_flight(before, after: Self, p: TimeTickActions.Source) -> Bool:
        """A source is removed while one of its messages is on the way to the log."""
        return exists(before.Message, lambda m: (before.message[m] == "open") & (before.sender[m] == p))

    @reachable(after="restart", source="hazard 11")
    def a_lease_ends_while_nobody_watches(before, after: Self) -> Bool:
        """A coordinator starts and fences a proxy that took writes."""
        return exists(after.Source, lambda p: ~before.fenced[p] & after.fenced[p] & before.serves[p])

    @reachable(after="learn", source="hazard 10")
    def a_proxy_joins_during_a_round(before, after: Self) -> Bool:
        """A session becomes known while ticks of a round without it are still to be sent."""
        return exists(before.Channel, lambda c: before.to_send[c] & (before.round_ts[c] > before.tick[c]))

    @reachable(after="accept", source="B5")
    def an_older_report_replaces_a_newer(before, after: Self, p: TimeTickActions.Source) -> Bool:
        """An overtaken report replaces the newer one."""
        return exists(before.Channel, lambda c: after.entry_ts[p, c] < before.entry_ts[p, c])

    @reachable(after="fail_send", source="B10")
    def a_failed_tick_is_in_the_log(before, after: Self, c: TimeTickActions.Channel) -> Bool:
        """A tick whose send failed is in the log."""
        return after.highest[c] > before.highest[c]
