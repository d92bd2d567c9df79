"""A lease that its holder offers to another server: refuted in three steps, with messages between nodes."""

from tidemark.spec.language import (
    Bool,
    Map,
    Nat,
    Protocol,
    Set,
    Sort,
    action,
    exists,
    forall,
    implies,
    invariant,
    option,
    require,
)


class Handover(Protocol):
    """Servers of which one holds a lease."""

    Server = Sort()
    Time = Nat()

    LETS_GO: Bool = option(False)
    holder: Set[Server] = False
    offered: Map[Server, Server, Bool] = False
    now: Time = 0

    @action
    def take(s, server: Server):
        """A server takes the lease when it is free."""
        require(~exists(s.Server, lambda o: s.holder[o]))
        s.holder[server] = True

    @action
    def offer(s, server: Server, other: Server):
        """The holder offers the lease to another server."""
        require(s.holder[server])
        require(server != other)
        s.offered[server, other] = True

    @action
    def accept(s, server: Server, other: Server):
        """The other server takes the lease that it was offered."""
        require(s.offered[server, other])
        s.offered[server, other] = False
        s.holder[server] = s.holder[server] & ~s.LETS_GO
        s.holder[other] = True

    @action
    def tick(s):
        """Time passes."""
        s.now = s.now + 1

    @invariant()
    def one_holder(s):
        """At most one server holds the lease."""
        return forall(s.Server, s.Server, lambda a, b: implies(s.holder[a] & s.holder[b], a == b))
