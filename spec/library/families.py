"""Sets as values: each element of a sort stands for a set, a quorum for example.

Which elements a set has is a constant: arbitrary in a proof, so that it holds for every family of sets, and a
table in an instance.
"""

import itertools
from collections.abc import Callable, Iterable
from typing import Any

from tidemark.spec.language.declare import assumption, constant
from tidemark.spec.language.errors import SpecError
from tidemark.spec.language.quantifiers import exists, forall
from tidemark.spec.language.terms import Liftable, Term, implies
from tidemark.spec.language.types import Set, SortType
from tidemark.spec.library.piece import Bound, Piece, fields_of

Table = list[list[bool]]


class Subsets(Piece):
    """``groups = Subsets(Group, Node)``: an element of the sort ``Group`` stands for a set of nodes.

    A parameter ``group: Group`` of an action is then the choice of a set. The constant is ``groups_member``;
    ``all_subsets`` gives its table for an instance.
    """

    def __init__(self, sets: Any, element: Any) -> None:
        super().__init__()
        if not isinstance(sets, SortType):
            raise SpecError(f"sets named by {sets!r}", remedy="Name a Sort of their own: Group = Sort()")
        (self.element,) = fields_of(type(self).__name__, (element,))
        self.sets = sets
        self.view = BoundSubsets

    def declare(self, owner: type) -> None:
        """Add the constant."""
        self.add(owner, "member", Set[self.sets, self.element], constant())


class Quorums(Subsets):
    """``majority = Quorums(Quorum, Node)``: sets of nodes of which any two have a common element.

    The assumption ``majority_meet`` says so. ``majorities`` gives the table for an instance.
    """

    def declare(self, owner: type) -> None:
        """Add the constant and the assumption."""
        super().declare(owner)

        def meet(s: Any) -> Term:
            quorums = getattr(s, self.name)
            return forall(
                self.sets,
                self.sets,
                lambda one, other: quorums.some(one, lambda element: quorums.has(other, element)),
            )

        self.claim(owner, "meet", assumption()(meet), f"Any two sets of {self.name} have a common element.")


class BoundSubsets(Bound):
    """Sets as elements of a sort."""

    def has(self, chosen: Liftable, element: Liftable) -> Term:
        """The set has the element."""
        return self.get("member")[chosen, element]

    def every(self, chosen: Liftable, condition: Callable[[Term], Liftable]) -> Term:
        """The condition holds for all elements of the set."""
        return forall(
            self.piece.element, lambda element: implies(self.has(chosen, element), condition(element))
        )

    def some(self, chosen: Liftable, condition: Callable[[Term], Term]) -> Term:
        """The condition holds for an element of the set."""
        return exists(self.piece.element, lambda element: self.has(chosen, element) & condition(element))


def all_subsets(count: int) -> Table:
    """The table of all subsets of ``count`` elements: two to the power of ``count``, the empty one first."""
    sizes = range(count + 1)
    return _table(count, (chosen for size in sizes for chosen in itertools.combinations(range(count), size)))


def majorities(count: int) -> Table:
    """The table of the least majorities of ``count`` elements: three sets of two for three elements."""
    return _table(count, itertools.combinations(range(count), count // 2 + 1))


def _table(count: int, sets: Iterable[tuple[int, ...]]) -> Table:
    return [[element in chosen for element in range(count)] for chosen in sets]
