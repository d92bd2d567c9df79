"""Flush and channel checkpoint, coarser than ``spec/flush``, as first written in TLA+, Promela, Murphi."""

from tidemark.spec.language import (
    Bool,
    Map,
    Nat,
    Protocol,
    Self,
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
    greatest,
    implies,
    invariant,
    least,
    maximum,
    minimum,
    option,
    require,
    transition_invariant,
    when,
)


class FlushCp(Protocol):
    """One channel: a row or nothing per tick, one sync in flight per segment, one request at a time.

    A position p means that everything with a time up to p is handled. ``task``, ``rpc``, ``request`` and
    ``late`` hold a position plus one, and 0 if there is none.
    """

    Segment: TypeAlias = Sort
    Position: TypeAlias = Nat

    last: Position = constant()
    """The last tick."""
    rows: Set[Position] = constant()
    """The ticks that carry a row."""
    segment_of: Map[Position, Segment] = constant()
    FILTERED: Bool = option(True)
    """After a crash, rows that are durable are not taken again."""
    IN_FLIGHT: Bool = option(True)
    """The checkpoint waits for syncs in flight."""

    consumed: Position = 0
    buffered: Map[Segment, Position] = everywhere(0)
    syncing: Map[Segment, Position] = everywhere(0)
    syncing_to: Map[Segment, Position] = everywhere(0)
    durable: Map[Segment, Position] = everywhere(0)
    flush_ts: Position = 0
    task: Position = 0
    task_flushes: Bool = False
    rpc: Position = 0
    acked: Bool = False
    request: Position = 0
    late: Position = 0
    stored: Position = 0
    reset_too_early: Bool = False
    stored_twice: Bool = False

    def start(s, row: Position) -> Position:
        """The start position of a buffer whose first row is ``row``."""
        return row - 1

    def covered(s, position: Position) -> Position:
        """The last row that a checkpoint covers."""
        return position

    def unsynced(s, row: Position) -> Bool:
        """A buffer, or a sync in flight, begins with this row."""
        return (row != 0) & exists(
            s.Segment, lambda g: (s.buffered[g] == row) | ((s.syncing[g] == row) & s.IN_FLIGHT)
        )

    def checkpoint(s) -> Position:
        """The earliest start position that is not durable, or all that was consumed."""
        return minimum(s.consumed, s.start(least(s.Position, s.unsynced, default=s.consumed + 1)))

    def durable_up_to(s, ts: Position) -> Bool:
        """Every row up to ``ts`` is durable."""
        return forall(s.Position, lambda p: implies(s.rows[p] & (p <= ts), p <= s.durable[s.segment_of[p]]))

    @action
    def consume(s) -> None:
        """The next tick is read; its row begins a buffer or joins one."""
        require(s.consumed < s.last)
        s.consumed = s.consumed + 1
        row, g = s.consumed, s.segment_of[s.consumed]
        with when(s.rows[row] & ((row > s.durable[g]) | ~s.FILTERED) & (s.buffered[g] == 0)):
            s.buffered[g] = row

    @action
    def ask_flush(s, ts: Position) -> None:
        """A flush is asked for."""
        require((ts >= s.consumed) & (ts > s.flush_ts) & (ts <= s.last))
        s.flush_ts = ts

    @action
    def sync(s, g: Segment) -> None:
        """The buffer of a segment becomes its sync in flight."""
        require((s.buffered[g] != 0) & (s.syncing[g] == 0))
        s.syncing[g] = s.buffered[g]
        s.syncing_to[g] = greatest(
            s.Position, lambda p: s.rows[p] & (s.segment_of[p] == g), upto=s.consumed, default=0
        )
        s.buffered[g] = 0

    @action
    def finish_sync(s, g: Segment) -> None:
        """The rows of a sync are durable."""
        require(s.syncing[g] != 0)
        s.stored_twice = s.stored_twice | (s.syncing[g] <= s.durable[g])
        s.durable[g] = maximum(s.durable[g], s.syncing_to[g])
        s.syncing[g] = 0
        s.syncing_to[g] = 0

    def submit(s, *, flushes: Bool) -> None:
        """Merge the checkpoint into the updater's one task, if that changes the task."""
        task = s.checkpoint() + 1
        require((s.task < task) | (~s.task_flushes & flushes))
        s.task = maximum(s.task, task)
        s.task_flushes = s.task_flushes | flushes

    @action
    def submit_by_timer(s) -> None:
        """The time-tick node submits the checkpoint because its interval is over."""
        s.submit(flushes=False)

    @action
    def submit_for_flush(s) -> None:
        """The time-tick node submits the checkpoint because it has reached the flush timestamp."""
        require((s.flush_ts != 0) & (s.checkpoint() >= s.flush_ts))
        s.submit(flushes=True)

    def send(s) -> None:
        """The updater sends its task."""
        require((s.task != 0) & (s.rpc == 0))
        s.rpc = s.task
        s.request = s.task

    @action
    def send_by_timer(s) -> None:
        """The updater's timer sends, and leaves the flag."""
        s.send()

    @action
    def send_by_signal(s) -> None:
        """The updater's signal sends, and clears the flag."""
        require(s.task_flushes)
        s.send()
        s.task_flushes = False

    def store(s, position: Position) -> None:
        """The coordinator stores a checkpoint unless it is older."""
        s.stored = maximum(s.stored, position)

    @action
    def apply(s) -> None:
        """The request reaches the coordinator."""
        require(s.request != 0)
        s.store(s.request - 1)
        s.request = 0
        s.acked = True

    @action
    def apply_late(s) -> None:
        """A request that was given up reaches the coordinator."""
        require(s.late != 0)
        s.store(s.late - 1)
        s.late = 0

    def give_up(s) -> None:
        """The updater waits no longer; its task stays."""
        require(s.rpc != 0)
        s.rpc = 0
        s.request = 0
        s.acked = False

    def leave_in_network(s) -> None:
        """The request that is given up now will arrive late."""
        require((s.request != 0) & (s.late == 0))
        s.late = s.request

    @action
    def time_out(s) -> None:
        """The updater gives up, and the request is lost or was stored."""
        s.give_up()

    @action
    def time_out_late(s) -> None:
        """The updater gives up, and the request stays in the network."""
        s.leave_in_network()
        s.give_up()

    def acknowledged(s) -> Bool:
        """The answer has arrived; the flush timestamp is done with if the checkpoint is beyond it."""
        require((s.rpc != 0) & s.acked)
        return (s.flush_ts != 0) & (s.rpc - 1 > s.flush_ts)

    def reset(s) -> None:
        """Forget the flush timestamp."""
        s.reset_too_early = s.reset_too_early | ~s.durable_up_to(s.flush_ts)
        s.flush_ts = 0

    def clean_up(s) -> None:
        """Drop the task, unless it has grown since it was sent."""
        with when(s.task <= s.rpc):
            s.task = 0
            s.task_flushes = False
        s.rpc = 0
        s.acked = False

    @action
    def acknowledge(s) -> None:
        """The answer arrives: the callback runs, and the task is dropped."""
        with when(s.acknowledged()):
            s.reset()
        s.clean_up()

    def lose_memory(s) -> None:
        """A new incarnation goes on at the stored checkpoint."""
        s.consumed = s.covered(s.stored)
        s.buffered = each(s.Segment, lambda g: 0)
        s.syncing = each(s.Segment, lambda g: 0)
        s.syncing_to = each(s.Segment, lambda g: 0)
        s.flush_ts = 0
        s.task = 0
        s.task_flushes = False
        s.rpc = 0
        s.acked = False
        s.request = 0

    @action
    def crash(s) -> None:
        """The node crashes and recovers."""
        s.lose_memory()

    @action
    def crash_late(s) -> None:
        """The same, while a request stays in the network."""
        s.leave_in_network()
        s.lose_memory()

    @invariant()
    def checkpoint_is_safe(s) -> Bool:
        """Every row that the stored checkpoint covers is durable."""
        return s.durable_up_to(s.covered(s.stored))

    @invariant()
    def nothing_lost(s) -> Bool:
        """Every consumed row is buffered, in flight or durable."""

        def kept(row: int) -> Bool:
            g = s.segment_of[row]
            buffered = (s.buffered[g] != 0) & (s.buffered[g] <= row)
            in_flight = (s.syncing[g] != 0) & (s.syncing[g] <= row) & (row <= s.syncing_to[g])
            return any_of(row <= s.durable[g], buffered, in_flight)

        return forall(s.Position, lambda p: implies(s.rows[p] & (p <= s.consumed), kept(p)))

    @transition_invariant()
    def stored_never_goes_back(before, after: Self) -> Bool:
        """The stored checkpoint never goes back."""
        return before.stored <= after.stored

    @invariant()
    def reset_is_safe(s) -> Bool:
        """A flush timestamp is reset only when everything up to it is durable."""
        return ~s.reset_too_early

    @invariant()
    def stored_once(s) -> Bool:
        """No row is stored twice."""
        return ~s.stored_twice

    @invariant()
    def checkpoints_grow(s) -> Bool:
        """The task is never ahead of the checkpoint, so that merging by the maximum never matters."""
        return s.task <= s.checkpoint() + 1


class ForgetsInFlight(FlushCp):
    """The checkpoint does not wait for syncs in flight."""

    IN_FLIGHT = False


class Unfiltered(FlushCp):
    """After a crash, rows are taken again though they are durable."""

    FILTERED = False


class Unguarded(FlushCp):
    """The coordinator stores whatever comes."""

    def store(s, position: FlushCp.Position) -> None:
        s.stored = position


class InclusiveStart(FlushCp):
    """A start position includes its first row, and a checkpoint that is equal resets the flush timestamp."""

    def start(s, row: FlushCp.Position) -> FlushCp.Position:
        return row

    def covered(s, position: FlushCp.Position) -> FlushCp.Position:
        return maximum(0, position - 1)

    def acknowledged(s) -> Bool:
        super().acknowledged()
        return (s.flush_ts != 0) & (s.rpc - 1 >= s.flush_ts)


class SplitCallback(FlushCp):
    """The callback compares and resets in two steps."""

    comparing: Bool = False

    def give_up(s) -> None:
        require(~s.comparing)
        super().give_up()

    @action
    def compare(s) -> None:
        """The callback decides to reset."""
        require(s.acknowledged() & ~s.comparing)
        s.comparing = True

    def acknowledge(s) -> None:
        require(~s.acknowledged() & ~s.comparing)
        s.clean_up()

    @action
    def compared(s) -> None:
        """The callback resets, whatever the flush timestamp is by now."""
        require(s.comparing)
        s.comparing = False
        s.reset()
        s.clean_up()

    def lose_memory(s) -> None:
        super().lose_memory()
        s.comparing = False
