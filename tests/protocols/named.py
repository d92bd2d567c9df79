"""A protocol that names an element of a sort: not all elements are alike."""

from tidemark.spec.language import Bool, Protocol, Sort, action, anything, constant, invariant


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
