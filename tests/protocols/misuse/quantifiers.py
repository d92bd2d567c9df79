"""Quantifiers, extremes and comprehensions. `# here` marks the line that the error must name."""

from tests.protocols.misuse.base import base, case
from tidemark.spec.language import action, count, each, exists, forall, greatest, invariant, least


@case("each(Node, ...) where a Map[Place, Bool] is expected", "each(Place, ...)", action)
def comprehension_with_wrong_keys(s):
    s.seen = each(s.Node, lambda n: True)  # here


@case("each(Place, ...) where a Place is expected", "Assign it to a map", action)
def comprehension_for_a_scalar(s):
    s.place = each(s.Place, lambda p: p)  # here


@case("the body of a quantifier returns nothing", "return value")
def body_without_return():
    def body(p):
        pass

    @invariant()
    def odd(s):
        """Odd."""
        return exists(s.Place, body)  # here

    base(odd)


@case("2 domains for a body with 1 arguments", "lambda s, p", invariant())
def body_with_wrong_arguments(s):
    return forall(s.Place, s.Node, lambda p: s.seen[p])  # here


@case("is not a domain", "declared Sort", invariant())
def domain_that_is_none(s):
    return forall(s.place, lambda p: s.seen[p])  # here


@case("a quantifier without a body", "forall(Domain, lambda", invariant())
def quantifier_without_body(s):
    return forall(s.Place, s.done)  # here


@case("least over Node", "Take a Nat", action)
def least_of_a_sort(s):
    s.place = least(s.Node, lambda n: s.phase[n] == "sealed", default=0)  # here


@case("least over Depth", "Take a Nat", action)
def least_of_an_int(s):
    s.depth = least(s.Depth, lambda d: d == s.depth, default=0)  # here


@case("greatest over Depth", "Take a Nat", action)
def greatest_of_an_int(s):
    s.depth = greatest(s.Depth, lambda d: d == s.depth, upto=3, default=0)  # here


@case("1 domains for a body with 2 arguments", "lambda", action)
def least_with_wrong_arguments(s):
    s.place = least(s.Place, lambda p, q: s.seen[p], default=0)  # here


@case("a Place where a condition is expected", "brackets", invariant())
def count_of_numbers(s):
    return count(s.Place, lambda p: p) == 0  # here
