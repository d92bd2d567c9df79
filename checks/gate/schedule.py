"""Which task runs next, and where.

Longest first, so that no long task is left for the end. The proofs of a manifest run one after another, in
its order: each takes over obligations that an earlier one has proved. The first of them counts for all, since
the others wait for it. Tasks that need Spark run in one process, which has the session. Tasks of a group stay
in one process while there is other work for the others. A task that is much longer or larger than its share
and can use several cores is *wide*: it runs alone, at the end, on the whole machine. Tasks together keep
within the memory that was free at the start.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

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


_SHARE = 0.75
"""Part of the free memory that the tasks may plan with."""
_WIDE_S = 20.0
_PARALLEL = frozenset({"explore", "prove"})
"""Judges that use several cores by themselves."""
CHAINED = "prove"
"""The judge whose tasks of one manifest run one after another."""


def free_memory() -> int:
    """Bytes that the tasks of a run may plan with, all together."""
    return int(psutil.virtual_memory().available * _SHARE)


@dataclass(frozen=True)
class Due:
    """A task that is to be judged. ``place`` is its number in the plan."""

    place: int
    task: Task
    needs: Needs


class Schedule:
    """Hands out the tasks. ``jobs`` processes take them, each under a number."""

    def __init__(self, due: Iterable[Due], *, jobs: int, memory: int | None = None) -> None:
        self._chains = _chains(due := tuple(due))
        waiting = {
            chain[0].place: sum(item.needs.seconds for item in chain) for chain in self._chains.values()
        }
        everything = sorted(due, key=lambda item: (-waiting.get(item.place, item.needs.seconds), item.place))
        self.memory = free_memory() if memory is None else memory
        self.share = self.memory // jobs
        """Bytes for a task beside which others run."""
        total = sum(item.needs.seconds for item in everything)
        limit = max(_WIDE_S, total / jobs / 2)
        self._wide = [item for item in everything if self._is_wide(item, limit)] if jobs > 1 else []
        self._alone = frozenset(item.place for item in self._wide)
        rest = [item for item in everything if item.place not in self._alone]
        self._spark = [item for item in rest if item.needs.spark]
        self._narrow = [item for item in rest if not item.needs.spark]
        self._lane: int | None = None
        self._group: dict[int, str] = {}

    def _is_wide(self, item: Due, limit: float) -> bool:
        needs = item.needs
        return (
            not needs.spark
            and item.task.judge in _PARALLEL
            and (needs.seconds > limit or needs.memory > self.share)
        )

    def __len__(self) -> int:
        return len(self._wide) + len(self._spark) + len(self._narrow)

    def is_wide(self, item: Due) -> bool:
        """May it use the whole machine? Then nothing runs beside it."""
        return item.place in self._alone

    def next(self, worker: int, running: Collection[Due]) -> Due | None:
        """A task for the idle process ``worker``, beside those that run.

        None if it has to wait until one of these is done, or if nothing is left for it.
        """
        if any(self.is_wide(item) for item in running):
            return None
        room = self.memory - sum(item.needs.memory for item in running)
        if self._spark and self._lane in (None, worker) and (self._fits(self._spark[0], room) or not running):
            self._lane = worker
            return self._spark.pop(0)
        ready = [item for item in self._narrow if not running or self._fits(item, room)]
        item = self._best(worker, [one for one in ready if not self._waits(one, running)])
        if item is not None:
            self._narrow.remove(item)
            self._group[worker] = item.needs.group
            self._begun(item)
            return item
        if self._wide and not running and not self._others(worker):
            item = self._wide.pop(0)
            self._begun(item)
            return item
        return None

    def gone(self, worker: int) -> None:
        """A process is no more; another one may take its Spark tasks and its group."""
        self._group.pop(worker, None)
        if self._lane == worker:
            self._lane = None

    def _waits(self, item: Due, running: Collection[Due]) -> bool:
        """Whether an earlier task of its chain runs, or is to run before it."""
        chain = _chain_of(item)
        if not chain:
            return False
        earlier = [one for one in self._chains[chain] if one.place < item.place and not self.is_wide(one)]
        return bool(earlier) or any(_chain_of(one) == chain for one in running)

    def _begun(self, item: Due) -> None:
        if chain := _chain_of(item):
            self._chains[chain].remove(item)

    def _others(self, worker: int) -> bool:
        """Are there tasks left that only another process may take?"""
        return bool(self._narrow or (self._spark and self._lane not in (None, worker)))

    def _fits(self, item: Due, room: int) -> bool:
        return item.needs.memory <= room

    def _best(self, worker: int, ready: Sequence[Due]) -> Due | None:
        """The longest of the process's group; else of a group without a process; else of all."""
        own = self._group.get(worker)
        taken = set(self._group.values())
        for wanted in (
            [item for item in ready if item.needs.group == own],
            [item for item in ready if item.needs.group not in taken],
            ready,
        ):
            if wanted:
                return wanted[0]
        return None


def _chain_of(item: Due) -> str:
    return item.task.manifest.name if item.task.judge == CHAINED else ""


def _chains(due: Iterable[Due]) -> dict[str, list[Due]]:
    """The tasks that run one after another, in order, by manifest."""
    found: dict[str, list[Due]] = {}
    for item in sorted(due, key=lambda item: item.place):
        if chain := _chain_of(item):
            found.setdefault(chain, []).append(item)
    return found
