"""Shorthands that need no node of their own: what they are traced to."""

import pytest

from spec.language import SpecError, render
from tests.protocols.shorthands import Shorthands


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
    with pytest.raises(SpecError, match="a Height where a Weight is wanted"):
        Shorthands.without_plain().trace()


def test_plain_of_something_else_is_refused():
    with pytest.raises(SpecError, match="a Mode where a number is wanted"):
        Shorthands.plain_mode().trace()
