"""One protocol read in the words of another: what is traced, refused, and shown."""

import pytest

from tests.protocols import towers
from tidemark.models.composition.follows import compose
from tidemark.models.composition.reading import Reading, joined, reading_of
from tidemark.models.composition.rewriting import occurs, retyped
from tidemark.spec.language.errors import SpecError
from tidemark.spec.language.expr import Apply, Choose, Local, Read, walk
from tidemark.spec.language.references import ReferenceNotFoundError
from tidemark.spec.language.render import render
from tidemark.spec.timetick import TimeTick

_TOWERS = "tests.protocols.towers"


def test_both_states_are_one_and_have_only_what_is_spoken_of() -> None:
    both = joined(towers.AnswerOfBelow)
    assert [item.name for item in both.spec.variables] == ["seen", "below_top", "below_given"]
    assert [item.name for item in both.spec.constants] == ["level"]
    assert render(both.guarantee("below.never_falls").expr) == "below_given <= below_top"
    assert both.claims == ("below.never_falls",)


def test_it_follows_for_any_size_and_each_guarantee_is_needed() -> None:
    found = compose(f"{_TOWERS}:AnswerOfBelow")
    assert found.proved
    assert found.said
    assert found.possible is not None
    assert found.without["below.never_falls"] is not None


def test_what_does_not_follow_is_shown_in_a_small_state() -> None:
    broken = compose(f"{_TOWERS}:AnswerOfAnybody").broken
    assert broken is not None
    names = [item.name for item in broken.instance.spec.variables]
    state = dict(zip(names, broken.state, strict=True))
    assert broken.instance.constants["level"] < state["seen"]
    assert state["seen"] == state["below_given"] <= state["below_top"]


@pytest.mark.parametrize(
    ("reading", "says"),
    [
        (towers.AnswerWithoutAction, "no action 'write'"),
        (towers.AnswerToSteps, "no claim about one state"),
        (towers.AnswerOfNothing, "decided by type alone"),
    ],
)
def test_misuse_is_refused(reading: type[Reading], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        joined(reading)


def test_a_reference_to_something_else_is_refused() -> None:
    with pytest.raises(ReferenceNotFoundError, match="is not a reading"):
        reading_of(f"{_TOWERS}:Below")


def test_a_part_of_a_step_is_found_whatever_its_locals_are_called() -> None:
    step = TimeTick.trace().with_options().action("report")
    (choice,) = [part for _, new in step.updates for part in walk(new) if isinstance(part, Choose)]
    assert isinstance(choice.body, Apply)
    body = choice.body.args[1]
    assert isinstance(body, Apply)
    (value,) = {part for part in walk(body) if isinstance(part, Local)}
    assert occurs(retyped(body, {}), step)
    renamed = Apply(body.type, body.op, (Local(value.type, "other"), body.args[1]))
    assert occurs(renamed, step)
    turned = Apply(body.type, body.op, tuple(reversed(body.args)))
    assert not occurs(turned, step)


def test_types_of_one_name_that_differ_are_told_apart() -> None:
    from tidemark.models.protocols.timetick.readings import ReportOfTheDdlSource

    spec = joined(ReportOfTheDdlSource).spec
    kinds = {kind.name for kind in spec.types}
    assert {"Stage", "ddl.Stage"} <= kinds
    reads = [part for part in walk(spec.property("reading.glue").expr) if isinstance(part, Read)]
    assert {part.variable.name for part in reads} >= {"message", "ddl_stage"}
