"""Programs whose number of Mazurkiewicz traces and of raw interleavings is known."""

import pytest

from tidemark.checks.interleave import ExecutionLimits, Options, Reduction, Status, explore
from tidemark.models.simulation import ProgramRef

PROGRAMS = "tests.checks.interleave.programs:"

CLASSES = [
    ("ainc", 2, 2), ("ainc", 3, 6), ("ainc", 4, 24), ("ainc", 5, 120),
    ("readers", 2, 4), ("readers", 6, 64),
    ("casrot", 2, 2), ("casrot", 3, 5), ("casrot", 4, 14), ("casrot", 5, 43), ("casrot", 6, 144),
    ("lastzero", 3, 12), ("lastzero", 4, 28), ("lastzero", 5, 64),
    ("binc", 2, 4), ("binc", 3, 36),
]  # fmt: skip

RAW = [("ainc", 4, 24), ("readers", 4, 120), ("casrot", 5, 120), ("lastzero", 3, 920), ("lost_update", 2, 6)]


def program(kind: str, size: int) -> ProgramRef:
    return ProgramRef.of("tidemark.checks.crosscheck.peers.shared_memory:shared", kind=kind, size=size)


@pytest.mark.parametrize(("kind", "size", "classes"), CLASSES)
def test_one_complete_execution_for_each_trace(kind, size, classes):
    result = explore(program(kind, size), Options(classes=True))
    assert result.status is Status.EXHAUSTED
    assert result.statistics.executions == classes
    assert len(result.classes) == classes


@pytest.mark.parametrize(("kind", "size", "raw"), RAW)
def test_without_reduction_every_interleaving_runs_and_nothing_else_is_found(kind, size, raw):
    full = explore(program(kind, size), Options(reduction=Reduction.NONE, classes=True))
    reduced = explore(program(kind, size), Options(classes=True))
    assert full.statistics.executions == raw
    assert full.statistics.blocked == 0
    assert full.finals == reduced.finals
    assert full.classes == reduced.classes
    assert full.status is reduced.status is Status.EXHAUSTED


def test_without_reduction_there_are_as_many_interleavings_as_combinatorics_says():
    """Four processes of two steps each: 8! / 2!^4. The 44,300 of lastzero 4 are counted by `make bench`."""
    options = Options(reduction=Reduction.NONE, check_every=0)
    assert explore(program("lost_update", 4), options).statistics.executions == 2_520


def test_a_limit_is_never_a_pass():
    for limits in (ExecutionLimits(executions=3), ExecutionLimits(seconds=1e-9), ExecutionLimits(steps=2)):
        result = explore(program("lastzero", 3), Options(limits=limits))
        assert result.status is Status.INCONCLUSIVE
        assert result.reason


def test_the_bounds_are_part_of_the_result():
    result = explore(program("ainc", 2))
    assert "no faults" in result.bounds
    assert "sleep sets" in result.bounds
