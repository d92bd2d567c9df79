"""Where the time of a successor goes in the native search, and how often this machine reads and exchanges.

Decoding a state, guards, updates and claims about steps are one compiled function, and are one line here; so
are probing, comparing and inserting with the link to the parent. Times are those of the threads themselves:
a thread that waits for others counts nothing.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numba
import numpy as np

from tidemark.bench.instances import subject
from tidemark.bench.measures.search import native
from tidemark.bench.process import in_fresh_process
from tidemark.bench.sample import Clock, Sample, Side, value
from tidemark.bench.series import Measure, Plan, Row
from tidemark.models.cores import cores
from tidemark.models.native.atomic import prefetch, replace
from tidemark.models.native.digest import digest_rows
from tidemark.models.native.search.hash_table import GROUP
from tidemark.models.native.search.merge import Merge
from tidemark.models.native.search.rounds import Rounds
from tidemark.models.native.search.table import Visited
from tidemark.models.native.search.worker_pool import WorkerPool

ENTER, GROW, DIGEST = "digest, probe, insert, parent", "growth of the table", "digest alone"
_PARTS: dict[str, list[tuple[type, str]]] = {
    "decode, guards, updates, claims about steps": [(Rounds, "_expand")],
    ENTER: [(Visited, "insert"), (Merge, "insert")],
    "numbering": [(Merge, "number"), (Merge, "commit"), (Merge, "finish")],
    "invariants": [(Rounds, "broken")],
    GROW: [(Visited, "grow")],
}
"""The calls that are timed."""


def _timed(call: Callable[..., Any], into: list[int]) -> Callable[..., Any]:
    def timed(*args: Any, **named: Any) -> Any:
        begun = time.thread_time_ns()
        try:
            return call(*args, **named)
        finally:
            into.append(time.thread_time_ns() - begun)

    return timed


def parts(*, reference: str, workers: int) -> Sample:
    """A search; values: nanoseconds of a thread for each successor by part."""
    native(reference=reference, workers=workers)  # loads all code and has touched the memory
    spent: dict[str, list[int]] = {part: [] for part in (*_PARTS, DIGEST)}
    for part, places in _PARTS.items():
        for owner, name in places:
            setattr(owner, name, _timed(getattr(owner, name), spent[part]))
    sample = native(reference=reference, workers=workers)
    if workers == 1:  # several grow it between two insertions
        spent[ENTER].append(-sum(spent[GROW]))
    values = {part: sum(times) / sample.counts["generated"] for part, times in spent.items()}
    rows = np.ones((1 << 22, int(sample.values["words"])), dtype=np.uint64)
    digest_rows(rows[:1])
    _timed(digest_rows, spent[DIGEST])(rows)
    values[DIGEST] = spent[DIGEST][0] / len(rows)
    return Sample(seconds=sample.seconds, counts=sample.counts, values=values)


@numba.njit(nogil=True)
def _at_random(table: Any, places: Any, swap: Any) -> Any:
    """Reads, or compare-and-swaps; a group of places is prefetched together as an insertion does."""
    total = np.uint64(0)
    for first in range(0, places.size, GROUP):
        for at in range(first, first + GROUP):
            prefetch(table, places[at])
        for at in range(first, first + GROUP):
            found = table[places[at]]
            total += np.uint64(replace(table, places[at], found, np.uint64(at))) if swap else found
    return total


def floor(*, workers: int) -> Sample:
    """Reads and compare-and-swaps a second of all threads, at random places of a gigabyte."""
    table, rng = np.ones(1 << 27, dtype=np.uint64), np.random.default_rng(1)
    places = [rng.integers(0, table.size, size=1 << 23) for _ in range(workers)]
    pool, found = WorkerPool(workers), dict[str, float]()
    for name in ("reads", "swaps"):
        _at_random(table, places[0][:GROUP], name == "swaps")
        clock = Clock()
        pool.each(workers, lambda one, name=name: _at_random(table, places[one], name == "swaps"))  # type: ignore[misc]
        found[name] = sum(map(len, places)) / clock.seconds
    pool.close()
    return Sample(seconds=clock.seconds, values=found)


NAME = "successor"


def run(plan: Plan) -> Iterator[Row]:
    """The parts with 1, 2, 8 and 16 workers, as many as there are cores, and the machine's floor."""
    reference = "flush/calm" if plan.quick else "flush/ten-million"
    for workers in [number for number in (1, 2, 8, 16) if number <= cores()]:
        name = f"{workers} workers" if workers > 1 else "1 worker"
        work = partial(in_fresh_process, parts, reference=reference, workers=workers)
        series = plan.series([Side(name, work)], measure=NAME, size=subject(reference).size)
        for part in (*_PARTS, DIGEST):
            yield series.row(name, f"{part}, {name}", value(part), unit="ns a successor")
        series = plan.series(
            [Side(name, partial(in_fresh_process, floor, workers=workers))], measure=NAME, size="a gigabyte"
        )
        for what in ("reads", "swaps"):
            yield series.row(name, f"random {what}, {name}", value(what), unit="a second")


MEASURE = Measure(NAME, "Where the time of a successor goes, and the machine's floor.", run)
