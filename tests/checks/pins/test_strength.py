"""Claims that have changed: weaker, stronger, or what the prover cannot tell."""

from dataclasses import replace

import pytest

from tidemark.checks.pins.strength import compared
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

pytestmark = pytest.mark.proof
CANNOT_TELL = "the prover cannot tell whether it is weaker or stronger"


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


SPEC = Claims.trace()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("small", "small_if_ready", "weaker than before"),
        ("small_if_ready", "small", "stronger than before"),
        ("small", "less_than_four", "as strong as before"),
        ("small", "all_ready", CANNOT_TELL),
        ("grows", "grows_by_one", "stronger than before"),
        ("gets_ready", "gets_ready_late", "weaker than before"),
        ("gets_ready_late", "gets_ready", "stronger than before"),
        ("gets_ready", "gets_ready_by_itself", CANNOT_TELL),
        ("small", "grows", CANNOT_TELL),
    ],
)
def test_the_prover_tells_what_is_weaker(old: str, new: str, words: str) -> None:
    assert compared(SPEC.property(f"claims.{old}"), SPEC.property(f"claims.{new}"), SPEC) == words


def test_what_is_read_of_a_variable_that_is_gone_cannot_be_compared() -> None:
    fewer = replace(SPEC, variables=tuple(one for one in SPEC.variables if one.name != "ready"))
    assert compared(SPEC.property("claims.all_ready"), SPEC.property("claims.small"), fewer) == CANNOT_TELL
    assert compared(None, SPEC.property("claims.small"), SPEC) == CANNOT_TELL
