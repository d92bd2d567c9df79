"""Protocols whose steps hardly touch each other: what partial-order reduction is for."""

from tidemark.spec.language import (
    Bool,
    Enum,
    Map,
    Nat,
    Protocol,
    Sort,
    action,
    forall,
    implies,
    invariant,
    require,
)


class Rooms(Protocol):
    """In each room somebody counts to three, and then shuts the door."""

    Room = Sort()
    Count = Nat()
    counted: Map[Room, Count] = 0
    shut: Map[Room, Bool] = False

    @action
    def count_on(s, r: Room):
        """One more."""
        require(s.counted[r] < 3)
        s.counted[r] += 1

    @action
    def shut_door(s, r: Room):
        """The last thing."""
        require(s.counted[r] == 3)
        require(~s.shut[r])
        s.shut[r] = True

    @invariant()
    def shut_means_counted(s):
        """Nobody counts behind a shut door."""
        return forall(s.Room, lambda r: implies(s.shut[r], s.counted[r] == 3))


class Waste(Rooms):
    """A lamp goes on and off for ever beside the rooms: no step of theirs may be put off because of it."""

    lamp: Bool = False

    @action
    def flip(s):
        """Touches nothing that the rooms need."""
        s.lamp = ~s.lamp

    @invariant()
    def some_door_is_open(s):
        """Wrong: in the end all doors are shut."""
        return ~forall(s.Room, lambda r: s.shut[r])


class Painted(Protocol):
    """Two painters who do not look: the last one decides the colour."""

    Colour = Enum("bare", "red", "blue")
    colour: Colour = "bare"
    red_came: Bool = False
    blue_came: Bool = False

    @action
    def paint_red(s):
        """Over whatever is there."""
        require(~s.red_came)
        s.red_came = True
        s.colour = "red"

    @action
    def paint_blue(s):
        """Over whatever is there."""
        require(~s.blue_came)
        s.blue_came = True
        s.colour = "blue"

    @invariant()
    def painted_by_somebody(s):
        """It does not paint itself."""
        return implies(s.colour == "red", s.red_came)


class Signals(Protocol):
    """Steps that touch nothing in common, and a claim that reads what two of them write."""

    warm: Bool = False
    green: Bool = False
    moving: Bool = False

    @action
    def warm_up(s):
        """Of no interest to anybody."""
        require(~s.warm)
        s.warm = True

    @action
    def turn_green(s):
        """The signal."""
        require(~s.green)
        s.green = True

    @action
    def move(s):
        """The train, which does not look."""
        require(~s.moving)
        s.moving = True

    @invariant()
    def moves_at_green(s):
        """Wrong: the train may be first."""
        return implies(s.moving, s.green)


class Shed(Protocol):
    """A step that is not enabled yet is in the way of another one: the one that enables it comes first."""

    Note = Enum("nothing", "open", "swept")
    note: Note = "nothing"
    opened: Bool = False
    swept: Bool = False
    inside: Bool = False
    locked: Bool = False

    @action
    def open(s):
        """Leaves a note, over another one."""
        require(~s.opened)
        s.opened = True
        s.note = "open"

    @action
    def sweep(s):
        """Leaves a note, too."""
        require(~s.swept)
        s.swept = True
        s.note = "swept"

    @action
    def lock(s):
        """Nobody comes in any more."""
        require(~s.inside & ~s.locked)
        s.locked = True

    @action
    def go_in(s):
        """Nobody locks any more."""
        require(s.opened & ~s.locked & ~s.inside)
        s.inside = True

    @invariant()
    def inside_is_open(s):
        """Nobody goes through a shut door."""
        return implies(s.inside, s.opened)


class Drawers(Protocol):
    """Somebody fills the drawer whose number is written down; somebody else looks into the second one."""

    Number = Nat()
    full: Map[Number, Bool] = False
    number: Number = 1
    filled: Bool = False
    looked: Bool = False

    @action
    def fill(s):
        """The drawer with the number."""
        require(~s.filled)
        s.filled = True
        s.full[s.number] = True

    @action
    def look(s):
        """As long as it is empty."""
        require(~s.looked & ~s.full[1])
        s.looked = True

    @invariant()
    def filled_is_full(s):
        """The drawer is the one with the number."""
        return implies(s.filled, s.full[s.number])
