"""The commands ``sweep`` and ``swarm``: many searches, or many random walks, as Spark tasks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from checks.cli_run import wide_console
from checks.errors import BadInputError
from checks.exit_codes import ExitCode
from checks.export import chosen_instance
from checks.report.trace_text import trace_text
from checks.spark.session import spark_session
from checks.spark.shapes import Searched, grid, swarm, sweep
from checks.verdict import Outcome
from models.native.simulate import Budget


def axis(text: str) -> tuple[str, list[Any]]:
    """``NAME=1..4`` or ``NAME=1,2,4`` (values in JSON). Errors: BadInputError."""
    name, _, values = text.partition("=")
    low, dots, high = values.partition("..")
    try:
        found = list(range(int(low), int(high) + 1)) if dots else json.loads(f"[{values}]")
    except ValueError as error:
        raise BadInputError(f"the axis {text!r}", remedy="write NAME=1..4 or NAME=1,2,4") from error
    if not found:
        raise BadInputError(f"the axis {text!r} has no values", remedy="write NAME=1..4 or NAME=1,2,4")
    return name, found


def sweep_command(
    name: str, *, over: Sequence[str], states: int, master: str, build: Path, manifests: Sequence[Path]
) -> int:
    """``tidemark sweep``: print one line for each combination. It judges nothing that it has not searched."""
    instances = grid(chosen_instance(name, manifests=manifests), dict(map(axis, over)))
    found = sweep(spark_session(master=master, build=build), instances, states=states)
    show(found, wide_console())
    if any(row.broken for row in found):
        return ExitCode.UNEXPECTED_REFUTATION.value
    return (ExitCode.INCONCLUSIVE if any(row.why for row in found) else ExitCode.AS_EXPECTED).value


def show(found: Sequence[Searched], screen: Console) -> None:
    """The table of a sweep."""
    table = Table(
        "setting", "distinct", "generated", "depth", "outside", "deadlocks", "s", "result", box=None
    )
    for row in found:
        numbers = (row.distinct, row.generated, row.depth, row.outside, row.deadlocks)
        result = "; ".join(filter(None, (", ".join(f"{claim} fails" for claim in row.broken), row.why)))
        table.add_row(
            row.setting,
            *(f"{n:,}" for n in numbers),
            f"{row.seconds:.1f}",
            result or "holds within the bounds",
        )
    screen.print(table)


def swarm_command(
    name: str, *, tasks: int, budget: Budget, seed: int, master: str, build: Path, manifests: Sequence[Path]
) -> int:
    """``tidemark swarm``: like ``tidemark simulate``, with a seed for each task. Never green."""
    instance = chosen_instance(name, manifests=manifests)
    found = swarm(spark_session(master=master, build=build), instance, tasks=tasks, budget=budget, seed=seed)
    for verdict in found:
        print(f"{verdict.outcome.value:>13}  {verdict.subject.property_id}")
    refuted = [verdict for verdict in found if verdict.outcome is Outcome.REFUTED]
    for verdict in refuted:
        assert verdict.counterexample is not None
        print(f"\n{verdict.subject.property_id}: {'; '.join(verdict.notes)}")
        print(trace_text(verdict.counterexample))
        print(f"replay: {verdict.replay}")
    counts = found[0].counts if found else {}
    print(", ".join(f"{value:,} {what}" for what, value in counts.items()))
    return (ExitCode.UNEXPECTED_REFUTATION if refuted else ExitCode.INCONCLUSIVE).value
