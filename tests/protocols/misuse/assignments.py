"""Assignments that are not possible. `# here` marks the line that the error must name."""

from tests.protocols.misuse.base import Base, case
from tidemark.spec.language import action, forall, invariant, ite, require


@case("an assignment to the constant STRICT", "Declare it as state", action)
def constant_assigned(s):
    s.STRICT = False  # here


@case("an assignment to the constant log", "Declare it as state", action)
def constant_entry_assigned(s, node: Base.Node):
    s.log[s.place] = node  # here


@case("an assignment to place in a property", "Only actions assign", invariant())
def assignment_in_a_property(s):
    s.place = 1  # here
    return s.done


@case("an assignment to seen in a property", "Only actions assign", invariant())
def entry_assignment_in_a_property(s):
    s.seen[0] = True  # here
    return s.done


@case("an assignment to place inside a quantifier", "s.place = each(", action)
def assignment_inside_a_quantifier(s):
    def body(p):
        s.place = p  # here
        return s.seen[p]

    require(forall(s.Place, body))
    s.done = True


@case("require inside a quantifier", "require(forall(", action)
def require_inside_a_quantifier(s):
    forall(s.Place, lambda p: require(s.seen[p]))  # here
    s.done = True


@case("through an old copy", "s.seen[...] = ...", action)
def entry_assigned_through_an_old_copy(s):
    old = s.seen
    s.seen[0] = True
    old[1] = True  # here


@case("an entry of this map cannot be assigned", "state variables in actions only", action)
def entry_of_an_expression_assigned(s):
    both = ite(s.done, s.seen, s.seen)
    both[0] = True  # here


@case("cannot be deleted", "Maps are total", action)
def entry_deleted(s):
    del s.seen[0]  # here
