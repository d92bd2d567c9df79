"""Inductive lemmas: why each row is stored once, after any sequence of crashes."""

from tidemark.spec.flowgraph.claims import FlowGraphClaims
from tidemark.spec.language import Bool, forall, implies, lemma


class FlowGraph(FlowGraphClaims):
    """One virtual channel: packs, buffers of segments, saves of positions, crashes and recovery."""

    @lemma(source="seed 003")
    def what_is_held_was_read(s) -> Bool:
        """Buffered and uploaded rows are rows of packs that were read."""
        return forall(
            s.Position,
            s.Segment,
            lambda p, g: implies(
                s.buffered[p, g] | s.flying[p, g],
                s.alive & s.row[p, g] & (p <= s.read) & (p > 0) & s.met[g],
            ),
        ) & (s.read <= s.reached)

    @lemma(source="seed 003")
    def an_upload_takes_what_was_read(s) -> Bool:
        """Rows of an upload are at or below the pack at which it began; rows buffered since are above."""
        return forall(
            s.Position,
            s.Segment,
            lambda p, g: (
                implies(s.flying[p, g], s.uploading[g] & (p <= s.upto[g]))
                & implies(s.buffered[p, g] & s.uploading[g], p > s.upto[g])
            ),
        ) & forall(
            s.Segment,
            lambda g: implies(
                s.uploading[g],
                (s.upto[g] <= s.read) & (s.position[g] <= s.upto[g]) & s.met[g] & s.alive,
            ),
        )

    @lemma(source="seed 003; hazard 46")
    def positions_in_memory_say_what_is_stored(s) -> Bool:
        """The node's own positions mean the same as the saved ones, for the segments that it has met."""
        return forall(
            s.Position,
            s.Segment,
            lambda p, g: implies(
                s.alive & s.met[g] & s.row[p, g] & (p > 0), s.stored[p, g] == (p <= s.position[g])
            ),
        )

    @lemma(source="seed 003")
    def what_is_stored_was_read(s) -> Bool:
        """Stored rows are at or below the last pack that was read, and belong to known segments."""
        return forall(
            s.Position,
            s.Segment,
            lambda p, g: implies(s.stored[p, g], (p <= s.reached) & s.known[g] & s.row[p, g] & (p > 0)),
        )

    @lemma(source="seed 003")
    def known_segments_are_met(s) -> Bool:
        """A running node has met all segments of the store; the store has positions of no other."""
        return forall(
            s.Segment,
            lambda g: (
                implies(s.alive & s.known[g], s.met[g])
                & implies(~s.known[g], (s.saved[g] == 0) & (s.dropped[g] == 0))
                & (s.saved[g] <= s.reached)
                & implies(s.alive & s.met[g], s.position[g] <= s.reached)
            ),
        )

    @lemma(source="seed 003")
    def what_is_not_met_lies_behind_all_positions(s) -> Bool:
        """Rows of a segment that was not met are behind each position, in memory and in the store."""
        return forall(
            s.Position,
            s.Segment,
            s.Segment,
            lambda p, g, h: (
                implies(~s.known[g] & s.row[p, g] & (p > 0), p > s.saved[h])
                & implies(s.alive & ~s.met[g] & s.met[h] & s.row[p, g] & (p > 0), p > s.position[h])
            ),
        )

    @lemma(source="seed 003")
    def a_segment_is_met_with_its_first_row(s) -> Bool:
        """No row of a segment that was not met has been read."""
        return forall(
            s.Position,
            s.Segment,
            lambda p, g: implies(s.alive & ~s.met[g] & s.row[p, g] & (p > 0), p > s.read),
        )

    @lemma(source="seed 003; hazard 47")
    def what_is_dropped_is_stored(s) -> Bool:
        """A row that a recovered node still has to read is dropped exactly if it is stored."""
        return forall(
            s.Position,
            s.Segment,
            lambda p, g: implies(
                s.alive & s.row[p, g] & (p > s.read),
                s.stored[p, g] == ((p <= s.dropped[g]) & (p <= s.threshold)),
            ),
        )
