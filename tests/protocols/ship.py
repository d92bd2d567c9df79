"""A protocol with every part that can be pinned, and variants that differ from it in one thing each."""

from tidemark.spec.language import (
    Bool,
    Enum,
    Map,
    Nat,
    Protocol,
    Self,
    Sort,
    TypeAlias,
    action,
    anything,
    assumption,
    constant,
    everywhere,
    exists,
    forall,
    implies,
    initially,
    invariant,
    leads_to,
    option,
    reachable,
    removed,
    require,
    transition_invariant,
)


class Base(Protocol, name="ship"):
    """Goods are loaded."""

    Place: TypeAlias = Sort
    Amount: TypeAlias = Nat
    Door: TypeAlias = Enum["open", "shut"]

    LIMIT: Amount = option(2)
    HONEST: Bool = option(True, assumes="goods are what they are called")
    weight: Map[Place, Amount] = constant()

    door: Door = "open"
    load: Map[Place, Amount] = everywhere(0)
    start: Place = anything

    @initially
    def begins_light(s) -> Bool:
        """The first place is light."""
        return s.weight[s.start] <= 1

    @assumption()
    def something_is_heavy(s) -> Bool:
        """Weights differ."""
        return exists(s.Place, lambda p: s.weight[p] >= 2)

    @action(fairness="weak", relies_on=("dock.open",))
    def put(s, place: Place, amount: Amount) -> None:
        """Load."""
        require(s.HONEST & (s.door == "open"))
        require(s.load[place] + amount <= s.LIMIT)
        s.load[place] = s.load[place] + amount

    @action
    def shut(s) -> None:
        """Go."""
        require(s.door == "open")
        s.door = "shut"

    @invariant()
    def never_too_much(s) -> Bool:
        """There is a limit."""
        return forall(s.Place, lambda p: implies(s.weight[p] >= 1, s.load[p] <= s.LIMIT))

    @transition_invariant()
    def nothing_falls(before, after: Self) -> Bool:
        """Loads grow."""
        return forall(after.Place, lambda p: after.load[p] >= before.load[p])

    @leads_to(without=("put",))
    def it_goes(s, place: Place) -> tuple[Bool, Bool]:
        """It goes in the end."""
        return s.load[place] >= 1, s.door == "shut"

    @reachable(after="put")
    def a_full_place(before, after: Self, place: Place) -> Bool:
        """A place can be full."""
        return (before.load[place] == 0) & (after.load[place] == after.LIMIT)


class OtherOption(Base):
    LIMIT = 3


class OtherAssumed(Base):
    HONEST = option(True, assumes="goods are weighed")


class OtherStart(Base):
    door = "shut"


class GivenStart(Base):
    load = anything


class MoreState(Base):
    left: Bool = False

    def shut(s) -> None:
        require(s.door == "open")
        s.door = "shut"
        s.left = True


class OtherInitially(Base):
    def begins_light(s) -> Bool:
        return s.weight[s.start] <= 2


class OtherAssumption(Base):
    def something_is_heavy(s) -> Bool:
        return exists(s.Place, lambda p: s.weight[p] >= 3)


class NoAssumption(Base):
    something_is_heavy = removed


class OtherGuard(Base):
    def shut(s) -> None:
        require((s.door == "open") & s.HONEST)
        s.door = "shut"


class OtherEffect(Base):
    def put(s, place: Base.Place, amount: Base.Amount) -> None:
        require(s.HONEST & (s.door == "open"))
        require(s.load[place] + amount <= s.LIMIT)
        s.load[place] = amount


class OtherParameter(Base):
    def put(s, place: Base.Place) -> None:
        require(s.HONEST & (s.door == "open"))
        require(s.load[place] + 1 <= s.LIMIT)
        s.load[place] = s.load[place] + 1

    a_full_place = removed


class OtherFairness(Base):
    @action(fairness="strong", relies_on=("dock.open",))
    def put(s, place: Base.Place, amount: Base.Amount) -> None:
        super().put(place, amount)


class OtherReliance(Base):
    @action(fairness="weak")
    def put(s, place: Base.Place, amount: Base.Amount) -> None:
        super().put(place, amount)


class WeakerClaim(Base):
    def never_too_much(s) -> Bool:
        return forall(s.Place, lambda p: implies(s.weight[p] >= 2, s.load[p] <= s.LIMIT))


class WeakerStep(Base):
    def nothing_falls(before, after: Self) -> Bool:
        return forall(after.Place, lambda p: after.load[p] >= 0 * before.load[p])


class OtherQuantifier(Base):
    def never_too_much(s) -> Bool:
        return exists(s.Place, lambda p: implies(s.weight[p] >= 1, s.load[p] <= s.LIMIT))


class OtherPremise(Base):
    def it_goes(s, place: Base.Place) -> tuple[Bool, Bool]:
        return s.load[place] >= 2, s.door == "shut"


class OtherConclusion(Base):
    def it_goes(s, place: Base.Place) -> tuple[Bool, Bool]:
        return s.load[place] >= 1, (s.door == "shut") | (s.load[place] >= 2)


class OtherWithout(Base):
    @leads_to()
    def it_goes(s, place: Base.Place) -> tuple[Bool, Bool]:
        return s.load[place] >= 1, s.door == "shut"


class OtherWitness(Base):
    @reachable(after="shut")
    def a_full_place(before, after: Self) -> Bool:
        return exists(after.Place, lambda p: after.load[p] == after.LIMIT)


class PrimedElsewhere(Base):
    def a_full_place(before, after: Self, place: Base.Place) -> Bool:
        return (after.load[place] == 0) & (after.load[place] == after.LIMIT)


class OtherKind(Base):
    @transition_invariant()
    def never_too_much(before, after: Self) -> Bool:
        s = before
        return forall(s.Place, lambda p: implies(s.weight[p] >= 1, s.load[p] <= s.LIMIT))


class OtherWords(Base):
    """The same in other words: nothing that counts."""

    @action(source="somewhere else")
    def shut(s) -> None:
        """Leave now."""
        require(s.door == "open")  # at another place
        s.door = "shut"
