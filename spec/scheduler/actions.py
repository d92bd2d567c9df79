"""The scheduler of a proxy: the steps.

A client's request becomes a task of one of three queues: changes of metadata (``ddl``), writes (``dml``),
reads (``query``). To enter its queue a task is given an id and a timestamp; a read only an id. A worker takes
the first task of a queue and carries it out: a call takes effect elsewhere. Then the caller is notified, and
the task leaves the active ones. Of the first queue one task is active at a time, of the others any number.

Sources: seed 004 (6.0, 6.6.1), facts 3.1, hazards 12 and 27.

How it is cut:

- The effect of a task is one step: ``carry``. A call without an answer in time may take effect later
  (``late``), until it is known that it does not (``settle``).
- The statistics of the channels are those of ``proxy``, and ``report`` assumes their promise. Each end of a
  task is made of steps of ``proxy``: a task that is not admitted fails there before it is stamped; one that
  is dropped is issued and fails there. One channel represents all.
- ``crash`` ends the proxy: another one begins with an empty state. ``closed`` is an end without another.
- A task that is asked or stamped holds the lock of its queue.
- The oracle is asked for a read, at Strong, when it is carried out (``reads``). Local time, which Milvus
  takes at the other levels, orders nothing: a read has no timestamp here.
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
    implies,
    ite,
    maximum,
    one_of,
    option,
    require,
)


class SchedulerActions(Protocol, name="scheduler"):
    """One proxy: tasks of three queues, their callers, cancellation, close and crash."""

    Task: TypeAlias = Sort
    Id: TypeAlias = Sort
    Ts: TypeAlias = Nat
    Place: TypeAlias = Nat
    Notices: TypeAlias = Nat
    Queue: TypeAlias = Enum["ddl", "dml", "query"]
    Phase: TypeAlias = Enum["new", "asked", "stamped", "queued", "running", "ended", "over", "lost"]
    Caller: TypeAlias = Enum["absent", "waits", "told", "left", "cut"]
    Mode: TypeAlias = Enum["open", "closing", "closed", "crashed"]

    LOCKED: Bool = option(True)  # one lock of a queue covers a task from its timestamp to its entry
    SERIAL: Bool = option(True)  # of the ddl queue one task is active at a time
    SETTLED: Bool = option(True)  # a task leaves when it is known what became of its call
    DRAINED: Bool = option(True)  # a proxy is closed when each task has ended
    UNIQUE: Bool = option(True)  # no id is given to two tasks

    queue: Map[Task, Queue] = constant()
    id: Map[Task, Id] = constant()  # the id that the task is given

    mode: Mode = "open"
    issued: Ts = 0  # the greatest timestamp that was given, as far as it matters here
    reported: Ts = 0  # the value at the root coordinator: no write at or below it is to come
    tail: Map[Queue, Place] = everywhere(0)  # how many tasks have entered
    phase: Map[Task, Phase] = everywhere("new")
    floor: Map[Task, Ts] = everywhere(0)  # the greatest issued timestamp when the task asked
    ts: Map[Task, Ts] = everywhere(0)
    place: Map[Task, Place] = everywhere(0)  # the order of entry into its queue; 0 before
    active: Set[Task] = everywhere(False)  # the map of active tasks, which is one by id
    carried: Set[Task] = everywhere(False)  # the call of the task took effect
    unknown: Set[Task] = everywhere(False)  # the call was given up, and may still take effect
    caller: Map[Task, Caller] = everywhere("absent")
    notices: Map[Task, Notices] = everywhere(0)  # how often the caller was notified

    # ---- helpers ----

    def joins(s, t: Task, u: Task) -> Bool:
        """The two tasks are of one queue."""
        return s.queue[t] == s.queue[u]

    def has_entered(s, t: Task) -> Bool:
        """The task was appended to its queue; it may have ended."""
        return s.place[t] > 0

    def is_unfinished(s, t: Task) -> Bool:
        """The task is in its queue, or a worker has it."""
        return one_of(s.phase[t], "queued", "running", "ended")

    def holds_lock(s, t: Task) -> Bool:
        """The task is between its question and its entry."""
        return one_of(s.phase[t], "asked", "stamped")

    def lock_is_free(s, t: Task) -> Bool:
        return ~s.LOCKED | ~exists(s.Task, lambda u: s.joins(t, u) & s.holds_lock(u))

    def is_next(s, t: Task) -> Bool:
        """A worker may take the task: it is the first of its queue and, if it is a ddl, the only one."""
        return all_of(
            s.phase[t] == "queued",
            forall(
                s.Task,
                lambda u: implies(s.joins(t, u) & (s.phase[u] == "queued"), s.place[t] <= s.place[u]),
            ),
            implies(
                s.SERIAL & (s.queue[t] == "ddl"),
                ~exists(s.Task, lambda u: s.joins(t, u) & one_of(s.phase[u], "running", "ended")),
            ),
        )

    def is_wanted(s, t: Task) -> Bool:
        """The caller waits for the task, and the proxy does not close."""
        return (s.caller[t] == "waits") & (s.mode == "open")

    def has_id(s, t: Task) -> Bool:
        """The task was given its id."""
        given = one_of(s.phase[t], "stamped", "queued", "running", "ended", "over")
        return given & ((s.ts[t] > 0) | s.has_entered(t))

    def may_act(s, t: Task) -> Bool:
        """The call of the task may still take effect."""
        return (
            one_of(s.phase[t], "asked", "stamped", "queued")
            | ((s.phase[t] == "running") & ~s.carried[t])
            | s.unknown[t]
        )

    def is_after(s, u: Task, t: Task) -> Bool:
        """The timestamp of the first task, which it has or will get, is greater than that of the second."""
        return s.is_above(u, s.ts[t])

    def is_above(s, t: Task, value: Ts) -> Bool:
        """The timestamp of the task, which it has or will get, is greater than the value."""
        return ite(s.phase[t] == "asked", s.floor[t] >= value, s.ts[t] > value)

    def line_up(s, t: Task) -> None:
        """The task is the last of its queue."""
        s.phase[t] = "queued"
        s.tail[s.queue[t]] = s.tail[s.queue[t]] + 1
        s.place[t] = s.tail[s.queue[t]]

    def notify(s, t: Task) -> None:
        s.notices[t] = s.notices[t] + 1
        s.caller[t] = ite(s.caller[t] == "left", "left", "told")

    # ---- into the queue ----

    @action(source="seed 004, 6.6.1: the interface of the queue")
    def refuse(s, t: Task) -> None:
        """The queue is full, or the proxy closes: the task is not admitted."""
        require((s.phase[t] == "new") & (s.mode != "crashed"))
        s.phase[t] = "over"
        s.notify(t)

    @action(source="seed 004, 6.6.1: OnEnqueue")
    def ask(s, t: Task) -> None:
        """The task takes the lock of its queue, and asks for an id and a timestamp."""
        require((s.phase[t] == "new") & (s.mode == "open") & (s.queue[t] != "query") & s.lock_is_free(t))
        s.phase[t] = "asked"
        s.floor[t] = s.issued
        s.caller[t] = "waits"

    @action(fairness="weak", source="facts 3.1: errors return before the commit")
    def give_up(s, t: Task) -> None:
        """There is no answer: the task is not admitted."""
        require(s.phase[t] == "asked")
        s.phase[t] = "over"
        s.floor[t] = 0
        s.notify(t)

    @action(
        source="seed 004, 6.6.1: SetID, SetTs",
        relies_on=("tso.ordered", "tso.logical_never_carries", "ids.ids_are_unique"),
    )
    def stamp(s, t: Task, ts: Ts) -> None:
        """The task is given its id and its timestamp."""
        require(s.phase[t] == "asked")
        require(ts > s.floor[t])
        require(~s.UNIQUE | s.is_alone(t))
        s.phase[t] = "stamped"
        s.floor[t] = 0
        s.ts[t] = ts
        s.issued = maximum(s.issued, ts)

    def is_alone(s, t: Task) -> Bool:
        return forall(s.Task, lambda u: implies(s.has_id(u), s.id[u] != s.id[t]))

    @action(fairness="weak", source="seed 004, 6.6.1: addUnissuedTask")
    def enqueue(s, t: Task) -> None:
        """The task enters its queue; the lock is free."""
        require(s.phase[t] == "stamped")
        s.line_up(t)

    @action(source="seed 002, Enqueue: CanSkipAllocTimestamp", relies_on=("ids.ids_are_unique",))
    def enter(s, t: Task) -> None:
        """A read is given its id and enters its queue: it takes no lock and asks no oracle."""
        require((s.phase[t] == "new") & (s.mode == "open") & (s.queue[t] == "query"))
        require(~s.UNIQUE | s.is_alone(t))
        s.caller[t] = "waits"
        s.line_up(t)

    # ---- out of the queue ----

    @action(fairness="weak", source="seed 004, 6.6.1: PopUnissuedTask, AddActivateTask")
    def issue(s, t: Task) -> None:
        """A worker takes the first task of a queue, and carries it out."""
        require(s.is_next(t) & s.is_wanted(t))
        s.take(t)
        s.phase[t] = "running"

    @action(fairness="weak", source="seed 004, 6.6.1")
    def drop(s, t: Task) -> None:
        """A worker takes a task whose caller has left, or that the closing proxy does not begin: an error."""
        require(s.is_next(t) & ~s.is_wanted(t))
        s.take(t)
        s.phase[t] = "ended"

    def take(s, t: Task) -> None:
        """The task gets a place in the map of active tasks: that of its id."""
        s.active = each(s.Task, lambda u: (u == t) | (s.active[u] & (s.id[u] != s.id[t])))

    @action(source="seed 004, 6.6.1: Execute")
    def carry(s, t: Task) -> None:
        """The call of the task takes effect."""
        require((s.phase[t] == "running") & ~s.carried[t])
        s.carried[t] = True

    @action(source="hazard 12; facts 3.1")
    def time_out(s, t: Task) -> None:
        """The call is given up with an error; it may still take effect."""
        require((s.phase[t] == "running") & ~s.carried[t])
        s.phase[t] = "ended"
        s.unknown[t] = True

    @action(source="hazard 12")
    def late(s, t: Task) -> None:
        """A call that was given up takes effect."""
        require(s.unknown[t])
        s.unknown[t] = False
        s.carried[t] = True

    @action(fairness="weak", source="hazard 12")
    def settle(s, t: Task) -> None:
        """A call that was given up will not take effect any more."""
        require(s.unknown[t])
        s.unknown[t] = False

    @action(fairness="weak", source="seed 004, 6.6.1: PreExecute, Execute, PostExecute")
    def end(s, t: Task) -> None:
        """The three steps of the task have ended, or one has failed and the rest is skipped."""
        require(s.phase[t] == "running")
        s.phase[t] = "ended"

    @action(fairness="weak", source="seed 004, 6.6.1: Notify")
    def tell(s, t: Task) -> None:
        """The caller is notified, after success and after an error."""
        require((s.phase[t] == "ended") & (s.notices[t] == 0))
        s.notify(t)

    @action(fairness="weak", source="seed 004, 6.6.1: PopActivateTask")
    def pop(s, t: Task) -> None:
        """The task leaves the active ones, with the entry of its id."""
        require((s.phase[t] == "ended") & (s.notices[t] > 0))
        require(~s.SETTLED | ~s.unknown[t])
        s.phase[t] = "over"
        s.active = each(s.Task, lambda u: s.active[u] & (s.id[u] != s.id[t]))

    # ---- reports ----

    @action(
        source="seed 004, 6.6.3; facts 3.3",
        relies_on=("proxy.reported_is_below_all_to_come", "proxy.reported_is_given_to_nobody_else"),
    )
    def report(s, upto: Ts) -> None:
        """The root coordinator gets a value that the statistics allow: every write to come is above it."""
        require(one_of(s.mode, "open", "closing") & (upto > s.reported))
        require(s.allows(upto))
        s.reported = upto
        s.issued = maximum(s.issued, upto)

    def allows(s, upto: Ts) -> Bool:
        """Every write that may still take effect is above the value."""
        return forall(s.Task, lambda t: implies((s.queue[t] == "dml") & s.may_act(t), s.is_above(t, upto)))

    # ---- callers, close, crash ----

    @action(source="seed 004, 6.6.1")
    def cancel(s, t: Task) -> None:
        """The caller stops waiting; the task continues."""
        require(s.caller[t] == "waits")
        s.caller[t] = "left"

    @action(source="seed 004, 6.6.1")
    def close(s) -> None:
        """The proxy takes no more tasks, and does not begin queued ones."""
        require(s.mode == "open")
        s.mode = "closing"

    @action(fairness="weak", source="seed 004, 6.6.1")
    def end_close(s) -> None:
        """The proxy is closed: no worker has a task, and no task is left."""
        require(s.mode == "closing")
        require(
            forall(
                s.Task,
                lambda t: ite(
                    s.DRAINED,
                    ~s.holds_lock(t) & ~s.is_unfinished(t),
                    ~one_of(s.phase[t], "running", "ended"),
                ),
            )
        )
        s.mode = "closed"

    @action(source="seed 004, 6.6.1")
    def crash(s) -> None:
        """The proxy ends: its callers see it. Calls that are under way may still take effect."""
        require(one_of(s.mode, "open", "closing"))
        before = s.phase
        s.mode = "crashed"
        s.unknown = each(s.Task, lambda t: s.unknown[t] | ((before[t] == "running") & ~s.carried[t]))
        s.caller = each(s.Task, lambda t: ite(s.caller[t] == "waits", "cut", s.caller[t]))
        s.floor = each(s.Task, lambda t: 0)
        s.active = each(s.Task, lambda t: False)
        s.phase = each(s.Task, lambda t: ite(one_of(before[t], "new", "over"), before[t], "lost"))
