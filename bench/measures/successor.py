"""Where the time of a successor goes in the native search, and how often this machine reads and exchanges.

Decoding a state, guards, updates and claims about steps are one compiled function, and are one line here; so
are probing, comparing and inserting with the link to the parent. Times are those of the threads themselves:
a thread that waits for others counts nothing.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial, wraps
from threading import Thread
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

EXPAND, ENTER, NUMBER, CLAIMS, GROW, DIGEST = (
    "decode, guards, updates, claims about steps",
    "digest, probe, insert, parent",
    "numbering",
    "invariants",
    "growth of the table",
    "digest alone",
)
_PARTS: dict[str, list[tuple[type, str]]] = {
    EXPAND: [(Rounds, "_expand")],
    ENTER: [(Visited, "insert"), (Merge, "insert")],
    NUMBER: [(Merge, "number"), (Merge, "commit"), (Merge, "finish")],
    CLAIMS: [(Rounds, "broken")],
    GROW: [(Visited, "grow")],
}
"""The calls that are timed."""


def _timed(spent: dict[str, list[int]]) -> None:
    for part, places in _PARTS.items():
        for owner, name in places:
            setattr(owner, name, _noting(getattr(owner, name), spent[part]))


def _noting(call: Callable[..., Any], into: list[int]) -> Callable[..., Any]:
    @wraps(call)
    def noted(*args: Any, **named: Any) -> Any:
        begun = time.thread_time_ns()
        try:
            return call(*args, **named)
        finally:
            into.append(time.thread_time_ns() - begun)

    return noted


def parts(*, reference: str, workers: int) -> Sample:
    """A search; values: nanoseconds of a thread for each successor by part."""
    spent: dict[str, list[int]] = defaultdict(list)
    native(reference=reference, workers=workers)  # loads all code and has touched the memory
    _timed(spent)
    sample = native(reference=reference, workers=workers)
    found = {part: float(sum(spent[part])) for part in _PARTS}
    if workers == 1:  # several grow it between two insertions
        found[ENTER] -= found[GROW]
    rows = np.arange(1 << 22, dtype=np.uint64).reshape(-1, int(sample.values["words"]))
    digest_rows(rows[:1])
    begun = time.thread_time_ns()
    digest_rows(rows)
    found[DIGEST] = (time.thread_time_ns() - begun) / len(rows) * sample.counts["generated"]
    return Sample(
        seconds=sample.seconds,
        counts=sample.counts,
        values={part: spent_ns / sample.counts["generated"] for part, spent_ns in found.items()},
    )


@numba.njit(nogil=True)
def _read(table: Any, places: Any) -> Any:
    """Reads, a group of places prefetched together as an insertion does."""
    total = np.uint64(0)
    for first in range(0, places.size, GROUP):
        for at in range(first, first + GROUP):
            prefetch(table, places[at])
        for at in range(first, first + GROUP):
            total += table[places[at]]
    return total


@numba.njit(nogil=True)
def _swap(table: Any, places: Any) -> Any:
    """Compare-and-swaps likewise."""
    done = 0
    for first in range(0, places.size, GROUP):
        for at in range(first, first + GROUP):
            prefetch(table, places[at])
        for at in range(first, first + GROUP):
            done += int(replace(table, places[at], table[places[at]], np.uint64(at)))
    return done


def floor(*, workers: int) -> Sample:
    """Reads and compare-and-swaps a second of all threads, at random places of a gigabyte."""
    table, rng = np.ones(1 << 27, dtype=np.uint64), np.random.default_rng(1)
    places = [rng.integers(0, table.size, size=1 << 23) for _ in range(workers)]
    found: dict[str, float] = {}
    for name, loop in (("reads", _read), ("swaps", _swap)):
        loop(table, places[0][:GROUP])
        threads = [Thread(target=loop, args=(table, one)) for one in places]
        clock = Clock()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found[name] = sum(map(len, places)) / clock.seconds
    return Sample(seconds=clock.seconds, values=found)


NAME = "successor"
REFERENCE = "flush/ten-million"


def run(plan: Plan) -> Iterator[Row]:
    """The parts with 1, 2, 8 and 16 workers, as many as there are cores, and the machine's floor."""
    reference = "flush/calm" if plan.quick else REFERENCE
    for workers in (1, 2, 8, 16):
        if workers > cores():
            continue
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
