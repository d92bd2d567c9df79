"""Values of the wrong type. `# here` marks the line that the error must name."""

from tests.protocols.misuse.base import base, case
from tidemark.spec.language import action, any_of, forall, invariant, ite


@case("a Ticks where a Place is expected", "Numbers of different names do not mix", invariant())
def numbers_of_different_names_compared(s):
    return s.place <= s.ticks  # here


@case("a Place where a Ticks is expected", "Numbers of different names do not mix", action)
def numbers_of_different_names_added(s):
    s.ticks = s.ticks + s.place  # here


@case("a Ticks where a Place is expected", "Numbers of different names do not mix", action)
def key_of_another_name(s):
    s.seen[s.ticks] = True  # here


@case("a Place where a condition is expected", "put brackets round each comparison", invariant())
def missing_brackets(s):
    return s.done & s.place == 0  # here


@case("a Bool where a Place is expected", "Give a value of type Place", action)
def wrong_type_assigned(s):
    s.place = s.done  # here


@case("True where the map Map[Place, Bool] is expected", "each(Place, lambda", action)
def scalar_for_a_map(s):
    s.seen = True  # here


@case("'sealed' where the map Map[Node, Phase] is expected", "each(Node, lambda", action)
def name_for_a_map(s):
    s.phase = "sealed"  # here


@case("[] where the map", "each(Place, lambda", action)
def list_for_a_map(s):
    s.seen = []  # here


@case("{} is not a value of the language", "a log a Map", action)
def dict_for_a_scalar(s):
    s.place = {}  # here


@case("1.5 is not a value of the language", "Use a state variable", action)
def fraction(s):
    s.place = 1.5  # here


@case("a division with a fraction", "//", action)
def true_division(s):
    s.place = s.place / 2  # here


@case("None is not a value of the language", "returned nothing")
def helper_that_returns_nothing():
    def helper():
        pass

    @action
    def odd(s):
        """Odd."""
        s.place = helper()  # here

    base(odd)


@case("the function helper is not a value", "Call it")
def function_as_a_value():
    def helper():
        return 1

    @action
    def odd(s):
        """Odd."""
        s.place = helper  # here

    base(odd)


@case("a Nat where a Node is expected", "no literals", invariant())
def literal_of_a_sort(s):
    return s.log[s.place] == 0  # here


@case("elements of the opaque sort Node have no order", "== only", invariant())
def order_of_a_sort(s):
    return forall(s.Node, s.Node, lambda a, b: a <= b)  # here


@case("a Bool where a number is expected", "Only Nat and Int", action)
def sum_of_conditions(s):
    s.place = s.done + s.done  # here


@case("a product of two variables", "proofs stay linear", action)
def product(s):
    s.place = s.place * s.place  # here


@case("a division by something else than a positive literal", "literal above zero", action)
def division_by_zero(s):
    s.place = s.place // 0  # here


@case("2 keys for Map[Place, Bool]", "Give 1", action)
def wrong_number_of_keys(s):
    s.seen[0, 1] = True  # here


@case("a Place is not a map", "Only maps have entries", invariant())
def key_of_a_scalar(s):
    return s.place[0] == 1  # here


@case("two values whose type is not known", "Compare with a state variable", invariant())
def untyped_values_compared(s):
    return ite(s.done, "sealed", "flushed") == "sealed"  # here


@case("the name 'sealed' where a Bool is expected", "members of an Enum", invariant())
def name_without_a_type(s):
    return any_of(ite(s.done, "sealed", s.done))  # here
