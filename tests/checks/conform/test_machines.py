"""The machines of the four invariants find named mistakes, and show nearly the shortest run."""

from collections.abc import Iterator

import pytest

from tests.manifests import manifests
from tidemark.checks.conform.walks import Walks
from tidemark.checks.interleave import ExecutionLimits, Options, Reduction, explore
from tidemark.models.manifest import ConformEntry
from tidemark.models.mutation.patches import restore

MACHINES = {
    "tso-impl-driven": "tso",
    "proxy-driven": "proxy",
    "driven-checkpoints": "flush",
    "driven": "flush",
}
"""Oracle monotonicity, minTs, checkpoint, flushTs: entries of walks, each with its manifest."""
SPARE = 2
"""Steps that the run that is shown may have more than the shortest one."""


def mistakes() -> Iterator[tuple[str, ConformEntry]]:
    """By name, each mistake that must die on a machine: its entry with the program that is wrong."""
    for machine, name in MACHINES.items():
        (entry,) = (one for one in manifests()[name].conform if one.name == machine)
        for mutant in manifests()[name].mutant:
            if mutant.instance == machine:
                yield mutant.name, entry.model_copy(update={"program": mutant.ref})


MISTAKES = dict(mistakes())


@pytest.mark.parametrize("machine", MACHINES)
def test_a_machine_has_five_named_mistakes(machine: str) -> None:
    assert sum(entry.name == machine for entry in MISTAKES.values()) >= 5


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("tso-driven-starts-at-the-end", 3),
        ("tso-driven-window-counts-before-it-is-saved", 7),
        ("proxy-driven-popped-before-produced", 6),
        ("flush-driven-answer-counts-as-a-failure", 6),
        ("flush-driven-flush-ts-is-overwritten", 4),
    ],
)
def test_a_mistake_is_shown_within_two_steps_of_the_shortest_run(name: str, steps: int) -> None:
    """A search that merges equal states finds no run that is shorter by more."""
    walks = Walks(MISTAKES[name], seed=0)
    walks.run()
    violation = walks.violation()
    assert violation is not None
    assert len(walks.shown().steps) <= steps
    limits = ExecutionLimits(steps=max(1, steps - SPARE - 1))
    options = Options(reduction=Reduction.STATES, audit=0, check_every=0, limits=limits)
    found = explore(walks.program, options).violations
    restore()
    assert violation.identity not in {one.identity for one in found}
