"""Where to begin reading a channel that has no checkpoint yet.

When a collection has been created, its channel is made in two writes: its record, with the place where the
collection begins, and then its first checkpoint. The second one may fail, or be late, while the channel is
read already. A node that takes the channel up before is given the earliest position of its segments: how far
a segment is recorded, or else where it begins. If no segment has one, it is where the collection begins.

A segment that has no position yet must not have a row below the earliest one. Hence a save first reports
where the segments begin of which its node has read, in the order of their first rows; each is a write of its
own. An imported segment has a position that is no place in the log.

Compactions are left out: a compacted segment is flushed, so none of its rows is missing, whatever its
position.
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
    invariant,
    ite,
    least,
    lemma,
    maximum,
    option,
    reachable,
    require,
    transition_invariant,
)
from tidemark.spec.ownership import Ownership


class Seek(Ownership):
    """A channel without a checkpoint is read from the earliest position of a segment, else its beginning."""

    has_checkpoint: Bool = False
    noted: Bool = False  # the coordinator knows the collection, and where it begins
    begins: Ownership.Position = 0
    begun: Set[Ownership.Segment] = everywhere(False)  # it is recorded where the segment begins
    # every row of it is behind this position
    first: Map[Ownership.Segment, Ownership.Position] = everywhere(0)
    imported: Set[Ownership.Segment] = everywhere(False)
    import_at: Map[Ownership.Segment, Ownership.Position] = everywhere(0)
    sought: Map[Ownership.Tenure, Ownership.Position] = everywhere(0)  # where the tenure begins to read

    # ---- helpers ----

    def has_position(s, segment: Ownership.Segment) -> Bool:
        return (s.dml[segment] > 0) | s.begun[segment]

    def position_of(s, segment: Ownership.Segment) -> Ownership.Position:
        """How far the segment is recorded, or else where it begins."""
        return ite(s.dml[segment] > 0, s.dml[segment], s.first[segment])

    def is_earliest(s, segment: Ownership.Segment, p: Ownership.Position) -> Bool:
        own = s.has_position(segment) & (s.position_of(segment) == p)
        brought = s.imported[segment] & (s.import_at[segment] == p)
        return (s.record[segment] == "kept") & (own | brought)

    def earliest(s) -> Ownership.Position:
        """The earliest position of a segment, or else the place where the collection begins."""
        return least(
            s.Position,
            lambda p: exists(s.Segment, lambda g: s.is_earliest(g, p)),
            default=s.begins,
        )

    def seek(s) -> Ownership.Position:
        return ite(s.has_checkpoint, s.stored, s.earliest())

    def brings_first(s, t: Ownership.Tenure, segment: Ownership.Segment, p: Ownership.Position) -> Bool:
        """A row that the tenure had read when it sent the save, of a segment that has no position."""
        return all_of(
            s.carries[p],
            s.sought[t] < p,
            p <= s.high[t, segment],
            s.record[s.segment_of[p]] == "kept",
            ~s.has_position(s.segment_of[p]),
        )

    # ---- steps ----

    @action(source="facts 10.4: getCollectionStartPos")
    def note_beginning(s, position: Ownership.Position) -> None:
        """The coordinator learns of the collection, and of the place where it begins."""
        require((s.life == "living") & ~s.noted)
        require(ite(s.BEGINS_FIRST, position == s.start, position >= s.start))
        s.noted = True
        s.begins = position

    def take(s, t: Ownership.Tenure) -> None:
        require(s.noted)
        seek = s.seek()
        super().take(t)
        s.sought[t] = seek

    @action(source="facts 10.4: WatchChannels")
    def begin_checkpoint(s) -> None:
        """The first checkpoint is stored, unless one was reported before. It may be late, or never come."""
        require((s.life == "living") & s.noted & ~s.has_checkpoint)
        s.stored = s.begins
        s.has_checkpoint = True

    @action(source="facts 10.2, 10.4")
    def tell_start(s, t: Ownership.Tenure, segment: Ownership.Segment, p: Ownership.Position) -> None:
        """Before a save is recorded: the start of the next segment of which its node has read."""
        require((s.low[t, segment] < s.high[t, segment]) & s.is_taken(t))
        require(s.brings_first(t, segment, p))
        require(forall(s.Position, lambda q: implies(q < p, ~s.brings_first(t, segment, q))))
        s.begun[s.segment_of[p]] = True
        s.first[s.segment_of[p]] = p - 1

    def record_save(s, t: Ownership.Tenure, segment: Ownership.Segment) -> None:
        require(
            forall(
                s.Position,
                lambda q: implies(
                    all_of(s.STARTS_TOLD, ~s.has_checkpoint, s.segment_of[q] != segment),
                    ~s.brings_first(t, segment, q),
                ),
            )
        )
        super().record_save(t, segment)

    def store(s, t: Ownership.Tenure, position: Ownership.Position) -> None:
        require(s.has_checkpoint | (position >= s.sought[t]))
        super().store(t, position)

    @action(source="facts 10.4: IsImporting")
    def end_import(s, segment: Ownership.Segment, position: Ownership.Position) -> None:
        """An import ends: its segment counts from now on, at a position that no reader has reached."""
        require((s.life == "living") & (s.has_checkpoint | ~s.IMPORTS_WAIT))
        require((s.record[segment] == "kept") & ~s.imported[segment])
        require(forall(s.Position, lambda p: s.segment_of[p] != segment))
        s.imported[segment] = True
        s.import_at[segment] = position

    def drop(s, t: Ownership.Tenure) -> None:
        super().drop(t)
        s.record = each(
            s.Segment,
            lambda g: ite(
                (s.record[g] == "kept") & (s.has_position(g) | s.imported[g]), "dropped", s.record[g]
            ),
        )

    def create(s) -> None:
        super().create()
        s.noted = False
        s.has_checkpoint = False

    # ---- claims ----

    @invariant(source="facts 10.1, 10.4; B31")
    def what_lives_has_a_checkpoint(s) -> Bool:
        """A living channel has a checkpoint, or has had none: no row before its beginning is claimed."""
        return implies(s.life == "living", s.has_checkpoint | (s.stored == s.start))

    @invariant(source="facts 10.4; seed 001, recovery; property S")
    def no_unsettled_row_is_passed(s) -> Bool:
        """No row that is missing from the records is below the place where a node begins to read."""
        return forall(
            s.Tenure,
            s.Position,
            lambda t, p: implies(s.is_row(p) & (p <= s.sought[t]), s.is_settled(p)),
        )

    @transition_invariant(source="facts 10.4", frame=True)
    def the_position_is_one_that_is_recorded(before, after: Self) -> Bool:
        """A node reads from the checkpoint; without one, from a position of a segment that was not dropped,
        or, where no segment has one, from where the collection begins.
        """
        return forall(
            after.Tenure,
            lambda t: implies(
                (before.epoch_of[t] == 0) & (after.epoch_of[t] > 0),
                after.sought[t] == ite(before.has_checkpoint, before.stored, before.earliest()),
            ),
        )

    @lemma(source="facts 10.2, 10.4")
    def who_has_no_position_begins_later(s) -> Bool:
        """Without a checkpoint missing rows are behind their segment's position, or behind all positions."""
        return forall(
            s.Segment,
            s.Position,
            lambda g, p: implies(
                all_of(
                    s.life == "living",
                    ~s.has_checkpoint,
                    s.is_row(p),
                    ~s.is_settled(p),
                    s.has_position(g),
                ),
                implies((s.segment_of[p] == g) | ~s.has_position(s.segment_of[p]), p > s.position_of(g)),
            ),
        )

    @lemma(source="facts 10.4")
    def a_beginning_lies_before_all_rows(s) -> Bool:
        """Recorded beginnings are in the log, before the rows of this collection."""
        return all_of(
            implies((s.life == "living") & s.noted, s.begins == s.start),
            forall(s.Segment, lambda g: implies(s.begun[g], s.first[g] < s.seen)),
            forall(
                s.Tenure,
                lambda t: all_of(
                    s.sought[t] <= s.read[t],
                    implies(s.is_last(t), s.start <= s.sought[t]),
                    forall(s.Segment, lambda g: s.sought[t] <= s.low[t, g]),
                ),
            ),
            forall(
                s.Segment,
                lambda g: implies(
                    all_of(s.life == "living", s.record[g] == "kept", s.has_position(g)),
                    s.start <= s.position_of(g),
                ),
            ),
            forall(
                s.Segment,
                lambda g: implies(s.imported[g] & (s.record[g] == "kept"), s.has_checkpoint),
            ),
            forall(
                s.Segment,
                lambda g: implies(
                    (s.life != "living") & (s.record[g] == "kept"), ~s.has_position(g) & ~s.imported[g]
                ),
            ),
        )

    # ---- witnesses ----

    @reachable(after="take", source="facts 10.4")
    def a_segment_that_was_only_begun_is_the_earliest(before, after: Self, t: Ownership.Tenure) -> Bool:
        """A node reads from where a segment without recorded rows begins, not from the beginning."""
        return ~before.has_checkpoint & exists(
            before.Segment,
            lambda g: all_of(
                before.is_earliest(g, after.sought[t]), before.dml[g] == 0, after.sought[t] > before.start
            ),
        )

    @reachable(after="take", source="facts 10.4")
    def a_recorded_segment_is_the_earliest(before, after: Self, t: Ownership.Tenure) -> Bool:
        """A node reads from the position up to which a segment is recorded."""
        return ~before.has_checkpoint & exists(
            before.Segment, lambda g: (before.dml[g] > 0) & (before.dml[g] == after.sought[t])
        )

    @reachable(after="begin_checkpoint", source="facts 10.4: WatchChannels")
    def the_first_checkpoint_comes_after_a_save(before, after: Self) -> Bool:
        """Rows are recorded when the first checkpoint is stored: it is below them."""
        return exists(after.Segment, lambda g: after.dml[g] > after.stored)

    @reachable(after="note_beginning", source="facts 10.4: getCollectionStartPos")
    def a_collection_begins_behind_another(before, after: Self, position: Ownership.Position) -> Bool:
        """The place where a collection of a used name begins is not the beginning of the log."""
        return after.begins > 0

    @reachable(after="tell_start", source="facts 10.2, 10.4")
    def a_save_tells_of_another_segment(
        before, after: Self, t: Ownership.Tenure, segment: Ownership.Segment, p: Ownership.Position
    ) -> Bool:
        """A save reports where another segment begins."""
        return after.segment_of[p] != segment

    @reachable(after="end_import", source="facts 10.4: IsImporting")
    def an_import_lies_ahead(
        before, after: Self, segment: Ownership.Segment, position: Ownership.Position
    ) -> Bool:
        """An imported segment has a position beyond a row that is missing from the records."""
        return exists(after.Position, lambda p: all_of(after.is_row(p), p <= position, ~after.is_settled(p)))


class SeekInSteps(Seek):
    """A node is given the channel first; then the coordinator looks for the checkpoint, and at last at the
    segments. Searched in a bounded instance; it is not proved for any size.
    """

    STAYS_OWNER: Bool = option(True)  # the answer counts only if the channel has not moved since

    ONE_LOOK: Bool = option(True)  # no import ends between the look for a checkpoint and that at the segments

    waits: Set[Ownership.Tenure] = everywhere(False)  # it was given the channel, and has no answer yet
    looked: Set[Ownership.Tenure] = everywhere(False)  # the checkpoint was looked for
    found: Set[Ownership.Tenure] = everywhere(False)  # there was one
    place: Map[Ownership.Tenure, Ownership.Position] = everywhere(0)

    @action(source="facts 10.4: Watch")
    def give(s, t: Ownership.Tenure) -> None:
        """A node is given the channel; from now on the coordinator takes its requests only."""
        require(all_of(s.life == "living", s.noted, s.epoch_of[t] == 0))
        s.epoch = s.epoch + 1
        s.epoch_of[t] = s.epoch
        s.assigned = True
        s.waits[t] = True

    @action(source="facts 10.4: GetChannelSeekPosition")
    def look(s, t: Ownership.Tenure) -> None:
        """The coordinator looks for the checkpoint, and will not see one that is stored afterwards."""
        require(s.waits[t] & ~s.looked[t])
        s.looked[t] = True
        s.found[t] = s.has_checkpoint
        s.place[t] = s.stored

    def take(s, t: Seek.Tenure) -> None:
        require(s.waits[t] & s.looked[t])
        require(~s.STAYS_OWNER | (s.epoch_of[t] == s.epoch))
        seek = s.sought_by(t)
        s.waits[t] = False
        s.alive[t] = True
        s.read[t] = seek
        s.sought[t] = seek
        s.low = each(
            s.Tenure,
            s.Segment,
            lambda u, g: ite(u == t, maximum(s.dml[g], seek), s.low[u, g]),
        )
        s.high = each(
            s.Tenure,
            s.Segment,
            lambda u, g: ite(u == t, maximum(s.dml[g], seek), s.high[u, g]),
        )

    def end_import(s, segment: Seek.Segment, position: Seek.Position) -> None:
        between = exists(
            s.Tenure,
            lambda t: all_of(s.waits[t], s.looked[t], ~s.found[t], s.epoch_of[t] == s.epoch),
        )
        require(~s.ONE_LOOK | ~between)
        super().end_import(segment, position)

    def sought_by(s, t: Seek.Tenure) -> Seek.Position:
        """The checkpoint that was found, or else the earliest position of the segments now."""
        return ite(s.found[t], s.place[t], s.earliest())

    def the_position_is_one_that_is_recorded(before, after: Self) -> Bool:
        """The same, with the checkpoint of the look."""
        return forall(
            after.Tenure,
            lambda t: implies(before.waits[t] & ~after.waits[t], after.sought[t] == before.sought_by(t)),
        )

    def what_has_not_begun_is_empty(s) -> Bool:
        return forall(
            s.Tenure,
            lambda t: implies(
                (s.epoch_of[t] == 0) | s.waits[t],
                all_of(
                    ~s.alive[t],
                    ~s.asks[t],
                    s.read[t] == 0,
                    s.top[t] == 0,
                    s.sought[t] == 0,
                    forall(
                        s.Segment,
                        lambda g: all_of(s.low[t, g] == 0, s.high[t, g] == 0, s.save[t, g] == "idle"),
                    ),
                ),
            ),
        ) & forall(s.Tenure, lambda t: implies(s.waits[t], s.epoch_of[t] > 0))

    def is_last(s, t: Seek.Tenure) -> Bool:
        return super().is_last(t) & ~s.waits[t]

    @lemma(source="facts 10.4")
    def what_was_found_is_good_for_the_owner(s) -> Bool:
        """While the owner waits the channel lives; its checkpoint is one of this collection."""
        return forall(
            s.Tenure,
            lambda t: implies(
                s.waits[t] & (s.epoch_of[t] == s.epoch),
                all_of(
                    s.life == "living",
                    s.noted,
                    implies(s.looked[t] & s.found[t], (s.start <= s.place[t]) & (s.place[t] <= s.stored)),
                    implies(
                        s.looked[t] & ~s.found[t],
                        forall(s.Segment, lambda g: ~(s.imported[g] & (s.record[g] == "kept")))
                        & forall(
                            s.Segment,
                            s.Position,
                            lambda g, p: implies(
                                all_of(s.is_row(p), ~s.is_settled(p), s.has_position(g)),
                                implies(
                                    (s.segment_of[p] == g) | ~s.has_position(s.segment_of[p]),
                                    p > s.position_of(g),
                                ),
                            ),
                        ),
                    ),
                ),
            ),
        )
