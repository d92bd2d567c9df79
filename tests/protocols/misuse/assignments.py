"""Assignments that are not possible. `# here` marks the line that the error must name."""

from tests.protocols.misuse.base import Base, base, case
from tidemark.spec.language import action, forall, invariant, ite, require


@case("an assignment to the constant STRICT", "Declare it as state")
def constant_assigned():
    @action
    def odd(s):
        """Odd."""
        s.STRICT = False  # here

    base(odd)


@case("an assignment to the constant log", "Declare it as state")
def constant_entry_assigned():
    @action
    def odd(s, node: Base.Node):
        """Odd."""
        s.log[s.place] = node  # here

    base(odd)


@case("an assignment to place in a property", "Only actions assign")
def assignment_in_a_property():
    @invariant()
    def odd(s):
        """Odd."""
        s.place = 1  # here
        return s.done

    base(odd)


@case("an assignment to seen in a property", "Only actions assign")
def entry_assignment_in_a_property():
    @invariant()
    def odd(s):
        """Odd."""
        s.seen[0] = True  # here
        return s.done

    base(odd)


@case("an assignment to place inside a quantifier", "s.place = each(")
def assignment_inside_a_quantifier():
    @action
    def odd(s):
        """Odd."""

        def body(p):
            s.place = p  # here
            return s.seen[p]

        require(forall(s.Place, body))
        s.done = True

    base(odd)


@case("require inside a quantifier", "require(forall(")
def require_inside_a_quantifier():
    @action
    def odd(s):
        """Odd."""
        forall(s.Place, lambda p: require(s.seen[p]))  # here
        s.done = True

    base(odd)


@case("through an old copy", "s.seen[...] = ...")
def entry_assigned_through_an_old_copy():
    @action
    def odd(s):
        """Odd."""
        old = s.seen
        s.seen[0] = True
        old[1] = True  # here

    base(odd)


@case("an entry of this map cannot be assigned", "state variables in actions only")
def entry_of_an_expression_assigned():
    @action
    def odd(s):
        """Odd."""
        both = ite(s.done, s.seen, s.seen)
        both[0] = True  # here

    base(odd)


@case("cannot be deleted", "Maps are total")
def entry_deleted():
    @action
    def odd(s):
        """Odd."""
        del s.seen[0]  # here

    base(odd)
