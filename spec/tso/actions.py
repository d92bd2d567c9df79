"""The timestamp oracle: a window that is saved ahead, a leader under a lease, batches as call and return.

Server processes compete for a leader key under a lease; the leader loads the saved end of the window, begins
beyond it, saves a new end before it uses the time below, and hands out batches from a counter of the
published object; an updater moves the physical part now and then; clients call, and their calls overlap. A
``Server`` is one *incarnation* of a process: a restart is a new server.

Sources: seed 002 (TSO), facts 2.1 to 2.4, hazards 38 to 45, bugs B1 to B4. This is the protocol as it is
*meant*. Where the code of the seed does something else, a subclass in ``variants`` or among the mutants says
so, with its own verdict.

Time is the clock's own unit, finer than a millisecond. The clock is arbitrary: each reading is a parameter
``now``, so jumps, standstill, stepping back and skew between servers are all covered. ``stamp`` gives the
timestamp of a physical time with a counter of zero: its milliseconds, shifted to the left. A timestamp is
``stamp[time] + counter``, as in the seed: an addition, so that a counter could carry. An object (the pair
that the seed publishes by an atomic pointer) is identified by its server and its physical time; its counter
is ``logical[server, time]``.

Names and steps, where they say more than the seed:

- Roles of a server: ``loaded`` (has read the saved end), ``decided`` (has read its clock and chosen
  ``next``), ``starting`` (has saved the end of its first window), ``serving``.
- A call is answered in the step that adds to the counter (``allocate``). An answer that travels later makes
  two calls overlap more, never less, so the proved order holds for later answers too.
- The answer is made of ``object[call]`` and ``last[call]``, the last of the batch; the first is last - count
  + 1.
- A counter that has overflowed stays at ``max_logical``: greater values need no distinction.
- ``crash`` is the end of a process for any reason, also because it has noticed the end of its lease.
- A save in the network may be applied after its sender has ended (``lose_save``).
- RAISES: the store keeps the larger of the saved end and the one that arrives. The seed's put is a plain one:
  after a save whose answer was lost, and a clock that then steps back, it lowers the saved end.
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
    anything,
    constant,
    each,
    everywhere,
    implies,
    ite,
    maximum,
    minimum,
    one_of,
    option,
    plain,
    require,
)


class TsoActions(Protocol, name="tso"):
    """The timestamp oracle: servers that take turns as the leader, one linearisable store, any clock."""

    Server: TypeAlias = Sort
    Updater: TypeAlias = Sort
    Call: TypeAlias = Sort
    Time: TypeAlias = Nat
    Logical: TypeAlias = Nat
    Ts: TypeAlias = Nat
    Role: TypeAlias = Enum["new", "elected", "loaded", "decided", "starting", "serving", "stopped"]
    Stage: TypeAlias = Enum["idle", "read", "saving", "publishing"]
    Progress: TypeAlias = Enum["new", "begun", "loaded", "answered", "failed"]

    CONDITIONAL: Bool = option(True)  # the store takes a save only from the holder of the leader key
    RAISES: Bool = option(True)  # the store keeps the larger end
    LEASE_RULE: Bool = option(
        True, assumes="The store ends a lease only after its holder has stopped serving."
    )
    SINGLE_UPDATER: Bool = option(True)  # a server has one updater, else as many as there are

    # The clock's millisecond, the window and the layout of a timestamp: any in a proof, given in an instance.
    stamp: Map[Time, Ts] = constant()
    millisecond: Time = constant()
    interval: Time = constant()
    max_logical: Logical = constant()
    ticker: Updater = constant()  # the one updater

    # The store.
    saved: Time = 0
    led: Bool = False
    leader: Server = anything  # of no meaning while there is no leader

    # A server's memory (lost when it ends).
    role: Map[Server, Role] = everywhere("new")
    base: Map[Server, Time] = everywhere(0)
    next: Map[Server, Time] = everywhere(0)
    window: Map[Server, Time] = everywhere(0)
    current: Map[Server, Time] = everywhere(0)
    logical: Map[Server, Time, Logical] = everywhere(0)
    stage: Map[Server, Updater, Stage] = everywhere("idle")
    update_now: Map[Server, Updater, Time] = everywhere(0)
    update_next: Map[Server, Updater, Time] = everywhere(0)

    # The clients' calls.
    call: Map[Call, Progress] = everywhere("new")
    at: Map[Call, Server] = anything  # of no meaning before the call begins
    count: Map[Call, Logical] = everywhere(0)
    object: Map[Call, Time] = everywhere(0)
    last: Map[Call, Logical] = everywhere(0)
    precedes: Set[Call, Call] = everywhere(False)  # history: answered before the other began

    # ---- helpers ----

    def runs(s, server: Server) -> Bool:
        return (s.role[server] != "new") & (s.role[server] != "stopped")

    def serves(s, server: Server) -> Bool:
        return s.role[server] == "serving"

    def may_save(s, server: Server) -> Bool:
        """The store takes a save of this server."""
        return ~s.CONDITIONAL | (s.led & (s.leader == server))

    def store_end(s, end: Time) -> None:
        """The store takes the end of a window."""
        s.saved = ite(s.RAISES, maximum(s.saved, end), end)

    def ts_of(s, time: Time, logical: Logical) -> Ts:
        return plain(s.stamp[time]) + plain(logical)

    def ts(s, call: Call, logical: Logical) -> int:
        return s.ts_of(s.object[call], logical)

    def first_ts(s, call: Call) -> int:
        return s.ts(call, s.last[call] - s.count[call] + 1)

    def last_ts(s, call: Call) -> int:
        return s.ts(call, s.last[call])

    def guard(s) -> Time:
        """Physical parts closer than this are not distinguished in milliseconds."""
        return s.millisecond

    # ---- leadership and start ----

    @action(fairness="weak", source="facts 2.4: version == 0 transaction under a lease")
    def elect(s, server: Server) -> None:
        """The leader key is absent, and a standby server creates it."""
        require((s.role[server] == "new") & ~s.led)
        s.led = True
        s.leader = server
        s.role[server] = "elected"

    @action(source="facts 2.4: lease")
    def expire(s) -> None:
        """The store ends the leader's lease and removes its key."""
        require(s.led)
        require(implies(s.LEASE_RULE, s.role[s.leader] == "stopped"))
        s.led = False

    @action(fairness="weak", source="seed 002, InitTimestamp: loadTimestamp")
    def load(s, server: Server) -> None:
        """The new leader reads the saved end of the window."""
        require(s.role[server] == "elected")
        s.base[server] = s.saved
        s.role[server] = "loaded"

    @action(source="facts 2.1: load error; B1")
    def fail_load(s, server: Server) -> None:
        """The read fails, and the server gives up."""
        require(s.role[server] == "elected")
        s.end(server)

    @action(fairness="weak", source="seed 002, InitTimestamp: next = max(now, last + 1 ms)")
    def start_decide(s, server: Server, now: Time) -> None:
        """It reads its clock and begins beyond the saved end."""
        require(s.role[server] == "loaded")
        s.next[server] = maximum(now, s.base[server] + s.guard())
        s.role[server] = "decided"

    @action(fairness="weak", source="seed 002, InitTimestamp: saveTimestamp")
    def start_save(s, server: Server) -> None:
        """The store takes the end of the first window."""
        require((s.role[server] == "decided") & s.may_save(server))
        s.store_end(s.next[server] + s.interval)
        s.window[server] = s.next[server] + s.interval
        s.role[server] = "starting"

    @action(source="seed 002, InitTimestamp: saveTimestamp fails")
    def fail_start_save(s, server: Server) -> None:
        """The first save is not applied, and the server gives up."""
        require(s.role[server] == "decided")
        s.end(server)

    @action(source="seed 002, InitTimestamp: saveTimestamp fails")
    def lose_start_save(s, server: Server) -> None:
        """The first save is applied, its answer is lost, and the server gives up."""
        require((s.role[server] == "decided") & s.may_save(server))
        s.store_end(s.next[server] + s.interval)
        s.end(server)

    @action(fairness="weak", source="seed 002, InitTimestamp: StorePointer")
    def start_publish(s, server: Server) -> None:
        """The first object is published: the server serves."""
        require(s.role[server] == "starting")
        s.publish_object(server, s.next[server])
        s.next[server] = 0
        s.role[server] = "serving"

    def publish_object(s, server: Server, time: Time) -> None:
        """A new object, with its counter at zero."""
        s.current[server] = time
        s.logical[server, time] = 0

    # ---- the periodic update ----

    @action(fairness="weak", source="seed 002, UpdateTimestamp: time.Now")
    def read_clock(s, server: Server, updater: Updater, now: Time) -> None:
        """A tick of the updater: it reads the clock."""
        require(s.serves(server) & (s.stage[server, updater] == "idle"))
        require(~s.SINGLE_UPDATER | (updater == s.ticker))
        s.update_now[server, updater] = now
        s.stage[server, updater] = "read"

    def is_ahead(s, server: Server, now: Time) -> Bool:
        """The clock is ahead of the published object by more than the guard."""
        return now > s.current[server] + s.guard()

    def is_half_full(s, server: Server) -> Bool:
        """More than half of the published object's counter is used."""
        return 2 * s.logical[server, s.current[server]] > s.max_logical

    @action(fairness="weak", source="seed 002, UpdateTimestamp: jetLag, maxLogical/2, lastSavedTime")
    def decide(s, server: Server, updater: Updater) -> None:
        """Follow the clock if it is ahead, else advance by a millisecond if the counter is half full, else
        stay; save first if the window is nearly used up.
        """
        require(s.serves(server) & (s.stage[server, updater] == "read"))
        ahead = s.is_ahead(server, s.update_now[server, updater])
        moves = ahead | s.is_half_full(server)
        following = ite(ahead, s.update_now[server, updater], s.current[server] + s.millisecond)
        goes_on: TsoActions.Stage = ite(s.needs_save(server, following), "saving", "publishing")
        s.stage[server, updater] = ite(moves, goes_on, "idle")
        s.update_next[server, updater] = ite(moves, following, 0)
        s.update_now[server, updater] = 0

    def needs_save(s, server: Server, following: Time) -> Bool:
        """The window does not reach far enough beyond the next object."""
        return s.window[server] <= following + s.guard()

    @action(fairness="strong", source="seed 002, UpdateTimestamp: saveTimestamp")
    def save(s, server: Server, updater: Updater) -> None:
        """The store takes the end of the next window."""
        require(s.serves(server) & (s.stage[server, updater] == "saving") & s.may_save(server))
        s.store_end(s.update_next[server, updater] + s.interval)
        s.window[server] = s.update_next[server, updater] + s.interval
        s.stage[server, updater] = "publishing"

    @action(source="seed 002, UpdateTimestamp: saveTimestamp fails; facts 2.2")
    def fail_save(s, server: Server, updater: Updater) -> None:
        """The save is not applied: the physical part stays."""
        require(s.serves(server) & (s.stage[server, updater] == "saving"))
        s.forget_update(server, updater)

    @action(source="seed 002, UpdateTimestamp: saveTimestamp fails; facts 2.2")
    def lose_save(s, server: Server, updater: Updater) -> None:
        """The save is applied and its answer is lost; its sender may have ended before."""
        require((s.stage[server, updater] == "saving") & s.may_save(server))
        s.store_end(s.update_next[server, updater] + s.interval)
        s.forget_update(server, updater)

    def forget_update(s, server: Server, updater: Updater) -> None:
        s.stage[server, updater] = "idle"
        s.update_next[server, updater] = 0

    @action(fairness="weak", source="seed 002, UpdateTimestamp: StorePointer")
    def publish(s, server: Server, updater: Updater) -> None:
        """The next object is published by a plain store."""
        require(s.serves(server) & (s.stage[server, updater] == "publishing"))
        s.publish_object(server, s.update_next[server, updater])
        s.forget_update(server, updater)

    # ---- calls ----

    @action(source="seed 002, GenerateTSO")
    def begin(s, call: Call, server: Server, count: Logical) -> None:
        """A client asks a server for a batch."""
        require((s.call[call] == "new") & s.runs(server))
        require(count >= 1)
        s.call[call] = "begun"
        s.at[call] = server
        s.count[call] = count
        s.precedes = each(
            s.Call, s.Call, lambda a, b: ite(b == call, s.call[a] == "answered", s.precedes[a, b])
        )

    @action(fairness="weak", source="seed 002, GenerateTSO: LoadPointer")
    def load_object(s, call: Call) -> None:
        """The call reads the pointer to the published object."""
        require((s.call[call] == "begun") & s.serves(s.at[call]))
        s.object[call] = s.current[s.at[call]]
        s.call[call] = "loaded"

    @action(fairness="weak", source="seed 002, GenerateTSO: AddInt64; facts 2.3")
    def allocate(s, call: Call) -> None:
        """It adds its count to the counter and has its batch, or tries again after an overflow."""
        require((s.call[call] == "loaded") & s.serves(s.at[call]))
        s.add(call)

    def add(s, call: Call) -> None:
        """The atomic addition, and the outcome of the call."""
        server = s.at[call]
        total = s.logical[server, s.object[call]] + s.count[call]
        fits = s.fits(total)
        s.logical[server, s.object[call]] = s.counted(total)
        s.last[call] = ite(fits, total, 0)
        s.object[call] = ite(fits, s.object[call], 0)
        s.call[call] = ite(fits, "answered", "begun")

    def fits(s, total: Logical) -> Bool:
        """The counter has not overflowed."""
        return total < s.max_logical

    def counted(s, total: Logical) -> Logical:
        return minimum(total, s.max_logical)

    @action(source="seed 002, GenerateTSO: ten tries")
    def fail(s, call: Call) -> None:
        """The call gives up, or its server has ended."""
        require(one_of(s.call[call], "begun", "loaded"))
        s.call[call] = "failed"
        s.object[call] = 0

    # ---- the end of a process ----

    @action(source="facts 2.4")
    def crash(s, server: Server) -> None:
        """The process ends: it crashes, or has noticed that its lease ends."""
        require(s.runs(server))
        s.end(server)

    def end(s, server: Server) -> None:
        """Its memory is lost; a save that was sent is not."""
        s.role[server] = "stopped"
        s.forget_memory(server)

    def forget_memory(s, server: Server) -> None:
        """The state that only the process knew is removed."""
        s.base[server] = 0
        s.next[server] = 0
        s.window[server] = 0
        s.current[server] = 0
        s.logical = each(s.Server, s.Time, lambda m, t: ite(m == server, 0, s.logical[m, t]))
        s.update_now = each(s.Server, s.Updater, lambda m, u: ite(m == server, 0, s.update_now[m, u]))
        s.update_next = each(
            s.Server,
            s.Updater,
            lambda m, u: ite((m == server) & (s.stage[m, u] != "saving"), 0, s.update_next[m, u]),
        )
        s.stage = each(
            s.Server,
            s.Updater,
            lambda m, u: ite((m == server) & (s.stage[m, u] != "saving"), "idle", s.stage[m, u]),
        )
