"""Claims about the allocation of segments: safety and witnesses."""

from tidemark.spec.allocation.actions import AllocationActions
from tidemark.spec.language import Bool, Self, all_of, exists, forall, implies, invariant, reachable


class AllocationClaims(AllocationActions):
    """One channel: rows, grants of segments with their expiry, ticks, sealed and ended segments, restarts."""

    # ---- safety ----

    @invariant(source="facts 10.3; seed 004, 6.3")
    def no_row_joins_an_ended_segment(s) -> Bool:
        """No row of an ended segment can come into the log any more."""
        return forall(s.Segment, s.Row, lambda g, r: implies(s.phase[g] == "ended", ~s.may_join(r, g)))

    @invariant(source="facts 10.3; seed 004, 6.3")
    def the_rows_of_an_ended_segment_were_read(s) -> Bool:
        """Rows of an ended segment are at or below the tick up to which the data node has read."""
        return forall(
            s.Row,
            s.Grant,
            lambda r, a: implies(
                all_of(s.stage[r] == "logged", s.uses[r, a], s.phase[s.of[a]] == "ended"), s.ts[r] <= s.told
            ),
        )

    # ---- witnesses ----

    @reachable(after="end", source="seed 004, 6.3")
    def a_segment_ends_with_a_row(before, after: Self, g: AllocationActions.Segment) -> Bool:
        """A segment with a row in the log ends."""
        return exists(
            before.Row,
            before.Grant,
            lambda r, a: all_of(before.stage[r] == "logged", before.uses[r, a], before.of[a] == g),
        )

    @reachable(after="end", source="seed 004, 6.3")
    def a_segment_ends_although_a_grant_was_forgotten(
        before, after: Self, g: AllocationActions.Segment
    ) -> Bool:
        """The coordinator has restarted since the segment's only grants were given."""
        return (before.faults > 0) & exists(
            before.Grant, lambda a: before.given[a] & (before.of[a] == g) & (before.until[a] > 0)
        )

    @reachable(after="assign", source="seed 004, 6.3")
    def a_grant_serves_its_very_expiry(
        before, after: Self, r: AllocationActions.Row, a: AllocationActions.Grant
    ) -> Bool:
        """A row has exactly the timestamp of its grant's expiry."""
        return before.ts[r] == before.until[a]

    @reachable(after="stamp", source="seed 004, 6.3")
    def a_row_finds_its_grants_expired(
        before, after: Self, r: AllocationActions.Row, ts: AllocationActions.Ts
    ) -> Bool:
        """There are grants, and the row's timestamp is above the expiry of each."""
        return exists(after.Grant, lambda a: after.given[a]) & forall(
            after.Grant, lambda a: implies(after.given[a], ts > after.until[a])
        )
