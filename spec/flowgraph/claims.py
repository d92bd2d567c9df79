"""Claims about the recovery of a flow graph: safety and witnesses."""

from tidemark.spec.flowgraph.actions import FlowGraphActions
from tidemark.spec.language import Bool, Self, exists, forall, implies, invariant, reachable


class FlowGraphClaims(FlowGraphActions):
    """One virtual channel: packs, buffers of segments, saves of positions, crashes and recovery."""

    # ---- safety ----

    @invariant(source="seed 003")
    def no_row_is_lost(s) -> Bool:
        """While the node runs, each row up to the last pack is stored, buffered or uploaded."""
        return forall(
            s.Position,
            s.Segment,
            lambda p, g: implies(
                s.alive & s.row[p, g] & (p <= s.read) & (p > 0),
                s.stored[p, g] | s.buffered[p, g] | s.flying[p, g],
            ),
        )

    @invariant(source="seed 003; hazard 46")
    def no_row_is_stored_twice(s) -> Bool:
        """A stored row is not buffered or uploaded again."""
        return forall(
            s.Position, s.Segment, lambda p, g: ~(s.stored[p, g] & (s.buffered[p, g] | s.flying[p, g]))
        )

    @invariant(source="seed 003; hazard 46")
    def a_position_says_what_is_stored(s) -> Bool:
        """Exactly the rows of a segment at or below its saved position are stored."""
        return forall(
            s.Position,
            s.Segment,
            lambda p, g: implies(s.row[p, g] & (p > 0), s.stored[p, g] == (s.known[g] & (p <= s.saved[g]))),
        )

    # ---- witnesses ----

    @reachable(after="recover", source="seed 003")
    def recovery_begins_in_the_middle(
        before, after: Self, seek: FlowGraphActions.Position, now: FlowGraphActions.Position
    ) -> Bool:
        """A recovery that skips a part of the log."""
        return after.read > 0

    @reachable(after="consume", source="seed 003")
    def a_replayed_row_is_dropped(before, after: Self) -> Bool:
        """A row that is stored is read again, and dropped."""
        return exists(
            before.Segment,
            lambda g: before.row[after.read, g] & before.stored[after.read, g],
        )

    @reachable(after="save", source="seed 003")
    def a_save_records_a_segment_without_a_flush(before, after: Self, g: FlowGraphActions.Segment) -> Bool:
        """The position of a segment that was never flushed is saved with another's flush."""
        return exists(before.Segment, lambda h: (h != g) & ~before.known[h] & after.known[h])

    @reachable(after="crash", source="seed 003")
    def a_crash_during_recovery(before, after: Self) -> Bool:
        """The node crashes again before it has read as far as before."""
        return (before.read < before.reached) & (before.faults > 0)
