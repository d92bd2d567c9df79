"""A protocol each part of whose claim matters, and variants with a part that says nothing."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import Bool, Nat, Protocol, action, implies, invariant, require


class Tank(Protocol, name="tank"):
    """Something is filled while it is open; the last drop closes it."""

    Level = Nat()

    open: Bool = True
    locked: Bool = False
    level: Level = 0

    @action
    def fill(s):
        """Fill it."""
        require(s.open)
        s.level = s.level + 1
        s.open = s.level < 2

    @action
    def lock(s):
        """Lock what is closed."""
        require(~s.open)
        s.locked = True

    @invariant()
    def within(s):
        """What is open is not full, and not locked."""
        return implies(s.open, (s.level < 2) & ~s.locked)


@mutant(killer="tank.within", source="a test", instance="small")
class NeverCloses(Tank):
    """It stays open."""

    @action
    def fill(s):
        """Fill it."""
        require(s.open)
        s.level = s.level + 1


@mutant(killer="tank.within", source="a test", instance="small")
class LocksEarly(Tank):
    """What is open is locked."""

    @action
    def lock(s):
        """Lock it."""
        s.locked = True


class IdleConjunct(Tank):
    """The claim seems to say more."""

    @invariant()
    def within(s):
        """As before, in more words."""
        return implies(s.open, (s.level < 2) & ~s.locked & (s.level < 3))


class IdleHypothesis(Tank):
    """The claim seems to be about less."""

    @invariant()
    def within(s):
        """As before, in more words."""
        return implies(s.open & (s.level < 3), (s.level < 2) & ~s.locked)
