"""Every misuse is an error that names the place, the problem and the remedy."""

import pytest

from tests.protocols.misuse import CASES, methods
from tidemark.spec.language import SpecError, resolve


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_misuse_names_place_problem_and_remedy(case):
    with pytest.raises(SpecError) as caught:
        case.run()
    error = caught.value
    assert case.problem in error.problem
    assert case.remedy in error.remedy
    assert error.place == case.place
    assert str(error) == f"{error.place}: {error.problem}. {error.remedy}"


def test_cases_are_many_and_different():
    assert len({case.name for case in CASES}) == len(CASES) > 90


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        ("no.such.module:Thing", "no protocol 'no.such.module:Thing' (No module named 'no')"),
        ("tests.protocols.stations:Nothing", "has no attribute 'Nothing'"),
        ("tests.protocols.stations", "no protocol"),
        ("tests.protocols.misuse.base:Case", "is not a protocol"),
        ("", "no protocol ''"),
    ],
)
def test_reference_that_leads_nowhere(reference, problem):
    with pytest.raises(SpecError) as caught:
        resolve(reference)
    assert problem in caught.value.problem


def test_an_error_leaves_no_trace_behind():
    """A failed trace must not make a later `require` outside an action legal, nor spoil the numbering."""
    from tidemark.spec.language import require

    with pytest.raises(SpecError):
        methods.python_if()
    with pytest.raises(SpecError, match="require outside an action"):
        require(True)
    with pytest.raises(SpecError):
        methods.body_without_return()
    with pytest.raises(SpecError, match="in a property"):
        methods.assignment_in_a_property()
