"""Coroutine functions that know nothing of this project, in every order of their steps."""

import asyncio
import datetime as dt
import queue
import re
import subprocess
import threading
from functools import partial
from typing import Any

import pytest

from tidemark.checks.interleave import (
    ExecutionLimits,
    IncompleteSearchError,
    NondeterminismError,
    Options,
    OrderError,
    Status,
    explore_coroutine,
    replay_coroutine,
    require_every_order,
)
from tidemark.checks.interleave.limits import Reduction
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.simulation import ProgramError


async def waits() -> None:
    await asyncio.sleep(0.1)


async def lost_update(*, locked: bool = False) -> int:
    account, lock = {"balance": 0}, asyncio.Lock()

    async def deposit() -> None:
        balance = account["balance"]
        await waits()
        account["balance"] = balance + 1

    async def locked_deposit() -> None:
        async with lock:
            await deposit()

    work = locked_deposit if locked else deposit
    await waits()
    await asyncio.gather(work(), work())
    assert account["balance"] == 2, f"an update is lost: {account['balance']}"
    return account["balance"]


def test_a_lost_update_is_found_told_and_replayed():
    with pytest.raises(OrderError, match="an update is lost: 1") as failure:
        require_every_order(lost_update)
    told = str(failure.value)
    assert "deposit (test_coroutines.py:" in told
    assert "asyncio order inside a process, untimed clocks" in told
    token = told.rpartition("replay token: ")[2]
    assert "an update is lost" in str(replay_coroutine(lost_update, token).violation)


def test_the_corrected_program_is_exhausted():
    result = require_every_order(partial(lost_update, locked=True))
    assert result.status is Status.EXHAUSTED
    assert result.finals == {2}
    assert "asyncio order" in result.bounds
    assert "untimed clocks" in result.bounds


async def relies_on_the_queue_of_the_loop() -> list[str]:
    """Right in asyncio's own order, wrong in a free one."""
    seen: list[str] = []

    async def note(name: str) -> None:
        seen.append(name)

    await asyncio.gather(note("first"), note("second"))
    assert seen == ["first", "second"], f"out of order: {seen}"
    return seen


def test_what_no_loop_does_is_found_in_the_free_order_only_and_labelled():
    assert explore_coroutine(relies_on_the_queue_of_the_loop).status is Status.EXHAUSTED
    free = explore_coroutine(relies_on_the_queue_of_the_loop, order="relaxed")
    assert free.status is Status.REFUTED
    assert "as no asyncio loop runs" in free.first().violation.message
    assert "relaxed order" in free.bounds


def test_a_timer_wakes_the_task_that_waits_for_it() -> None:
    """And not one that only yields, which waits for nothing."""

    async def fails() -> None:
        done: list[int] = []

        async def yields() -> None:
            for number in range(5):
                await asyncio.sleep(0)
                done.append(number)

        async def sleeps() -> None:
            await asyncio.sleep(1)
            assert len(done) == 5

        await asyncio.gather(yields(), sleeps())

    with pytest.raises(OrderError) as caught:
        require_every_order(fails)
    assert "due at 1 s, wakes main/task3" in str(caught.value)


@pytest.mark.parametrize("given", ["3", 0, -1])
def test_a_limit_that_is_no_positive_number_is_named(given: Any) -> None:
    with pytest.raises(BadInputError, match=f"the limit of seconds is {given!r}"):
        ExecutionLimits(seconds=given)


async def timers(*delays: float) -> tuple[float, ...]:
    fired: list[float] = []

    async def sleep(delay: float) -> None:
        await asyncio.sleep(delay)
        fired.append(delay)

    await asyncio.gather(*map(sleep, delays))
    return tuple(fired)


def test_the_clock_is_a_part_of_the_claim():
    assert len(explore_coroutine(partial(timers, 1, 2, 3)).finals) == 6
    assert explore_coroutine(partial(timers, 1, 2, 3), clock="per-process").finals == {(1, 2, 3)}
    assert len(explore_coroutine(partial(timers, 1, 1), clock="per-process").finals) == 1


async def passes() -> tuple[str, ...]:
    """A timer becomes due between two passes of the loop, never within one."""
    seen: list[str] = []

    async def steps(name: str) -> None:
        for number in range(4):
            seen.append(f"{name}{number}")
            await asyncio.sleep(0)

    async def timer() -> None:
        await asyncio.sleep(1)
        seen.append("timer")

    await asyncio.gather(timer(), steps("a"), steps("b"))
    return tuple(seen)


def test_a_pass_of_the_loop_is_one_step():
    finals = {" ".join(final) for final in explore_coroutine(passes).finals}  # type: ignore[arg-type]
    assert finals == {"a0 b0 a1 b1 a2 b2 timer a3 b3", "a0 b0 a1 b1 a2 b2 a3 b3 timer"}


async def everything() -> tuple[object, ...]:
    seen: list[object] = []
    items: asyncio.Queue[int] = asyncio.Queue(maxsize=1)
    event, condition, gate = asyncio.Event(), asyncio.Condition(), asyncio.Semaphore(1)

    async def produce() -> None:
        for number in range(2):
            await items.put(number)
        event.set()

    async def consume() -> None:
        for _ in range(2):
            seen.append(await items.get())
        async with condition:
            condition.notify_all()

    async def wait() -> None:
        await event.wait()
        async with gate:
            seen.append("set")

    async with asyncio.TaskGroup() as group:
        group.create_task(produce())
        group.create_task(consume())
        group.create_task(wait())
    done, pending = await asyncio.wait({asyncio.create_task(waits()), asyncio.create_task(waits())})
    assert (len(done), len(pending)) == (2, 0)
    for first in asyncio.as_completed([waits(), waits()]):
        await first
    try:
        async with asyncio.timeout(1):
            await waits()
    except TimeoutError:
        seen.append("late")
    return tuple(seen)


def test_all_primitives_are_under_control():
    result = require_every_order(everything)
    assert result.finals == {(0, 1, "set"), (0, 1, "set", "late")}


async def order_of_a_set() -> tuple[str, ...]:
    """The trap: `asyncio.wait` returns sets."""
    tasks = [asyncio.create_task(asyncio.sleep(0), name=f"t{number}") for number in range(12)]
    done, _ = await asyncio.wait(tasks)
    return tuple(task.get_name() for task in done)


def test_sets_of_tasks_have_the_same_order_in_each_execution():
    """Their hashes are numbers of the history, not addresses."""
    results = [explore_coroutine(order_of_a_set, options=Options(check_every=1)) for _ in range(3)]
    assert len({frozenset(result.finals) for result in results}) == 1
    assert all(len(result.finals) == 1 for result in results)


async def cancels_what_is_ready() -> str:
    """A timer has fired, and the sleeper is cancelled before it wakes."""
    sleeper = asyncio.create_task(asyncio.sleep(1))

    async def cancel() -> None:
        for _ in range(3):
            await asyncio.sleep(0)
        sleeper.cancel()

    await asyncio.gather(cancel(), sleeper, return_exceptions=True)
    return "cancelled" if sleeper.cancelled() else "slept"


@pytest.mark.parametrize("order", ["asyncio", "fifo", "relaxed"])
def test_a_callback_that_was_cancelled_when_it_was_ready_does_not_run(order):
    assert require_every_order(cancels_what_is_ready, order=order).finals == {"cancelled", "slept"}


async def misses_the_event() -> None:
    """Lost if the event is set before anybody waits."""
    event = asyncio.Event()

    async def announce() -> None:
        await waits()
        event.set()
        event.clear()

    async def listen() -> None:
        await waits()
        await event.wait()

    await asyncio.gather(announce(), listen())


async def two_locks() -> None:
    one, two = asyncio.Lock(), asyncio.Lock()

    async def take(first: asyncio.Lock, second: asyncio.Lock) -> None:
        async with first:
            await waits()
            async with second:
                pass

    await asyncio.gather(take(one, two), take(two, one))


async def nobody_looks() -> None:
    async def fail() -> None:
        await waits()
        raise ValueError("unseen")

    task = asyncio.create_task(fail())
    await asyncio.wait([task])


async def leaves_a_task() -> None:
    leaves_a_task.kept = asyncio.create_task(asyncio.Event().wait())  # type: ignore[attr-defined]
    await asyncio.sleep(0)


async def spins() -> None:
    while True:  # noqa: ASYNC110
        await asyncio.sleep(0)


async def hogs() -> None:
    lock = asyncio.Lock()

    async def hog() -> None:
        async with lock:
            while True:  # noqa: ASYNC110
                await asyncio.sleep(1)

    async def ask() -> None:
        async with lock:
            pass

    await asyncio.gather(hog(), ask())


@pytest.mark.parametrize(
    ("function", "kind", "words"),
    [
        (misses_the_event, "lost-wake-up", "in Event.wait"),
        (two_locks, "deadlock", "in Lock.acquire"),
        (nobody_looks, "unretrieved-exception", "ValueError('unseen')"),
        (leaves_a_task, "task-leak", "left tasks behind"),
        (spins, "livelock", "tasks spin"),
        (hogs, "starvation", "ask (test_coroutines.py"),
    ],
)
def test_it_is_found_without_a_property(function, kind, words):
    with pytest.raises(OrderError, match=re.escape(words)):
        require_every_order(function)
    assert explore_coroutine(function).first().violation.kind == kind


async def polls() -> None:
    """Ends in every fair execution; an unfair one lets it poll until the limit of steps."""
    flag = []

    async def raise_it() -> None:
        await waits()
        flag.append(1)

    task = asyncio.create_task(raise_it())
    while not flag:  # noqa: ASYNC110
        await asyncio.sleep(0)
    await task


def test_an_unfair_execution_is_neither_a_violation_nor_a_pass():
    result = explore_coroutine(polls, options=Options(limits=ExecutionLimits(executions=3)))
    assert not result.violations
    assert result.status is Status.INCONCLUSIVE
    assert result.statistics.cut == 3


async def starts_a_thread() -> None:
    threading.Thread(target=len, args=((),)).start()


async def opens_a_socket() -> None:
    await asyncio.open_connection("localhost", 1)


async def starts_a_process() -> None:
    await asyncio.create_subprocess_exec("true")


async def runs_a_process() -> None:
    subprocess.run(["true"], check=True)  # noqa: ASYNC221


async def asks_for_the_date() -> None:
    dt.datetime.now()  # noqa: DTZ005


async def blocks() -> None:
    queue.Queue[int]().get()


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (starts_a_thread, "threading._start_"),
        (opens_a_socket, "loop.create_connection"),
        (starts_a_process, "loop.subprocess_exec"),
        (runs_a_process, ""),
        (asks_for_the_date, "datetime.now"),
        (blocks, "threading.Condition.wait"),
    ],
)
def test_what_cannot_be_controlled_is_refused_by_name_and_line(function, name):
    result = explore_coroutine(function)
    messages = [violation.message for violation in result.violations if violation.kind == "closed-world"]
    assert messages
    assert name in messages[0]
    assert f"test_coroutines.py:{function.__code__.co_firstlineno + 1} in {function.__name__}" in messages[0]


STATE = {"runs": 0}


async def keeps_state() -> int:
    STATE["runs"] += 1
    return STATE["runs"]


def test_state_that_outlives_an_execution_is_noticed():
    with pytest.raises(NondeterminismError, match="not deterministic"):
        explore_coroutine(keeps_state)


async def polls_until(ends: float) -> None:
    over = False

    async def poll() -> None:
        while not over:  # noqa: ASYNC110
            await asyncio.sleep(1)

    polling = asyncio.create_task(poll())
    await asyncio.sleep(ends)
    over = True
    await polling


def test_a_task_that_polls_for_ever_gets_a_hint():
    """The long sleep may never end where a sleep takes any time: the search says what to do, and ends."""
    short = Options(
        reduction=Reduction.NONE, limits=ExecutionLimits(steps=100, cut=3), stop_at_violation=True
    )
    with pytest.raises(IncompleteSearchError, match=r"3 executions were cut after 100 steps") as failure:
        require_every_order(partial(polls_until, 3), options=short)
    assert "a task that polls" in str(failure.value)
    assert "clock='per-process'" in str(failure.value)
    result = require_every_order(partial(polls_until, 3), clock="per-process")
    assert result.status is Status.EXHAUSTED


def test_what_is_merely_long_is_not_called_polling():
    async def long() -> None:
        for _ in range(30):
            await asyncio.gather(*(asyncio.sleep(0) for _ in range(3)))

    short = Options(reduction=Reduction.NONE, limits=ExecutionLimits(steps=20))
    found = explore_coroutine(long, options=short)
    assert found.status is Status.INCONCLUSIVE
    assert "executions were cut" in found.reason
    assert "polls" not in found.reason


def test_wrong_uses_are_refused():
    with pytest.raises(ProgramError, match="not a coroutine"):
        explore_coroutine(lambda: 1)  # type: ignore[arg-type,return-value]
    with pytest.raises(BadInputError, match="'sometimes' is not a valid Order"):
        explore_coroutine(order_of_a_set, order="sometimes")
    with pytest.raises(BadInputError, match="atomic"):
        explore_coroutine(order_of_a_set, order="atomic")


async def complains_with_an_address() -> None:
    raise AssertionError(f"unexpected {object()!r}")


def test_the_address_of_an_object_is_no_nondeterminism():
    """A message that differs from run to run in addresses only is the same failure."""
    result = explore_coroutine(complains_with_an_address)
    assert result.status is Status.REFUTED
    (violation,) = result.violations
    assert "unexpected <object object>" in violation.message
