"""What a task will take: seconds, memory, Spark. Guesses decide when it runs, never what it says."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tidemark.checks.verdicts.plan import Task
from tidemark.checks.verdicts.result import TaskResult
from tidemark.models.manifest import (
    AnyEntry,
    ConformEntry,
    GeneratedMutants,
    ImplementationMutants,
    InterleaveEntry,
    MutantEntry,
    is_on_spark,
)

FILE = "seconds.json"
"""Wall time of each task when it was last judged, by name; in the build folder."""

MIB = 2**20
_PROCESS = 300 * MIB
"""A process that has loaded its judge."""
_JVM = 2048 * MIB
_STATE = 120
"""Bytes for a state of a native search: its words, its place in the table, its parent; twice, as it grows."""
_EDGE = 16
_EDGES = 6
"""Edges of a state, if a search has to keep them."""


@dataclass(frozen=True)
class Needs:
    """What a task is expected to take."""

    seconds: float
    """On one core."""
    memory: int
    """Bytes."""
    spark: bool
    """It uses the Spark session of its process."""
    group: str
    """Tasks of a group share what a process keeps: a compiled instance, the search of a mutant's host."""


def needs_of(task: Task, last: Mapping[str, float]) -> Needs:
    """``last``: wall time in seconds of earlier runs, by task."""
    entry, host = task.entry, _host(task)
    spark = task.judge == "distribute" or is_on_spark(entry) or is_on_spark(host)
    counts: Mapping[str, int] = getattr(entry, "counts", {})
    guess = _seconds(task.judge, entry, counts)
    memory = _PROCESS + (_JVM if spark else 0)
    if task.judge in ("explore", "distribute"):
        memory += counts.get("distinct", 0) * (_STATE + _EDGE * _EDGES)
    return Needs(last.get(task.name, guess), memory, spark, f"{task.manifest.name}/{host.name}")


def _host(task: Task) -> AnyEntry:
    """The entry on which a mutant is judged or a driver runs; the entry itself if it is its own."""
    entry = task.entry
    if isinstance(entry, MutantEntry | GeneratedMutants | ConformEntry):
        return next((e for e in task.manifest.entries() if e.name == entry.instance), entry)
    return entry


def _seconds(judge: str, entry: AnyEntry, counts: Mapping[str, int]) -> float:
    """From the pinned counts, with the rates of a common machine: right within a factor of three or so."""
    if isinstance(entry, GeneratedMutants):
        return 0.25 * (entry.sample or entry.total)
    if isinstance(entry, ImplementationMutants):
        return 0.7 * entry.total
    if isinstance(entry, InterleaveEntry):
        work = 15 * counts.get("executions", 0) + 15 * counts.get("declared_states", 0)
        return 0.5 + counts.get("steps", work) / 7_000
    if isinstance(entry, ConformEntry):
        return 0.1 * entry.examples
    distinct = counts.get("distinct", 0)
    return {
        "prove": 1.0 + counts.get("obligations", 0) / 80,
        "explore": 0.7 + distinct / 400_000,
        "interpreted": 0.5 + distinct / 1_500,
        "distribute": 4.0 + distinct / 200_000,
    }.get(judge, 0.6)


def last_seconds(build: Path) -> dict[str, float]:
    """What was measured by earlier runs; empty if nothing was, or if the file is damaged."""
    try:
        found = json.loads((build / FILE).read_text(encoding="utf-8"))
        return {str(name): float(seconds) for name, seconds in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def keep_seconds(build: Path, results: Iterable[TaskResult]) -> None:
    """Add what was measured now. A folder that cannot be written costs only the knowledge."""
    known = last_seconds(build) | {result.task: round(result.seconds, 2) for result in results}
    path = build / FILE
    fresh = path.with_name(path.name + ".new")
    with suppress(OSError):
        fresh.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", encoding="utf-8")
        fresh.replace(path)
