"""Why the checkpoint reaches each consumed position, for any size: a measure, and the actions that lower it.

The claim is of runs in which answers are lost finitely often: while the answers of one save are lost for
ever, the checkpoint waits for ever.
"""

from tidemark.spec.deletes.claims import DeletesClaims
from tidemark.spec.language import all_of, each, exists, forall, helpful, rank


class DeletesRanking(DeletesClaims):
    """One virtual channel: deletes in level-zero segments, their checkpoint, apply and drop, loads."""

    def is_ahead(s, position):
        return (s.consumed >= position) & (s.checkpoint < position)

    def has_rows(s, g, position, row):
        """The segment has rows up to the position in this state."""
        return exists(s.Position, lambda p: all_of(s.row_of(p, g), s.row[p] == row, p <= position))

    def has_deletes(s, z, position, buffer):
        """The level-zero segment is in this state, and has a delete up to the position."""
        return (s.buffer[z] == buffer) & exists(s.Position, lambda p: s.content[z, p] & (p <= position))

    @rank("the_checkpoint_passes_deletes", finitely=("faults",))
    def what_the_checkpoint_waits_for(s, position: DeletesClaims.Position):
        """Rows and deletes, step by step; then the report. Later rows and deletes are above the position."""
        return (
            each(s.Segment, lambda g: s.has_rows(g, position, "buffered")),
            each(s.Segment, lambda g: s.has_rows(g, position, "syncing")),
            each(s.Level, lambda z: s.has_deletes(z, position, "open")),
            each(s.Level, lambda z: s.has_deletes(z, position, "syncing")),
            each(s.Level, lambda z: s.has_deletes(z, position, "answered")),
            s.report < position,
        )

    @helpful("the_checkpoint_passes_deletes", action="sync_rows")
    def rows_are_written(s, position: DeletesClaims.Position, g: DeletesClaims.Segment):
        return s.is_ahead(position) & s.has_rows(g, position, "buffered"), (g,)

    @helpful("the_checkpoint_passes_deletes", action="store_rows")
    def rows_are_recorded(s, position: DeletesClaims.Position, g: DeletesClaims.Segment):
        return s.is_ahead(position) & s.has_rows(g, position, "syncing"), (g, position)

    @helpful("the_checkpoint_passes_deletes", action="sync_deletes")
    def deletes_are_written(s, position: DeletesClaims.Position, z: DeletesClaims.Level):
        return s.is_ahead(position) & s.has_deletes(z, position, "open"), (z,)

    @helpful("the_checkpoint_passes_deletes", action="record")
    def deletes_are_recorded(s, position: DeletesClaims.Position, z: DeletesClaims.Level):
        return s.is_ahead(position) & s.has_deletes(z, position, "syncing"), (z,)

    @helpful("the_checkpoint_passes_deletes", action="finish")
    def the_answer_arrives(s, position: DeletesClaims.Position, z: DeletesClaims.Level):
        return s.is_ahead(position) & s.has_deletes(z, position, "answered"), (z,)

    def is_free_up_to(s, position):
        """No row or delete up to the position holds the checkpoint back."""
        rows = forall(
            s.Segment,
            lambda g: ~s.has_rows(g, position, "buffered") & ~s.has_rows(g, position, "syncing"),
        )
        deletes = forall(
            s.Level,
            lambda z: all_of(
                ~s.has_deletes(z, position, "open"),
                ~s.has_deletes(z, position, "syncing"),
                ~s.has_deletes(z, position, "answered"),
            ),
        )
        return rows & deletes

    @helpful("the_checkpoint_passes_deletes", action="send_checkpoint")
    def the_checkpoint_is_sent(s, position: DeletesClaims.Position):
        return all_of(s.is_ahead(position), s.is_free_up_to(position), s.report < position), (position,)

    @helpful("the_checkpoint_passes_deletes", action="store_checkpoint")
    def the_checkpoint_is_stored(s, position: DeletesClaims.Position):
        return s.is_ahead(position) & (s.report >= position), (position,)
