"""Lemmas and ranks: why no delete is lost, for any log, any number of segments, crashes and loads.

The liveness claim is of runs in which answers are lost finitely often: while the answers of one save are lost
for ever, the checkpoint waits for ever.
"""

from tidemark.spec.deletes.claims import DeletesClaims
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
    one_of,
    rank,
)


class Deletes(DeletesClaims):
    """One virtual channel: deletes in level-zero segments, their checkpoint, apply and drop, loads."""

    def is_ahead(s, position: DeletesClaims.Position) -> Bool:
        return (s.consumed >= position) & (s.checkpoint < position)

    def has_rows(
        s, g: DeletesClaims.Segment, position: DeletesClaims.Position, row: DeletesClaims.Row
    ) -> Bool:
        """The segment has rows up to the position in this state."""
        return exists(s.Position, lambda p: all_of(s.row_of(p, g), s.row[p] == row, p <= position))

    def has_deletes(
        s, z: DeletesClaims.Level, position: DeletesClaims.Position, buffer: DeletesClaims.Buffer
    ) -> Bool:
        """The level-zero segment is in this state, and has a delete up to the position."""
        return (s.buffer[z] == buffer) & exists(s.Position, lambda p: s.content[z, p] & (p <= position))

    @rank("the_checkpoint_passes_deletes", finitely=("faults",))
    def what_the_checkpoint_waits_for(s, position: DeletesClaims.Position) -> Measure:
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
    def rows_are_written(s, position: DeletesClaims.Position, g: DeletesClaims.Segment) -> HelpfulCase:
        return s.is_ahead(position) & s.has_rows(g, position, "buffered"), (g,)

    @helpful("the_checkpoint_passes_deletes", action="store_rows")
    def rows_are_recorded(s, position: DeletesClaims.Position, g: DeletesClaims.Segment) -> HelpfulCase:
        return s.is_ahead(position) & s.has_rows(g, position, "syncing"), (g, position)

    @helpful("the_checkpoint_passes_deletes", action="sync_deletes")
    def deletes_are_written(s, position: DeletesClaims.Position, z: DeletesClaims.Level) -> HelpfulCase:
        return s.is_ahead(position) & s.has_deletes(z, position, "open"), (z,)

    @helpful("the_checkpoint_passes_deletes", action="record")
    def deletes_are_recorded(s, position: DeletesClaims.Position, z: DeletesClaims.Level) -> HelpfulCase:
        return s.is_ahead(position) & s.has_deletes(z, position, "syncing"), (z,)

    @helpful("the_checkpoint_passes_deletes", action="finish")
    def the_answer_arrives(s, position: DeletesClaims.Position, z: DeletesClaims.Level) -> HelpfulCase:
        return s.is_ahead(position) & s.has_deletes(z, position, "answered"), (z,)

    def is_free_up_to(s, position: DeletesClaims.Position) -> Bool:
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
    def the_checkpoint_is_sent(s, position: DeletesClaims.Position) -> HelpfulCase:
        return all_of(s.is_ahead(position), s.is_free_up_to(position), s.report < position), (position,)

    @helpful("the_checkpoint_passes_deletes", action="store_checkpoint")
    def the_checkpoint_is_stored(s, position: DeletesClaims.Position) -> HelpfulCase:
        return s.is_ahead(position) & (s.report >= position), (position,)

    @lemma(source="facts 7.2")
    def levels_hold_deletes(s) -> Bool:
        """Level-zero segments and the deletes of segments hold deletes of the log."""
        return all_of(
            forall(s.Level, s.Position, lambda z, d: implies(s.content[z, d], s.deletes[d])),
            forall(s.Segment, s.Position, lambda g, d: implies(s.delta[g, d], s.deletes[d])),
            forall(s.Position, lambda d: implies(s.lifted[d], s.deletes[d])),
        )

    @lemma(source="facts 7.2")
    def what_is_held_was_consumed(s) -> Bool:
        """Rows and deletes in memory were consumed. A level-zero segment is empty before its use."""
        return all_of(
            forall(s.Position, lambda p: implies(one_of(s.row[p], "buffered", "syncing"), p <= s.consumed)),
            forall(
                s.Level,
                s.Position,
                lambda z, d: implies(s.content[z, d] & (s.buffer[z] != "none"), d <= s.consumed),
            ),
            forall(s.Level, s.Position, lambda z, d: implies(s.content[z, d], ~s.is_free(z))),
        )

    @lemma(source="facts 7.4, 10.2")
    def what_was_sent_is_not_added_to(s) -> Bool:
        """An open buffer was not sent; a recorded one was."""
        return forall(
            s.Level,
            lambda z: all_of(
                implies(s.buffer[z] == "open", ~s.sent[z]),
                implies(one_of(s.buffer[z], "syncing", "answered"), s.sent[z]),
                implies(s.level[z] != "unknown", s.sent[z]),
                implies(s.buffer[z] == "answered", s.level[z] != "unknown"),
            ),
        )

    @lemma(source="facts 7.2, 7.6")
    def consumed_rows_are_kept(s) -> Bool:
        """Every consumed row is in memory or in files; all at or below the checkpoint are in files."""
        return forall(
            s.Position,
            lambda p: implies(
                s.inserts[p] & ~s.imported[s.segment_of[p]],
                implies(p <= s.consumed, s.row[p] != "none")
                & implies((p <= s.checkpoint) | (p <= s.report), s.in_files(p)),
            ),
        )

    @lemma(source="facts 9")
    def a_report_passes_no_unsynced_delete(s) -> Bool:
        """A sent checkpoint is as safe as the stored one."""
        return forall(s.Position, lambda d: implies(s.deletes[d] & (d <= s.report), s.durable(d)))

    @lemma(source="facts 7.7")
    def flushed_segments_are_in_files(s) -> Bool:
        """All rows of a flushed segment are in files; of an imported one, all or none."""
        return forall(
            s.Position,
            lambda p: all_of(
                implies(s.row[p] != "none", s.inserts[p]),
                implies(s.inserts[p] & s.flushed[s.segment_of[p]], s.in_files(p)),
                implies(
                    s.imported[s.segment_of[p]] & (s.row[p] != "none"),
                    s.flushed[s.segment_of[p]] & s.in_files(p),
                ),
            ),
        )

    @lemma(source="facts 10.4")
    def applied_means_settled(s) -> Bool:
        """A segment to which a level-zero segment was applied has its deletes, in spite of compactions."""
        return all_of(
            forall(
                s.Level,
                s.Position,
                s.Position,
                lambda z, r, d: implies(
                    all_of(s.applied[z, s.segment_of[r]], s.content[z, d], s.is_older(r, d)),
                    s.settled(r, d),
                ),
            ),
            forall(
                s.Level,
                s.Segment,
                lambda z, g: implies(s.applied[z, g], s.flushed[g] & (s.level[z] != "unknown")),
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
                lambda r, d: implies((d <= s.start) & s.is_older(r, d), s.settled(r, d) | s.lifted[d]),
            ),
            forall(
                s.Position,
                lambda r: implies(s.shown[r], s.inserts[r] & s.read[s.segment_of[r]]),
            ),
            forall(
                s.Segment,
                lambda g: implies(s.read[g] & s.imported[g], s.flushed[g]),
            ),
        )
