"""Claims about buffers of deletes: none is lost over crashes and loads; liveness and witnesses."""

from tidemark.spec.delete_buffers.actions import DeleteBuffersActions
from tidemark.spec.language import (
    Bool,
    Self,
    all_of,
    any_of,
    assumption,
    exists,
    forall,
    implies,
    invariant,
    leads_to,
    reachable,
)


class DeleteBuffersClaims(DeleteBuffersActions):
    """One virtual channel: rows and deletes in buffers of segments, level zero beside them, loads."""

    @assumption(source="facts 7.1")
    def a_position_carries_one_thing(s) -> Bool:
        """A row, or a delete, or nothing; position 0 is before everything. Level zero has no rows."""
        return all_of(
            ~s.inserts[0],
            ~s.deletes[0],
            forall(s.Position, lambda p: ~(s.inserts[p] & s.deletes[p])),
            forall(s.Position, lambda p: implies(s.inserts[p], ~s.is_level[s.segment_of[p]])),
        )

    # ---- safety ----

    @invariant(source="facts 7.2, 7.6; seed 001; property S")
    def no_consumed_delete_is_lost(s) -> Bool:
        """Every consumed delete of a row is in its segment's files or buffer, under way, or in level zero."""
        return forall(
            s.Position,
            s.Position,
            lambda r, d: implies(
                s.is_due(r, d) & (d <= s.consumed),
                any_of(
                    s.is_safe(r, d),
                    s.in_memory(s.segment_of[r], d),
                    exists(s.Segment, lambda z: s.is_level[z] & s.in_memory(z, d)),
                ),
            ),
        )

    @invariant(source="facts 7.5; seed 001; property S")
    def the_checkpoint_passes_no_unsynced_delete(s) -> Bool:
        """A delete at or below the checkpoint is in level zero, or in each segment with older rows."""
        return forall(
            s.Position,
            s.Position,
            lambda r, d: implies(s.is_due(r, d) & (d <= s.checkpoint), s.is_safe(r, d)),
        )

    @invariant(source="facts 7.1, 7.6; property S")
    def a_position_passes_no_unsynced_row(s) -> Bool:
        """A row of the log up to the position of its segment, unless that is dropped, is in the files."""
        return forall(
            s.Segment,
            s.Position,
            lambda g, p: implies(
                all_of(s.row_of(p, g), ~s.imported[g], p <= s.position[g]), s.stored[g, p] | s.dropped[g]
            ),
        )

    @invariant(source="facts 10.4; B38")
    def dropped_means_applied(s) -> Bool:
        """A level-zero segment is dropped only when every segment with an older row has its deletes."""
        return forall(
            s.Segment,
            s.Position,
            s.Position,
            lambda z, r, d: implies(
                all_of(s.is_level[z], s.dropped[z], s.stored[z, d], s.is_older(r, d)),
                s.stored[s.segment_of[r], d] | s.dropped[s.segment_of[r]],
            ),
        )

    @invariant(source="facts 6.1; B34; B37; property R")
    def deleted_rows_stay_deleted(s) -> Bool:
        """A row that a load shows is removed by each of its deletes: by level zero, or by the stream."""
        return forall(
            s.Position,
            s.Position,
            lambda r, d: implies(s.shown[r] & s.is_older(r, d), s.lifted[d] | (d > s.start)),
        )

    @invariant(source="facts 7.1, 6.1; property R")
    def rows_without_delete_are_shown(s) -> Bool:
        """However often a delete was stored: a segment that was read shows each row of the log up to the
        start of the stream, unless the log has a newer delete of its key.
        """
        return forall(
            s.Position,
            lambda r: implies(
                all_of(
                    s.inserts[r],
                    ~s.imported[s.segment_of[r]],
                    s.read[s.segment_of[r]],
                    r <= s.start,
                    ~s.shown[r],
                ),
                exists(s.Position, lambda d: s.is_older(r, d)),
            ),
        )

    # ---- liveness ----

    @leads_to(source="seed 001; property CL")
    def the_checkpoint_passes_deletes(s, position: DeleteBuffersActions.Position) -> tuple[Bool, Bool]:
        """The checkpoint reaches each consumed position, unless another node follows."""
        return s.consumed >= position, (s.checkpoint >= position) | (s.consumed < position)

    # ---- witnesses ----

    @reachable(after="take_delete", source="facts 7.1")
    def a_filter_is_wrong(before, after: Self) -> Bool:
        """A delete goes into the buffer of a segment that has no row of its key."""
        return exists(
            after.Segment,
            after.Position,
            lambda g, d: all_of(
                after.held[g, d],
                after.deletes[d],
                forall(after.Position, lambda r: ~(after.row_of(r, g) & (after.key[r] == after.key[d]))),
            ),
        )

    @reachable(after="take_delete", source="facts 7.1")
    def a_filter_spares_a_segment(before, after: Self) -> Bool:
        """A delete goes into the buffer of one segment, and not into that of another."""
        d = after.consumed
        return exists(
            after.Segment,
            after.Segment,
            lambda g, h: all_of(after.held[g, d], ~after.held[h, d], ~after.is_level[h]),
        )

    @reachable(after="sync", source="facts 7.3; seed 001")
    def a_buffer_of_deletes_alone_is_written(before, after: Self, g: DeleteBuffersActions.Segment) -> Bool:
        """A segment is written out that has no row to write."""
        return ~after.is_level[g] & forall(after.Position, lambda p: ~(after.flying[g, p] & after.inserts[p]))

    @reachable(after="record", source="facts 7.6; hazard 22")
    def a_save_of_the_dead(before, after: Self, g: DeleteBuffersActions.Segment) -> Bool:
        """A save is recorded after the end of its node."""
        return ~before.busy[g]

    @reachable(after="apply", source="facts 7.1")
    def a_delete_is_stored_twice(
        before, after: Self, z: DeleteBuffersActions.Segment, g: DeleteBuffersActions.Segment
    ) -> Bool:
        """A delete of a level-zero segment is also in the buffer of the segment to which it is applied."""
        return exists(after.Position, lambda d: before.held[g, d] & after.stored[g, d])

    @reachable(after="read_segment", source="facts 6.1")
    def a_level_is_needed(before, after: Self, g: DeleteBuffersActions.Segment) -> Bool:
        """A row is found whose delete is before the start of the stream, in a level-zero segment."""
        return exists(
            after.Position,
            after.Position,
            lambda r, d: all_of(
                after.row_of(r, g), after.shown[r], after.is_older(r, d), after.lifted[d], d <= after.start
            ),
        )
