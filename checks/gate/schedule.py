"""Which task runs next, and where.

Longest first, so that no long task is left for the end. The proofs of a manifest run one after another, in
its order: each takes over obligations that an earlier one has proved. The first of them counts for all, since
the others wait for it. Tasks that need Spark run in one process, which has the session. Tasks of a group stay
in one process while there is other work for the others. A task that is much longer or larger than its share
and can use several cores is *wide*: it runs alone, at the end, on the whole machine. Tasks together keep
within the memory that was free at the start.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import psutil

from tidemark.checks.gate.estimates import Needs
from tidemark.checks.verdicts.plan import Task

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
