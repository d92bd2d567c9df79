"""Claims about a paused proxy: safety and witnesses."""

from tidemark.spec.language import Bool, Self, forall, implies, invariant, reachable, transition_invariant
from tidemark.spec.paused.actions import PausedActions


class PausedClaims(PausedActions):
    """Proxies with leases, one channel with its tick, segments that are flushed, a data node that crashes."""

    # ---- helpers ----

    def is_there(s, r: PausedActions.Row) -> Bool:
        """The row is stored, in memory, or still to come from the log."""
        return (s.copy[r] != "none") | ~(s.replayed[r] & s.is_flushed(r))

    # ---- safety ----

    @invariant(source="hazard 11; hazard 17; facts 10.1")
    def acknowledged_rows_are_not_lost(s) -> Bool:
        """A row that was acknowledged is stored, in memory, or comes again from the log."""
        return forall(s.Row, lambda r: implies(s.acknowledged[r], s.is_there(r)))

    @invariant(source="hazard 11; hazard 17")
    def rows_that_were_read_are_not_lost(s) -> Bool:
        """A row that a read has shown is stored, in memory, or comes again from the log."""
        return forall(s.Row, lambda r: implies(s.seen[r], s.is_there(r)))

    @transition_invariant(source="property W; hazard 11")
    def nothing_follows_its_tick(before, after: Self) -> Bool:
        """A row is appended above the tick."""
        return forall(
            before.Row,
            lambda r: implies(
                (before.stage[r] == "stamped") & (after.stage[r] == "appended"), before.ts[r] > before.tick
            ),
        )

    @invariant(source="facts 7.6; hazard 17")
    def flushed_segments_are_complete(s) -> Bool:
        """The log holds no row of a flushed segment that is not stored."""
        return forall(
            s.Row,
            lambda r: implies((s.stage[r] == "appended") & s.is_flushed(r), s.copy[r] == "durable"),
        )

    # ---- witnesses ----

    @reachable(after="crash", source="hazard 11")
    def a_crash_after_a_flush(before, after: Self) -> Bool:
        """A crash with a row of a segment that is not flushed, after another one was flushed."""
        return ~forall(before.Segment, lambda g: before.phase[g] != "flushed")

    @reachable(after="send_tick", source="hazard 11")
    def a_tick_passes_a_row_of_an_ended_session(before, after: Self) -> Bool:
        """The coordinator no longer waits for the row."""
        return ~forall(
            before.Row,
            lambda r: ~((before.stage[r] == "stamped") & (before.ts[r] <= after.tick)),
        )

    @reachable(after="flush", source="facts 7.6")
    def a_flush_stores_a_row(before, after: Self) -> Bool:
        """A row becomes durable."""
        return ~forall(before.Row, lambda r: before.copy[r] != "buffered")

    @reachable(after="consume", source="facts 5.1")
    def a_row_is_replayed(before, after: Self) -> Bool:
        """A row comes again after a crash."""
        return ~forall(before.Row, lambda r: ~(before.replayed[r] & (after.copy[r] == "buffered")))
