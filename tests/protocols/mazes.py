"""A protocol whose graph an instance draws: what is decided about graphs can be compared on any of them."""

from tidemark.spec.language import Map, Protocol, Set, Sort, action, anything, constant, leads_to


class Maze(Protocol):
    """Somebody walks; each door leads from each spot to the spot that the instance says."""

    Spot = Sort()

    left: Map[Spot, Spot] = constant()
    right: Map[Spot, Spot] = constant()
    down: Map[Spot, Spot] = constant()
    calls: Set[Spot] = constant()
    comes: Set[Spot] = constant()

    at: Spot = anything

    @action(fairness="weak")
    def go_left(s):
        """Through the left door; from some spots it leads nowhere."""
        s.at = s.left[s.at]

    @action(fairness="strong")
    def go_right(s):
        """Through the right door."""
        s.at = s.right[s.at]

    @action(fairness="none")
    def go_down(s):
        """Through the trap door."""
        s.at = s.down[s.at]

    @leads_to()
    def calls_are_heard(s):
        """Whoever calls comes to where that is heard."""
        return s.calls[s.at], s.comes[s.at]

    @leads_to(without=("go_right",))
    def calls_are_heard_on_the_left(s):
        """The same, if nothing is known of the right door."""
        return s.calls[s.at], s.comes[s.at]
