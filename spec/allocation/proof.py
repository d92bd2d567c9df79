"""Inductive lemmas: why no row can follow in an ended segment."""

from tidemark.spec.allocation.claims import AllocationClaims
from tidemark.spec.language import Bool, all_of, forall, implies, ite, lemma, one_of


class Allocation(AllocationClaims):
    """One channel: rows, grants of segments with their expiry, ticks, sealed and ended segments, restarts."""

    @lemma(source="facts 4")
    def rows_under_way_lie_above_the_tick(s) -> Bool:
        """Every row that may still come is above the greatest tick, and the oracle has issued the tick."""
        return s.is_below_all_to_come(s.tick) & (s.told <= s.tick)

    @lemma(source="facts 2.3")
    def timestamps_were_issued(s) -> Bool:
        """The oracle has issued the timestamps and floors of all rows."""
        return forall(s.Row, lambda r: (s.ts[r] <= s.issued) & (s.floor[r] <= s.issued))

    @lemma(source="seed 004, 6.3")
    def assigned_rows_have_a_valid_grant(s) -> Bool:
        """A row with a segment has it from a grant that was given, with an expiry not below the row."""
        return forall(
            s.Row,
            s.Grant,
            lambda r, a: implies(
                s.uses[r, a],
                all_of(one_of(s.stage[r], "assigned", "logged"), s.given[a], s.ts[r] <= s.until[a]),
            ),
        )

    @lemma(source="seed 004, 6.3")
    def grants_end_within_the_span(s) -> Bool:
        """No grant is valid for longer than the span from now; in a pause, from its begin."""
        return (s.since <= s.issued) & forall(
            s.Grant,
            lambda a: implies(s.given[a], s.until[a] <= ite(s.up, s.issued, s.since) + s.span),
        )

    @lemma(source="seed 004, 6.3")
    def the_coordinator_knows_the_latest_expiry(s) -> Bool:
        """While it is up: no grant of a segment that has not ended expires later than it believes."""
        return forall(
            s.Grant,
            lambda a: implies(
                all_of(s.up, s.given[a], s.phase[s.of[a]] != "ended"), s.until[a] <= s.expiry[s.of[a]]
            ),
        )

    @lemma(source="seed 004, 6.3")
    def grants_of_an_ended_segment_are_passed(s) -> Bool:
        """The data node has read a tick above all grants of an ended segment."""
        return forall(
            s.Grant,
            lambda a: implies(s.given[a] & (s.phase[s.of[a]] == "ended"), s.until[a] <= s.told),
        )
