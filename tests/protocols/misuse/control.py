"""Python's own control flow, and unknown names. `# here` marks the line that the error must name."""

from tests.protocols.misuse.base import Base, case
from tidemark.spec.language import action, any_of, each, forall, invariant, ite, when


@case("no truth value", "ite(condition, a, b) for if", action)
def python_if(s):
    if s.done:  # here
        s.place = 1


@case("when outside an action", "ite(condition, a, b) or implies(a, b)", invariant())
def when_in_a_property(s):
    with when(s.done):  # here
        return s.place == 0


@case("when inside a quantifier", "ite(condition, a, b)", action)
def when_in_a_quantifier(s):
    s.seen = each(s.Place, lambda p: when(s.done))  # here


@case("a when in odd that nothing is put under", "with when(condition):", action)
def when_without_with(s):
    when(s.done)  # here
    s.place = 1


@case("no truth value", "& | ~ for and, or, not", invariant())
def python_and(s):
    return s.done and s.place == 0  # here


@case("no truth value", "& | ~ for and, or, not", invariant())
def python_or(s):
    return (s.place == 0) or s.done  # here


@case("no truth value", "for and, or, not", invariant())
def python_not(s):
    return not s.done  # here


@case("'in' cannot be asked", "s.members[x]", invariant())
def python_in(s):
    return s.place in s.seen  # here


@case("no truth value", "one_of(x, a, b)", invariant())
def python_in_a_tuple(s):
    return forall(s.Node, lambda n: s.phase[n] in ("sealed", "flushed"))  # here


@case("no truth value", "split a chained comparison", invariant())
def chained_comparison(s):
    return 0 < s.place < 5  # here


@case("no truth value", "minimum and maximum for min and max", action)
def python_min(s):
    s.place = min(s.place, 3)  # here


@case("cannot be iterated", "forall, exists", invariant())
def python_for(s):
    return any_of(*(x for x in s.seen))  # here


@case("no length", "count(Domain", invariant())
def python_len(s):
    return len(s.seen) == 0  # here


@case("not a Python number", "forall, exists, each", action)
def python_range(s):
    for _ in range(s.place):  # here
        s.done = True


@case("a symbolic value is called", "square brackets", invariant())
def map_called(s):
    return s.seen(s.place)  # here


@case(
    "Phase has no member 'seald'", "Did you mean 'sealed'? Its members are growing, sealed, flushed", action
)
def unknown_member(s, node: Base.Node):
    s.phase[node] = "seald"  # here


@case("Phase has no member 'x'", "Its members are", action)
def unknown_member_in_a_choice(s, node: Base.Node):
    s.phase[node] = ite(s.done, "x", "sealed")  # here


@case("no variable 'plase'", "Did you mean 'place'?", invariant())
def unknown_variable_read(s):
    return s.plase == 0  # here


@case("no variable 'plase'", "Did you mean 'place'?", action)
def unknown_variable_written(s):
    s.plase = 1  # here


@case("step is not a state variable", "Declare it in the class body with a type", action)
def method_written(s):
    s.step = 1  # here


@case("a Place has no attribute 'value'", "s.map[key]", invariant())
def attribute_of_a_value(s):
    return s.place.value == 0  # here
