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


@pytest.mark.parametrize(
    ("action", "text"),
    [
        ("leave", "(mode == 'up') | (mode == 'busy')"),
        ("weigh", "height < weight"),
        ("hurry", "~(weight < 3) | (mode != 'down')"),  # a require under when asks only there
    ],
)
def test_guards(action, text):
    assert guard(action) == text


@pytest.mark.parametrize(
    ("action", "variable", "text"),
    [
        ("weigh", "weight", "weight + height"),  # plain numbers mix with all
        ("hurry", "mode", "ite(weight < 3, 'busy', mode)"),
        ("hurry", "height", "height + 1"),
        ("hurry", "shelf", "shelf with [weight] = ite(weight < 3, height, shelf[weight])"),
        ("hurry", "weight", "ite((weight < 3) & (mode == 'up'), weight + 1, weight)"),
    ],
)
def test_updates(action, variable, text):
    """A when chooses between the new value and the old one: of an entry, not of its map; the inner one where
    both hold.
    """
    assert update(action, variable) == text


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (Shorthands.with_empty_choice, "false by type"),
        (Shorthands.without_plain, "a Height where a Weight is expected"),
        (Shorthands.plain_mode, "a Mode where a number is expected"),
    ],
)
def test_what_means_nothing_is_refused(make, words):
    with pytest.raises(SpecError, match=words):
        make().trace()


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
