"""Shorthands that need no node of their own: what they are traced to."""

import pytest

from tests.protocols.shorthands import Shorthands
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter, Step
from tidemark.spec.language import SpecError, render


def update(action: str, variable: str) -> str:
    return {v.name: render(e) for v, e in Shorthands.trace().action(action).updates}[variable]


def guard(action: str) -> str:
    (only,) = Shorthands.trace().action(action).guards
    return render(only.expr)


def test_one_of_is_a_disjunction_of_equalities():
    assert guard("leave") == "(mode == 'up') | (mode == 'busy')"


def test_one_of_nothing_is_false():
    with pytest.raises(SpecError, match="false by type"):
        Shorthands.with_empty_choice().trace()


def test_plain_numbers_mix_with_all():
    assert update("weigh", "weight") == "weight + height"
    assert guard("weigh") == "height < weight"


def test_numbers_of_two_names_do_not_mix_without_it():
    with pytest.raises(SpecError, match="a Height where a Weight is expected"):
        Shorthands.without_plain().trace()


def test_plain_of_something_else_is_refused():
    with pytest.raises(SpecError, match="a Mode where a number is expected"):
        Shorthands.plain_mode().trace()


def test_when_chooses_between_the_new_value_and_the_old():
    assert update("hurry", "mode") == "ite(weight < 3, 'busy', mode)"
    assert update("hurry", "height") == "height + 1"


def test_when_puts_the_condition_on_the_entry_not_on_the_map():
    assert update("hurry", "shelf") == "shelf with [weight] = ite(weight < 3, height, shelf[weight])"


def test_when_inside_when_holds_where_both_do():
    assert update("hurry", "weight") == "ite((weight < 3) & (mode == 'up'), weight + 1, weight)"


def test_require_under_when_asks_only_there():
    assert guard("hurry") == "~(weight < 3) | (mode != 'down')"


@pytest.mark.parametrize("weight", range(5))
@pytest.mark.parametrize("mode", ["up", "busy", "down"])
def test_when_means_what_python_means(weight, mode):
    """The step by the interpreter is the one that an ordinary ``if`` would take."""
    interpreter = Interpreter(Instance(Shorthands.reference(), {"Weight": 5, "Height": 5}))
    before = {"mode": mode, "weight": weight, "height": 2, "shelf": dict.fromkeys(range(6), 0)}
    expected = {**before, "shelf": dict(before["shelf"]), "height": 3}
    possible = True
    if weight < 3:
        possible = mode != "down"
        expected["mode"] = "busy"
        expected["shelf"][weight] = 2
        if mode == "up":
            expected["weight"] = weight + 1
    step = interpreter.apply(interpreter.encode(before), Step("hurry"))
    found = None if step is None else interpreter.decode(step.state)
    assert found == (expected if possible else None)
