"""The rule for visible steps: what a check of single steps needs, the reduction keeps."""

import pytest

from checks.interleave import Options, Reduction, Status, UnsoundReductionError, explore
from models.scheduled import ProgramError, ProgramRef

PROGRAMS = "tests.checks.interleave.programs:"


def test_independent_steps_that_are_observed_are_tried_in_both_orders():
    result = explore(ProgramRef.of(f"{PROGRAMS}planted"))
    assert result.status is Status.REFUTED
    assert result.first().violation.identity == ("property", "y-before-x")


def test_the_same_bug_is_missed_by_a_checker_that_hides_from_the_reduction():
    """The planted example: without the rule, the reduction leaves the failing order out."""
    blind = ProgramRef.of(f"{PROGRAMS}blind")
    assert explore(blind, Options(audit=0)).status is Status.EXHAUSTED
    assert explore(blind, Options(reduction=Reduction.NONE)).status is Status.REFUTED


def test_the_audit_notices_such_a_checker():
    with pytest.raises(UnsoundReductionError, match="y-before-x"):
        explore(ProgramRef.of(f"{PROGRAMS}blind"))


def test_a_component_that_depends_on_two_objects_is_refused():
    with pytest.raises(ProgramError, match="Split the observation"):
        explore(ProgramRef.of(f"{PROGRAMS}joint"))
