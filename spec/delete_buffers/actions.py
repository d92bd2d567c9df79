"""Deletes of one virtual channel in buffers of segments, and in level-zero segments beside them; the steps.

The older data node has a buffer for each segment, of rows and of deletes. A delete goes into the buffer of
every segment whose filter may know its key, and is written out with the segment. The later design puts it
into a level-zero segment, whose deletes are applied to segments afterwards (``spec/deletes``). Here a node
may do either, for each delete: so does a channel whose node is replaced by one of another version. The
checkpoint of the channel is the start of the earliest buffer, with rows or deletes, that is not recorded.

Sources: facts 6.1, 7.1 to 7.6, 7.9, 10.2 and 10.4; bugs B13, B17, B37, B60; seed 001's ``GetCheckpoint``.

How it is cut:

- A position of the log carries one row or one delete. Rows of imported segments are at the timestamp of the
  import; the data node does not see them.
- A level-zero segment is a segment without rows, which is written once. Its buffer, save and record are those
  of any segment; ``deletes`` has the details of its application and compaction.
- One save of a segment is under way at a time. That of a replaced node may come late, until its follower
  sends one of the same segment. Who may record, and how a checkpoint travels, is in ``flush``.
- The drop of a segment with rows is decided elsewhere: its rows are not read any more.
"""

from tidemark.spec.language import (
    Bool,
    Map,
    Nat,
    Protocol,
    Set,
    Sort,
    TypeAlias,
    action,
    all_of,
    any_of,
    constant,
    each,
    everywhere,
    exists,
    forall,
    implies,
    ite,
    least,
    minimum,
    option,
    require,
)


class DeleteBuffersActions(Protocol, name="delete_buffers"):
    """One virtual channel: rows and deletes in buffers of segments, level zero beside them, loads."""

    Segment: TypeAlias = Sort
    Key: TypeAlias = Sort
    Position: TypeAlias = Nat
    Faults: TypeAlias = Nat

    DELETES_PIN: Bool = option(True)  # a buffer with deletes alone holds the checkpoint back, too
    OWN_BUFFER: Bool = option(True)  # the end of a save leaves the buffers of other segments alone
    LEAVES_OUT: Bool = option(False)  # replayed deletes are filtered by a segment's position, like rows
    FILTERS_KNOW: Bool = option(True, assumes="A filter says yes to every key of its segment.")
    SEGMENTS_ARE_KNOWN: Bool = option(
        True, assumes="An import is known before the data node comes to the timestamp of its rows."
    )

    # The log: any log in a proof, a given one in an instance.
    inserts: Set[Position] = constant()
    deletes: Set[Position] = constant()
    key: Map[Position, Key] = constant()
    segment_of: Map[Position, Segment] = constant()  # of a row
    is_level: Set[Segment] = constant()
    imported: Set[Segment] = constant()
    extra: Set[Segment, Key] = constant()  # keys that a filter knows by mistake

    # The data node.
    consumed: Position = 0
    held: Set[Segment, Position] = everywhere(False)  # rows and deletes in the buffer
    busy: Set[Segment] = everywhere(False)  # a save is under way

    # Saves, the files, and the coordinator.
    # what the last save has: it may arrive when its node is gone
    flying: Set[Segment, Position] = everywhere(False)
    upto: Map[Segment, Position] = everywhere(0)  # the position that the last save brings
    stored: Set[Segment, Position] = everywhere(False)  # rows and deletes in the files
    position: Map[Segment, Position] = everywhere(0)
    dropped: Set[Segment] = everywhere(False)
    checkpoint: Position = 0
    faults: Faults = 0

    # A load.
    start: Position = 0  # the stream is read from here
    lifted: Set[Position] = everywhere(False)  # deletes that were loaded with level-zero segments
    read: Set[Segment] = everywhere(False)
    shown: Set[Position] = everywhere(False)  # rows that were found, and are not deleted by the files

    # ---- helpers ----

    def row_of(s, p: Position, g: Segment) -> Bool:
        return s.inserts[p] & (s.segment_of[p] == g)

    def is_older(s, r: Position, d: Position) -> Bool:
        return all_of(s.inserts[r], s.deletes[d], s.key[r] == s.key[d], r < d)

    def is_due(s, r: Position, d: Position) -> Bool:
        """The delete is of the row, and the row came with the log or has been imported."""
        g = s.segment_of[r]
        return s.is_older(r, d) & (~s.imported[g] | s.stored[g, r])

    def in_memory(s, g: Segment, p: Position) -> Bool:
        """The row or the delete is in the buffer of the segment, or in a save without an answer."""
        return s.held[g, p] | (s.busy[g] & s.flying[g, p])

    def is_live(s, d: Position) -> Bool:
        """The delete is in a level-zero segment that is recorded and not dropped."""
        return exists(s.Segment, lambda z: all_of(s.is_level[z], s.stored[z, d], ~s.dropped[z]))

    def is_safe(s, r: Position, d: Position) -> Bool:
        """The row's segment has the delete in its files, or a level-zero segment has it."""
        g = s.segment_of[r]
        return any_of(s.stored[g, d], s.dropped[g], s.is_live(d))

    def is_known(s, g: Segment, k: Key) -> Bool:
        """The filter of the segment knows the key: it has the rows of the files, and those in memory."""
        has = exists(
            s.Position,
            lambda p: all_of(s.row_of(p, g), s.key[p] == k, s.stored[g, p] | s.in_memory(g, p)),
        )
        return ~s.is_level[g] & ((s.FILTERS_KNOW & has) | s.extra[g, k])

    def holds_back(s, p: Position) -> Bool:
        """The row or the delete at p keeps the checkpoint from passing it."""
        return (s.inserts[p] | s.DELETES_PIN) & exists(s.Segment, lambda g: s.in_memory(g, p))

    def earliest(s) -> Position:
        """The start of the earliest row or delete that is not recorded, else the end of the last pack."""
        return least(s.Position, s.holds_back, default=s.consumed + 1) - 1

    def delete_checkpoint(s) -> Position:
        """The start of the earliest level-zero segment, if it is before the checkpoint."""
        return minimum(s.checkpoint, least(s.Position, s.is_live, default=s.checkpoint + 1) - 1)

    # ---- the data node ----

    @action(fairness="weak", source="facts 7.1, 7.2")
    def take_row(s) -> None:
        """The next position has a row, or none. A row at or below its segment's position is dropped."""
        require(~s.deletes[s.consumed + 1])
        s.consumed = s.consumed + 1
        s.held = each(
            s.Segment,
            s.Position,
            lambda g, p: (
                s.held[g, p] | all_of(p == s.consumed, s.row_of(p, g), ~s.imported[g], p > s.position[g])
            ),
        )

    @action(fairness="weak", source="facts 7.1; seed 001")
    def take_delete(s) -> None:
        """The next position has a delete: into the buffer of each segment whose filter may know the key."""
        require(s.deletes[s.consumed + 1])
        s.consumed = s.consumed + 1
        s.held = each(
            s.Segment,
            s.Position,
            lambda g, p: (
                s.held[g, p]
                | all_of(p == s.consumed, s.is_known(g, s.key[p]), ~s.LEAVES_OUT | (p > s.position[g]))
            ),
        )

    @action(source="facts 7.2, 7.4")
    def take_level(s, z: Segment) -> None:
        """The next position has a delete, which goes into a level-zero segment that was never saved."""
        require(s.deletes[s.consumed + 1])
        require(s.is_level[z] & forall(s.Position, lambda p: ~s.flying[z, p]))
        s.consumed = s.consumed + 1
        s.held[z, s.consumed] = True

    @action(fairness="weak", source="facts 7.3, 7.4, 7.6")
    def sync(s, g: Segment) -> None:
        """The buffer of a segment is written out, and the save is sent: also one of deletes alone."""
        require(~s.busy[g] & exists(s.Position, lambda p: s.held[g, p]))
        s.flying = each(s.Segment, s.Position, lambda h, p: ite(h == g, s.held[h, p], s.flying[h, p]))
        s.held = each(s.Segment, s.Position, lambda h, p: s.held[h, p] & (h != g))
        s.upto[g] = s.consumed
        s.busy[g] = True

    @action(fairness="weak", source="facts 7.6, 10.2")
    def record(s, g: Segment) -> None:
        """The coordinator records rows, deletes and position of a save together, perhaps late."""
        require(exists(s.Position, lambda p: s.flying[g, p] & ~s.stored[g, p]))
        s.stored = each(s.Segment, s.Position, lambda h, p: s.stored[h, p] | ((h == g) & s.flying[h, p]))
        s.position[g] = ite(s.position[g] < s.upto[g], s.upto[g], s.position[g])

    @action(fairness="weak", source="facts 7.6: callbacks")
    def finish(s, g: Segment) -> None:
        """The answer arrives: the saved rows leave the memory and no longer hold the checkpoint back."""
        require(s.busy[g] & forall(s.Position, lambda p: implies(s.flying[g, p], s.stored[g, p])))
        s.busy[g] = False
        s.held = each(s.Segment, s.Position, lambda h, p: s.held[h, p] & s.OWN_BUFFER)

    @action(fairness="weak", source="facts 7.5, 8, 9, 10.1; seed 001")
    def move_checkpoint(s, value: Position) -> None:
        """A checkpoint is stored that the node has read now or earlier."""
        require((value > s.checkpoint) & (value <= s.earliest()))
        s.checkpoint = value

    @action(source="facts 10.4")
    def restart(s, value: Position) -> None:
        """Another node begins with an empty memory at the checkpoint of its start, perhaps an old one."""
        require(value <= s.checkpoint)
        s.consumed = value
        s.held = each(s.Segment, s.Position, lambda g, p: False)
        s.busy = each(s.Segment, lambda g: False)
        s.faults = s.faults + 1

    # ---- segments ----

    @action(source="facts 10.2")
    def import_segment(s, g: Segment) -> None:
        """The rows of an import are recorded."""
        require(s.imported[g] & ~exists(s.Position, lambda p: s.row_of(p, g) & s.stored[g, p]))
        known = forall(
            s.Position,
            lambda p: implies(s.row_of(p, g), (p > s.consumed) & (p > s.checkpoint)),
        )
        require(~s.SEGMENTS_ARE_KNOWN | known)
        s.stored = each(s.Segment, s.Position, lambda h, p: s.stored[h, p] | ((h == g) & s.row_of(p, g)))

    @action(source="facts 10.4")
    def apply(s, z: Segment, g: Segment) -> None:
        """The deletes of a recorded level-zero segment go into the files of a segment, by its filter."""
        require(all_of(s.is_level[z], ~s.dropped[z], ~s.is_level[g], ~s.dropped[g]))
        require(
            exists(s.Position, lambda d: all_of(s.stored[z, d], s.is_known(g, s.key[d]), ~s.stored[g, d]))
        )
        s.stored = each(
            s.Segment,
            s.Position,
            lambda h, d: s.stored[h, d] | all_of(h == g, s.stored[z, d], s.is_known(g, s.key[d])),
        )

    @action(source="facts 10.4")
    def drop_level(s, z: Segment) -> None:
        """All segments with older rows have its deletes: the level-zero segment is dropped."""
        require(s.is_level[z] & ~s.dropped[z] & exists(s.Position, lambda d: s.stored[z, d]))
        require(
            forall(
                s.Position,
                s.Position,
                lambda r, d: implies(
                    s.stored[z, d] & s.is_older(r, d),
                    s.dropped[s.segment_of[r]]
                    | (s.stored[s.segment_of[r], r] & s.stored[s.segment_of[r], d]),
                ),
            )
        )
        s.dropped[z] = True

    @action(source="facts 7.7, 7.9")
    def drop_segment(s, g: Segment) -> None:
        """A segment with rows is dropped, and so is its part of the node's memory."""
        require(~s.is_level[g] & ~s.dropped[g])
        s.dropped[g] = True
        s.held = each(s.Segment, s.Position, lambda h, p: s.held[h, p] & (h != g))

    # ---- loads ----

    @action(source="facts 6.1, 10.4; B37")
    def begin_load(s, levels: Bool) -> None:
        """A query node takes the channel up: with level-zero segments and the stream from the checkpoint on,
        or without, and the stream from the delete checkpoint on.
        """
        s.start = ite(levels, s.checkpoint, s.delete_checkpoint())
        s.lifted = each(s.Position, lambda d: levels & s.is_live(d))
        s.read = each(s.Segment, lambda g: False)
        s.shown = each(s.Position, lambda p: False)

    @action(source="facts 6.1; B34")
    def read_segment(s, g: Segment) -> None:
        """It reads the files of a segment, without the rows that they mark as deleted."""
        require(all_of(~s.read[g], ~s.is_level[g], ~s.dropped[g]))
        s.read[g] = True
        s.shown = each(s.Position, lambda r: s.shown[r] | (s.row_of(r, g) & s.is_found(r)))

    def is_found(s, r: Position) -> Bool:
        """The row is in the files, and they have no delete of it."""
        g = s.segment_of[r]
        return s.stored[g, r] & ~exists(s.Position, lambda d: s.stored[g, d] & s.is_older(r, d))
