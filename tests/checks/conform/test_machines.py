"""The machines of the four invariants: each finds at least five named mistakes, and shows nearly the shortest run."""

from collections.abc import Iterator

import pytest

from tidemark.checks.conform.walks import Walks
from tidemark.checks.interleave import ExecutionLimits, Options, Reduction, explore
from tidemark.models.manifest import ConformEntry, load, manifest_files
from tidemark.models.mutation.patches import restore

MACHINES = {"tso-impl-driven": "tso", "proxy-driven": "proxy", "driven": "flush", "driven-checkpoints": "flush"}
"""Oracle monotonicity, minTs, flushTs, checkpoint: entries of walks, each with its manifest."""
SPARE = 2
"""Steps that the run that is shown may have more than the shortest one."""
FAR = {
    "proxy-driven-unknown-outcome-is-popped",
}
"""Mistakes whose shortest run is too long for a search of all shorter ones here."""


def mistakes() -> Iterator[tuple[str, ConformEntry]]:
    """By name, each walked mistake of a machine: the machine's entry with the program that is wrong."""
    manifests = {found.name: found for found in map(load, manifest_files())}
    for machine, name in MACHINES.items():
        (entry,) = (one for one in manifests[name].conform if one.name == machine)
        for mutant in manifests[name].mutant:
            if mutant.instance == machine:
                yield mutant.name, entry.model_copy(update={"program": mutant.ref})


MISTAKES = dict(mistakes())


@pytest.mark.parametrize("machine", MACHINES)
def test_a_machine_has_five_named_mistakes(machine: str) -> None:
    assert sum(entry.name == machine for entry in MISTAKES.values()) >= 5


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_shown_within_two_steps_of_the_shortest_run(name: str) -> None:
    walks = Walks(MISTAKES[name], seed=0)
    walks.run()
    violation = walks.violation()
    assert violation is not None
    shorter = len(walks.shown().steps) - SPARE - 1
    if shorter > 0:
        options = Options(reduction=Reduction.STATES, audit=0, check_every=0, limits=ExecutionLimits(steps=shorter))
        found = explore(walks.program, options).violations
        assert violation.identity not in {one.identity for one in found}
    restore()
