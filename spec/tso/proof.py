"""Inductive lemmas: why the claims about the oracle are true for any size."""

from tidemark.spec.language import Bool, all_of, any_of, forall, implies, lemma, one_of
from tidemark.spec.tso.claims import TsoClaims


class Tso(TsoClaims):
    """The timestamp oracle: servers that take turns as the leader, one linearisable store, any clock."""

    @lemma(source="seed 002, InitTimestamp")
    def the_first_object_is_above_the_base(s) -> Bool:
        """A starting server has chosen a time at least a millisecond above the end that it has loaded."""
        return forall(
            s.Server,
            lambda m: implies(
                one_of(s.role[m], "decided", "starting"), s.next[m] >= s.base[m] + s.millisecond
            ),
        )

    @lemma(source="seed 002, InitTimestamp")
    def the_first_object_is_in_the_window(s) -> Bool:
        """The object that a starting server is about to publish is in the window that it has saved."""
        return forall(s.Server, lambda m: implies(s.role[m] == "starting", s.next[m] < s.window[m]))

    @lemma(source="seed 002")
    def windows_are_saved(s) -> Bool:
        """No server believes in a window beyond the saved end."""
        return forall(s.Server, lambda m: s.window[m] <= s.saved)

    @lemma(source="facts 2.2")
    def an_update_moves_by_a_millisecond(s) -> Bool:
        """The object that is about to be published is a millisecond or more above the present one."""
        return forall(
            s.Server,
            s.Updater,
            lambda m, u: implies(
                s.serves(m) & one_of(s.stage[m, u], "saving", "publishing"),
                s.update_next[m, u] >= s.current[m] + s.millisecond,
            ),
        )

    @lemma(source="facts 2.2")
    def an_update_stays_in_the_window(s) -> Bool:
        """The object that is about to be published is below the saved end."""
        return forall(
            s.Server,
            s.Updater,
            lambda m, u: implies(
                s.serves(m) & (s.stage[m, u] == "publishing"), s.update_next[m, u] < s.window[m]
            ),
        )

    @lemma(source="hazard 39: one ticker")
    def only_the_ticker_updates(s) -> Bool:
        """A server has no other updater."""
        return forall(s.Server, s.Updater, lambda m, u: implies(s.stage[m, u] != "idle", u == s.ticker))

    @lemma(source="seed 002, tsLoop")
    def only_servers_update(s) -> Bool:
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
    def a_server_stays_above_its_base(s) -> Bool:
        """A server's objects are a millisecond or more above the saved end that it has loaded."""
        return forall(s.Server, lambda m: implies(s.serves(m), s.current[m] >= s.base[m] + s.millisecond))

    @lemma(source="facts 2.4")
    def the_leader_begins_above_all_windows(s) -> Bool:
        """The last leader has loaded an end above the windows and timestamps of all others."""
        return implies(
            s.has_base(s.leader),
            forall(s.Server, lambda m: implies(m != s.leader, s.window[m] <= s.base[s.leader]))
            & forall(
                s.Call,
                lambda c: implies(s.holds_object(c) & (s.at[c] != s.leader), s.object[c] < s.base[s.leader]),
            ),
        )

    @lemma(source="facts 2.4; hazard 42")
    def windows_are_apart(s) -> Bool:
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
    def objects_of_others_are_outside_the_window(s) -> Bool:
        """An object that a call has from another server is below a server's base or above its window."""
        return forall(
            s.Server,
            s.Call,
            lambda m, c: implies(
                s.has_base(m) & s.holds_object(c) & (s.at[c] != m),
                (s.object[c] < s.base[m]) | (s.window[m] + s.millisecond <= s.object[c]),
            ),
        )

    @lemma(source="facts 2.3")
    def objects_come_from_servers_that_served(s) -> Bool:
        """A call has its object from a server that serves or has ended."""
        return forall(
            s.Call, lambda c: implies(s.holds_object(c), one_of(s.role[s.at[c]], "serving", "stopped"))
        )

    @lemma(source="facts 2.3")
    def objects_are_the_servers_own(s) -> Bool:
        """An object that a call has from a serving server is among those that the server has published."""
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
    def objects_of_a_server_are_apart(s) -> Bool:
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
    def counters_cover_what_was_answered(s) -> Bool:
        """The counter of an object has reached every batch that it has given."""
        return forall(
            s.Call,
            lambda c: implies(
                s.answered(c) & s.serves(s.at[c]), s.last[c] <= s.logical[s.at[c], s.object[c]]
            ),
        )

    @lemma(source="facts 2.4")
    def memory_is_lost(s) -> Bool:
        """A server that does not run has no memory."""
        return forall(
            s.Server,
            lambda m: implies(
                ~s.runs(m),
                all_of(s.base[m] == 0, s.next[m] == 0, s.window[m] == 0, s.current[m] == 0),
            ),
        )

    @lemma(source="seed 002")
    def what_is_over_is_empty(s) -> Bool:
        """A finished start or update leaves no state."""
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
    def calls_are_made_to_servers(s) -> Bool:
        """A call that has begun was made to a server that ran."""
        return forall(s.Call, lambda c: (s.call[c] == "new") | (s.role[s.at[c]] != "new"))

    @lemma(source="facts 2.3")
    def batches_are_not_empty(s) -> Bool:
        """A call asks for one timestamp or more."""
        return forall(s.Call, lambda c: (s.call[c] == "new") | (s.count[c] >= 1))

    @lemma(source="facts 2.3")
    def only_answered_calls_precede(s) -> Bool:
        """Only a call that was answered precedes another, and only one that has begun is preceded."""
        return forall(
            s.Call,
            s.Call,
            lambda a, b: implies(s.precedes[a, b], s.answered(a) & (s.call[b] != "new") & (a != b)),
        )

    @lemma(source="facts 2.3; hazard 38")
    def a_call_reads_no_older_object(s) -> Bool:
        """Timestamps answered before a call began are not above those that the call will get."""
        return forall(
            s.Call,
            s.Call,
            lambda a, b: implies(
                s.precedes[a, b],
                implies((s.call[b] == "begun") & s.serves(s.at[b]), s.object[a] <= s.current[s.at[b]])
                & implies(s.holds_object(b), s.object[a] <= s.object[b]),
            ),
        )
