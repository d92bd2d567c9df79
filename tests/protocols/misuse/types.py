"""Values of the wrong type. `# here` marks the line that the error must name."""

from tests.protocols.misuse.base import base, case
from tidemark.spec.language import action, any_of, forall, invariant, ite


@case("a Ticks where a Place is expected", "Numbers of different names do not mix")
def numbers_of_different_names_compared():
    @invariant()
    def odd(s):
        """Odd."""
        return s.place <= s.ticks  # here

    base(odd)


@case("a Place where a Ticks is expected", "Numbers of different names do not mix")
def numbers_of_different_names_added():
    @action
    def odd(s):
        """Odd."""
        s.ticks = s.ticks + s.place  # here

    base(odd)


@case("a Ticks where a Place is expected", "Numbers of different names do not mix")
def key_of_another_name():
    @action
    def odd(s):
        """Odd."""
        s.seen[s.ticks] = True  # here

    base(odd)


@case("a Place where a condition is expected", "put brackets round each comparison")
def missing_brackets():
    @invariant()
    def odd(s):
        """Odd."""
        return s.done & s.place == 0  # here

    base(odd)


@case("a Bool where a Place is expected", "Give a value of type Place")
def wrong_type_assigned():
    @action
    def odd(s):
        """Odd."""
        s.place = s.done  # here

    base(odd)


@case("True where the map Map[Place, Bool] is expected", "each(Place, lambda")
def scalar_for_a_map():
    @action
    def odd(s):
        """Odd."""
        s.seen = True  # here

    base(odd)


@case("'sealed' where the map Map[Node, Phase] is expected", "each(Node, lambda")
def name_for_a_map():
    @action
    def odd(s):
        """Odd."""
        s.phase = "sealed"  # here

    base(odd)


@case("[] where the map", "each(Place, lambda")
def list_for_a_map():
    @action
    def odd(s):
        """Odd."""
        s.seen = []  # here

    base(odd)


@case("{} is not a value of the language", "a log a Map")
def dict_for_a_scalar():
    @action
    def odd(s):
        """Odd."""
        s.place = {}  # here

    base(odd)


@case("1.5 is not a value of the language", "Use a state variable")
def fraction():
    @action
    def odd(s):
        """Odd."""
        s.place = 1.5  # here

    base(odd)


@case("a division with a fraction", "//")
def true_division():
    @action
    def odd(s):
        """Odd."""
        s.place = s.place / 2  # here

    base(odd)


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


@case("a Nat where a Node is expected", "no literals")
def literal_of_a_sort():
    @invariant()
    def odd(s):
        """Odd."""
        return s.log[s.place] == 0  # here

    base(odd)


@case("elements of the opaque sort Node have no order", "== only")
def order_of_a_sort():
    @invariant()
    def odd(s):
        """Odd."""
        return forall(s.Node, s.Node, lambda a, b: a <= b)  # here

    base(odd)


@case("a Bool where a number is expected", "Only Nat and Int")
def sum_of_conditions():
    @action
    def odd(s):
        """Odd."""
        s.place = s.done + s.done  # here

    base(odd)


@case("a product of two variables", "proofs stay linear")
def product():
    @action
    def odd(s):
        """Odd."""
        s.place = s.place * s.place  # here

    base(odd)


@case("a division by something else than a positive literal", "literal above zero")
def division_by_zero():
    @action
    def odd(s):
        """Odd."""
        s.place = s.place // 0  # here

    base(odd)


@case("2 keys for Map[Place, Bool]", "Give 1")
def wrong_number_of_keys():
    @action
    def odd(s):
        """Odd."""
        s.seen[0, 1] = True  # here

    base(odd)


@case("a Place is not a map", "Only maps have entries")
def key_of_a_scalar():
    @invariant()
    def odd(s):
        """Odd."""
        return s.place[0] == 1  # here

    base(odd)


@case("two values whose type is not known", "Compare with a state variable")
def untyped_values_compared():
    @invariant()
    def odd(s):
        """Odd."""
        return ite(s.done, "sealed", "flushed") == "sealed"  # here

    base(odd)


@case("the name 'sealed' where a Bool is expected", "members of an Enum")
def name_without_a_type():
    @invariant()
    def odd(s):
        """Odd."""
        return any_of(ite(s.done, "sealed", s.done))  # here

    base(odd)
