"""The protocol in finer steps, and with other rules around it."""

from tidemark.spec.language import Bool, Set, action, everywhere, ite, require
from tidemark.spec.ownership import Ownership


class OwnerLookedAtFirst(Ownership):
    """The coordinator compares the owner first, and writes the record later."""

    # a request was found to be the owner's, and is not written yet
    looked: Set[Ownership.Tenure] = everywhere(False)

    @action(source="facts 10.1; hazard 22")
    def look(s, t: Ownership.Tenure) -> None:
        """A request of the owner passes."""
        require(super().is_taken(t) & ~s.looked[t])
        s.looked[t] = True

    def is_taken(s, t: Ownership.Tenure) -> Bool:
        return ite(s.CHECKED_AT_ONCE, super().is_taken(t), s.looked[t])

    def record_save(s, t: Ownership.Tenure, segment: Ownership.Segment) -> None:
        super().record_save(t, segment)
        s.looked[t] = False

    def store(s, t: Ownership.Tenure, position: Ownership.Position) -> None:
        super().store(t, position)
        s.looked[t] = False

    def drop(s, t: Ownership.Tenure) -> None:
        super().drop(t)
        s.looked[t] = False


class ReportsOfAll(Ownership):
    """Checkpoints of all nodes are taken, until the channel is dropped; saves only of the owner."""

    def store(s, t: Ownership.Tenure, position: Ownership.Position) -> None:
        require((position > 0) & (position <= s.top[t]) & (s.life == "living"))
        require(s.is_greater(position))
        s.stored = position


class RefusedIsSuccess(Ownership):
    """A node takes the refusal of a save for its success."""

    @action(source="facts 7.6; hazard 22")
    def give_up(s, t: Ownership.Tenure, segment: Ownership.Segment) -> None:
        """The node is refused, and releases the rows."""
        require(s.alive[t] & (s.save[t, segment] == "sent") & ~s.is_taken(t))
        s.save[t, segment] = "taken"
