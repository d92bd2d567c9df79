"""A protocol that names an element of a sort: not all elements are alike."""

from tidemark.spec.language import Bool, Map, Nat, Protocol, Sort, action, anything, constant, invariant


class Named(Protocol):
    """A token that only one node may take."""

    Node = Sort()
    first: Node = constant()
    holder: Node = anything
    taken: Bool = False

    @action
    def take(s):
        """The node that comes first takes the token."""
        s.holder = s.first
        s.taken = True

    @invariant()
    def held(s):
        """Who has taken it is the first one."""
        return ~s.taken | (s.holder == s.first)


class Log(Protocol):
    """Who has written each place of a log: beyond the bounds, always the first node."""

    Node = Sort()
    Place = Nat()
    writer: Map[Place, Node] = anything
    place: Place = 0

    @action
    def write(s, node: Node):
        """At the next place."""
        s.writer[s.place] = node
        s.place = s.place + 1

    @invariant()
    def the_first_two_agree(s):
        """Wrong: somebody else may write the next one."""
        return (s.place != 2) | (s.writer[0] == s.writer[1])
