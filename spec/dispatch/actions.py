"""The dispatchers of one physical channel: packs are divided among virtual channels; state and steps.

Several targets (virtual channels) consume one physical channel. One main dispatcher reads its packs, divides
each by virtual channel and sends every target its part, with the tick also if the part is empty. A target
that takes no pack for too long is split off: it gets a dispatcher of its own, a deputy, that begins at the
start of the pack. A deputy that has caught up is merged: the main dispatcher is paused, then the deputy, and
if both are at the same tick (the second check) the target goes back to the main dispatcher. Targets come with
a position and leave at any time.

Sources: seed 002 (groupingMsgs), facts 5.2, hazard 50, bug B24. This is the protocol as it is *meant*.

How it is cut:

- Ticks are those of the log. A dispatcher reads from tick to tick (``ONE_TICK``: a pack has one tick; with
  pursuit it may have more).
- The main dispatcher takes a pack, and then sends each target its part, one after the other. A deputy has one
  target, and takes and sends a pack in one step, when the target has room.
- ``handed`` are the messages that the dispatchers' streams have read. A pack is complete before it is taken.
- A target has room for one pack. ``slow`` targets need not ever take theirs.
- The main dispatcher begins at or below the least position of the targets that wait for it. A pack that ends
  at or below a target's position is not sent to it.
- To pause the main dispatcher means to wait until its current pack is sent.
- A message that is no row is for all virtual channels of its collection.

Left out: crashes (a consumer that restarts is a new target, with its position), the time that a target may
lag, the seek of a dispatcher's stream (``spec/stream``).
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
    one_of,
    option,
    require,
    when,
)


class DispatchActions(Protocol, name="dispatch"):
    """One physical channel; any number of virtual channels, collections, messages and ticks."""

    Target: TypeAlias = Sort
    Collection: TypeAlias = Sort
    Message: TypeAlias = Sort
    Ts: TypeAlias = Nat
    Stage: TypeAlias = Enum["none", "running", "paused"]
    Place: TypeAlias = Enum["absent", "waiting", "main", "deputy", "gone"]

    ONE_TICK: Bool = option(
        True,
        assumes="A pack of a dispatcher has one tick: no pursuit where targets have different positions.",
    )

    collection: Map[Target, Collection] = constant()
    slow: Set[Target] = constant()
    to: Map[Message, Target] = constant()  # of a row or a delete
    is_ddl: Set[Message] = constant()
    about: Map[Message, Collection] = constant()  # of any other message

    # The log of the physical channel.
    logged: Set[Message] = everywhere(False)
    handed: Set[Message] = everywhere(False)  # the streams have read it
    ts: Map[Message, Ts] = everywhere(0)
    is_tick: Set[Ts] = everywhere(False)
    tick: Ts = 0  # the last one

    # The main dispatcher, and the deputies by target; each at the end of the last pack that it has taken; 0
    # while there is none.
    main: Stage = "none"
    main_at: Ts = 0
    main_from: Ts = 0  # the start of that pack
    owed: Set[Target] = everywhere(False)  # the target's part of that pack is not sent yet
    deputy: Map[Target, Stage] = everywhere("none")
    deputy_at: Map[Target, Ts] = everywhere(0)
    # the merge that is under way has found the deputy at the main's tick
    candidate: Set[Target] = everywhere(False)

    # The targets.
    where: Map[Target, Place] = everywhere("absent")
    begins: Map[Target, Ts] = everywhere(0)  # the position with which it came: its range is above
    position: Map[Target, Ts] = everywhere(0)  # packs at or below it are not sent
    got: Set[Target, Message] = everywhere(False)
    twice: Set[Target, Message] = everywhere(False)
    upto: Map[Target, Ts] = everywhere(0)  # the end of the last pack that it was sent
    full: Set[Target] = everywhere(False)  # it has not taken its last pack

    # ---- helpers ----

    def is_for(s, t: Target, m: Message) -> Bool:
        """The message belongs to the virtual channel."""
        return ite(s.is_ddl[m], s.about[m] == s.collection[t], s.to[m] == t)

    def is_served(s, t: Target) -> Bool:
        return one_of(s.where[t], "waiting", "main", "deputy")

    def is_at_work(s, stage: Stage) -> Bool:
        """A dispatcher in this state takes packs."""
        return stage == "running"

    def is_busy(s) -> Bool:
        """The main dispatcher has a pack that is not sent yet."""
        return exists(s.Target, lambda t: s.owed[t])

    def is_sent(s, t: Target, end: Ts) -> Bool:
        """The skip rule: a pack that ends at or below the target's position is not sent."""
        return end > s.position[t]

    def is_complete(s, start: Ts, end: Ts) -> Bool:
        """All messages between start and end of a pack were read."""
        return forall(
            s.Message,
            lambda m: implies(all_of(s.logged[m], s.ts[m] > start, s.ts[m] <= end), s.handed[m]),
        )

    def is_next(s, at: Ts, upto: Ts) -> Bool:
        """A pack from here may end at this tick."""
        return all_of(
            upto > at,
            s.is_tick[upto],
            ~s.ONE_TICK | ~exists(s.Ts, lambda x: all_of(s.is_tick[x], x > at, x < upto)),
        )

    # ---- the log ----

    @action(source="facts 5.1", relies_on=("timetick.ticks_are_below_all_to_come",))
    def append(s, m: Message, ts: Ts) -> None:
        """A message is in the log."""
        require(~s.logged[m])
        require(ts > s.tick)
        s.logged[m] = True
        s.ts[m] = ts

    @action(source="facts 5.1")
    def send_tick(s, value: Ts) -> None:
        """A tick is in the log. One that is not greater makes no pack."""
        require(value > s.tick)
        s.is_tick[value] = True
        s.tick = value

    @action(fairness="weak", source="facts 5.1")
    def read(s, m: Message) -> None:
        """The streams of the dispatchers come to a message."""
        require(s.logged[m] & ~s.handed[m])
        s.handed[m] = True

    # ---- targets come and go ----

    @action(source="facts 5.2")
    def register(s, t: Target, position: Ts) -> None:
        """A target comes. Its position is the end of a pack, or 0."""
        require(s.where[t] == "absent")
        require((position == 0) | s.is_tick[position])
        s.where[t] = "waiting"
        s.begins[t] = position
        s.position[t] = position
        s.upto[t] = position

    @action(fairness="weak", source="facts 5.2")
    def take(s, t: Target) -> None:
        """The target takes its pack."""
        require(s.full[t] & ~s.slow[t])
        s.full[t] = False

    @action(source="facts 5.2")
    def take_late(s, t: Target) -> None:
        """A slow target takes its pack, or does not."""
        require(s.full[t] & s.slow[t])
        s.full[t] = False

    @action(source="facts 5.2")
    def remove(s, t: Target) -> None:
        """A target leaves. The last one of the main dispatcher ends it."""
        require(s.is_served(t))
        s.where[t] = "gone"
        s.owed[t] = False
        s.full[t] = False
        s.deputy[t] = "none"
        s.deputy_at[t] = 0
        s.candidate[t] = False
        s.end_main()

    def end_main(s) -> None:
        with when(forall(s.Target, lambda t: s.where[t] != "main")):
            s.main = "none"
            s.main_at = 0
            s.main_from = 0

    # ---- dispatchers begin ----

    @action(fairness="weak", source="facts 5.2")
    def build_main(s, at: Ts) -> None:
        """There is no main dispatcher: one is made for all targets that wait, at the least position."""
        require((s.main == "none") & exists(s.Target, lambda t: s.where[t] == "waiting"))
        require(s.is_below_all_who_wait(at))
        s.main = "running"
        s.main_at = at
        s.main_from = at
        s.where = each(s.Target, lambda t: ite(s.where[t] == "waiting", "main", s.where[t]))

    def is_below_all_who_wait(s, at: Ts) -> Bool:
        return exists(s.Target, lambda t: (s.where[t] == "waiting") & (s.position[t] == at)) & forall(
            s.Target, lambda t: implies(s.where[t] == "waiting", at <= s.position[t])
        )

    @action(fairness="weak", source="facts 5.2")
    def start_deputy(s, t: Target) -> None:
        """There is a main dispatcher: a target that waits gets a deputy at its position."""
        require((s.main != "none") & (s.where[t] == "waiting"))
        s.where[t] = "deputy"
        s.deputy[t] = "running"
        s.deputy_at[t] = s.position[t]

    # ---- packs ----

    def deliver(s, t: Target, start: Ts, end: Ts) -> None:
        """The target gets its part of the pack, and the tick."""
        s.twice = each(
            s.Target, s.Message, lambda u, m: s.twice[u, m] | (s.got[u, m] & s.is_part(u, t, m, start, end))
        )
        s.got = each(s.Target, s.Message, lambda u, m: s.got[u, m] | s.is_part(u, t, m, start, end))
        s.upto[t] = end
        s.full[t] = True

    def is_part(s, u: Target, t: Target, m: Message, start: Ts, end: Ts) -> Bool:
        """The message is in the target's part of the pack."""
        return all_of(u == t, s.handed[m], s.is_named(t, m), s.ts[m] > start, s.ts[m] <= end)

    def is_named(s, t: Target, m: Message) -> Bool:
        """The test by which the dispatcher finds the virtual channels of a message."""
        return s.is_for(t, m)

    @action(
        fairness="weak",
        source="facts 5.2; seed 002 (groupingMsgs)",
        relies_on=("stream.packs_leave_nothing_out",),
    )
    def read_main(s, end: Ts) -> None:
        """The main dispatcher takes a pack, and has to send a part to every target below its end."""
        require(s.is_at_work(s.main) & ~s.is_busy())
        require(s.is_next(s.main_at, end))
        require(s.is_complete(s.main_at, end))
        s.main_from = s.main_at
        s.main_at = end
        s.owed = each(s.Target, lambda t: (s.where[t] == "main") & s.is_sent(t, end))

    @action(fairness="weak", source="facts 5.2")
    def send_main(s, t: Target) -> None:
        """The main dispatcher sends a target its part."""
        require(s.owed[t] & ~s.full[t])
        s.owed[t] = False
        s.deliver(t, s.main_from, s.main_at)

    @action(fairness="weak", source="facts 5.2; hazard 50")
    def split(s, t: Target) -> None:
        """A target did not take its last pack in time, and there are others: it waits for a deputy."""
        require(s.owed[t] & s.full[t])
        require(exists(s.Target, lambda u: (u != t) & (s.where[u] == "main")))
        s.owed[t] = False
        s.where[t] = "waiting"
        s.position[t] = s.position_of_a_split(t)

    def position_of_a_split(s, t: Target) -> Ts:
        """Where the deputy begins: at the start of the pack, so that it is sent again."""
        return ite(s.position[t] > s.main_from, s.position[t], s.main_from)

    @action(fairness="weak", source="facts 5.2", relies_on=("stream.packs_leave_nothing_out",))
    def send_deputy(s, t: Target, end: Ts) -> None:
        """A deputy takes a pack and sends it."""
        require(s.is_at_work(s.deputy[t]) & ~s.full[t])
        require(s.is_next(s.deputy_at[t], end))
        require(s.is_complete(s.deputy_at[t], end))
        with when(s.is_sent(t, end)):
            s.deliver(t, s.deputy_at[t], end)
        s.deputy_at[t] = end

    # ---- a merge ----

    @action(fairness="weak", source="facts 5.2; hazard 50")
    def find(s, t: Target) -> None:
        """The first check: a deputy is at the main dispatcher's tick."""
        require((s.main == "running") & (s.deputy[t] == "running") & ~s.candidate[t])
        require(s.deputy_at[t] == s.main_at)
        s.candidate[t] = True

    @action(fairness="weak", source="facts 5.2; hazard 50")
    def pause_main(s) -> None:
        """The main dispatcher is paused as soon as its pack is sent."""
        require((s.main == "running") & ~s.is_busy() & exists(s.Target, lambda t: s.candidate[t]))
        s.main = "paused"

    @action(fairness="weak", source="facts 5.2; hazard 50")
    def pause_deputy(s, t: Target) -> None:
        """A deputy is paused."""
        require((s.main == "paused") & s.candidate[t] & (s.deputy[t] == "running"))
        s.deputy[t] = "paused"

    def is_level(s, t: Target) -> Bool:
        """The second check: deputy and main dispatcher are still at the same tick."""
        return s.deputy_at[t] == s.main_at

    @action(fairness="weak", source="facts 5.2; hazard 50")
    def merge(s, t: Target) -> None:
        """Both are paused: the target moves to the main dispatcher, or its deputy continues."""
        require(s.candidate[t] & (s.deputy[t] == "paused"))
        s.candidate[t] = False
        with when(~s.may_merge(t)):
            s.deputy[t] = "running"
        with when(s.may_merge(t)):
            s.where[t] = "main"
            s.deputy[t] = "none"
            s.deputy_at[t] = 0

    def may_merge(s, t: Target) -> Bool:
        """There is still a main dispatcher, and both are at the same tick."""
        return (s.main == "paused") & s.is_level(t)

    @action(fairness="weak", source="facts 5.2; hazard 50")
    def resume_main(s) -> None:
        """No candidate is left: the main dispatcher continues."""
        require((s.main == "paused") & forall(s.Target, lambda t: ~s.candidate[t]))
        s.main = "running"
