"""Claims about steps to states that are known, and about steps that may leave the bounds."""

from tidemark.spec.language import (
    Nat,
    Protocol,
    action,
    invariant,
    ite,
    leads_to,
    require,
    transition_invariant,
)


class Wraps(Protocol):
    """Steps that break a claim about steps: one leads to a state that is known, one may leave the bounds."""

    Hour = Nat()
    Slot = Nat()
    hour: Hour = 0
    slot: Slot = 0

    @action
    def tick(s):
        """From the last hour to the first one, which was seen before."""
        s.hour = ite(s.hour == 3, 0, s.hour + 1)

    @action
    def jump(s, slot: Slot):
        """Twice as far, perhaps beyond the bounds."""
        require(s.slot == slot)
        s.slot = 2 * slot + 1

    @transition_invariant()
    def hours_never_go_back(before, after):
        """False at midnight."""
        return after.hour >= before.hour

    @transition_invariant()
    def slots_are_taken_in_order(before, after):
        """False from the second slot on."""
        return after.slot <= before.slot + 1

    @leads_to()
    def a_negative_hour_is_repaired(s):
        """Says nothing: there is no such hour."""
        return s.hour > 8, s.hour == 0


class BornBroken(Protocol):
    """A claim is false at the start, and after a step it is not."""

    Hour = Nat()
    hour: Hour = 0

    @action
    def tick(s):
        """Time goes on."""
        s.hour = s.hour + 1

    @invariant()
    def begun(s):
        """False at the start only."""
        return s.hour > 0
