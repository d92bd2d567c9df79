"""Merging executions that meet with equal histories: the same results, fewer executions, and an audit."""

import asyncio
import time
from functools import partial

import pytest

from tests.checks.interleave.bugs import lost_wakeups as bugs
from tidemark.checks.interleave import (
    NondeterminismError,
    Options,
    OrderError,
    RandomWalk,
    Status,
    UnsoundReductionError,
    explore_coroutine,
    require_every_order,
)
from tidemark.checks.interleave.searches import explore
from tidemark.checks.verdicts.errors import BadInputError, UnsoundCombinationError
from tidemark.models.simulation import ProgramRef
from tidemark.models.simulation.coroutines import Main

EVERYTHING = Options(stop_at_violation=False)


async def tasks_and_sleeps(tasks: int, sleeps: int) -> tuple[int, ...]:
    """Every step conflicts with every other one."""
    seen: list[int] = []

    async def work(number: int) -> None:
        for _ in range(sleeps):
            await asyncio.sleep(1)
            seen.append(number)

    await asyncio.gather(*map(work, range(tasks)))
    return tuple(seen)


async def queues(*, threads: bool = False) -> tuple[int, ...]:
    """A producer, two consumers, a lock, a time-out."""
    queue, lock, got = asyncio.Queue[int](1), asyncio.Lock(), list[int]()

    async def produce() -> None:
        for number in range(2):
            await queue.put(number)
            await (asyncio.to_thread(int) if threads else asyncio.sleep(1))

    async def consume() -> None:
        try:
            async with asyncio.timeout(3):
                item = await queue.get()
        except TimeoutError:
            item = -1
        async with lock:
            got.append(item)

    await asyncio.gather(produce(), consume(), consume())
    return tuple(got)


async def looks_at_the_clock() -> tuple[object, ...]:
    """A sleep ends later if it begins when a longer timer has fired whose callback has not run."""
    seen: list[object] = []
    asyncio.get_running_loop().call_later(5, seen.append, "timer")
    await asyncio.sleep(1)
    seen.append("slept")
    await asyncio.sleep(1)
    await asyncio.sleep(9)
    return (*seen, time.monotonic() >= 15)


PROGRAMS: dict[str, Main] = {
    "2 tasks, 2 sleeps": partial(tasks_and_sleeps, 2, 2),
    "3 tasks, 1 sleep": partial(tasks_and_sleeps, 3, 1),
    "queues": queues,
    "threads": partial(queues, threads=True),
    "clock": looks_at_the_clock,
}


@pytest.mark.parametrize("order", ["asyncio", "fifo"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_results_are_those_of_the_full_search(name, order):
    full = explore_coroutine(PROGRAMS[name], order=order, options=EVERYTHING)
    merged = explore_coroutine(PROGRAMS[name], order=order, merge=True, options=EVERYTHING)
    assert merged.status is full.status is Status.EXHAUSTED
    assert merged.finals == full.finals
    assert merged.statistics.executions < full.statistics.executions
    assert merged.statistics.audited == EVERYTHING.audit
    assert "equal histories of callbacks merged" in merged.bounds


def test_a_known_number_of_executions():
    """As many leaves as different sequences of callbacks."""
    full = explore_coroutine(partial(tasks_and_sleeps, 2, 3))
    merged = explore_coroutine(partial(tasks_and_sleeps, 2, 3), merge=True)
    assert full.statistics.executions == 730
    assert len(full.finals) == 20
    assert 20 <= merged.statistics.executions < 365


@pytest.mark.parametrize(
    "bug", [bugs.semaphore, bugs.condition, bugs.leaked_slot], ids=lambda bug: bug.__name__
)
def test_bugs_are_found_and_corrections_exhausted(bug):
    for fixed in (False, True):
        program = partial(bug, fixed=fixed)
        full = explore_coroutine(program, cancellations=1, options=EVERYTHING)
        merged = explore_coroutine(program, cancellations=1, merge=True, options=EVERYTHING)
        assert merged.status is full.status
        seen = {found.identity for found in merged.violations}
        assert seen == {found.identity for found in full.violations}
        assert merged.finals == full.finals
    with pytest.raises(OrderError, match="replay token: tm1-"):
        require_every_order(partial(bug, fixed=False), cancellations=1, merge=True)


async def peeks_into_the_loop() -> int:
    """Sees what no history shows: how many timers are armed, and how full the queue of the loop is."""
    seen: list[int] = []

    async def look() -> None:
        await asyncio.sleep(1)
        lane = asyncio.get_running_loop().current  # type: ignore[attr-defined]
        seen.append(len(lane.ready) * 10 + len(lane.timers))
        await asyncio.sleep(1)

    await asyncio.gather(look(), look())
    return sum(seen) + 100 * max(seen)


def test_the_audit_notices_what_the_history_does_not_determine(monkeypatch):
    """The plant: a state without the queue of the loop and its timers."""
    from tidemark.models.simulation.loop import history

    require_every_order(peeks_into_the_loop)
    monkeypatch.setattr(
        history, "_lane_state", lambda lane, *, timed: (lane.history.digest(), len(lane.tasks))
    )
    with pytest.raises(UnsoundReductionError):
        explore_coroutine(peeks_into_the_loop, merge=True)


def test_what_cannot_be_merged_is_refused():
    with pytest.raises(BadInputError, match="merged in a search by"):
        explore_coroutine(queues, merge=True, strategy=RandomWalk(seed=1, executions=3))
    with pytest.raises(UnsoundCombinationError, match="does not record the histories"):
        explore(ProgramRef.of("tests.checks.interleave.programs:Deadlock"), Options(histories=True))


class Waiter:
    """Hashes by a number that differs from run to run, as an address does."""

    def __init__(self, number: int) -> None:
        self.turn = asyncio.get_running_loop().create_future()
        self.address = (number * 7 + len(RUNS) * 13) % 31

    def __hash__(self) -> int:
        return self.address


RUNS: list[None] = []


async def wakes_a_set() -> int:
    """Tasks are woken in the order of addresses."""
    RUNS.append(None)
    waiters = [Waiter(number) for number in range(6)]

    async def wait(waiter: Waiter) -> None:
        await waiter.turn

    tasks = [asyncio.create_task(wait(waiter)) for waiter in waiters]
    await asyncio.sleep(1)
    for waiter in set(waiters):
        waiter.turn.set_result(None)
    await asyncio.wait(tasks)
    return 6


def test_the_order_of_a_set_by_addresses_is_told_and_cannot_be_merged():
    every = Options(check_every=1)
    result = explore_coroutine(wakes_a_set, options=every)
    assert result.status is Status.EXHAUSTED
    assert "sets of objects that hash by their addresses" in result.bounds
    with pytest.raises((NondeterminismError, UnsoundReductionError), match="histor"):
        explore_coroutine(wakes_a_set, merge=True, options=every)
    assert "addresses" not in explore_coroutine(queues, options=every).bounds
