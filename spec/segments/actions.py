"""Growing and sealed segments of one channel at one query node; loads and deletes; state and steps.

The data node stores all rows up to the channel checkpoint, and flushes segments. A query node takes the
channel up: it loads the flushed segments, takes the stored rows of the others as growing segments, and
consumes the stream. Rows of the stream go into growing segments, unless the loaded files hold them (excluded
timestamps). Deletes go into every segment that is served, and into the delete buffer. A segment that is
flushed later is loaded while the stream advances; then it replaces the growing one. The files of a segment
hold the deletes up to the delete checkpoint; those after it are replayed from the buffer when the load ends.
The service time rises when a pack is applied and all segments are there that were flushed when the channel
was taken up.

Sources: seed 002 (service time), facts 6.1 and 10.4, bugs B34, B35, B37 and B38. This is the protocol as it
is *meant*.

How it is cut:

- One node, one channel. A node that crashes, or gives the channel up because it cannot load it, takes it up
  anew; ``faults`` counts that and bounds the searches.
- ``filed``: the row is in recorded files; or the files of the segments with older rows have the delete
  (``deletes`` has the details). ``checkpoint``: all rows up to it are filed. A segment is flushed once all
  its rows are, wherever the checkpoint is. ``delete_checkpoint``: all deletes up to it are filed; it is not
  above the checkpoint. At the beginning of a load the coordinator names the delete checkpoint of that moment
  (``files_upto``); both may move during the load.
- A load is two steps, its beginning and its end, with any steps between. The replay is one step with its end:
  the node takes the last look at the buffer and serves the segment without a pause.
- The node got the list of the segments that were flushed when the channel was taken up. It loads them by
  itself, with the files of that moment; or at a request, with those of a later one.
- Rows of a growing segment that are in files are loaded when the channel is taken up.
- An excluded timestamp is kept for good: rows at or below it do not come again. It is the checkpoint, for all
  segments; a variant gives each its own, and forgets it (``OwnPositions``, proved as well).
- Reads see the rows of a sealed segment if it is served, else the growing ones.

Left out: compactions of rows, segments that are moved between nodes (for deletes a load like any other), the
release of a channel at a request, the memory and the time that a load takes.
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
    forall,
    implies,
    ite,
    option,
    require,
)


class SegmentsActions(Protocol, name="segments"):
    """One channel at one query node; any number of segments, keys, rows and deletes."""

    Write: TypeAlias = Sort
    Key: TypeAlias = Sort
    Segment: TypeAlias = Sort
    Ts: TypeAlias = Nat
    Load: TypeAlias = Enum["none", "loading", "served"]
    Faults: TypeAlias = Nat

    SEALS_END: Bool = option(True)  # no row of a segment comes into the log after its flush

    key: Map[Write, Key] = constant()
    deletes: Set[Write] = constant()
    segment: Map[Write, Segment] = constant()  # of a row

    # The log.
    logged: Set[Write] = everywhere(False)
    ts: Map[Write, Ts] = everywhere(0)
    tick: Ts = 0

    # The store.
    checkpoint: Ts = 0
    delete_checkpoint: Ts = 0
    flushed: Set[Segment] = everywhere(False)
    filed: Set[Write] = everywhere(False)  # the row is in files, or the delete is in those of the segments

    # The query node.
    watching: Bool = False
    wanted: Set[Segment] = everywhere(False)  # flushed when the channel was taken up
    start: Ts = 0  # the stream is consumed from here
    files_at_start: Ts = 0  # the deletes up to here were in files when the channel was taken up
    excluded: Map[Segment, Ts] = everywhere(0)  # rows of the stream at or below it are left out
    pack: Ts = 0  # the end of the pack that is applied
    safe: Ts = 0  # the service time
    grown: Set[Write] = everywhere(False)  # rows of growing segments
    twice: Set[Write] = everywhere(False)  # rows that are there a second time
    # what the pipeline has done with: deletes, and rows, left out or not
    applied: Set[Write] = everywhere(False)
    buffer: Set[Write] = everywhere(False)  # deletes
    load: Map[Segment, Load] = everywhere("none")
    files_upto: Map[Segment, Ts] = everywhere(0)  # the deletes up to here come with the files
    knows: Set[Segment, Write] = everywhere(False)  # deletes that a sealed segment has
    faults: Faults = 0

    # ---- helpers ----

    def is_row(s, w: Write) -> Bool:
        return s.logged[w] & ~s.deletes[w]

    def is_delete(s, d: Write) -> Bool:
        return s.logged[d] & s.deletes[d]

    def is_in_pack(s, w: Write) -> Bool:
        """The write is in the pack, and the pipeline has not processed it."""
        return all_of(s.logged[w], s.ts[w] > s.start, s.ts[w] <= s.pack, ~s.applied[w])

    def is_read(s, w: Write) -> Bool:
        """A read finds the row at the node, unless a delete removes it."""
        return ite(s.load[s.segment[w]] == "served", s.filed[w], s.grown[w])

    def is_known(s, w: Write, d: Write) -> Bool:
        """The copy of the row that is read has the delete. A growing segment has those of the stream, and
        those that were in files when the channel was taken up.
        """
        in_growing = s.applied[d] | (s.filed[d] & (s.ts[d] <= s.files_at_start))
        return ite(s.load[s.segment[w]] == "served", s.knows[s.segment[w], d], in_growing)

    # ---- the log and the store ----

    @action(
        source="facts 3.1, 10.3",
        relies_on=("timetick.ticks_are_below_all_to_come", "allocation.no_row_joins_an_ended_segment"),
    )
    def append(s, w: Write, ts: Ts) -> None:
        """A row or a delete is in the log. As the allocator promises, no row of a flushed segment."""
        require(~s.logged[w])
        require(ts > s.tick)
        require(any_of(s.deletes[w], ~s.flushed[s.segment[w]], ~s.SEALS_END))
        s.logged[w] = True
        s.ts[w] = ts

    @action(fairness="weak", source="facts 4")
    def send_tick(s, value: Ts) -> None:
        """A tick is in the log."""
        require(value > s.tick)
        s.tick = value

    @action(source="facts 7.6, 10.2, 10.4")
    def save(s, w: Write) -> None:
        """The row is in files, or the delete is in the files of the segments."""
        require(s.logged[w] & ~s.filed[w])
        s.filed[w] = True

    @action(source="facts 7.5", relies_on=("flush.checkpoint_before_earliest_unsynced",))
    def store(s, value: Ts) -> None:
        """The channel checkpoint moves: all rows up to it are in files."""
        require((value > s.checkpoint) & (value <= s.tick))
        require(forall(s.Write, lambda w: implies(s.is_row(w) & (s.ts[w] <= value), s.filed[w])))
        s.checkpoint = value

    @action(source="facts 10.4", relies_on=("deletes.files_have_the_deletes_of_their_checkpoint",))
    def store_deletes(s, value: Ts) -> None:
        """The delete checkpoint moves: the deletes up to it are in the files of the segments."""
        require((value > s.delete_checkpoint) & (value <= s.checkpoint))
        require(forall(s.Write, lambda d: implies(s.is_delete(d) & (s.ts[d] <= value), s.filed[d])))
        s.delete_checkpoint = value

    @action(source="facts 7.7, 10.3", relies_on=("flush.flushed_is_complete",))
    def flush(s, g: Segment) -> None:
        """A segment is flushed: all its rows are in files."""
        require(~s.flushed[g])
        require(forall(s.Write, lambda w: implies(s.is_row(w) & (s.segment[w] == g), s.filed[w])))
        s.flushed[g] = True

    # ---- the channel is taken up ----

    def start_of_the_stream(s) -> Ts:
        """The start of the stream: the deletes after it are in no file of a segment."""
        return s.delete_checkpoint

    @action(fairness="weak", source="facts 6.1, 10.4; B37")
    def watch(s) -> None:
        """The node takes the channel up, with the stored rows of the segments that are not flushed."""
        require(~s.watching)
        s.watching = True
        s.start = s.start_of_the_stream()
        s.files_at_start = s.delete_checkpoint
        s.pack = s.start
        s.wanted = each(s.Segment, lambda g: s.flushed[g])
        s.excluded = each(s.Segment, lambda g: s.checkpoint)
        s.grown = each(s.Write, s.is_stored_of_a_growing_segment)

    @action(source="facts 6.1")
    def leave(s) -> None:
        """The node crashes, or gives the channel up: its memory is lost."""
        require(s.watching)
        s.watching = False
        s.wanted = each(s.Segment, lambda g: False)
        s.start = 0
        s.files_at_start = 0
        s.excluded = each(s.Segment, lambda g: 0)
        s.pack = 0
        s.safe = 0
        s.grown = each(s.Write, lambda w: False)
        s.twice = each(s.Write, lambda w: False)
        s.applied = each(s.Write, lambda w: False)
        s.buffer = each(s.Write, lambda d: False)
        s.load = each(s.Segment, lambda g: "none")
        s.files_upto = each(s.Segment, lambda g: 0)
        s.knows = each(s.Segment, s.Write, lambda g, d: False)
        s.faults = s.faults + 1

    def is_stored_of_a_growing_segment(s, w: Write) -> Bool:
        return all_of(s.is_row(w), s.filed[w], s.ts[w] <= s.checkpoint, ~s.flushed[s.segment[w]])

    # ---- the pipeline ----

    @action(fairness="weak", source="seed 002, service time; facts 6.1")
    def take_pack(s, end: Ts) -> None:
        """The next pack."""
        require(s.watching & (end > s.pack) & (end <= s.tick))
        require(forall(s.Write, lambda w: ~s.is_in_pack(w)))
        s.pack = end

    def is_left_out(s, w: Write) -> Bool:
        """The filter: the loaded files hold the row."""
        return any_of(
            s.wanted[s.segment[w]], s.load[s.segment[w]] == "served", s.ts[w] <= s.excluded[s.segment[w]]
        )

    @action(fairness="weak", source="facts 6.1")
    def apply_insert(s, w: Write) -> None:
        """A row of the pack goes into its growing segment, or is left out."""
        require(s.is_in_pack(w) & ~s.deletes[w])
        s.applied[w] = True
        s.twice[w] = s.twice[w] | (s.grown[w] & ~s.is_left_out(w))
        s.grown[w] = s.grown[w] | ~s.is_left_out(w)

    @action(fairness="weak", source="facts 6.1")
    def apply_delete(s, d: Write) -> None:
        """A delete of the pack goes into all served segments, and into the buffer."""
        require(s.is_in_pack(d) & s.deletes[d])
        s.applied[d] = True
        s.buffer[d] = True
        s.knows = each(s.Segment, s.Write, lambda g, e: s.knows[g, e] | ((e == d) & s.is_forwarded_to(g)))

    def is_forwarded_to(s, g: Segment) -> Bool:
        """Deletes of the stream go into the segment."""
        return s.load[g] == "served"

    @action(
        fairness="weak",
        source="seed 002, service time; facts 6.1",
        relies_on=("dispatch.nothing_is_left_out",),
    )
    def raise_safe(s) -> None:
        """The pack is applied, and listed segments are served: the service time is the pack's end."""
        require(s.watching & (s.pack > s.safe))
        require(forall(s.Write, lambda w: ~s.is_in_pack(w)))
        require(forall(s.Segment, lambda g: implies(s.wanted[g], s.load[g] == "served")))
        s.safe = s.pack

    # ---- loads ----

    @action(source="facts 6.1; B34")
    def begin_load(s, g: Segment) -> None:
        """A requested load of a flushed segment begins. Its files hold deletes to the delete checkpoint."""
        require(s.watching & s.flushed[g] & (s.load[g] == "none"))
        s.load[g] = "loading"
        s.files_upto[g] = s.delete_checkpoint

    @action(fairness="weak", source="facts 6.1")
    def load_listed(s, g: Segment) -> None:
        """The load of a listed segment begins, with the files of the time when the channel was taken up."""
        require(s.watching & s.wanted[g] & (s.load[g] == "none"))
        s.load[g] = "loading"
        s.files_upto[g] = s.files_at_start

    def replays_from(s, g: Segment) -> Ts:
        """The deletes above this are replayed from the buffer."""
        return s.files_upto[g]

    def is_replayed(s, g: Segment, d: Write) -> Bool:
        """The delete is applied to the segment at the end of its load."""
        return s.buffer[d] & (s.ts[d] > s.replays_from(g))

    def is_in_files(s, g: Segment, d: Write) -> Bool:
        return all_of(s.is_delete(d), s.filed[d], s.ts[d] <= s.files_upto[g])

    @action(fairness="weak", source="facts 6.1; B34; B35; B38")
    def end_load(s, g: Segment) -> None:
        """Deletes are replayed, and the segment is served in place of the growing one."""
        require(s.load[g] == "loading")
        s.knows = each(
            s.Segment,
            s.Write,
            lambda h, d: s.knows[h, d] | all_of(h == g, any_of(s.is_in_files(g, d), s.is_replayed(g, d))),
        )
        s.load[g] = "served"
        s.grown = each(s.Write, lambda w: s.grown[w] & (s.segment[w] != g))

    @action(source="facts 6.1")
    def fail_load(s, g: Segment) -> None:
        """A load fails: a file cannot be read. It may begin anew."""
        require(s.load[g] == "loading")
        s.load[g] = "none"
        s.faults = s.faults + 1

    def may_trim(s, value: Ts) -> Bool:
        return all_of(
            value <= s.delete_checkpoint,
            forall(s.Segment, lambda g: implies(s.load[g] == "loading", value <= s.files_upto[g])),
            forall(s.Segment, lambda g: implies(s.is_to_be_loaded(g), value <= s.files_at_start)),
        )

    def is_to_be_loaded(s, g: Segment) -> Bool:
        """The segment is listed, and no load of it has ended. One that fails may begin anew."""
        return s.wanted[g] & (s.load[g] != "served")

    @action(source="facts 6.1; B38")
    def trim(s, value: Ts) -> None:
        """The buffer drops deletes that are in files."""
        require(s.watching & s.may_trim(value))
        s.buffer = each(s.Write, lambda d: s.buffer[d] & (s.ts[d] > value))
