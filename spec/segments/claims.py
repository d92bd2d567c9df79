"""Claims about segments: reads find every row, once, and with its deletes."""

from tidemark.spec.language import (
    Bool,
    Self,
    all_of,
    exists,
    forall,
    implies,
    invariant,
    leads_to,
    reachable,
    transition_invariant,
)
from tidemark.spec.segments.actions import SegmentsActions


class SegmentsClaims(SegmentsActions):
    """One channel at one query node; any number of segments, keys, rows and deletes."""

    def is_older(s, w: SegmentsActions.Write, d: SegmentsActions.Write) -> Bool:
        return all_of(s.deletes[d], ~s.deletes[w], s.key[w] == s.key[d], s.ts[w] < s.ts[d])

    @invariant(source="seed 002, service time; facts 6.1; property R")
    def rows_are_served(s) -> Bool:
        """Every row at or below the service time is found by a read."""
        return forall(s.Write, lambda w: implies(s.is_row(w) & (s.ts[w] <= s.safe), s.is_read(w)))

    @invariant(source="facts 6.1; B34; B35; B37; B38; property R")
    def deletes_are_served(s) -> Bool:
        """A row that is found has every delete at or below the service time that removes it."""
        return forall(
            s.Write,
            s.Write,
            lambda w, d: implies(
                all_of(s.is_read(w), s.is_delete(d), s.is_older(w, d), s.ts[d] <= s.safe), s.is_known(w, d)
            ),
        )

    @invariant(source="facts 6.1: excluded timestamps; property 1")
    def no_row_is_served_twice(s) -> Bool:
        """No row is in a growing segment twice, or in a growing and a sealed one."""
        return forall(s.Write, lambda w: ~s.twice[w] & ~(s.grown[w] & (s.load[s.segment[w]] == "served")))

    @invariant(source="facts 6.1; B34; B35")
    def sealed_segments_have_no_other_deletes(s) -> Bool:
        """A segment has only deletes of its files and processed ones; one that is not served has none."""
        return forall(
            s.Segment,
            s.Write,
            lambda g, d: implies(
                s.knows[g, d],
                all_of(s.load[g] == "served", s.is_delete(d), s.is_in_files(g, d) | s.applied[d]),
            ),
        )

    def removes(s, d: SegmentsActions.Write, w: SegmentsActions.Write, value: SegmentsActions.Ts) -> Bool:
        return all_of(s.is_delete(d), s.is_older(w, d), s.ts[d] <= value)

    @invariant(source="seed 002, service time; facts 6.1; property R")
    def reads_find_what_was_written(s) -> Bool:
        """At the service time the node shows exactly the rows of the log that no delete removes."""
        return forall(s.Write, lambda w: implies(s.ts[w] <= s.safe, s.is_shown(w) == s.is_visible(w)))

    def is_visible(s, w: SegmentsActions.Write) -> Bool:
        """The row is in the log, and no delete at or below the service time removes it."""
        return s.is_row(w) & ~exists(s.Write, lambda d: s.removes(d, w, s.safe))

    def is_shown(s, w: SegmentsActions.Write) -> Bool:
        removed = exists(s.Write, lambda d: s.is_known(w, d) & s.removes(d, w, s.safe))
        return all_of(~s.deletes[w], s.is_read(w), ~removed)

    @transition_invariant(source="facts 6.1; hazard 33", frame=True)
    def service_time_never_goes_back(before, after: Self) -> Bool:
        """The service time never goes back while the node serves the channel."""
        return implies(after.watching, after.safe >= before.safe)

    @leads_to(source="seed 002, service time; facts 6.1; B41")
    def service_time_follows_the_ticks(s, ts: SegmentsActions.Ts) -> tuple[Bool, Bool]:
        """The service time reaches every tick, during loads too."""
        return s.tick >= ts, s.safe >= ts

    @reachable(after="apply_delete", source="facts 6.1; B38")
    def a_delete_comes_during_a_load(before, after: Self, d: SegmentsActions.Write) -> Bool:
        """The pipeline has a delete for a segment that is being loaded."""
        return exists(
            after.Write,
            lambda w: (after.load[after.segment[w]] == "loading") & after.filed[w] & after.is_older(w, d),
        )

    @reachable(after="end_load", source="facts 6.1; B34")
    def a_delete_is_replayed(before, after: Self, g: SegmentsActions.Segment) -> Bool:
        """A delete that is in no file is applied from the buffer."""
        return exists(
            after.Write,
            lambda d: all_of(
                after.knows[g, d],
                after.ts[d] > before.delete_checkpoint,
                exists(after.Write, lambda w: (after.segment[w] == g) & after.is_older(w, d)),
            ),
        )

    @reachable(after="end_load", source="facts 6.1")
    def a_listed_segment_gets_a_delete(before, after: Self, g: SegmentsActions.Segment) -> Bool:
        """A listed segment gets a delete of the stream when it is loaded."""
        return before.wanted[g] & exists(
            after.Write,
            after.Write,
            lambda w, d: all_of(
                before.is_row(w),
                after.segment[w] == g,
                before.is_older(w, d),
                before.applied[d],
                after.knows[g, d],
            ),
        )

    @reachable(after="end_load", source="facts 6.1")
    def a_growing_segment_is_replaced(before, after: Self, g: SegmentsActions.Segment) -> Bool:
        """A sealed segment replaces the growing one."""
        return exists(after.Write, lambda w: (before.segment[w] == g) & before.grown[w])

    @reachable(after="apply_insert", source="facts 6.1: excluded timestamps")
    def a_row_is_left_out(before, after: Self, w: SegmentsActions.Write) -> Bool:
        """The stream brings a row that was loaded."""
        return before.is_read(w) & (before.grown[w] == after.grown[w])

    @reachable(after="store_deletes", source="B34")
    def the_checkpoint_moves_during_a_load(before, after: Self, value: SegmentsActions.Ts) -> Bool:
        """The delete checkpoint passes a delete for a segment that is being loaded."""
        return exists(
            after.Write,
            after.Write,
            lambda w, d: all_of(
                after.load[after.segment[w]] == "loading",
                after.is_older(w, d),
                after.is_delete(d),
                after.ts[d] > before.delete_checkpoint,
                after.ts[d] <= after.delete_checkpoint,
            ),
        )

    @reachable(after="trim", source="facts 6.1; B38")
    def a_delete_is_trimmed(before, after: Self, value: SegmentsActions.Ts) -> Bool:
        """The buffer drops a delete at the delete checkpoint, and no segment is loaded."""
        return exists(after.Write, lambda d: before.is_let_go(after, d, value)) & all_of(
            value == after.delete_checkpoint, forall(after.Segment, lambda g: after.load[g] == "none")
        )

    @reachable(after="trim", source="facts 6.1; B38")
    def a_delete_is_trimmed_during_a_load(before, after: Self, value: SegmentsActions.Ts) -> Bool:
        """The buffer drops a delete that the files of a load just contain."""
        return exists(after.Write, lambda d: before.is_let_go(after, d, value)) & exists(
            after.Segment, lambda g: (after.load[g] == "loading") & (after.files_upto[g] == value)
        )

    def is_let_go(before, after: Self, d: SegmentsActions.Write, value: SegmentsActions.Ts) -> Bool:
        """The buffer had the delete of this timestamp, and no longer has it."""
        return all_of(before.buffer[d], ~after.buffer[d], after.ts[d] == value)
