"""A task that polls: random orders find its race, and a search that it cuts says what was covered."""

import asyncio
import re
from pathlib import Path

import pytest

from tests.checks.interleave.test_pytest_plugin import run
from tidemark.checks.interleave import (
    ExecutionLimits,
    IncompleteSearchError,
    Options,
    OrderError,
    RandomWalk,
    Reduction,
    Status,
    explore_coroutine,
    require_every_order,
)
from tidemark.checks.interleave.strategies.random_walk import NAMED
from tidemark.checks.verdicts.errors import BadInputError

SHOP = """
import asyncio
import pytest


async def order(shelf, room, safe):
    while len(shelf) + len(room) >= 2:
        await asyncio.sleep(0.02)
    if safe:
        room.append("kept")
    await asyncio.sleep(0.001)  # the order is written down
    if safe:
        room.pop()
    shelf.append("parcel")
    assert len(shelf) <= 2, "the shelf is full"


async def shop(safe, rounds=None):
    shelf, room, sent = [], [], []

    async def courier():
        while True:
            if rounds is not None:
                rounds.append("round")
            if shelf:
                sent.append(shelf.pop())
            await asyncio.sleep(0.01)

    task = asyncio.create_task(courier())
    await asyncio.gather(*(order(shelf, room, safe) for _ in range(3)))
    while len(sent) < 3:
        await asyncio.sleep(0.01)
    task.cancel()


@pytest.mark.every_order
async def test_race():
    await shop(safe=False)


@pytest.mark.every_order
async def test_right():
    await shop(safe=True)


@pytest.mark.every_order(executions=300)
async def test_counts():
    await shop(safe=True, rounds=[])


@pytest.mark.every_order(strategy="random")
async def test_by_name():
    await shop(safe=True)


@pytest.mark.every_order(strategy="at random")
async def test_by_another_name():
    await shop(safe=True)
"""


def line_of(text: str) -> int:
    return 1 + SHOP[: SHOP.index(text)].count("\n")


def test_the_marker_finds_the_race_and_says_what_it_has_covered(tmp_path: Path) -> None:
    (tmp_path / "test_shop.py").write_text(SHOP, encoding="utf-8")
    seen = run(tmp_path, "-v", "-v")
    assert "3 failed, 2 passed" in seen, seen
    race, _, rest = seen.partition("___ test_counts ___")
    assert "AssertionError: the shelf is full" in race
    counts, _, named = rest.partition("___ test_by_another_name ___")
    assert "test_shop:test_counts was not run in every order: " in counts
    assert "orders were run to their end, and show nothing wrong; " in counts
    assert "random orders and orders with one delay, run first" in counts
    assert "the limit of 300 executions is reached" in counts
    assert "timers fire again and again" in counts
    courier = f"courier (test_shop.py:{line_of('await asyncio.sleep(0.01)')})"
    assert courier in counts
    assert "from tidemark.checks.interleave import RandomWalk" in counts
    assert "clock='per-process'" in counts
    assert "merge=True" in counts
    assert "every_order: passed in every order, rounds of polls were cut" in named
    assert re.search(rf"test_right: \d+ executions .* equal memory, .*{re.escape(courier)}", named)
    assert re.search(r"^test_counts: \d+ executions, \d+ s", seen, re.MULTILINE)
    assert "test_shop.py::test_by_name: 500, 500 random executions (seed 1) are a sample" in seen
    assert "strategy is 'at random'" in named
    assert "give one of 'random', 'priorities', 'delays', 'preemptions', or a strategy" in named
    assert "Traceback" not in seen
    assert (
        "every_order(order='asyncio', clock='untimed', cancellations=0, exempt=(), merge=False, strategy="
        in run(tmp_path, "--markers")
    )


async def two_deposits() -> int:
    """Three balances are possible, and the first order gives the right one."""
    balance = 0

    async def deposit(amount: int) -> None:
        nonlocal balance
        seen = balance
        await asyncio.sleep(1)
        balance = seen + amount

    await asyncio.gather(deposit(5), deposit(7))
    return balance


async def a_rare_race() -> None:
    """Only the order in which all timers fire last to first is wrong."""
    fired: list[int] = []

    async def wait(number: int) -> None:
        await asyncio.sleep(1 + number)
        fired.append(number)

    await asyncio.gather(*(wait(number) for number in range(4)))
    assert fired != [3, 2, 1, 0]


def test_random_orders_first_change_no_result_of_a_complete_search() -> None:
    plain, walked = (require_every_order(two_deposits, walks=walks) for walks in (False, True))
    assert plain.status is walked.status is Status.EXHAUSTED
    assert plain.statistics == walked.statistics
    assert plain.finals == walked.finals
    assert plain.bounds == walked.bounds


def test_random_orders_are_the_same_each_time_and_come_first() -> None:
    one = Options(reduction=Reduction.NONE, limits=ExecutionLimits(executions=1))
    tokens = []
    for _ in range(2):
        with pytest.raises(OrderError) as seen:
            require_every_order(a_rare_race, walks=True, options=one)
        tokens.append(seen.value.token)
    assert tokens[0] == tokens[1]
    with pytest.raises(IncompleteSearchError, match="1 orders were run to their end"):
        require_every_order(a_rare_race, options=one)


async def polls_twice() -> None:
    """Two lines poll; a third one waits once."""
    done: list[int] = []

    async def first() -> None:
        while not done:  # noqa: ASYNC110
            await asyncio.sleep(1)

    async def second() -> None:
        while not done:  # noqa: ASYNC110
            await asyncio.sleep(2)

    async def third() -> None:
        await asyncio.sleep(3)
        done.append(1)

    await asyncio.gather(first(), second(), third())


def test_the_lines_that_poll_are_named_and_no_others() -> None:
    limits = ExecutionLimits(executions=1000)
    result = explore_coroutine(polls_twice, options=Options(reduction=Reduction.NONE, limits=limits))
    assert result.status is Status.INCONCLUSIVE
    assert "polls_twice.<locals>.first (test_polling.py:" in result.reason
    assert "third" not in result.reason


@pytest.mark.parametrize("name", sorted(NAMED))
def test_a_strategy_by_name_is_a_sample(name: str) -> None:
    result = explore_coroutine(two_deposits, strategy=name)
    assert result.status is Status.INCONCLUSIVE
    assert result.statistics.executions > 1


@pytest.mark.parametrize("wrong", ["rnd", "", 5, RandomWalk])
def test_what_is_no_strategy_is_refused_with_those_that_are_known(wrong: object) -> None:
    with pytest.raises(BadInputError, match="'random', 'priorities', 'delays', 'preemptions'"):
        explore_coroutine(two_deposits, strategy=wrong)  # type: ignore[arg-type]


async def counts_its_rounds() -> None:
    async def count() -> None:
        rounds = 0
        while True:
            rounds += 1
            await asyncio.sleep(1)

    await asyncio.gather(count(), count())


def test_the_limit_of_seconds_is_that_of_all_parts_and_what_they_covered_is_told() -> None:
    limits = ExecutionLimits(seconds=0.5)
    with pytest.raises(IncompleteSearchError) as seen:
        require_every_order(counts_its_rounds, walks=True, options=Options(limits=limits))
    assert "the limit of 0.5 seconds is reached" in seen.value.message
    assert re.search(r"nor do [1-9]\d* random orders and orders with one delay", seen.value.message)
