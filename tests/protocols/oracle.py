"""A timestamp oracle with several allocators and a fence, written before in three other notations.

TLC, Spin and Rumur agree on its counts, so that it measures this engine against theirs.
"""

from spec.language import (
    Bool,
    Enum,
    Map,
    Nat,
    Protocol,
    Set,
    Sort,
    action,
    constant,
    each,
    forall,
    implies,
    invariant,
    ite,
    require,
)


class Oracle(Protocol):
    """Allocator processes, a saved window in a linearisable store, skewed clocks, deposed leaders that run
    on.
    """

    Process = Sort()
    Tick = Nat()
    Logical = Nat()
    Batch = Nat()
    Place = Enum("down", "load", "isave", "usave", "iadv", "uadv", "up")

    last_tick: Tick = constant()
    highest: Tick = constant()
    most: Logical = constant()

    now: Tick = 0
    window: Tick = 0
    owner: Set[Process] = False
    place: Map[Process, Place] = "down"
    physical: Map[Process, Tick] = 0
    logical: Map[Process, Logical] = 0
    saved: Map[Process, Tick] = 0
    following: Map[Process, Tick] = 0
    issued_physical: Tick = 0
    issued_logical: Logical = 0
    monotone: Bool = True

    def reads(s, r):
        """A clock with a skew of one shows r."""
        return (r >= s.now - 1) & (r <= s.now + 1)

    @action
    def tick(s):
        """Time passes."""
        require(s.now < s.last_tick)
        s.now = s.now + 1

    @action
    def elect(s, p: Process):
        """A process takes the lease; the previous owner is not stopped."""
        require(s.place[p] == "down")
        s.owner = each(s.Process, lambda q: q == p)
        s.place[p] = "load"

    @action
    def crash(s, p: Process):
        """A process dies."""
        require(s.place[p] != "down")
        s.place[p] = "down"
        s.physical[p] = 0
        s.logical[p] = 0
        s.saved[p] = 0
        s.following[p] = 0

    @action
    def load(s, p: Process, r: Tick):
        """Read the store and the clock."""
        require((s.place[p] == "load") & s.reads(r))
        following = ite(r - s.window < 1, s.window + 1, r)
        require(following + 2 <= s.highest)
        s.following[p] = following
        s.place[p] = "isave"

    def saving(s, p):
        """About to write the window."""
        return (s.place[p] == "isave") | (s.place[p] == "usave")

    @action
    def save(s, p: Process):
        """The write succeeds."""
        require(s.saving(p) & s.owner[p])
        s.window = s.following[p] + 2
        s.saved[p] = s.following[p] + 2
        s.place[p] = ite(s.place[p] == "isave", "iadv", "uadv")

    @action
    def save_error(s, p: Process, applied: Bool):
        """The write returns an error, applied or not."""
        require(s.saving(p))
        require(~applied | s.owner[p])
        s.window = ite(applied, s.following[p] + 2, s.window)
        s.place[p] = ite(s.place[p] == "isave", "down", "up")
        s.following[p] = 0

    @action
    def advance(s, p: Process):
        """Publish the new physical part."""
        require((s.place[p] == "iadv") | (s.place[p] == "uadv"))
        s.physical[p] = s.following[p]
        s.logical[p] = 0
        s.following[p] = 0
        s.place[p] = "up"

    @action
    def read_clock(s, p: Process, r: Tick):
        """Decide the next physical part."""
        require((s.place[p] == "up") & s.reads(r))
        ahead = r - s.physical[p] > 1
        require(ahead | (s.logical[p] > s.most // 2))
        following = ite(ahead, r, s.physical[p] + 1)
        saves = s.saved[p] - following <= 1
        require(~saves | (following + 2 <= s.highest))
        s.following[p] = following
        s.place[p] = ite(saves, "usave", "uadv")

    @action
    def generate(s, p: Process, c: Batch):
        """Hand out c timestamps, or find that the logical part overflows."""
        require((s.place[p] == "up") | (s.place[p] == "usave") | (s.place[p] == "uadv"))
        require(s.owner[p] & (c >= 1))
        require(s.logical[p] < s.most)
        used, physical = s.logical[p], s.physical[p]
        for batch in (1, 2):
            chosen = (c == batch) & (used + batch < s.most)
            beyond = (physical > s.issued_physical) | (
                (physical == s.issued_physical) & (used + batch > s.issued_logical)
            )
            fresh = (physical > s.issued_physical) | (
                (physical == s.issued_physical) & (used + 1 > s.issued_logical)
            )
            issued_physical, issued_logical = s.issued_physical, s.issued_logical
            s.monotone = ite(chosen, s.monotone & fresh, s.monotone)
            s.issued_physical = ite(chosen & beyond, physical, issued_physical)
            s.issued_logical = ite(chosen & beyond, used + batch, issued_logical)
            s.logical[p] = ite(c == batch, ite(used + batch < s.most, used + batch, s.most), s.logical[p])

    @invariant()
    def timestamps_grow(s):
        """Every timestamp is greater than all before."""
        return s.monotone

    @invariant()
    def within_the_window(s):
        """The published physical part stays below what the process saved."""
        return forall(
            s.Process,
            lambda p: implies(
                (s.place[p] == "up") | (s.place[p] == "usave") | (s.place[p] == "uadv"),
                s.physical[p] < s.saved[p],
            ),
        )

    @invariant()
    def persisted(s):
        """Nothing was issued at or above the stored window."""
        return (s.issued_physical < s.window) | (s.issued_physical == 0)


def size(processes: int, ticks: int, highest: int, most: int):
    """Bounds and constants of an instance."""
    return (
        {"Process": processes, "Tick": max(highest, ticks + 1), "Logical": most, "Batch": 2},
        {"last_tick": ticks, "highest": highest, "most": most},
    )
