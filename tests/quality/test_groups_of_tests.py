"""Tests of one group run in one process: they share the Spark session, or what a file compiles."""

import os

import pytest

GROUP = "tests/quality/test_groups_of_tests.py"


def test_the_group_of_a_test_is_known_to_the_scheduler(request: pytest.FixtureRequest) -> None:
    """pytest-xdist hands the group on as the end of the test's id; with pytest 9.2 it is lost in silence."""
    marked = [mark.args[0] for mark in request.node.iter_markers("xdist_group")]
    assert marked == [GROUP]
    in_one_process = "PYTEST_XDIST_WORKER" not in os.environ
    assert in_one_process or request.node.nodeid.endswith(f"@{GROUP}")
