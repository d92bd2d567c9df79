"""Methods that cannot be traced. `# here` marks the line that the error must name."""

from tests.protocols.misuse.base import Base, base, case
from tidemark.spec.language import action, exists, forall, initially, invariant, leads_to, reachable, require


@case("an assignment to place in a property", "Only actions assign", invariant())
def assignment_in_a_property(s):
    s.place = 1  # here
    return s.done


@case("an assignment to place inside a quantifier", "s.place = each(", action)
def assignment_inside_a_quantifier(s):
    def body(p):
        s.place = p  # here
        return s.seen[p]

    require(forall(s.Place, body))
    s.done = True


@case(  # here
    "needs 'places', which is no other invariant or lemma",
    "Name the method of a lemma",
    invariant(frame="places"),
)
def a_frame_condition_that_needs_no_lemma(s):
    return s.place <= 3


@case("can never be true by type", "Say something that can be true", reachable(after="step"))  # here
def witness_of_nothing(before, after):
    return after.place < 0


@case("no truth value", "ite(condition, a, b) for if", action)
def python_if(s):
    if s.done:  # here
        s.place = 1


@case("not a Python number", "forall, exists, each", action)
def python_range(s):
    for _ in range(s.place):  # here
        s.done = True


@case("Odd.odd has no docstring", "one sentence")
def missing_docstring():
    @action  # here
    def odd(s):
        s.done = True

    base(odd)


@case("the action 'stepp', which does not exist", "Name one of step", reachable(after="stepp"))  # here
def witness_of_an_unknown_action(before, after):
    return after.done


@case("step has no parameter 'place'", "It has node", reachable(after="step"))  # here
def witness_with_an_unknown_parameter(before, after, place):
    return after.done


@case(  # here
    "the action 'recover', which does not exist", "Name one of step", leads_to(without=("recover",))
)
def leads_to_without_an_unknown_action(s):
    return ~s.done, s.done


@case("odd returns nothing", "Return a condition")
def initial_condition_without_return():
    @initially  # here
    def odd(s):
        pass

    base(odd)


@case("unknown fairness 'wek'", "none, weak or strong")
def unknown_fairness():
    @action(fairness="wek")  # here
    def odd(s):
        """Odd."""
        s.done = True


@case("the body of a quantifier returns nothing", "return value")
def body_without_return():
    def body(p):
        pass

    @invariant()
    def odd(s):
        """Odd."""
        return exists(s.Place, body)  # here

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


@case("Odd mixes the protocols Left, Right", "one protocol as its base")
def two_protocols_mixed():
    class Left(Base):
        """Left."""

    class Right(Base):
        """Right."""

    class Odd(Left, Right):  # here
        """Odd."""


@case("the action 'step', which was taken out", "Take the witness out too: odd = None")
def witness_of_a_removed_action():
    class More(Base):
        """More."""

        @reachable(after="step")  # here
        def odd(before, after):
            """Odd."""
            return after.done

    class Less(More):
        """Less."""

        step = None

    Less.trace()
