"""Recovery of a data node's flow graph in the design of 2021: a position for each segment; the steps.

The log of a virtual channel is a sequence of packs; a pack may have rows of several segments. The node reads
pack after pack into buffers. A flush of a segment uploads its rows. Then one save records the binlogs, the
segment's position, and the positions of all other segments that the node has met. After a crash the node
seeks the earliest of these positions, and drops, for each segment, the rows that its position marks as
stored.

Sources: seed 003; hazards 46 and 47. This is the design with positions of one meaning: all rows of the
segment at or below are stored. Where the design differs, a variant has its own verdict.

How it is cut:

- ``save`` records everything in one step: the design asks for "together or not at all". A save whose answer
  is lost is a save, then a crash, or the same save again, which records the same binlogs.
- A segment is not sealed: "auto flush is a valid flush", and flushed rows stay in the list of the segment.
- Positions are numbers of packs. The node reads on during an upload.
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
    constant,
    each,
    everywhere,
    exists,
    forall,
    implies,
    ite,
    option,
    require,
)


class FlowGraphActions(Protocol, name="flowgraph"):
    """One virtual channel: packs, buffers of segments, saves of positions, crashes and recovery."""

    Segment: TypeAlias = Sort
    Position: TypeAlias = Nat
    Faults: TypeAlias = Nat

    FIRST_BEFORE: Bool = option(True)  # the position of a segment without a flush is before its first pack
    DROPS_AT: Bool = option(True)  # rows at the position are dropped, too
    SEEKS_AFTER: Bool = option(True)  # reading continues behind the sought position
    KNOWS_THE_TIME: Bool = option(True)  # the time of recovery is behind all rows that were read before

    row: Set[Position, Segment] = constant()  # the pack has rows of the segment

    # The node's memory.
    alive: Bool = True
    read: Position = 0  # the last pack
    buffered: Set[Position, Segment] = everywhere(False)
    uploading: Set[Segment] = everywhere(False)
    flying: Set[Position, Segment] = everywhere(False)  # rows of the upload that is under way
    upto: Map[Segment, Position] = everywhere(0)  # the last pack, when the upload began
    met: Set[Segment] = everywhere(False)
    position: Map[Segment, Position] = everywhere(0)
    dropped: Map[Segment, Position] = everywhere(0)  # positions found by the last recovery
    threshold: Position = 0  # later packs are not filtered

    # The store.
    stored: Set[Position, Segment] = everywhere(False)
    known: Set[Segment] = everywhere(False)
    saved: Map[Segment, Position] = everywhere(0)

    reached: Position = 0  # the last pack that was read, ever
    faults: Faults = 0

    # ---- helpers ----

    def is_dropped(s, p: Position, g: Segment) -> Bool:
        """A recovered node drops the rows of the pack as stored."""
        behind = ite(s.DROPS_AT, p <= s.dropped[g], p < s.dropped[g])
        return behind & (p <= s.threshold)

    def first_position(s, p: Position) -> Position:
        """The position of a segment that is first met in the pack."""
        return ite(s.FIRST_BEFORE, p - 1, p)

    # ---- reading ----

    @action(source="seed 003")
    def consume(s) -> None:
        """The next pack is read; its rows are buffered, unless they count as stored."""
        require(s.alive)
        s.read = s.read + 1
        s.reached = ite(s.read > s.reached, s.read, s.reached)
        s.position = each(
            s.Segment,
            lambda g: ite(s.row[s.read, g] & ~s.met[g], s.first_position(s.read), s.position[g]),
        )
        s.met = each(s.Segment, lambda g: s.met[g] | s.row[s.read, g])
        s.buffered = each(
            s.Position,
            s.Segment,
            lambda p, g: s.buffered[p, g] | ((p == s.read) & s.row[p, g] & ~s.is_dropped(p, g)),
        )

    # ---- flush ----

    @action(source="seed 003")
    def upload(s, g: Segment) -> None:
        """A flush begins: the rows of the segment leave the buffer."""
        require(s.alive & ~s.uploading[g])
        require(exists(s.Position, lambda p: s.buffered[p, g]))
        s.uploading[g] = True
        s.upto[g] = s.read
        s.flying = each(s.Position, s.Segment, lambda p, h: s.flying[p, h] | ((h == g) & s.buffered[p, h]))
        s.buffered = each(s.Position, s.Segment, lambda p, h: s.buffered[p, h] & (h != g))

    @action(source="seed 003; hazard 48")
    def save(s, g: Segment) -> None:
        """Binlogs and positions are recorded, those of all other segments too."""
        require(s.alive & s.uploading[g])
        s.stored = each(s.Position, s.Segment, lambda p, h: s.stored[p, h] | ((h == g) & s.flying[p, h]))
        s.flying = each(s.Position, s.Segment, lambda p, h: s.flying[p, h] & (h != g))
        s.uploading[g] = False
        s.position[g] = s.upto[g]
        s.saved = each(s.Segment, lambda h: ite(s.met[h], s.position[h], s.saved[h]))
        s.known = each(s.Segment, lambda h: s.known[h] | s.met[h])

    # ---- crash and recovery ----

    @action(source="seed 003")
    def crash(s) -> None:
        """The memory is lost, at any moment; a save that fails for good ends the node, too."""
        require(s.alive)
        s.faults = s.faults + 1
        s.alive = False
        s.buffered = each(s.Position, s.Segment, lambda p, g: False)
        s.flying = each(s.Position, s.Segment, lambda p, g: False)
        s.uploading = each(s.Segment, lambda g: False)

    @action(source="seed 003; hazard 47")
    def recover(s, seek: Position, now: Position) -> None:
        """The node seeks the earliest of the saved positions; without one it begins at the beginning."""
        require(~s.alive)
        require(forall(s.Segment, lambda g: implies(s.known[g], seek <= s.saved[g])))
        require((seek == 0) | exists(s.Segment, lambda g: s.known[g] & (s.saved[g] == seek)))
        require(~s.KNOWS_THE_TIME | (now >= s.reached))
        s.alive = True
        s.threshold = now
        s.read = ite(s.SEEKS_AFTER | (seek == 0), seek, seek - 1)
        s.met = s.known
        s.position = s.saved
        s.dropped = s.saved
