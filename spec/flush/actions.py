"""Write buffer, sync, flush and channel checkpoint of one virtual channel.

A data node consumes the channel's log pack by pack, keeps rows in memory per segment, writes them to object
storage in sync tasks, has the data coordinator record them, and moves the channel's checkpoint there; a
client asks for a flush and polls until the checkpoint has reached the flush timestamp; after a crash the node
rebuilds its state from the checkpoint.

Sources: seed 000 (time-tick node and checkpoint updater), seed 001 (flush and checkpoint), facts 7 to 10.
This is the protocol as it is *meant*. Where the code of the seeds does something else, a subclass in
``variants`` or among the mutants says so, with its own verdict.

Position p is a place in the log; the pack that ends at p carries at most one row, whose timestamp is p.
Positions are typed by their meaning: an END position p means that rows with ts <= p are done, a START
position p that the rows to come have ts > p.
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
    any_of,
    constant,
    each,
    everywhere,
    exists,
    forall,
    implies,
    ite,
    least,
    maximum,
    option,
    require,
)


class FlushActions(Protocol, name="flush"):
    """Flush and channel checkpoint of one virtual channel: one node, one coordinator, a lossy network."""

    Segment: TypeAlias = Sort
    Position: TypeAlias = Nat
    Copies: TypeAlias = Nat
    Faults: TypeAlias = Nat
    Held: TypeAlias = Enum["none", "buffered", "syncing"]
    Task: TypeAlias = Enum["none", "queued", "uploaded", "sending", "recorded", "retrying"]
    Phase: TypeAlias = Enum["growing", "sealed", "flushing", "flushed"]
    Request: TypeAlias = Enum["none", "asked", "delivered", "confirmed"]
    Tick: TypeAlias = Enum["idle", "have_checkpoint"]
    Rpc: TypeAlias = Enum["idle", "sent", "stored", "acked", "read", "cleared"]

    STRICT: Bool = option(True)  # flushTs is reset by a checkpoint > it; else >= it
    IN_FLIGHT: Bool = option(True)  # the checkpoint also waits for rows that are being synced
    INCLUSIVE: Bool = option(
        False
    )  # start positions include the first row (a misreading that the seeds allow)
    SEALS_END: Bool = option(True)  # no row of a segment follows in the log once the segment is sealed

    # One step here, several in ``spec/flush/variants/finer_steps.py``.
    STORED_AT_ONCE: Bool = option(
        True, assumes="The coordinator compares a checkpoint with the stored one and stores it in one step."
    )

    # The log: any log in a proof, a given one in an instance.
    carries: Set[Position] = constant()
    segment_of: Map[Position, Segment] = constant()
    ask_up_to: Position = constant()

    # The node's memory (lost in a crash).
    alive: Bool = True
    consumed: Position = 0
    held: Map[Position, Held] = everywhere("none")
    task: Map[Segment, Position, Task] = everywhere("none")
    flush_task: Set[Segment, Position] = everywhere(False)  # this sync task ends its segment
    phase: Map[Segment, Phase] = everywhere("growing")
    flush_ts: Position = 0
    tick: Tick = "idle"
    tick_position: Position = 0
    pending: Bool = False
    pending_position: Position = 0
    pending_flush: Bool = False
    signal: Bool = False
    rpc: Rpc = "idle"
    rpc_position: Position = 0
    saw_flush_ts: Position = 0

    # The coordinator (durable), the client and the network.
    assigned: Bool = True
    stored: Position = 0
    copies: Map[Position, Copies] = everywhere(0)
    dml: Map[Segment, Position] = everywhere(0)
    flushed: Set[Segment] = everywhere(False)
    request: Map[Position, Request] = everywhere("none")
    # every checkpoint ever sent: it may arrive at any time, and again
    in_network: Set[Position] = everywhere(False)
    faults: Faults = 0

    # ---- words used below ----

    def row_of(s, p: Position, segment: Segment) -> Bool:
        return s.carries[p] & (s.segment_of[p] == segment)

    def durable(s, p: Position) -> Bool:
        """The coordinator has recorded the row at p (its binlog is then in object storage)."""
        return s.copies[p] >= 1

    def claims(s, position: Position, p: Position) -> Bool:
        """A checkpoint at ``position`` says that row p need not be replayed."""
        return ite(s.INCLUSIVE, p < position, p <= position)

    def safe(s, position: Position) -> Bool:
        """Every row that a checkpoint at ``position`` claims is durable."""
        return forall(s.Position, lambda p: implies(s.carries[p] & s.claims(position, p), s.durable(p)))

    def durable_up_to(s, ts: Position) -> Bool:
        """Every row with a timestamp at or below ``ts`` is durable."""
        return forall(s.Position, lambda p: implies(s.carries[p] & (p <= ts), s.durable(p)))

    def pins(s, p: Position) -> Bool:
        """The row at p keeps the checkpoint from passing it."""
        return (s.held[p] == "buffered") | (s.IN_FLIGHT & (s.held[p] == "syncing"))

    def checkpoint(s) -> Position:
        """GetCheckpoint: the start of the earliest unsynced row, else the end of the last pack."""
        exclusive = least(s.Position, s.pins, default=s.consumed + 1) - 1
        inclusive = least(s.Position, s.pins, default=s.consumed)
        return ite(s.INCLUSIVE, inclusive, exclusive)

    def replayed(s, p: Position) -> Bool:
        """Recovery filter: by the segment's recorded position this row is stored already."""
        return p <= s.dml[s.segment_of[p]]

    def passes(s, position: Position) -> Bool:
        """The acknowledged checkpoint resets the flush timestamp that the callback read."""
        return ite(s.STRICT, position > s.saw_flush_ts, position >= s.saw_flush_ts)

    def yield_buffer(s, segment: Segment) -> None:
        """A sync task takes the segment's buffer; from here on its rows are in flight."""
        s.held = each(
            s.Position,
            lambda p: ite(s.row_of(p, segment) & (s.held[p] == "buffered"), "syncing", s.held[p]),
        )
        s.task[segment, s.consumed] = "queued"

    def fault(s) -> None:
        """Count a fault, so that an instance can bound them."""
        s.faults = s.faults + 1

    # ---- write buffer and sync tasks ----

    @action(fairness="weak", source="facts 7.2; seed 000")
    def consume(s) -> None:
        """The next pack enters the write buffer; a row that is stored already is dropped."""
        require(s.alive)
        s.consumed = s.consumed + 1
        s.held[s.consumed] = ite(s.carries[s.consumed] & ~s.replayed(s.consumed), "buffered", "none")

    def has_buffer(s, segment: Segment) -> Bool:
        """Some row of the segment is buffered, and the metacache still knows the segment."""
        buffered = exists(s.Position, lambda p: s.row_of(p, segment) & (s.held[p] == "buffered"))
        return buffered & (s.phase[segment] != "flushed")

    @action(source="facts 7.3: full and memory policies")
    def sync_full(s, segment: Segment) -> None:
        """The buffer is full, or memory is short."""
        require(s.alive)
        require(s.has_buffer(segment))
        s.yield_buffer(segment)

    @action(fairness="weak", source="facts 7.3: stale policy")
    def sync_stale(s, segment: Segment) -> None:
        """The buffer has been kept for too long."""
        require(s.alive)
        require(s.has_buffer(segment))
        s.yield_buffer(segment)

    @action(
        fairness="weak", source="facts 7.3: flush timestamp policy, E.ts >= flushTs and start.ts < flushTs"
    )
    def sync_for_flush(s, segment: Segment) -> None:
        """A flush is pending and the buffer holds a row that it covers."""
        require(s.alive)
        require((s.flush_ts > 0) & (s.consumed >= s.flush_ts))
        require(
            exists(
                s.Position,
                lambda p: s.row_of(p, segment) & (s.held[p] == "buffered") & s.is_covered(p),
            )
        )
        require(s.phase[segment] != "flushed")
        s.yield_buffer(segment)

    def is_covered(s, p: Position) -> Bool:
        """The row's pack starts below flushTs: of a pack of one row, the row is not above it."""
        return p <= s.flush_ts

    @action(
        source="facts 7.7: SealSegments",
        relies_on=(
            "allocation.no_row_joins_an_ended_segment", "allocation.the_rows_of_an_ended_segment_were_read",
        ),
    )  # fmt: skip
    def seal(s, segment: Segment) -> None:
        """The coordinator seals the segment. As the allocator promises, no row of it follows in the log."""
        require(s.alive & (s.phase[segment] == "growing"))
        require(exists(s.Position, lambda p: (p <= s.consumed) & s.row_of(p, segment)))
        follows = exists(s.Position, lambda p: (p > s.consumed) & s.row_of(p, segment))
        require(~(s.SEALS_END & follows))
        s.phase[segment] = "sealed"

    @action(fairness="weak", source="facts 7.3: sealed policy")
    def sync_sealed(s, segment: Segment) -> None:
        """The rest of a sealed segment goes out in its flush task."""
        require(s.alive & (s.phase[segment] == "sealed"))
        require(s.task[segment, s.consumed] == "none")
        s.phase[segment] = "flushing"
        s.flush_task[segment, s.consumed] = True
        s.yield_buffer(segment)

    @action(fairness="weak", source="facts 7.6: first task first, by the segment's key lock")
    def upload(s, segment: Segment, end: Position) -> None:
        """The binlogs of the segment's oldest task are written to object storage."""
        require(s.alive & (s.task[segment, end] == "queued"))
        require(s.first_in_line(segment, end))
        s.task[segment, end] = "uploaded"

    def first_in_line(s, segment: Segment, end: Position) -> Bool:
        return ~exists(s.Position, lambda e: (e < end) & (s.task[segment, e] != "none"))

    @action(fairness="weak", source="facts 7.6: SaveBinlogPaths")
    def send_save(s, segment: Segment, end: Position) -> None:
        """The request that records the binlogs leaves the node."""
        require(s.alive & any_of(s.task[segment, end] == "uploaded", s.task[segment, end] == "retrying"))
        s.task[segment, end] = "sending"

    @action(
        fairness="weak",
        source="facts 10.2; B19",
        relies_on=("ownership.one_tenure_is_taken", "ownership.only_an_open_save_brings_rows"),
    )
    def record(s, segment: Segment, end: Position) -> None:
        """The coordinator records the binlogs, unless it has them: also late, and also for a dead node until
        a new one recovers. By the promise of the channel's ownership it takes saves of one node only.
        """
        require(any_of(s.task[segment, end] == "sending", s.task[segment, end] == "retrying"))
        require(s.assigned)
        s.record_rows(segment, end)
        s.task[segment, end] = ite(s.task[segment, end] == "sending", "recorded", s.task[segment, end])

    def brings_rows(s, segment: Segment, end: Position) -> Bool:
        """The coordinator has not recorded the segment up to here yet."""
        return end > s.dml[segment]

    def ends_segment(s, segment: Segment, end: Position) -> Bool:
        return s.flush_task[segment, end]

    def record_rows(s, segment: Segment, end: Position) -> None:
        """Add the task's rows once; mark the segment flushed by its last task; raise its position."""
        brings = s.brings_rows(segment, end)
        s.flushed[segment] = s.flushed[segment] | s.ends_segment(segment, end)
        s.copies = each(
            s.Position,
            lambda p: ite(
                brings & s.row_of(p, segment) & (s.held[p] == "syncing") & (p <= end),
                s.copies[p] + 1,
                s.copies[p],
            ),
        )
        s.dml[segment] = maximum(s.dml[segment], end)

    @action(source="facts 7.6: retry, also of a save that the coordinator refuses")
    def lose_save(s, segment: Segment, end: Position) -> None:
        """The save fails, is refused, or its answer is lost: it is sent again, and may arrive late."""
        require(s.alive)
        require((s.task[segment, end] == "sending") | (s.task[segment, end] == "recorded"))
        s.task[segment, end] = "retrying"
        s.fault()

    @action(fairness="weak", source="facts 7.6: callbacks")
    def finish_sync(s, segment: Segment, end: Position) -> None:
        """The answer arrives: the rows leave the memory and no longer pin the checkpoint."""
        require(s.alive & (s.task[segment, end] == "recorded"))
        s.phase[segment] = ite(s.flush_task[segment, end], "flushed", s.phase[segment])
        s.release(segment, end)

    def release(s, segment: Segment, end: Position) -> None:
        s.release_rows(segment, end)
        s.task[segment, end] = "none"
        s.flush_task[segment, end] = False

    def release_rows(s, segment: Segment, end: Position) -> None:
        s.held = each(
            s.Position,
            lambda p: ite(
                s.row_of(p, segment) & (s.held[p] == "syncing") & (p <= end),
                "none",
                s.held[p],
            ),
        )

    # ---- flush requests ----

    @action(source="facts 10.3; seed 001, manual flush")
    def ask_flush(s, ts: Position) -> None:
        """A client asks that everything up to ``ts`` be durable."""
        require((ts > s.stored) & (ts <= s.ask_up_to))
        require(s.request[ts] == "none")
        s.request[ts] = "asked"

    @action(fairness="weak", source="facts 7.8: FlushChannel; hazard 6")
    def deliver_flush(s, ts: Position) -> None:
        """FlushChannel reaches the node, which keeps the larger timestamp. It may come again, and late."""
        require(s.alive & (s.request[ts] != "none"))
        require((s.request[ts] == "asked") | (s.flush_ts < ts))
        s.request[ts] = ite(s.request[ts] == "asked", "delivered", s.request[ts])
        s.take_flush_ts(ts)

    def take_flush_ts(s, ts: Position) -> None:
        """Two requests may arrive in either order."""
        s.flush_ts = maximum(s.flush_ts, ts)

    @action(fairness="weak", source="facts 10.3: GetFlushState, cp.ts >= flushTs")
    def confirm_flush(s, ts: Position) -> None:
        """The client polls, and the coordinator confirms its flush."""
        require(s.is_open(ts) & (s.stored >= ts))
        s.request[ts] = "confirmed"

    def is_open(s, ts: Position) -> Bool:
        """A client waits for this flush."""
        return (s.request[ts] == "asked") | (s.request[ts] == "delivered")

    # ---- time-tick node and checkpoint updater ----

    @action(fairness="weak", source="seed 000, Operate: step 4; facts 7.8")
    def read_checkpoint(s) -> None:
        """A tick passes the time-tick node, which reads the checkpoint."""
        require(s.alive & (s.tick == "idle"))
        s.tick = "have_checkpoint"
        s.tick_position = s.checkpoint()

    @action(fairness="strong", source="seed 000, Operate: steps 5 and 6; hazard 8")
    def submit_checkpoint(s, due: Bool) -> None:
        """It reads flushTs and submits: without the flush flag if ``due``, with it for a waiting flush."""
        require(s.alive & (s.tick == "have_checkpoint"))
        wanted = ~due & (s.flush_ts > 0) & (s.tick_position >= s.flush_ts)
        submits = due | wanted
        merges = (s.tick_position > s.pending_position) | (wanted & ~s.pending_flush)
        s.pending_flush = s.pending_flush | wanted
        s.pending_position = ite(
            submits & (~s.pending | merges), maximum(s.pending_position, s.tick_position), s.pending_position
        )
        s.pending = s.pending | submits
        s.signal = s.signal | wanted
        s.tick = "idle"
        s.tick_position = 0

    def send(s) -> None:
        """The updater sends its only task."""
        s.rpc = "sent"
        s.rpc_position = s.pending_position
        s.in_network[s.pending_position] = True

    @action(fairness="weak", source="seed 000, Start: execute; facts 9")
    def send_by_ticker(s) -> None:
        """The updater's own timer fires: the flush flag stays."""
        require(s.alive & (s.rpc == "idle"))
        require(s.pending)
        s.send()

    @action(fairness="weak", source="seed 000, Start: notify branch; hazard 3")
    def send_by_signal(s) -> None:
        """The signal of a flush: the updater clears the flag before the request is answered."""
        require(s.alive & (s.rpc == "idle"))
        require(s.signal & s.pending & s.pending_flush)
        s.signal = False
        s.pending_flush = False
        s.send()

    @action(fairness="weak", source="facts 10.1; hazard 21")
    def store(s, position: Position) -> None:
        """The coordinator stores a larger position of the owner, ignores others, and always succeeds."""
        require(s.in_network[position])
        s.stored = ite(s.assigned, s.accepted(position), s.stored)
        s.rpc = ite((s.rpc == "sent") & (s.rpc_position == position), "stored", s.rpc)

    def accepted(s, position: Position) -> Position:
        """The stored position after a request of the owner."""
        return maximum(s.stored, position)

    @action(fairness="weak", source="seed 000, updateCheckpoints")
    def ack(s) -> None:
        """The answer reaches the node."""
        require(s.alive & (s.rpc == "stored"))
        s.rpc = "acked"

    @action(source="seed 000, updateCheckpoints: failed RPC; facts 9")
    def fail_rpc(s) -> None:
        """The request times out; the coordinator may store it now, later or never. The task stays."""
        require(s.alive & ((s.rpc == "sent") | (s.rpc == "stored")))
        s.rpc = "idle"
        s.rpc_position = 0
        s.fault()

    @action(fairness="weak", source="seed 001, NotifyCheckpointUpdated; hazard 5")
    def read_flush_ts(s) -> None:
        """The callback reads the flush timestamp."""
        require(s.alive & (s.rpc == "acked"))
        s.saw_flush_ts = s.flush_ts
        s.rpc = "read"

    @action(fairness="weak", source="seed 001, NotifyCheckpointUpdated; hazard 5")
    def clear_flush_ts(s) -> None:
        """It clears the timestamp if the checkpoint has passed it and no flush has changed it since."""
        require(s.alive & (s.rpc == "read"))
        s.flush_ts = ite(
            (s.saw_flush_ts > 0) & s.passes(s.rpc_position) & s.unchanged_flush_ts(), 0, s.flush_ts
        )
        s.saw_flush_ts = 0
        s.rpc = "cleared"

    def unchanged_flush_ts(s) -> Bool:
        """Compare-and-clear: what Milvus does not do (hazard 5)."""
        return s.flush_ts == s.saw_flush_ts

    @action(fairness="weak", source="seed 000, updateCheckpoints: clean-up; hazard 4")
    def clean_up(s) -> None:
        """The updater drops the task unless a later position has been merged into it."""
        require(s.alive & (s.rpc == "cleared"))
        done = s.pending_position <= s.rpc_position
        s.pending = s.pending & ~done
        s.pending_flush = s.pending_flush & ~done
        s.signal = s.signal & ~done
        s.pending_position = ite(done, 0, s.pending_position)
        s.rpc = "idle"
        s.rpc_position = 0

    # ---- crash, recovery, ownership ----

    @action(source="facts 7.9, 10.4")
    def crash(s) -> None:
        """The node stops. Its memory is lost; requests in the network are not."""
        require(s.alive)
        s.alive = False
        s.forget_updater()
        s.request = each(
            s.Position,
            lambda t: ite(s.request[t] == "delivered", "asked", s.request[t]),
        )
        s.fault()

    def forget_updater(s) -> None:
        """Flush timestamp, time-tick node and updater of the dead process."""
        s.flush_ts = 0
        s.tick = "idle"
        s.tick_position = 0
        s.pending = False
        s.pending_position = 0
        s.pending_flush = False
        s.signal = False
        s.rpc = "idle"
        s.rpc_position = 0
        s.saw_flush_ts = 0

    @action(fairness="weak", source="facts 10.4, 7.7; seed 001, recovery")
    def recover(s, seek: Position) -> None:
        """A new owner seeks the stored checkpoint of its start; later saves of the old one are refused."""
        require(~s.alive & (seek <= s.stored))
        s.alive = True
        s.assigned = True
        s.consumed = ite(s.INCLUSIVE, maximum(seek, 1) - 1, seek)
        s.held = each(s.Position, lambda p: "none")
        s.task = each(s.Segment, s.Position, lambda segment, e: "none")
        s.flush_task = each(s.Segment, s.Position, lambda segment, e: False)
        s.phase = each(s.Segment, lambda segment: ite(s.flushed[segment], "flushed", "growing"))

    @action(source="facts 10.1; hazard 22")
    def unassign(s) -> None:
        """The coordinator takes the channel from the node for a while."""
        require(s.alive & s.assigned)
        s.assigned = False
        s.fault()

    @action(fairness="weak", source="facts 10.1; hazard 22")
    def assign(s) -> None:
        """The node gets the channel back. A recovering node has it as soon as the coordinator answers."""
        require(~s.assigned)
        s.assigned = True
