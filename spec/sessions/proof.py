"""Lemmas and ranks about sessions and the coordinator that follows them.

Both liveness claims are of runs in which coordinators crash finitely often. One that always crashes before it
fences, or learns, does neither.
"""

from tidemark.spec.language import (
    Bool,
    HelpfulCase,
    Measure,
    all_of,
    each,
    exists,
    forall,
    helpful,
    implies,
    ite,
    lemma,
    one_of,
    rank,
)
from tidemark.spec.sessions.claims import SessionsClaims


class Sessions(SessionsClaims):
    """Sessions of one store, and one coordinator at a time that lists, fences and watches."""

    def is_unfenced(s, m: SessionsClaims.Node) -> Bool:
        """The session had ended when the coordinator listed, and is not refused."""
        return s.was_over(m, s.first) & ~s.fenced[m]

    def tells_of(s, r: SessionsClaims.Revision) -> Bool:
        """The watch has its next change, and that is this one."""
        return all_of(s.phase == "serving", s.compacted <= s.seen, r == s.seen + 1)

    def may_begin_to_serve(s) -> Bool:
        """All ended sessions are refused."""
        return (s.phase == "listed") & forall(s.Node, lambda m: ~s.is_unfenced(m))

    # ---- a session becomes known ----

    def is_to_be_known(s, n: SessionsClaims.Node) -> Bool:
        return all_of(s.began[n] > 0, s.ended[n] == 0, ~s.view[n])

    @rank("a_session_becomes_known", finitely=("faults",))
    def what_a_session_waits_for(s, n: SessionsClaims.Node) -> Measure:
        """Fences; the watch, which comes nearer or is refused; a list, which has the session."""
        steps = ite(s.phase == "listed", 3, ite(s.phase == "serving", 2, ite(s.phase == "down", 1, 0)))
        return (
            steps,
            each(s.Node, s.is_unfenced),
            s.began[n] - s.seen,
            s.compacted <= s.seen,
            each(s.Node, lambda m: (s.ended[m] == s.seen + 1) & ~s.fenced[m]),
        )

    @helpful("a_session_becomes_known", action="begin")
    def a_coordinator_starts(s, n: SessionsClaims.Node) -> HelpfulCase:
        return s.is_to_be_known(n) & (s.phase == "down"), ()

    @helpful("a_session_becomes_known", action="list_sessions")
    def the_list_has_it(s, n: SessionsClaims.Node) -> HelpfulCase:
        return s.is_to_be_known(n) & (s.phase == "begun"), ()

    @helpful("a_session_becomes_known", action="fence")
    def what_was_over_is_refused(s, n: SessionsClaims.Node, m: SessionsClaims.Node) -> HelpfulCase:
        return all_of(s.is_to_be_known(n), s.phase == "listed", s.is_unfenced(m)), (m,)

    @helpful("a_session_becomes_known", action="serve")
    def it_serves(s, n: SessionsClaims.Node) -> HelpfulCase:
        return s.is_to_be_known(n) & s.may_begin_to_serve(), ()

    @helpful("a_session_becomes_known", action="lose_watch")
    def the_watch_is_refused(s, n: SessionsClaims.Node) -> HelpfulCase:
        return all_of(s.is_to_be_known(n), s.phase == "serving", s.seen < s.compacted), ()

    @helpful("a_session_becomes_known", action="learn")
    def the_next_has_begun(s, n: SessionsClaims.Node, m: SessionsClaims.Node) -> HelpfulCase:
        return s.is_to_be_known(n) & s.tells_of(s.began[m]), (m,)

    @helpful("a_session_becomes_known", action="forget")
    def the_next_is_over(s, n: SessionsClaims.Node, m: SessionsClaims.Node) -> HelpfulCase:
        return all_of(s.is_to_be_known(n), s.tells_of(s.ended[m]), s.fenced[m]), (m,)

    @helpful("a_session_becomes_known", action="fence")
    def the_next_is_refused(s, n: SessionsClaims.Node, m: SessionsClaims.Node) -> HelpfulCase:
        return all_of(s.is_to_be_known(n), s.tells_of(s.ended[m]), ~s.fenced[m]), (m,)

    # ---- a session that has ended is refused ----

    def may_be_fenced(s, n: SessionsClaims.Node) -> Bool:
        serves = (s.phase == "serving") & (s.ended[n] <= s.seen + 1)
        return one_of(s.phase, "listed", "serving") & (s.was_over(n, s.first) | serves)

    def is_to_be_fenced(s, n: SessionsClaims.Node) -> Bool:
        return all_of(s.ended[n] > 0, ~s.fenced[n], ~s.may_be_fenced(n))

    @rank("a_session_that_is_over_is_refused", finitely=("faults",))
    def what_a_fence_waits_for(s, n: SessionsClaims.Node) -> Measure:
        """Changes and compactions, which end the watch; then fences, the watch, or a list."""
        steps = ite(s.phase == "listed", 4, ite(s.phase == "serving", 3, ite(s.phase == "down", 2, 1)))
        return (
            each(s.Node, lambda m: s.began[m] == 0),
            each(s.Node, lambda m: s.ended[m] == 0),
            s.revision - s.compacted,
            one_of(s.phase, "listed", "serving") & (s.seen < s.compacted),
            ite(s.may_be_fenced(n), 0, steps),
            each(s.Node, lambda m: ~s.may_be_fenced(n) & s.is_unfenced(m)),
            ite(s.may_be_fenced(n), 0, s.ended[n] - s.seen),
            each(s.Node, lambda m: all_of(~s.may_be_fenced(n), s.ended[m] == s.seen + 1, ~s.fenced[m])),
        )

    @helpful("a_session_that_is_over_is_refused", action="fence")
    def it_is_refused(s, n: SessionsClaims.Node) -> HelpfulCase:
        return all_of(s.ended[n] > 0, ~s.fenced[n], s.may_be_fenced(n)), (n,)

    @helpful("a_session_that_is_over_is_refused", action="begin")
    def another_starts(s, n: SessionsClaims.Node) -> HelpfulCase:
        return s.is_to_be_fenced(n) & (s.phase == "down"), ()

    @helpful("a_session_that_is_over_is_refused", action="list_sessions")
    def the_list_has_it_no_more(s, n: SessionsClaims.Node) -> HelpfulCase:
        return s.is_to_be_fenced(n) & (s.phase == "begun"), ()

    @helpful("a_session_that_is_over_is_refused", action="fence")
    def others_are_refused(s, n: SessionsClaims.Node, m: SessionsClaims.Node) -> HelpfulCase:
        return all_of(s.is_to_be_fenced(n), s.phase == "listed", s.is_unfenced(m)), (m,)

    @helpful("a_session_that_is_over_is_refused", action="serve")
    def the_watch_begins(s, n: SessionsClaims.Node) -> HelpfulCase:
        return s.is_to_be_fenced(n) & s.may_begin_to_serve(), ()

    @helpful("a_session_that_is_over_is_refused", action="lose_watch")
    def the_watch_ends(s, n: SessionsClaims.Node) -> HelpfulCase:
        return all_of(s.is_to_be_fenced(n), s.phase == "serving", s.seen < s.compacted), ()

    @helpful("a_session_that_is_over_is_refused", action="learn")
    def another_has_begun(s, n: SessionsClaims.Node, m: SessionsClaims.Node) -> HelpfulCase:
        return s.is_to_be_fenced(n) & s.tells_of(s.began[m]), (m,)

    @helpful("a_session_that_is_over_is_refused", action="forget")
    def another_is_over(s, n: SessionsClaims.Node, m: SessionsClaims.Node) -> HelpfulCase:
        return all_of(s.is_to_be_fenced(n), s.tells_of(s.ended[m]), s.fenced[m]), (m,)

    @helpful("a_session_that_is_over_is_refused", action="fence")
    def another_is_refused(s, n: SessionsClaims.Node, m: SessionsClaims.Node) -> HelpfulCase:
        return all_of(s.is_to_be_fenced(n), s.tells_of(s.ended[m]), ~s.fenced[m]), (m,)

    @lemma(source="facts 3.4")
    def each_change_has_its_revision(s) -> Bool:
        """Changes are at or below the revision, no two have the same, and a session ends after it began."""
        return forall(
            s.Node,
            lambda n: all_of(
                s.began[n] <= s.revision,
                s.ended[n] <= s.revision,
                implies(s.ended[n] > 0, (s.began[n] > 0) & (s.began[n] < s.ended[n])),
                forall(
                    s.Node,
                    lambda m: all_of(
                        implies((s.began[n] == s.began[m]) & (s.began[n] > 0), n == m),
                        implies((s.ended[n] == s.ended[m]) & (s.ended[n] > 0), n == m),
                        implies(s.began[n] == s.ended[m], s.began[n] == 0),
                    ),
                ),
            ),
        )

    def is_a_change(s, r: SessionsClaims.Revision) -> Bool:
        return exists(s.Node, lambda n: (s.began[n] == r) | (s.ended[n] == r))

    @lemma(source="facts 3.4")
    def one_change_follows_the_other(s) -> Bool:
        """The first change, the last one, the last reported one and its successor are those of sessions."""
        return all_of(
            implies(s.revision > 0, s.is_a_change(1) & s.is_a_change(s.revision)),
            implies(s.seen > 0, s.is_a_change(s.seen)),
            forall(
                s.Node,
                lambda n: all_of(
                    implies((s.began[n] > 0) & (s.began[n] < s.revision), s.is_a_change(s.began[n] + 1)),
                    implies((s.ended[n] > 0) & (s.ended[n] < s.revision), s.is_a_change(s.ended[n] + 1)),
                ),
            ),
        )

    @lemma(source="facts 4")
    def nothing_is_seen_before_it_happens(s) -> Bool:
        """Changes seen, forgotten or to fence are in the past; the coordinator lists before it fences."""
        return all_of(
            s.seen <= s.revision,
            s.first <= s.revision,
            s.compacted <= s.revision,
            implies(s.phase == "listed", s.first == s.seen),
        )

    @lemma(source="facts 3.4; hazard 10")
    def who_serves_was_seen(s) -> Bool:
        """A node that serves has registered, at or before the coordinator's revision."""
        return forall(
            s.Node,
            lambda n: implies(
                s.admitted[n],
                (s.began[n] > 0)
                & implies(one_of(s.phase, "listed", "serving"), s.began[n] <= s.seen)
                & (s.began[n] <= s.revision),
            ),
        )
