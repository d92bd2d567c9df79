"""Python's own control flow, and unknown names. `# here` marks the line that the error must name."""

from tests.protocols.misuse.base import Base, base, case
from tidemark.spec.language import action, any_of, each, forall, invariant, ite, when


@case("no truth value", "ite(condition, a, b) for if")
def python_if():
    @action
    def odd(s):
        """Odd."""
        if s.done:  # here
            s.place = 1

    base(odd)


@case("when outside an action", "ite(condition, a, b) or implies(a, b)")
def when_in_a_property():
    @invariant()
    def odd(s):
        """Odd."""
        with when(s.done):  # here
            return s.place == 0

    base(odd)


@case("when inside a quantifier", "ite(condition, a, b)")
def when_in_a_quantifier():
    @action
    def odd(s):
        """Odd."""
        s.seen = each(s.Place, lambda p: when(s.done))  # here

    base(odd)


@case("a when in odd that nothing is put under", "with when(condition):")
def when_without_with():
    @action
    def odd(s):
        """Odd."""
        when(s.done)  # here
        s.place = 1

    base(odd)


@case("no truth value", "& | ~ for and, or, not")
def python_and():
    @invariant()
    def odd(s):
        """Odd."""
        return s.done and s.place == 0  # here

    base(odd)


@case("no truth value", "& | ~ for and, or, not")
def python_or():
    @invariant()
    def odd(s):
        """Odd."""
        return (s.place == 0) or s.done  # here

    base(odd)


@case("no truth value", "for and, or, not")
def python_not():
    @invariant()
    def odd(s):
        """Odd."""
        return not s.done  # here

    base(odd)


@case("'in' cannot be asked", "s.members[x]")
def python_in():
    @invariant()
    def odd(s):
        """Odd."""
        return s.place in s.seen  # here

    base(odd)


@case("no truth value", "one_of(x, a, b)")
def python_in_a_tuple():
    @invariant()
    def odd(s):
        """Odd."""
        return forall(s.Node, lambda n: s.phase[n] in ("sealed", "flushed"))  # here

    base(odd)


@case("no truth value", "split a chained comparison")
def chained_comparison():
    @invariant()
    def odd(s):
        """Odd."""
        return 0 < s.place < 5  # here

    base(odd)


@case("no truth value", "minimum and maximum for min and max")
def python_min():
    @action
    def odd(s):
        """Odd."""
        s.place = min(s.place, 3)  # here

    base(odd)


@case("cannot be iterated", "forall, exists")
def python_for():
    @invariant()
    def odd(s):
        """Odd."""
        return any_of(*(x for x in s.seen))  # here

    base(odd)


@case("no length", "count(Domain")
def python_len():
    @invariant()
    def odd(s):
        """Odd."""
        return len(s.seen) == 0  # here

    base(odd)


@case("not a Python number", "forall, exists, each")
def python_range():
    @action
    def odd(s):
        """Odd."""
        for _ in range(s.place):  # here
            s.done = True

    base(odd)


@case("a symbolic value is called", "square brackets")
def map_called():
    @invariant()
    def odd(s):
        """Odd."""
        return s.seen(s.place)  # here

    base(odd)


@case("Phase has no member 'seald'", "Did you mean 'sealed'? Its members are growing, sealed, flushed")
def unknown_member():
    @action
    def odd(s, node: Base.Node):
        """Odd."""
        s.phase[node] = "seald"  # here

    base(odd)


@case("Phase has no member 'x'", "Its members are")
def unknown_member_in_a_choice():
    @action
    def odd(s, node: Base.Node):
        """Odd."""
        s.phase[node] = ite(s.done, "x", "sealed")  # here

    base(odd)


@case("no variable 'plase'", "Did you mean 'place'?")
def unknown_variable_read():
    @invariant()
    def odd(s):
        """Odd."""
        return s.plase == 0  # here

    base(odd)


@case("no variable 'plase'", "Did you mean 'place'?")
def unknown_variable_written():
    @action
    def odd(s):
        """Odd."""
        s.plase = 1  # here

    base(odd)


@case("step is not a state variable", "Declare it in the class body with a type")
def method_written():
    @action
    def odd(s):
        """Odd."""
        s.step = 1  # here

    base(odd)


@case("a Place has no attribute 'value'", "s.map[key]")
def attribute_of_a_value():
    @invariant()
    def odd(s):
        """Odd."""
        return s.place.value == 0  # here

    base(odd)
