"""Lemmas and ranks: why no delete is lost from buffers of segments, for any log, any crashes and loads."""

from tidemark.spec.delete_buffers.claims import DeleteBuffersClaims
from tidemark.spec.language import (
    Bool,
    HelpfulCase,
    Measure,
    all_of,
    each,
    exists,
    forall,
    helpful,
    implies,
    lemma,
    rank,
)


class DeleteBuffers(DeleteBuffersClaims):
    """One virtual channel: rows and deletes in buffers of segments, level zero beside them, loads."""

    def is_ahead(s, position: DeleteBuffersClaims.Position) -> Bool:
        return (s.consumed >= position) & (s.checkpoint < position)

    def buffers(s, g: DeleteBuffersClaims.Segment, position: DeleteBuffersClaims.Position) -> Bool:
        """The buffer of the segment has a row or a delete up to the position."""
        return exists(s.Position, lambda p: s.held[g, p] & (p <= position))

    def saves(s, g: DeleteBuffersClaims.Segment, position: DeleteBuffersClaims.Position) -> Bool:
        """A save must end before the segment holds back nothing."""
        in_flight = exists(s.Position, lambda p: s.flying[g, p] & (p <= position))
        return s.busy[g] & (in_flight | s.buffers(g, position))

    def is_recorded(s, g: DeleteBuffersClaims.Segment) -> Bool:
        """All of the last save is in the files."""
        return forall(s.Position, lambda p: implies(s.flying[g, p], s.stored[g, p]))

    @rank("the_checkpoint_passes_deletes")
    def what_the_checkpoint_waits_for(s, position: DeleteBuffersClaims.Position) -> Measure:
        """Buffers, saves, records: later rows and deletes are above the position."""
        return (
            each(s.Segment, lambda g: s.buffers(g, position)),
            each(s.Segment, lambda g: s.saves(g, position)),
            each(s.Segment, lambda g: s.saves(g, position) & ~s.is_recorded(g)),
        )

    @helpful("the_checkpoint_passes_deletes", action="sync")
    def a_buffer_is_written(
        s, position: DeleteBuffersClaims.Position, g: DeleteBuffersClaims.Segment
    ) -> HelpfulCase:
        return all_of(s.is_ahead(position), s.buffers(g, position), ~s.busy[g]), (g,)

    @helpful("the_checkpoint_passes_deletes", action="record")
    def a_save_is_recorded(
        s, position: DeleteBuffersClaims.Position, g: DeleteBuffersClaims.Segment
    ) -> HelpfulCase:
        return all_of(s.is_ahead(position), s.saves(g, position), ~s.is_recorded(g)), (g,)

    @helpful("the_checkpoint_passes_deletes", action="finish")
    def a_save_ends(s, position: DeleteBuffersClaims.Position, g: DeleteBuffersClaims.Segment) -> HelpfulCase:
        return all_of(s.is_ahead(position), s.saves(g, position), s.is_recorded(g)), (g,)

    @helpful("the_checkpoint_passes_deletes", action="move_checkpoint")
    def the_checkpoint_moves(s, position: DeleteBuffersClaims.Position) -> HelpfulCase:
        free = forall(s.Segment, lambda g: ~s.buffers(g, position) & ~s.saves(g, position))
        return s.is_ahead(position) & free, (position,)

    @lemma(source="facts 7.2")
    def what_is_kept_is_in_the_log(s) -> Bool:
        """A segment has rows of its own, and deletes; rows and deletes in memory were consumed."""
        return forall(
            s.Segment,
            s.Position,
            lambda g, p: all_of(
                implies(s.held[g, p] | s.flying[g, p], s.deletes[p] | (s.row_of(p, g) & ~s.imported[g])),
                implies(s.stored[g, p], s.deletes[p] | s.row_of(p, g)),
                implies(s.in_memory(g, p), p <= s.consumed),
            ),
        )

    @lemma(source="facts 7.4, 7.6")
    def a_save_brings_what_it_says(s) -> Bool:
        """A row at or below the position of a save is in it, or in the files already."""
        return forall(
            s.Segment,
            s.Position,
            lambda g, p: implies(
                all_of(
                    s.row_of(p, g),
                    ~s.imported[g],
                    p <= s.upto[g],
                    exists(s.Position, lambda q: s.flying[g, q]),
                ),
                s.stored[g, p] | s.flying[g, p] | s.dropped[g],
            ),
        )

    @lemma(source="facts 7.4, B60")
    def a_level_is_written_once(s) -> Bool:
        """All deletes in a level-zero segment's files were in its one save; its buffer was not sent."""
        return all_of(
            forall(
                s.Segment,
                s.Position,
                s.Position,
                lambda z, p, q: all_of(
                    implies(s.is_level[z] & s.stored[z, p], s.flying[z, p]),
                    implies(s.is_level[z] & s.held[z, p], ~s.flying[z, q]),
                    implies(all_of(s.is_level[z], s.stored[z, p], s.flying[z, q]), s.stored[z, q]),
                ),
            ),
            forall(
                s.Segment,
                lambda z: implies(s.is_level[z] & s.dropped[z], exists(s.Position, lambda p: s.stored[z, p])),
            ),
        )

    @lemma(source="facts 7.2, 7.6")
    def rows_are_kept(s) -> Bool:
        """Every consumed row is in memory or in files; all at or below the checkpoint are in files."""
        return forall(
            s.Position,
            lambda p: implies(
                all_of(s.inserts[p], ~s.imported[s.segment_of[p]], ~s.dropped[s.segment_of[p]]),
                all_of(
                    implies(p <= s.consumed, s.stored[s.segment_of[p], p] | s.in_memory(s.segment_of[p], p)),
                    implies(p <= s.checkpoint, s.stored[s.segment_of[p], p]),
                ),
            ),
        )

    @lemma(source="facts 6.1")
    def a_load_begins_safely(s) -> Bool:
        """At or below the start of the stream, rows are in files; deletes are so too, or were loaded."""
        return all_of(
            s.start <= s.checkpoint,
            forall(
                s.Position,
                s.Position,
                lambda r, d: implies(
                    (d <= s.start) & s.is_due(r, d),
                    s.stored[s.segment_of[r], d] | s.dropped[s.segment_of[r]] | s.lifted[d],
                ),
            ),
            forall(
                s.Position,
                lambda r: implies(s.shown[r], s.stored[s.segment_of[r], r] & s.read[s.segment_of[r]]),
            ),
        )
