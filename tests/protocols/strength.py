"""Protocols each part of whose claims matters, and variants with a part that says nothing."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import (
    Bool,
    Nat,
    Protocol,
    TypeAlias,
    action,
    implies,
    invariant,
    leads_to,
    lemma,
    require,
)


class Tank(Protocol, name="tank"):
    """Something is filled while it is open; the last drop closes it."""

    Level: TypeAlias = Nat

    open: Bool = True
    locked: Bool = False
    level: Level = 0

    @action
    def fill(s) -> None:
        """Fill it."""
        require(s.open)
        s.level = s.level + 1
        s.open = s.level < 2

    @action
    def lock(s) -> None:
        """Lock what is closed."""
        require(~s.open)
        s.locked = True

    @invariant()
    def within(s) -> Bool:
        """What is open is not full, and not locked."""
        return implies(s.open, (s.level < 2) & ~s.locked)


@mutant(killer="tank.within", source="a test", instance="small")
class NeverCloses(Tank):
    """It stays open."""

    def fill(s) -> None:
        require(s.open)
        s.level = s.level + 1


@mutant(killer="tank.within", source="a test", instance="small")
class LocksEarly(Tank):
    """What is open is locked."""

    def lock(s) -> None:
        s.locked = True


class IdleConjunct(Tank):
    """The claim seems to say more."""

    def within(s) -> Bool:
        return implies(s.open, (s.level < 2) & ~s.locked & (s.level < 3))


class IdleHypothesis(Tank):
    """The claim seems to be about less."""

    def within(s) -> Bool:
        return implies(s.open & (s.level < 3), (s.level < 2) & ~s.locked)


class Errand(Protocol, name="errand"):
    """It is asked for, done, and then told."""

    asked: Bool = False
    done: Bool = False
    told: Bool = False

    @action
    def ask(s) -> None:
        """Ask for it."""
        require(~s.asked)
        s.asked = True

    @action(fairness="weak")
    def work(s) -> None:
        """Do it."""
        require(s.asked & ~s.done)
        s.done = True

    @action
    def tell(s) -> None:
        """Say that it is done."""
        require(s.done & ~s.told)
        s.told = True

    @invariant()
    def told_is_asked(s) -> Bool:
        """Nothing is told that was not asked for."""
        return implies(s.told, s.asked)

    @lemma()
    def done_is_asked(s) -> Bool:
        """Nothing is done that was not asked for."""
        return implies(s.done, s.asked)

    @leads_to()
    def it_ends(s) -> tuple[Bool, Bool]:
        """What is asked for is done."""
        return s.asked, s.done


class TooMuch(Errand):
    """The same, with a hypothesis, a fairness and a lemma that nothing needs."""

    @action(fairness="weak")
    def tell(s) -> None:
        require(s.done & ~s.told)
        s.told = True

    @lemma()
    def told_is_done(s) -> Bool:
        """Nothing is told that was not done."""
        return implies(s.told, s.done)

    @leads_to(without=("ask",))
    def it_ends(s) -> tuple[Bool, Bool]:
        """What is asked for, and not told, is done."""
        return s.asked & ~s.told, s.done
