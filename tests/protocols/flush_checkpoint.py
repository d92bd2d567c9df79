"""A coarser flush and checkpoint model, written before ``spec/flush.py`` in three other notations.

TLC, Spin and Rumur agree on its counts, so that it measures this engine against theirs.
"""

from spec.language import (
    Bool,
    Map,
    Nat,
    Protocol,
    Set,
    Sort,
    action,
    constant,
    each,
    exists,
    forall,
    greatest,
    implies,
    invariant,
    ite,
    least,
    maximum,
    minimum,
    require,
)


class FlushCheckpoint(Protocol):
    """One channel: a row per tick, one sync in flight per segment, one checkpoint request at a time.

    ``task``, ``rpc``, ``request`` and ``late`` hold a position plus one; 0 is none.
    """

    Segment = Sort()
    Position = Nat()

    last: Position = constant()
    carries: Set[Position] = constant()
    segment_of: Map[Position, Segment] = constant()

    consumed: Position = 0
    buffered: Map[Segment, Position] = 0
    syncing: Map[Segment, Position] = 0
    syncing_to: Map[Segment, Position] = 0
    durable: Map[Segment, Position] = 0
    flush_ts: Position = 0
    task: Position = 0
    task_flush: Bool = False
    rpc: Position = 0
    acked: Bool = False
    request: Position = 0
    late: Position = 0
    stored: Position = 0
    bad_reset: Bool = False
    stored_twice: Bool = False

    def checkpoint(s):
        """The start position of the earliest unsynced row, or the last consumed position."""

        def starts(p):
            return (p > 0) & exists(s.Segment, lambda g: (s.buffered[g] == p) | (s.syncing[g] == p))

        return least(s.Position, starts, default=s.consumed + 1) - 1

    def durable_up_to(s, ts):
        """Every row up to ``ts`` is durable."""
        return forall(
            s.Position, lambda i: implies(s.carries[i] & (i <= ts), i <= s.durable[s.segment_of[i]])
        )

    @action
    def consume(s):
        """The next tick."""
        require(s.consumed < s.last)
        s.consumed = s.consumed + 1
        segment = s.segment_of[s.consumed]
        new = s.carries[s.consumed] & (s.consumed > s.durable[segment]) & (s.buffered[segment] == 0)
        s.buffered[segment] = ite(new, s.consumed, s.buffered[segment])

    @action
    def flush_channel(s, ts: Position):
        """A flush is asked for."""
        require((ts >= s.consumed) & (ts > s.flush_ts) & (ts <= s.last))
        s.flush_ts = ts

    @action
    def sync(s, g: Segment):
        """The buffer becomes a sync task."""
        require((s.buffered[g] != 0) & (s.syncing[g] == 0))
        s.syncing[g] = s.buffered[g]
        s.syncing_to[g] = greatest(
            s.Position, lambda p: s.carries[p] & (s.segment_of[p] == g), upto=s.consumed, default=0
        )
        s.buffered[g] = 0

    @action
    def sync_done(s, g: Segment):
        """The sync task is durable."""
        require(s.syncing[g] != 0)
        s.stored_twice = s.stored_twice | (s.syncing[g] <= s.durable[g])
        s.durable[g] = maximum(s.durable[g], s.syncing_to[g])
        s.syncing[g] = 0
        s.syncing_to[g] = 0

    def add_task(s, position, flush):
        """Merge a checkpoint into the updater's one task."""
        require((s.task == 0) | (s.task < position + 1) | (flush & ~s.task_flush))
        s.task_flush = flush | ((s.task != 0) & s.task_flush)
        s.task = maximum(s.task, position + 1)

    @action
    def tick_periodic(s):
        """The time-tick node submits because its interval is over."""
        s.add_task(s.checkpoint(), s.consumed < 0)

    @action
    def tick_flush(s):
        """The time-tick node submits because a flush waits."""
        require((s.flush_ts != 0) & (s.checkpoint() >= s.flush_ts))
        s.add_task(s.checkpoint(), s.consumed >= 0)

    @action
    def send_by_ticker(s):
        """The updater's timer sends."""
        require((s.task != 0) & (s.rpc == 0))
        s.rpc = s.task
        s.request = s.task

    @action
    def send_by_signal(s):
        """The updater's signal sends and clears the flag."""
        require((s.task != 0) & (s.rpc == 0) & s.task_flush)
        s.rpc = s.task
        s.request = s.task
        s.task_flush = False

    @action
    def apply(s):
        """The coordinator stores."""
        require(s.request != 0)
        s.stored = maximum(s.stored, s.request - 1)
        s.request = 0
        s.acked = True

    @action
    def apply_late(s):
        """A request that was given up arrives."""
        require(s.late != 0)
        s.stored = maximum(s.stored, s.late - 1)
        s.late = 0

    @action
    def time_out(s):
        """The client gives up."""
        require(s.rpc != 0)
        s.rpc = 0
        s.request = 0
        s.acked = False

    @action
    def time_out_delayed(s):
        """The client gives up, and the request stays in the network."""
        require((s.rpc != 0) & (s.request != 0) & (s.late == 0))
        s.late = s.request
        s.rpc = 0
        s.request = 0
        s.acked = False

    @action
    def ack(s):
        """The answer arrives: callback, then the task is dropped."""
        require((s.rpc != 0) & s.acked)
        resets = (s.flush_ts != 0) & (s.rpc - 1 > s.flush_ts)
        s.bad_reset = s.bad_reset | (resets & ~s.durable_up_to(s.flush_ts))
        s.flush_ts = ite(resets, 0, s.flush_ts)
        s.task_flush = s.task_flush & (s.task > s.rpc)
        s.task = ite(s.task <= s.rpc, 0, s.task)
        s.rpc = 0
        s.acked = False

    def lose_memory(s):
        """Back to the stored checkpoint."""
        s.consumed = s.stored
        s.buffered = each(s.Segment, lambda g: 0)
        s.syncing = each(s.Segment, lambda g: 0)
        s.syncing_to = each(s.Segment, lambda g: 0)
        s.flush_ts = 0
        s.task = 0
        s.task_flush = False
        s.rpc = 0
        s.acked = False
        s.request = 0

    @action
    def crash(s):
        """Crash and recovery."""
        s.lose_memory()

    @action
    def crash_delayed(s):
        """Crash while a request is in the network."""
        require((s.request != 0) & (s.late == 0))
        s.late = s.request
        s.lose_memory()

    @invariant()
    def checkpoint_is_safe(s):
        """Every row up to the stored checkpoint is durable."""
        return s.durable_up_to(s.stored)

    @invariant()
    def nothing_lost(s):
        """Every consumed row is buffered, in flight or durable."""

        def kept(i):
            g = s.segment_of[i]
            buffered = (s.buffered[g] != 0) & (s.buffered[g] <= i)
            flying = (s.syncing[g] != 0) & (s.syncing[g] <= i) & (i <= s.syncing_to[g])
            return (i <= s.durable[g]) | buffered | flying

        return forall(s.Position, lambda i: implies(s.carries[i] & (i <= s.consumed), kept(i)))

    @invariant()
    def reset_is_safe(s):
        """A flush timestamp is reset only when all is durable."""
        return ~s.bad_reset

    @invariant()
    def stored_once(s):
        """No row is stored twice."""
        return ~s.stored_twice

    @invariant()
    def checkpoints_grow(s):
        """The task is never ahead of the checkpoint."""
        return implies(s.task != 0, s.task <= minimum(s.checkpoint(), s.last) + 1)


def size(segments: int, ticks: int):
    """Bounds and constants of an instance: tick i carries a row of segment i modulo (segments + 1)."""
    rows = [i % (segments + 1) if i <= ticks else 0 for i in range(ticks + 2)]
    return (
        {"Segment": segments, "Position": ticks + 1},
        {"last": ticks, "carries": [r > 0 for r in rows], "segment_of": [max(r - 1, 0) for r in rows]},
    )
