"""Breadth-first search of an instance with the compiled kernel.

Counts are TLC's: ``distinct`` states within the bounds; ``generated``: the initial states and every
successor, duplicates and those outside the bounds included; ``depth``: states on the longest shortest path.
The search continues after a violation, so that counts stay complete and every claim gets its own shortest
counterexample.
"""

import signal
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import psutil

from tidemark.models.cores import cores
from tidemark.models.interpreted.interpreter import BelowZeroError, below_zero
from tidemark.models.native.kernel import Kernel
from tidemark.models.native.search.path import path_to
from tidemark.models.native.search.result import Hit, SearchCounters, SearchResult
from tidemark.models.native.search.rounds import CHUNKS, Rounds, chunk_rows, front, round_bytes
from tidemark.models.native.search.table import LARGEST, Visited
from tidemark.models.native.search.worker_pool import WorkerPool
from tidemark.models.native.symmetry import Symmetry

SHOW_EVERY = 0.2
"""Seconds between two reports of progress."""
MEMORY_SHARE = 0.6
"""Default share of the free memory that a search may take."""


@dataclass(frozen=True, kw_only=True)
class SearchLimits:
    """When to stop early, with an incomplete result. None: no limit (memory: a share of the free)."""

    states: int | None = None
    seconds: float | None = None
    memory: int | None = None
    """Bytes."""
    stop_at_first: bool = False
    """Stop at the end of the block in which the first violation was found."""
    stop_on: frozenset[str] = frozenset()
    """Likewise, but for a violation of these claims only, or a run that reaches one of these witnesses."""


class Watch(Protocol):
    """Gets the progress of a search."""

    def __call__(self, *, distinct: int, frontier: int, depth: int, rate: float, trend: float) -> None:
        """``frontier``: states found and not yet expanded; ``rate``: distinct states a second so far;
        ``trend``: size of the last complete level as a multiple of the one before (0: none).
        """


@dataclass(frozen=True)
class Estimate:
    """What a search may take, known before it starts."""

    bytes: int
    """Bound on the memory."""
    states: int
    """States that fit into it at worst."""
    words: int
    """Words of a state."""
    buffers: int
    """Bytes for the successors of a round; fewer are touched as a rule."""

    def __str__(self) -> str:
        return (
            f"{self.words} word{'s' if self.words > 1 else ''} a state; room for {self.states:,} states in "
            f"{self.bytes / 1e9:.1f} GB, at most {self.buffers / 1e6:,.0f} MB of it for successors"
        )


def estimate(kernel: Kernel, limits: SearchLimits) -> Estimate:
    """How many states fit into the memory bound, the growth of the table and the buffers included, which take
    at most a quarter of the bound in this sum.
    """
    memory = limits.memory
    if memory is None:
        memory = int(psutil.virtual_memory().available * MEMORY_SHARE)
    buffers = round_bytes(kernel)
    left = memory - min(buffers, memory // 4)
    states = left // Visited.bytes_bound(kernel.words, 1)
    return Estimate(memory, min(LARGEST, states), kernel.words, buffers)


def _silent(*, distinct: int, frontier: int, depth: int, rate: float, trend: float) -> None:
    """No progress is shown."""


class Search:
    """A search that can be run in parts: ``run`` until it is complete or a limit is met, ``save`` and
    continue later. ``workers``: all cores if None; the result is the same for any number. ``symmetry``:
    opaque sorts whose renamings are identified. ``chunk``: states of a level that are expanded together.
    Raises SymmetryError.
    """

    def __init__(
        self,
        kernel: Kernel,
        limits: SearchLimits | None = None,
        *,
        chunk: int | None = None,
        workers: int | None = None,
        symmetry: Sequence[str] = (),
    ) -> None:
        self.kernel = kernel
        self.symmetry = Symmetry(kernel, symmetry) if symmetry else None
        self.limits = limits if limits is not None else SearchLimits()
        self.pool = WorkerPool(workers if workers is not None else cores())
        self.visited = Visited(
            kernel.words,
            kernel.plan.steps,
            self._capacity(),
            self.pool,
            front=front(kernel) if self.pool.workers > 1 else (0, 0),
        )
        self._rounds = Rounds(kernel, self.visited, self.pool, self.symmetry, chunk=chunk)
        self.counters = self._rounds.counters
        self.totals = SearchCounters()
        self.interrupted = False

    def _capacity(self) -> int:
        wanted = estimate(self.kernel, self.limits).states
        if self.limits.states is not None:
            wanted = min(wanted, self.limits.states + chunk_rows(self.kernel) * self.kernel.plan.steps)
        return max(1, wanted)

    def run(self, watch: Watch = _silent) -> SearchResult:
        """Search until done, stopped by a limit or by the user."""
        begin, before = time.perf_counter(), self.totals.seconds
        shown, stopped = begin, ""
        with self._interruptible():
            if not self.totals.initial:
                stopped = self._start()
            while not stopped and self.totals.next_row < self.visited.count:
                stopped = self._round()
                now = time.perf_counter()
                self.totals.seconds = before + now - begin
                if now - shown > SHOW_EVERY:
                    shown = now
                    self._show(watch)
                stopped = stopped or self._limit()
        if not stopped:
            self._close_level()
        self.pool.close()
        self.totals.seconds = before + time.perf_counter() - begin
        self._show(watch)
        if not stopped and self.visited.count == 0:
            stopped = "there is no initial state"
        return self.result(stopped)

    def result(self, stopped: str) -> SearchResult:
        """The results so far."""
        self.totals.generated = self.counters.stats[:, 0].copy()
        self.totals.out_of_bounds = self.counters.stats[:, 1].copy()
        self.totals.guards = self.counters.flags.copy()
        return SearchResult(self.kernel, self.visited, self.totals, stopped, self.symmetry)

    def _start(self) -> str:
        rows = self.kernel.initial_block()
        if self.symmetry is not None:
            rows = self.symmetry.representatives(rows)
        if not self.visited.has_room(len(rows)):
            return self._full()
        self.visited.add_initial(rows)
        self.totals.initial = self.visited.initial
        self._note_broken(self._rounds.broken(0, self.visited.count))
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
            and self.totals.next_row < self.visited.count
        ):
            return f"the limit of {limits.states} states was reached"
        if (
            limits.seconds is not None
            and self.totals.seconds >= limits.seconds
            and self.totals.next_row < self.visited.count
        ):
            return f"the limit of {limits.seconds:g} s was reached"
        if (limits.stop_at_first or limits.stop_on) and self._violated():
            return "stopped at the first violation, as asked"
        return ""

    def _violated(self) -> bool:
        step_claims, state_claims = self.kernel.step_claims, self.kernel.state_claims
        hit = [state_claims[number] for number in self.totals.state_hits]
        hit += [step_claims[number] for number in self.totals.step_hits]
        first = self.limits.stop_at_first
        return any(claim.id in self.limits.stop_on or (first and claim.kind != "reachable") for claim in hit)

    def _close_level(self) -> None:
        if self.totals.levels[-1] != self.visited.count:
            self.totals.levels.append(self.visited.count)

    def _round(self) -> str:
        """Expand the next rows of the present level; nothing is counted twice if it is stopped between."""
        totals = self.totals
        if totals.next_row == totals.levels[-1]:
            self._close_level()
        done = self._rounds.run(totals.next_row, (totals.levels[-2], totals.levels[-1]), self._chunks())
        if done.last == totals.next_row:
            return self._full()
        if self.counters.stats[:, 2].any():
            raise self._below_zero(totals.next_row, done.last)
        for seen in done.seen:
            totals.step_hits[seen.claim] = Hit(seen.parent, seen.step, seen.target)
        totals.deadlocks += len(done.stuck)
        if done.stuck and totals.first_deadlock is None:
            totals.first_deadlock = done.stuck[0]
        self._note_broken(done.broken)
        totals.next_row = done.last
        return ""

    def _below_zero(self, first: int, last: int) -> BelowZeroError:
        """A step from one of these states makes a natural number negative: the shortest run to it."""
        self.pool.close()
        state = first + self.kernel.falls(self.visited.rows(first, last))
        run = path_to(self.result(""), Hit(state))
        return below_zero(self.kernel.interpreter, run.states, run.steps)

    def _chunks(self) -> int:
        """Chunks of the next round: fewer where a limit of states is near, so that it is hardly exceeded."""
        if self.limits.states is None:
            return CHUNKS
        left = self.limits.states - self.visited.count
        return max(1, min(CHUNKS, left // chunk_rows(self.kernel)))

    def _note_broken(self, broken: Iterable[tuple[int, int]]) -> None:
        for claim, state in broken:
            self.totals.state_hits.setdefault(claim, Hit(state))

    def _show(self, watch: Watch) -> None:
        watch(
            distinct=self.visited.count,
            frontier=self.visited.count - self.totals.next_row,
            depth=len(self.totals.levels) - 1,
            rate=self.visited.count / max(self.totals.seconds, 1e-9),
            trend=self.totals.trend,
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


def search(
    kernel: Kernel,
    *,
    limits: SearchLimits | None = None,
    watch: Watch = _silent,
    chunk: int | None = None,
    workers: int | None = None,
    symmetry: Sequence[str] = (),
) -> SearchResult:
    """Visit all states of an instance, breadth-first: see ``Search``."""
    return Search(kernel, limits, chunk=chunk, workers=workers, symmetry=symmetry).run(watch)
