"""The command about interleavings that is not part of the gate: other reductions than that of the
manifest, and Spark.

Counts of executions depend on the reduction, so that only those of the final states stay pinned.
"""

from dataclasses import replace

from tidemark.checks.cli.options import named
from tidemark.checks.gate.registry import registry
from tidemark.checks.gate.run import run
from tidemark.checks.gate.settings import Settings
from tidemark.checks.inputs.manifests import manifests
from tidemark.checks.report.console import show_result, wide_console
from tidemark.checks.report.files import write_files
from tidemark.checks.report.live import live
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.plan import Task, plan
from tidemark.models.manifest import InterleaveEntry, Tier
from tidemark.models.manifest.about import about
from tidemark.models.manifest.reduction import Reduction

FINAL = ("final_states", "final_states_crc32")
"""Counts that no reduction changes."""


def search(settings: Settings, *, only: str, reduction: str, spark: bool) -> int:
    """Run the programs of the manifest that match, by a reduction and on Spark if so asked.

    Raises BadInputError: no such reduction.
    """
    chosen = _reduction(reduction)
    screen = wide_console()
    tasks = plan(manifests(settings.manifests), tier=Tier.FULL, only=named(only), judge="interleave")
    print(about((task.manifest, task.entry.name) for task in tasks))
    changed = [_changed(task, chosen, distributed=spark) for task in tasks]
    result = run(changed, registry=registry(), settings=settings, reporter=live(screen))
    result = result.with_commands(settings.invocation.complete)
    files = write_files(result, build=settings.build)
    show_result(result, screen, build=settings.build, files=files)
    return result.exit_code.value


def _reduction(name: str) -> Reduction | None:
    try:
        return Reduction(name) if name else None
    except ValueError as error:
        known = ", ".join(reduction.value for reduction in Reduction)
        raise BadInputError(f"{name!r} is not a reduction", remedy=f"use one of: {known}") from error


def _changed(task: Task, reduction: Reduction | None, *, distributed: bool) -> Task:
    entry = task.entry
    assert isinstance(entry, InterleaveEntry)
    update: dict[str, object] = {"distributed": entry.on_spark or distributed}
    if reduction is not None:
        pinned = {name: count for name, count in entry.counts.items() if name in FINAL}
        update |= {"reduction": reduction, "counts": pinned}
    return replace(task, entry=entry.model_copy(update=update))
