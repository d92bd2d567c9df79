"""Ownership of a virtual channel: the steps.

The data coordinator gives a channel to a data node, takes it away, and gives it to another, or to the same
one again. A replaced node need not know it: it consumes, saves binlogs and reports checkpoints as before. The
coordinator takes requests of the present owner only. When the collection is dropped the owner stores the rest
and has the channel dropped; the checkpoint then is greater than all others, until it is collected. A
collection of the same name may be created again.

Sources: seed 001, recovery; facts 7.9, 10.1, 10.2, 10.4; hazards 14, 22; B19, B27, B29, B30, B31.

How it is cut:

- A tenure is one process' possession of the channel, from the moment when it is given the channel. A process
  that crashes, or a channel that moves, ends no tenure: its messages may arrive at any time, and again.
- The epoch counts tenures. A node comes back with its old id, a tenure never.
- Each tenure has one save of a segment on the way at a time (its key lock). The last one is kept: it may
  arrive again after its answer. Earlier ones are behind the recorded position.
- A tenure may report any position up to the greatest that it may report.
- The log carries at most one row at a position. The next collection of the same name begins where the dropped
  one ends.
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
    constant,
    each,
    everywhere,
    exists,
    forall,
    ite,
    least,
    maximum,
    option,
    require,
)


class OwnershipActions(Protocol, name="ownership"):
    """One virtual channel and its records: tenures of nodes, saves, checkpoints, drop, collection."""

    Node: TypeAlias = Sort
    Tenure: TypeAlias = Sort
    Segment: TypeAlias = Sort
    Position: TypeAlias = Nat
    Epoch: TypeAlias = Nat
    Copies: TypeAlias = Nat
    Faults: TypeAlias = Nat
    Life: TypeAlias = Enum["living", "dropped", "gone"]
    Record: TypeAlias = Enum["kept", "dropped", "collected"]
    Save: TypeAlias = Enum["idle", "sent", "taken"]

    BY_EPOCH: Bool = option(True)  # the coordinator compares the epoch; else the id of the node
    EPOCH_STAYS: Bool = option(True)  # the epoch outlives the channel's records
    SENTINEL: Bool = option(True)  # a dropped channel keeps a checkpoint, greater than all others
    CREATES: Bool = option(False)  # a save of a segment without a record makes one
    CHECKED_AT_ONCE: Bool = option(
        True, assumes="The coordinator compares the epoch and writes the record in one transaction."
    )
    STARTS_TOLD: Bool = option(
        True, assumes="Before a save is recorded, so is where each segment begins of which its node has read."
    )
    IMPORTS_WAIT: Bool = option(True, assumes="No import ends while its channel has no checkpoint.")
    BEGINS_FIRST: Bool = option(
        True, assumes="The place where a collection begins is taken before it has a row."
    )

    carries: Set[Position] = constant()
    segment_of: Map[Position, Segment] = constant()
    of: Map[Tenure, Node] = constant()

    # The coordinator's records.
    life: Life = "living"
    epoch: Epoch = 0
    assigned: Bool = False
    has_checkpoint: Bool = True
    stored: Position = 0
    record: Map[Segment, Record] = everywhere("kept")
    dml: Map[Segment, Position] = everywhere(0)
    copies: Map[Position, Copies] = everywhere(0)

    # The collection, and its part of the log: behind ``start``, and up to ``end`` once it has ended.
    start: Position = 0
    ended: Bool = False
    end: Position = 0
    seen: Position = 0  # history: the log is at least as long

    # The tenures. Of a save: its rows are behind ``low``, up to ``high``.
    epoch_of: Map[Tenure, Epoch] = everywhere(0)  # 0: not begun
    alive: Set[Tenure] = everywhere(False)
    read: Map[Tenure, Position] = everywhere(0)
    save: Map[Tenure, Segment, Save] = everywhere("idle")
    low: Map[Tenure, Segment, Position] = everywhere(0)
    high: Map[Tenure, Segment, Position] = everywhere(0)
    top: Map[Tenure, Position] = everywhere(0)  # the greatest checkpoint that was reported
    asks: Set[Tenure] = everywhere(False)  # it has asked that the channel be dropped
    faults: Faults = 0

    # ---- helpers ----

    def is_row(s, p: Position) -> Bool:
        """The collection has a row here."""
        return all_of(s.carries[p], s.start < p, ~s.ended | (p <= s.end))

    def is_settled(s, p: Position) -> Bool:
        return (s.copies[p] >= 1) | (s.record[s.segment_of[p]] != "kept")

    def is_taken(s, t: Tenure) -> Bool:
        """The coordinator takes requests of this tenure."""
        same_node = exists(s.Tenure, lambda u: (s.epoch_of[u] == s.epoch) & (s.of[u] == s.of[t]))
        return all_of(s.assigned, s.epoch_of[t] > 0, ite(s.BY_EPOCH, s.epoch_of[t] == s.epoch, same_node))

    def known(s, t: Tenure, segment: Segment) -> Position:
        """The tenure knows that the segment's rows are settled up to here."""
        return ite(s.save[t, segment] == "idle", s.high[t, segment], s.low[t, segment])

    def holds(s, t: Tenure, p: Position) -> Bool:
        """The tenure has read a row here, and does not know that it is settled."""
        return all_of(s.carries[p], p <= s.read[t], p > s.known(t, s.segment_of[p]))

    def checkpoint(s, t: Tenure) -> Position:
        """Below all rows that the tenure holds."""
        return least(s.Position, lambda p: s.holds(t, p), default=s.read[t] + 1) - 1

    def is_greater(s, position: Position) -> Bool:
        return ~s.has_checkpoint | ((s.life != "dropped") & (position > s.stored))

    # ---- the channel moves ----

    @action(source="facts 10.4; seed 001, recovery")
    def take(s, t: Tenure) -> None:
        """A node is given the channel, with the checkpoint and the recorded position of each segment."""
        require((s.life == "living") & (s.epoch_of[t] == 0))
        s.epoch = s.epoch + 1
        s.epoch_of[t] = s.epoch
        s.assigned = True
        s.alive[t] = True
        s.read[t] = s.seek()
        s.low = each(s.Tenure, s.Segment, lambda u, g: ite(u == t, s.told(g), s.low[u, g]))
        s.high = each(s.Tenure, s.Segment, lambda u, g: ite(u == t, s.told(g), s.high[u, g]))

    def told(s, segment: Segment) -> Position:
        """Up to here the segment's rows are settled, by the coordinator's answer."""
        return maximum(s.dml[segment], s.seek())

    def seek(s) -> Position:
        """From here on the log is read, by the coordinator's answer."""
        return s.stored

    @action(source="facts 10.1; hazard 22")
    def release(s) -> None:
        """The channel is taken from its owner."""
        require(s.assigned)
        s.assigned = False
        s.faults = s.faults + 1

    @action(source="facts 10.1; hazard 22")
    def give_back(s) -> None:
        """The channel goes back to its former owner, without a new tenure."""
        require((s.life == "living") & ~s.assigned & (s.epoch > 0))
        s.assigned = True

    @action(source="facts 7.9")
    def crash(s, t: Tenure) -> None:
        """A process ends. Its messages are still on the way."""
        require(s.alive[t])
        s.alive[t] = False
        s.faults = s.faults + 1

    # ---- rows and checkpoints ----

    @action(source="facts 7.2")
    def consume(s, t: Tenure) -> None:
        """A tenure reads on in the log."""
        require(s.alive[t] & (~s.ended | (s.read[t] < s.end)))
        s.read[t] = s.read[t] + 1
        s.seen = maximum(s.seen, s.read[t])

    @action(source="facts 7.6")
    def send(s, t: Tenure, segment: Segment) -> None:
        """The rows of a segment that a tenure holds are uploaded, and to be recorded."""
        require(s.alive[t] & (s.save[t, segment] == "idle"))
        require(exists(s.Position, lambda p: s.holds(t, p) & (s.segment_of[p] == segment)))
        s.save[t, segment] = "sent"
        s.low[t, segment] = s.high[t, segment]
        s.high[t, segment] = s.read[t]

    @action(source="facts 10.2; B19")
    def record_save(s, t: Tenure, segment: Segment) -> None:
        """A save arrives, and is taken. Recorded rows, and those of a dropped segment, count as done."""
        require((s.low[t, segment] < s.high[t, segment]) & s.is_taken(t))
        s.add_rows(t, segment)
        s.save[t, segment] = ite(s.save[t, segment] == "sent", "taken", s.save[t, segment])

    def add_rows(s, t: Tenure, segment: Segment) -> None:
        is_open = (s.record[segment] == "kept") | (s.CREATES & (s.record[segment] == "collected"))
        brings = is_open & (s.high[t, segment] > s.dml[segment])
        s.copies = each(
            s.Position,
            lambda p: ite(
                all_of(
                    brings,
                    s.carries[p],
                    s.segment_of[p] == segment,
                    s.low[t, segment] < p,
                    p <= s.high[t, segment],
                ),
                s.copies[p] + 1,
                s.copies[p],
            ),
        )
        s.dml[segment] = ite(brings, s.high[t, segment], s.dml[segment])
        s.record[segment] = ite(is_open, "kept", s.record[segment])

    @action(source="facts 7.6: callbacks")
    def learn(s, t: Tenure, segment: Segment) -> None:
        """The tenure has the answer of its save."""
        require(s.alive[t] & (s.save[t, segment] == "taken"))
        s.save[t, segment] = "idle"

    @action(source="facts 7.5, 9")
    def report(s, t: Tenure) -> None:
        """A tenure reports its checkpoint."""
        require(s.alive[t] & (s.checkpoint(t) > s.top[t]))
        s.top[t] = s.checkpoint(t)

    @action(source="facts 10.1; B27, B29")
    def store(s, t: Tenure, position: Position) -> None:
        """A report arrives, now or late, is taken, and is greater than the stored checkpoint."""
        require((position > 0) & (position <= s.top[t]) & s.is_taken(t))
        require(s.is_greater(position))
        s.stored = position
        s.has_checkpoint = True

    # ---- the end of segments, and of the channel ----

    @action(source="facts 7.7, 10.2")
    def drop_segment(s, segment: Segment) -> None:
        """The segment's partition is dropped."""
        require((s.life == "living") & (s.record[segment] == "kept"))
        s.record[segment] = "dropped"

    @action(fairness="weak", source="facts 10.2")
    def collect_segment(s, segment: Segment) -> None:
        """The record of a dropped segment is collected."""
        require(s.record[segment] == "dropped")
        s.record[segment] = "collected"

    @action(source="facts 7.9")
    def drop_collection(s, position: Position) -> None:
        """The collection is dropped: no row follows behind this position."""
        require((s.life == "living") & ~s.ended & (s.seen <= position))
        s.ended = True
        s.end = position
        s.seen = position

    @action(source="facts 7.9")
    def ask_drop(s, t: Tenure) -> None:
        """A tenure has read all, and knows all settled: the channel can go."""
        require(s.alive[t] & ~s.asks[t])
        require(s.ended & (s.read[t] == s.end) & (s.checkpoint(t) == s.end))
        s.asks[t] = True

    @action(source="facts 7.9, 10.1; hazard 14; B30")
    def drop(s, t: Tenure) -> None:
        """The request arrives, now or late, and is taken: from now on the coordinator takes no request."""
        require(s.asks[t] & s.is_taken(t))
        s.assigned = False
        s.record = each(
            s.Segment,
            lambda g: ite(
                (s.record[g] == "kept") & exists(s.Position, lambda p: s.is_row(p) & (s.segment_of[p] == g)),
                "dropped",
                s.record[g],
            ),
        )
        s.life = ite(s.SENTINEL, "dropped", "gone")
        s.has_checkpoint = s.SENTINEL
        s.stored = 0

    @action(fairness="weak", source="facts 10.1; B31")
    def collect(s) -> None:
        """The checkpoint of a dropped channel is collected after its segments."""
        require(s.may_collect())
        require(forall(s.Segment, lambda g: s.record[g] != "dropped"))
        s.life = "gone"
        s.has_checkpoint = False
        s.stored = 0

    def may_collect(s) -> Bool:
        """The channel was dropped by its owner."""
        return s.life == "dropped"

    @action(source="facts 10.1; hazard 14")
    def create(s) -> None:
        """A collection of the same name is created: its channel begins behind the end of the last one."""
        require(s.life == "gone")
        s.life = "living"
        s.has_checkpoint = True
        s.stored = s.end
        s.start = s.end
        s.ended = False
        s.epoch = ite(s.EPOCH_STAYS, s.epoch + 1, 0)
