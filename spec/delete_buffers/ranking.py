"""Why the checkpoint reaches each consumed position, for any number of segments: measure and actions."""

from tidemark.spec.delete_buffers.claims import DeleteBuffersClaims
from tidemark.spec.language import all_of, each, exists, forall, helpful, implies, rank


class DeleteBuffersRanking(DeleteBuffersClaims):
    """One virtual channel: rows and deletes in buffers of segments, level zero beside them, loads."""

    def is_ahead(s, position):
        return (s.consumed >= position) & (s.checkpoint < position)

    def buffers(s, g, position):
        """The buffer of the segment has a row or a delete up to the position."""
        return exists(s.Position, lambda p: s.held[g, p] & (p <= position))

    def saves(s, g, position):
        """A save must end before the segment holds back nothing."""
        in_flight = exists(s.Position, lambda p: s.flying[g, p] & (p <= position))
        return s.busy[g] & (in_flight | s.buffers(g, position))

    def is_recorded(s, g):
        """All of the last save is in the files."""
        return forall(s.Position, lambda p: implies(s.flying[g, p], s.stored[g, p]))

    @rank("the_checkpoint_passes_deletes")
    def what_the_checkpoint_waits_for(s, position: DeleteBuffersClaims.Position):
        """Buffers, saves, records: later rows and deletes are above the position."""
        return (
            each(s.Segment, lambda g: s.buffers(g, position)),
            each(s.Segment, lambda g: s.saves(g, position)),
            each(s.Segment, lambda g: s.saves(g, position) & ~s.is_recorded(g)),
        )

    @helpful("the_checkpoint_passes_deletes", action="sync")
    def a_buffer_is_written(s, position: DeleteBuffersClaims.Position, g: DeleteBuffersClaims.Segment):
        return all_of(s.is_ahead(position), s.buffers(g, position), ~s.busy[g]), (g,)

    @helpful("the_checkpoint_passes_deletes", action="record")
    def a_save_is_recorded(s, position: DeleteBuffersClaims.Position, g: DeleteBuffersClaims.Segment):
        return all_of(s.is_ahead(position), s.saves(g, position), ~s.is_recorded(g)), (g,)

    @helpful("the_checkpoint_passes_deletes", action="finish")
    def a_save_ends(s, position: DeleteBuffersClaims.Position, g: DeleteBuffersClaims.Segment):
        return all_of(s.is_ahead(position), s.saves(g, position), s.is_recorded(g)), (g,)

    @helpful("the_checkpoint_passes_deletes", action="move_checkpoint")
    def the_checkpoint_moves(s, position: DeleteBuffersClaims.Position):
        free = forall(s.Segment, lambda g: ~s.buffers(g, position) & ~s.saves(g, position))
        return s.is_ahead(position) & free, (position,)
