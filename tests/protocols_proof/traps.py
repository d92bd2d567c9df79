"""Protocols about which a careless prover is wrong: each has one claim that is false."""

from tidemark.spec.language import (
    Bool,
    Enum,
    Int,
    Map,
    Nat,
    Protocol,
    Self,
    Set,
    Sort,
    TypeAlias,
    action,
    anything,
    assumption,
    constant,
    count,
    each,
    everywhere,
    exists,
    forall,
    greatest,
    implies,
    initially,
    invariant,
    ite,
    least,
    lemma,
    maximum,
    option,
    require,
    transition_invariant,
)


class SecondPart(Protocol):
    """Only the second part of the claim is broken."""

    Room: TypeAlias = Sort
    lit: Map[Room, Bool] = everywhere(False)
    known: Map[Room, Bool] = everywhere(False)
    spoilt: Map[Room, Bool] = everywhere(False)

    @action
    def light(s, r: Room) -> None:
        """A light that is known of."""
        require(~s.spoilt[r])
        s.lit[r] = True
        s.known[r] = True

    @action
    def spoil(s, r: Room) -> None:
        """Of this the claim says that it does not happen."""
        require(s.lit[r])
        s.spoilt[r] = True

    @invariant()
    def known_and_sound(s) -> Bool:
        """False: a room that is lit may be spoilt."""
        return forall(s.Room, lambda r: implies(s.lit[r], s.known[r] & ~s.spoilt[r]))


class EmptyShelves(Protocol):
    """A number in a map leaves its type: nothing that assumes the type is proved."""

    Shelf: TypeAlias = Sort
    Amount: TypeAlias = Nat
    stock: Map[Shelf, Amount] = everywhere(1)
    sold: Bool = False

    @action
    def sell(s, shelf: Shelf) -> None:
        """Also what is not there."""
        s.stock[shelf] = s.stock[shelf] - 1
        s.sold = True

    @invariant()
    def sold_means_less(s) -> Bool:
        """Its obligations are decided by their form; what is wrong is seen at the type only."""
        return implies(~s.sold, forall(s.Shelf, lambda shelf: s.stock[shelf] == 1))


class AnyBeginning(Protocol):
    """The claim is kept by each step, and need not hold at the start."""

    lit: Bool = anything
    turns: Bool = False

    @action
    def turn(s) -> None:
        """Touches nothing that matters."""
        s.turns = ~s.turns

    @invariant()
    def dark(s) -> Bool:
        """False: it may be lit at the start."""
        return ~s.lit


class Copies(Protocol):
    """After a step, one claim says what another one says before it; and that one is false."""

    one: Bool = False
    two: Bool = False

    @action
    def copy(s) -> None:
        """The second one into the first one."""
        s.one = s.two

    @action
    def set(s) -> None:
        """The second one."""
        s.two = True

    @invariant()
    def one_is_not_set(s) -> Bool:
        """False, since the second one is set."""
        return ~s.one

    @lemma()
    def two_is_not_set(s) -> Bool:
        """False."""
        return ~s.two


class ThirdState(Protocol):
    """A run of two steps breaks the claim, and no three states in a row satisfy it."""

    Place: TypeAlias = Enum["first", "second", "third"]
    at: Place = "first"

    @action
    def leave(s) -> None:
        """From the first place."""
        require(s.at == "first")
        s.at = "second"

    @action
    def arrive(s) -> None:
        """At the third one."""
        require(s.at == "second")
        s.at = "third"

    @invariant()
    def never_arrives(s) -> Bool:
        """False."""
        return s.at != "third"


class BelowZero(Protocol):
    """A number that leaves its type is copied; that it is not negative is taken for its type's word."""

    Amount: TypeAlias = Nat
    spare: Amount = 0
    low: Amount = 0
    high: Amount = 0

    @action
    def drop(s) -> None:
        """Also below zero."""
        s.spare = s.spare - 1

    @action
    def copy(s) -> None:
        """The lower one begins anew."""
        s.high = s.spare
        s.low = 0

    @invariant()
    def in_order(s) -> Bool:
        """False of numbers below zero."""
        return s.low <= s.high


class Switches(Protocol):
    """One switch is never on: a step sets it to what both are."""

    one: Bool = False
    two: Bool = False

    @action
    def toggle(s) -> None:
        """The second one."""
        s.two = ~s.two

    @action
    def move(s) -> None:
        """Needs a proof: the claim of the state before."""
        s.one = s.one & s.two

    @invariant()
    def one_is_off(s) -> Bool:
        """True."""
        return ~s.one


class OtherSwitches(Switches):
    """The same guards, claims and variables; the step sets it to what either is."""

    @action
    def move(s) -> None:
        """Nothing but the effect is another one."""
        s.one = s.one | s.two


class Less(Protocol):
    """A number is counted down to zero; the claim is true of the integers."""

    Amount: TypeAlias = Nat
    left: Amount = 1

    @action
    def take(s) -> None:
        """One less."""
        require(s.left > 0)
        s.left = s.left - 1

    @invariant()
    def one_is_lower(s) -> Bool:
        """False at zero."""
        return exists(s.Amount, lambda n: n < s.left)


class Flush(Protocol):
    """Rows of a log become durable segment by segment; a checkpoint follows the earliest one that is not."""

    Segment: TypeAlias = Sort
    Position: TypeAlias = Nat
    Row: TypeAlias = Enum["absent", "buffered", "durable"]

    of: Map[Position, Segment] = constant()
    row: Map[Position, Row] = everywhere("absent")
    consumed: Position = 0
    checkpoint: Position = 0

    @action
    def consume(s) -> None:
        """Take the next row."""
        s.consumed = s.consumed + 1
        s.row[s.consumed] = "buffered"

    def waits(s, p: Position, segment: Segment) -> Bool:
        """The row is to be written with its segment."""
        return (s.row[p] == "buffered") & (s.of[p] == segment)

    @action
    def sync(s, segment: Segment) -> None:
        """Make the rows of a segment durable."""
        require(exists(s.Position, lambda p: s.waits(p, segment)))
        s.row = each(s.Position, lambda p: ite(s.waits(p, segment), "durable", s.row[p]))

    @action
    def advance(s) -> None:
        """Move the checkpoint."""
        s.checkpoint = least(s.Position, lambda p: s.row[p] == "buffered", default=s.consumed + 1) - 1

    @invariant()
    def safe(s) -> Bool:
        """Every row up to the checkpoint is durable."""
        return forall(s.Position, lambda p: implies((p >= 1) & (p <= s.checkpoint), s.row[p] == "durable"))

    @transition_invariant()
    def never_back(before, after: Self) -> Bool:
        """The checkpoint never goes back."""
        return after.checkpoint >= before.checkpoint

    @lemma()
    def rows_are_consumed(s) -> Bool:
        """Exactly the rows up to the last one consumed are there."""
        return forall(s.Position, lambda p: (s.row[p] != "absent") == ((p >= 1) & (p <= s.consumed)))

    @lemma()
    def checkpoint_is_consumed(s) -> Bool:
        """The checkpoint is at most the last row consumed."""
        return s.checkpoint <= s.consumed


class GreatestDurable(Flush):
    """Broken: the checkpoint is the greatest durable row."""

    def advance(s) -> None:
        s.checkpoint = greatest(s.Position, lambda p: s.row[p] == "durable", upto=s.consumed, default=0)


class Cycle(Protocol):
    """Counts 0, 1, 2, 0: that 5 is never shown is 3-inductive and no less."""

    Value: TypeAlias = Nat
    shown: Value = 0

    @action
    def tick(s) -> None:
        """The next value."""
        s.shown = ite(s.shown == 2, 0, s.shown + 1)

    @invariant()
    def never_five(s) -> Bool:
        """5 is never shown."""
        return s.shown != 5


class Even(Cycle):
    """Counts in steps of two: that 5 is never shown follows from no bound on the number."""

    def tick(s) -> None:
        s.shown = s.shown + 2


class Limited(Protocol):
    """Counts beyond a limit that only an instance has a value for."""

    Value: TypeAlias = Nat
    limit: Value = constant()
    shown: Value = 0
    before: Value = 0

    @action
    def tick(s) -> None:
        """The next value."""
        s.before = s.shown
        s.shown = s.shown + 1

    @invariant()
    def within(s) -> Bool:
        """At most the limit is shown."""
        return s.shown <= s.limit

    @invariant()
    def follows(s) -> Bool:
        """One after the other, up to the limit: true of no state that was not reached."""
        return (s.shown > s.limit) | (s.before <= s.shown)

    @transition_invariant()
    def up_to_the_limit(before, after: Self) -> Bool:
        """No step goes beyond the limit."""
        return (after.shown <= before.limit) | (after.shown == before.shown)


class Below(Protocol):
    """Takes one away, whether or not there is one."""

    Value: TypeAlias = Nat
    left: Value = 2
    taken: Bool = False

    @action
    def take(s) -> None:
        """Take one away."""
        s.left = s.left - 1
        s.taken = True

    @invariant()
    def few(s) -> Bool:
        """At most 2 are left."""
        return s.left <= 2


class Guarded(Below):
    """Takes one away if there is one."""

    def take(s) -> None:
        require(s.left > 0)
        super().take()


class NeverBelow(Protocol):
    """Takes one away as long as there is one, which no claim says."""

    Value: TypeAlias = Nat
    left: Value = 2
    none: Bool = False

    @action
    def take(s) -> None:
        """Take one away."""
        require(~s.none)
        s.left = s.left - 1
        s.none = s.left == 1

    @invariant()
    def few(s) -> Bool:
        """At most 2 are left."""
        return s.left <= 2

    @invariant()
    def none_is_marked(s) -> Bool:
        """Says too little."""
        return implies(s.left == 0, s.none)


class Contradiction(Guarded):
    """An assumption that no constant satisfies: everything follows."""

    LIMIT: Bool = constant()

    @assumption()
    def both(s) -> Bool:
        """The limit is there and is not there."""
        return exists(s.Value, lambda v: s.LIMIT & (v < 0))

    @invariant()
    def wrong(s) -> Bool:
        """All are left."""
        return s.left == 2


class DeadAction(Guarded):
    """An action whose guard contradicts an invariant."""

    @action
    def never(s) -> None:
        """Cannot happen."""
        require(s.left > 2)
        s.taken = False


class Counting(Protocol):
    """Members join, at most two of them; and a count that a proof cannot make."""

    Member: TypeAlias = Sort
    MANY: Bool = option(False)
    joined: Set[Member] = everywhere(False)
    full: Bool = False

    @action
    def join(s, m: Member) -> None:
        """Join while there is room."""
        require(count(s.Member, lambda x: s.joined[x]) < 2)
        s.joined[m] = True

    @action
    def fill(s) -> None:
        """Note that it is full."""
        require(count(s.Member, lambda x: s.joined[x]) == ite(s.MANY, 17, 2))
        s.full = True

    @invariant()
    def at_most_two(s) -> Bool:
        """No three have joined."""
        return count(s.Member, lambda x: s.joined[x]) <= 2


class CountingMany(Counting):
    """Compares a count with 17."""

    MANY = True


class Signs(Protocol):
    """Signed numbers, several initial states, division, equality of maps, a read out of range."""

    Level: TypeAlias = Int
    Place: TypeAlias = Nat
    Side: TypeAlias = Enum["left", "right"]

    level: Level = anything
    height: Map[Side, Level] = everywhere(-1)
    other: Map[Side, Level] = everywhere(-1)
    row: Map[Place, Bool] = everywhere(False)
    top: Place = 0

    @initially
    def small(s) -> Bool:
        return (s.level >= -2) & (s.level <= 2)

    @action
    def halve(s) -> None:
        """Towards minus infinity."""
        s.level = s.level // 2

    @action
    def copy(s, side: Side) -> None:
        """One side takes the other's height."""
        require(s.height == s.other)
        s.height[side] = maximum(s.other[side], s.level % 3 - 1)
        s.other = each(s.Side, lambda k: s.height[k])

    @action
    def mark(s, p: Place) -> None:
        """The place before is marked already, or is none."""
        require((p == 0) | s.row[p - 1])
        s.row[p] = True
        s.top = maximum(s.top, p)

    @invariant()
    def level_is_small(s) -> Bool:
        """The level stays between -2 and 2."""
        return (s.level >= -2) & (s.level <= 2)

    @invariant()
    def sides_agree(s) -> Bool:
        """Both maps are the same."""
        return s.height == s.other

    @invariant()
    def nothing_before_the_first(s) -> Bool:
        """No place before the first is marked, whatever is marked."""
        return ~s.row[s.top - s.top - 1]

    @invariant()
    def heights(s) -> Bool:
        """Heights lie between -1 and 1."""
        return forall(s.Side, lambda k: (s.height[k] >= -1) & (s.height[k] <= 1))

    @invariant()
    def no_gap(s) -> Bool:
        """Marked places form a range from 0 on."""
        return forall(s.Place, s.Place, lambda p, q: implies(s.row[p] & (q < p), s.row[q]))


class Crowded(Protocol):
    """More things have a turn of their own than a small instance has turns."""

    Guest: TypeAlias = Sort
    Waiter: TypeAlias = Sort
    Turn: TypeAlias = Nat

    place: Map[Guest, Turn] = constant()
    pause: Map[Waiter, Turn] = constant()
    turn: Turn = 0
    served: Set[Guest] = everywhere(False)

    @assumption()
    def turns_are_apart(s) -> Bool:
        """No two of them have the same turn."""
        guests = forall(s.Guest, s.Guest, lambda a, b: (a == b) | (s.place[a] != s.place[b]))
        waiters = forall(s.Waiter, s.Waiter, lambda a, b: (a == b) | (s.pause[a] != s.pause[b]))
        return guests & waiters & forall(s.Guest, s.Waiter, lambda a, b: s.place[a] != s.pause[b])

    @action
    def serve(s, g: Guest) -> None:
        """It is the turn of a guest."""
        require(s.turn == s.place[g])
        s.served[g] = True
        s.turn = s.turn + 1

    @action
    def rest(s, w: Waiter) -> None:
        """It is the turn of a waiter."""
        require(s.turn == s.pause[w])
        s.turn = s.turn + 1

    @invariant()
    def all_before_are_served(s) -> Bool:
        """Who had his turn was served, and nobody else."""
        return forall(s.Guest, lambda g: s.served[g] == (s.place[g] < s.turn))
