"""Inductive lemmas: why no delete is lost, for any log, any number of segments, crashes and loads."""

from tidemark.spec.deletes.ranking import DeletesRanking
from tidemark.spec.language import all_of, forall, implies, lemma, one_of


class Deletes(DeletesRanking):
    """One virtual channel: deletes in level-zero segments, their checkpoint, apply and drop, loads."""

    @lemma(source="facts 7.2")
    def levels_hold_deletes(s):
        """Level-zero segments and the deletes of segments hold deletes of the log."""
        return all_of(
            forall(s.Level, s.Position, lambda z, d: implies(s.content[z, d], s.deletes[d])),
            forall(s.Segment, s.Position, lambda g, d: implies(s.delta[g, d], s.deletes[d])),
            forall(s.Position, lambda d: implies(s.lifted[d], s.deletes[d])),
        )

    @lemma(source="facts 7.2")
    def what_is_held_was_consumed(s):
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
    def what_was_sent_is_not_added_to(s):
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
    def consumed_rows_are_kept(s):
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
    def a_report_passes_no_unsynced_delete(s):
        """A sent checkpoint is as safe as the stored one."""
        return forall(s.Position, lambda d: implies(s.deletes[d] & (d <= s.report), s.durable(d)))

    @lemma(source="facts 7.7")
    def flushed_segments_are_in_files(s):
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
    def applied_means_settled(s):
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
    def a_load_begins_safely(s):
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
