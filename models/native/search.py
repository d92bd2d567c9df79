"""Breadth-first search of an instance with the compiled kernel.

Counts are TLC's: ``distinct`` states within the bounds; ``generated``: the initial states and every
successor, duplicates and those outside the bounds included; ``depth``: states on the longest shortest path.
The search goes on after a violation, so that counts stay complete and every claim gets its own shortest
counterexample.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import psutil
from numpy.typing import NDArray

from models.native.codec import Block
from models.native.kernel import Buffers, Kernel
from models.native.table import Visited
from spec.language.spec import Property

SHOW_EVERY = 0.2
"""Seconds between two reports of progress."""
MEMORY_SHARE = 0.6
"""Share of the free memory that a search may take if nothing else is said."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When to stop early; the result then says that it is incomplete. None: no limit (memory: a share of
    what is free).
    """

    states: int | None = None
    seconds: float | None = None
    memory: int | None = None
    """Bytes."""
    stop_at_first: bool = False
    """Stop at the end of the block in which the first violation was found."""


class Watch(Protocol):
    """Told how far the search is."""

    def __call__(self, *, distinct: int, frontier: int, depth: int, rate: float) -> None:
        """``frontier``: states found and not yet expanded; ``rate``: distinct states a second so far."""


@dataclass(frozen=True)
class Hit:
    """Where a claim was first decided: a state, or a step from state ``state`` by ``step`` to the packed
    ``target``.
    """

    state: int
    step: int | None = None
    target: tuple[int, ...] = ()


@dataclass
class Tally:
    """What a search has counted so far; saved and restored with it."""

    initial: int = 0
    next_row: int = 0
    levels: list[int] = field(default_factory=lambda: [0])
    """First state of each level; the last entry is the end of the last complete level."""
    generated: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    outside: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    guards: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    deadlocks: int = 0
    first_deadlock: int | None = None
    state_hits: dict[int, Hit] = field(default_factory=dict)
    step_hits: dict[int, Hit] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True)
class SearchResult:
    """A finished or stopped search. ``stopped`` is empty if all states within the bounds were visited."""

    kernel: Kernel
    visited: Visited
    tally: Tally
    stopped: str

    @property
    def complete(self) -> bool:
        """Were all states visited?"""
        return not self.stopped

    @property
    def distinct(self) -> int:
        """States within the bounds."""
        return self.visited.count

    @property
    def generated(self) -> int:
        """Initial states and all successors."""
        return self.tally.initial + int(self.tally.generated.sum())

    @property
    def depth(self) -> int:
        """Levels of the breadth-first search, the initial one included."""
        return len(self.tally.levels) - 1

    @property
    def outside(self) -> int:
        """Successors outside the bounds."""
        return int(self.tally.outside.sum())

    @property
    def states(self) -> Block:
        """The packed states, in order of discovery."""
        return self.visited.states

    @property
    def rate(self) -> float:
        """Distinct states a second."""
        return self.distinct / max(self.tally.seconds, 1e-9)

    def generated_by_action(self) -> dict[str, int]:
        """Successors of each action, those outside included."""
        names = [action.name for action in self.kernel.instance.spec.actions]
        return dict(zip(names, self.tally.generated.tolist(), strict=True))

    def outside_by_action(self) -> dict[str, int]:
        """Successors of each action outside the bounds."""
        names = [action.name for action in self.kernel.instance.spec.actions]
        return dict(zip(names, self.tally.outside.tolist(), strict=True))

    def distinct_by_action(self) -> dict[str, int]:
        """States that each action was the first to reach."""
        found = dict.fromkeys(self.generated_by_action(), 0)
        for step, count in zip(self.kernel.steps, self.visited.fresh_by_step.tolist(), strict=False):
            found[step.action] += count
        return found

    def hit(self, prop: Property) -> Hit | None:
        """Where an invariant or lemma was broken first, a transition invariant broken, a witness reached."""
        for claims, hits in (
            (self.kernel.state_claims, self.tally.state_hits),
            (self.kernel.step_claims, self.tally.step_hits),
        ):
            for index, claim in enumerate(claims):
                if claim.id == prop.id:
                    return hits.get(index)
        raise KeyError(f"{prop.id} is not decided by a search of states and steps")


def _silent(*, distinct: int, frontier: int, depth: int, rate: float) -> None:
    """No progress is shown."""


class Search:
    """A search that can be run in parts: ``run`` until it is complete or a limit is met, ``save`` and go on
    later.
    """

    def __init__(self, kernel: Kernel, limits: Limits | None = None) -> None:
        self.kernel = kernel
        self.limits = limits if limits is not None else Limits()
        self.buffers = Buffers(kernel, kernel.chunk)
        self.visited = Visited(kernel.words, kernel.plan.steps, self._capacity())
        self.tally = Tally()
        self._marks = np.empty((1, max(1, -(-len(kernel.state_claims) // 64))), dtype=np.uint64)
        self.interrupted = False

    def _capacity(self) -> int:
        memory = self.limits.memory
        if memory is None:
            memory = int(psutil.virtual_memory().available * MEMORY_SHARE)
        each = Visited.bytes_bound(self.kernel.words, 1)
        wanted = memory // each
        if self.limits.states is not None:
            wanted = min(wanted, self.limits.states + self.buffers.rows * self.kernel.plan.steps)
        return max(1, wanted)

    def run(self, watch: Watch = _silent) -> SearchResult:
        """Search until done, stopped by a limit or by the user."""
        begin, before = time.perf_counter(), self.tally.seconds
        shown, stopped = begin, ""
        with self._interruptible():
            if not self.tally.initial:
                stopped = self._start()
            while not stopped and self.tally.next_row < self.visited.count:
                stopped = self._chunk()
                now = time.perf_counter()
                self.tally.seconds = before + now - begin
                if now - shown > SHOW_EVERY:
                    shown = now
                    self._show(watch)
                stopped = stopped or self._limit()
        if not stopped:
            self._close_level()
        self.tally.seconds = before + time.perf_counter() - begin
        self._show(watch)
        if not stopped and self.visited.count == 0:
            stopped = "there is no initial state"
        return self.result(stopped)

    def result(self, stopped: str) -> SearchResult:
        """What was found so far."""
        self.tally.generated = self.buffers.stats[:, 0].copy()
        self.tally.outside = self.buffers.stats[:, 1].copy()
        self.tally.guards = self.buffers.flags.copy()
        return SearchResult(self.kernel, self.visited, self.tally, stopped)

    def _start(self) -> str:
        rows = self.kernel.initial_block()
        if not self.visited.has_room(len(rows)):
            return self._full()
        self.tally.initial = len(rows)
        self.visited.add_initial(rows)
        self._check(0)
        return ""

    def _full(self) -> str:
        if self.limits.states is not None and self.visited.count >= self.limits.states:
            return f"the limit of {self.limits.states} states was reached"
        return (
            f"the memory for {self.visited.capacity} states was used up; raise the memory bound, or use the "
            "distributed search"
        )

    def _limit(self) -> str:
        limits = self.limits
        if self.interrupted:
            return "stopped by the user"
        if (
            limits.states is not None
            and self.visited.count >= limits.states
            and self.tally.next_row < self.visited.count
        ):
            return f"the limit of {limits.states} states was reached"
        if (
            limits.seconds is not None
            and self.tally.seconds >= limits.seconds
            and self.tally.next_row < self.visited.count
        ):
            return f"the limit of {limits.seconds:g} s was reached"
        if limits.stop_at_first and self._violated():
            return "stopped at the first violation, as asked"
        return ""

    def _violated(self) -> bool:
        claims = self.kernel.step_claims
        return bool(self.tally.state_hits) or any(claims[i].kind != "reachable" for i in self.tally.step_hits)

    def _close_level(self) -> None:
        if self.tally.levels[-1] != self.visited.count:
            self.tally.levels.append(self.visited.count)

    def _chunk(self) -> str:
        """Expand the next rows of the present level; nothing is counted twice if it is stopped between two
        chunks.
        """
        tally, visited = self.tally, self.visited
        if tally.next_row == tally.levels[-1]:
            self._close_level()
        first, last = tally.next_row, min(tally.next_row + self.buffers.rows, tally.levels[-1])
        buffers, known = self.buffers, visited.count
        counters: tuple[NDArray[Any], ...] = (buffers.stats, buffers.flags, buffers.seen)
        counted, seen = [array.copy() for array in counters], buffers.seen.copy()
        found = self.kernel.run(visited.states[first:last], buffers)
        if not visited.has_room(found):
            for array, value in zip(counters, counted, strict=True):
                array[:] = value
            return self._full()
        self._note_steps(first, seen)
        self._note_deadlocks(first, last)
        visited.absorb(buffers.successors, buffers.parent, buffers.step, count=found, base=first)
        self._check(known)
        tally.next_row = last
        return ""

    def _note_steps(self, base: int, seen: NDArray[np.uint8]) -> None:
        buffers = self.buffers
        if np.array_equal(seen, buffers.seen):
            return
        for index in np.flatnonzero(buffers.seen & ~seen).tolist():
            at = int(buffers.where[index])
            target = tuple(buffers.successors[at].tolist())
            self.tally.step_hits[index] = Hit(base + int(buffers.parent[at]), int(buffers.step[at]), target)

    def _note_deadlocks(self, first: int, last: int) -> None:
        enabled = self.buffers.enabled[: last - first]
        if enabled.all():
            return
        stuck = np.flatnonzero(enabled == 0)
        self.tally.deadlocks += len(stuck)
        if self.tally.first_deadlock is None:
            self.tally.first_deadlock = first + int(stuck[0])

    def _check(self, known: int) -> None:
        """Look for broken invariants among the states from number ``known`` on."""
        claims = len(self.kernel.state_claims)
        fresh = self.visited.states[known:]
        if len(self.tally.state_hits) == claims or not len(fresh):
            return
        marks = self.kernel.check(fresh)
        if not marks.any():
            return
        for index in range(claims):
            if index not in self.tally.state_hits:
                broken = np.flatnonzero(marks[:, index // 64] & np.uint64(1 << index % 64))
                if len(broken):
                    self.tally.state_hits[index] = Hit(known + int(broken[0]))

    def _show(self, watch: Watch) -> None:
        watch(
            distinct=self.visited.count,
            frontier=self.visited.count - self.tally.next_row,
            depth=len(self.tally.levels) - 1,
            rate=self.visited.count / max(self.tally.seconds, 1e-9),
        )

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Ctrl-C ends the search between two chunks, where it can be saved."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def stop(_number: int, _frame: object) -> None:
            self.interrupted = True

        saved = signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, saved)


def search(kernel: Kernel, *, limits: Limits | None = None, watch: Watch = _silent) -> SearchResult:
    """Visit all states of an instance, breadth-first."""
    return Search(kernel, limits).run(watch)
