"""Claims and actions that say nothing. `# here` marks the line that the error must name."""

from tests.protocols.misuse.base import Base, base, case
from tidemark.spec.language import (
    action,
    any_of,
    forall,
    implies,
    invariant,
    leads_to,
    maximum,
    reachable,
    require,
    transition_invariant,
)


@case("is always true by type", "Say something that can be false")
def always_true_by_type():
    @invariant()  # here
    def odd(s):
        """Odd."""
        return s.place >= 0

    base(odd)


@case("needs 'places', which is no other invariant or lemma", "Name the method of a lemma")
def a_frame_condition_that_needs_no_lemma():
    @invariant(frame="places")  # here
    def odd(s):
        """Odd."""
        return s.place <= 3

    base(odd)


@case("is always true by type", "Say something that can be false")
def always_true_by_members():
    @invariant()  # here
    def odd(s):
        """Odd."""
        return forall(
            s.Node,
            lambda n: any_of(s.phase[n] == "growing", s.phase[n] == "sealed", s.phase[n] == "flushed"),
        )

    base(odd)


@case("is always true by type", "Say something that can be false")
def always_true_by_form():
    @invariant()  # here
    def odd(s):
        """Odd."""
        return implies(s.done & s.STRICT, s.STRICT | (s.place == 1))

    base(odd)


@case("is always true by type", "Say something that can be false")
def always_true_step():
    @transition_invariant()  # here
    def odd(before, after):
        """Odd."""
        return maximum(before.place, after.place) >= 0

    base(odd)


@case("the premise of base.odd is never true", "Say when it applies")
def never_applies():
    @leads_to()  # here
    def odd(s):
        """Odd."""
        return s.place < 0, s.done

    base(odd)


@case("is always true by type", "can be false")
def premise_is_the_conclusion():
    @leads_to()  # here
    def odd(s):
        """Odd."""
        return s.done, s.done | (s.place == 0)

    base(odd)


@case("can never be true by type", "Say something that can be true")
def witness_of_nothing():
    @reachable(after="step")  # here
    def odd(before, after):
        """Odd."""
        return after.place < 0

    base(odd)


@case("changes nothing", "Assign a state variable or delete it")
def action_without_effect():
    @action  # here
    def odd(s):
        """Odd."""
        require(s.done)

    base(odd)


@case("changes nothing", "Assign a state variable or delete it")
def action_that_assigns_the_same():
    @action  # here
    def odd(s):
        """Odd."""
        s.place = s.place + 0

    base(odd)


@case("of odd is false by type", "Correct or delete it")
def guard_false_by_type():
    @action
    def odd(s):
        """Odd."""
        require(s.place < 0)  # here
        s.done = True

    base(odd)


@case("is false by type", "Correct or delete it")
def guard_false_by_form():
    @action
    def odd(s, node: Base.Node):
        """Odd."""
        require((s.phase[node] == "sealed") & (s.phase[node] == "flushed"))  # here
        s.done = True

    base(odd)
