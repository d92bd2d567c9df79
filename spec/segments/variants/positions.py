"""Segments with positions of their own on the stream: up to where their files go, wherever the channel's
checkpoint is; and wrong protocols with such positions.

A save of a segment records its files and its position in one step: the files hold the segment's rows up to
the position, and no others. The position may lie ahead of the checkpoint, which another segment holds back,
or behind it, if the segment has no rows in between. What a node loads of a segment are its files, all of
them; so the rows of the stream are left out up to the position, and by segment. When a pack is applied,
excluded timestamps below its end are forgotten.

``OwnPositions`` treats growing and sealed segments alike. ``SealedAreClosed`` is Milvus' rule, and that of
``impl/querynode``: of a sealed segment all rows are left out, and this is not forgotten.
"""

from tidemark.spec.language import (
    Bool,
    Map,
    Self,
    Set,
    action,
    all_of,
    each,
    everywhere,
    exists,
    forall,
    implies,
    ite,
    lemma,
    reachable,
    require,
)
from tidemark.spec.segments import Segments


class OwnPositions(Segments):
    """The rows of a segment are left out up to the position of its own files, be it growing or sealed."""

    # of its record: the files hold its rows up to here
    position: Map[Segments.Segment, Segments.Ts] = everywhere(0)
    # the position of the files that the node has loaded
    taken: Map[Segments.Segment, Segments.Ts] = everywhere(0)

    # ---- what is stored ----

    def save(s, w: Segments.Write) -> None:
        require(s.deletes[w])
        super().save(w)

    @action(source="facts 7.6, 10.2")
    def sync(s, g: Segments.Segment, value: Segments.Ts) -> None:
        """The rows of a segment up to a position are in files, and recorded with the position."""
        require(~s.flushed[g])
        require((value > s.position[g]) & (value <= s.tick))
        s.filed = each(s.Write, lambda w: s.filed[w] | s.is_synced(w, g, value))
        s.position[g] = value

    def is_synced(s, w: Segments.Write, g: Segments.Segment, value: Segments.Ts) -> Bool:
        """The row is in the files of a save up to the position."""
        return all_of(s.is_row(w), s.segment[w] == g, s.ts[w] <= value)

    # ---- the query node ----

    def watch(s) -> None:
        super().watch()
        s.taken = each(s.Segment, lambda g: s.position[g])
        s.excluded = each(s.Segment, s.excluded_at_start)
        s.forget()

    def excluded_at_start(s, g: Segments.Segment) -> Segments.Ts:
        """Up to where rows are left out when the channel is taken up. Below the beginning of the stream none
        comes.
        """
        return s.position[g]

    def is_stored_of_a_growing_segment(s, w: Segments.Write) -> Bool:
        return all_of(s.is_row(w), s.filed[w], ~s.flushed[s.segment[w]])

    def leave(s) -> None:
        super().leave()
        s.taken = each(s.Segment, lambda g: 0)

    def is_left_out(s, w: Segments.Write) -> Bool:
        return s.ts[w] <= s.excluded[s.segment[w]]

    def end_load(s, g: Segments.Segment) -> None:
        super().end_load(g)
        s.taken[g] = s.position[g]
        s.excluded[g] = s.excluded_when_sealed(g)

    def excluded_when_sealed(s, g: Segments.Segment) -> Segments.Ts:
        """Up to where rows of the stream are left out once the segment is served from its files."""
        return s.position[g]

    def forget(s) -> None:
        """No row at or below the end of the pack comes any more."""
        s.excluded = each(s.Segment, lambda g: ite(s.is_forgotten(g), 0, s.excluded[g]))

    def is_forgotten(s, g: Segments.Segment) -> Bool:
        """The excluded timestamp lies below the end of the pack."""
        return s.excluded[g] < s.pack

    def raise_safe(s) -> None:
        super().raise_safe()
        s.forget()

    @action(source="facts 6.1: forgotten when below the tick")
    def end_pack(s) -> None:
        """A pack is applied while listed segments are loaded: the service time stays, and what is excluded
        below the end of the pack is forgotten.
        """
        require(s.watching & exists(s.Segment, lambda g: (s.excluded[g] > 0) & s.is_forgotten(g)))
        require(forall(s.Write, lambda w: ~s.is_in_pack(w)))
        s.forget()

    # ---- lemmas ----

    @lemma(source="facts 7.6, 10.2")
    def files_go_up_to_the_position(s) -> Bool:
        """A row is in files if and only if it lies at or below its segment's position."""
        return forall(
            s.Write,
            lambda w: implies(s.is_row(w), s.filed[w] == (s.ts[w] <= s.position[s.segment[w]])),
        )

    def times_are_in_order(s) -> Bool:
        return all_of(
            s.delete_checkpoint <= s.checkpoint,
            s.checkpoint <= s.tick,
            s.start <= s.delete_checkpoint,
            s.files_at_start == s.start,
            s.start <= s.pack,
            s.safe <= s.pack,
            s.pack <= s.tick,
            forall(s.Write, lambda w: s.logged[w] == (s.ts[w] > 0)),
            forall(s.Segment, lambda g: s.excluded[g] <= s.taken[g]),
            forall(s.Segment, lambda g: s.taken[g] <= s.position[g]),
            forall(s.Segment, lambda g: s.position[g] <= s.tick),
            forall(s.Segment, lambda g: s.files_upto[g] <= s.delete_checkpoint),
        )

    @lemma(source="facts 6.1: excluded timestamps")
    def what_was_loaded_is_left_out(s) -> Bool:
        """A row of the loaded files that the stream is still to bring is left out. Files of a flushed segment
        are loaded up to its last position, and hold all its rows.
        """
        return all_of(
            forall(
                s.Write,
                lambda w: implies(
                    all_of(
                        s.is_row(w),
                        s.ts[w] > s.start,
                        ~s.applied[w],
                        s.ts[w] <= s.taken[s.segment[w]],
                    ),
                    s.is_left_out(w),
                ),
            ),
            forall(
                s.Write,
                lambda w: implies(
                    all_of(s.watching, s.is_row(w), s.ts[w] <= s.start), s.ts[w] <= s.taken[s.segment[w]]
                ),
            ),
            forall(
                s.Segment,
                lambda g: implies(s.wanted[g] | (s.load[g] == "served"), s.taken[g] == s.position[g]),
            ),
        )

    def growing_segments_are_complete(s) -> Bool:
        return forall(
            s.Write,
            lambda w: (
                s.grown[w]
                == all_of(
                    s.watching,
                    s.is_row(w),
                    ~s.wanted[s.segment[w]],
                    s.load[s.segment[w]] != "served",
                    s.applied[w] | (s.ts[w] <= s.taken[s.segment[w]]),
                )
            ),
        )

    # ---- witnesses ----

    @reachable(after="sync", source="facts 7.6, 10.2")
    def a_position_passes_the_checkpoint(
        before, after: Self, g: Segments.Segment, value: Segments.Ts
    ) -> Bool:
        """A row of the segment comes into files that the channel's checkpoint has not passed."""
        return exists(
            after.Write,
            lambda w: all_of(
                after.segment[w] == g, after.filed[w] != before.filed[w], after.ts[w] > after.checkpoint
            ),
        )

    @reachable(after="apply_insert", source="facts 6.1: excluded timestamps")
    def a_row_above_the_checkpoint_is_left_out(before, after: Self, w: Segments.Write) -> Bool:
        """The stream brings a row that was loaded, though the channel's checkpoint is below it."""
        return all_of(before.ts[w] > before.checkpoint, before.is_read(w), before.grown[w] == after.grown[w])

    @reachable(after="end_pack", source="facts 6.1: forgotten when below the tick")
    def a_row_was_taken_above_what_is_forgotten(before, after: Self) -> Bool:
        """An excluded timestamp is forgotten, and the segment has grown by a row above it."""
        return exists(
            after.Write,
            lambda w: all_of(
                after.grown[w],
                after.ts[w] > before.excluded[after.segment[w]],
                before.excluded[after.segment[w]] > 0,
                after.excluded[after.segment[w]] == 0,
            ),
        )


class SealedAreClosed(OwnPositions):
    """Of a sealed segment all rows of the stream are left out, and this is not forgotten."""

    closed: Set[Segments.Segment] = everywhere(False)

    def watch(s) -> None:
        super().watch()
        s.closed = each(s.Segment, lambda g: s.flushed[g])

    def excluded_at_start(s, g: OwnPositions.Segment) -> OwnPositions.Ts:
        return ite(s.flushed[g], 0, s.position[g])

    def leave(s) -> None:
        super().leave()
        s.closed = each(s.Segment, lambda g: False)

    def is_left_out(s, w: OwnPositions.Write) -> Bool:
        return s.closed[s.segment[w]] | super().is_left_out(w)

    def end_load(s, g: OwnPositions.Segment) -> None:
        super().end_load(g)
        s.closed[g] = True

    def excluded_when_sealed(s, g: OwnPositions.Segment) -> int:
        return 0

    @lemma(source="facts 6.1: excluded timestamps")
    def sealed_segments_are_closed(s) -> Bool:
        """Closed are the segments that were flushed when the channel was taken up, and those that are
        served.
        """
        return forall(s.Segment, lambda g: s.closed[g] == (s.wanted[g] | (s.load[g] == "served")))
