"""The timestamp oracle with several allocators, as it was first written in TLA+, Promela and Murphi."""

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
    each,
    everywhere,
    forall,
    implies,
    invariant,
    ite,
    minimum,
    one_of,
    option,
    require,
    when,
)


class Tso(Protocol):
    """Allocators share a window that is saved in a linearisable store. Clocks are skewed, processes crash,
    and a leader that has lost its lease runs on.

    A timestamp is a physical part, in ticks, and a logical part that counts within a tick.
    """

    Process: TypeAlias = Sort
    Tick: TypeAlias = Nat
    Logical: TypeAlias = Nat
    Place: TypeAlias = Enum["down", "load", "first_save", "save", "first_publish", "publish", "up"]

    last_tick: Tick = constant()
    """Time ends here."""
    highest: Tick = constant()
    """No window ends beyond this."""
    overflow: Logical = constant()
    """The logical part stays below."""
    skew: Tick = option(1)
    window: Tick = option(2)
    """Length of the window that is saved ahead."""
    largest_batch: Logical = option(2)
    FENCED_SAVE: Bool = option(True)
    """The store refuses a process that has lost the lease."""
    FENCED_GENERATE: Bool = option(True)
    """A process that has lost the lease hands out nothing."""

    now: Tick = 0
    stored: Tick = 0
    leads: Set[Process] = everywhere(False)
    place: Map[Process, Place] = everywhere("down")
    physical: Map[Process, Tick] = everywhere(0)
    logical: Map[Process, Logical] = everywhere(0)
    saved: Map[Process, Tick] = everywhere(0)
    following: Map[Process, Tick] = everywhere(0)
    latest_physical: Tick = 0
    latest_logical: Logical = 0
    grows: Bool = True

    def may_show(s, reading: Tick) -> Bool:
        """A clock may show this now."""
        return (reading >= s.now - s.skew) & (reading <= s.now + s.skew)

    def saves(s, p: Process) -> Bool:
        """The process is about to write the window to the store."""
        return one_of(s.place[p], "first_save", "save")

    def serves(s, p: Process) -> Bool:
        """The process has published a physical part."""
        return one_of(s.place[p], "up", "save", "publish")

    def may_save(s, p: Process) -> Bool:
        """The store accepts a write of the process."""
        return s.leads[p] | ~s.FENCED_SAVE

    def is_latest(s, physical: Tick, logical: Logical) -> Bool:
        """This timestamp is greater than all that were handed out."""
        return (physical > s.latest_physical) | (
            (physical == s.latest_physical) & (logical > s.latest_logical)
        )

    @action
    def tick(s) -> None:
        """Time passes."""
        require(s.now < s.last_tick)
        s.now = s.now + 1

    @action
    def elect(s, p: Process) -> None:
        """The lease goes to a process; the one that had it is not stopped."""
        require(s.place[p] == "down")
        s.leads = each(s.Process, lambda q: q == p)
        s.place[p] = "load"

    @action
    def crash(s, p: Process) -> None:
        """A process forgets everything."""
        require(s.place[p] != "down")
        s.place[p] = "down"
        s.physical[p] = 0
        s.logical[p] = 0
        s.saved[p] = 0
        s.following[p] = 0

    @action
    def load(s, p: Process, reading: Tick) -> None:
        """A new leader reads the store and its clock, and begins beyond both."""
        require((s.place[p] == "load") & s.may_show(reading))
        s.following[p] = ite(reading > s.stored, reading, s.stored + 1)
        require(s.following[p] + s.window <= s.highest)
        s.place[p] = "first_save"

    @action
    def save(s, p: Process) -> None:
        """The store accepts the end of a new window."""
        require(s.saves(p) & s.may_save(p))
        s.stored = s.following[p] + s.window
        s.saved[p] = s.stored
        s.place[p] = ite(s.place[p] == "first_save", "first_publish", "publish")

    @action
    def fail_to_save(s, p: Process, applied: Bool) -> None:
        """The store answers with an error, and the write may be applied all the same."""
        require(s.saves(p))
        with when(applied):
            require(s.may_save(p))
            s.stored = s.following[p] + s.window
        s.place[p] = ite(s.place[p] == "first_save", "down", "up")
        s.following[p] = 0

    @action
    def publish(s, p: Process) -> None:
        """The new physical part is used from now on."""
        require(one_of(s.place[p], "first_publish", "publish"))
        s.physical[p] = s.following[p]
        s.logical[p] = 0
        s.following[p] = 0
        s.place[p] = "up"

    @action
    def advance(s, p: Process, reading: Tick) -> None:
        """Choose the next physical part: the clock's if it is ahead, else one more if the counter is half
        used; save first if the window is nearly used up.
        """
        require((s.place[p] == "up") & s.may_show(reading))
        ahead = reading > s.physical[p] + 1
        require(ahead | (s.logical[p] > s.overflow // 2))
        s.following[p] = ite(ahead, reading, s.physical[p] + 1)
        s.place[p] = "publish"
        with when(s.saved[p] <= s.following[p] + 1):
            require(s.following[p] + s.window <= s.highest)
            s.place[p] = "save"

    @action
    def generate(s, p: Process, batch: Logical) -> None:
        """Hand out a batch of timestamps, or nothing if the counter overflows."""
        require((batch >= 1) & (batch <= s.largest_batch))
        require(s.serves(p) & (s.leads[p] | ~s.FENCED_GENERATE))
        require(s.logical[p] < s.overflow)
        physical, first, last = s.physical[p], s.logical[p] + 1, s.logical[p] + batch
        with when(last < s.overflow):
            s.grows = s.grows & s.is_latest(physical, first)
            with when(s.is_latest(physical, last)):
                s.latest_physical = physical
                s.latest_logical = last
        s.logical[p] = minimum(last, s.overflow)

    @invariant()
    def timestamps_grow(s) -> Bool:
        """Every timestamp is greater than all before."""
        return s.grows

    @invariant()
    def within_the_window(s) -> Bool:
        """The published physical part stays below what the process saved."""
        return forall(s.Process, lambda p: implies(s.serves(p), s.physical[p] < s.saved[p]))

    @invariant()
    def below_the_store(s) -> Bool:
        """Nothing was handed out at or above the stored end of the window."""
        return (s.latest_physical < s.stored) | (s.latest_physical == 0)


class Unfenced(Tso):
    """A deposed leader saves windows and hands out timestamps."""

    FENCED_SAVE = False
    FENCED_GENERATE = False


class UnfencedSave(Tso):
    """A deposed leader saves windows."""

    FENCED_SAVE = False


class UnfencedGenerate(Tso):
    """A deposed leader hands out timestamps."""

    FENCED_GENERATE = False
