"""Detecting on a ring that all work has ended: the notes EWD 840 and EWD 998."""

from tests.protocols.known.reasons import holds
from tidemark.spec.language import (
    Bool,
    Enum,
    Int,
    Map,
    Nat,
    Protocol,
    action,
    all_of,
    any_of,
    anything,
    constant,
    exists,
    forall,
    implies,
    invariant,
    plain,
    require,
    when,
)


class Ewd840(Protocol):
    """Nodes on a ring wake each other. A token goes round against the numbers, and is stained by whoever has
    woken a node that the token has passed.
    """

    Node = Nat()
    Colour = Enum("white", "black")

    last: Node = constant()

    active: Map[Node, Bool] = anything
    colour: Map[Node, Colour] = anything
    token_at: Node = anything
    token: Colour = "black"

    def probe_failed(s):
        """Reasons to begin a new round."""
        return [s.token == "black", s.colour[0] == "black"]

    def may_pass(s, i):
        """Reasons to pass the token on."""
        return [~s.active[i], s.colour[i] == "black", s.token == "black"]

    @action
    def begin_round(s):
        """Node 0 sends a white token round, if the last round has shown nothing."""
        require((s.token_at == 0) & any_of(*s.probe_failed()))
        s.token_at = s.last
        s.token = "white"
        s.colour[0] = "white"

    @action
    def pass_token(s, i: Node):
        """The token goes on, stained if the node is black; then the node is white again."""
        require((i > 0) & (s.token_at == i) & any_of(*s.may_pass(i)))
        s.token_at = i - 1
        with when(s.colour[i] == "black"):
            s.token = "black"
        s.colour[i] = "white"

    @action
    def wake(s, i: Node, j: Node):
        """An active node wakes another one; it is black if that lies behind the token's way."""
        require(s.active[i] & (i != j))
        s.active[j] = True
        with when(j > i):
            s.colour[i] = "black"

    @action
    def sleep(s, i: Node):
        """A node becomes inactive."""
        require(s.active[i])
        s.active[i] = False

    @invariant()
    def detection_is_right(s):
        """If node 0 finds that all work has ended, it has."""
        detected = (s.token_at == 0) & (s.token == "white") & (s.colour[0] == "white") & ~s.active[0]
        return implies(detected, forall(s.Node, lambda i: ~s.active[i]))

    @invariant()
    def dijkstras_invariant(s):
        """The nodes that were passed sleep, or a black node is ahead, or the token is black."""
        return any_of(
            forall(s.Node, lambda i: implies(i > s.token_at, ~s.active[i])),
            exists(s.Node, lambda i: (i <= s.token_at) & (s.colour[i] == "black")),
            s.token == "black",
        )


class Ewd998(Protocol):
    """The same with messages that travel: each node counts what it sent less what it received, and the token
    adds up the counts.
    """

    Node = Nat()
    Message = Nat()
    Balance = Int()
    Sum = Int()
    Colour = Enum("white", "black")

    last: Node = constant()

    active: Map[Node, Bool] = anything
    colour: Map[Node, Colour] = anything
    balance: Map[Node, Balance] = 0
    travelling: Map[Node, Message] = 0
    token_at: Node = anything
    token: Colour = "black"
    sum: Sum = 0

    def probe_failed(s):
        """Reasons to begin a new round."""
        found = plain(s.balance[0]) + plain(s.sum) > 0
        return [s.token == "black", s.colour[0] == "black", found]

    @action
    def begin_round(s):
        """Node 0 sends a white token round, if the last round has shown nothing."""
        require((s.token_at == 0) & any_of(*s.probe_failed()))
        s.token_at = s.last
        s.token = "white"
        s.sum = 0
        s.colour[0] = "white"

    @action
    def pass_token(s, i: Node):
        """An inactive node adds its count and passes the token on, stained if the node is black."""
        require((i > 0) & (s.token_at == i) & ~s.active[i])
        s.token_at = i - 1
        with when(s.colour[i] == "black"):
            s.token = "black"
        s.sum = s.sum + plain(s.balance[i])
        s.colour[i] = "white"

    @action
    def send(s, i: Node, j: Node):
        """An active node sends a message to another one."""
        require(s.active[i] & (i != j))
        s.balance[i] = s.balance[i] + 1
        s.travelling[j] = s.travelling[j] + 1

    @action
    def receive(s, i: Node):
        """A message wakes and blackens whom it reaches."""
        require(s.travelling[i] > 0)
        s.travelling[i] = s.travelling[i] - 1
        s.balance[i] = s.balance[i] - 1
        s.colour[i] = "black"
        s.active[i] = True

    @action
    def sleep(s, i: Node):
        """A node becomes inactive."""
        require(s.active[i])
        s.active[i] = False

    @invariant()
    def detection_is_right(s):
        """If node 0 finds that all work has ended, it has, and no message travels."""
        detected = all_of(
            s.token_at == 0,
            s.token == "white",
            s.colour[0] == "white",
            ~s.active[0],
            plain(s.balance[0]) + plain(s.sum) == 0,
        )
        return implies(detected, forall(s.Node, lambda i: ~s.active[i] & (s.travelling[i] == 0)))


class Ewd840ByReason(Ewd840):
    """Every reason for a step is a step of its own, as it is for TLC."""

    Reason = Nat()

    @action
    def begin_round(s, why: Reason):
        require(holds(s.probe_failed(), why))
        super().begin_round()

    @action
    def pass_token(s, i, why: Reason):
        require(holds(s.may_pass(i), why))
        super().pass_token(i)


class Ewd998ByReason(Ewd998):
    """Every reason for a step is a step of its own, as it is for TLC."""

    Reason = Nat()

    @action
    def begin_round(s, why: Reason):
        require(holds(s.probe_failed(), why))
        super().begin_round()
