"""Claims and actions that say nothing. `# here` marks the line that the error must name."""

from tests.protocols.misuse.base import Base, case
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


@case("is always true by type", "Say something that can be false", invariant())  # here
def always_true_by_type(s):
    return s.place >= 0


@case(  # here
    "needs 'places', which is no other invariant or lemma",
    "Name the method of a lemma",
    invariant(frame="places"),
)
def a_frame_condition_that_needs_no_lemma(s):
    return s.place <= 3


@case("is always true by type", "Say something that can be false", invariant())  # here
def always_true_by_members(s):
    return forall(
        s.Node,
        lambda n: any_of(s.phase[n] == "growing", s.phase[n] == "sealed", s.phase[n] == "flushed"),
    )


@case("is always true by type", "Say something that can be false", invariant())  # here
def always_true_by_form(s):
    return implies(s.done & s.STRICT, s.STRICT | (s.place == 1))


@case("is always true by type", "Say something that can be false", transition_invariant())  # here
def always_true_step(before, after):
    return maximum(before.place, after.place) >= 0


@case("the premise of base.odd is never true", "Say when it applies", leads_to())  # here
def never_applies(s):
    return s.place < 0, s.done


@case("is always true by type", "can be false", leads_to())  # here
def premise_is_the_conclusion(s):
    return s.done, s.done | (s.place == 0)


@case("can never be true by type", "Say something that can be true", reachable(after="step"))  # here
def witness_of_nothing(before, after):
    return after.place < 0


@case("changes nothing", "Assign a state variable or delete it", action)  # here
def action_without_effect(s):
    require(s.done)


@case("changes nothing", "Assign a state variable or delete it", action)  # here
def action_that_assigns_the_same(s):
    s.place = s.place + 0


@case("of odd is false by type", "Correct or delete it", action)
def guard_false_by_type(s):
    require(s.place < 0)  # here
    s.done = True


@case("is false by type", "Correct or delete it", action)
def guard_false_by_form(s, node: Base.Node):
    require((s.phase[node] == "sealed") & (s.phase[node] == "flushed"))  # here
    s.done = True
