"""Methods that cannot be traced. `# here` marks the line that the error must name."""

from tests.protocols.misuse.base import Base, base, case
from tidemark.spec.language import (
    Bool,
    Map,
    action,
    assumption,
    initially,
    invariant,
    leads_to,
    reachable,
    require,
    transition_invariant,
)


@case("the action odd returns a value", "a guard is require(...)")
def action_that_returns():
    @action  # here
    def odd(s):
        """Odd."""
        s.done = True
        return s.place == 0

    base(odd)


@case("odd returns nothing", "Return a condition")
def property_without_return():
    @invariant()  # here
    def odd(s):
        """Odd."""

    base(odd)


@case("odd returns a Place where a condition is expected", "brackets")
def property_that_returns_a_number():
    @invariant()  # here
    def odd(s):
        """Odd."""
        return s.place

    base(odd)


@case("odd returns no pair", "(premise, conclusion)")
def leads_to_without_pair():
    @leads_to()  # here
    def odd(s):
        """Odd."""
        return s.done

    base(odd)


@case("Odd.odd has no docstring", "one sentence")
def missing_docstring():
    @action  # here
    def odd(s):
        s.done = True

    base(odd)


@case("the parameter 'node' without a type", "Annotate it")
def parameter_without_type():
    @action  # here
    def odd(s, node):
        """Odd."""
        s.done = True

    base(odd)


@case("the parameter 'node' without a type", "Annotate it")
def parameter_with_a_python_type():
    @action  # here
    def odd(s, node: int):
        """Odd."""
        s.done = True

    base(odd)


@case("the parameter 'keys' of the type Map[Place, Bool]", "Annotate it")
def map_parameter():
    @action  # here
    def odd(s, keys: Map[Base.Place, Bool]):
        """Odd."""
        s.done = True

    base(odd)


@case("that a step cannot choose", "Annotate it")
def parameter_with_default():
    @action  # here
    def odd(s, place: Base.Place = 0):
        """Odd."""
        s.done = True

    base(odd)


@case("kept for bound variables", "Annotate it")
def parameter_named_like_a_bound_variable():
    @action  # here
    def odd(s, p_0: Base.Place):
        """Odd."""
        s.done = True

    base(odd)


@case("odd has the parameter 'place'", "forall(Domain")
def invariant_with_parameter():
    @invariant()  # here
    def odd(s, place: Base.Place):
        """Odd."""
        return s.seen[place]

    base(odd)


@case("odd takes one state only", "before, after")
def transition_invariant_of_one_state():
    @transition_invariant()  # here
    def odd(s):
        """Odd."""
        return s.done

    base(odd)


@case("the action 'stepp', which does not exist", "Name one of step")
def witness_of_an_unknown_action():
    @reachable(after="stepp")  # here
    def odd(before, after):
        """Odd."""
        return after.done

    base(odd)


@case("step has no parameter 'place'", "It has node")
def witness_with_an_unknown_parameter():
    @reachable(after="step")  # here
    def odd(before, after, place):
        """Odd."""
        return after.done

    base(odd)


@case("the action 'recover', which does not exist", "Name one of step")
def leads_to_without_an_unknown_action():
    @leads_to(without=("recover",))  # here
    def odd(s):
        """Odd."""
        return ~s.done, s.done

    base(odd)


@case("speaks about the state (place)", "An assumption is about constants")
def assumption_about_the_state():
    @assumption()  # here
    def odd(s):
        """Odd."""
        return s.place == 0

    base(odd)


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


@case("require outside an action", "@action only")
def require_in_a_property():
    @invariant()
    def odd(s):
        """Odd."""
        require(s.done)  # here
        return s.done

    base(odd)
