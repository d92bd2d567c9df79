"""Quantifiers, extremes and comprehensions. `# here` marks the line that the error must name."""

from tests.protocols.misuse.base import base, case
from tidemark.spec.language import action, count, each, exists, forall, greatest, invariant, least


@case("each(Node, ...) where a Map[Place, Bool] is expected", "each(Place, ...)")
def comprehension_with_wrong_keys():
    @action
    def odd(s):
        """Odd."""
        s.seen = each(s.Node, lambda n: True)  # here

    base(odd)


@case("each(Place, ...) where a Place is expected", "Assign it to a map")
def comprehension_for_a_scalar():
    @action
    def odd(s):
        """Odd."""
        s.place = each(s.Place, lambda p: p)  # here

    base(odd)


@case("the body of a quantifier returns nothing", "return value")
def body_without_return():
    def body(p):
        pass

    @invariant()
    def odd(s):
        """Odd."""
        return exists(s.Place, body)  # here

    base(odd)


@case("2 domains for a body with 1 arguments", "lambda s, p")
def body_with_wrong_arguments():
    @invariant()
    def odd(s):
        """Odd."""
        return forall(s.Place, s.Node, lambda p: s.seen[p])  # here

    base(odd)


@case("is not a domain", "declared Sort")
def domain_that_is_none():
    @invariant()
    def odd(s):
        """Odd."""
        return forall(s.place, lambda p: s.seen[p])  # here

    base(odd)


@case("a quantifier without a body", "forall(Domain, lambda")
def quantifier_without_body():
    @invariant()
    def odd(s):
        """Odd."""
        return forall(s.Place, s.done)  # here

    base(odd)


@case("least over Node", "Take a Nat")
def least_of_a_sort():
    @action
    def odd(s):
        """Odd."""
        s.place = least(s.Node, lambda n: s.phase[n] == "sealed", default=0)  # here

    base(odd)


@case("least over Depth", "Take a Nat")
def least_of_an_int():
    @action
    def odd(s):
        """Odd."""
        s.depth = least(s.Depth, lambda d: d == s.depth, default=0)  # here

    base(odd)


@case("greatest over Depth", "Take a Nat")
def greatest_of_an_int():
    @action
    def odd(s):
        """Odd."""
        s.depth = greatest(s.Depth, lambda d: d == s.depth, upto=3, default=0)  # here

    base(odd)


@case("1 domains for a body with 2 arguments", "lambda")
def least_with_wrong_arguments():
    @action
    def odd(s):
        """Odd."""
        s.place = least(s.Place, lambda p, q: s.seen[p], default=0)  # here

    base(odd)


@case("a Place where a condition is expected", "brackets")
def count_of_numbers():
    @invariant()
    def odd(s):
        """Odd."""
        return count(s.Place, lambda p: p) == 0  # here

    base(odd)
