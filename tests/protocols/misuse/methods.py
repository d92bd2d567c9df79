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


@case("the action odd returns a value", "a guard is require(...)", action)  # here
def action_that_returns(s):
    s.done = True
    return s.place == 0


@case("odd returns nothing", "Return a condition", invariant())  # here
def property_without_return(s):
    pass


@case("odd returns a Place where a condition is expected", "brackets", invariant())  # here
def property_that_returns_a_number(s):
    return s.place


@case("odd returns no pair", "(premise, conclusion)", leads_to())  # here
def leads_to_without_pair(s):
    return s.done


@case("Odd.odd has no docstring", "one sentence")
def missing_docstring():
    @action  # here
    def odd(s):
        s.done = True

    base(odd)


@case("the parameter 'node' without a type", "Annotate it", action)  # here
def parameter_without_type(s, node):
    s.done = True


@case("the parameter 'node' without a type", "Annotate it", action)  # here
def parameter_with_a_python_type(s, node: int):
    s.done = True


@case("the parameter 'keys' of the type Map[Place, Bool]", "Annotate it", action)  # here
def map_parameter(s, keys: Map[Base.Place, Bool]):
    s.done = True


@case("that a step cannot choose", "Annotate it", action)  # here
def parameter_with_default(s, place: Base.Place = 0):
    s.done = True


@case("kept for bound variables", "Annotate it", action)  # here
def parameter_named_like_a_bound_variable(s, p_0: Base.Place):
    s.done = True


@case("odd has the parameter 'place'", "forall(Domain", invariant())  # here
def invariant_with_parameter(s, place: Base.Place):
    return s.seen[place]


@case("odd takes one state only", "before, after", transition_invariant())  # here
def transition_invariant_of_one_state(s):
    return s.done


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


@case("speaks about the state (place)", "An assumption is about constants", assumption())  # here
def assumption_about_the_state(s):
    return s.place == 0


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


@case("require outside an action", "@action only", invariant())
def require_in_a_property(s):
    require(s.done)  # here
    return s.done
