"""Claims about the timestamp oracle: safety, liveness and witnesses.

Seed 002 promises timestamps that are "unique and strictly increasing". The exact guarantee is: unique, and
increasing for calls that do not overlap (``unique``, ``ordered``).
"""

from tidemark.spec.language import (
    Bool,
    Self,
    all_of,
    assumption,
    exists,
    forall,
    implies,
    invariant,
    leads_to,
    one_of,
    reachable,
    transition_invariant,
)
from tidemark.spec.tso.actions import TsoActions


class TsoClaims(TsoActions):
    """The timestamp oracle: servers that take turns as the leader, one linearisable store, any clock."""

    # ---- facts about the constants ----

    @assumption(source="facts 1")
    def a_millisecond_takes_time(s) -> Bool:
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
    def a_counter_counts(s) -> Bool:
        """A counter takes some value below its limit."""
        return s.max_logical >= 1

    @assumption(source="seed 002, InitTimestamp: saveInterval")
    def a_window_is_not_empty(s) -> Bool:
        """A window has some length."""
        return s.interval >= 1

    # ---- helpers ----

    def answered(s, call: TsoActions.Call) -> Bool:
        return s.call[call] == "answered"

    def holds_object(s, call: TsoActions.Call) -> Bool:
        return one_of(s.call[call], "loaded", "answered")

    def has_base(s, server: TsoActions.Server) -> Bool:
        return one_of(s.role[server], "loaded", "decided", "starting", "serving")

    # ---- safety ----

    @invariant(source="seed 002, TSO: globally unique; hazards 39, 40, 41, 43; property U")
    def unique(s) -> Bool:
        """No timestamp is in two batches."""
        return forall(
            s.Call,
            s.Call,
            lambda a, b: implies(
                s.answered(a) & s.answered(b) & (a != b),
                (s.last_ts(a) < s.first_ts(b)) | (s.last_ts(b) < s.first_ts(a)),
            ),
        )

    @invariant(source="seed 002, TSO: strictly increasing; facts 2.3; hazards 38, 42; property O")
    def ordered(s) -> Bool:
        """If one call was answered before another began, all its timestamps are smaller."""
        return forall(
            s.Call,
            s.Call,
            lambda a, b: implies(s.precedes[a, b] & s.answered(b), s.last_ts(a) < s.first_ts(b)),
        )

    @invariant(source="seed 002, UpdateTimestamp: the window is saved first; facts 2.2")
    def issued_below_saved(s) -> Bool:
        """Every physical time that was handed out, or can be, is below the saved end."""
        return forall(s.Call, lambda c: implies(s.holds_object(c), s.object[c] < s.saved)) & forall(
            s.Server, lambda m: implies(s.serves(m), (s.current[m] < s.window[m]) & (s.window[m] <= s.saved))
        )

    @transition_invariant(source="hazard 43; property M: the saved end", frame=True)
    def saved_never_goes_back(before, after: Self) -> Bool:
        """The saved end of the window never goes back."""
        return after.saved >= before.saved

    @invariant(source="facts 1; hazard 40", frame=True)
    def logical_never_carries(s) -> Bool:
        """The counter of an issued timestamp never reaches the physical part, and is not zero."""
        return forall(
            s.Call,
            lambda c: implies(s.answered(c), (s.last[c] >= s.count[c]) & (s.last[c] < s.max_logical)),
        )

    @transition_invariant(source="seed 002, InitTimestamp; B1, B2; hazard 44")
    def restart_never_reissues(before, after: Self) -> Bool:
        """A server begins above every millisecond of the timestamps that were handed out."""
        return forall(
            after.Server,
            after.Call,
            lambda m, c: implies(
                after.serves(m) & ~before.serves(m) & after.answered(c),
                after.stamp[after.object[c]] < after.stamp[after.current[m]],
            ),
        )

    @transition_invariant(source="facts 2.2: the returned value keeps milliseconds only; hazards 41, 45; B3")
    def a_new_object_has_a_new_millisecond(before, after: Self) -> Bool:
        """While a server serves, each object that it publishes is in a later millisecond than the last."""
        return forall(
            after.Server,
            lambda m: implies(
                before.serves(m) & after.serves(m) & (after.current[m] != before.current[m]),
                after.stamp[before.current[m]] < after.stamp[after.current[m]],
            ),
        )

    @invariant(source="facts 2.4: the lease rule", frame=True)
    def one_server_runs(s) -> Bool:
        """At most one server runs: the holder of the lease."""
        return forall(s.Server, lambda m: implies(s.runs(m), s.led & (s.leader == m)))

    @transition_invariant(source="facts 2.4", frame=True)
    def what_ended_is_over(before, after: Self) -> Bool:
        """A server that has ended takes no step and answers no call."""
        return forall(
            after.Server, lambda m: implies(before.role[m] == "stopped", after.role[m] == "stopped")
        ) & forall(
            after.Call,
            lambda c: implies(after.answered(c) & ~before.answered(c), before.serves(after.at[c])),
        )

    @transition_invariant(source="seed 002, GenerateTSO", frame=True)
    def answers_are_final(before, after: Self) -> Bool:
        """Answers do not change."""
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

    @transition_invariant(source="seed 002, UpdateTimestamp", frame=True)
    def an_update_goes_step_by_step(before, after: Self) -> Bool:
        """An update that has chosen its time is saved, published or given up, and begins no other."""
        return forall(
            after.Server,
            after.Updater,
            lambda m, u: (
                implies(before.stage[m, u] == "saving", after.stage[m, u] != "read")
                & implies(before.stage[m, u] == "publishing", one_of(after.stage[m, u], "publishing", "idle"))
            ),
        )

    # ---- liveness ----

    @leads_to(source="seed 002, GenerateTSO; hazard 40")
    def calls_end(s, call: TsoActions.Call) -> tuple[Bool, Bool]:
        """A call is answered if its batch fits into a counter, unless it gives up or its server ends.

        Judged within bounds only, of a form that refuses a batch that fits into no counter. Here it is false:
        such a call tries again for ever, and may exhaust each new object's counter between the two steps of
        another call. The seed's call gives up after ten tries; ``fail`` has no count.
        """
        return (
            one_of(s.call[call], "begun", "loaded") & (s.count[call] < s.max_logical),
            one_of(s.call[call], "answered", "failed") | ~s.runs(s.at[call]),
        )

    # ---- witnesses ----

    @reachable(after="decide", source="hazard 45; seed 002")
    def the_clock_went_back(
        before, after: Self, server: TsoActions.Server, updater: TsoActions.Updater
    ) -> Bool:
        """The clock shows an earlier time than that of the published object: the object stays."""
        return all_of(
            forall(before.Call, lambda c: before.call[c] == "new"),
            before.base[server] + before.millisecond < before.current[server],
            before.update_now[server, updater] < before.current[server],
            after.stage[server, updater] == "idle",
        )

    @reachable(after="allocate", source="seed 002, TSO: strictly increasing; facts 2.2")
    def an_answer_after_an_update(before, after: Self, call: TsoActions.Call) -> Bool:
        """A call is answered from a newer object than one whose answer came before it began."""
        return after.answered(call) & exists(
            after.Call,
            lambda c: before.answered(c) & after.precedes[c, call] & (after.object[c] < after.object[call]),
        )

    @reachable(after="allocate", source="hazard 40")
    def a_counter_overflows(before, after: Self, call: TsoActions.Call) -> Bool:
        """A batch does not fit, and the call tries again."""
        return after.call[call] == "begun"

    @reachable(after="publish", source="hazard 40; milvus-lite #40")
    def a_call_is_answered_after_an_overflow(
        before, after: Self, server: TsoActions.Server, updater: TsoActions.Updater
    ) -> Bool:
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
    def the_counter_moves_the_time(
        before, after: Self, server: TsoActions.Server, updater: TsoActions.Updater
    ) -> Bool:
        """The half-full rule moves the physical time though the clock does not advance."""
        return (after.update_next[server, updater] > 0) & ~before.is_ahead(
            server, before.update_now[server, updater]
        )

    @reachable(after="save", source="seed 002, TSO: about every three seconds")
    def the_window_is_extended(before, after: Self, server: TsoActions.Server) -> Bool:
        """A serving leader saves a further window."""
        return after.saved > before.saved

    @reachable(after="publish", source="facts 2.2: most updates need no save")
    def most_updates_need_no_save(before, after: Self, server: TsoActions.Server) -> Bool:
        """An object is published within the window that was saved at the start."""
        return before.window[server] == before.base[server] + before.millisecond + before.interval

    @reachable(after="allocate", source="facts 2.4")
    def two_leaders_in_a_row(before, after: Self, call: TsoActions.Call) -> Bool:
        """A server answers a call after another server has answered one."""
        return after.answered(call) & exists(
            after.Call,
            lambda c: all_of(after.answered(c), after.at[c] != after.at[call], after.precedes[c, call]),
        )

    @reachable(after="allocate", source="facts 2.3; hazard 38")
    def an_answer_out_of_order(before, after: Self, call: TsoActions.Call) -> Bool:
        """A call that has read the old object is answered after one with a greater timestamp."""
        return after.answered(call) & exists(
            after.Call, lambda c: before.answered(c) & (after.last_ts(call) < after.first_ts(c))
        )

    @reachable(after="lose_save", source="facts 2.2")
    def a_save_of_the_dead(before, after: Self, server: TsoActions.Server) -> Bool:
        """A save is applied after its sender has ended."""
        return (before.role[server] == "stopped") & (after.saved > before.saved)

    @reachable(after="begin", source="facts 2.4")
    def a_call_before_the_start(before, after: Self, server: TsoActions.Server) -> Bool:
        """A client asks a leader that does not serve yet."""
        return ~before.serves(server)
