"""The DDL minimum of the root coordinator: its state and its steps.

DDL messages do not pass a proxy, so the root coordinator itself keeps their least unfinished timestamp. A
scheduler runs the DDL tasks of clients: it fetches a timestamp and puts the task into a heap under one lock,
runs tasks side by side, and counts up to the last finished task before the first unfinished one. Background
work (the removal of dropped collections) goes through a lock manager: a lock, a counter of its holders, and
the last finished timestamp. The time tick loop takes the lesser of both, again and again, and reports it as
if the coordinator were a proxy.

Sources: seed 002 (sendMinDdlTsAsTt), facts 4, hazard 53, bugs B5, B11, B47.

The oracle is seen from outside: it answers a call with a timestamp greater than all that it answered before
the call began (``tso.ordered``).
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
    constant,
    everywhere,
    exists,
    greatest,
    implies,
    ite,
    maximum,
    minimum,
    option,
    require,
)


class DdlActions(Protocol, name="ddl"):
    """DDL tasks of clients, background work, and the loop that reports the lesser minimum."""

    Task: TypeAlias = Sort
    Job: TypeAlias = Sort
    Ts: TypeAlias = Nat
    Phase: TypeAlias = Enum["new", "asked", "stamped", "queued", "finished"]
    Stage: TypeAlias = Enum["new", "locked", "asked", "stamped", "sent", "over", "unlocked"]
    Loop: TypeAlias = Enum["idle", "busy", "free", "asked", "have_background", "have_both"]

    TASK_LOCK: Bool = option(True)  # a task gets its timestamp and its place in the heap under one lock
    JOB_LOCK: Bool = option(True)  # a job holds the manager's lock from before its timestamp to its note
    READER_LOCK: Bool = option(True)  # the loop fetches a timestamp only under the manager's lock
    COUNT_FIRST: Bool = option(True)  # a job is counted before it has a timestamp

    KNOWN_OUTCOME: Bool = option(
        True, assumes="when a DDL task is finished, it is known whether the logs have its message"
    )

    # One step here, several in ``spec/ddl/variants/finer_steps.py``.
    DDL_FENCED: Bool = option(
        True,
        assumes="the logs refuse what a coordinator that has crashed had sent, before its successor serves",
    )

    silent: Set[Task] = constant()  # dummy tasks: they append nothing, they move the minimum

    issued: Ts = 0  # the greatest timestamp that anybody was given

    # The scheduler.
    phase: Map[Task, Phase] = everywhere("new")
    floor: Map[Task, Ts] = everywhere(0)
    ts: Map[Task, Ts] = everywhere(0)
    appended: Set[Task] = everywhere(False)
    scheduler_min: Ts = 0  # 0 until the first task is finished

    # The lock manager.
    stage: Map[Job, Stage] = everywhere("new")
    job_floor: Map[Job, Ts] = everywhere(0)
    job_ts: Map[Job, Ts] = everywhere(0)
    counted: Set[Job] = everywhere(False)
    last_ts: Ts = 0

    # The loop, and its reports to the time tick.
    loop: Loop = "idle"
    loop_floor: Ts = 0
    background: Ts = 0
    found: Ts = 0
    reported: Ts = 0

    # ---- helpers ----

    def task_lock_is_free(s) -> Bool:
        held = exists(s.Task, lambda t: (s.phase[t] == "asked") | (s.phase[t] == "stamped"))
        return implies(s.TASK_LOCK, ~held)

    def holds(s, j: Job) -> Bool:
        return s.JOB_LOCK & (s.stage[j] != "new") & (s.stage[j] != "unlocked")

    def manager_lock_is_free(s) -> Bool:
        return ~exists(s.Job, s.holds) & ~(s.READER_LOCK & (s.loop == "asked"))

    def may_append(s, t: Task) -> Bool:
        """The task has its timestamp and may still append its message."""
        return ((s.phase[t] == "stamped") | s.is_running(t)) & ~s.silent[t] & ~s.appended[t]

    def is_running(s, t: Task) -> Bool:
        """The task may append now: also when it was given up, if that leaves its message open."""
        return (s.phase[t] == "queued") | (~s.KNOWN_OUTCOME & (s.phase[t] == "finished"))

    @action(source="facts 2.3, 2.5")
    def others_allocate(s, ts: Ts) -> None:
        """Another client is given a timestamp above all others."""
        require(ts > s.issued)
        s.issued = ts

    # ---- the scheduler ----

    @action(source="facts 4: scheduler")
    def ask(s, t: Task) -> None:
        """A task takes the scheduler's lock and asks the oracle."""
        require(s.phase[t] == "new")
        require(s.task_lock_is_free())
        s.phase[t] = "asked"
        s.floor[t] = s.issued

    @action(fairness="strong", source="facts 4, 2.3", relies_on=("tso.ordered", "tso.logical_never_carries"))
    def stamp(s, t: Task, ts: Ts) -> None:
        """The oracle answers."""
        require(s.phase[t] == "asked")
        require(ts > s.floor[t])
        s.issued = maximum(s.issued, ts)
        s.ts[t] = ts
        s.floor[t] = 0
        s.phase[t] = "stamped"

    @action(source="facts 4: scheduler")
    def fail_ask(s, t: Task) -> None:
        """The oracle does not answer: the task is refused, and may come again."""
        require(s.phase[t] == "asked")
        s.phase[t] = "new"
        s.floor[t] = 0

    @action(fairness="weak", source="facts 4: heap push")
    def push(s, t: Task) -> None:
        """The task is in the heap; the lock is released."""
        require(s.phase[t] == "stamped")
        s.phase[t] = "queued"

    @action(source="seed 002, DDL: DDL and DML are ordered")
    def append(s, t: Task) -> None:
        """The task's message is in the logs."""
        require(s.is_running(t) & ~s.silent[t])
        require(~s.appended[t])
        s.appended[t] = True

    @action(fairness="weak", source="facts 4: last contiguous finished")
    def finish(s, t: Task) -> None:
        """The task has ended, appended or failed. The minimum moves over finished tasks at the front."""
        require(s.phase[t] == "queued")
        s.phase[t] = "finished"
        s.scheduler_min = s.front()

    def front(s) -> Ts:
        """The last finished timestamp before the first that is not."""
        return greatest(
            s.Ts,
            lambda x: s.is_finished(x) & ~exists(s.Task, lambda u: (s.phase[u] == "queued") & (s.ts[u] < x)),
            upto=s.issued,
            default=s.scheduler_min,
        )

    def is_finished(s, x: Ts) -> Bool:
        return exists(s.Task, lambda t: (s.phase[t] == "finished") & (s.ts[t] == x))

    # ---- background work ----

    @action(source="facts 4: background")
    def begin_job(s, j: Job) -> None:
        """A job takes the manager's lock."""
        require(s.stage[j] == "new")
        require(s.manager_lock_is_free() | ~s.JOB_LOCK)
        s.stage[j] = "locked"

    @action(fairness="weak", source="facts 4: background")
    def count_job(s, j: Job) -> None:
        """The job is counted."""
        require(s.stage[j] == ite(s.COUNT_FIRST, "locked", "stamped"))
        require(~s.counted[j])
        s.counted[j] = True

    @action(fairness="weak", source="facts 4: background")
    def ask_job(s, j: Job) -> None:
        """The job asks the oracle."""
        require(s.stage[j] == "locked")
        require(s.counted[j] | ~s.COUNT_FIRST)
        s.stage[j] = "asked"
        s.job_floor[j] = s.issued

    @action(fairness="weak", source="facts 4, 2.3", relies_on=("tso.ordered", "tso.logical_never_carries"))
    def stamp_job(s, j: Job, ts: Ts) -> None:
        """The oracle answers."""
        require(s.stage[j] == "asked")
        require(ts > s.job_floor[j])
        s.issued = maximum(s.issued, ts)
        s.job_ts[j] = ts
        s.job_floor[j] = 0
        s.stage[j] = "stamped"

    @action(fairness="weak", source="facts 4: background")
    def append_job(s, j: Job) -> None:
        """The job's message is in the logs."""
        require((s.stage[j] == "stamped") & s.counted[j])
        s.stage[j] = "sent"

    @action(source="facts 4: errors return before the note")
    def fail_job(s, j: Job) -> None:
        """The oracle does not answer, or the message cannot be sent: nothing is noted."""
        require((s.stage[j] == "asked") | (s.stage[j] == "stamped"))
        s.stage[j] = "over"
        s.job_floor[j] = 0

    @action(fairness="weak", source="facts 4: last ts")
    def note(s, j: Job) -> None:
        """The job's timestamp becomes the last finished one."""
        require(s.stage[j] == "sent")
        s.stage[j] = "over"
        s.last_ts = s.job_ts[j]

    @action(fairness="weak", source="facts 4: background")
    def unlock(s, j: Job) -> None:
        """The job releases the manager's lock."""
        require(s.stage[j] == "over")
        s.stage[j] = "unlocked"

    @action(fairness="weak", source="facts 4: background")
    def uncount_job(s, j: Job) -> None:
        """The counter no longer counts the job: before or after the lock is released."""
        require((s.stage[j] == "over") | (s.stage[j] == "unlocked"))
        require(s.counted[j])
        s.counted[j] = False

    # ---- the loop ----

    @action(fairness="weak", source="facts 4: counter > 0")
    def look(s) -> None:
        """The loop reads the counter."""
        require(s.loop == "idle")
        s.loop = ite(exists(s.Job, lambda j: s.counted[j]), "busy", "free")

    @action(fairness="weak", source="facts 4: the last ts")
    def read_last(s) -> None:
        """A job is in progress: everything up to the last finished timestamp is done."""
        require(s.loop == "busy")
        s.loop = "have_background"
        s.background = s.last_ts

    @action(fairness="strong", source="facts 4: GetMinDdlTs")
    def ask_now(s) -> None:
        """No job was in progress: the loop waits for the lock, and asks the oracle."""
        require(s.loop == "free")
        require(s.manager_lock_is_free() | ~s.READER_LOCK)
        s.loop = "asked"
        s.loop_floor = s.issued

    @action(fairness="strong", source="facts 4, 2.3", relies_on=("tso.ordered", "tso.logical_never_carries"))
    def stamp_now(s, ts: Ts) -> None:
        """The oracle answers; a task that takes the lock later gets more."""
        require(s.loop == "asked")
        require(ts > s.loop_floor)
        s.issued = maximum(s.issued, ts)
        s.last_ts = ts
        s.take_background(ts)

    @action(source="facts 4: an error gives the last ts")
    def fail_now(s) -> None:
        """The oracle does not answer: the earlier minimum stays."""
        require(s.loop == "asked")
        s.take_background(s.last_ts)

    def take_background(s, ts: Ts) -> None:
        """The loop has the minimum of the background."""
        s.loop = "have_background"
        s.loop_floor = 0
        s.background = ts

    @action(fairness="weak", source="seed 002, sendMinDdlTsAsTt")
    def read_scheduler(s) -> None:
        """The loop reads the scheduler's minimum, and takes the lesser."""
        require(s.loop == "have_background")
        s.loop = "have_both"
        s.found = s.lesser()
        s.background = 0

    def lesser(s) -> Ts:
        return minimum(s.background, s.scheduler_min)

    @action(fairness="weak", source="seed 002, sendMinDdlTsAsTt: zero is skipped")
    def report(s) -> None:
        """The time tick gets the minimum, unless one of the two has none yet."""
        require(s.loop == "have_both")
        s.reported = ite(s.found > 0, s.found, s.reported)
        s.found = 0
        s.loop = "idle"
