"""Protocols whose steps hardly touch each other: what partial-order reduction is for."""

from tidemark.spec.language import Bool, Map, Nat, Protocol, Sort, action, forall, implies, invariant, require


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
