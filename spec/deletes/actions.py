"""Deletes of one virtual channel: from the log to level-zero segments and into segments; the steps.

A data node puts the deletes of the log into the buffer of a level-zero segment, writes it out like rows, and
has it recorded. The checkpoint of the channel does not pass a delete that is not recorded. Level-zero
segments are applied to segments later: a segment takes the deletes of the keys that its filter knows. When
all segments with older rows have them, the level-zero segment is dropped. A query node that loads a segment
shows the rows of its files, without those that the files mark as deleted, and replays the deletes of the log
from the delete checkpoint on; or it loads the level-zero segments and replays from the checkpoint on. The
claims are in ``spec/deletes/claims.py``.

Sources: facts 6.1, 7.1 to 7.6, 10.2 and 10.4; bugs B37, B38, B60. This is the protocol as it is *meant*.

How it is cut:

- A position of the log carries one row or one delete; its timestamp is the position. A row is in the segment
  that it was allocated to. Rows of imported segments are at the timestamp of the import; the data node does
  not see them.
- Partitions are left out: each may have its own level-zero segment, so several may be open.
- A level-zero segment is written once. An identity is used again only if no save has left the node under it.
- How rows become durable, who owns the channel, and how a checkpoint travels is in ``flush``: here a sync of
  rows is two steps, one node follows the other at once, and a sent checkpoint may come late. A save of a
  level-zero segment may come late for ever.
- A filter may know keys that its segment does not have. A compaction is one step.
- One load at a time; a new one may begin during another. A load reads the files of a segment as they are at
  that moment.
"""

from tidemark.spec.language import (
    Bool,
    Enum,
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
    one_of,
    option,
    require,
)


class DeletesActions(Protocol, name="deletes"):
    """One virtual channel: deletes in level-zero segments, their checkpoint, apply and drop, loads."""

    Segment: TypeAlias = Sort
    Level: TypeAlias = Sort  # level-zero segments
    Key: TypeAlias = Sort
    Position: TypeAlias = Nat
    Faults: TypeAlias = Nat
    Row: TypeAlias = Enum["none", "buffered", "syncing", "stored", "removed"]
    Buffer: TypeAlias = Enum["none", "open", "syncing", "answered"]
    Life: TypeAlias = Enum["unknown", "live", "dropped"]

    DELETES_PIN: Bool = option(True)  # the checkpoint waits for deletes
    IN_FLIGHT: Bool = option(True)  # also for those that are being written out
    WAITS_FOR_ALL: Bool = option(True)  # a drop waits for segments that are not flushed yet
    FROM_DELETES: Bool = option(True)  # a load without level-zero segments begins at the delete checkpoint
    FILTERS_KNOW: Bool = option(True, assumes="A filter says yes to every key of its segment.")
    IMPORTS_ARE_KNOWN: Bool = option(
        True, assumes="The coordinator knows of an import before the import has its timestamp."
    )
    COMPACTS_ALONE: Bool = option(
        True, assumes="No delete is applied to a segment while the segment is compacted."
    )

    # The log: any log in a proof, a given one in an instance.
    inserts: Set[Position] = constant()
    deletes: Set[Position] = constant()
    key: Map[Position, Key] = constant()
    segment_of: Map[Position, Segment] = constant()  # of a row
    imported: Set[Segment] = constant()
    extra: Set[Segment, Key] = constant()  # keys that a filter knows by mistake

    # The data node; the level-zero segments.
    consumed: Position = 0
    row: Map[Position, Row] = everywhere("none")
    buffer: Map[Level, Buffer] = everywhere("none")
    content: Set[Level, Position] = everywhere(False)
    sent: Set[Level] = everywhere(False)  # a save of it was sent: it may arrive at any time

    # The coordinator, and the files.
    checkpoint: Position = 0
    report: Position = 0  # the greatest checkpoint that was sent
    level: Map[Level, Life] = everywhere("unknown")
    flushed: Set[Segment] = everywhere(False)
    applied: Set[Level, Segment] = everywhere(False)
    delta: Set[Segment, Position] = everywhere(False)  # the segment's files have the delete
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

    def removes(s, d: Position, r: Position) -> Bool:
        """The delete that a node applies to the row."""
        return s.is_older(r, d)

    def in_files(s, p: Position) -> Bool:
        """The row was written out and recorded."""
        return one_of(s.row[p], "stored", "removed")

    def is_free(s, z: Level) -> Bool:
        """A level-zero segment that was never used."""
        return all_of(s.buffer[z] == "none", ~s.sent[z], s.level[z] == "unknown")

    def is_live(s, d: Position) -> Bool:
        """The delete is in a level-zero segment that is recorded and not dropped."""
        return exists(s.Level, lambda z: s.content[z, d] & (s.level[z] == "live"))

    def durable(s, d: Position) -> Bool:
        """The delete was recorded in a level-zero segment."""
        return exists(s.Level, lambda z: s.content[z, d] & (s.level[z] != "unknown"))

    def settled(s, r: Position, d: Position) -> Bool:
        """The files of the row's segment have the delete, or no longer the row."""
        return s.delta[s.segment_of[r], d] | (s.row[r] == "removed")

    def holds_back(s, p: Position) -> Bool:
        """The row or the delete at p keeps the checkpoint from passing it."""
        waits = exists(
            s.Level,
            lambda z: (
                s.content[z, p]
                & any_of(s.buffer[z] == "open", s.IN_FLIGHT & one_of(s.buffer[z], "syncing", "answered"))
            ),
        )
        return one_of(s.row[p], "buffered", "syncing") | (s.DELETES_PIN & waits)

    def earliest(s) -> Position:
        """The start of the earliest row or delete that is not recorded, else the end of the last pack."""
        return least(s.Position, s.holds_back, default=s.consumed + 1) - 1

    def delete_checkpoint(s) -> Position:
        """The start of the earliest level-zero segment, if it is before the checkpoint."""
        return minimum(s.checkpoint, least(s.Position, s.is_live, default=s.checkpoint + 1) - 1)

    def is_known(s, g: Segment, k: Key) -> Bool:
        has = exists(s.Position, lambda p: all_of(s.row_of(p, g), s.row[p] == "stored", s.key[p] == k))
        return (s.FILTERS_KNOW & has) | s.extra[g, k]

    def waits_for(s, z: Level, g: Segment) -> Bool:
        """The segment has rows that are older than a delete of the level-zero segment."""
        older = exists(
            s.Position,
            s.Position,
            lambda r, d: all_of(s.row_of(r, g), s.content[z, d], r < d),
        )
        return all_of(
            older,
            s.WAITS_FOR_ALL | s.flushed[g],
            s.IMPORTS_ARE_KNOWN | ~s.imported[g] | s.flushed[g],
        )

    # ---- the data node ----

    @action(fairness="weak", source="facts 7.2")
    def take_row(s) -> None:
        """The next position has a row, or none. A stored row is dropped."""
        require(~s.deletes[s.consumed + 1])
        s.consumed = s.consumed + 1
        mine = s.inserts[s.consumed] & ~s.imported[s.segment_of[s.consumed]]
        s.row[s.consumed] = ite(mine & ~s.in_files(s.consumed), "buffered", s.row[s.consumed])

    @action(fairness="weak", source="facts 7.1, 7.2: deletes are not filtered")
    def take_delete(s, z: Level) -> None:
        """The next position has a delete, which goes into a level-zero buffer: also after a restart."""
        require(s.deletes[s.consumed + 1])
        require((s.buffer[z] == "open") | s.is_free(z))
        s.consumed = s.consumed + 1
        s.content[z, s.consumed] = True
        s.buffer[z] = "open"

    @action(source="facts 7.1")
    def leave_out(s) -> None:
        """The next position has a delete that is recorded already: it may be dropped, like a row."""
        require(s.deletes[s.consumed + 1] & s.durable(s.consumed + 1))
        s.consumed = s.consumed + 1

    @action(fairness="weak", source="facts 7.3")
    def sync_rows(s, g: Segment) -> None:
        """The rows of a segment are written out."""
        require(exists(s.Position, lambda p: s.row_of(p, g) & (s.row[p] == "buffered")))
        s.row = each(
            s.Position, lambda p: ite(s.row_of(p, g) & (s.row[p] == "buffered"), "syncing", s.row[p])
        )

    @action(fairness="weak", source="facts 7.6")
    def store_rows(s, g: Segment, upto: Position) -> None:
        """Those of a sync are recorded, and the node has the answer."""
        require(
            exists(s.Position, lambda p: all_of(s.row_of(p, g), s.row[p] == "syncing", p <= upto)),
        )
        s.row = each(
            s.Position,
            lambda p: ite(all_of(s.row_of(p, g), s.row[p] == "syncing", p <= upto), "stored", s.row[p]),
        )

    @action(fairness="weak", source="facts 7.3, 7.4, 7.6; B60")
    def sync_deletes(s, z: Level) -> None:
        """The deletes of the buffer are written out, and the save is sent. No other delete is added."""
        require(s.buffer[z] == "open")
        s.buffer[z] = "syncing"
        s.sent[z] = True

    @action(fairness="weak", source="facts 10.2: created on the spot")
    def record(s, z: Level) -> None:
        """The coordinator records the level-zero segment: also late, and again."""
        require(s.sent[z] & ((s.level[z] == "unknown") | (s.buffer[z] == "syncing")))
        s.level[z] = ite(s.level[z] == "unknown", "live", s.level[z])
        s.buffer[z] = ite(s.buffer[z] == "syncing", "answered", s.buffer[z])

    @action(source="facts 7.6")
    def lose_answer(s, z: Level) -> None:
        """The answer does not arrive: the save is sent again."""
        require(s.buffer[z] == "answered")
        s.buffer[z] = "syncing"
        s.faults = s.faults + 1

    @action(fairness="weak", source="facts 7.6: callbacks")
    def finish(s, z: Level) -> None:
        """The answer arrives: the deletes leave the memory and no longer hold the checkpoint back."""
        require(s.buffer[z] == "answered")
        s.buffer[z] = "none"

    @action(fairness="weak", source="facts 7.5, 8, 9")
    def send_checkpoint(s, value: Position) -> None:
        """The node sends a checkpoint that it has read now or earlier."""
        require((value > s.report) & (value <= s.earliest()))
        s.report = value

    @action(fairness="weak", source="facts 10.1")
    def store_checkpoint(s, value: Position) -> None:
        """The coordinator stores a sent checkpoint, or an earlier one, perhaps late."""
        require((value > s.checkpoint) & (value <= s.report))
        s.checkpoint = value

    @action(source="facts 10.4")
    def restart(s, value: Position) -> None:
        """Another node begins with an empty memory at the checkpoint of its start, perhaps an old one."""
        require(value <= s.checkpoint)
        s.consumed = value
        s.row = each(s.Position, lambda p: ite(s.in_files(p), s.row[p], "none"))
        s.content = each(s.Level, s.Position, lambda z, p: s.content[z, p] & s.sent[z])
        s.buffer = each(s.Level, lambda z: "none")
        s.faults = s.faults + 1

    # ---- segments, and the deletes that are applied to them ----

    @action(source="facts 7.7, 10.3", relies_on=("flush.flushed_is_complete",))
    def end_segment(s, g: Segment) -> None:
        """A segment is recorded as flushed: all its rows are."""
        require(~s.flushed[g] & ~s.imported[g])
        require(forall(s.Position, lambda p: implies(s.row_of(p, g), s.in_files(p))))
        s.flushed[g] = True

    @action(source="facts 10.2")
    def import_segment(s, g: Segment) -> None:
        """The rows of an import are recorded, at any time, as a flushed segment."""
        require(s.imported[g] & ~s.flushed[g])
        s.flushed[g] = True
        s.row = each(s.Position, lambda p: ite(s.row_of(p, g), "stored", s.row[p]))

    @action(source="facts 10.4")
    def apply(s, z: Level, g: Segment) -> None:
        """The deletes of a level-zero segment are written to a flushed segment's files, by its filter."""
        require(all_of(s.level[z] == "live", s.flushed[g], ~s.applied[z, g]))
        s.applied[z, g] = True
        s.delta = each(
            s.Segment,
            s.Position,
            lambda h, d: s.delta[h, d] | all_of(h == g, s.content[z, d], s.is_known(g, s.key[d])),
        )

    @action(source="facts 10.4")
    def drop(s, z: Level) -> None:
        """All segments with older rows have its deletes: the level-zero segment is dropped."""
        require(s.level[z] == "live")
        require(forall(s.Segment, lambda g: implies(s.waits_for(z, g), s.applied[z, g])))
        s.level[z] = "dropped"

    @action(source="facts 10.4")
    def compact(s, g: Segment, missed: Position) -> None:
        """A segment is written anew without the rows that its deletes remove, and without the deletes."""
        require(s.flushed[g] & exists(s.Position, lambda d: s.delta[g, d]))
        require(s.COMPACTS_ALONE | s.delta[g, missed])
        require(~s.COMPACTS_ALONE | (missed == 0))
        s.row = each(
            s.Position,
            lambda r: ite(
                s.row_of(r, g)
                & (s.row[r] == "stored")
                & exists(s.Position, lambda d: all_of(s.delta[g, d], d != missed, s.removes(d, r))),
                "removed",
                s.row[r],
            ),
        )
        s.delta = each(s.Segment, s.Position, lambda h, d: s.delta[h, d] & (h != g))

    # ---- loads ----

    @action(source="facts 6.1, 10.4; B37")
    def begin_load(s, levels: Bool) -> None:
        """A query node takes the channel up: with level-zero segments and the stream from the checkpoint on,
        or without, and the stream from the delete checkpoint on.
        """
        s.start = ite(levels | ~s.FROM_DELETES, s.checkpoint, s.delete_checkpoint())
        s.lifted = each(s.Position, lambda d: levels & s.is_live(d))
        s.read = each(s.Segment, lambda g: False)
        s.shown = each(s.Position, lambda p: False)

    @action(source="facts 6.1; B34")
    def read_segment(s, g: Segment) -> None:
        """It reads the files of a segment."""
        require(~s.read[g] & (s.flushed[g] | ~s.imported[g]))
        s.read[g] = True
        s.shown = each(s.Position, lambda r: s.shown[r] | (s.row_of(r, g) & s.is_found(r)))

    def is_found(s, r: Position) -> Bool:
        """The row is in the files, and they have no delete of it."""
        g = s.segment_of[r]
        return (s.row[r] == "stored") & ~exists(s.Position, lambda d: s.delta[g, d] & s.removes(d, r))
