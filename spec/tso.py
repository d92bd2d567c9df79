"""Claims about the timestamp oracle: what must be true, should happen and can happen, and why.

The state and the steps stand in ``tso_steps``; here are the claims about them. Seed 002 promises timestamps
that are "unique and strictly increasing". The exact guarantee is: unique, and increasing for calls that do
not overlap (``unique``, ``ordered``). Sources: seed 002 (TSO), facts 2, hazards 38 to 45, bugs B1 to B4.
"""

from spec import tso_steps
from spec.language import (
    all_of,
    any_of,
    assumption,
    exists,
    forall,
    implies,
    invariant,
    leads_to,
    lemma,
    one_of,
    reachable,
    transition_invariant,
)


class Tso(tso_steps.Tso):
    """The timestamp oracle: servers that take turns as the leader, one linearisable store, any clock."""

    # ---- facts about the constants ----

    @assumption(source="facts 1")
    def a_millisecond_takes_time(s):
        """Timestamps follow the time, and between times a millisecond apart there is room for a counter."""
        return (s.millisecond >= 1) & forall(
            s.Time,
            s.Time,
            lambda a, b: (
                implies(a <= b, s.stamp[a] <= s.stamp[b])
                & implies(a + s.millisecond <= b, s.ts_of(a, s.max_logical) <= s.ts_of(b, 0))
            ),
        )

    @assumption(source="facts 1: maxLogical")
    def a_counter_counts(s):
        """A counter takes some value below its limit."""
        return s.max_logical >= 1

    @assumption(source="seed 002: saveInterval")
    def a_window_is_not_empty(s):
        """A window has some length."""
        return s.interval >= 1

    # ---- words used below ----

    def answered(s, call):
        """The call has its batch."""
        return s.call[call] == "answered"

    def holds_object(s, call):
        """The call has read the pointer to an object."""
        return one_of(s.call[call], "loaded", "answered")

    def has_base(s, server):
        """The server has loaded the saved end."""
        return one_of(s.role[server], "loaded", "decided", "starting", "serving")

    # ---- what must be true ----

    @invariant(source="seed 002: globally unique; hazards 39, 40, 41, 43; property U")
    def unique(s):
        """No timestamp lies in two batches."""
        return forall(
            s.Call,
            s.Call,
            lambda a, b: implies(
                s.answered(a) & s.answered(b) & (a != b),
                (s.last_ts(a) < s.first_ts(b)) | (s.last_ts(b) < s.first_ts(a)),
            ),
        )

    @invariant(source="seed 002: strictly increasing; facts 2.3; hazards 38, 42; property O")
    def ordered(s):
        """If one call was answered before another began, all its timestamps are smaller."""
        return forall(
            s.Call,
            s.Call,
            lambda a, b: implies(s.precedes[a, b] & s.answered(b), s.last_ts(a) < s.first_ts(b)),
        )

    @invariant(source="seed 002: the window is saved first; facts 2.2")
    def issued_below_saved(s):
        """Every physical time that was handed out, or can be, lies below the saved end."""
        return forall(s.Call, lambda c: implies(s.holds_object(c), s.object[c] < s.saved)) & forall(
            s.Server, lambda m: implies(s.serves(m), (s.current[m] < s.window[m]) & (s.window[m] <= s.saved))
        )

    @transition_invariant(source="hazard 43; property M of the saved end")
    def saved_never_goes_back(before, after):
        """The saved end of the window never goes back."""
        return after.saved >= before.saved

    @invariant(source="facts 1; hazard 40")
    def logical_never_carries(s):
        """The counter of an issued timestamp never reaches the physical part, and is not zero."""
        return forall(
            s.Call,
            lambda c: implies(s.answered(c), (s.last[c] >= s.count[c]) & (s.last[c] < s.max_logical)),
        )

    @transition_invariant(source="seed 002, InitTimestamp; B1, B2; hazard 44")
    def restart_never_reissues(before, after):
        """A server begins above every millisecond in which anything was handed out."""
        return forall(
            after.Server,
            after.Call,
            lambda m, c: implies(
                after.serves(m) & ~before.serves(m) & after.answered(c),
                after.stamp[after.object[c]] < after.stamp[after.current[m]],
            ),
        )

    @transition_invariant(source="facts 2.2: the returned value keeps milliseconds only; hazards 41, 45; B3")
    def a_new_object_has_a_new_millisecond(before, after):
        """While a server serves, each object that it publishes lies in a later millisecond than the last."""
        return forall(
            after.Server,
            lambda m: implies(
                before.serves(m) & after.serves(m) & (after.current[m] != before.current[m]),
                after.stamp[before.current[m]] < after.stamp[after.current[m]],
            ),
        )

    @invariant(source="facts 2.4; the lease rule")
    def one_server_runs(s):
        """At most one server runs: the holder of the lease."""
        return forall(s.Server, lambda m: implies(s.runs(m), s.led & (s.leader == m)))

    @transition_invariant(source="facts 2.4")
    def what_ended_is_over(before, after):
        """A server that has ended does nothing more and answers no call."""
        return forall(
            after.Server, lambda m: implies(before.role[m] == "stopped", after.role[m] == "stopped")
        ) & forall(
            after.Call,
            lambda c: implies(after.answered(c) & ~before.answered(c), before.serves(after.at[c])),
        )

    @transition_invariant(source="seed 002, GenerateTSO")
    def answers_are_final(before, after):
        """What was answered stays as it is."""
        return forall(
            after.Call,
            lambda c: implies(
                before.answered(c),
                all_of(
                    after.answered(c),
                    after.object[c] == before.object[c],
                    after.last[c] == before.last[c],
                    after.count[c] == before.count[c],
                ),
            ),
        )

    @transition_invariant(source="seed 002, UpdateTimestamp")
    def an_update_goes_step_by_step(before, after):
        """An update that has chosen its time is saved, published or given up, and begins no other."""
        return forall(
            after.Server,
            after.Updater,
            lambda m, u: (
                implies(before.stage[m, u] == "saving", after.stage[m, u] != "read")
                & implies(before.stage[m, u] == "publishing", one_of(after.stage[m, u], "publishing", "idle"))
            ),
        )

    # ---- what should happen ----

    @leads_to(source="seed 002, GenerateTSO; hazard 40")
    def calls_end(s, call: tso_steps.Tso.Call):
        """A call is answered if its batch fits into a counter, unless it gives up or its server ends."""
        return (
            one_of(s.call[call], "begun", "loaded") & (s.count[call] < s.max_logical),
            one_of(s.call[call], "answered", "failed") | ~s.runs(s.at[call]),
        )

    # ---- what can happen ----

    @reachable(after="decide", source="hazard 45; seed 002")
    def the_clock_went_back(before, after, server, updater):
        """A clock that has shown the time of the published object shows an earlier one: the object stays."""
        return all_of(
            forall(before.Call, lambda c: before.call[c] == "new"),
            before.base[server] + before.millisecond < before.current[server],
            before.update_now[server, updater] < before.current[server],
            after.stage[server, updater] == "idle",
        )

    @reachable(after="allocate", source="hazard 40")
    def a_counter_overflows(before, after, call):
        """A batch does not fit, and the call tries again."""
        return after.call[call] == "begun"

    @reachable(after="publish", source="hazard 40; milvus-lite #40")
    def a_call_is_answered_after_an_overflow(before, after, server, updater):
        """After an overflow the half-full rule publishes the object that the call needs."""
        return exists(
            after.Call,
            lambda c: all_of(
                after.call[c] == "begun",
                after.at[c] == server,
                before.logical[server, before.current[server]] == before.max_logical,
            ),
        )

    @reachable(after="decide", source="facts 2.2: maxLogical/2")
    def the_counter_moves_the_time(before, after, server, updater):
        """The half-full rule moves the physical time though the clock stands still."""
        return (after.update_next[server, updater] > 0) & ~before.is_ahead(
            server, before.update_now[server, updater]
        )

    @reachable(after="save", source="seed 002: about every three seconds")
    def the_window_is_extended(before, after, server):
        """A serving leader saves a further window."""
        return after.saved > before.saved

    @reachable(after="publish", source="facts 2.2: most updates need no save")
    def most_updates_need_no_save(before, after, server):
        """An object is published within the window that was saved at the start."""
        return before.window[server] == before.base[server] + before.millisecond + before.interval

    @reachable(after="allocate", source="facts 2.4")
    def two_leaders_in_a_row(before, after, call):
        """A call is answered by a server after another server has answered one."""
        return after.answered(call) & exists(
            after.Call,
            lambda c: all_of(after.answered(c), after.at[c] != after.at[call], after.precedes[c, call]),
        )

    @reachable(after="allocate", source="facts 2.3; hazard 38")
    def an_answer_out_of_order(before, after, call):
        """A call that has read the old object is answered after one with a greater timestamp."""
        return after.answered(call) & exists(
            after.Call, lambda c: before.answered(c) & (after.last_ts(call) < after.first_ts(c))
        )

    @reachable(after="lose_save", source="facts 2.2")
    def a_save_of_the_dead(before, after, server):
        """A save is applied after its sender has ended."""
        return (before.role[server] == "stopped") & (after.saved > before.saved)

    @reachable(after="begin", source="facts 2.4")
    def a_call_before_the_start(before, after, server):
        """A client asks a leader that does not serve yet."""
        return ~before.serves(server)

    # ---- why it is true for any size ----

    @lemma(source="seed 002, InitTimestamp")
    def the_first_object_is_above_the_base(s):
        """A starting server has chosen a time at least a millisecond above the end that it has loaded."""
        return forall(
            s.Server,
            lambda m: implies(
                one_of(s.role[m], "decided", "starting"), s.next[m] >= s.base[m] + s.millisecond
            ),
        )

    @lemma(source="seed 002, InitTimestamp")
    def the_first_object_is_in_the_window(s):
        """What a starting server is about to publish lies in the window that it has saved."""
        return forall(s.Server, lambda m: implies(s.role[m] == "starting", s.next[m] < s.window[m]))

    @lemma(source="seed 002")
    def windows_are_saved(s):
        """No server believes in a window beyond the saved end."""
        return forall(s.Server, lambda m: s.window[m] <= s.saved)

    @lemma(source="facts 2.2")
    def an_update_moves_by_a_millisecond(s):
        """The object that is about to be published lies a millisecond or more above the present one."""
        return forall(
            s.Server,
            s.Updater,
            lambda m, u: implies(
                s.serves(m) & one_of(s.stage[m, u], "saving", "publishing"),
                s.update_next[m, u] >= s.current[m] + s.millisecond,
            ),
        )

    @lemma(source="facts 2.2")
    def an_update_stays_in_the_window(s):
        """The object that is about to be published lies below the saved end."""
        return forall(
            s.Server,
            s.Updater,
            lambda m, u: implies(
                s.serves(m) & (s.stage[m, u] == "publishing"), s.update_next[m, u] < s.window[m]
            ),
        )

    @lemma(source="hazard 39: one ticker")
    def only_the_ticker_updates(s):
        """A server has no other updater."""
        return forall(s.Server, s.Updater, lambda m, u: implies(s.stage[m, u] != "idle", u == s.ticker))

    @lemma(source="seed 002, tsLoop")
    def only_servers_update(s):
        """An update is under way at a serving server, or its save has outlived its server."""
        return forall(
            s.Server,
            s.Updater,
            lambda m, u: any_of(
                s.stage[m, u] == "idle",
                s.serves(m),
                (s.stage[m, u] == "saving") & (s.role[m] == "stopped"),
            ),
        )

    @lemma(source="seed 002, InitTimestamp")
    def a_server_stays_above_its_base(s):
        """What a server serves lies a millisecond or more above the saved end that it has loaded."""
        return forall(s.Server, lambda m: implies(s.serves(m), s.current[m] >= s.base[m] + s.millisecond))

    @lemma(source="facts 2.4")
    def the_leader_begins_above_all_windows(s):
        """The last leader has loaded an end above the windows of all others and all that they handed out."""
        return implies(
            s.has_base(s.leader),
            forall(s.Server, lambda m: implies(m != s.leader, s.window[m] <= s.base[s.leader]))
            & forall(
                s.Call,
                lambda c: implies(s.holds_object(c) & (s.at[c] != s.leader), s.object[c] < s.base[s.leader]),
            ),
        )

    @lemma(source="facts 2.4; hazard 42")
    def windows_are_apart(s):
        """Of two servers that run, one has begun above the other's window."""
        return forall(
            s.Server,
            s.Server,
            lambda m, n: implies(
                s.has_base(m) & s.has_base(n) & (m != n),
                (s.window[m] <= s.base[n]) | (s.window[n] <= s.base[m]),
            ),
        )

    @lemma(source="facts 2.4; hazard 42")
    def objects_of_others_are_outside_the_window(s):
        """What a call has from another server lies below a server's base or above its window."""
        return forall(
            s.Server,
            s.Call,
            lambda m, c: implies(
                s.has_base(m) & s.holds_object(c) & (s.at[c] != m),
                (s.object[c] < s.base[m]) | (s.window[m] + s.millisecond <= s.object[c]),
            ),
        )

    @lemma(source="facts 2.3")
    def objects_come_from_servers_that_served(s):
        """A call has its object from a server that serves or has ended."""
        return forall(
            s.Call, lambda c: implies(s.holds_object(c), one_of(s.role[s.at[c]], "serving", "stopped"))
        )

    @lemma(source="facts 2.3")
    def objects_are_the_servers_own(s):
        """What a call has from a serving server lies within what that server has published."""
        return forall(
            s.Call,
            lambda c: implies(
                s.holds_object(c) & s.serves(s.at[c]),
                all_of(
                    s.object[c] >= s.base[s.at[c]] + s.millisecond,
                    s.object[c] < s.window[s.at[c]],
                    (s.object[c] == s.current[s.at[c]]) | (s.object[c] + s.millisecond <= s.current[s.at[c]]),
                ),
            ),
        )

    @lemma(source="facts 2.2")
    def objects_of_a_server_are_apart(s):
        """Two objects of one server are the same or a millisecond or more apart."""
        return forall(
            s.Call,
            s.Call,
            lambda c, d: implies(
                s.holds_object(c) & s.holds_object(d) & (s.at[c] == s.at[d]),
                (s.object[c] == s.object[d])
                | (s.object[c] + s.millisecond <= s.object[d])
                | (s.object[d] + s.millisecond <= s.object[c]),
            ),
        )

    @lemma(source="facts 2.3")
    def counters_cover_what_was_answered(s):
        """The counter of an object has reached every batch that it has given."""
        return forall(
            s.Call,
            lambda c: implies(
                s.answered(c) & s.serves(s.at[c]), s.last[c] <= s.logical[s.at[c], s.object[c]]
            ),
        )

    @lemma(source="facts 2.4")
    def memory_is_lost(s):
        """Who does not run knows nothing."""
        return forall(
            s.Server,
            lambda m: implies(
                ~s.runs(m),
                all_of(s.base[m] == 0, s.next[m] == 0, s.window[m] == 0, s.current[m] == 0),
            ),
        )

    @lemma(source="seed 002")
    def what_is_over_is_empty(s):
        """Nothing is left over of a start or an update that is done."""
        return all_of(
            forall(s.Server, lambda m: implies(s.serves(m), s.next[m] == 0)),
            forall(
                s.Server,
                s.Updater,
                lambda m, u: (
                    implies(s.stage[m, u] != "read", s.update_now[m, u] == 0)
                    & implies(one_of(s.stage[m, u], "idle", "read"), s.update_next[m, u] == 0)
                ),
            ),
        )

    @lemma(source="facts 2.3")
    def calls_are_made_to_servers(s):
        """A call that has begun was made to a server that ran."""
        return forall(s.Call, lambda c: (s.call[c] == "new") | (s.role[s.at[c]] != "new"))

    @lemma(source="facts 2.3")
    def batches_are_not_empty(s):
        """A call asks for one timestamp or more."""
        return forall(s.Call, lambda c: (s.call[c] == "new") | (s.count[c] >= 1))

    @lemma(source="facts 2.3")
    def only_answered_calls_precede(s):
        """Only a call that was answered precedes another, and only one that has begun is preceded."""
        return forall(
            s.Call,
            s.Call,
            lambda a, b: implies(s.precedes[a, b], s.answered(a) & (s.call[b] != "new") & (a != b)),
        )

    @lemma(source="facts 2.3; hazard 38")
    def a_call_reads_no_older_object(s):
        """What was answered before a call began is not above what the call will read or has read."""
        return forall(
            s.Call,
            s.Call,
            lambda a, b: implies(
                s.precedes[a, b],
                implies((s.call[b] == "begun") & s.serves(s.at[b]), s.object[a] <= s.current[s.at[b]])
                & implies(s.holds_object(b), s.object[a] <= s.object[b]),
            ),
        )
