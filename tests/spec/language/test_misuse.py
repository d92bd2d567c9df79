"""Every misuse is an error that names the place, the problem and the remedy."""

import inspect
from pathlib import Path

import pytest

from tests.protocols.misuse import CASES, Case, assignments, control, quantifiers
from tidemark.spec.language import SpecError, resolve


def marked_line(case: Case) -> int:
    lines, first = inspect.getsourcelines(case.source)
    found = [first + number for number, line in enumerate(lines) if "# here" in line]
    assert len(found) == 1, "each case marks one line"
    return found[0]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_misuse_names_place_problem_and_remedy(case):
    with pytest.raises(SpecError) as caught:
        case.run()
    error = caught.value
    assert case.problem in error.problem
    assert case.remedy in error.remedy
    assert error.place == f"{Path(inspect.getfile(case.source)).name}:{marked_line(case)}"
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
        control.python_if()
    with pytest.raises(SpecError, match="require outside an action"):
        require(True)
    with pytest.raises(SpecError):
        quantifiers.body_without_return()
    with pytest.raises(SpecError, match="in a property"):
        assignments.assignment_in_a_property()
