"""A judge that always says yes turns the gate red: of each protocol it has something that it must refute."""

from collections import defaultdict

import pytest

from tidemark.checks.verdicts.plan import Task, all_tasks
from tidemark.models.manifest import (
    Expected,
    GeneratedMutants,
    ImplementationMutants,
    InterleaveEntry,
    MutantEntry,
    ProofEntry,
    Tier,
    load,
    manifest_files,
)

ON_SPARK = "interleave on Spark"


def judge_of(task: Task) -> str:
    """The judge; interleavings that are spread over Spark are searched by code of their own."""
    spread = isinstance(task.entry, InterleaveEntry) and task.entry.on_spark
    return ON_SPARK if spread else task.judge


EVERY = list(all_tasks(map(load, manifest_files())))
TASKS = [task for task in EVERY if task.entry.tier is Tier.FAST]
HOSTS = {
    task.entry.name: judge_of(task) for task in EVERY if task.judge in ("explore", "interleave", "conform")
}
JUDGED = sorted({(task.manifest.name, judge_of(task)) for task in TASKS})


def judges_behind(task: Task) -> set[str]:
    """The judge of the task, and the one that looks for a mutant's violation on its host."""
    entry = task.entry
    behind = {judge_of(task)}
    if isinstance(entry, MutantEntry):
        behind.add(HOSTS.get(entry.instance, ""))
    if isinstance(entry, GeneratedMutants):
        behind.add("explore")
    return behind


def must_refute(task: Task) -> bool:
    """Whether the task is green only if something is refuted."""
    entry = task.entry
    if isinstance(entry, MutantEntry):
        return entry.killer is not None
    if isinstance(entry, GeneratedMutants | ImplementationMutants):
        return True
    if isinstance(entry, ProofEntry) and entry.fails:
        return True
    return entry.expect.every is Expected.REFUTED or bool(entry.expect.refuted)


def refuted() -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for task in TASKS:
        if must_refute(task):
            for judge in judges_behind(task):
                found[task.manifest.name, judge].append(task.entry.name)
    return found


@pytest.mark.parametrize(("protocol", "judge"), JUDGED)
def test_a_judge_of_a_protocol_has_something_that_it_must_refute(protocol, judge):
    assert refuted()[protocol, judge], f"{judge} refutes nothing of {protocol} in the fast tier"


def test_every_judge_is_asked_about_most_protocols():
    """Not a count of its own: the parameters above must not become few unseen."""
    protocols = {protocol for protocol, _ in JUDGED}
    asked = {judge: sum(1 for _, other in JUDGED if other == judge) for _, judge in JUDGED}
    for judge in ("pins", "frames", "strength", "prove", "interpreted", "explore", "mutate"):
        assert asked[judge] == len(protocols), judge
