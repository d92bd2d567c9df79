"""Least elements stand as functions: one for each that differs, the same for each that says the same."""

import pytest

from tidemark.models.symbolic.encode import Encoder, Vocabulary
from tidemark.spec.language.expr import Apply, Choose, Const, Expr, Local, Quantified, Read, Select
from tidemark.spec.language.protocol import resolve
from tidemark.spec.language.types import BOOL, MapType

pytestmark = pytest.mark.proof

SPEC = resolve("tests.protocols.stations:Stations").trace().with_options()
TAKEN = next(variable for variable in SPEC.variables if variable.name == "taken")
assert isinstance(TAKEN.type, MapType)
PLACE = TAKEN.type.keys[0]


def first(free: Expr, name: str = "p") -> Choose:
    """The first place that is taken as something says."""
    place = Local(PLACE, name)
    taken = Select(BOOL, Read(TAKEN.type, TAKEN), (place,))
    return Choose(PLACE, "least", place, Apply(BOOL, "eq", (taken, free)), Const(PLACE, 0))


def is_first(free: Expr, name: str = "p") -> Expr:
    return Apply(BOOL, "eq", (first(free, name), Const(PLACE, 0)))


def test_each_value_of_a_finite_type_has_a_choice_of_its_own() -> None:
    flag = Local(BOOL, "flag")
    everywhere = Quantified(BOOL, "forall", (flag,), is_first(flag))
    _, choices = Encoder(Vocabulary(SPEC)).encode_all(everywhere)
    assert len({choice.function.name() for choice in choices}) == 2
    assert len({choice.definition.sexpr() for choice in choices}) == 2


def test_names_of_bound_variables_make_no_other_choice() -> None:
    encoder = Encoder(Vocabulary(SPEC))
    both = [encoder.encode_all(is_first(Const(BOOL, value=True), name)) for name in ("p", "q")]
    assert both[0][0].sexpr() == both[1][0].sexpr()
    assert both[0][1] == both[1][1]
    assert len(encoder.axioms) == 1
