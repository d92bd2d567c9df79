"""The oracle itself: timestamps a second, one by one and in batches, and how often the window is saved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from tidemark.bench.measure import Measure, Plan
from tidemark.bench.process import in_fresh_process
from tidemark.bench.row import Goal, Row
from tidemark.bench.sample import NotMeasured, Sample, Side, value
from tidemark.bench.work.oracle import ETCD, SQLITE, allocations, counter, saves, window
from tidemark.impl.storage.etcd_server import ABSENT, find_etcd

NAME = "oracle"
COUNTER = "itertools.count"
SINGLE, BATCH = 1, 16
IDLE, BUSY = "10 calls a second", "as many calls as possible"
SELDOM = Goal(at_most=0.5, unit="saves a second")
"""The window is three seconds long: about one save in three seconds, whatever the load."""


def run(plan: Plan) -> Iterator[Row]:
    """Rates against a bare counter; saves, idle and busy; what a save costs."""
    yield from _rates(plan)
    yield from _window(plan)
    yield from _saves(plan)


def _rates(plan: Plan) -> list[Row]:
    seconds = 0.5 if plan.quick else 3.0
    names = {
        (store, batch): f"{store}, {'one at a time' if batch == SINGLE else f'batches of {batch}'}"
        for store in (SQLITE, ETCD)
        for batch in (SINGLE, BATCH)
    }
    sides = [Side(COUNTER, partial(in_fresh_process, counter, seconds=seconds))]
    sides += [
        Side(
            name,
            _with(store, partial(in_fresh_process, allocations, store=store, batch=batch, seconds=seconds)),
        )
        for (store, batch), name in names.items()
    ]
    series = plan.series(sides, measure=NAME, size="one client beside the leader")
    rate = value("rate")
    rows = [series.row(COUNTER, f"{COUNTER}: numbers a second", rate, unit="/s")]
    for (store, batch), name in names.items():
        what = f"{name}: timestamps a second"
        rows.append(series.row(name, what, rate, unit="/s", against=COUNTER))
        if store == ETCD:
            same = names[SQLITE, batch]
            rows.append(
                series.row(name, f"{name}: the same, against {SQLITE}", rate, unit="/s", against=same)
            )
    return rows


def _window(plan: Plan) -> list[Row]:
    seconds = 4.0 if plan.quick else 10.0
    sides = [
        Side(IDLE, partial(in_fresh_process, window, pause=0.1, seconds=seconds)),
        Side(BUSY, partial(in_fresh_process, window, pause=0.0, seconds=seconds)),
    ]
    series = plan.series(sides, measure=NAME, size=f"{seconds:g} s, {SQLITE}")
    return [
        series.row(load, f"{load}: saves of the window a second", value("saves"), unit="/s", goal=SELDOM)
        for load in (IDLE, BUSY)
    ]


def _saves(plan: Plan) -> list[Row]:
    seconds = 0.5 if plan.quick else 3.0
    sides = [
        Side(store, _with(store, partial(in_fresh_process, saves, store=store, seconds=seconds)))
        for store in (SQLITE, ETCD)
    ]
    series = plan.series(sides, measure=NAME, size="saves one after the other")
    what = "saves a second: what a timestamp would cost without a window"
    return [series.row(store, f"{store}: {what}", value("rate"), unit="/s") for store in (SQLITE, ETCD)]


def _with(store: str, work: Callable[[], Sample]) -> Callable[[], Sample]:
    """Measure nothing where the store's program is missing."""

    def measured() -> Sample:
        if store == ETCD and find_etcd() is None:
            raise NotMeasured(ABSENT)
        return work()

    return measured


MEASURE = Measure(NAME, "Timestamps a second against a bare counter; saves of the window a second.", run)
