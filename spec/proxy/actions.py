"""Statistics of unfinished tasks and the time tick of one proxy: its state and its steps.

A proxy takes requests that write; under a lock it fetches a timestamp from the oracle, appends the task to
its queue and enters the timestamp into the statistics of every physical channel that the task uses; workers
take tasks from the queue, append their messages to the channels' logs and remove the timestamp. A ticker
fetches a timestamp, takes a snapshot of the statistics and publishes for each channel a value below all
messages to come; the reports to the root coordinator read the published values.

Sources: seed 002 (task queue, statistics, tick), seed 004 (6.6.1, 6.6.3), facts 3, hazards 12 and 24 to 28.
This is the protocol as it is *meant*: the tick is seed 002's. Where the design document or an older version
differs, a subclass in ``variants`` or among the mutants says so.

The oracle is seen from outside: it answers a call with a timestamp greater than all that it answered before
the call began (``tso.ordered``). Uniqueness of timestamps is not assumed: it follows from the lock.

A task holds the lock from ``ask`` to ``commit``, or to ``fail_ask``. Between them is ``enqueue``, which makes
the task visible to the workers: a worker may run it before it is committed, but removes its timestamp under
the lock. A produce whose outcome is open ends in ``late_append`` or ``lose_append``.
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
    minimum,
    option,
    require,
)


class ProxyActions(Protocol, name="proxy"):
    """Unfinished tasks and time tick of one proxy."""

    Task: TypeAlias = Sort
    Channel: TypeAlias = Sort
    Ts: TypeAlias = Nat
    Phase: TypeAlias = Enum["new", "asked", "stamped", "queued", "running", "finished", "popped"]
    Tick: TypeAlias = Enum["idle", "asked", "stamped", "taken"]

    LOCKED: Bool = option(True)  # one lock covers ask to commit, the snapshot and the pop
    NOW_FIRST: Bool = option(True)  # the tick fetches its timestamp before it takes the snapshot
    KNOWN_OUTCOME: Bool = option(
        True, assumes="before a timestamp is popped it is known which of its messages the log has"
    )

    uses: Set[Task, Channel] = constant()  # the physical channels that a task writes to
    interval: Ts = constant()  # how far the gate may run ahead of the tick's timestamp

    # The oracle, as seen from here.
    issued: Ts = 0  # the greatest timestamp that anybody was given

    # Tasks and their messages.
    phase: Map[Task, Phase] = everywhere("new")
    floor: Map[Task, Ts] = everywhere(0)  # the greatest issued timestamp when the task asked
    ts: Map[Task, Ts] = everywhere(0)
    committed: Set[Task] = everywhere(False)
    appended: Set[Task, Channel] = everywhere(False)
    # the produce timed out: the log may still get the message
    unknown: Set[Task, Channel] = everywhere(False)

    # Statistics of the unfinished tasks, by channel.
    present: Set[Channel] = everywhere(False)
    min_ts: Map[Channel, Ts] = everywhere(0)
    max_ts: Map[Channel, Ts] = everywhere(0)
    tracked: Set[Channel, Ts] = everywhere(False)

    # The ticker, and the reports to the root coordinator.
    tick: Tick = "idle"
    now: Ts = 0
    now_floor: Ts = 0
    snap_present: Set[Channel] = everywhere(False)
    snap_min: Map[Channel, Ts] = everywhere(0)
    snap_max: Map[Channel, Ts] = everywhere(0)
    follows: Set[Channel] = everywhere(False)  # channels of the last snapshot: they have a value of their own
    published: Map[Channel, Ts] = everywhere(0)
    # the gate: a new value is published when the least one has passed it
    current: Map[Channel, Ts] = everywhere(0)
    default: Ts = 0
    reported: Map[Channel, Ts] = everywhere(0)

    # ---- helpers ----

    def enqueued(s, t: Task) -> Bool:
        """The task was appended to the queue; it may have ended."""
        return ~any_of(s.phase[t] == "new", s.phase[t] == "asked", s.phase[t] == "stamped")

    def holds_lock(s, t: Task) -> Bool:
        return any_of(s.phase[t] == "asked", s.phase[t] == "stamped", s.enqueued(t) & ~s.committed[t])

    def lock_is_free(s) -> Bool:
        return implies(s.LOCKED, ~exists(s.Task, s.holds_lock))

    def may_append(s, t: Task, c: Channel) -> Bool:
        """The task has its timestamp, and its message may still get into the channel's log."""
        waits = s.uses[t, c] & ~s.appended[t, c]
        under_way = any_of(s.phase[t] == "stamped", s.phase[t] == "queued", s.phase[t] == "running")
        return (waits & under_way) | s.unknown[t, c]

    def outcome_is_known(s, t: Task) -> Bool:
        """No produce of the task is open."""
        return ~exists(s.Channel, lambda c: s.unknown[t, c])

    # ---- the task queue ----

    @action(source="facts 2.3, 2.5")
    def others_allocate(s, ts: Ts) -> None:
        """Another client is given a timestamp above all others (a smaller one makes no difference here)."""
        require(ts > s.issued)
        s.issued = ts

    @action(source="seed 002, Enqueue; facts 3.1")
    def ask(s, t: Task) -> None:
        """The task takes the lock and asks the oracle."""
        require(s.phase[t] == "new")
        require(s.lock_is_free())
        s.phase[t] = "asked"
        s.floor[t] = s.issued

    @action(
        fairness="weak",
        source="seed 002, Enqueue; facts 2.3",
        relies_on=("tso.ordered", "tso.logical_never_carries"),
    )
    def stamp(s, t: Task, ts: Ts) -> None:
        """The oracle answers."""
        require(s.phase[t] == "asked")
        require(ts > s.floor[t])
        s.issued = maximum(s.issued, ts)
        s.ts[t] = ts
        s.floor[t] = 0
        s.phase[t] = "stamped"

    @action(source="facts 3.1: errors return before the commit")
    def fail_ask(s, t: Task) -> None:
        """The oracle does not answer; the request is refused, and may come again."""
        require(s.phase[t] == "asked")
        s.phase[t] = "new"
        s.floor[t] = 0

    @action(fairness="weak", source="seed 002, Enqueue: addUnissuedTask")
    def enqueue(s, t: Task) -> None:
        """The task is in the queue: a worker may take it from now on."""
        require(s.phase[t] == "stamped")
        s.phase[t] = "queued"

    @action(fairness="weak", source="seed 002, commitPChanStats; facts 3.1")
    def commit(s, t: Task) -> None:
        """The statistics of the task's channels get its timestamp; the lock is released."""
        require(s.is_due(t))
        s.committed[t] = True
        s.min_ts = each(s.Channel, lambda c: ite(s.uses[t, c], s.least_with(t, c), s.min_ts[c]))
        s.max_ts = each(s.Channel, lambda c: ite(s.uses[t, c], maximum(s.max_ts[c], s.ts[t]), s.max_ts[c]))
        s.present = each(s.Channel, lambda c: s.present[c] | s.uses[t, c])
        s.tracked = each(
            s.Channel, s.Ts, lambda c, x: s.tracked[c, x] | (s.uses[t, c] & (x == s.entered(t, c)))
        )

    def is_due(s, t: Task) -> Bool:
        """The task waits to be committed."""
        return s.enqueued(t) & ~s.committed[t]

    def least_with(s, t: Task, c: Channel) -> Ts:
        """The least timestamp of a channel after a commit."""
        return ite(s.present[c], minimum(s.min_ts[c], s.ts[t]), s.ts[t])

    def entered(s, t: Task, c: Channel) -> Ts:
        """What a commit puts into the set of a channel."""
        return s.ts[t]

    @action(fairness="weak", source="seed 004, 6.6.1: unissued to active")
    def issue(s, t: Task) -> None:
        """A worker takes the task from the queue."""
        require(s.phase[t] == "queued")
        s.phase[t] = "running"

    @action(fairness="strong", source="facts 3.1: produce is synchronous")
    def append(s, t: Task, c: Channel) -> None:
        """The log of a channel has the task's message; a produce that was lost may be tried again."""
        require((s.phase[t] == "running") & s.uses[t, c])
        require(~s.appended[t, c] & ~s.unknown[t, c])
        s.appended[t, c] = True

    @action(source="hazard 12; facts 3.1")
    def produce_times_out(s, t: Task, c: Channel) -> None:
        """The produce is given up; the broker may have the message, or get it later."""
        require((s.phase[t] == "running") & s.uses[t, c])
        require(~s.appended[t, c] & ~s.unknown[t, c])
        s.unknown[t, c] = True

    @action(source="hazard 12")
    def late_append(s, t: Task, c: Channel) -> None:
        """The broker appends a message whose produce was given up."""
        require(s.unknown[t, c])
        s.appended[t, c] = True
        s.unknown[t, c] = False

    @action(fairness="weak", source="hazard 12")
    def lose_append(s, t: Task, c: Channel) -> None:
        """The broker never got the message."""
        require(s.unknown[t, c])
        s.unknown[t, c] = False

    @action(fairness="weak", source="seed 004, 6.6.1: Notify")
    def finish(s, t: Task) -> None:
        """The task has ended: every message is in its log, or was given up."""
        require(s.phase[t] == "running")
        require(forall(s.Channel, lambda c: implies(s.uses[t, c], s.appended[t, c] | s.unknown[t, c])))
        s.phase[t] = "finished"

    @action(source="seed 004, 6.6.1: an error returns in advance")
    def fail(s, t: Task) -> None:
        """The task has ended with an error: its unsent messages will not be sent."""
        require(s.phase[t] == "running")
        s.phase[t] = "finished"

    @action(fairness="strong", source="seed 002, popPChanStats; facts 3.1")
    def pop(s, t: Task) -> None:
        """The task leaves the active ones, and its timestamp the statistics."""
        require((s.phase[t] == "finished") & s.pop_is_free())
        require(implies(s.KNOWN_OUTCOME, s.outcome_is_known(t)))
        s.phase[t] = "popped"
        s.tracked = each(
            s.Channel, s.Ts, lambda c, x: s.tracked[c, x] & ~(s.uses[t, c] & (x == s.removed(t, c)))
        )
        s.present = each(s.Channel, lambda c: exists(s.Ts, lambda x: s.tracked[c, x]))
        s.min_ts = each(s.Channel, lambda c: least(s.Ts, lambda x: s.tracked[c, x], default=0))
        s.max_ts = each(s.Channel, lambda c: ite(s.present[c], s.max_ts[c], 0))

    def pop_is_free(s) -> Bool:
        return s.lock_is_free()

    def removed(s, t: Task, c: Channel) -> Ts:
        """The timestamp that a pop removes from the set of a channel."""
        return s.ts[t]

    # ---- the tick ----

    @action(fairness="weak", source="seed 002, tick; facts 3.3")
    def ask_now(s) -> None:
        """The ticker asks the oracle."""
        require(s.tick == ite(s.NOW_FIRST, "idle", "taken"))
        s.tick = "asked"
        s.now_floor = s.issued

    @action(
        fairness="strong",
        source="seed 002, tick; facts 2.3",
        relies_on=("tso.ordered", "tso.logical_never_carries"),
    )
    def stamp_now(s, ts: Ts) -> None:
        """The oracle answers."""
        require(s.tick == "asked")
        require(ts > s.now_floor)
        s.issued = maximum(s.issued, ts)
        s.now = ts
        s.now_floor = 0
        s.tick = "stamped"

    @action(source="seed 002, tick: the error is returned")
    def fail_now(s) -> None:
        """The oracle does not answer: this tick is left out."""
        require(s.tick == "asked")
        s.forget_tick()

    @action(fairness="strong", source="seed 002, tick: getStatisticsFunc; facts 3.3")
    def take_snapshot(s) -> None:
        """The ticker copies the statistics under the lock."""
        require(s.tick == ite(s.NOW_FIRST, "stamped", "idle"))
        require(s.lock_is_free())
        s.tick = "taken"
        s.snap_present = each(s.Channel, lambda c: s.present[c])
        s.snap_min = each(s.Channel, lambda c: s.min_ts[c])
        s.snap_max = each(s.Channel, lambda c: s.max_ts[c])

    @action(fairness="weak", source="seed 002, tick; facts 3.3")
    def publish(s) -> None:
        """The values of the next reports: of a channel with unfinished tasks its own, else the default."""
        require(s.tick == ite(s.NOW_FIRST, "taken", "stamped"))
        s.published = each(
            s.Channel,
            lambda c: ite(s.moves(c), s.promise(c), ite(s.snap_present[c], s.published[c], 0)),
        )
        s.current = each(
            s.Channel,
            lambda c: ite(s.moves(c), s.next_gate(c), ite(s.snap_present[c], s.current[c], 0)),
        )
        s.follows = each(s.Channel, lambda c: s.snap_present[c])
        s.default = s.now
        s.forget_tick()

    def moves(s, c: Channel) -> Bool:
        """The channel gets a new value: it is new in the snapshot, or its least one has passed the gate."""
        return s.snap_present[c] & (~s.follows[c] | (s.snap_min[c] > s.current[c]))

    def promise(s, c: Channel) -> Ts:
        """The greatest value below every unfinished timestamp of the snapshot."""
        return s.snap_min[c] - 1

    def next_gate(s, c: Channel) -> Ts:
        """The gate after a new value."""
        return ite(s.follows[c], minimum(s.now + s.interval, s.snap_max[c]), s.now)

    def forget_tick(s) -> None:
        s.tick = "idle"
        s.now = 0
        s.now_floor = 0
        s.snap_present = each(s.Channel, lambda c: False)
        s.snap_min = each(s.Channel, lambda c: 0)
        s.snap_max = each(s.Channel, lambda c: 0)

    @action(fairness="weak", source="seed 002, sendChannelsTimeTickLoop; facts 3.3")
    def report(s) -> None:
        """The root coordinator gets the published values; perhaps again."""
        s.reported = each(s.Channel, lambda c: ite(s.follows[c], s.published[c], s.idle_value(c)))

    def idle_value(s, c: Channel) -> Ts:
        """The reported value of a channel without unfinished tasks."""
        return s.default
