"""Claims about sessions and the coordinator that follows them: safety, liveness, witnesses."""

from tidemark.spec.language import Bool, Self, all_of, exists, forall, implies, invariant, leads_to, reachable
from tidemark.spec.sessions.actions import SessionsActions


class SessionsClaims(SessionsActions):
    """Sessions of one store, and one coordinator at a time that lists, fences and watches."""

    # ---- safety ----

    @invariant(source="facts 4; hazard 10")
    def the_view_is_the_store_of_its_revision(s) -> Bool:
        """The coordinator knows exactly the sessions that were live at the revision that it has seen."""
        return forall(s.Node, lambda n: s.view[n] == s.was_live(n, s.seen))

    @invariant(source="facts 4; hazards 10, 11, 30; B46")
    def who_serves_is_known_or_refused(s) -> Bool:
        """While the coordinator serves, it waits for each node that may write, or the logs refuse it."""
        return implies(
            s.phase == "serving",
            forall(s.Node, lambda n: implies(s.admitted[n], s.view[n] | s.fenced[n])),
        )

    @invariant(frame=True, source="facts 4; hazard 11")
    def no_live_session_is_refused(s) -> Bool:
        """The logs refuse only sessions that have ended."""
        return forall(s.Node, lambda n: implies(s.fenced[n], s.ended[n] > 0))

    # ---- liveness ----

    @leads_to(source="facts 4: addSession")
    def a_session_becomes_known(s, n: SessionsActions.Node) -> tuple[Bool, Bool]:
        """A session that does not end becomes known to a coordinator."""
        return (s.began[n] > 0) & (s.ended[n] == 0), s.view[n] | (s.ended[n] > 0)

    @leads_to(source="facts 4: delSession; hazard 11")
    def a_session_that_is_over_is_refused(s, n: SessionsActions.Node) -> tuple[Bool, Bool]:
        """The logs refuse, in the end, each session that has ended."""
        return s.ended[n] > 0, s.fenced[n]

    # ---- witnesses ----

    @reachable(after="serve", source="hazard 30")
    def a_session_ends_between_list_and_watch(before, after: Self) -> Bool:
        """A session of the list ends before the watch begins."""
        return exists(before.Node, lambda n: before.view[n] & (before.ended[n] > 0))

    @reachable(after="lose_watch", source="seed 004: service discovery")
    def the_watch_falls_behind(before, after: Self) -> Bool:
        """The watch is refused while a node serves."""
        return exists(before.Node, lambda n: before.admitted[n] & (before.ended[n] > 0) & ~before.fenced[n])

    @reachable(after="learn", source="facts 4: addSession")
    def a_session_is_learned_after_its_end(before, after: Self, n: SessionsActions.Node) -> Bool:
        """The watch reports a session that has ended already."""
        return before.ended[n] > 0

    @reachable(after="list_sessions", source="B46")
    def a_coordinator_finds_a_node_that_serves(before, after: Self) -> Bool:
        """A coordinator that starts lists a node that its predecessor has admitted."""
        return exists(before.Node, lambda n: all_of(before.admitted[n], after.view[n], before.faults > 0))
