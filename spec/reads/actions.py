"""Service time, MVCC visibility and guarantee timestamps of one channel; state and steps.

Clients write rows and deletes of primary keys, each with a timestamp from the oracle; ticks in the channel's
log promise that no later message is at or below them. Replicas read the log pack by pack, up to a tick each:
rows first, then deletes, then the service time (tSafe) rises to the tick. A read has a guarantee timestamp;
it waits at its replica until the service time has reached the guarantee, and is answered with what is visible
at the service time.

Sources: seed 002 (consistency), facts 5.1, 6.1, 6.2, hazards 33 to 35, bugs B39 to B41, B48. This is the
protocol as it is *meant*. Where the code of Milvus differs, a variant has its own verdict.

How it is cut:

- Timestamps are asked for and answered in two steps, as calls overlap. ``began[q]`` is what the oracle had
  issued when the read began: the time of its beginning, in the oracle's own time.
- ``known`` and ``precedes`` are history, for the claims: the acknowledged writes, and the answered reads,
  before a read began.
- A replica is one incarnation of a delegator: a restarted one is a new replica, which reads the log from its
  beginning. A stopped one answers nothing; its waiting reads are woken and fail.
- A pack may end at any value up to the greatest tick: a tick's promise holds for every smaller value too.
  Within a pack the writes of a node (insert, then delete) are applied one by one, and reads run in between.
- A read waits in two steps: it looks at the service time (``check``), and sleeps if it is too low; a rise of
  the service time or the end of the replica wakes it, and it looks again.
- Looking at the service time and collecting the rows are two steps: the replica continues in between. All
  rows are collected in one step. Nothing at or below the service time changes any more, so more steps would
  show the same.
- ``page``: a further page of an iterator, or a further part of a request, reads at the timestamp of the
  first.

Left out: several channels (``spec/parts``), old versions that a compaction removes. ``spec/segments`` shows
that growing and sealed segments hold the applied writes.
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
    when,
)


class ReadsActions(Protocol, name="reads"):
    """Writes, ticks, replicas and reads of one channel; any number of clients, keys and replicas."""

    Write: TypeAlias = Sort
    Key: TypeAlias = Sort
    Client: TypeAlias = Sort
    Replica: TypeAlias = Sort
    Read: TypeAlias = Sort
    Ts: TypeAlias = Nat
    Stage: TypeAlias = Enum["new", "asked", "stamped", "logged", "failed"]
    Level: TypeAlias = Enum["none", "strong", "session", "bounded", "eventually", "customized", "page"]
    Progress: TypeAlias = Enum["new", "asked", "waiting", "asleep", "reading", "answered", "failed"]

    CLOCK_NOT_BEHIND: Bool = option(
        True, assumes="The clock of a proxy is at most `skew` behind the time of the oracle."
    )
    CLOCK_NOT_AHEAD: Bool = option(
        True, assumes="The clock of a proxy is at most `skew` ahead of the time of the oracle."
    )
    CARRIES: Bool = option(True)  # a client carries the timestamps of its reads, not of its writes alone

    # Who writes and reads what; the length of what a bounded read may miss; the error of the proxies' clocks.
    key: Map[Write, Key] = constant()
    deletes: Set[Write] = constant()
    writer: Map[Write, Client] = constant()
    reader: Map[Read, Client] = constant()
    replica: Map[Read, Replica] = constant()
    first: Map[Read, Read] = constant()  # the first page, for a read that is a further page
    graceful: Ts = constant()
    skew: Ts = constant()

    # The oracle, the writes, the ticks.
    issued: Ts = 0  # the greatest timestamp that was answered to anybody
    stage: Map[Write, Stage] = everywhere("new")
    floor: Map[Write, Ts] = everywhere(0)  # issued, when the write's timestamp was asked for
    ts: Map[Write, Ts] = everywhere(0)
    acknowledged: Set[Write] = everywhere(False)
    tick: Ts = 0  # the greatest tick in the log
    carried: Map[Client, Ts] = everywhere(0)  # the greatest timestamp that the client knows

    # The replicas.
    stopped: Set[Replica] = everywhere(False)
    pack: Map[Replica, Ts] = everywhere(0)  # the end of the last pack that was taken
    safe: Map[Replica, Ts] = everywhere(0)  # the service time
    applied: Set[Replica, Write] = everywhere(False)

    # The reads.
    progress: Map[Read, Progress] = everywhere("new")
    level: Map[Read, Level] = everywhere("none")
    began: Map[Read, Ts] = everywhere(0)
    guarantee: Map[Read, Ts] = everywhere(0)
    moment: Map[Read, Ts] = everywhere(0)  # the timestamp at which the answer is taken
    seen: Set[Read, Write] = everywhere(False)  # the rows of the answer
    known: Set[Read, Write] = everywhere(False)  # history: acknowledged before the read began
    precedes: Set[Read, Read] = everywhere(False)  # history: answered before the other began

    # ---- helpers ----

    def place(s, q: Read) -> Replica:
        """The replica that the read asks, or asked last."""
        return s.replica[q]

    def is_begun(s, w: Write) -> Bool:
        """The write is on its way to the log."""
        return one_of(s.stage[w], "asked", "stamped")

    def lies_above(s, w: Write, value: Ts) -> Bool:
        """The timestamp of a write under way is above the value, or will be."""
        return ite(s.stage[w] == "asked", s.floor[w] >= value, s.ts[w] > value)

    def is_below_all_to_come(s, value: Ts) -> Bool:
        """The oracle has issued the value, and everything that the log would still take is above it."""
        return (value <= s.issued) & forall(s.Write, lambda w: implies(s.is_begun(w), s.lies_above(w, value)))

    def is_in_pack(s, r: Replica, w: Write) -> Bool:
        """The write belongs to the current pack of the replica."""
        return (s.stage[w] == "logged") & (s.ts[w] <= s.pack[r]) & ~s.applied[r, w]

    def removes(s, d: Write, w: Write, value: Ts) -> Bool:
        return all_of(s.deletes[d], s.key[d] == s.key[w], s.ts[w] < s.ts[d], s.ts[d] <= value)

    def finds(s, r: Replica, w: Write, value: Ts) -> Bool:
        """The replica's rows and deletes show the row at the timestamp ``value``."""
        return all_of(
            s.applied[r, w],
            ~s.deletes[w],
            s.ts[w] <= value,
            ~exists(s.Write, lambda d: s.applied[r, d] & s.removes(d, w, value)),
        )

    # ---- the oracle and the writes ----

    @action(source="facts 2")
    def others_allocate(s) -> None:
        """Another client is given a timestamp above all others (a smaller one makes no difference here)."""
        s.issued = s.issued + 1

    @action(source="facts 3.1")
    def ask_write(s, w: Write) -> None:
        """A proxy begins a write: it asks for the timestamp."""
        require(s.stage[w] == "new")
        s.stage[w] = "asked"
        s.floor[w] = s.issued

    @action(fairness="weak", source="facts 2.3, 3.1", relies_on=("tso.ordered", "tso.logical_never_carries"))
    def stamp_write(s, w: Write, ts: Ts) -> None:
        """The oracle answers: above every timestamp that was answered before the question."""
        require(s.stage[w] == "asked")
        require(ts > s.floor[w])
        s.stage[w] = "stamped"
        s.ts[w] = ts
        s.floor[w] = 0
        s.issued = maximum(s.issued, ts)

    @action(fairness="weak", source="facts 3.1")
    def append(s, w: Write) -> None:
        """The write is in the log."""
        require(s.stage[w] == "stamped")
        s.stage[w] = "logged"

    @action(source="facts 3.1; hazard 11")
    def fail_write(s, w: Write) -> None:
        """The write gets an error, and is not in the log and never will be."""
        require(s.is_begun(w))
        s.stage[w] = "failed"
        s.floor[w] = 0
        s.ts[w] = 0

    @action(fairness="weak", source="facts 3.1; seed 002, consistency")
    def acknowledge(s, w: Write) -> None:
        """The client gets the answer, and keeps the write's timestamp."""
        require((s.stage[w] == "logged") & ~s.acknowledged[w])
        s.acknowledged[w] = True
        s.keep(s.writer[w], s.ts[w])

    def keep(s, c: Client, value: Ts) -> None:
        """The client knows the timestamp from now on."""
        s.carried[c] = maximum(s.carried[c], value)

    @action(
        fairness="weak",
        source="seed 002, watermark; facts 4",
        relies_on=("timetick.ticks_are_below_all_to_come", "timetick.ticks_were_issued"),
    )
    def send_tick(s, upto: Ts) -> None:
        """A tick is in the log: everything that the log would still take is above it."""
        require(upto > s.tick)
        require(s.is_below_all_to_come(upto))
        s.tick = upto

    # ---- the replicas ----

    @action(fairness="weak", source="seed 002, service time; facts 5.1")
    def take_pack(s, r: Replica, upto: Ts) -> None:
        """The next pack comes: the log up to a tick."""
        require(~s.stopped[r])
        require(s.pack[r] == s.safe[r])
        require((upto > s.pack[r]) & (upto <= s.tick))
        s.pack[r] = upto

    @action(fairness="weak", source="seed 002, service time; facts 6.1")
    def apply_insert(s, r: Replica, w: Write) -> None:
        """The insert node takes a row of the pack."""
        require(~s.stopped[r] & s.is_in_pack(r, w))
        require(~s.deletes[w])
        s.applied[r, w] = True

    @action(fairness="weak", source="seed 002, insert before delete; facts 6.1")
    def apply_delete(s, r: Replica, w: Write) -> None:
        """The delete node takes a delete of the pack, after all rows of the pack."""
        require(~s.stopped[r] & s.is_in_pack(r, w))
        require(s.deletes[w])
        require(forall(s.Write, lambda v: implies(s.is_in_pack(r, v), s.deletes[v])))
        s.applied[r, w] = True

    @action(
        fairness="weak",
        source="seed 002, service time; facts 6.1",
        relies_on=("segments.rows_are_served", "segments.deletes_are_served"),
    )
    def raise_safe(s, r: Replica) -> None:
        """The pack is applied: the service time is its end, and all waiting reads look again."""
        require(~s.stopped[r] & (s.pack[r] > s.safe[r]))
        require(forall(s.Write, lambda w: ~s.is_in_pack(r, w)))
        s.safe[r] = s.pack[r]
        s.wake(r)

    @action(source="facts 6.1; hazard 34")
    def stop(s, r: Replica) -> None:
        """The delegator is closed, or its process has ended."""
        require(~s.stopped[r])
        s.stopped[r] = True
        s.wake(r)

    def wake(s, r: Replica) -> None:
        """All reads that sleep at the replica look again."""
        s.progress = each(
            s.Read,
            lambda q: ite((s.progress[q] == "asleep") & (s.place(q) == r), "waiting", s.progress[q]),
        )

    # ---- a read begins ----

    def begin(s, q: Read, level: Level) -> None:
        """The read begins, and its history is noted."""
        require(s.progress[q] == "new")
        s.level[q] = level
        s.known = each(s.Read, s.Write, lambda p, w: ite(p == q, s.acknowledged[w], s.known[p, w]))
        s.precedes = each(
            s.Read, s.Read, lambda a, b: ite(b == q, s.progress[a] == "answered", s.precedes[a, b])
        )

    def wait_for(s, q: Read, value: Ts) -> None:
        """The read goes to its replica with this guarantee."""
        s.progress[q] = "waiting"
        s.guarantee[q] = value

    @action(source="seed 002, guarantee; facts 6.2")
    def begin_strong(s, q: Read) -> None:
        """A strong read asks the oracle."""
        s.begin(q, "strong")
        s.began[q] = s.issued
        s.progress[q] = "asked"

    @action(
        fairness="weak",
        source="seed 002, guarantee; facts 6.2",
        relies_on=("tso.ordered", "tso.logical_never_carries"),
    )
    def stamp_read(s, q: Read, ts: Ts) -> None:
        """The oracle answers: this is the guarantee."""
        require(s.progress[q] == "asked")
        require(ts > s.began[q])
        s.issued = maximum(s.issued, ts)
        s.wait_for(q, ts)

    @action(source="seed 002, guarantee; facts 6.2")
    def begin_session(s, q: Read) -> None:
        """The guarantee is the greatest timestamp that the client knows."""
        s.begin(q, "session")
        s.wait_for(q, s.carried[s.reader[q]])

    @action(source="seed 002, guarantee; facts 6.2; hazard 35")
    def begin_bounded(s, q: Read, now: Ts) -> None:
        """The guarantee is the proxy's own clock, less the allowed lag."""
        require(implies(s.CLOCK_NOT_BEHIND, now + s.skew >= s.issued))
        require(implies(s.CLOCK_NOT_AHEAD, now <= s.issued + s.skew))
        s.begin(q, "bounded")
        s.began[q] = s.issued
        s.wait_for(q, ite(now >= s.graceful, now - s.graceful, 0))

    @action(source="seed 002, guarantee; facts 6.2")
    def begin_eventually(s, q: Read) -> None:
        """The guarantee is below every timestamp (Milvus sends 1)."""
        s.begin(q, "eventually")
        s.wait_for(q, 0)

    @action(source="facts 6.2")
    def begin_customized(s, q: Read, value: Ts) -> None:
        """The client names the guarantee itself."""
        s.begin(q, "customized")
        s.wait_for(q, value)

    @action(source="facts 6.2; B40: iterators, hybrid search")
    def begin_page(s, q: Read) -> None:
        """A further page, or a further part: it names the timestamp of the first."""
        require(s.progress[s.first[q]] == "answered")
        s.begin(q, "page")
        s.wait_for(q, s.moment[s.first[q]])

    # ---- a read at its replica ----

    def is_served(s, q: Read) -> Bool:
        """The service time is at or above the guarantee."""
        return s.safe[s.place(q)] >= s.guarantee[q]

    def timestamp_of_answer(s, q: Read) -> Ts:
        """The timestamp of the answer: the one that the request names, or the service time."""
        return ite(s.level[q] == "page", s.guarantee[q], s.safe[s.place(q)])

    @action(fairness="weak", source="seed 002, waitTSafe; facts 6.1")
    def check(s, q: Read) -> None:
        """The read looks at the service time, and proceeds or sleeps."""
        require(s.progress[q] == "waiting")
        require(~s.stopped[s.place(q)])
        s.moment[q] = ite(s.is_served(q), s.timestamp_of_answer(q), 0)
        s.progress[q] = ite(s.is_served(q), "reading", "asleep")

    @action(fairness="weak", source="seed 002, search_pk; facts 6.1")
    def answer(s, q: Read) -> None:
        """The rows that are visible at the timestamp of the answer are collected, and the client has them.

        The replica may have stopped before the answer arrives.
        """
        require(s.progress[q] == "reading")
        s.seen = each(
            s.Read,
            s.Write,
            lambda p, w: ite(p == q, s.finds(s.place(q), w, s.moment[q]), s.seen[p, w]),
        )
        s.progress[q] = "answered"
        with when(s.CARRIES):
            s.keep(s.reader[q], s.moment[q])

    @action(fairness="weak", source="facts 6.1; hazard 34")
    def fail_read(s, q: Read) -> None:
        """The replica has stopped: the read gets an error."""
        require(one_of(s.progress[q], "waiting", "reading"))
        require(s.stopped[s.place(q)])
        s.end_without_answer(q)

    @action(source="facts 6.1; hazard 34")
    def cancel(s, q: Read) -> None:
        """The caller gives up, the answer is lost, the lag is too large, or the service time stands."""
        require(one_of(s.progress[q], "asked", "waiting", "asleep", "reading"))
        s.end_without_answer(q)

    def end_without_answer(s, q: Read) -> None:
        """The client gets no answer; only the level of the read is kept."""
        s.progress[q] = "failed"
        s.began[q] = 0
        s.guarantee[q] = 0
        s.moment[q] = 0
        s.known = each(s.Read, s.Write, lambda p, w: (p != q) & s.known[p, w])
        s.precedes = each(s.Read, s.Read, lambda a, b: (b != q) & s.precedes[a, b])
