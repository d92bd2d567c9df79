"""Claims about deletes: none is lost, none removes a later row; liveness and witnesses."""

from tidemark.spec.deletes.actions import DeletesActions
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
    reachable,
    transition_invariant,
)


class DeletesClaims(DeletesActions):
    """One virtual channel: deletes in level-zero segments, their checkpoint, apply and drop, loads."""

    @assumption(source="facts 7.1")
    def a_position_carries_one_thing(s) -> Bool:
        """A row, or a delete, or nothing; position 0 is before everything."""
        return ~s.inserts[0] & ~s.deletes[0] & forall(s.Position, lambda p: ~(s.inserts[p] & s.deletes[p]))

    # ---- safety ----

    @invariant(source="facts 7.5; B60; property S")
    def the_checkpoint_passes_no_unsynced_delete(s) -> Bool:
        """Every delete at or below the stored checkpoint was recorded."""
        return forall(s.Position, lambda d: implies(s.deletes[d] & (d <= s.checkpoint), s.durable(d)))

    @invariant(source="facts 7.2, 7.6; property S")
    def no_consumed_delete_is_lost(s) -> Bool:
        """Every consumed delete is in a buffer, on its way, or recorded."""
        return forall(
            s.Position,
            lambda d: implies(
                s.deletes[d] & (d <= s.consumed),
                s.durable(d) | exists(s.Level, lambda z: s.content[z, d] & (s.buffer[z] != "none")),
            ),
        )

    @invariant(source="facts 10.4; B38")
    def dropped_means_applied(s) -> Bool:
        """A level-zero segment is dropped only when every segment with an older row has its deletes."""
        return forall(
            s.Level,
            s.Position,
            s.Position,
            lambda z, r, d: implies(
                all_of(s.level[z] == "dropped", s.content[z, d], s.is_older(r, d)), s.settled(r, d)
            ),
        )

    @invariant(source="facts 10.4, 6.1")
    def files_have_the_deletes_of_their_checkpoint(s) -> Bool:
        """At or below the delete checkpoint, every delete is in the files of the segments with older rows."""
        return forall(
            s.Position,
            s.Position,
            lambda r, d: implies((d <= s.delete_checkpoint()) & s.is_older(r, d), s.settled(r, d)),
        )

    @invariant(source="facts 6.1; B34; B37; property R")
    def deleted_rows_stay_deleted(s) -> Bool:
        """A row that a load shows is removed by each of its deletes: by level zero, or by the stream."""
        return forall(
            s.Position,
            s.Position,
            lambda r, d: implies(s.shown[r] & s.is_older(r, d), s.lifted[d] | (d > s.start)),
        )

    @invariant(source="facts 7.1; property R", frame=True)
    def only_older_rows_are_removed(s) -> Bool:
        """A row that the files have lost has a newer delete."""
        return forall(
            s.Position,
            lambda r: implies(s.row[r] == "removed", exists(s.Position, lambda d: s.is_older(r, d))),
        )

    @invariant(source="facts 7.1, 6.1; property R")
    def rows_without_delete_are_shown(s) -> Bool:
        """However often deletes were applied: a segment that was read shows each row up to the start of the
        stream, unless the log has a newer delete of its key.
        """
        return forall(
            s.Position,
            lambda r: implies(
                all_of(s.inserts[r], s.read[s.segment_of[r]], r <= s.start, ~s.shown[r]),
                exists(s.Position, lambda d: s.is_older(r, d)),
            ),
        )

    @transition_invariant(source="facts 10.1; property M", frame=True)
    def the_checkpoint_never_goes_back(before, after: Self) -> Bool:
        """The stored checkpoint never goes back."""
        return after.checkpoint >= before.checkpoint

    # ---- liveness ----

    @leads_to(source="seed 000; property CL")
    def the_checkpoint_passes_deletes(s, position: DeletesActions.Position) -> tuple[Bool, Bool]:
        """The checkpoint reaches each consumed position, unless another node follows."""
        return s.consumed >= position, (s.checkpoint >= position) | (s.consumed < position)

    # ---- witnesses ----

    @reachable(after="apply", source="facts 7.1")
    def a_delete_is_applied_twice(
        before, after: Self, z: DeletesActions.Level, g: DeletesActions.Segment
    ) -> Bool:
        """A delete that was replayed is applied to a segment that has it."""
        return exists(
            after.Position,
            after.Position,
            lambda r, d: all_of(
                before.row_of(r, g), before.is_older(r, d), before.content[z, d], before.delta[g, d]
            ),
        )

    @reachable(after="apply", source="facts 7.1")
    def a_filter_is_wrong(before, after: Self, z: DeletesActions.Level, g: DeletesActions.Segment) -> Bool:
        """A segment takes a delete of a key that it does not have."""
        return exists(
            after.Position,
            lambda d: all_of(
                after.content[z, d],
                after.delta[g, d],
                forall(after.Position, lambda r: ~(after.row_of(r, g) & (after.key[r] == after.key[d]))),
            ),
        )

    @reachable(after="apply", source="facts 7.1")
    def a_filter_spares_a_segment(
        before, after: Self, z: DeletesActions.Level, g: DeletesActions.Segment
    ) -> Bool:
        """A segment does not take a delete, because its filter does not know the key."""
        return exists(after.Position, lambda d: after.content[z, d] & ~after.delta[g, d])

    @reachable(after="apply", source="facts 10.2")
    def an_import_takes_a_delete(
        before, after: Self, z: DeletesActions.Level, g: DeletesActions.Segment
    ) -> Bool:
        """A delete is applied to a segment that was imported after the delete was recorded."""
        return after.imported[g] & exists(
            after.Position, after.Position, lambda r, d: after.delta[g, d] & after.is_older(r, d)
        )

    @reachable(after="record", source="facts 10.2; hazard 22")
    def a_save_of_the_dead(before, after: Self, z: DeletesActions.Level) -> Bool:
        """A level-zero segment is recorded after the end of its sender."""
        return (before.level[z] == "unknown") & (before.buffer[z] == "none")

    @reachable(after="read_segment", source="facts 7.1")
    def a_later_row_stays(before, after: Self, g: DeletesActions.Segment) -> Bool:
        """The files have a delete of the key, and show a row that is newer."""
        return exists(
            after.Position,
            after.Position,
            lambda r, d: all_of(
                after.row_of(r, g),
                after.shown[r],
                after.delta[g, d],
                after.key[r] == after.key[d],
                d < r,
            ),
        )

    @reachable(after="read_segment", source="facts 6.1")
    def a_level_is_needed(before, after: Self, g: DeletesActions.Segment) -> Bool:
        """A row is found whose delete is before the start of the stream, in a level-zero segment."""
        return exists(
            after.Position,
            after.Position,
            lambda r, d: all_of(
                after.row_of(r, g), after.shown[r], after.is_older(r, d), after.lifted[d], d <= after.start
            ),
        )

    @reachable(after="begin_load", source="facts 10.4; B37")
    def the_stream_begins_before_the_checkpoint(before, after: Self, levels: Bool) -> Bool:
        """A delete of a recorded level-zero segment is replayed from the log."""
        return exists(
            after.Position, lambda d: all_of(after.deletes[d], d > after.start, d <= after.checkpoint)
        )
