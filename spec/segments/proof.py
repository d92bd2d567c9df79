"""Lemmas and ranks: why no row and no delete is missing, for any number of segments and loads.

The liveness claim is of runs in which nodes crash, and loads fail, finitely often.
"""

from tidemark.spec.language import (
    Bool,
    HelpfulCase,
    Measure,
    all_of,
    any_of,
    each,
    forall,
    helpful,
    implies,
    lemma,
    rank,
)
from tidemark.spec.segments.claims import SegmentsClaims


class Segments(SegmentsClaims):
    """One channel at one query node; any number of segments, keys, rows and deletes."""

    def is_behind(s, ts: SegmentsClaims.Ts) -> Bool:
        return (s.tick >= ts) & (s.safe < ts)

    def is_done(s) -> Bool:
        """All writes of the pack are processed."""
        return forall(s.Write, lambda w: ~s.is_in_pack(w))

    @rank("service_time_follows_the_ticks", finitely=("faults",))
    def what_the_service_time_waits_for(s, ts: SegmentsClaims.Ts) -> Measure:
        """Writes to come, the node, loads, the pack; the writes above the pack, and in it."""
        return (
            each(s.Write, lambda w: ~s.logged[w]),
            ~s.watching,
            each(s.Segment, lambda g: s.wanted[g] & (s.load[g] == "none")),
            each(s.Segment, lambda g: s.wanted[g] & (s.load[g] != "served")),
            s.pack < ts,
            each(s.Write, lambda w: s.logged[w] & (s.ts[w] > s.pack)),
            each(s.Write, s.is_in_pack),
        )

    @helpful("service_time_follows_the_ticks", action="watch")
    def a_node_takes_it_up(s, ts: SegmentsClaims.Ts) -> HelpfulCase:
        return s.is_behind(ts) & ~s.watching, ()

    @helpful("service_time_follows_the_ticks", action="load_listed")
    def a_load_begins(s, ts: SegmentsClaims.Ts, g: SegmentsClaims.Segment) -> HelpfulCase:
        return all_of(s.is_behind(ts), s.watching, s.wanted[g], s.load[g] == "none"), (g,)

    @helpful("service_time_follows_the_ticks", action="end_load")
    def a_load_ends(s, ts: SegmentsClaims.Ts, g: SegmentsClaims.Segment) -> HelpfulCase:
        return all_of(s.is_behind(ts), s.watching, s.wanted[g], s.load[g] == "loading"), (g,)

    @helpful("service_time_follows_the_ticks", action="apply_insert")
    def a_row_is_applied(s, ts: SegmentsClaims.Ts, w: SegmentsClaims.Write) -> HelpfulCase:
        return all_of(s.is_behind(ts), s.watching, s.is_in_pack(w), ~s.deletes[w]), (w,)

    @helpful("service_time_follows_the_ticks", action="apply_delete")
    def a_delete_is_applied(s, ts: SegmentsClaims.Ts, w: SegmentsClaims.Write) -> HelpfulCase:
        return all_of(s.is_behind(ts), s.watching, s.is_in_pack(w), s.deletes[w]), (w,)

    @helpful("service_time_follows_the_ticks", action="take_pack")
    def a_pack_is_taken(s, ts: SegmentsClaims.Ts) -> HelpfulCase:
        return all_of(s.is_behind(ts), s.watching, s.pack < ts, s.is_done()), (ts,)

    @helpful("service_time_follows_the_ticks", action="raise_safe")
    def the_service_time_rises(s, ts: SegmentsClaims.Ts) -> HelpfulCase:
        served = forall(s.Segment, lambda g: implies(s.wanted[g], s.load[g] == "served"))
        return all_of(s.is_behind(ts), s.watching, s.pack >= ts, s.is_done(), served), ()

    @lemma(source="facts 6.1, 10.4")
    def times_are_in_order(s) -> Bool:
        """Deletes in files, rows in files and tick are in order; so are service time, pack and tick."""
        return all_of(
            s.delete_checkpoint <= s.checkpoint,
            s.checkpoint <= s.tick,
            s.start <= s.delete_checkpoint,
            s.files_at_start == s.start,
            s.start <= s.pack,
            s.safe <= s.pack,
            s.pack <= s.tick,
            forall(s.Write, lambda w: s.logged[w] == (s.ts[w] > 0)),
            forall(s.Segment, lambda g: s.excluded[g] <= s.checkpoint),
            forall(s.Segment, lambda g: implies(s.watching, s.start <= s.excluded[g])),
            forall(s.Segment, lambda g: s.files_upto[g] <= s.delete_checkpoint),
        )

    @lemma(source="facts 10.4")
    def a_node_that_does_not_watch_has_nothing(s) -> Bool:
        """Before the channel is taken up the node has no state."""
        nothing = all_of(
            s.start == 0,
            s.pack == 0,
            s.safe == 0,
            forall(s.Write, lambda w: ~any_of(s.grown[w], s.applied[w], s.buffer[w])),
            forall(s.Segment, lambda g: (s.load[g] == "none") & ~s.wanted[g]),
        )
        return s.watching | nothing

    @lemma(source="seed 002, service time; facts 6.1")
    def the_pipeline_goes_in_order(s) -> Bool:
        """Processed writes are in the packs; at or below the service time all writes are processed."""
        return forall(
            s.Write,
            lambda w: all_of(
                implies(s.applied[w], all_of(s.logged[w], s.ts[w] > s.start, s.ts[w] <= s.pack)),
                implies(all_of(s.logged[w], s.ts[w] > s.start, s.ts[w] <= s.safe), s.applied[w]),
            ),
        )

    @lemma(source="facts 6.1")
    def growing_segments_are_complete(s) -> Bool:
        """A growing segment has the rows that were stored at the beginning, and those of the stream."""
        return forall(
            s.Write,
            lambda w: all_of(
                implies(
                    all_of(
                        s.watching,
                        s.is_row(w),
                        ~s.wanted[s.segment[w]],
                        s.load[s.segment[w]] != "served",
                        s.applied[w] | (s.ts[w] <= s.excluded[s.segment[w]]),
                    ),
                    s.grown[w],
                ),
                implies(
                    s.grown[w],
                    all_of(
                        s.is_row(w),
                        ~s.wanted[s.segment[w]],
                        s.load[s.segment[w]] != "served",
                        s.applied[w] | (s.ts[w] <= s.excluded[s.segment[w]]),
                    ),
                ),
            ),
        )

    @lemma(source="facts 7.7, 10.3")
    def flushed_segments_are_complete(s) -> Bool:
        """Rows of flushed segments, or up to the checkpoint, are in files; loaded segments are flushed."""
        return all_of(
            forall(s.Write, lambda w: implies(s.is_row(w) & s.flushed[s.segment[w]], s.filed[w])),
            forall(s.Write, lambda w: implies(s.is_row(w) & (s.ts[w] <= s.checkpoint), s.filed[w])),
            forall(
                s.Segment,
                lambda g: all_of(
                    implies(s.load[g] != "none", s.flushed[g]),
                    implies(s.wanted[g], s.flushed[g]),
                    implies(s.wanted[g] & (s.safe > 0), s.load[g] == "served"),
                ),
            ),
        )

    @lemma(source="facts 10.4")
    def deletes_are_in_files_up_to_their_checkpoint(s) -> Bool:
        """All deletes up to the delete checkpoint are in the files of the segments."""
        return forall(
            s.Write,
            lambda d: all_of(
                implies(s.filed[d], s.logged[d]),
                implies(s.is_delete(d) & (s.ts[d] <= s.delete_checkpoint), s.filed[d]),
            ),
        )

    @lemma(source="facts 6.1; B38")
    def the_buffer_has_what_loads_need(s) -> Bool:
        """Deletes of the stream stay in the buffer while they are in no file, or not in those of a load."""
        return forall(
            s.Write,
            lambda d: all_of(
                implies(s.buffer[d], s.is_delete(d) & s.applied[d]),
                implies(all_of(s.applied[d], s.deletes[d], s.ts[d] > s.delete_checkpoint), s.buffer[d]),
                forall(
                    s.Segment,
                    lambda g: implies(
                        all_of(s.applied[d], s.deletes[d], s.load[g] == "loading", s.ts[d] > s.files_upto[g]),
                        s.buffer[d],
                    ),
                ),
                forall(
                    s.Segment,
                    lambda g: implies(s.applied[d] & s.deletes[d] & s.is_to_be_loaded(g), s.buffer[d]),
                ),
            ),
        )

    @lemma(source="facts 6.1; B34; B35")
    def sealed_segments_have_their_deletes(s) -> Bool:
        """A segment that is served has the deletes of its files and of the stream."""
        return forall(
            s.Segment,
            s.Write,
            lambda g, d: all_of(
                implies(
                    all_of(
                        s.load[g] == "served", s.is_delete(d), s.applied[d] | (s.ts[d] <= s.files_upto[g])
                    ),
                    s.knows[g, d],
                ),
                implies(s.load[g] != "none", s.start <= s.files_upto[g]),
            ),
        )
