"""A protocol whose claims differ a little from each other: which of two is weaker?"""

from tidemark.spec.language import (
    Bool,
    Map,
    Nat,
    Protocol,
    Self,
    Sort,
    TypeAlias,
    action,
    everywhere,
    forall,
    implies,
    invariant,
    leads_to,
    transition_invariant,
)


class Claims(Protocol):
    """A number for each node, and claims that differ a little."""

    Node: TypeAlias = Sort
    Number: TypeAlias = Nat
    number: Map[Node, Number] = everywhere(0)
    ready: Map[Node, Bool] = everywhere(False)

    @action(fairness="weak")
    def step(s, n: Node) -> None:
        """It counts."""
        s.number[n] = s.number[n] + 1
        s.ready[n] = True

    @invariant()
    def small(s) -> Bool:
        """At most three."""
        return forall(s.Node, lambda n: s.number[n] <= 3)

    @invariant()
    def small_if_ready(s) -> Bool:
        """The premise makes it weaker, although it says more."""
        return forall(s.Node, lambda n: implies(s.ready[n], s.number[n] <= 3))

    @invariant()
    def less_than_four(s) -> Bool:
        """The same in other words."""
        return forall(s.Node, lambda n: s.number[n] < 4)

    @invariant()
    def all_ready(s) -> Bool:
        """Something else."""
        return forall(s.Node, lambda n: s.ready[n])

    @transition_invariant()
    def grows(before, after: Self) -> Bool:
        """It never falls."""
        return forall(before.Node, lambda n: after.number[n] >= before.number[n])

    @transition_invariant()
    def grows_by_one(before, after: Self) -> Bool:
        """It grows."""
        return forall(before.Node, lambda n: after.number[n] > before.number[n])

    @leads_to()
    def gets_ready(s, n: Node) -> tuple[Bool, Bool]:
        """Each node."""
        return s.number[n] >= 1, s.ready[n]

    @leads_to()
    def gets_ready_late(s, n: Node) -> tuple[Bool, Bool]:
        """Those with a greater number."""
        return s.number[n] >= 2, s.ready[n]

    @leads_to(without=("step",))
    def gets_ready_by_itself(s, n: Node) -> tuple[Bool, Bool]:
        """The same, and nothing is known of the step."""
        return s.number[n] >= 1, s.ready[n]
